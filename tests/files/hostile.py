"""Damage to a model's files: by accident, and by someone who knows how to make checksums fit."""

import copy
import faulthandler
import hashlib
import json
import random
import re
import resource
import shutil
import signal
import sys
import tempfile
import traceback
import warnings
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import safetensors.numpy
import small_run
from small_run import files

import thincrm as tc
from thincrm.errors import ThincrmError
from thincrm.files.record import _checksum

WEIRD = [
    None, True, False, 0, 1, -1, 3, 2**31, 2**63, 10**400, 0.5, -1.5, 1e308, "", "grow", "inf",
    "../x", "/etc/passwd", [], {}, [0], {"is": "dict", "of": {}}, {"is": "array", "name": "x"},
    {"is": "number", "text": "nan"}, {"is": "number", "text": "inf"}, {"is": "os.system", "of": {}},
    {"is": "FunctionThinning", "of": {}}, {"is": "GammaProcess", "of": {"mass": -1}},
    {"is": "tuple", "of": [1, 2]}, {"is": "words", "text": "a", "end": "b"}, "x" * 1000,
    [[[[]]]] * 50,
]  # fmt: skip
VALUES = [0, 1, -1, 2, 7, 127, -128, 1000, 2**31 - 1, -(2**31), 2**62, -(2**62)]
FLOATS = [*VALUES, 0.5, np.nan, np.inf, -np.inf, 1e300, -1e300, 1e-300]
ALLOWANCE = 60e6  # bytes: what Python and its libraries come to need in the course of time
MOST_SECONDS = 10  # of work; then the alarm goes, and ends the process
MOST_WAITING = 60  # by the clock: other programs may be at work too


def flip(rng, path):
    """Flip a few bits."""
    data = bytearray(path.read_bytes())
    for _ in range(rng.choice([1, 1, 1, 2, 8])):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    path.write_bytes(data)


def cut(rng, path):
    """Cut off the end, or add to it."""
    data = path.read_bytes()
    end = rng.randrange(len(data) + 1)
    path.write_bytes(data[:end] if rng.random() < 0.8 else data + data[:end])


def places(value, path=()):
    yield path
    if isinstance(value, dict | list):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(part, (*path, key))


def rewrite(rng, path):
    """Change a value of a manifest, and make its checksum fit."""
    path = path.with_suffix(".json")
    manifest = json.loads(path.read_text())
    keys = list(places(manifest))[1:]
    for _ in range(rng.choice([1, 1, 2])):
        *before, last = rng.choice(keys)
        spot = manifest
        try:
            for key in before:
                spot = spot[key]
            last = str(last) if isinstance(spot, dict) else last
            if rng.random() < 0.2 and isinstance(spot, dict):
                del spot[last]
            elif rng.random() < 0.2 and isinstance(spot, list | dict):
                donor = manifest
                for key in rng.choice(keys):
                    donor = donor[key]
                spot[last] = json.loads(json.dumps(donor))
            else:
                spot[last] = copy.deepcopy(rng.choice(WEIRD))
        except (KeyError, IndexError, TypeError):
            continue
    manifest.pop("checksum", None)
    path.write_text(json.dumps(manifest | {"checksum": _checksum(manifest)}))


def forge(rng, path):
    """Change arrays, and make all sizes, shapes and checksums fit."""
    path = path.with_suffix(".safetensors")
    if not path.exists():
        return
    arrays = {name: a.copy() for name, a in safetensors.numpy.load(path.read_bytes()).items()}
    name = rng.choice(sorted(arrays))
    array = arrays[name]
    how = rng.random()
    if how < 0.6 and array.size:
        value = rng.choice(FLOATS if array.dtype.kind == "f" else VALUES)
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            array.reshape(-1)[rng.randrange(array.size)] = np.array(value).astype(array.dtype)
    elif how < 0.7:
        arrays[name] = array[: rng.randrange(len(array) + 1)]
    elif how < 0.8:
        arrays[name] = array.astype(rng.choice(["int8", "int64", "float32", "float64", "bool"]))
    elif how < 0.9:
        arrays[name] = np.concatenate([array, array])
    else:
        arrays[name] = arrays[rng.choice(sorted(arrays))]
    data = safetensors.numpy.save({k: np.ascontiguousarray(a) for k, a in arrays.items()})
    path.write_bytes(data)
    manifest = json.loads(path.with_suffix(".json").read_text())
    manifest.pop("checksum")
    manifest["arrays"] |= {
        "size": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
        "tensors": {k: [str(a.dtype), *a.shape] for k, a in arrays.items()},
    }
    text = json.dumps(manifest | {"checksum": _checksum(manifest)})
    path.with_suffix(".json").write_text(text)


