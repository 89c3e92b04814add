"""Ctrl-C, wherever it comes, is a clean stop; and a thread that outlives the main one."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest
from small_run import bits, fit

import thincrm as tc
from thincrm.inference import driver, run_log

pytestmark = [
    pytest.mark.filterwarnings("ignore:All . topics"),
    pytest.mark.skipif(os.name == "nt", reason="there are no such signals"),
]


@pytest.fixture(scope="module")
def whole():
    return bits(fit())


@pytest.fixture
def in_sweep(monkeypatch):
    """Return a way to do something inside a sweep."""

    def do(number, what):
        begin, seen = driver.sweep_generator, []

        def counting(seed, chain, sweep, *more):
            if sweep > 0 and not more:
                seen.append(0)
                if len(seen) == number:
                    what()
            return begin(seed, chain, sweep, *more)

        monkeypatch.setattr(driver, "sweep_generator", counting)

    yield do
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.fixture(autouse=True)
def _hear():
    """Hear the signal: a shell that runs tests in the background makes its children deaf to it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def press():
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(0.01)


def compiled_call():
    """Do what a compiled call does now and then to an interrupt that comes in the midst of it."""
    try:
        press()
    except KeyboardInterrupt as error:
        raise SystemError("<built-in> returned a result with an exception set") from error


def twice():
    press()
    compiled_call()


@pytest.mark.parametrize("what", [press, twice])
@pytest.mark.parametrize("number", [16, 33])
def test_an_interrupt_in_a_sweep_is_a_clean_stop(tmp_path, whole, in_sweep, what, number):
    """Once: the sweep is done, then the run stops. Twice: at once, from the sweep before."""
    in_sweep(number, what)
    with pytest.warns(UserWarning, match="The run stopped after sweep.*resume"):
        model = fit(tmp_path)
    assert not model.complete_
    done = number - (what is twice)
    assert len(model.trace_) == done
    assert list((tmp_path / "checkpoints").glob("*.json"))
    assert bits(tc.resume(tmp_path)) == whole


def test_an_interrupt_before_the_first_draw_is_one(tmp_path, whole, in_sweep):
    in_sweep(2, press)
    with pytest.raises(KeyboardInterrupt):
        fit(tmp_path)
    assert list((tmp_path / "checkpoints").glob("*.json"))
    assert bits(tc.resume(tmp_path)) == whole


def test_chains_side_by_side_stop_after_their_sweeps(tmp_path, whole, monkeypatch):
    """Each process is asked for its state, which is taken down after the interrupt was raised."""
    monkeypatch.setattr(driver, "_WORTH_SECONDS", 0.0)
    note, seen = run_log.RunLog.note, []

    def counting(self, *args):
        seen.append(0)
        if len(seen) == 30:
            press()
        note(self, *args)

    monkeypatch.setattr(run_log.RunLog, "note", counting)
    with pytest.warns(UserWarning, match="The run stopped after sweep.*resume"):
        model = fit(tmp_path, n_threads=2)
    assert len(model.trace_) >= 28  # two notes are of the starts
    monkeypatch.undo()
    assert bits(tc.resume(tmp_path)) == whole


def test_another_error_of_a_compiled_call_is_not_an_interrupt(tmp_path, in_sweep):
    def fails():
        raise SystemError("something else")

    in_sweep(16, fails)
    with pytest.raises(SystemError, match="something else"):
        fit(tmp_path)


def test_without_a_folder_an_interrupt_is_raised_at_once(in_sweep):
    in_sweep(16, press)
    with pytest.raises(KeyboardInterrupt):
        fit()


def test_a_handler_of_ones_own_stays(tmp_path, whole, in_sweep):
    heard = []
    before = signal.signal(signal.SIGINT, lambda *_: heard.append(0))
    in_sweep(16, press)
    assert bits(fit(tmp_path)) == whole
    assert heard == [0]
    signal.signal(signal.SIGINT, before)


def test_a_run_in_another_thread_leaves_signals_alone(tmp_path, whole):
    found = []
    thread = threading.Thread(target=lambda: found.append(bits(fit(tmp_path))))
    thread.start()
    thread.join()
    assert found == [whole]


def test_a_fit_goes_on_where_no_thread_can_be_started(whole, monkeypatch):
    """As from Python 3.12 on, once the main thread has ended."""

    def refused(_):
        raise RuntimeError("can't create new thread at interpreter shutdown")

    monkeypatch.setattr(driver, "_WORTH_SECONDS", 0.0)
    monkeypatch.setattr(threading.Thread, "start", refused)
    assert bits(fit(n_threads=2, quiet=False)) == whole


OUTLIVING = """
import sys, threading, time, warnings
warnings.simplefilter("ignore")
sys.path.insert(0, sys.argv[1])
from small_run import bits, fit
wanted = bits(fit(n_threads=2))

def late():
    threading.main_thread().join()
    time.sleep(0.2)
    print(bits(fit(sys.argv[2], n_threads=2)) == wanted, flush=True)

threading.Thread(target=late).start()
"""


def test_a_thread_that_outlives_the_main_one_fits(tmp_path):
    here = os.path.dirname(__file__)
    command = [sys.executable, "-c", OUTLIVING, here, tmp_path / "run"]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == "True", run.stderr
