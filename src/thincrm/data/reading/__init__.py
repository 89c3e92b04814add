"""Readers: files in, checked texts, counts and tables out; a bad row is named by its place."""

from thincrm.data.reading.read_counts import Counts, is_counts, read_counts
from thincrm.data.reading.read_table import Table, read_table
from thincrm.data.reading.texts import Texts, read_texts

__all__ = ["Counts", "Table", "Texts", "is_counts", "read_counts", "read_table", "read_texts"]
