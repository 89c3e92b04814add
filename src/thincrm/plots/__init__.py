"""Pictures at paper size: each takes `ax=`, or makes one, and returns it (matplotlib)."""

from thincrm.plots.activation_curves import activation, share
from thincrm.plots.cards import features, topic_cards
from thincrm.plots.chains import trace
from thincrm.plots.holes import imputation
from thincrm.plots.priors import prior

__all__ = ["activation", "features", "imputation", "prior", "share", "topic_cards", "trace"]
