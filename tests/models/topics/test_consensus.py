"""Which topics come back, against plain loops over draws made up by hand, and of a small fit."""

from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from made_up_draws import made_up
from scipy import sparse
from scipy.special import expit

from thincrm import load, resume
from thincrm.data.covariates import covariates
from thincrm.errors import InvalidInput
from thincrm.models.topics.model import TopicModel
from thincrm.models.topics.tables import TopicTables

WORDS_OF = np.zeros((6, 10), int)
for k, words in enumerate(([0, 1], [2, 3], [4, 5], [6, 7], [8, 9], [1, 8])):
    WORDS_OF[k, words] = 30, 20
CHAINS = [  # the topics of each draw; 3 is in the last two chains, 4 in the last alone
    [[0, 1, 2], [1, 0, 2], [2, 1, 0]],
    [[2, 0, 1, 5], [0, 1, 2], [1, 5, 0, 2]],
    [[3, 2, 1, 0], [0, 1, 3], [0, 3, 1]],
    [[4, 0, 1, 2, 3], [0, 1, 2, 3], [4, 3, 2, 1, 0]],
]
SEEN = [(c, s, where) for c, draws in enumerate(CHAINS) for s, where in enumerate(draws)]
DRAWS = [made_up(where, i, c, s, words_of=WORDS_OF) for i, (c, s, where) in enumerate(SEEN)]


def tables_of(draws=DRAWS):
    return TopicTables(draws, pd.Index(list("abcdefghij")), covariates(np.arange(4)))


def plain(n_chains):
    """Return chains and draws of each topic of the last draw, by counting."""
    order = np.argsort(-DRAWS[-1].tokens, kind="stable")
    rows = []
    for topic in np.array(CHAINS[-1][-1])[order]:
        # a chain's topics are those of its last draw
        has = [topic in draws[-1] for draws in CHAINS[-n_chains:]]
        inside = [c for c, has_it in zip(range(4 - n_chains, 4), has, strict=True) if has_it]
        seen = [c for c, _, where in SEEN if topic in where and c in inside]
        rows.append((np.mean(has), len(seen) / (3 * n_chains)))
    return np.array(rows)


@pytest.mark.parametrize("n_chains", [4, 3, 2])
def test_topics_are_found_where_they_are(n_chains):
    consensus = tables_of(DRAWS[12 - 3 * n_chains :]).consensus(0.7)
    table, expected = consensus.table(), plain(n_chains)
    assert list(table.columns) == ["chains", "draws", "firm", "share"]
    assert table.index.name == "topic"
    np.testing.assert_allclose(table["chains"], expected[:, 0])
    np.testing.assert_allclose(table["draws"], expected[:, 1])
    assert list(table["firm"]) == list(expected[:, 0] >= 0.75)
    np.testing.assert_allclose(consensus.table(0.5)["firm"], expected[:, 0] >= 0.5)


def test_shares_are_those_of_draws_that_have_the_topic():
    """Topic 2 is not in the last draw of its third chain, so not in that chain."""
    consensus = tables_of().consensus(0.7)
    order = np.argsort(-DRAWS[-1].tokens, kind="stable")
    for k, topic in enumerate(np.array(CHAINS[-1][-1])[order]):
        share = []
        for draw, (c, _, where) in zip(DRAWS, SEEN, strict=True):
            if topic in where and topic in CHAINS[c][-1]:
                tokens = draw.documents.toarray().sum(axis=0)
                share.append(tokens[where.index(topic)] / tokens.sum())
        assert consensus.table().loc[k, "share"] == pytest.approx(np.mean(share))


def test_one_chain_is_judged_by_its_draws():
    table = tables_of(DRAWS[9:]).consensus(0.7).table()
    assert (table["chains"] == 1.0).all()
    assert sorted(table["draws"]) == pytest.approx([2 / 3, 1.0, 1.0, 1.0, 1.0])
    assert list(table["firm"]) == list(table["draws"] >= 0.75)


