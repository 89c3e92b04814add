"""Joint diagonalisation: the rotation that was put in comes out."""

import numpy as np
import pytest
from scipy.stats import ortho_group

from thincrm.numerics.joint_diagonal import joint_rotation


@pytest.mark.parametrize("size", [2, 3, 8])
def test_a_common_rotation_is_found(size):
    rng = np.random.default_rng(size)
    rotation = ortho_group.rvs(size, random_state=rng)
    diagonals = rng.standard_normal((5, size))
    found = joint_rotation(np.einsum("da,md,db->mab", rotation, diagonals, rotation))
    assert np.allclose(found @ found.T, np.eye(size), atol=1e-10)
    matched = np.abs(found @ rotation.T)
    assert np.allclose(np.sort(matched, axis=1)[:, -1], 1.0, atol=1e-8)
    assert sorted(matched.argmax(axis=1)) == list(range(size))


def test_matrices_that_have_no_common_rotation_get_nearer_to_diagonal():
    rng = np.random.default_rng(0)
    matrices = rng.standard_normal((6, 4, 4))
    matrices = matrices + matrices.transpose(0, 2, 1)

    def off_diagonal(turned):
        return (turned**2).sum() - (np.diagonal(turned, axis1=1, axis2=2) ** 2).sum()

    found = joint_rotation(matrices)
    best = off_diagonal(found @ matrices @ found.T)
    assert best < off_diagonal(matrices)
    for other in ortho_group.rvs(4, size=50, random_state=rng):
        assert best <= off_diagonal(other @ matrices @ other.T) + 1e-9


@pytest.mark.parametrize("n_matrices", [0, 2])
def test_one_dimension_has_nothing_to_turn(n_matrices):
    assert joint_rotation(np.ones((n_matrices, 1, 1))).tolist() == [[1.0]]
