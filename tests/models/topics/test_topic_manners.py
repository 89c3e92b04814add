"""TopicModel has scikit-learn's manners: every common check, no exception."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from thincrm.models.topics.model import TopicModel

SMALL = TopicModel(
    max_topics=4, n_sweeps=4, n_draws=2, n_chains=1, n_threads=1, random_state=0, quiet=True
)


@pytest.mark.filterwarnings("ignore")  # no covariate, and a truncation that binds
@parametrize_with_checks([SMALL])
def test_common_checks(estimator, check):
    check(estimator)
