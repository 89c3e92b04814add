"""What leaves a fitted topic model for other tools: ArviZ, pyLDAvis, CSV."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
from sklearn.utils.validation import check_is_fitted

from thincrm.data.counts import CountsLike
from thincrm.data.writing import Blocks
from thincrm.files import write_file
from thincrm.inference.diagnostics import Diagnostics, Verdict
from thincrm.models.arviz_groups import gather
from thincrm.models.atom_tables import flat, write_tables
from thincrm.models.topics import ldavis
from thincrm.models.topics.agreement import judge_topics
from thincrm.models.topics.arviz import topic_groups
from thincrm.models.topics.chain_topics import SIMILARITY
from thincrm.models.topics.predictions import TopicPredictions
from thincrm.numerics.waiting import telling

__all__ = ["TopicExport"]

_LEAST = 0.01  # share of a document's words that a topic must hold to be in the table
_FIRM_SHARES = 3  # firm topics whose shares are compared across chains


class TopicExport(TopicPredictions, Diagnostics):
    """Exports of a fitted `TopicModel`."""

    trace_: pd.DataFrame
    quiet: bool
    detail: str
    concentration: float | None

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return every table the model gives, by name, index as columns."""
        with telling("making tables", quiet=bool(self.quiet)):
            found = self._named_tables()
            return found | {"documents": self._tables.documents(_LEAST)}

    def to_csv(self, folder: str | os.PathLike[str]) -> list[Path]:
        """Write every table to `folder` (made if need be), NAME.csv each; return the files."""
        with telling("making tables", quiet=bool(self.quiet)):
            found: dict[str, pd.DataFrame | Blocks] = dict(self._named_tables())
            found["documents"] = partial(self._tables.document_blocks, _LEAST)
            return write_tables(found, folder)

    def _named_tables(self) -> dict[str, pd.DataFrame]:
        """Return all tables, by name, but that of documents, which is as long as they are many."""
        check_is_fitted(self)
        found: dict[str, pd.DataFrame | pd.Series] = {
            "topics": self.topics(),
            "activation": self.activation(),
            "coherence": self.coherence(),
            "reliability": self.reliability(),
            "groups": self.groups(),
            "documents": pd.DataFrame(),
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

    def _quantities(self) -> pd.DataFrame:
        """Return the label-free quantities of draws, and what users read: of firm topics."""
        found = self._tables.consensus(SIMILARITY).quantities(_FIRM_SHARES)
        return super()._quantities().assign(**found)

    def verdict(self, heldout: CountsLike | None = None) -> Verdict:
        """Say in a sentence whether the chains agree, at least on the topics (`agreement`)."""
        coarse = self.detail == "coarse" or self.concentration is not None
        plain = super().verdict(heldout)
        return judge_topics(plain, self._tables.consensus(SIMILARITY), coarse=coarse)

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
        groups = topic_groups(self._tables, self.counts_, n_words, n_times, self.seed_)
        return gather(groups)

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
