"""The report: one HTML file to open, explore and send to a colleague."""

from thincrm.report.page import write_report

__all__ = ["write_report"]