ATTACKS = (flip, cut, rewrite, forge)


def fit_topics(out=None, **settings):
    return small_run.fit(out, heldout=0.2, n_chains=1, **settings)


def fit_levels(out=None, **settings):
    factor, curves = tc.GammaNegativeBinomialFactor(), tc.Bump()
    return small_run.fit(out, n_chains=1, likelihood=factor, thinning=curves, **settings)


def use_topics(model):
    if model.vocabulary_.size == 8:
        model.transform(np.ones((2, 8), int), t=model.covariates_.labels()[:2])
        model.predict_time(np.ones((1, 8), int), n_draws=1)
        model.perplexity(model.counts_ if model.heldout_ is None else None)


def rows_with_holes():
    rng = np.random.default_rng(2)
    t = np.sort(rng.integers(0, 6, 30)).astype(float)
    value = rng.normal(size=(30, 3)) + np.outer(t > 3, [3.0, 0.0, -2.0])
    value[rng.random(value.shape) < 0.1] = np.nan
    return value, t


def fit_rows(model, out, Y, t, given=None, **settings):
    few = {"max_features": 4} if isinstance(model, tc.FeatureModel) else {"max_clusters": 4}
    model.set_params(n_chains=1, n_threads=1, random_state=4, quiet=True, **few)
    return model.set_params(**settings).fit(Y, t=t, out=out, **(given or {}))


def fit_features(out=None, **settings):
    return fit_rows(tc.FeatureModel(), out, *rows_with_holes(), **settings)


def fit_processes(out=None, **settings):
    return fit_rows(tc.DependentIBP(), out, *rows_with_holes(), **settings)


def fit_clusters(out=None, **settings):
    return fit_rows(tc.MixtureModel(), out, *rows_with_holes(), **settings)


def fit_mixed(out=None, **settings):
    Y, t = rows_with_holes()
    Y = pd.DataFrame(Y, columns=["a", "b", "c"]).assign(c=np.where(Y[:, 2] > 0, "x", "y"))
    return fit_rows(tc.MixtureModel(gates="weighted"), out, Y, t, **settings)


