"""The process of a chain that runs beside others."""

import subprocess
import sys


def test_a_chains_process_loads_no_more_than_sweeps_need():
    """What takes as long to load as many sweeps do: scikit-learn, and scipy's distributions."""
    code = (
        "import sys, thincrm.inference.worker, thincrm.models.topics.likelihood, thincrm.thinning;"
        "print(*{'sklearn', 'scipy.stats', 'matplotlib'} & {*sys.modules})"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not run.stdout.strip()
