"""D3, the charting library of the page: read from the package that carries it, never imported."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from thincrm.errors import InvalidInput

__all__ = ["charting_library"]


def charting_library() -> str:
    """Return the text of D3 5, minified, as mpld3 carries it.

    The package is located and not imported: importing it would load matplotlib.
    """
    found = find_spec("mpld3")
    folders = (found.submodule_search_locations or []) if found else []
    for folder in folders:
        file = Path(folder, "js", "d3.v5.min.js")
        if file.is_file():
            return file.read_text("utf-8")
    raise InvalidInput(
        "The report is drawn by D3, which mpld3 carries: pip install 'mpld3>=0.5.7'."
    )
