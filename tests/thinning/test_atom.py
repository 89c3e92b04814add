"""What moves of an atom share, against plain sums."""

import numpy as np
import pytest

from thincrm.thinning.atom import Gates, _is_above, predict, tilted
from thincrm.thinning.count_moves import _add_products
from thincrm.thinning.links import LOGISTIC, PROBIT


@pytest.mark.parametrize("link", [PROBIT, LOGISTIC])
def test_to_be_above_a_level_is_what_it_says(link):
    rng = np.random.default_rng(0)
    for _ in range(200):
        size = int(rng.integers(1, 12))
        seen = rng.poisson(1.0, size), rng.poisson(2.0, size), rng.choice([0.0, 0.3, 1.0], size)
        gates, eta, point = Gates(link, *seen), 2 * rng.standard_normal(size), rng.random(size)
        weight = rng.random(size) * rng.integers(0, 2)
        value = tilted(eta, gates, point, weight)
        for level in (value - 1e-6, value + 1e-6, value - 3.0, value + 3.0, -np.inf):
            found = _is_above(level, eta, gates, point, weight)
            assert found == (value > level), (value, level)


@pytest.mark.parametrize(("n_rows", "size"), [(1, 1), (3, 9), (4, 8), (22, 17), (300, 36)])
def test_predictors_and_products_are_plain_sums(n_rows, size):
    rng = np.random.default_rng(1)
    basis, weight = rng.standard_normal((n_rows, size)), rng.random(n_rows)
    w, point, out = rng.standard_normal(size), rng.standard_normal(n_rows), np.empty(n_rows)
    predict(np.ascontiguousarray(basis.T), w, out)
    np.testing.assert_allclose(out, basis @ w, rtol=1e-9, atol=1e-9)
    product, total = np.zeros((size, size)), np.zeros(size)
    _add_products(basis, point, weight, product, total)
    expected = (basis.T * weight) @ basis
    np.testing.assert_allclose(np.triu(product), np.triu(expected), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(total, basis.T @ (weight * point), rtol=1e-9, atol=1e-9)
