"""The engine on a cluster of real processes: same bits as threads, whoever dies or comes late."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import numpy as np
import pytest

import thincrm as tc
from thincrm.errors import InvalidInput, InvalidType, ThincrmError
from thincrm.models.features import model as feature_model
from thincrm.models.features import state as feature_state
from thincrm.models.mixtures import model as mixture_model
from thincrm.models.mixtures import shards as mixture_shards
from thincrm.models.topics import dating, predictions
from thincrm.models.topics import model as topic_model
from thincrm.models.topics import state as topic_state
from thincrm.models.topics.predict import shards as new_documents

distributed = pytest.importorskip("distributed")

from thincrm.inference import dask_cluster, dask_engine, run_log  # noqa: E402
from thincrm.inference.dask_cluster import connected  # noqa: E402
from thincrm.inference.engine import Serial  # noqa: E402


@pytest.fixture(autouse=True)
def _small_shards(monkeypatch):
    cut_topics, cut_features = topic_state.shards_of, feature_state.shards_of
    monkeypatch.setattr(topic_model, "shards_of", lambda d, row: cut_topics(d, row, 600))
    monkeypatch.setattr(feature_model, "shards_of", lambda t, n: cut_features(t, n, 40))
    cut_mixtures, cut_new = mixture_shards.as_shards, new_documents.new_shards
    monkeypatch.setattr(mixture_model, "as_shards", lambda *rows: cut_mixtures(*rows, 40))
    for module in (dating, predictions):
        monkeypatch.setattr(module, "new_shards", lambda d, row=None: cut_new(d, row, 12))


@pytest.fixture(scope="module", params=[1, 2])
def client(request):
    with cluster(request.param) as found:
        yield found


@contextmanager
def cluster(n_workers):
    """Hold a client of so many worker processes."""
    size = {"n_workers": n_workers, "threads_per_worker": 1, "processes": True}
    with (
        distributed.LocalCluster(**size, dashboard_address=":0") as workers,
        distributed.Client(workers, set_as_default=False) as found,
    ):
        yield found


def fit(kind, **options):
    rng = np.random.default_rng(3)
    if kind == "topics":
        model = tc.TopicModel(max_topics=10, n_sweeps=6, n_draws=2, random_state=1, quiet=True)
        return model.fit(rng.poisson(0.5, (90, 40)), t=np.repeat(np.arange(9.0), 10), **options)
    if kind == "mixtures":
        value = rng.normal(3.0 * rng.integers(0, 2, (90, 1)), 1.0, (90, 2))
        mixed = tc.MixtureModel(max_clusters=6, n_sweeps=4, n_draws=1, random_state=1, quiet=True)
        return mixed.fit(value, t=np.repeat(np.arange(9.0), 10), **options)
    value = (rng.random((80, 2)) < 0.4) @ rng.normal(0, 3, (2, 4)) + rng.normal(0, 0.5, (80, 4))
    model = tc.FeatureModel(max_features=4, n_sweeps=2, n_draws=1, random_state=1, quiet=True)
    return model.fit(value, t=np.repeat(np.arange(8.0), 10), **options)


def digest(model):
    """Return a digest of all bits of the draws and the trace."""
    found = hashlib.sha256(model.trace_.to_numpy().tobytes())
    add(found, model.draws_)
    return found.hexdigest()


def add(found, value):
    if isinstance(value, np.ndarray):
        found.update(np.ascontiguousarray(value).tobytes())
    elif hasattr(value, "indptr"):
        add(found, [value.data, value.indices, value.indptr])
    elif isinstance(value, tuple | list):
        for part in value:
            add(found, part)
    elif hasattr(value, "__dataclass_fields__"):
        add(found, [getattr(value, name) for name in value.__dataclass_fields__])
    else:
        found.update(repr(value).encode())


class Maps:
    """Counts the maps over several shards, and does something before some of them."""

    def __init__(self, monkeypatch, **deeds):
        self.n_maps, self.n_shards, old = 0, 0, dask_engine.DaskEngine._ready

        def counted(engine, shards, local):
            self.n_maps, self.n_shards = self.n_maps + 1, len(shards)
            deeds.get(f"at_{self.n_maps}", lambda: None)()
            return old(engine, shards, local)

        monkeypatch.setattr(dask_engine.DaskEngine, "_ready", counted)


@contextmanager
def scheduler_process(folder):
    """Hold a scheduler and a worker that are started as a user does; yield it and its address.

    It listens before anybody asks for it: on a busy machine that takes longer than a user waits.
    """
    dask, quiet = [sys.executable, "-m", "dask"], {"stderr": subprocess.DEVNULL}
    known = folder / "scheduler.json"
    place = ["--host", "127.0.0.1", "--port", "0", "--dashboard-address", ":0"]
    running = [
        subprocess.Popen([*dask, "scheduler", *place, "--scheduler-file", str(known)], **quiet)
    ]
    try:
        while not known.exists() or not known.read_text():
            assert running[0].poll() is None
            time.sleep(0.1)
        address = json.loads(known.read_text())["address"]
        here = [address, "--nthreads", "2", "--no-nanny"]
        running.append(subprocess.Popen([*dask, "worker", *here], **quiet))
        yield running[0], address
    finally:
        for process in running[::-1]:
            process.kill()
            process.wait()


def kill_one(client):
    os.kill(min(client.run(os.getpid).values()), signal.SIGKILL)


def test_a_cluster_has_the_bits_of_threads(client, monkeypatch):
    maps = Maps(monkeypatch)
    assert digest(fit("topics", client=client)) == digest(fit("topics"))
    assert maps.n_shards > 1
    assert maps.n_maps > 10


@pytest.mark.parametrize("kind", ["features", "mixtures"])
def test_floats_are_added_in_the_same_order(kind, monkeypatch):
    maps = Maps(monkeypatch)
    with cluster(2) as client:
        assert digest(fit(kind, client=client)) == digest(fit(kind))
    assert maps.n_shards > 1


def test_new_documents_have_the_same_bits(client, monkeypatch):
    model, rng = fit("topics"), np.random.default_rng(5)
    new, when = rng.poisson(0.5, (30, 40)), rng.integers(0, 9, 30).astype(float)
    maps = Maps(monkeypatch)
    for t in (when, None):
        there, here = model.transform(new, t, client=client), model.transform(new, t)
        np.testing.assert_array_equal(there, here)
    assert maps.n_shards == 3
    for how in ({"method": "gibbs"}, {"method": "particles"}, {"method": "cheap"}):
        ask = {"evidence": "topics", "n_steps": 4, "n_draws": 2} | how
        there, here = model.predict_time(new, **ask, client=client), model.predict_time(new, **ask)
        np.testing.assert_array_equal(there, here)
    assert maps.n_maps == (2 + 3) * len(model.draws_)


def test_workers_that_are_killed_do_not_change_a_bit(monkeypatch):
    monkeypatch.setattr(dask_engine, "REPLAYED", 3)
    with cluster(2) as client:
        kill = {f"at_{n}": lambda: kill_one(client) for n in (6, 12, 13)}
        maps = Maps(monkeypatch, **kill)
        assert digest(fit("topics", client=client)) == digest(fit("topics"))
        assert maps.n_maps > 13


def test_a_worker_that_joins_late_is_given_shards(monkeypatch):
    monkeypatch.setattr(dask_engine, "REPLAYED", 1)
    with cluster(1) as client:

        def join():
            client.cluster.scale(2)
            client.wait_for_workers(2, timeout=60)

        busy = []
        Maps(monkeypatch, at_5=join, at_12=lambda: busy.extend(client.has_what().values()))
        assert digest(fit("topics", client=client)) == digest(fit("topics"))
        assert len(busy) == 2
        assert all(busy)


def test_a_run_goes_on_with_or_without_the_cluster(client, tmp_path, monkeypatch):
    """A run that began on threads ends on the cluster, and the other way round."""
    monkeypatch.setattr(run_log, "CHECKPOINT_SECONDS", 0.0)
    monkeypatch.setattr(run_log, "_LARGEST_SHARE", 1e9)
    whole = digest(fit("topics"))
    for first, then in ((None, client), (client, None)):
        out = tmp_path / str(first is None)
        with monkeypatch.context() as patch:
            stop_after(patch, 4)
            with pytest.raises(InterruptedError):
                fit("topics", out=out, client=first)
        assert digest(tc.resume(out, client=then)) == whole


def test_one_shard_stays_here(client):
    engine = dask_engine.DaskEngine(client)
    with engine.running():
        new, results = engine.map(lambda s, own, m: (own, os.getpid()), ["a"], [1], None)
    assert (new, results) == ((1,), [os.getpid()])


def test_locals_stay_there_until_they_are_fetched(client):
    engine, plain = dask_engine.DaskEngine(client), Serial()
    shards, local = [np.arange(3), np.arange(4)], (1.0, 2.0)
    with engine.running():
        away, sums = engine.map(lambda s, own, m: (own + m, s.sum()), shards, local, 5.0)
        same, expected = plain.map(lambda s, own, m: (own + m, s.sum()), shards, local, 5.0)
        assert sums == expected
        assert not any(isinstance(own, float) for own in away)
        assert engine.fetch(away) == same
        more, _ = engine.map(lambda s, own, m: (own + m, None), shards, away, 1.0)
        assert engine.fetch(more) == (7.0, 8.0)


def test_neighbours_live_on_one_worker_and_send_one_sum():
    def work(shard, own, message):
        return own, np.array([shard.sum(), os.getpid()])

    def add(parts):
        return np.append(
            sum(part[0] for part in parts), sorted({int(p) for q in parts for p in q[1:]})
        )

    shards = [np.arange(n) for n in range(5)]
    with cluster(2) as client:
        engine = dask_engine.DaskEngine(client)
        with engine.running():
            local, plain = engine.map(work, shards, (0,) * 5, None)
            pids = [int(part[1]) for part in plain]
            assert pids[0] == pids[1] != pids[2] == pids[3] == pids[4]
            _, sums = engine.map(work, shards, local, None, add)
            assert [part.tolist() for part in sums] == [[0, pids[0]], [10, pids[2]]]


def test_locals_of_other_groups_are_fetched_first():
    shards, more = [np.arange(n) for n in range(4)], [np.arange(n) for n in range(3)]
    with cluster(2) as client:
        engine = dask_engine.DaskEngine(client)
        with engine.running():
            local, _ = engine.map(lambda s, own, m: (own + m, None), shards, (1, 2, 3, 4), 1)
            engine.map(lambda s, own, m: (own, None), more, (0, 0, 0), 0)
            turned, found = engine.map(lambda s, own, m: (own, own), more, local[:0:-1], 0)
            assert found == [5, 4, 3]
            assert engine.fetch(turned) == (5, 4, 3)


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nowhere", "what://is:1"])
def test_a_scheduler_that_is_not_there(address, monkeypatch):
    """No client is made: it would take half a minute to end, and say so in a traceback."""
    monkeypatch.setattr(dask_cluster, "_SECONDS", 1)
    monkeypatch.setattr(dask_cluster._distributed(), "Client", None)
    with pytest.raises(InvalidInput, match=f"no Dask scheduler at '{address}'"), connected(address):
        pass


def test_an_encrypted_address_without_certificates():
    with (
        pytest.raises(InvalidInput, match=r"tls://127.0.0.1:9 needs certificates"),
        connected("tls://127.0.0.1:9"),
    ):
        pass


def test_what_is_no_client_is_refused():
    with pytest.raises(InvalidType, match=r"client must be a dask.distributed.Client"):
        fit("topics", client="tcp://127.0.0.1:8786")


def test_workers_with_other_versions_are_refused(client, monkeypatch):
    monkeypatch.setattr(dask_engine, "versions_here", lambda: "Python 2.7")
    with pytest.raises(InvalidInput, match=r"The worker tcp://.* has Python .*install the same"):
        fit("topics", client=client)


def test_a_worker_whose_disk_is_full_is_named(client):
    """Dask knows no difference between an error of a task's disk and one of its own connection."""
    engine = dask_engine.DaskEngine(client)

    def write(shard, own, message):
        with open("/dev/full", "w") as file:
            file.write(message)
        return own, None

    with (
        engine.running(),
        pytest.raises(ThincrmError, match=r"worker tcp://.* No space left on device.*go on with"),
    ):
        engine.map(write, (1, 2), (0, 0), "words")


def stop_after(monkeypatch, n_sweeps):
    from thincrm.inference.run_log import RunLog

    old = RunLog.note

    def note(log, chain, sweep, *rest):
        old(log, chain, sweep, *rest)
        if sweep == n_sweeps:
            raise InterruptedError

    monkeypatch.setattr(RunLog, "note", note)


def test_a_scheduler_that_is_lost_is_told_in_a_sentence(monkeypatch, tmp_path):
    with scheduler_process(tmp_path) as (process, address), connected(address) as client:
        client.wait_for_workers(1)
        Maps(monkeypatch, at_4=process.kill)
        with pytest.raises(ThincrmError, match="connection to the Dask scheduler was lost"):
            fit("topics", client=client)
