"""A feature model in files: saved, loaded, stopped, resumed."""

import numpy as np
import pandas as pd
import pytest
from small_run import bits

import thincrm as tc
from thincrm.errors import DamagedFile
from thincrm.files.folder import Folder
from thincrm.files.record import read_record, write_record
from thincrm.inference import run_log
from thincrm.models.loading import _open

pytestmark = pytest.mark.filterwarnings("ignore:All . features")
KINDS = {
    "default": {},
    "exchangeable": {"thinning": tc.Always(), "background": False},
    "shared gates, real weights": {"gates": "row", "weights": "real", "thinning": tc.ProbitRVM()},
    "dependent": {"model": tc.DependentIBP, "background": False},
}


def table(n_rows=50):
    rng = np.random.default_rng(2)
    t = np.sort(rng.integers(0, 8, n_rows)).astype(float)
    value = rng.normal(size=(n_rows, 4)) + np.outer(t > 3, [3.0, 0.0, -2.0, 0.0])
    value[rng.random(value.shape) < 0.1] = np.nan
    return pd.DataFrame(value, columns=["a", "b", "ç", "d"]), t


def fit(out=None, model=tc.FeatureModel, **changes):
    Y, t = table()
    settings = {"max_features": 4, "n_sweeps": 12, "n_draws": 3, "n_chains": 2, "n_threads": 1}
    return model(**{**settings, **changes}, random_state=4, quiet=True).fit(Y, t=t, out=out)


@pytest.mark.parametrize("changes", KINDS.values(), ids=KINDS)
def test_what_is_loaded_is_what_was_saved(changes, tmp_path):
    model = fit(**changes)
    model.save(tmp_path)
    loaded = tc.load(tmp_path)
    assert bits(loaded) == bits(model)
    assert loaded.get_params() == model.get_params()
    pd.testing.assert_frame_equal(loaded.tables()["features"], model.tables()["features"])
    Y, t = table()
    np.testing.assert_array_equal(loaded.transform(Y, t=t), model.transform(Y, t=t))
    pd.testing.assert_frame_equal(loaded.activation(), model.activation())


@pytest.fixture
def stop_at(monkeypatch):
    """Return a way to stop a run at one of its notes."""
    monkeypatch.setattr(run_log, "CHECKPOINT_SECONDS", 0.0)
    note, seen = run_log.RunLog.note, []

    def stop(number):
        def counting(self, *args):
            seen.append(0)
            if len(seen) == number:
                raise KeyboardInterrupt
            note(self, *args)

        monkeypatch.setattr(run_log.RunLog, "note", counting)

    return stop


@pytest.mark.parametrize("number", [3, 13, 14, 22])
@pytest.mark.parametrize("changes", KINDS.values(), ids=KINDS)
@pytest.mark.filterwarnings("ignore:The run stopped")
def test_a_run_that_was_stopped_goes_on(tmp_path, stop_at, number, changes):
    stop_at(number)
    try:
        assert not fit(tmp_path, **changes).complete_
    except KeyboardInterrupt:
        assert number == 3  # before the first draw
    whole = bits(fit(**changes))
    assert bits(tc.resume(tmp_path)) == whole
    assert bits(tc.load(tmp_path)) == whole


@pytest.mark.filterwarnings("ignore:The run stopped")
def test_states_are_checked_before_a_run_goes_on(tmp_path, stop_at):
    stop_at(20)
    fit(tmp_path)
    folder = tmp_path / "checkpoints"
    name = max(path.stem for path in folder.glob("*.json"))
    good = read_record(Folder(folder), name, "checkpoint")
    for key, value in {
        "local.0.used": 2, "own.feature": np.inf, "own.noise": 0.0, "log_mass": 1.0, "x.width": 9,
        "evidence.gram": np.nan,
    }.items():  # fmt: skip
        arrays = {part: array.copy() for part, array in good.arrays.items()}
        arrays[f"value.chains.1.state.{key}"].reshape(-1)[0] = value
        write_record(Folder(folder), name, "checkpoint", good.content, arrays, good.run, "0.1.0")
        model, opened = _open(tmp_path)
        _, found = next(opened.checkpoints())
        with pytest.raises(DamagedFile, match="cannot be"):
            model._check_state(found["chains"][1])
