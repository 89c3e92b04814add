"""`write_report`: what a fitted model found, as one HTML file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Protocol, runtime_checkable

from sklearn.utils.validation import check_is_fitted

from thincrm.errors import InvalidType
from thincrm.files import write_file
from thincrm.report.page import Page, render

__all__ = ["Reportable", "write_report"]


@runtime_checkable
class Reportable(Protocol):
    """A model that has a page."""

    def report_page(self, **options: object) -> Page:
        """Return the page, or refuse an option that the model cannot use."""


def write_report(
    model: Reportable,
    path: str | PathLike[str],
    *,
    texts: Sequence[str] | None = None,
    title: str | None = None,
    static: object = None,
) -> Path:
    """Write what a fitted model found as one HTML file that needs no network.

    Parameters
    ----------
    model : TopicModel, FeatureModel, or another model of the library
        Fitted.
    path : path
        The file to write; one that exists is replaced.
    texts : sequence of D str or None
        The documents as people read them, in the order of the fit: the page quotes the most
        typical ones of each topic. The index of a Series names the documents. Topics only.
    title : str or None
        Headline of the page.
    static : TopicModel or None
        Fitted to the same words with thinning=Always(), to be compared on the words that both held
        out (`fit(heldout=...)`). Topics only.

    Returns
    -------
    Path
        The file.
    """
    if not isinstance(model, Reportable):
        raise InvalidType(
            "model must be a fitted model of thincrm, such as a TopicModel or a FeatureModel, got "
            f"{type(model).__name__}."
        )
    check_is_fitted(model)
    if title is not None and not isinstance(title, str):
        raise InvalidType(f"title must be a str, got {type(title).__name__}.")
    given = {"texts": texts, "static": static}
    page = model.report_page(**{name: x for name, x in given.items() if x is not None})
    text = render(replace(page, title=title or page.title))
    return write_file(path, text.encode("utf-8"))
