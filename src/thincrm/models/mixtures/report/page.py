"""The page of a mixture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thincrm.models.mixtures.report.data import mixture_data
from thincrm.report.page import Page, single_page, static_text

if TYPE_CHECKING:
    from thincrm.models.mixtures.model import MixtureModel

__all__ = ["mixture_page"]


def mixture_page(model: MixtureModel) -> Page:
    """Return the page of a fitted mixture; see `thincrm.write_report`."""
    script = static_text("thincrm.models.mixtures.report", "mixtures.js")
    return single_page("Clusters that come and go", mixture_data(model), script)
