"""Files that are safe to open from a stranger: named arrays and plain values, no code.

Here is what takes no library to import; runs are in `files.run`, values in `files.tree`.
"""

from thincrm.files.folder import Folder
from thincrm.files.operations import now
from thincrm.files.place import make_folder, refuse_place, write_file

__all__ = ["Folder", "make_folder", "now", "refuse_place", "write_file"]
