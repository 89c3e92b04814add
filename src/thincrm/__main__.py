"""`python -m thincrm` is the command `thincrm`."""

from thincrm.cli import app

if __name__ == "__main__":
    app(prog_name="thincrm")
