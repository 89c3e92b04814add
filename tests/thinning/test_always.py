"""Always is the identity of the product."""

import numpy as np

from thincrm.ports import GateEvidence, Thinning
from thincrm.thinning.always import Always


def test_every_gate_is_open():
    thinning = Always()
    assert isinstance(thinning, Thinning)
    prepared = thinning.prepare([1.0, 3.0, 1.0])
    x = thinning.draw(0, 4, prepared)
    assert len(x.nothing) == 4
    assert np.all(thinning.log_odds(x, prepared) == np.full((2, 4), np.inf))
    assert thinning.log_odds(x, prepared, [5.0, 6.0, 7.0]).shape == (3, 4)
    assert np.array_equal(thinning.log_prob(x, prepared), np.zeros(4))
    assert np.array_equal(thinning.mean_activation(prepared), np.ones(2))
    for coupling in ("independent", "comonotone"):
        pair = thinning.pair_activation(prepared, [1.0], [1.0, 3.0, 9.0], coupling)
        assert np.array_equal(pair, np.ones((1, 3)))
    evidence = GateEvidence.from_counts(np.ones((2, 4), int), [2, 1])
    assert thinning.redraw(0, x, evidence, prepared) is x
