"""The report: one HTML file to open, explore and send to a colleague.

This room has what the pages of all models share. What a page says of topics or of features is in
the folder of that model (`models/topics/report`); a model without a page of its own gets the plain
one (`models/reported.py`).
"""

from thincrm.report.page import Page
from thincrm.report.write import write_report

__all__ = ["Page", "write_report"]
