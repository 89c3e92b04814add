"""What a file can hold: sizes that it claims are compared with it before memory is taken."""

from __future__ import annotations

from pathlib import Path

from thincrm.errors import InvalidInput

__all__ = ["FREE_BYTES", "MOST_GROWTH", "check_entries", "check_growth", "check_shape"]

FREE_BYTES = 64 * 2**20  # that a file may unpack to whatever its own size is
MOST_GROWTH = 50  # times its size; texts and counts seldom shrink to less than a twentieth
_FREE_ROWS, _ROWS_AN_ENTRY = 100_000, 10


def check_growth(place: str, unpacked: int, packed: int) -> None:
    """Refuse a file of which `packed` bytes unpack to far more than a text or counts would."""
    if unpacked > FREE_BYTES and unpacked > MOST_GROWTH * packed:
        raise InvalidInput(
            f"{place}: the file unpacks to more than {MOST_GROWTH} times its size; unpack it "
            "yourself if it is not an attack."
        )


def check_shape(place: str, n_documents: int, n_words: int, n_entries: int) -> None:
    """Refuse counts with far more documents or words than entries."""
    if max(n_documents, n_words) > _FREE_ROWS + _ROWS_AN_ENTRY * n_entries:
        raise InvalidInput(
            f"{place}: {n_documents} documents and {n_words} words for {n_entries} entries cannot "
            "be meant."
        )


def check_entries(path: Path, place: str, n_entries: int, least_bytes: int) -> None:
    """Refuse a text file that announces more entries than it has room for."""
    size = path.stat().st_size
    room = max(FREE_BYTES, MOST_GROWTH * size) if path.suffix == ".gz" else size
    if n_entries * least_bytes > room:
        raise InvalidInput(
            f"{place}: {n_entries} entries are announced, and the file has room for "
            f"{room // least_bytes}: is it cut short?"
        )
