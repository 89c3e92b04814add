"""`python -m thincrm` is the command `thincrm`."""

from thincrm.cli import app

__all__ = ["app"]

if __name__ == "__main__":
    app(prog_name="thincrm")
