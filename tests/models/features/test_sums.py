"""Sums over rows with holes, against the plain formula."""

import numpy as np
import pytest

from thincrm.models.features.kernel import Sums, add_rows, as_table
from thincrm.models.features.laws import squared_error


@pytest.mark.parametrize("real", [False, True])
def test_sums_leave_out_holes_of_columns_often_and_seldom_seen(real):
    rng = np.random.default_rng(4)
    value = rng.standard_normal((40, 4))
    value[rng.random(value.shape) < [0.0, 0.2, 0.8, 1.0]] = np.nan
    table = as_table(value, np.ones(40, int), False, rng.standard_normal((40, 2)))
    used = (rng.random((40, 3)) < 0.4).astype(np.int8)
    weight = rng.standard_normal((40, 3 if real else 0))
    dense = rng.standard_normal((40, 2))
    sums = Sums.zero(3 + 2 + 3, 4)
    add_rows(0, 25, table, used, weight, dense, real, sums)
    add_rows(25, 40, table, used, weight, dense, real, sums)
    usage = np.hstack([used * (weight if real else 1.0), dense, table.basis_NB])
    seen = ~np.isnan(value)
    gram = np.einsum("nf,ng,np->fgp", usage, usage, seen)
    upper = np.triu(np.ones((8, 8)))[:, :, None]
    np.testing.assert_allclose(sums.gram_FFP, gram * upper, atol=1e-12)
    np.testing.assert_allclose(sums.whole_FF, np.triu(usage.T @ usage), atol=1e-12)
    np.testing.assert_allclose(sums.cross_FP, usage.T @ np.where(seen, value, 0.0), atol=1e-12)
    feature = rng.standard_normal((8, 4))
    left = np.where(seen, value - usage @ feature, 0.0)
    found = squared_error(sums, np.nansum(value**2, axis=0), feature)
    np.testing.assert_allclose(found, (left**2).sum(0), atol=1e-10)
