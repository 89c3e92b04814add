"""The verdict on topics: a yes where chains agree on them, by counting over draws made by hand."""

from types import SimpleNamespace

import numpy as np
import pytest
from test_consensus import CHAINS, DRAWS, SEEN, tables_of

from thincrm.errors import in_shell
from thincrm.inference.diagnostics import Verdict
from thincrm.models.topics.agreement import ENOUGH, judge_topics
from thincrm.models.topics.model import TopicModel

NO = Verdict("The chains disagree.", rhat=2.0, worth=5, doubt="the log joint (R-hat 2.00)")
FEW = Verdict("4 chains agree, but on little.", rhat=1.0, worth=63)
YES = Verdict("The chains agree.", True, enough=True, rhat=1.0, worth=200)


def share_in(topics):
    """Return the mean share of a draw's tokens in some topics, of the chains that have each."""
    shares = []
    for draw, (chain, _, where) in zip(DRAWS, SEEN, strict=True):
        tokens = draw.documents.toarray().sum(axis=0)
        here = [topic in topics and topic in CHAINS[chain][-1] for topic in where]
        shares.append(tokens[here].sum() / tokens.sum())
    return np.mean(shares)


def test_a_yes_says_what_share_of_the_words_the_chains_agree_on():
    """Topics 0, 1 and 2 are in three chains of four or more, the others in fewer."""
    held = share_in({0, 1, 2})
    assert held > ENOUGH
    found = judge_topics(NO, tables_of().consensus(0.7))
    assert found.ok
    assert found.enough
    assert found == (
        f"The 4 chains agree on 3 topics, which hold {held:.0%} of the words. They differ in other "
        "topics, and in numbers: most in the log joint (R-hat 2.00)."
    )
    assert (found.rhat, found.worth) == (2.0, 5)


def test_a_yes_says_what_few_draws_are_worth():
    found = judge_topics(FEW, tables_of().consensus(0.7))
    assert found.ok
    assert found.endswith("; the draws are worth only 63 independent ones.")


@pytest.mark.parametrize("verdict", [YES, Verdict("Too few draws to judge.")])
def test_a_yes_stays_one_and_too_few_draws_stay_too_few(verdict):
    assert judge_topics(verdict, tables_of().consensus(0.7)) is verdict


def test_two_chains_are_too_few_to_say_what_comes_back():
    assert judge_topics(NO, tables_of(DRAWS[6:]).consensus(0.7)) is NO


def test_a_no_says_how_much_comes_back():
    """No two draws have the same words, so that nothing comes back if words must be the same."""
    consensus = tables_of(DRAWS[3:]).consensus(1.0 - 1e-12)
    found = judge_topics(NO, consensus)
    assert not found.ok
    assert not found.enough
    assert found.startswith(NO)
    said = "They agree on 0 topics, which hold 0% of the words; a yes needs 70%."
    assert found.endswith(f'{said} Coarser topics (detail="coarse") come back more surely.')
    assert in_shell(found).endswith("Coarser topics (--detail coarse) come back more surely.")
    assert judge_topics(NO, consensus, coarse=True).endswith(said)
    assert found.missing == "firm topics hold 0% of the words so far, 70% needed"


def test_one_topic_is_no_topics():
    consensus = tables_of().consensus(0.7)
    alone = SimpleNamespace(
        found=consensus.found,
        share=consensus.share,
        firm=lambda: np.arange(consensus.share.shape[1]) == 0,
    )
    assert " They agree on 1 topic, which holds " in judge_topics(NO, alone)


def test_chains_on_plain_topics_agree_whatever_the_log_joint_does():
    rng = np.random.default_rng(4)
    owner = rng.integers(0, 3, 120)
    X = rng.poisson(np.where(np.arange(12) // 4 == owner[:, None], 4.0, 0.02))
    model = TopicModel(
        max_topics=10, n_sweeps=60, n_draws=10, n_chains=3, random_state=1, quiet=True
    ).fit(X, t=np.arange(120) % 6)
    assert model.reliability()["firm"].sum() >= 3
    assert model.verdict().ok
