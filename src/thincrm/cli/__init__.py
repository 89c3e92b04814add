"""The command line: `thincrm --help`."""

from thincrm.cli.main import app

__all__ = ["app"]
