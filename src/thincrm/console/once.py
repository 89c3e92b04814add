"""A command whose options are given once, unless they may be repeated."""

from __future__ import annotations

from collections import Counter
from typing import Any

from typer.core import TyperCommand, TyperOption

from thincrm.errors import InvalidInput

__all__ = ["OnceCommand"]


class OnceCommand(TyperCommand):
    """A command that refuses a second value for an option that takes one."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the words of the command; of two values, none is dropped in silence."""
        if not ctx.resilient_parsing:
            _, _, order = self.make_parser(ctx).parse_args(args=list(args))
            for option, times in Counter(order).items():
                takes_one = isinstance(option, TyperOption) and not (
                    option.multiple or option.is_flag
                )
                if takes_one and times > 1:
                    raise InvalidInput(f"{option.opts[0]} is given {times} times: give it once.")
        return super().parse_args(ctx, args)
