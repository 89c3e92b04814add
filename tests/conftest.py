"""The last line of every run says which tests were left out, and how to run them."""

import os
from collections import Counter

import pytest

os.environ.setdefault("MPLBACKEND", "Agg")  # pictures are drawn, no window is opened

pytest_plugins = ["browser_kit"]  # of tests/report: pages of all models in one Chromium
COMMANDS = {"quick": "make quick", "joint": "make test", "slow": "make slow"}
left_out = pytest.StashKey[Counter[str]]()


@pytest.fixture(scope="session", autouse=True)
def one_chain():
    """Topic models have one chain in tests that do not ask for more: time."""
    from thincrm.models.topics.model import TopicModel

    defaults = TopicModel.__init__.__kwdefaults__
    assert defaults["n_chains"] == "auto"
    defaults["n_chains"] = 1


def pytest_configure(config):
    config.stash[left_out] = Counter()


def pytest_report_header():
    return (
        "statistical tests: each false alarm has probability 1e-5 or less, seeds are fixed and "
        "shown on failure, nothing is retried"
    )


def pytest_deselected(items):
    for item in items:
        tier = next((name for name in ("slow", "joint") if item.get_closest_marker(name)), "quick")
        item.config.stash[left_out][tier] += 1


def pytest_sessionfinish(session):
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left_out"] = dict(session.config.stash[left_out])


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    """Take the counts from a worker: each has collected, and left out, the same tests."""
    found = getattr(node, "workeroutput", {}).get("left_out")
    if found is not None:  # it is, of a worker that crashed
        node.config.stash[left_out] = Counter(found)


def pytest_unconfigure(config):
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or hasattr(config, "workerinput"):
        return
    counts = config.stash[left_out]
    parts = [
        f"{counts[tier]} {tier} {'test' if counts[tier] == 1 else 'tests'} ({command})"
        for tier, command in COMMANDS.items()
        if counts[tier]
    ]
    reporter.write_line(f"Not run: {', '.join(parts) or 'nothing'}.")
