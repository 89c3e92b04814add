"""The work of the commands that take any run: they load its model, and ask the model."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import pandas as pd
from sklearn.base import clone

import thincrm as tc
from thincrm.console.model_terminal import ModelTerminal, RunCommand, refusal
from thincrm.console.run_source import kept_reading
from thincrm.console.show_run import keep_results, show_run
from thincrm.console.terminal_tables import plain_table
from thincrm.console.voice import Voice
from thincrm.data.writing import write_csv
from thincrm.errors import InvalidInput, check_between
from thincrm.files import write_file
from thincrm.inference.dask_cluster import Client
from thincrm.models.registry import MODELS
from thincrm.numerics.waiting import now

__all__ = ["evaluate_again", "export", "report", "resume", "run_command", "terminal_of"]

_EXPORTS = {"csv": "to_csv", "arviz": "to_arviz", "pyldavis": "to_pyldavis"}


def terminal_of(model: object) -> ModelTerminal[Any]:
    """Return how a model is shown and used: its own way, that of its base, or the plain one."""
    for kind in type(model).__mro__:
        name = f"{MODELS.get(kind.__name__)}.command"
        if kind.__name__ in MODELS and find_spec(name) is not None:
            found: ModelTerminal[Any] = import_module(name).terminal()
            return found
    return ModelTerminal()


def run_command(
    name: str, voice: Voice, run: Path, out: Path
) -> tuple[RunCommand, Any, ModelTerminal[Any]]:
    """Return a command, the model of its run, and what the model can do there."""
    with voice.telling(f"opening {run}"):
        model = tc.load(run)
    return RunCommand(name, voice, run, out), model, terminal_of(model)


def resume(
    voice: Voice,
    run: Path,
    client: Client | None,
    n_sweeps: int | Literal["auto"] | None,
    minutes: float | None,
) -> bool:
    """Go on with a run, and show it."""
    model = tc.resume(run, n_sweeps=n_sweeps, minutes=minutes, quiet=voice.quiet, client=client)
    keep_results(model, run)
    return show_run(voice, terminal_of(model), model, run)


def report(voice: Voice, run: Path, path: Path, title: str | None) -> None:
    """Write the report of a run."""
    with voice.telling(f"opening {run}"):
        model = tc.load(run)
        texts: Any = terminal_of(model).texts(run, model)  # a Series: its index names the documents
        name = title or kept_reading(run).get("source")
        now("making the report")
        tc.write_report(model, path, texts=texts, title=str(name) if name else None)


def export(voice: Voice, run: Path, to: str, path: Path) -> list[Path]:
    """Write a run for another program; return the files."""
    with voice.telling(f"opening {run}"):
        model = tc.load(run)
        now(f"writing {path.name}")
        return _export(model, run, to, path)


def _export(model: Any, run: Path, to: str, path: Path) -> list[Path]:
    if not hasattr(model, _EXPORTS[to]):
        raise refusal(f"export --to {to}", model, run)
    if to == "csv":
        return list(model.to_csv(path))
    if to == "pyldavis":
        model.to_pyldavis(path)
    else:
        _write_netcdf(model.to_arviz(), path)
    return [path]


def _write_netcdf(draws: Any, path: Path) -> None:
    with TemporaryDirectory() as folder:
        draft = Path(folder) / "draws.nc"
        try:
            draws.to_netcdf(draft)
        except (ImportError, ValueError) as error:  # ArviZ 1 comes without what writes files
            raise InvalidInput(
                f"{path} needs h5netcdf and h5py: pip install 'thincrm[arviz]'."
            ) from error
        write_file(path, draft.read_bytes())


def evaluate_again(
    voice: Voice, run: Path, path: Path, share: float, sweeps: int | None, seed: int
) -> None:
    """Fit the model of a run again without some data, and write how well they are predicted."""
    check_between("heldout", share, 0.0, 1.0)
    command, model, terminal = run_command("evaluate", voice, run, path)
    again = clone(model)
    again.set_params(random_state=seed, quiet=voice.quiet)
    if sweeps is not None or again.n_sweeps == "auto":
        again.set_params(n_sweeps=model.n_sweeps_ if sweeps is None else sweeps)
    found = terminal.evaluate(command, model, again, share, seed)
    write_csv(pd.DataFrame([found]), path)
    shown = plain_table("measure", "value")
    for name, value in found.items():
        shown.add_row(name.replace("_", " "), f"{value:.6g}")
    voice.say(shown)
    voice.say(f"{100 * share:g} % held out, seed {seed}. {path} written.")
    voice.result(run=run, file=path, **found)
