"""Intervals, time and boxes: names, bounds, faces, and where their points lie."""

import copy
import hashlib
import math
import pickle
from pathlib import Path

import numpy as np
import pytest

import pinn
from pinn.sampling import LATTICES, METHODS, stream

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
    assert TIME.parts == ()


def test_faces_are_the_two_sides_of_each_space_coordinate():
    faces = (X * Y * TIME).parts
    assert [str(face) for face in faces] == ["x=-1", "x=1", "y=0", "y=3"]
    assert [face.label for face in faces] == ["x_low", "x_high", "y_low", "y_high"]


@pytest.mark.parametrize("text", ["x=-1", " x = -1.0 ", "x=-2/2"])
def test_a_face_is_found_by_its_value(text):
    assert str((X * TIME).part(text)) == "x=-1"


def test_a_face_at_a_rounded_number_is_found():
    assert pinn.Interval("x", 0, math.pi).part("x=3.141592653589").side == "high"


@pytest.mark.parametrize("text", ["x=0", "t=0.5", "z=1", "x", "x==1", "", 3])
def test_other_faces_are_refused_with_the_list(text):
    with pytest.raises(ValueError, match="faces: x=-1, x=1"):
        (X * TIME).part(text)


@pytest.mark.parametrize("method", METHODS)
def test_interior_points_lie_inside(method):
    domain = X * Y * TIME
    points = domain.sample_interior(200, *draw(method))
    low, high = np.array(list(domain.bounds.values())).T
    assert points.shape == ((180, 3) if method in LATTICES else (200, 3))
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
    with pytest.raises(ValueError, match="no time coordinate, only x; declare one as time"):
        X.sample_initial(5, *draw())


def test_final_points_are_at_the_end_of_time():
    points = (X * TIME).sample_final(50, *draw())
    assert points.shape == (50, 2) and (points[:, 1] == 2).all()
    assert TIME.sample_final(50, *draw()).tolist() == [[2.0]]


def test_face_points_lie_on_the_face_and_normals_point_outwards():
    domain = X * TIME * Y
    points, normals = domain.sample_part(domain.part("y=3"), 40, *draw())
    assert points.shape == (40, 3) and normals.shape == (40, 2)
    assert (points[:, 2] == 3).all()
    assert (normals == [0, 1]).all()
    _, normals = domain.sample_part(domain.part("x=-1"), 40, *draw())
    assert (normals == [-1, 0]).all()
    points, normals = X.sample_part(X.part("x=1"), 40, *draw())
    assert (points.tolist(), normals.tolist()) == ([[1.0]], [[1.0]])


def test_faces_share_points_by_size():
    domain = X * Y  # sides of length 2 (at y = 0, 3) and 3 (at x = -1, 1)
    points, _ = domain.sample_boundary(domain.parts, 100, *draw())
    assert len(points) == 100
    assert [(points[:, 0] == v).sum() for v in (-1, 1)] == [30, 30]
    assert [(points[:, 1] == v).sum() for v in (0, 3)] == [20, 20]


def test_every_face_gets_a_point():
    domain = X * Y
    points, _ = domain.sample_boundary(domain.parts, 1, *draw())
    assert len(points) == 4


def test_measures_are_lengths_areas_and_volumes():
    domain = X * Y * TIME
    assert (X.measure, (X * Y).measure, domain.measure) == (2, 6, 9)
    assert [part.measure for part in domain.parts] == [4.5, 4.5, 3, 3]


def test_a_box_contains_its_boundary_up_to_rounding():
    points = np.array([[0, 1], [-1, 3], [1 + 1e-12, 0], [1.001, 1], [0, -0.01]])
    assert (X * Y).contains(points).tolist() == [True, True, True, False, False]
    # A negative tolerance asks for the open inside.
    assert (X * Y).contains(points, -1e-9).tolist() == [True, False, False, False, False]


