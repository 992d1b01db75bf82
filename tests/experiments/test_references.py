"""The references of the peers' problems that finite elements compute."""

import numpy as np
import pytest

pytest.importorskip("skfem", reason="the extra peers is not installed")
pytest.importorskip("gmsh", reason="the extra peers is not installed")

from experiments.peers.references.plane import Region  # noqa: E402


def test_the_finer_of_two_meshes_is_finer_beside_holes_and_points_too():
    square = [(-1, -1), (1, -1), (1, 1), (-1, 1)]
    region = Region(square, [(0.3, 0.3, 0.2)], fine={(-1, -1): 0.02})

    def lengths(region, size):
        """The edges whose middles are at the hole, near the point and far from both."""
        mesh = region.mesh(size)
        ends = mesh.p[:, mesh.facets]
        length, (x, y) = np.hypot(*(ends[:, 1] - ends[:, 0])), ends.mean(axis=1)
        hole, corner = np.hypot(x - 0.3, y - 0.3), np.hypot(x + 1, y + 1)
        return [
            np.median(length[near]) for near in (hole < 0.21, corner < 0.3, hole > 0.9)
        ]

    coarse, fine = lengths(region, 0.3), lengths(region.finer(2), 0.15)
    np.testing.assert_allclose(np.divide(coarse, fine), 2, atol=0.6)
