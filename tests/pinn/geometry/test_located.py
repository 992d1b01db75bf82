"""Points of the user's own on a boundary: the normals that the shape has there."""

import numpy as np
import pytest

import pinn
from pinn.geometry.located import located
from pinn.training.experiment import Experiment

SQUARE = pinn.Interval("x", -1, 1) * pinn.Interval("y", -1, 1)
SHAPES = {
    "interval": pinn.Interval("x", 0, 1),
    "ellipse": pinn.Ellipse((0, 0), (2, 1)),
    "polygon": pinn.Polygon([[0, 0], [2, 0], [2, 1], [1, 1], [1, 2], [0, 2]]),
    "square with a hole": SQUARE - pinn.Disk((0.4, 0), 0.7, name="hole"),
    "moved disk in time": pinn.Disk((0, 0), 1).moved(1, 2) * pinn.Time("t", 0, 3),
    "ball in time": pinn.Ball((0, 0, 0), 2) * pinn.Time("t", 0, 1),
}


@pytest.mark.parametrize("name", SHAPES)
def test_normals_are_those_that_the_shape_gives_with_its_points(name):
    shape = SHAPES[name]
    rng = np.random.default_rng(0)
    points, normals = shape.sample_boundary(
        shape.parts, 12, lambda n, d, rng: rng.random((n, d)), rng
    )
    gaps, found = located(shape, shape.parts, points, 1e-6)
    assert gaps.max() < 1e-12
    assert np.abs(found - normals).max() < 1e-12


def neumann(domain, points, on=None):
    conditions = [pinn.Neumann("u", "normal_x", on=on)]
    problem = pinn.Problem(domain, ["u"], {"e": "laplacian(u)"}, conditions)
    (name,) = (r.name for r in problem.residuals if r.name != "e")
    blocks = {name: {"points": points}}
    sampling = pinn.Sampling(30, blocks=blocks, redraw=None)
    return Experiment(problem, pinn.MLP(3, 1), sampling), name


def test_a_condition_with_normals_takes_points_of_the_users_own():
    angles = np.linspace(0, 6, 9)
    rim = np.stack([2 * np.cos(angles), np.sin(angles)], axis=1)
    made, name = neumann(pinn.Ellipse((0, 0), (2, 1)), rim)
    points = made.draw_points()[name]
    outward = rim / [4, 1]
    outward /= np.linalg.norm(outward, axis=1, keepdims=True)
    assert np.array_equal(points.coordinates, rim)
    columns = np.stack([points.columns["normal_x"], points.columns["normal_y"]], axis=1)
    assert np.abs(columns - outward).max() < 1e-12
    case = made.objective()
    found = case.residuals(case.theta, made.draw_points())[name]
    assert np.isfinite(found).all() and found.shape == (9,)


def test_those_of_several_parts_and_of_a_piece_are_found():
    made, name = neumann(SQUARE, [[-1, 0.5], [0.5, 1], [1, -0.5]], on=["x=-1", "y=1", "x=1"])
    columns = made.draw_points()[name].columns
    assert columns["normal_x"].tolist() == [-1, 0, 1]
    assert columns["normal_y"].tolist() == [0, 1, 0]
    made, name = neumann(SQUARE, [[-0.5, 1], [-1, 0.5]], on="x < 0 and y > 0")
    columns = made.draw_points()[name].columns
    assert columns["normal_x"].tolist() == [0, -1]


def test_points_that_are_off_the_boundary_are_refused_by_their_number():
    disk = pinn.Disk((0, 0), 1)
    with pytest.raises(ValueError, match="row 1: expected a point of disk, got x = 0, y = 0.99"):
        neumann(disk, [[1, 0], [0, 0.99]])[0].draw_points()
    cut = SQUARE - pinn.Disk((1, 0), 0.5, name="bite")
    with pytest.raises(ValueError, match="row 1: expected a point of x=1.*, got x = -1, y = 0"):
        neumann(cut, [[1, 0.8], [-1, 0]], on=["x=1", "bite"])[0].draw_points()