def test_a_chain_has_the_mean_of_its_draws():
    """One draw of two is half another topic: the cosine with the mean decides, not with a draw."""
    mixed = WORDS_OF.copy()
    mixed[0] = (WORDS_OF[0] + WORDS_OF[1]) // 2
    draws = [
        made_up([0, 1], 0, 0, 0, words_of=mixed), made_up([0, 1], 1, 0, 1, words_of=WORDS_OF),
        made_up([0, 1], 2, 1, 0, words_of=WORDS_OF), made_up([0, 1], 3, 1, 1, words_of=WORDS_OF),
    ]  # fmt: skip
    tables = tables_of(draws)
    place = list(tables.found[-1]).index(0)
    words = [draw.words.toarray()[:, 0].astype(float) for draw in draws]
    mean, own = words[0] + words[1], words[2] + words[3]
    cosine = mean @ own / np.linalg.norm(mean) / np.linalg.norm(own)
    assert 0.7 < cosine < 0.99
    for similarity, found in ((cosine - 0.005, 1.0), (cosine + 0.005, 0.5)):
        assert tables.consensus(similarity).table().loc[place, "chains"] == found


def test_what_diagnostics_compare_of_firm_topics():
    consensus = tables_of().consensus(0.7)
    found = consensus.quantities(2)
    firm = np.flatnonzero(consensus.firm())
    assert list(found["n_firm_topics"]) == [
        sum(consensus.present[b, k] for k in firm) for b in range(12)
    ]
    mean = {k: np.mean(consensus.share[:, k]) for k in firm}
    largest = sorted(firm, key=lambda k: -mean[k])[:2]
    assert [f"topic_share[{k}]" for k in largest] == list(found)[1:]
    for k in largest:
        np.testing.assert_array_equal(found[f"topic_share[{k}]"], consensus.share[:, k])


@pytest.fixture(scope="module")
def fitted():
    """Three topics on four words each, and three short chains."""
    rng = np.random.default_rng(0)
    year = np.repeat(np.arange(1900, 1910), 8)
    X = np.zeros((year.size, 12), int)
    for d in range(year.size):
        for topic in rng.choice(3, 2, replace=False):
            X[d, 4 * topic : 4 * topic + 4] += rng.multinomial(15, np.ones(4) / 4)
    model = TopicModel(
        max_topics=20, n_sweeps=30, n_draws=10, n_chains=3, n_threads=1, random_state=0, quiet=True
    )
    return model.fit(X, t=year)


def test_a_fitted_model_says_which_topics_come_back(fitted):
    table = fitted.reliability()
    assert list(table.index) == sorted(fitted.topics()["topic"].unique())
    words = fitted.topics(4).groupby("topic")["word"].agg(frozenset)
    true = {frozenset(range(4 * k, 4 * k + 4)) for k in range(3)}
    found = [topic for topic, mine in words.items() if mine in true]
    assert len(found) == 3
    assert table.loc[found, "firm"].all()
    assert (table.loc[found, "chains"] == 1.0).all()
    assert table.loc[found, "share"].sum() > 0.7
    assert table[["chains", "draws", "share"]].stack().between(0, 1).all()
    pd.testing.assert_frame_equal(fitted.tables()["reliability"].set_index("topic"), table)
    assert any(name.startswith("topic_share[") for name in fitted.diagnostics().index)


def assert_contract(model):
    """One row a topic with the labels of all tables, shares in 0..1, and a verdict to read."""
    table = model.reliability()
    assert list(table.columns) == ["chains", "draws", "firm", "share"]
    assert table.index.name == "topic"
    assert list(table.index) == list(range(len(table)))
    for other in (model.topics()["topic"], model.activation()["topic"], model.groups().index):
        assert set(other) == set(table.index)
    assert len(model.shapes()) == len(model.first_active()) == len(table)
    assert table["firm"].dtype == bool
    assert table[["chains", "draws", "share"]].stack().between(0, 1).all()
    verdict = model.verdict()
    assert verdict.endswith(".")
    assert verdict.ok in (True, False)


def test_the_contract_holds_after_load_and_resume(fitted, tmp_path):
    assert_contract(fitted)
    fitted.save(tmp_path / "model")
    pd.testing.assert_frame_equal(load(tmp_path / "model").reliability(), fitted.reliability())
    assert load(tmp_path / "model").verdict() == fitted.verdict()
    out = tmp_path / "run"
    model = TopicModel(max_topics=6, n_sweeps=12, n_chains=2, random_state=0, quiet=True)
    model.fit(fitted.counts_, t=fitted.covariates_, out=out)
    longer = resume(out, n_sweeps=20)
    assert longer.n_sweeps_ == 20
    assert_contract(longer)


