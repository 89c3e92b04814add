"""Sentences that speak of Python arguments, in the words of the command line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

__all__ = ["asked", "in_shell"]

_PHRASES = (
    (r"thincrm\.load\('([^']*)'\) reads it", r"'thincrm report \1' shows it"),
    (r"thincrm\.resume\('([^']*)'\)", r"'thincrm resume \1'"),
    (r"pass the folder that fit\(out=\.\.\.\) or save\(\.\.\.\) wrote", "name the folder of a run"),
    (r"Pass thinning=Always\(\) to say so", "Say --thinning always if that is meant"),
    (r"Pass t=, or thinning=Always\(\) to say so", "Say --thinning always if that is meant"),
    (
        r"They are in memory: model\.save\(\.\.\.\) writes them elsewhere",
        "Once there is space, 'thincrm resume' goes on",
    ),
    (r"or pass max_topics='grow'", "or say --max-topics grow"),
    (r"skip_bad=True or --skip-bad", "--skip-bad"),
    (r"date_format= or --date-format", "--date-format"),
    (r"encoding= or --encoding", "--encoding"),
)
_WORDS = (
    (r"^level must", "--level must"),
    (r"\bn_(sweeps|draws|chains|threads)\b", r"--\1"),
    (r"\b(max_topics|max_features|min_count|min_df|max_df|tfidf_share|stop_words)\b", r"--\1"),
    (r"--(\w+)_(\w+)\b", r"--\1-\2"),
    (r"\brandom_state\b", "--seed"),
    (r"\bheldout=", "--heldout "),
)
_QUOTED = r"'[^']*'|\"[^\"]*\"|\bcolumn [^:]*:"
_ASKED: ContextVar[tuple[str, ...]] = ContextVar("_ASKED", default=())


@contextmanager
def asked(arguments: Sequence[str]) -> Iterator[None]:
    """Remember the words of a command: sentences that quote them leave them as they are."""
    forms: set[str] = set()
    for argument in map(str, arguments):
        path = Path(argument)
        forms |= {argument, str(path), path.name, str(path.absolute())}
        forms |= {str(parent) for parent in path.parents}
    changed = [form for form in forms if _translated(form) != form]
    token = _ASKED.set(tuple(sorted(changed, key=len, reverse=True)))
    try:
        yield
    finally:
        _ASKED.reset(token)


def in_shell(sentence: str) -> str:
    """Return a sentence in the words of the command line; what it quotes stays as it is."""
    for python, shell in _PHRASES:
        sentence = re.sub(python, shell, sentence)
    kept = "|".join([*map(re.escape, _ASKED.get()), _QUOTED])
    parts = re.split(f"({kept})", sentence)
    parts[::2] = map(_translated, parts[::2])
    return "".join(parts)


def _translated(text: str) -> str:
    for python, shell in _WORDS:
        text = re.sub(python, shell, text)
    return text
