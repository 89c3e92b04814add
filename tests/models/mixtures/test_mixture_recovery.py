"""Clusters that come and go are found again: the partition, their number, their shares."""

import numpy as np
import pytest
from mixture_rows import MEANS, come_and_go
from scipy.stats import norm
from sklearn.metrics import adjusted_rand_score

from thincrm.models.mixtures.model import MixtureModel
from thincrm.models.mixtures.partition import contingency

pytestmark = pytest.mark.slow


def best_labels(Y, share_NK):
    """Return the likeliest clusters under the true parameters, holes left out."""
    log_f = norm.logpdf(Y[:, None], MEANS)
    with np.errstate(divide="ignore"):
        return (np.where(np.isnan(log_f), 0.0, log_f).sum(2) + np.log(share_NK)).argmax(1)


@pytest.mark.parametrize("gates", ["shared", "weighted", "observation"])
def test_partition_number_and_shares(gates):
    print("seeds 11 and 0")
    Y, t, truth, share_TK = come_and_go(11, 400, 0.2, 21, shared=gates == "shared")
    model = MixtureModel(
        gates=gates, max_clusters=15, n_sweeps=200, random_state=0, n_threads=1, quiet=True
    ).fit(Y, t=t)
    reachable = adjusted_rand_score(truth, best_labels(Y, share_TK[np.round(20 * t).astype(int)]))
    assert adjusted_rand_score(truth, model.labels_) >= 0.9 * reachable
    large = model.sizes().query("rows > 5")
    assert len(large) == 3
    table = model.activation()
    shares = table.pivot(index="t", columns="cluster", values="share").loc[:, [0, 1, 2]]
    match = contingency(model.labels_, truth).argmax(1)[:3]
    known = share_TK[:, match]
    assert np.abs(shares.to_numpy() - known).mean() <= 0.08
    shuffled = known[:, [1, 2, 0]]  # a broken twin: shares of the wrong clusters
    assert np.abs(shares.to_numpy() - shuffled).mean() > 0.15
