"""Files that are safe to open from a stranger: named arrays and plain values, no code."""

from thincrm.files.run import SOURCE, RunFolder
from thincrm.files.tree import Codec

__all__ = ["SOURCE", "Codec", "RunFolder"]
