"""The page of a topic model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thincrm.models.reported import Reported
from thincrm.models.topics.report.data import topic_data
from thincrm.models.topics.report.heldout import heldout_rows
from thincrm.report.page import Page, static_text

if TYPE_CHECKING:
    from thincrm.models.topics.model import TopicModel

__all__ = ["topic_page"]

_SCRIPTS = (
    "state.js",
    "topics.js",
    "period.js",
    "timeline.js",
    "map.js",
    "stream.js",
    "groups.js",
    "passage.js",
    "documents.js",
    "words.js",
    "word_periods.js",
    "checks.js",
    "card.js",
    "filters.js",
    "app.js",
)


def topic_page(model: TopicModel, texts: object = None, static: object = None) -> Page:
    """Return the page of a fitted topic model; see `thincrm.write_report`.

    Its curves are along one covariate: where there are several it is the plain page of any model,
    which quotes no texts.
    """
    if model.covariates_.rows.shape[1] > 1:
        return Reported.report_page(model)
    data = topic_data(model, texts) | {"heldout": heldout_rows(model, static)}
    package = "thincrm.models.topics.report"
    template, script = static_text(package, "topics.html"), static_text(package, *_SCRIPTS)
    return Page("Topics that come and go", data, template, script)
