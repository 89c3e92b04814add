"""A fitted model at the end of its command: tables in its folder, a summary in the terminal."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from thincrm.console.model_terminal import FittedModel, M, ModelTerminal
from thincrm.console.voice import Voice
from thincrm.errors import CannotWrite, InvalidInput, RunInUse, in_shell, resume_call
from thincrm.files import Folder

__all__ = ["keep_results", "show_run"]


def keep_results(model: FittedModel, run: Path) -> None:
    """Say so if the folder does not have the run's results, and save them if it is gone."""
    folder = Folder(run)
    if folder.has("results.json") or (folder.has("settings.json") and not model.complete_):
        return
    if folder.has("settings.json"):
        raise CannotWrite(f"The results are not in {run}: ", resume_call(run), " goes on.")
    for place in (run, *(run.with_name(f"{run.name}-{number}") for number in range(2, 10))):
        with suppress(InvalidInput, RunInUse):
            model.save(place)
            raise CannotWrite(
                f"{run} was moved or removed while it was written: what the model found is saved "
                f"in {place}, without texts and checkpoints."
            )
    raise CannotWrite(f"{run} was moved or removed while it was written, and there is no other.")


def show_run(
    voice: Voice, terminal: ModelTerminal[M], model: M, run: Path, skipped: int = 0
) -> bool:
    """Write a fitted model's tables, print a summary; tell whether its run is complete."""
    files = model.to_csv(run / "tables")
    with voice.telling("looking at the results"):
        table, verdict, predicted = terminal.table(model), model.verdict(), terminal.heldout(model)
    if table.row_count:
        voice.say(table)
    found = _say_number(voice, terminal, model)
    voice.say(verdict)
    if predicted:
        voice.say(
            "Held-out perplexity {perplexity:.1f} (Monte Carlo error {monte_carlo_error:.1g}) of "
            "{held_out_words:,} words.".format(**predicted)
        )
    voice.say(f"{len(files)} tables are in {run / 'tables'}.")
    complete = bool(model.complete_)
    if complete:
        voice.say(f"Next: thincrm report {run}")
    else:
        voice.say("Stopped early: these are the results so far.")
    voice.result(
        run=run,
        complete=complete,
        skipped=skipped,
        verdict=in_shell(verdict),
        converged=bool(getattr(verdict, "ok", False)),
        **found,
        **predicted,
        files=[str(file) for file in files],
    )
    return complete


def _say_number(voice: Voice, terminal: ModelTerminal[M], model: M) -> dict[str, object]:
    """Say how many topics, features, ... are in use."""
    counted = terminal.n_found(model)
    low, high = int(counted.min()), int(counted.max())
    number = f"{low}" if low == high else f"{low} to {high}"
    if high > 0:
        voice.say(f"{number} {model.atoms} in use; the largest are shown.")
    else:
        voice.say(model.nothing_found())
    return {f"n_{model.atoms}": [low, high]}
