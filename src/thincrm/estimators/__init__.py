"""Estimators with scikit-learn's manners."""

from thincrm.estimators.topics import TopicModel

__all__ = ["TopicModel"]
