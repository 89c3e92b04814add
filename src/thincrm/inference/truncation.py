"""Does the truncation bind? One rule, for the terminal and the report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from thincrm.errors import Sentence, argument, either

if TYPE_CHECKING:
    from thincrm.inference.diagnostics import KeptDraw

__all__ = ["truncation_binds"]


def truncation_binds(
    draws: Sequence[KeptDraw], atoms: str, room: int | None, may_grow: bool = False
) -> Sentence | None:
    """Return a sentence if more than half of the draws use every atom they have; None if not.

    room: how many there are, where draws do not say it (`max_{atoms}`). may_grow: they can be
    told to be as many as are needed.
    """
    most, number = f"max_{atoms}", f"n_{atoms}"
    rooms = [draw.scalars.get(most, room) for draw in draws]
    full = [
        there is not None and draw.scalars.get(number, 0) >= there
        for draw, there in zip(draws, rooms, strict=True)
    ]
    if 2 * sum(full) <= len(full):
        return None
    grow = Sentence(", or pass ", either(f"{most}='grow'", f"{argument(most).shell} grow"))
    return Sentence(
        f"All {rooms[-1]:g} {atoms} are in use: their number is cut off there. Raise ",
        argument(most), grow if may_grow else "", ".",
    )  # fmt: skip
