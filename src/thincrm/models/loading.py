"""tc.load and tc.resume: fitted estimators out of folders."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import numpy as np

from thincrm.errors import DamagedFile, ThincrmError
from thincrm.files.run import RunFolder
from thincrm.inference.dask_cluster import Client
from thincrm.models.codec import codec
from thincrm.models.registry import model_named
from thincrm.models.stored import StoredModel
from thincrm.numerics.waiting import telling

__all__ = ["load", "resume"]


def load(path: str | Path) -> Any:
    """Return the fitted estimator that `save` or `fit(out=...)` wrote into a folder.

    A run that has not finished gives the model of its draws so far, with a warning that says how
    far it got. The folder may come from a stranger: it holds no code, and what it holds is checked.
    """
    model, folder = _open(path)
    with _numbers_of(path):
        model._load(folder)
    return model


def resume(
    path: str | Path,
    *,
    n_sweeps: int | Literal["auto"] | None = None,
    minutes: float | None = None,
    quiet: bool | None = None,
    client: Client | None = None,
) -> Any:
    """Go on with the run in a folder and return the fitted estimator.

    The result is, bit for bit, that of a run which was never stopped.

    Parameters
    ----------
    path : path
        The folder.
    n_sweeps : int, "auto" or None
        End after so many sweeps of each chain, more or fewer than the run has; "auto": once the
        verdict is a yes. A run that becomes longer keeps draws of the last two thirds, at the
        spacing it has or a multiple of it; one that becomes shorter keeps what it kept until there.
        The warm-up stays as it began. None: as many as before.
    minutes : float or None
        End after so long at most; a run that has ended goes on for so long. None: when done.
    quiet : bool or None
        No progress bar; None: as the run began.
    client : dask.distributed.Client or None
        Go on on its cluster.
    """
    with telling(f"opening {path}", quiet=bool(quiet)):
        model, folder = _open(path)
    if quiet is not None:
        model.quiet = bool(quiet)
    with _numbers_of(path):
        model._resume(folder, client, n_sweeps, minutes)
    return model


@contextmanager
def _numbers_of(path: str | Path) -> Iterator[None]:
    """Turn arithmetic that fails into a sentence.

    Every number of a file may be possible, and all of them together not: then a sum overflows, a
    probability is none. What a sampler leaves does not come to that.
    """
    try:
        yield
    except ThincrmError:
        raise
    except (ValueError, ArithmeticError, np.linalg.LinAlgError) as error:
        raise DamagedFile(
            f"The numbers in {path} do not go together ({error}): somebody changed them, or "
            "thincrm is at fault; if nobody did, please report it."
        ) from error


def _open(path: str | Path) -> tuple[StoredModel, RunFolder]:
    folder, settings, data = RunFolder.open(Path(path), codec())
    name = settings.get("model") if isinstance(settings, dict) else None
    model = model_named(name) if isinstance(name, str) else None
    if model is None or not issubclass(model, StoredModel) or not isinstance(data, dict):
        raise DamagedFile(
            f"{path} holds a model that this thincrm does not know ({str(name)[:50]!r}): one of "
            "your own must be registered before (thincrm.models.registry.register)."
        )
    return model._from_files(folder.path, settings, data), folder
