"""The report of a feature model: what features add to columns, and where they are used."""

from thincrm.models.features.report.page import feature_page

__all__ = ["feature_page"]
