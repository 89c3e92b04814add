"""The page of a feature model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thincrm.models.features.report.data import feature_data
from thincrm.models.reported import Reported
from thincrm.report.page import Page, single_page, static_text

if TYPE_CHECKING:
    from thincrm.models.features.model import FeatureModel

__all__ = ["feature_page"]


def feature_page(model: FeatureModel) -> Page:
    """Return the page of a fitted feature model; see `thincrm.write_report`.

    Its curves are along one covariate: where there are several it is the plain page of any model.
    """
    if model.covariates_.rows.shape[1] > 1:
        return Reported.report_page(model)
    script = static_text("thincrm.models.features.report", "features.js")
    return single_page("Features that switch on and off", feature_data(model), script)
