import numpy as np
import pytest
from scipy import special, stats

from thincrm.errors import InvalidInput
from thincrm.ports import GateEvidence, MassEvidence
from thincrm.testing import check_conditional, check_gate_law, check_mass_law

LOG_A = np.log([0.5, 0.2, 0.03])
LOG_B = np.log([0.4, 0.9, 0.07])


class Counts:
    """Six counts per atom, Poisson(mass gate usage): what the evidence should say is plain."""

    def __init__(self):
        rng = np.random.default_rng(1)
        self.row = np.array([0, 0, 1, 1, 1, 3])  # nobody sits in row 2
        self.usage = rng.gamma(2.0, 1.0, 3)
        self.gate = np.array(
            [[1, 0, 1], [1, 1, 0], [0, 0, 1], [1, 1, 1], [1, 0, 0], [0, 1, 1]], bool
        )
        self.count = rng.poisson(0.9 * self.gate)
        assert 0 < np.sum(self.count > 0) < np.sum(self.gate)

    def log_prob(self, log_mass, gate):
        rate = np.exp(log_mass) * gate * self.usage
        return stats.poisson.logpmf(self.count, rate).sum()

    def mass_evidence(self):
        return MassEvidence.of(3, hits=self.count.sum(0), exposure=(self.gate * self.usage).sum(0))

    def gate_evidence(self):
        positive = np.zeros((4, 3), int)
        np.add.at(positive, self.row, self.count > 0)
        silent = -np.exp(LOG_A) * self.usage
        return GateEvidence.of(positive, np.bincount(self.row, minlength=4), silent)


def test_mass_law_of_counts():
    toy = Counts()
    check_mass_law(lambda m: toy.log_prob(m, toy.gate), toy.mass_evidence(), LOG_A, LOG_B)


def test_mass_law_of_every_term():
    """Each of the four terms, from a likelihood that has it."""
    draws = [3.0, 1.0, 4.0]
    cases = {
        "misses": lambda m: np.sum(draws * np.log1p(-np.exp(m))),
        "overflow": lambda m: -np.sum(draws * np.log1p(np.exp(m))),
        "exposure": lambda m: -np.sum(draws * np.exp(m)),
        "hits": lambda m: np.sum(draws * m),
    }
    for name, log_prob in cases.items():
        check_mass_law(log_prob, MassEvidence.of(3, **{name: draws}), LOG_A, LOG_B)
        other = "hits" if name != "hits" else "misses"
        with pytest.raises(AssertionError, match="mass of atom 0"):
            check_mass_law(log_prob, MassEvidence.of(3, **{other: draws}), LOG_A, LOG_B)


def test_mass_law_names_the_atom_that_breaks_it():
    """Exposure that forgets the gates: the paper's appendix has this error."""
    toy = Counts()
    wrong = MassEvidence.of(3, toy.count.sum(0), exposure=6 * toy.usage)
    with pytest.raises(AssertionError, match=r"mass of atom 0: the evidence says .* log_prob"):
        check_mass_law(lambda m: toy.log_prob(m, toy.gate), wrong, LOG_A, LOG_B)
    nearly = toy.mass_evidence()
    nearly.exposure[2] += 1e-6
    with pytest.raises(AssertionError, match="atom 2"):
        check_mass_law(lambda m: toy.log_prob(m, toy.gate), nearly, LOG_A, LOG_B)


def test_mass_law_sees_atoms_that_are_not_separate():
    """Errors of two atoms that cancel in the sum, and a product of two masses."""

    def crossed(m):
        return m[0] * m[1]

    with pytest.raises(AssertionError, match="atom 0"):
        check_mass_law(crossed, MassEvidence.of(3), LOG_A, LOG_B)
    swapped = MassEvidence.of(3, hits=[1.0, 0.0, 0.0])
    same_change = np.log([0.5, 0.5, 0.5]), np.log([0.2, 0.2, 0.5])
    with pytest.raises(AssertionError, match="atom 0"):
        check_mass_law(lambda m: m[1], swapped, *same_change)


