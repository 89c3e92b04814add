"""Topics for pyLDAvis, and its page as one file that asks nothing of the network."""

from __future__ import annotations

from base64 import b64encode
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import entr

from thincrm.data.counts import CountMatrix
from thincrm.errors import InvalidInput
from thincrm.models.topics.tables import TopicTables
from thincrm.numerics.arrays import ArrayLike, Float, Int

__all__ = ["page", "prepare"]

_FEWEST_TOPICS = 3


def prepare(tables: TopicTables, counts: CountMatrix) -> Any:
    """Return pyLDAvis's PreparedData; its topic k + 1 is topic k here (it counts from 1)."""
    if tables.n_topics < _FEWEST_TOPICS:
        raise InvalidInput(
            f"pyLDAvis maps topics on a plane and needs {_FEWEST_TOPICS} of them; the model has "
            f"{tables.n_topics}."
        )
    length_D: Int = np.asarray(counts.sum(axis=1)).reshape(-1)
    said = np.flatnonzero(length_D > 0)
    share_DK = tables.document_shares()[said].toarray()
    share_DK /= share_DK.sum(axis=1, keepdims=True)
    theta_PK = tables.mean_theta / tables.mean_theta.sum(axis=0)
    return _pyldavis().prepare(
        theta_PK.T,
        share_DK,
        length_D[said],
        tables.vocabulary.astype(str).to_numpy(),
        np.asarray(counts.sum(axis=0)).reshape(-1),
        mds=plane,
        n_jobs=1,
        sort_topics=False,
    )


def plane(theta_KP: ArrayLike) -> Float:
    """Return (K, 2) classical scaling of the Jensen-Shannon divergences, as LDAvis does.

    By a symmetric eigenproblem: pyLDAvis's own solver can return complex numbers.
    """
    theta = np.asarray(theta_KP, float)
    entropy_K = entr(theta).sum(axis=1)
    mixed_KK = np.array([entr(0.5 * (row + theta)).sum(axis=1) for row in theta])
    far_KK = np.maximum(mixed_KK - 0.5 * (entropy_K + entropy_K[:, None]), 0.0)
    centre = np.eye(len(theta)) - 1.0 / len(theta)
    value, vector = np.linalg.eigh(-0.5 * centre @ far_KK**2 @ centre)
    return np.asarray(vector[:, :-3:-1] * np.sqrt(np.maximum(value[:-3:-1], 0.0)))


def page(prepared: Any) -> str:
    """Return prepared data as one HTML page, scripts inside; words stay text, whatever they are."""
    urls = import_module("pyLDAvis.urls")
    inside = {
        "d3_url": _data_url(urls.D3_LOCAL, "text/javascript"),
        "ldavis_url": _data_url(urls.LDAVIS_LOCAL, "text/javascript"),
        "ldavis_css_url": _data_url(urls.LDAVIS_CSS_LOCAL, "text/css"),
    }
    json = str(prepared.to_json())
    html = str(_pyldavis().prepared_data_to_html(prepared, template_type="simple", **inside))
    before, found, after = html.partition(json)
    if not found:
        raise InvalidInput("this version of pyLDAvis is not known: install pyLDAvis 3.4.")
    return before + json.replace("<", "\\u003c") + after


def _data_url(path: str, kind: str) -> str:
    return f"data:{kind};base64,{b64encode(Path(path).read_bytes()).decode()}"


def _pyldavis() -> Any:
    try:
        return import_module("pyLDAvis")
    except ImportError as error:
        raise InvalidInput(
            "to_pyldavis needs pyLDAvis: pip install 'thincrm[pyldavis]'."
        ) from error
