"""Estimators with scikit-learn's manners."""

from thincrm.estimators.dependent_ibp import DependentIBP
from thincrm.estimators.features import FeatureModel
from thincrm.estimators.topics import TopicModel

__all__ = ["DependentIBP", "FeatureModel", "TopicModel"]