def test_mass_law_at_the_edge_of_the_support():
    """A mass of 1 with a miss is impossible, and both must say so."""
    evidence = MassEvidence.of(1, misses=2.0)

    def log_prob(m):
        with np.errstate(divide="ignore"):
            return 2.0 * np.log1p(-np.exp(m[0]))

    check_mass_law(log_prob, evidence, np.log([0.5]), np.log([1.0]))
    with pytest.raises(AssertionError):
        check_mass_law(lambda m: 0.0, evidence, np.log([0.5]), np.log([1.0]))
    with pytest.raises(InvalidInput, match="same shape"):
        check_mass_law(log_prob, evidence, [0.0, 0.0], [0.0, 0.0])


def test_gate_law_of_counts():
    toy = Counts()
    check_gate_law(lambda g: toy.log_prob(LOG_A, g), toy.gate_evidence(), toy.gate, toy.row)


def test_gate_law_of_observed_gates():
    """Gates that are seen themselves: every other state is impossible, q = 0."""
    toy = Counts()
    seen = np.zeros((4, 3), int)
    np.add.at(seen, toy.row, toy.gate)
    evidence = GateEvidence.from_counts(seen, np.bincount(toy.row, minlength=4))

    def log_prob(gate):
        return 0.0 if np.array_equal(gate, toy.gate) else -np.inf

    check_gate_law(log_prob, evidence, toy.gate, toy.row)


def test_gate_law_names_what_breaks_it():
    toy = Counts()
    right = toy.gate_evidence()

    def log_prob(gate):
        return toy.log_prob(LOG_A, gate)

    with pytest.raises(AssertionError, match="gate of item 0, atom"):
        check_gate_law(log_prob, right._replace(log_q=right.log_q - 1e-6), toy.gate, toy.row)
    wrong = right._replace(positive=right.positive[::-1])
    with pytest.raises(AssertionError, match="positive"):
        check_gate_law(log_prob, wrong, toy.gate, toy.row)
    with pytest.raises(AssertionError, match="trials"):
        check_gate_law(log_prob, right._replace(trials=right.trials + 1), toy.gate, toy.row)
    with pytest.raises(InvalidInput, match="impossible"):
        check_gate_law(lambda g: -np.inf, right, toy.gate, toy.row)
    with pytest.raises(InvalidInput, match="gates has shape"):
        check_gate_law(log_prob, right, toy.gate[:, :2], toy.row)


def test_conditional_of_a_normal_mean():
    y = np.array([0.3, -1.2, 2.0])

    def log_joint(mu):
        return stats.norm.logpdf(mu) + stats.norm.logpdf(y, mu, 0.5).sum()

    def log_conditional(mu, precision=13.0):
        return stats.norm.logpdf(mu, 4 * y.sum() / 13.0, 1 / np.sqrt(precision))

    states = [-2.0, 0.0, 0.7, 5.0]
    check_conditional(log_joint, log_conditional, states)
    with pytest.raises(AssertionError, match="from state 0 to 1 the conditional says"):
        check_conditional(log_joint, lambda mu: log_conditional(mu, 12.0), states)
    with pytest.raises(InvalidInput, match="at least two states"):
        check_conditional(log_joint, log_conditional, [1.0])


def test_a_conditional_may_drop_constants_but_not_its_support():
    def log_joint(x):
        return special.xlogy(2.0, x) - x if x >= 0 else -np.inf

    check_conditional(log_joint, lambda x: log_joint(x) + 100.0, [1.0, 3.0, -1.0])
    with pytest.raises(AssertionError, match="from state 1 to 2"):
        check_conditional(log_joint, lambda x: special.xlogy(2.0, abs(x)) - x, [1.0, 3.0, -1.0])
