"""The dependent Indian buffet process, to compare with."""
