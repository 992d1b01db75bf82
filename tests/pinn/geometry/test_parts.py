"""Parts of a boundary by name, by face, by comparison."""

import numpy as np
import pytest

import pinn
from pinn.config import load
from pinn.expressions import evaluate
from pinn.geometry import Face, Piece
from pinn.sampling import METHODS, stream

X, Y, TIME = pinn.Interval("x", -1, 1), pinn.Interval("y", 0, 3), pinn.Time("t", 0, 1)
BOX = X * Y * TIME


def texts(parts):
    return [str(part) for part in parts]


def draw():
    return METHODS["latin-hypercube"], stream(0, "test")


def test_all_some_and_one():
    assert texts(BOX.select()) == ["x=-1", "x=1", "y=0", "y=3"]
    assert texts(BOX.select("y=3")) == texts(BOX.select("y_high")) == ["y=3"]
    assert texts(BOX.select(["x=1", "y=0", "x=1"])) == ["x=1", "y=0"]


def test_a_comparison_takes_the_points_where_it_holds():
    parts = BOX.select("y < 1.5")
    assert all(isinstance(part, Piece) for part in parts)
    assert [part.label for part in parts] == ["x_low", "x_high", "y_low"]
    # Half of the sides at x = -1 and x = 1 (3 x 1 in space and time), all of the one at y = 0.
    assert [part.measure for part in parts] == pytest.approx([1.5, 1.5, 2.0], abs=3e-3)
    points, normals = BOX.sample_boundary(parts, 1000, *draw())
    assert points.shape == (1000, 3) and normals.shape == (1000, 2)
    assert (points[:, 1] < 1.5).all()
    sides = [(points[:, 0] == -1).sum(), (points[:, 0] == 1).sum(), (points[:, 1] == 0).sum()]
    assert sides == pytest.approx([300, 300, 400], abs=1)
    assert points[points[:, 0] == 1, 1].max() > 1.45


def test_a_comparison_may_be_of_the_normal_or_of_functions():
    assert [part.label for part in BOX.select("normal_x + normal_y > 0")] == ["x_high", "y_high"]
    assert [part.label for part in BOX.select("abs(sin(pi*y)) > (x + 1)/2")] == ["x_low"]


def test_lists_mix_them():
    labels = [part.label for part in BOX.select(["x=1", "normal_x < 0"])]
    assert labels == ["x_high", "x_low"]


@pytest.mark.parametrize(
    ("on", "label"),
    [
        ("x=-1", "x_low"),
        ("y_high", "y_high"),
        (["x=1", "y=0"], "x_high_y_low"),
        ("x < 0.5", "x_lt_0_5"),
        ("x**2 >= -y", "x_2_gt_minus_y"),
    ],
)
def test_labels_are_names(on, label):
    assert BOX.label(on) == label


@pytest.mark.parametrize(
    ("on", "message"),
    [
        ("x=0", "no face 'x=0' in this domain; faces: x=-1, x=1, y=0, y=3"),
        ("hole", "no face 'hole'"),
        ("t=0", "no face 't=0'"),
        ("x < -3", "no point of the boundary has x < -3"),
        ("z < 1", "unknown name 'z'; .* names here are x, y, t, normal_x"),
        ("x << 1", "expected a number, a name or"),
        ("x < 1, 2, 3) + (1", "expected|only separates|takes"),
        ("x < 0, 1, 0) + where(x < 0", "only separates the arguments"),
        ("where(x < 0, 1, 0)", "expected a comparison such as x < 0.5"),
        ("x < 0 <", "expected a number, a name"),
        ([], "expected a part of the boundary or more"),
        ("", 'expected a part of the boundary such as "x=-1", got \'\''),
        (3, "got 3"),
    ],
)
def test_what_is_not_there_is_refused(on, message):
    with pytest.raises(ValueError, match=message):
        BOX.select(on)


def test_the_caret_of_a_wrong_comparison_stands_in_its_own_text():
    with pytest.raises(ValueError) as caught:
        BOX.select("x < $")
    assert str(caught.value).splitlines()[1:] == ["    x < $", "        ^"]


def test_one_part_is_asked_for_where_one_is_needed():
    assert BOX.part("x=1") == Face("x", "high", 1.0, measure=3.0)
    with pytest.raises(ValueError, match="no face 'x'"):
        BOX.part("x")


def test_faces_know_what_they_hold():
    face = Face("x", "low", 1 / 3)
    assert (face.text, face.label) == ("x=0.333333333333", "x_low")
    assert face.fixed == {"x": 1 / 3}
    assert pinn.Interval("x", 1 / 3, 1).part(face.text).side == "low"