@pytest.mark.filterwarnings("ignore:All 1 topics are in use")
@pytest.mark.parametrize("max_topics", [1, 6])
def test_the_contract_holds_of_one_chain_and_of_one_topic(fitted, max_topics):
    model = TopicModel(
        max_topics=max_topics, n_sweeps=12, n_chains=1, random_state=0, quiet=True
    ).fit(fitted.counts_, t=fitted.covariates_)
    assert_contract(model)
    assert len(model.reliability()) <= max_topics
    assert not model.verdict().ok


def test_words_in_another_order(fitted):
    words = fitted.topics(12)
    assert (words.groupby("topic")["word"].nunique() == 12).all()
    common = fitted.common_words()
    mine = words[words["topic"] == 0]
    score = np.log(mine["probability"]) - 0.4 * np.log(common[mine["word"]])
    assert score.is_monotonic_decreasing
    with pytest.raises(InvalidInput, match="order must be"):
        fitted.topics(order="size")


def test_how_common_words_are(fitted):
    """The mean count is added to each: half of the shares are of the corpus, half are equal."""
    seen = [sum(row) for row in fitted.counts_.toarray().T.tolist()]
    plain = [0.5 * n / sum(seen) + 0.5 / len(seen) for n in seen]
    np.testing.assert_allclose(fitted.common_words(), plain, rtol=1e-12)


def blurred(rng, chain, sweep):
    """Return a draw of three topics of few words; of the last chain, 0 and 1 are mixed, or gone."""
    draw = made_up([0, 1, 2], int(rng.integers(2**31)), chain, sweep, words_of=WORDS_OF)
    if chain < 3:
        return draw
    apart = draw.words.toarray()
    kept = rng.uniform(0.0, 1.0, (10, 1))
    mixed = np.column_stack([apart[:, 0] * kept[:, 0], apart[:, :2] @ [0.3, 1.0], apart[:, 2]])
    mixed = np.rint(mixed).astype(int) + rng.poisson(4.0, mixed.shape)
    mixed[:2, 0] = rng.poisson([2, 9])  # of topic 0's words, the rarer one is left
    return replace(draw, words=sparse.csc_array(mixed))


def shared_out(chain, sweep):
    """Return a draw like those; of topic 0 the last chain has more tokens in its first topic,

    but a larger part of the words in its second: all there is of the rarer one.
    """
    draw = made_up([0, 1, 2], 3 * chain + sweep, chain, sweep, words_of=WORDS_OF)
    if chain < 3:
        return draw
    words = draw.words.toarray()
    words[:, 0], words[:, 1] = [60, 0, 0, 80, 0, 0, 0, 0, 0, 0], [40, 10, 0, 0, 0, 0, 60, 0, 0, 0]
    return replace(draw, words=sparse.csc_array(words))


@pytest.mark.parametrize("seed", [*range(4), None])
def test_what_a_chain_has_instead_of_a_firm_topic(seed):
    """The topic that most of the firm one's words are in, sum_p m_pk n_pl / n_p, if it is akin."""
    make = shared_out if seed is None else partial(blurred, np.random.default_rng(seed))
    draws = [make(c, s) for c in range(4) for s in range(3)]
    tables = tables_of(draws)
    consensus, told = tables.consensus(0.7), tables.told
    place_BK = consensus.instead()
    for k in range(tables.n_topics):
        anchor = tables.chains[told.anchor[k]]
        mine_P = anchor.words_PL[:, told.place[told.anchor[k], k]]
        for b, draw in enumerate(draws):
            held = draw.words.toarray()
            if consensus.found[draw.chain, k] or not consensus.firm()[k]:
                assert place_BK[b, k] == -1
                continue
            into = [
                sum(mine_P[p] * n_P[p] / max(held[p].sum(), 1) for p in range(10)) for n_P in held.T
            ]
            best = int(np.argmax(into))
            near = mine_P @ held[:, best] / np.linalg.norm(mine_P) / np.linalg.norm(held[:, best])
            assert place_BK[b, k] == (best if near > 0.35 else -1)
    if seed is None:
        assert (place_BK[9:] == 1).any()