def fit_censored(out=None, **settings):
    Y, t = rows_with_holes()
    y = np.nan_to_num(Y[:, :1])
    return fit_rows(tc.MixtureModel(), out, y, t, {"censored": np.sign(y[:, 0] // 2)}, **settings)


def use_rows(model):
    Y, _ = rows_with_holes()
    if model.values_.shape[1] == 3 and getattr(model, "censored_", None) is None:
        t = model.covariates_.labels()[:2]
        model.impute(Y[:2], t=t)
        (model.transform if hasattr(model, "transform") else model.predict)(Y[:2], t=t)
    model.activation()


class Family(NamedTuple):
    """How a model is made, and asked for what goes through compiled loops."""

    fit: object
    use: object


FAMILIES = {
    "topics": Family(fit_topics, use_topics),
    "levels": Family(fit_levels, use_topics),
    "features": Family(fit_features, use_rows),
    "processes": Family(fit_processes, use_rows),
    "clusters": Family(fit_clusters, use_rows),
    "mixed": Family(fit_mixed, use_rows),
    "censored": Family(fit_censored, use_rows),
}


class Battery:
    """A small saved model, and a copy of it that is attacked."""

    def __init__(self, folder, family="topics"):
        self.family = FAMILIES[family]
        self.good, self.bad = folder / "good", folder / "bad"
        self.make()
        shutil.copytree(self.good, self.bad)
        self.files = [path for path in files(self.good) if path.name != "lock"]
        size = sum(path.stat().st_size for path in self.files)
        forget_peak()
        self.use(self.read())
        self.limit = peak() + 2 * size + ALLOWANCE

    def make(self):
        self.family.fit(n_sweeps=3, n_draws=1).save(self.good)

    def attack(self, attack, seed):
        """Return "refused" or "read" for one attack; anything else is an error."""
        rng = random.Random(seed)
        target = rng.choice(self.files).relative_to(self.good)
        attack(rng, self.bad / target)
        signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)
        signal.alarm(MOST_WAITING)
        try:
            model = self.read()
            if seed % 5 == 0:
                self.use(model)
            if attack in (rewrite, forge) or seed % 5 == 0:  # checksums tell the others
                self.go_on(target)
            return "read"
        except ThincrmError as error:
            return "refused" if len(str(error)) < 600 else "refused at length"
        finally:
            signal.alarm(0)
            signal.setitimer(signal.ITIMER_PROF, 0)
            for ending in (".json", ".safetensors"):
                name = target.with_suffix(ending)
                if (self.good / name).exists():
                    shutil.copyfile(self.good / name, self.bad / name)
            assert peak() < self.limit, "memory"

    def read(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return tc.load(self.bad)

    def go_on(self, target):
        """Go on with the run in which that file was attacked; here it has ended."""

    def use(self, model):
        """Ask for what goes through compiled loops, which do not check their indices."""
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.family.use(model)


class RunBattery(Battery):
    """A run that was made longer and has not ended: a length, two checkpoints, no results."""

    def make(self):
        self.family.fit(self.good, n_sweeps=3, n_draws=2)
        tc.resume(self.good, n_sweeps=5)
        tc.resume(self.good, n_sweeps=6)
        for path in self.good.glob("results.*"):
            path.unlink()

    def use(self, model):
        """Nothing beside going on."""

    def go_on(self, target):
        """Make one more sweep, unless it was the length that was attacked: any may be asked for."""
        if target.stem not in ("settings", "length"):
            try:
                with np.errstate(all="ignore"), warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    tc.resume(self.bad, n_sweeps=7)
            finally:
                shutil.rmtree(self.bad)
                shutil.copytree(self.good, self.bad)


def forget_peak():
    """Begin to look for the most memory anew, where the system can."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def peak():
    """Return the most memory since, in bytes: of this process, not of the one it came from."""
    try:
        status = Path("/proc/self/status").read_text()
        return 1024 * int(re.search(r"VmHWM:\s+(\d+)", status)[1])
    except OSError:
        return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def main(kind, n_attacks, seed, family="topics", first=0):
    """Attack that many times, say what came of it, and what no attack may bring about."""
    faulthandler.register(signal.SIGPROF, chain=True)  # says where, before the process ends
    tally, n_wrong = {}, 0
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        battery = {"model": Battery, "run": RunBattery}[kind](Path(folder), family)
        for number in range(int(first), int(n_attacks)):
            attack = ATTACKS[number % len(ATTACKS)]
            try:
                outcome = battery.attack(attack, int(seed) * 10**7 + number)
            except Exception:
                outcome, n_wrong = "wrong", n_wrong + 1
                print(f"attack {number}:\n{traceback.format_exc()}", flush=True)
                battery.limit = max(battery.limit, peak() + ALLOWANCE)
            key = (attack.__name__, outcome)
            tally[key] = tally.get(key, 0) + 1
            if number % 1000 == 999:
                print(number + 1, tally, flush=True)
        print(f"{kind}, {family}: {tally}", flush=True)
    sys.exit(n_wrong > 0)


if __name__ == "__main__":
    main(*sys.argv[1:])  # python hostile.py run 100000 1 features