@pytest.mark.parametrize(
    ("on", "found"),
    [
        ("x=-1 and y < 1", ["y < 1"]),
        ("y < 1 and x_low", ["y < 1"]),
        ("x=-1 and y < 2 and normal_x < 0 and y > 1", ["y < 2 and normal_x < 0 and y > 1"]),
        ("not x=-1", ["x=1", "y=0", "y=3"]),
        ("not (x=-1 or y=9/3)", ["x=1", "y=0"]),
        ("x=-1 or y < 1", ["x=-1", "y < 1", "y < 1"]),
        ("(x=-1 or x=1) and 2*(y + 1) < 3", ["2*(y + 1) < 3", "2*(y + 1) < 3"]),
        ("x_low or x=1", ["x=-1", "x=1"]),
    ],
)
def test_faces_are_joined_with_comparisons(on, found):
    assert texts(BOX.select(on)) == found


def test_half_of_a_face_has_its_points_normals_size_and_name():
    (part,) = BOX.select("x=-1 and y < 0.75")
    assert part.measure == pytest.approx(0.75, abs=3e-3)
    points, normals = BOX.sample_boundary([part], 300, *draw())
    assert (points[:, 0] == -1).all() and 0.7 < points[:, 1].max() < 0.75
    assert (normals == [-1, 0]).all()
    assert BOX.label("x=-1 and y < 0.75") == "x_minus_1_and_y_lt_0_75"


def test_named_shapes_are_joined_with_comparisons():
    plate = pinn.Interval("x", -1, 1) * pinn.Interval("y", -1, 1) - pinn.Disk(
        radius=0.5, name="hole"
    )
    (upper,) = plate.select("hole and y > 0")
    assert (upper.text, upper.owner) == ("y > 0", "hole")
    assert upper.measure == pytest.approx(1.5707963, rel=3e-3)
    assert texts(plate.select("not hole")) == ["x=-1", "x=1", "y=-1", "y=1"]
    assert texts(plate.select("hole or y=1")) == ["y=1", "hole"]
    tree = plate.distance_function("hole and y > 0")
    assert evaluate(tree, {"x": 0.0, "y": 0.5}) == pytest.approx(0, abs=1e-12)
    assert evaluate(tree, {"x": 0.0, "y": -0.5}) > 0.4


def test_one_side_of_a_polygon_is_joined_without_a_formula():
    triangle = pinn.Polygon([[0, 0], [1, 0], [0, 1]], name="wall")
    parts = triangle.select("x=0 and y < 0.4")
    assert sum(part.measure for part in parts) == pytest.approx(0.4, abs=1e-2)
    points, normals = triangle.sample_boundary(parts, 50, *draw())
    assert abs(points[:, 0]).max() < 1e-9 and points[:, 1].max() < 0.4
    assert normals == pytest.approx(np.tile([-1.0, 0.0], (len(points), 1)))


@pytest.mark.parametrize(
    ("on", "message"),
    [
        ("x=0.5 and y < 0.4", "no face 'x=0.5'"),
        ("hole and y < 0.4", "no face 'hole'"),
        ("t=0 and y < 0.4", "no face 't=0' .* use an initial condition"),
        ("x and y < 1", "expected a comparison or a part of the boundary, got 'x' alone"),
        ("x_low and x_low < 1", "'x_low' is a part of the boundary, and no number"),
        ("2*x = 2 and y < 1", "expected a coordinate alone before '='"),
        ("x=y and y < 1", "expected a number, got the name 'y'"),
        ("x=-1 and x=1", "no point of the boundary has x=-1 and x=1"),
    ],
)
def test_what_cannot_be_joined_is_refused(on, message):
    with pytest.raises(ValueError, match=message):
        BOX.select(on)


def test_a_part_of_a_face_is_held_exactly_and_read_from_yaml(tmp_path):
    path = tmp_path / "plate.yaml"
    path.write_text(
        "problem:\n  domain: {x: [0, 1], y: [0, 1]}\n  unknowns: [u]\n"
        "  equations: {laplace: u_xx + u_yy}\n  conditions:\n"
        "    - dirichlet: {unknown: u, value: 2, on: x=0 and y < 0.4, hard: true}\n"
        "    - neumann: {unknown: u, value: 0, on: not (x=0 and y < 0.4)}\n"
    )
    problem = load(path).experiment.problem
    solution = pinn.solve(problem, training=[pinn.Adam(steps=2)], seed=0)
    y = np.linspace(0.01, 0.39, 5)
    assert solution.evaluate(x=0 * y, y=y)["u"] == pytest.approx(2 + 0 * y, abs=1e-9)
    assert abs(solution.evaluate(x=0.0, y=0.9)["u"] - 2) > 1e-3


def test_a_name_that_no_shape_has_is_told_how_to_give():
    plate = X * Y - pinn.Disk(center=(0, 1), radius=0.5)
    with pytest.raises(ValueError) as caught:
        plate.select("hole")
    assert str(caught.value) == (
        "no face 'hole' in this domain; faces: x=-1, x=1, y=0, y=3, disk; to call disk so, give "
        "that shape the name: name: hole"
    )
    with pytest.raises(ValueError, match="disk; did you mean 'disk'"):
        plate.select("disc")
