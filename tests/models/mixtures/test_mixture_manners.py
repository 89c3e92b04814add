"""MixtureModel has scikit-learn's manners: every common check, no exception."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from thincrm.models.mixtures.model import MixtureModel

SMALL = MixtureModel(
    max_clusters=6, n_sweeps=30, n_draws=4, n_threads=1, random_state=0, quiet=True
)


@pytest.mark.filterwarnings("ignore")  # no covariate, and a truncation that binds
@parametrize_with_checks([SMALL])
def test_common_checks(estimator, check):
    check(estimator)
