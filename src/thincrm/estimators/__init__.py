"""Estimators with scikit-learn's manners."""

from thincrm.estimators.features import FeatureModel
from thincrm.estimators.topics import TopicModel

__all__ = ["FeatureModel", "TopicModel"]
