"""Parts of a boundary by name, by face, by comparison."""

import pytest

import pinn
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
