"""The cells of a grid inside of a shape, against areas that are known."""

import numpy as np
import pytest

import pinn
from pinn.export.cells import cells_inside, cells_of_corners, cells_of_grid

SIMPLICES = {"line": 1, "triangle": 2, "tetra": 3}


def measures(mesh):
    """The signed size of every cell; of whole cells, which are boxes, by their diagonal."""
    found = []
    for kind, cells in mesh.cells.items():
        corners = mesh.points[cells]
        if kind in SIMPLICES:
            d = SIMPLICES[kind]
            edges = corners[:, 1:] - corners[:, :1]
            found.append(np.linalg.det(edges) / [1, 1, 2, 6][d])
        else:
            found.append(np.prod(corners[:, 2 if kind == "quad" else 6] - corners[:, 0], axis=1))
    return np.concatenate(found)


def inside(shape, count):
    axes = [np.linspace(*pair, count) for pair in shape.bounds.values()]
    return cells_inside(axes, shape.contains)


DISK = pinn.Disk((0.3, -0.2), 0.7)


@pytest.mark.parametrize(
    ("shape", "count", "tolerance"),
    [
        (DISK, 41, 2e-3),
        (pinn.Box(pinn.Interval("x", 0, 2), pinn.Interval("y", 0, 1)) - pinn.Disk((1, 0.5), 0.3),
         61, 1e-3),
        (pinn.Ball((0, 0, 0), 1), 21, 1e-2),
        (pinn.Polygon([(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)]), 21, 1e-6),
        (pinn.Triangle((0, 0), (1, 0), (0, 1)), 30, 1e-6),
    ],
)  # fmt: skip
def test_cells_fill_the_shape_and_none_is_turned(shape, count, tolerance):
    mesh = inside(shape, count)
    sizes = measures(mesh)
    assert (sizes > 0).all()
    assert sizes.sum() == pytest.approx(shape.measure, rel=tolerance)


def test_the_error_of_the_rim_goes_down_with_the_square_of_the_cells():
    errors = [DISK.measure - measures(inside(DISK, n)).sum() for n in (21, 41, 81)]
    assert errors[0] > 3 * errors[1] > 9 * errors[2] > 0


@pytest.mark.parametrize("shape", [DISK, pinn.Ball((0, 0, 0), 1)])
def test_new_points_lie_on_the_rim_and_all_in_the_shape(shape):
    mesh = inside(shape, 16)
    distance = shape.distance(mesh.points)
    axes = [np.linspace(*pair, 16) for pair in shape.bounds.values()]
    steps = [(p - axis[0]) / (axis[1] - axis[0])
             for p, axis in zip(mesh.points.T, axes, strict=True)]  # fmt: skip
    made = ~np.logical_and.reduce([np.abs(step - np.round(step)) < 1e-9 for step in steps])
    assert made.sum() > 20
    np.testing.assert_allclose(distance[made], 0, atol=1e-7)
    assert shape.contains(mesh.points).all()


def test_neighbours_of_cut_cells_share_whole_faces():
    """Each face of the tetrahedra is one of two of them, of a whole cell, or of the rim."""
    ball = pinn.Ball((0, 0, 0), 1)
    mesh = inside(ball, 9)
    tetra = mesh.cells["tetra"]
    faces = np.sort(np.concatenate([np.delete(tetra, k, axis=1) for k in range(4)]), axis=1)
    unique, count = np.unique(faces, axis=0, return_counts=True)
    assert count.max() == 2
    alone = mesh.points[unique[count == 1]]
    on_rim = (np.abs(ball.distance(alone.reshape(-1, 3))).reshape(-1, 3) < 1e-6).all(axis=1)
    in_plane = (np.ptp(alone, axis=1) < 1e-12).any(axis=1)  # half a face of a whole cell
    assert (on_rim | in_plane).all()


def test_an_interval_ends_where_it_does():
    mesh = cells_inside([np.linspace(0, 1, 4)], lambda p: p[:, 0] < 0.5)
    assert [*mesh.cells] == ["line"]
    assert measures(mesh).sum() == pytest.approx(0.5, abs=1e-8)


def test_nothing_is_left_of_a_grid_beside_the_shape():
    axes = [np.linspace(5, 6, 4), np.linspace(5, 6, 4)]
    assert cells_inside(axes, DISK.contains).cells == {}


def test_all_cells_of_a_grid():
    assert cells_of_grid((2, 3)) == {"quad": pytest.approx(np.array([[0, 3, 4, 1], [1, 4, 5, 2]]))}
    assert cells_of_grid((3, 4, 5))["hexahedron"].shape == (24, 8)


def test_simplices_share_the_points_that_they_have_in_common():
    corners = np.array([[[0, 0], [1, 0], [0, 1]], [[1, 1], [1, 0], [0, 1]]], dtype=float)
    mesh = cells_of_corners(corners)
    assert mesh.points.shape == (4, 2)
    assert measures(mesh) == pytest.approx([0.5, 0.5])
