"""What leaves a fitted topic model for other tools: ArviZ, pyLDAvis, CSV."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pandas as pd
from sklearn.utils.validation import check_is_fitted

from thincrm.data.writing import write_csv
from thincrm.estimators import arviz_groups, ldavis
from thincrm.estimators.diagnostics import Diagnostics
from thincrm.estimators.topic_predictions import TopicPredictions
from thincrm.files import make_folder, write_file

__all__ = ["TopicExchange", "flat", "write_tables"]


class TopicExchange(TopicPredictions, Diagnostics):
    """Exports of a fitted `TopicModel`."""

    trace_: pd.DataFrame

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return every table the model gives, by name, index as columns."""
        check_is_fitted(self)
        found: dict[str, pd.DataFrame | pd.Series] = {
            "topics": self.topics(),
            "activation": self.activation(),
            "coherence": self.coherence(),
            "documents": self.documents(),
            "representative_documents": self.representative_documents(),
            "diagnostics": self.diagnostics(),
            "trace": self.trace_,
        }
        if self.covariates_.rows.shape[1] == 1:  # through time, there is a first and a last
            found["first_active"] = self.first_active()
            found["last_active"] = self.last_active()
            found["shapes"] = self.shapes()
        if self.heldout_ is not None:
            found["perplexity"] = pd.DataFrame([self.perplexity()._asdict()])
        return {name: flat(table) for name, table in found.items()}

    def to_csv(self, folder: str | os.PathLike[str]) -> list[Path]:
        """Write every table to `folder` (made if need be), NAME.csv each; return the files."""
        return write_tables(self.tables(), folder)

    def to_arviz(self, n_words: int = 5, n_times: int = 50) -> Any:
        """Return draws for ArviZ: an xarray DataTree (ArviZ 1 or newer) or InferenceData.

        posterior: label-free scalars; activation (chain, draw, t, topic), total_activation_at
        (chain, draw, t), topic_share (chain, draw, topic), word_probability (chain, draw,
        topic, word). Topics are matched across draws (NaN: a draw without it), the largest
        first, as in every table; coordinate topic_words names them. sample_stats: lp, the log
        joint, and sweep. observed_data, constant_data: tokens and documents at t.

        Parameters
        ----------
        n_words : int
            The word dimension holds the likeliest words of each topic, so many of each.
        n_times : int
            The t dimension holds at most so many of the fit's covariates, evenly spread.
        """
        check_is_fitted(self)
        groups = arviz_groups.topic_groups(self._tables, self.counts_, n_words, n_times, self.seed_)
        return arviz_groups.gather(groups)

    def to_pyldavis(self, path: str | os.PathLike[str] | None = None) -> Any:
        """Return pyLDAvis's PreparedData; with a `path`, write its page there too.

        Topics keep their order, but pyLDAvis counts from 1: its topic 1 is topic 0 here. The
        page is one file with its scripts inside.
        """
        check_is_fitted(self)
        prepared = ldavis.prepare(self._tables, self.counts_)
        if path is not None:
            write_file(path, ldavis.page(prepared).encode())
        return prepared


def write_tables(tables: dict[str, pd.DataFrame], folder: str | os.PathLike[str]) -> list[Path]:
    """Write tables to NAME.csv in a folder, and return the files.

    A text that a spreadsheet would take for a formula gets an apostrophe in front.
    """
    there = make_folder(folder)
    written = []
    for name, table in tables.items():
        write_csv(table, there / f"{name}.csv")
        written.append(there / f"{name}.csv")
    return written


def flat(table: pd.DataFrame | pd.Series) -> pd.DataFrame:
    """Return a table with its index as columns."""
    frame = table.to_frame() if isinstance(table, pd.Series) else table
    named = frame.index.names != [None]
    return frame.reset_index() if named else frame
