"""Formulas that vanish on parts of a boundary: zero there, slope one, positive elsewhere."""

import math

import numpy as np
import pytest

import autograd as T
import pinn
from autograd.jets import choose_channels, read, sweep
from pinn.equations.functions import NUMPY_FUNCTIONS, TENSOR_FUNCTIONS
from pinn.expressions import evaluate, parse
from pinn.geometry import TOLERANCE, Part
from pinn.sampling import METHODS, stream

X, Y, Z = (pinn.Interval(name, -1, 1) for name in "xyz")
SQUARE = X * Y
ANGLES = np.linspace(0, 2 * np.pi, 40, endpoint=False)

SHAPES = {
    "disk": pinn.Disk((0.2, 0.1), 0.7),
    "ball": pinn.Ball((0, 0, 1), 1.5),
    "ellipse": pinn.Ellipse((1, 0), (0.5, 2)),
    "bored ellipse": pinn.Ellipse(radii=(2, 1)) - pinn.Ellipse((0.5, 0), (0.3, 0.6)),
    "ring in 5": pinn.Ball((0,) * 5) - pinn.Ball((0,) * 5, 0.5),
    "triangle": pinn.Triangle((0, 0), (0, 1), (1, 0.2)),
    "box": SQUARE * Z,
    "L": pinn.Polygon([(0, 0), (1, 0), (1, -1), (-1, -1), (-1, 1), (0, 1)]),
    "S": pinn.Polygon([(0, 0), (2, 0), (2, 1), (3, 1), (3, 2), (1, 2), (1, 1), (0, 1)]),
    "spiral": pinn.Polygon(
        [(0, 0), (4, 0), (4, 4), (1, 4), (1, 2), (2, 2), (2, 3), (3, 3), (3, 1), (0, 1)]
    ),
    "curve": pinn.Polygon([(2 * math.cos(a), math.sin(a)) for a in ANGLES]),
    "hole": SQUARE - pinn.Disk((0, 0), 0.25, name="hole"),
    "box hole": SQUARE - pinn.Interval("x", -0.2, 0.3) * pinn.Interval("y", -0.1, 0.2),
    "cut disk": pinn.Disk() - SQUARE.moved(1.2, 1.1),
    "union": SQUARE | pinn.Disk((1, 0), 0.5),
    "lens": pinn.Disk((-0.5, 0)) & pinn.Disk((0.5, 0)),
    "turned": (SQUARE - pinn.Disk((1, 0), 0.5)).rotated(0.5, about=(1, 1)).moved(1, 2),
    "in time": (SQUARE - pinn.Disk((0.5, 0.5), 0.25)) * pinn.Time("t", 0, 2),
    "cylinder": pinn.Disk() * pinn.Interval("z", 0, 2),
    "two intervals": pinn.Interval("x", 0, 3) - pinn.Interval("x", 1, 2),
}  # fmt: skip
JETS = ("disk", "ellipse", "L", "box hole", "union", "turned", "cylinder")
CASES = [(name, part) for name in SHAPES for part in ("all", *range(len(SHAPES[name].parts)))]


def values(tree, shape, points):
    columns = dict(zip(shape.coordinates, points.T, strict=True))
    return np.broadcast_to(evaluate(tree, columns, NUMPY_FUNCTIONS), (len(points),))


def boundary(shape, part, n=150):
    parts = shape.parts if part == "all" else (shape.parts[part],)
    points, normals = shape.sample_boundary(parts, n, METHODS["uniform"], stream(0, "a"))
    full = np.zeros(points.shape)
    full[:, [shape.coordinates.index(name) for name in shape.space]] = normals
    return parts, points, full


@pytest.mark.parametrize(("name", "part"), CASES)
def test_it_vanishes_on_the_parts_with_slope_one_and_nowhere_else(name, part):
    shape = SHAPES[name]
    parts, points, normals = boundary(shape, part)
    tree = shape.distance_function(parts)
    assert np.abs(values(tree, shape, points)).max() <= 1e-14 * shape.size
    # At a distance s of the nearest corner the slope is off by a few h/s, and by rounding over h.
    step = 1e-9
    slope = values(tree, shape, points - step * normals) / step
    others = [one for one in SHAPES[name].parts if one not in parts]
    assert np.abs(np.median(slope) - 1) < 1e-5
    assert np.mean(np.abs(slope - 1) < 1e-3) > 0.97
    inside = shape.sample_interior(1000, METHODS["uniform"], stream(1, "b"))
    assert (values(tree, shape, inside) > 0).all()
    if others:
        points, _ = shape.sample_boundary(others, 150, METHODS["uniform"], stream(2, "c"))
        assert (values(tree, shape, points) > 0).all()


