"""`thincrm demo`: topics of all State of the Union addresses."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from thincrm.cli import options as o
from thincrm.cli.voice import Voice

__all__ = ["demo"]

_FOLDER, _SWEEPS = Path("demo"), 120


def demo(
    out: Annotated[Path, typer.Option(help="Folder for report.html and tables.")] = _FOLDER,
    sweeps: o.NumSweeps = _SWEEPS,
    quiet: o.Quiet = False,
    json: o.Json = False,
) -> None:
    """Fit the thinned topic model to every State of the Union address, in about a minute."""
    from thincrm.cli import addresses  # noqa: PLC0415 - help does not wait for it

    addresses.run(Voice(quiet, json), out, sweeps)
