"""The verdict on topics: a yes if the chains agree on them, on whatever else they differ.

Real corpora have many modes. Chains that sit in several of them differ in the log joint and in the
number of topics for as long as anyone waits, and still find the same topics: those are firm.
"""

from __future__ import annotations

from thincrm.errors import Sentence, either
from thincrm.inference.diagnostics import Verdict
from thincrm.models.topics.consensus import Consensus

__all__ = ["ENOUGH", "judge_topics"]

ENOUGH = 0.7  # of the words, in firm topics
_FEWEST_CHAINS = 3
_COARSER = Sentence(
    " Coarser topics (", either('detail="coarse"', "--detail coarse"), ") come back more surely."
)


def judge_topics(plain: Verdict, consensus: Consensus, *, coarse: bool = False) -> Verdict:
    """Return the verdict on topics, given that on label-free quantities; coarse: they are so.

    A yes if that is one, or if the topics that most chains have hold most of the words. Words,
    curves and shares of a firm topic are of the draws of all chains that have it, so that their
    bands hold what the chains disagree on.
    """
    n_chains, firm = len(consensus.found), consensus.firm()
    if plain.ok or n_chains < _FEWEST_CHAINS or not plain.worth > 0.0:
        return plain
    held = float(consensus.share[:, firm].sum(axis=1).mean())
    topics = "1 topic, which holds" if firm.sum() == 1 else f"{firm.sum()} topics, which hold"
    found = f"on {topics} {held:.0%} of the words"
    if held < ENOUGH:
        advice = "" if coarse else _COARSER
        told = Sentence(plain, f" They agree {found}; a yes needs {ENOUGH:.0%}.", advice)
        missing = f"firm topics hold {held:.0%} of the words so far, {ENOUGH:.0%} needed"
        return Verdict(told, rhat=plain.rhat, worth=plain.worth, missing=missing)
    rest = f"; the draws are worth only {plain.worth:.0f} independent ones."
    if plain.doubt:
        rest = f". They differ in other topics, and in numbers: most in {plain.doubt}."
    sentence = f"The {n_chains} chains agree {found}{rest}"
    return Verdict(sentence, True, enough=True, rhat=plain.rhat, worth=plain.worth)
