"""The pairs of L-BFGS on a device, in the compact form, beside the two loops of the host."""

from types import SimpleNamespace

import numpy as np
import pytest

from autograd.devices import as_device
from autograd.strict import StrictArray
from pinn.optimizers.lbfgs import RecentPairs


def test_pairs_there_are_the_bfgs_matrix_of_those_on_the_host(gpu):
    rng, size, memory = np.random.default_rng(0), 6, 3
    q, _ = np.linalg.qr(rng.standard_normal((size, size)))
    matrix = (q * np.geomspace(1, 10, size)) @ q.T
    there = SimpleNamespace(device=as_device("cuda"), xp=gpu.xp)
    found, expected = RecentPairs(size, memory, there), RecentPairs(size, memory)
    for number in range(8):
        s = rng.standard_normal(size)
        pair = s, matrix @ s
        on_device = tuple(gpu.from_host(one, 0) for one in pair)
        if number:
            found.learn(*on_device, np.nan)
            expected.learn(*pair, np.nan)
        else:
            assert found.begin(*on_device) and expected.begin(*pair)
        g = rng.standard_normal(size)
        direction, slope = found.direction(gpu.from_host(g, 0))
        other, along = expected.direction(g)
        # Two triangles of condition 1e2 at most.
        np.testing.assert_allclose(gpu.to_host(direction), other, rtol=1e-12, atol=1e-13)
        assert slope == pytest.approx(along, rel=1e-12)
    for name in RecentPairs.names:
        np.testing.assert_allclose(found.array(name), expected.array(name), rtol=1e-14)


@pytest.mark.parametrize("y", [(-1.0, -2.0), (0.0, 0.0), (2.0, -1.0)])
def test_a_pair_without_positive_curvature_is_left_out_there(stand_in, y):
    there = SimpleNamespace(device=as_device("cuda"), xp=stand_in.xp)
    H = RecentPairs(2, 3, there)
    s, y = (stand_in.from_host(np.array(one), 0) for one in ((1.0, 2.0), y))
    assert not H.begin(s, y)
    assert H.begin(StrictArray(np.array([1.0, 0.0])), StrictArray(np.array([2.0, 0.0])))
    H.learn(s, y, np.nan)
    direction, _ = H.direction(StrictArray(np.array([3.0, 5.0])))
    np.testing.assert_allclose(stand_in.to_host(direction), [-1.5, -2.5], rtol=1e-15)
