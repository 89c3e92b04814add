"""What a fitted topic model says of documents: dates, shares, perplexity."""