def test_bands_have_what_a_chain_has_instead():
    """Curves of draws that lack a topic are far from the others here, and in its band."""
    rng = np.random.default_rng(0)
    draws = [blurred(rng, c, s) for c in range(4) for s in range(3)]
    draws = [
        replace(draw, log_odds=np.full((4, 3), 9.0 if draw.chain == 3 else 0.1 * draw.sweep))
        for draw in draws
    ]
    tables = tables_of(draws)
    lacking = np.flatnonzero((tables.consensus(0.7).instead() >= 0).any(axis=0))
    assert lacking.size
    table = tables.activation(tables.known.rows, 0.9, lambda draw, _: np.asarray(draw.log_odds))
    mine = table[table["topic"].isin(lacking)]
    np.testing.assert_allclose(mine["mean"], np.mean(expit([0.0, 0.1, 0.2])))
    np.testing.assert_allclose(mine["upper"], expit(9.0))
    np.testing.assert_allclose(mine["lower"], 0.5)


def test_the_report_has_the_groups(fitted):
    for cut in fitted.report_page().data["groups"]:
        table = fitted.groups(cut["number"])
        pd.testing.assert_series_equal(table["share"].sort_index(), fitted.reliability()["share"])
        for number, group in enumerate(cut["groups"]):
            mine = table[table["group"] == number]
            assert group["topics"] == list(mine.index)
            assert ", ".join(group["words"]) == mine["group_words"].iloc[0]
            assert group["share"] == pytest.approx(mine["share"].sum(), abs=1e-5)


def test_the_report_says_where_a_topic_was_found(fitted):
    page = fitted.report_page().data["topics"]
    for k, row in fitted.reliability().iterrows():
        found = f"in {3 * row['chains']:.0f} of 3 chains, {100 * row['draws']:.0f} % of draws"
        assert page[k]["found"] == found
        assert page[k]["firm"] is row["firm"]


def test_bad_thresholds_get_a_sentence(fitted):
    with pytest.raises(InvalidInput, match="similarity"):
        fitted.reliability(similarity=1.5)
    for chains in (-1, 1.1):
        with pytest.raises(InvalidInput, match="chains"):
            fitted.reliability(chains=chains)
    assert fitted.reliability(chains=1.0)["firm"].any()


def test_what_is_told_of_a_topic_is_of_the_draws_that_have_it():
    """Words and curves: topic 3 is in two chains, 4 in one; what else matched is another.

    Topic 2 is firm, the third chain lacks it: bands have what its first draw made of the words.
    """
    tables = tables_of()
    order = np.argsort(-DRAWS[-1].tokens, kind="stable")
    words = tables.topics(10, 0.9, seed=0)
    curves = tables.activation(
        tables.known.rows, 0.9, lambda draw, _: np.asarray(draw.log_odds)
    ).set_index("topic")
    for k, topic in enumerate(np.array(CHAINS[-1][-1])[order]):
        own = [
            (draw, where.index(topic))
            for draw, (c, _, where) in zip(DRAWS, SEEN, strict=True)
            if topic in where and topic in CHAINS[c][-1]
        ]
        mean_P = np.mean([draw.theta[:, j] for draw, j in own], axis=0)
        np.testing.assert_allclose(tables.mean_theta[:, k], mean_P, rtol=1e-6)
        assert list(words[words["topic"] == k]["probability"]) == pytest.approx(
            sorted(mean_P, reverse=True)
        )
        open_BT = np.array([expit(draw.log_odds[:, j]) for draw, j in own])
        np.testing.assert_allclose(curves.loc[k, "mean"], open_BT.mean(axis=0))
        if topic == 2:
            instead = expit(DRAWS[6].log_odds[:, CHAINS[2][0].index(2)])
            open_BT = np.vstack([open_BT, instead])
        ends = np.quantile(open_BT, [0.05, 0.95], axis=0, method="weibull")  # few draws
        np.testing.assert_allclose(curves.loc[k, ["lower", "upper"]].T, ends)


def test_the_last_draw_has_every_topic_of_the_tables():
    """A topic of the last draw alone is unlike the mean of its matches, yet it is told."""
    odd = WORDS_OF.copy()
    odd[0] = WORDS_OF[4]
    draws = [*(made_up([0, 1], i, 0, i, words_of=WORDS_OF) for i in range(6)),
             made_up([0, 1], 6, 0, 6, words_of=odd)]  # fmt: skip
    tables = tables_of(draws)
    place = list(tables.found[-1]).index(0)
    assert not tables.consensus(0.7).present[-1, place]
    assert np.isfinite(tables.mean_theta).all()
    assert tables.found[-1][place] == 0