# What is shared in a tree is written out in its text: of 40 edges that has 10^6 letters.
@pytest.mark.parametrize("name", sorted(SHAPES.keys() - {"curve", "spiral"}))
def test_its_text_is_of_the_language(name):
    shape = SHAPES[name]
    tree = shape.distance_function()
    again = parse(str(tree))
    inside = shape.sample_interior(100, METHODS["uniform"], stream(1, "b"))
    np.testing.assert_array_equal(values(again, shape, inside), values(tree, shape, inside))


@pytest.mark.parametrize("name", JETS)
@pytest.mark.parametrize("part", ["all", 0, -1])
def test_jets_equal_nested_derivatives_and_finite_differences(name, part):
    """Inside, on the part itself, where it vanishes, and on the lines that its edges go on in."""
    shape = SHAPES[name]
    parts, edge, _ = boundary(shape, part, 50)
    tree = shape.distance_function(parts)
    inside = shape.sample_interior(50, METHODS["uniform"], stream(1, "b"))
    points = np.concatenate([inside, edge])
    d = points.shape[1]
    columns = [T.tensor(points[:, j : j + 1], requires_grad=True) for j in range(d)]
    named = dict(zip(shape.coordinates, columns, strict=True))
    value = evaluate(tree, named, TENSOR_FUNCTIONS)
    first = T.grad(value.sum(), columns, create_graph=True, allow_unused=True)
    step = 1e-6
    for j, slope in enumerate(first):
        shift = step * np.eye(d)[j]
        ahead, behind = values(tree, shape, inside + shift), values(tree, shape, inside - shift)
        slope = np.zeros(len(points)) if slope is None else slope.detach().numpy()[:, 0]
        # The third derivative goes with the distance to the boundary, which may be small.
        np.testing.assert_allclose(
            slope[: len(inside)], (ahead - behind) / (2 * step), rtol=1e-5, atol=1e-6
        )
        assert np.isfinite(slope).all()

    def formula(*columns):
        named = dict(zip(shape.coordinates, columns, strict=True))
        return evaluate(tree, named, TENSOR_FUNCTIONS)

    channels = choose_channels([(j, j) for j in range(d)])
    (jet,) = sweep(formula, [column.detach() for column in columns], channels)
    for j, slope in enumerate(first):
        second = None
        if slope is not None and slope.requires_grad:
            (second,) = T.grad(slope.sum(), columns[j], retain_graph=True, allow_unused=True)
        second = np.zeros((len(points), 1)) if second is None else second.numpy()
        assert np.isfinite(second).all()
        found = np.broadcast_to(read(jet, (j, j), value).numpy(), second.shape)
        np.testing.assert_allclose(found, second, rtol=1e-9, atol=1e-9)


def test_a_piece_of_a_boundary_is_trimmed():
    disk = pinn.Disk()
    tree = disk.distance_function("x < 0.5")
    on, _ = disk.sample_boundary(disk.select("x < 0.5"), 200, METHODS["uniform"], stream(0, "a"))
    off, _ = disk.sample_boundary(disk.select("x > 0.5"), 200, METHODS["uniform"], stream(0, "a"))
    assert np.abs(values(tree, disk, on)).max() < 1e-14
    assert values(tree, disk, off).min() > 1e-6
    tree = disk.distance_function("x > -0.5 and y > 0")
    arc = disk.select("x > -0.5 and y > 0")
    assert arc[0].measure == pytest.approx(2 * np.pi / 3, rel=1e-3)
    on, _ = disk.sample_boundary(arc, 200, METHODS["uniform"], stream(0, "a"))
    off, _ = disk.sample_boundary(disk.parts, 200, METHODS["uniform"], stream(0, "a"))
    off = off[(off[:, 0] < -0.51) | (off[:, 1] < -0.01)]
    assert np.abs(values(tree, disk, on)).max() < 1e-14 and values(tree, disk, off).min() > 1e-6
    with pytest.raises(TypeError, match="which is of more than the coordinates x, y"):
        disk.distance_function("normal_y > 0")


def test_what_has_no_formula_is_refused():
    class Plate(pinn.Shape):
        bounds = {"x": (0.0, 1.0), "y": (0.0, 1.0)}
        parts = (Part("rim"),)

        def contains(self, points, tolerance=TOLERANCE):
            return np.ones(len(points), bool)

        def on_part(self, part, unit):
            return np.zeros((len(unit), 2)), np.zeros((len(unit), 2))

    with pytest.raises(TypeError, match="a Plate has no formula that vanishes on its boundary"):
        Plate().distance_function()
    # The side x = -1 of either rectangle goes on as that of the other.
    union = (X * pinn.Interval("y", -1, 0)) | (pinn.Interval("x", -1, 0) * Y)
    assert (values(union.distance_function(), union, np.array([[-0.5, -0.5]])) > 0).all()
    with pytest.raises(ValueError, match="boundaries of the shapes of this union lie on each"):
        union.distance_function("y=0")