def test_the_distance_to_a_box_is_that_of_its_nearest_boundary_point():
    rng = np.random.default_rng(0)
    side = np.linspace(0, 1, 2001)
    rim = np.concatenate(
        [
            np.stack(np.broadcast_arrays(*pair), axis=1)
            for pair in ((-1, 3 * side), (1, 3 * side), (2 * side - 1, 0), (2 * side - 1, 3))
        ]
    )
    points = rng.uniform([-2, -1], [2, 4], (200, 2))
    nearest = np.linalg.norm(points[:, None] - rim, axis=2).min(axis=1)
    sign = np.where((X * Y).contains(points), 1, -1)
    np.testing.assert_allclose((X * Y).distance(points), sign * nearest, atol=1e-3)
    # Time has another unit: it does not count.
    timed = np.column_stack([points[:, 0], np.full(200, 9.0), points[:, 1]])
    np.testing.assert_array_equal((X * TIME * Y).distance(timed), (X * Y).distance(points))


def test_the_collocation_points_of_the_shipped_config_never_change():
    from pinn.config import load
    from pinn.sampling import Sampling

    sampling = Sampling(interior=2500, method="latin-hypercube")
    domain = load(Path(__file__).parents[3] / "configs/burgers.yaml").experiment.problem.domain
    points = domain.sample_interior(2500, sampling.sampler, stream(0, "points", "burgers", "0"))
    # Written down when every domain was a product of intervals.
    digest = "88a2df0e684010e38fbd1a3bb0b6dce8a367163f4b1b768884e5275523d2ce95"
    assert hashlib.sha256(points.tobytes()).hexdigest() == digest
    first = ["-0x1.678710a0a7af5p-1", "0x1.5e7d12b3c81b3p-1"]
    assert [value.hex() for value in points[0].tolist()] == first


@pytest.mark.parametrize(
    ("method", "interior", "initial", "boundary"),
    [
        ("latin-hypercube", "d16a225cd4ec832f", "8dd54cd4feaa94c2", "eb2b274b700232fa"),
        ("uniform", "cf4f9ab389b4f0b7", "0c163c6618ea297a", "7e4080fcc8486a0c"),
        ("grid", "8951d488603e7ebf", "2ba6b669d6b64c50", "ec82c0417a7a3c95"),
    ],
)
def test_the_points_of_a_box_keep_their_bits(method, interior, initial, boundary):
    def digest(points):
        return hashlib.sha256(points.tobytes()).hexdigest()[:16]

    def drawn(name):
        return METHODS[method], stream(7, "points", name, "2")

    domain = X * Y * TIME
    assert digest(domain.sample_interior(300, *drawn("e"))) == interior
    assert digest(domain.sample_initial(100, *drawn("initial_u"))) == initial
    points, _ = domain.sample_boundary(domain.parts, 37, *drawn("dirichlet_u"))
    assert digest(points) == boundary


def test_shapes_are_values():
    for shape in (X, TIME, X * Y * TIME):
        for other in (copy.deepcopy(shape), pickle.loads(pickle.dumps(shape))):
            assert other == shape and hash(other) == hash(shape)
    assert X != pinn.Interval("x", -1, 2) and X != pinn.Time("x", -1, 1) and X * Y != Y * X
    assert repr(X * TIME) == "Interval('x', -1.0, 1.0) * Time('t', 0.5, 2.0)"


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: pinn.Interval("x", 1, 1), ValueError, "expected low < high, got low 1 and high 1"),
        (lambda: pinn.Interval("x", 2, -1), ValueError, "low 2 and high -1"),
        (lambda: pinn.Time("t", 0, math.inf), ValueError, "time: high: expected a finite number"),
        (lambda: pinn.Time("t", math.nan, 1), ValueError, "time: low: expected a finite number"),
        (lambda: pinn.Interval("x", "0", 1), TypeError, "low: expected a number, got '0'"),
        (lambda: pinn.Interval("x", True, 2), TypeError, "expected a number, got True"),
        (lambda: pinn.Interval("2x", 0, 1), ValueError, "starts with a letter, got '2x'"),
        (lambda: pinn.Interval("", 0, 1), ValueError, "got ''"),
        (lambda: pinn.Interval("x", 1, np.nextafter(1, 2)), ValueError, "differ by 1e-09"),
        (lambda: pinn.Interval("x", 1e15, 1e15 + 1), ValueError, "measure x from low"),
        (lambda: pinn.Time("t", -1e308, 1e308), ValueError, "time: expected a width .* 1e\\+150"),
        (lambda: pinn.Interval("x", 0, 1e-300), ValueError, "another unit for x"),
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
