"""The report of a topic model: timeline, births and returns, documents, words."""

from thincrm.models.topics.report.page import topic_page

__all__ = ["topic_page"]
