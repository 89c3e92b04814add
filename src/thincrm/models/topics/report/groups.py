"""A coarse view of the topics: put together into a few groups, or into more."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from thincrm.models.topics.model import TopicModel

__all__ = ["group_cuts"]

_CUTS = (6, 12, 24, 48)


def group_cuts(model: TopicModel, n_topics: int) -> list[dict[str, object]]:
    """Return, for some numbers of groups, the groups of `TopicModel.groups`, the largest first."""
    cuts = [n_groups for n_groups in _CUTS if n_groups < n_topics] or [n_topics]
    return [{"number": n_groups, "groups": _groups(model, n_groups)} for n_groups in cuts]


def _groups(model: TopicModel, n_groups: int) -> list[dict[str, object]]:
    return [
        {
            "words": str(rows["group_words"].iloc[0]).split(", "),
            "share": round(float(rows["group_share"].iloc[0]), 5),
            "topics": [int(topic) for topic in rows.index],
        }
        for _, rows in model.groups(n_groups).groupby("group", sort=True)
    ]
