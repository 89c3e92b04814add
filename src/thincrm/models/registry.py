"""Which models there are: files, the command line and reports loop over this list.

A model of the library is a folder and a line here. A model of one's own is a class and
`register(MyModel)`.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import TypeVar

__all__ = ["MODELS", "command_modules", "model_classes", "model_named", "register"]

C = TypeVar("C", bound=type)
MODELS = {  # estimator: its folder, with model.py and, if it has commands, command.py
    "TopicModel": "thincrm.models.topics",
    "FeatureModel": "thincrm.models.features",
    "DependentIBP": "thincrm.models.dependent_ibp",
    "MixtureModel": "thincrm.models.mixtures",
}
_OTHERS: dict[str, type] = {}


def register(model: C) -> C:
    """Make a model known by its class name: `thincrm.load` then reads it."""
    _OTHERS[model.__name__] = model
    return model


def model_named(name: str) -> type | None:
    """Return the estimator of that name, or None."""
    if name in MODELS:
        found: type = getattr(import_module(f"{MODELS[name]}.model"), name)
        return found
    return _OTHERS.get(name)


def model_classes() -> list[type]:
    """Return every estimator that is known."""
    found = [model_named(name) for name in (*MODELS, *_OTHERS)]
    return [model for model in found if model is not None]


def command_modules() -> list[ModuleType]:
    """Return the modules that have commands, one per model; they are quick to import."""
    names = [f"{folder}.command" for folder in MODELS.values()]
    return [import_module(name) for name in names if find_spec(name) is not None]
