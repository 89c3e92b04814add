"""Bayesian nonparametrics for data that come with a covariate: thinned random measures.

    model = Lévy measure  ×  thinning function  ×  likelihood
            how heavy        where an atom        what open atoms
            atoms are        is open              do to data

Names are loaded when first used, so that importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from thincrm.data.counts import split_words
    from thincrm.data.reading import read_counts, read_table, read_texts
    from thincrm.data.vocabulary import choose_words
    from thincrm.levy import (
        BetaProcess,
        GammaProcess,
        GeneralizedGammaProcess,
        StableBetaProcess,
        StableProcess,
    )
    from thincrm.measure import ThinnedCRM
    from thincrm.models.dependent_ibp.model import DependentIBP
    from thincrm.models.features.model import FeatureModel
    from thincrm.models.loading import load, resume
    from thincrm.models.mixtures.gaussian import GaussianClusters
    from thincrm.models.mixtures.mixed import MixedClusters
    from thincrm.models.mixtures.model import MixtureModel
    from thincrm.models.mixtures.regression import RegressionClusters
    from thincrm.models.topics.factors import (
        GammaNegativeBinomialFactor,
        NegativeBinomialFactor,
        PoissonFactor,
    )
    from thincrm.models.topics.model import TopicModel
    from thincrm.ports import GateEvidence, MassEvidence
    from thincrm.report import write_report
    from thincrm.thinning import Always, Bump, FunctionThinning, ProbitRVM, SigmoidGP

_HOME = {
    "Always": "thinning",
    "BetaProcess": "levy",
    "Bump": "thinning",
    "DependentIBP": "models.dependent_ibp.model",
    "FeatureModel": "models.features.model",
    "FunctionThinning": "thinning",
    "GammaNegativeBinomialFactor": "models.topics.factors",
    "GammaProcess": "levy",
    "GaussianClusters": "models.mixtures.gaussian",
    "GateEvidence": "ports",
    "GeneralizedGammaProcess": "levy",
    "MassEvidence": "ports",
    "MixedClusters": "models.mixtures.mixed",
    "MixtureModel": "models.mixtures.model",
    "NegativeBinomialFactor": "models.topics.factors",
    "PoissonFactor": "models.topics.factors",
    "ProbitRVM": "thinning",
    "RegressionClusters": "models.mixtures.regression",
    "SigmoidGP": "thinning",
    "StableBetaProcess": "levy",
    "StableProcess": "levy",
    "ThinnedCRM": "measure",
    "TopicModel": "models.topics.model",
    "choose_words": "data.vocabulary",
    "read_counts": "data.reading",
    "read_table": "data.reading",
    "read_texts": "data.reading",
    "load": "models.loading",
    "resume": "models.loading",
    "split_words": "data.counts",
    "write_report": "report",
}
_ROOMS = ("levy", "measure", "plots", "processes", "testing", "thinning")
__version__ = "0.1.0"
__all__ = [
    "Always",
    "BetaProcess",
    "Bump",
    "DependentIBP",
    "FeatureModel",
    "FunctionThinning",
    "GammaNegativeBinomialFactor",
    "GammaProcess",
    "GateEvidence",
    "GaussianClusters",
    "GeneralizedGammaProcess",
    "MassEvidence",
    "MixedClusters",
    "MixtureModel",
    "NegativeBinomialFactor",
    "PoissonFactor",
    "ProbitRVM",
    "RegressionClusters",
    "SigmoidGP",
    "StableBetaProcess",
    "StableProcess",
    "ThinnedCRM",
    "TopicModel",
    "__version__",
    "choose_words",
    "load",
    "read_counts",
    "read_table",
    "read_texts",
    "resume",
    "split_words",
    "write_report",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"thincrm.{_HOME[name]}"), name)
    if name in _ROOMS:
        return import_module(f"thincrm.{name}")
    raise AttributeError(f"module 'thincrm' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_ROOMS])
