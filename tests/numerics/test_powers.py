"""Powers in vectors agree with those of the C library, and with their own plain loop."""

import numpy as np
import pytest

from thincrm.numerics.powers import powers


def run(loop, base, exponent):
    out, scratch = np.empty(base.size), np.empty(base.size)
    loop(base, exponent, out, scratch)
    return out


@pytest.mark.parametrize("exponent", [1.0, 1.7, 20.0, 900.0])
def test_powers_agree_with_the_c_library(exponent):
    rng = np.random.default_rng(0)
    base = np.concatenate(
        [rng.random(10_000) * 1.9, 10.0 ** rng.uniform(-300, 0, 1000), [1.0, 0.5]]
    )
    with np.errstate(under="ignore"):
        expected = np.maximum(base**exponent, 2.0**-1000)
    expected[~np.isfinite(expected)] = np.nan
    kept = expected < 1e300
    found = run(powers, base, exponent)
    np.testing.assert_allclose(found[kept], expected[kept], rtol=1e-8)


def test_compiled_and_plain_powers_agree():
    base = np.random.default_rng(1).random(200) * 1.2
    np.testing.assert_array_equal(run(powers, base, 19.3), run(powers.py_func, base, 19.3))
