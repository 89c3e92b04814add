"""Proofs for samplers: anybody's, not only ours.

Exact and sequential tests of Gandy and Scott (2020), exact laws that need no randomness, and
tables of broken twins. `docs/testing.md` is the guide.
"""

from thincrm.testing.laws import check_conditional, check_gate_law, check_mass_law
from thincrm.testing.rank import exact_rank_test
from thincrm.testing.replicates import looped
from thincrm.testing.sequential import Verdict, assert_passed, assert_rejected, sequential_test
from thincrm.testing.twins import TwinTable, run_twins
from thincrm.testing.two_sample import two_sample_test

__all__ = [
    "TwinTable",
    "Verdict",
    "assert_passed",
    "assert_rejected",
    "check_conditional",
    "check_gate_law",
    "check_mass_law",
    "exact_rank_test",
    "looped",
    "run_twins",
    "sequential_test",
    "two_sample_test",
]
