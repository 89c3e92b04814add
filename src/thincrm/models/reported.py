"""The report that every model has: a plain page, unless the model has one of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from thincrm.errors import InvalidInput
from thincrm.report.page import Page, single_page, static_text
from thincrm.report.plain_data import plain_data

if TYPE_CHECKING:
    import pandas as pd

    from thincrm.data.covariates import Covariates

__all__ = ["Reported", "refuse_options"]


class Reported:
    """A fitted model that `thincrm.write_report` can show.

    What the plain page needs: `draws_`, each with a chain, a sweep and scalars; `trace_`; `seed_`;
    `covariates_`; `activation(t, level)`, whose first column names the atoms (topic, cluster),
    followed by the covariates, mean, lower and upper, atom by atom; `tables()`; `get_params()`.
    """

    atoms: ClassVar[str] = "atoms"  # what it finds, in the plural
    unit: ClassVar[str] = "observations"  # what its observations are called
    covariates_: Covariates
    trace_: pd.DataFrame

    def nothing_found(self) -> str:
        """Return what is said where no atom is in use."""
        return f"No {self.atoms} are in use."

    def report_page(self, **options: object) -> Page:
        """Return the page of `thincrm.write_report`: curves, tables, diagnostics, settings."""
        data = plain_data(self)  # type: ignore[arg-type]  # the estimator has the rest
        refuse_options(options, str(data["noun"]))
        script = static_text("thincrm.report", "plain.js")
        return single_page(f"{type(self).__name__}: what was found", data, script)


def refuse_options(options: Mapping[str, object], noun: str) -> None:
    """Refuse what only the page of another model takes."""
    for name in options:
        raise InvalidInput(f"{name} is for topics: a {noun} model has none, leave it out.")
