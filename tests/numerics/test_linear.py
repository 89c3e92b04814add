import numpy as np
import pytest
from scipy import linalg

from thincrm.numerics.cholesky import factor, log_det_factor, solve_factor, solve_transposed


def positive_definite(size, seed):
    root = np.random.default_rng(seed).normal(size=(size + 2, size))
    return root.T @ root + 0.1 * np.eye(size)


@pytest.mark.parametrize("size", [1, 2, 7, 40])
def test_factor_and_solves(size):
    Q = positive_definite(size, 1)
    b = np.random.default_rng(2).normal(size=size)
    R = np.triu(_factored(Q))
    assert np.allclose(R, linalg.cholesky(Q), rtol=1e-10)
    x = b.copy()
    solve_transposed(R, x)
    assert np.allclose(x, linalg.solve_triangular(R, b, trans=1))
    x = b.copy()
    solve_factor(R, x)
    assert np.allclose(x, linalg.solve_triangular(R, b))
    assert log_det_factor(R) == pytest.approx(np.linalg.slogdet(Q)[1], rel=1e-10)


def test_both_solves_are_the_inverse():
    Q = positive_definite(5, 3)
    b = np.arange(5.0)
    x = b.copy()
    R = _factored(Q)
    solve_transposed(R, x)
    solve_factor(R, x)
    assert np.allclose(Q @ x, b)


def test_factor_leaves_the_lower_triangle():
    Q = positive_definite(4, 4)
    below = np.tril_indices(4, -1)
    assert np.array_equal(_factored(Q)[below], Q[below])


def test_a_wide_range_of_scales():
    scale = np.array([1e-8, 1.0, 1e8])
    Q = positive_definite(3, 5) * np.outer(scale, scale)
    assert np.allclose(np.triu(_factored(Q)), linalg.cholesky(Q), rtol=1e-10, atol=0)


def _factored(Q):
    out = Q.copy()
    factor(out)
    return out
