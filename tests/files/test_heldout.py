"""Words that a run holds out: not learned from, kept with it, and told at its end."""

import numpy as np
import pytest
from small_run import SETTINGS, bits, corpus, fit

import thincrm as tc
from thincrm.errors import DamagedFile, InvalidInput, ThincrmError
from thincrm.files.folder import Folder
from thincrm.files.record import read_record, write_record
from thincrm.inference.progress import Sweeps

pytestmark = pytest.mark.filterwarnings("ignore:All . topics")


@pytest.fixture(scope="module")
def whole():
    return fit(heldout=0.2)


def test_a_share_is_split_off_by_the_models_seed(whole):
    train, held = tc.split_words(corpus()[0], 0.2, SETTINGS["random_state"])
    np.testing.assert_array_equal(whole.counts_.toarray(), train.toarray())
    np.testing.assert_array_equal(whole.heldout_.toarray(), held.toarray())
    model = tc.TopicModel(**SETTINGS).fit(train, t=corpus()[1], heldout=held)
    assert bits(model) == bits(whole)
    assert model.perplexity() == whole.perplexity(held)
    assert whole.tables()["perplexity"].loc[0, "value"] == model.perplexity().value


def test_what_is_held_out_is_kept_with_the_run(tmp_path, whole):
    whole.save(tmp_path)
    found = tc.load(tmp_path)
    assert (found.heldout_ != whole.heldout_).nnz == 0
    assert found.perplexity() == whole.perplexity()
    assert tc.load(_saved(fit(), tmp_path / "none")).heldout_ is None


def _saved(model, folder):
    model.save(folder)
    return folder


def test_a_run_goes_on_with_the_perplexity_so_far(tmp_path, monkeypatch, whole):
    said, stop_at, step = [], [0], Sweeps.step

    def noted(bar, note):
        step(bar, note)
        said.append(note)
        if len(said) == stop_at[0]:
            raise KeyboardInterrupt

    monkeypatch.setattr(Sweeps, "step", noted)
    fit(heldout=0.2, quiet=False)
    straight = [*said]
    said.clear()
    stop_at[0] = 13
    with pytest.warns(UserWarning, match="stopped after sweep 13"):
        fit(tmp_path, heldout=0.2, quiet=False)
    resumed = tc.resume(tmp_path)
    assert bits(resumed) == bits(whole)
    assert resumed.perplexity() == whole.perplexity()
    last = [note.partition(",")[2] for note in (straight[-1], said[-1])]
    assert last[0] == last[1] == f" held-out perplexity {whole.perplexity().value:.1f}"


@pytest.mark.parametrize(
    ("heldout", "words"),
    [
        (1.5, "heldout must"), (0.0, "heldout must"), (0.0001, "too short for"),
        (np.zeros((40, 8), int), "no words"), (np.ones((3, 8), int), "same documents"),
        ("some", "heldout"), (float("nan"), "heldout must"), (True, "heldout must"),
    ],
)  # fmt: skip
def test_what_cannot_be_held_out_is_a_sentence(heldout, words):
    with pytest.raises(ThincrmError, match=words):
        fit(heldout=heldout)


def test_nothing_held_out_is_a_sentence():
    with pytest.raises(InvalidInput, match="No words were held out"):
        fit(n_sweeps=3, n_chains=1).perplexity()


def test_forged_words_are_refused(tmp_path, whole):
    whole.save(tmp_path)
    record = read_record(Folder(tmp_path), "data", "data")
    name = next(name for name in record.arrays if "heldout" in name and "indices" in name)
    record.arrays[name].reshape(-1)[0] = 10**6
    write_record(Folder(tmp_path), "data", "data", *record, "0.1.0")
    with pytest.raises(DamagedFile):
        tc.load(tmp_path)
