"""Domains: names, bounds, faces, and where their points lie."""

import math

import numpy as np
import pytest

import pinn
from pinn.sampling import METHODS, stream

X = pinn.Interval("x", -1, 1)
Y = pinn.Interval("y", 0, 3)
TIME = pinn.Time("t", 0.5, 2)


def draw(method="latin-hypercube"):
    return METHODS[method], stream(0, "test")


def test_a_product_keeps_the_declared_order():
    domain = X * TIME * Y
    assert domain.coordinates == ("x", "t", "y")
    assert domain.space == ("x", "y")
    assert domain.time == "t"
    assert domain.bounds == {"x": (-1.0, 1.0), "t": (0.5, 2.0), "y": (0.0, 3.0)}
    assert domain == (X * TIME) * Y == X * (TIME * Y)


def test_a_single_interval_is_a_domain():
    assert (X.coordinates, X.time, X.space) == (("x",), None, ("x",))
    assert (TIME.coordinates, TIME.time, TIME.space) == (("t",), "t", ())
    assert TIME.faces == ()


def test_faces_are_the_two_sides_of_each_space_coordinate():
    faces = (X * Y * TIME).faces
    assert [str(face) for face in faces] == ["x=-1", "x=1", "y=0", "y=3"]
    assert [face.label for face in faces] == ["x_low", "x_high", "y_low", "y_high"]


@pytest.mark.parametrize("text", ["x=-1", " x = -1.0 ", "x=-2/2"])
def test_a_face_is_found_by_its_value(text):
    assert str((X * TIME).face(text)) == "x=-1"


def test_a_face_at_a_rounded_number_is_found():
    assert pinn.Interval("x", 0, math.pi).face("x=3.141592653589").side == "high"


@pytest.mark.parametrize("text", ["x=0", "t=0.5", "z=1", "x", "x==1", "", 3])
def test_other_faces_are_refused_with_the_list(text):
    with pytest.raises(ValueError, match="faces: x=-1, x=1"):
        (X * TIME).face(text)


@pytest.mark.parametrize("method", METHODS)
def test_interior_points_lie_inside(method):
    domain = X * Y * TIME
    points = domain.sample_interior(200, *draw(method))
    low, high = np.array(list(domain.bounds.values())).T
    assert points.shape == ((180, 3) if method == "grid" else (200, 3))
    assert points.dtype == np.float64
    assert (points >= low).all() and (points <= high).all()
    # They reach out to the edges, so the scaling covers the bounds.
    assert (points.min(axis=0) < low + 0.2 * (high - low)).all()
    assert (points.max(axis=0) > high - 0.2 * (high - low)).all()


def test_initial_points_are_at_the_start_of_time():
    points = (X * TIME).sample_initial(50, *draw())
    assert points.shape == (50, 2)
    assert (points[:, 1] == 0.5).all()
    assert len(np.unique(points[:, 0])) == 50
    assert TIME.sample_initial(50, *draw()).tolist() == [[0.5]]


def test_initial_points_need_time():
    with pytest.raises(ValueError, match="no time coordinate, only x; make one with pinn.Time"):
        X.sample_initial(5, *draw())


def test_face_points_lie_on_the_face():
    domain = X * Y * TIME
    points = domain.sample_face(domain.face("y=3"), 40, *draw())
    assert points.shape == (40, 3)
    assert (points[:, 1] == 3).all()
    assert X.sample_face(X.face("x=1"), 40, *draw()).tolist() == [[1.0]]


def test_faces_share_points_by_size():
    domain = X * Y  # sides of length 2 (at y = 0, 3) and 3 (at x = -1, 1)
    points = domain.sample_faces(domain.faces, 100, *draw())
    assert len(points) == 100
    assert [(points[:, 0] == v).sum() for v in (-1, 1)] == [30, 30]
    assert [(points[:, 1] == v).sum() for v in (0, 3)] == [20, 20]


def test_every_face_gets_a_point():
    domain = X * Y
    points = domain.sample_faces(domain.faces, 1, *draw())
    assert len(points) == 4


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: pinn.Interval("x", 1, 1), ValueError, "expected low < high, got low 1 and high 1"),
        (lambda: pinn.Interval("x", 2, -1), ValueError, "low 2 and high -1"),
        (lambda: pinn.Time("t", 0, math.inf), ValueError, "high: expected a finite number"),
        (lambda: pinn.Time("t", math.nan, 1), ValueError, "low: expected a finite number"),
        (lambda: pinn.Interval("x", "0", 1), TypeError, "low: expected a number, got '0'"),
        (lambda: pinn.Interval("x", True, 2), TypeError, "expected a number, got True"),
        (lambda: pinn.Interval("2x", 0, 1), ValueError, "starts with a letter, got '2x'"),
        (lambda: pinn.Interval("", 0, 1), ValueError, "got ''"),
        (lambda: pinn.Interval(3, 0, 1), TypeError, "expected a name of letters.*, got 3"),
        (lambda: X * X, ValueError, "repeated: x"),
        (lambda: TIME * pinn.Time("s", 0, 1), ValueError, "at most one time, got t and s"),
        (lambda: pinn.Box(), ValueError, "at least one interval"),
        (lambda: pinn.Box(X, 3), TypeError, "expected pinn.Interval or pinn.Time, got 3"),
        (lambda: X * 3, TypeError, "unsupported operand"),
    ],
)
def test_domains_that_make_no_sense_are_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()
