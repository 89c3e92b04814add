"""The paper's tables and figures, one `run(settings)` each: `thincrm reproduce ...`."""

from thincrm.experiments.settings import Settings

__all__ = ["Settings"]
