"""Numbers from draws: perplexity, topics of new documents, dates of documents."""
