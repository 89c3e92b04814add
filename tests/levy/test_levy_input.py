"""Bad input is answered in one sentence that names the argument."""

from dataclasses import fields

import numpy as np
import pytest
from levy_members import every_member

import thincrm.levy
from thincrm.errors import InvalidInput, InvalidType, ThincrmError
from thincrm.levy import BetaProcess, GammaProcess, StableBetaProcess

HOSTILE = [0.0, -1.0, np.nan, np.inf, "1", None, True, [1.0]]


@pytest.mark.parametrize("value", HOSTILE, ids=repr)
@pytest.mark.parametrize("name", thincrm.levy.__all__)
def test_hyper_parameters(name, value):
    cls = getattr(thincrm.levy, name)
    for field in (part.name for part in fields(cls)):
        with pytest.raises((InvalidInput, InvalidType), match=f"^{field} must"):
            cls(**{field: value})


def test_discount_is_between_zero_and_one():
    with pytest.raises(InvalidInput, match="discount must lie strictly between 0"):
        StableBetaProcess(discount=1.0)


@every_member
def test_values_are_frozen(levy):
    with pytest.raises(AttributeError):
        levy.mass = 2.0
    assert levy == type(levy)(**{f.name: getattr(levy, f.name) for f in fields(levy)})
    assert hash(levy) == hash(levy)


@every_member
@pytest.mark.parametrize("n_atoms", [0, -3, 2.5, "ten", np.nan])
def test_number_of_atoms(levy, n_atoms):
    for call in (levy.draw, levy.draw_log_mass, levy.series, levy.log_series):
        with pytest.raises(ThincrmError, match=r"^n_atoms must"):
            call(1, n_atoms)
    for method in ("inverse-levy", "finite"):
        with pytest.raises(ThincrmError, match=r"^n_atoms must"):
            levy.missing_mass(n_atoms, method)


@every_member
def test_arguments_of_functions(levy):
    for call, name in (
        (levy.tail, "x"),
        (levy.levy_density, "x"),
        (levy.tail_inverse, "u"),
        (levy.laplace_exponent, "u"),
    ):
        with pytest.raises(InvalidInput, match=f"^{name} must hold numbers, got nan"):
            call([1.0, np.nan])
        with pytest.raises(InvalidType, match=f"^{name} must be a number"):
            call("much")
    for call in (levy.tail_inverse, levy.laplace_exponent):
        with pytest.raises(InvalidInput, match=r"^u must be at least 0"):
            call(-0.1)
    with pytest.raises(ThincrmError, match=r"^n must"):
        levy.moment(-1)
    for n_eff in (0.0, -2.0, np.inf, "3"):
        with pytest.raises(ThincrmError, match=r"^n_eff must"):
            levy.truncation_error(50, n_eff)
    for error in (0.0, 1.0, np.nan, "small"):
        with pytest.raises(ThincrmError, match=r"^error must"):
            levy.n_atoms_for(error, 10.0)


@every_member
def test_log_masses_are_a_row_of_finite_numbers(levy):
    for bad in ([], [[-1.0]], [np.nan], [-np.inf]):
        with pytest.raises(InvalidInput, match=r"^log_mass must be a row of finite numbers"):
            levy.log_prob(np.array(bad))


def test_beta_process_needs_more_atoms_than_mass():
    levy = BetaProcess(mass=5.0)
    for call in (lambda: levy.draw(1, 5), lambda: levy.log_prob(np.full(3, -1.0))):
        with pytest.raises(InvalidInput, match="above the mass of BetaProcess"):
            call()
    assert levy.draw(1, 6).shape == (6,)


@every_member
def test_numpy_and_integer_arguments_are_welcome(levy):
    assert levy.draw(np.random.default_rng(1), np.int64(9)).shape == (9,)
    assert levy.tail([[1, 2], [3, 4]]).shape == (2, 2)
    assert levy.tail(1e-3).shape == ()
    assert np.array_equal(GammaProcess(2, 1).draw(1, 4), GammaProcess(2.0, 1.0).draw(1, 4))
