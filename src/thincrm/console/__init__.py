"""What commands share: options, words, tables in the terminal, places to write, kept sources."""
