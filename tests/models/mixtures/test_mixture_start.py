"""Where chains start: one cloud of rows is one cluster, three are three."""

from dataclasses import fields

import numpy as np

from thincrm.data.covariates import covariates
from thincrm.inference.engine import Threads
from thincrm.levy import GammaProcess
from thincrm.models.mixtures.full import Full
from thincrm.models.mixtures.gaussian import GaussianClusters
from thincrm.models.mixtures.likelihood import MixtureLikelihood
from thincrm.models.mixtures.shards import as_shards
from thincrm.models.mixtures.start import start_state
from thincrm.ports import Problem
from thincrm.thinning import Bump


class NeverMerged(Full):
    """A broken twin: no merge of clusters ever gains."""

    def log_marginal(self, stats, hyper):
        return -1e6 * stats.number**2


def started(table, law=None):
    """Return the sizes of the clusters that a chain starts with."""
    known, thinning, spec = covariates(np.arange(len(table)) % 7), Bump(), GaussianClusters()
    law = spec.law() if law is None else law
    problem = Problem(
        levy=GammaProcess(), thinning=thinning, likelihood=MixtureLikelihood(law),
        prepared=thinning.prepare(known), trials=known.trials, n_atoms=20,
        shards=as_shards(spec.rows(table), known.row, known.trials), n_background=1,
        engine=Threads(1),
    )  # fmt: skip
    state = start_state(np.random.default_rng(3), problem)
    return np.sort(np.bincount(state.local[0].label))


def test_a_start_has_no_more_clusters_than_there_are():
    print("seeds 5 and 3")
    rng = np.random.default_rng(5)
    cloud = rng.standard_normal((600, 2))
    cloud[rng.random(cloud.shape) < 0.2] = np.nan
    three = cloud / 3.0 + np.repeat([[-1.5, 0.0], [0.0, 1.5], [1.5, 0.0]], 200, axis=0)
    assert (started(cloud) > 5).sum() == 1
    assert (started(three) > 5).sum() == 3
    law = GaussianClusters().law()
    twin = NeverMerged(*(getattr(law, field.name) for field in fields(law)))
    assert (started(cloud, twin) > 5).sum() > 3
