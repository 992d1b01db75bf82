"""The interface carries shapes made of shapes: a difference, written with nothing but it."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pytest

import pinn
from pinn.geometry import TOLERANCE, Part, Shape
from pinn.sampling import METHODS, stream


@dataclass(frozen=True)
class Disk(Shape):
    radius: float
    name: str = "hole"

    @property
    def bounds(self) -> Mapping[str, tuple[float, float]]:
        return {"x": (-self.radius, self.radius), "y": (-self.radius, self.radius)}

    def contains(self, points: np.ndarray, tolerance: float = TOLERANCE) -> np.ndarray:
        return np.hypot(*points.T) <= self.radius * (1 + 2 * tolerance)

    @property
    def parts(self) -> tuple[Part, ...]:
        # Two halves, so that the name of the shape stands for both.
        length = np.pi * self.radius
        return tuple(
            Part(f"{self.name}_{half}", measure=length, owner=self.name) for half in (1, 2)
        )

    def on_part(self, part: Part, unit: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        angle = np.pi * (unit[:, 0] + self.parts.index(part))
        outward = np.stack([np.cos(angle), np.sin(angle)], axis=1)
        return self.radius * outward, outward


@dataclass(frozen=True)
class Difference(Shape):
    """The points of one shape that do not lie in the open inside of another."""

    whole: Shape
    taken: Shape

    @property
    def bounds(self) -> Mapping[str, tuple[float, float]]:
        return self.whole.bounds

    def contains(self, points: np.ndarray, tolerance: float = TOLERANCE) -> np.ndarray:
        return self.whole.contains(points, tolerance) & ~self.taken.contains(points, -tolerance)

    @property
    def parts(self) -> tuple[Part, ...]:
        return self.whole.parts + self.taken.parts

    def on_part(self, part: Part, unit: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        inner = part in self.taken.parts
        points, normals = (self.taken if inner else self.whole).on_part(part, unit)
        points[~self.contains(points)] = np.nan
        return points, -normals if inner else normals


SQUARE = pinn.Interval("x", -1, 1) * pinn.Interval("y", -1, 1)
HOLED = Difference(SQUARE, Disk(0.5))
NOTCHED = Difference(SQUARE, Disk(1.25))  # what is left are the four corners
LHS = METHODS["latin-hypercube"]


def test_parts_keep_their_names_and_normals_point_into_the_hole():
    domain = pinn.Time("t", 0, 1) * HOLED
    assert [p.label for p in domain.parts] == [
        "x_low", "x_high", "y_low", "y_high", "hole_1", "hole_2"
    ]  # fmt: skip
    hole = domain.select("hole")
    assert [part.label for part in hole] == ["hole_1", "hole_2"] and domain.label("hole") == "hole"
    with pytest.raises(ValueError, match="expected one part .* 'hole' is hole_1, hole_2"):
        domain.part("hole")
    points, normals = domain.sample_boundary(hole, 400, LHS, stream(0, "a"))
    np.testing.assert_allclose(np.hypot(points[:, 1], points[:, 2]), 0.5, rtol=1e-12)
    np.testing.assert_allclose(normals, -2 * points[:, 1:], atol=1e-12)
    _, normals = domain.sample_part(domain.part("x=1"), 10, LHS, stream(0, "a"))
    assert (normals == [1, 0]).all()


def test_points_lie_outside_of_the_hole():
    points = HOLED.sample_interior(2000, LHS, stream(0, "a"))
    assert len(points) == 2000 and (np.hypot(*points.T) >= 0.5).all()
    assert HOLED.measure == pytest.approx(4 - np.pi / 4, rel=1e-3)
    assert HOLED.contains(np.array([[0.5, 0.0], [0.4, 0.0], [1.0, 1.0]])).tolist() == [1, 0, 1]


def test_points_of_a_part_that_is_cut_are_as_many_as_asked_for():
    reach = np.sqrt(1.25**2 - 1)  # the sides are cut between -reach and reach
    points, normals = NOTCHED.sample_part(NOTCHED.part("x=1"), 200, LHS, stream(0, "a"))
    assert len(points) == 200 and (np.abs(points[:, 1]) >= reach).all()
    points, normals = NOTCHED.sample_part(NOTCHED.part("hole_1"), 200, LHS, stream(0, "a"))
    assert len(points) == 200 and (np.abs(points) <= 1 + 1e-8).all()
    np.testing.assert_allclose(normals, -points / 1.25, atol=1e-12)
    points, _ = NOTCHED.sample_boundary(NOTCHED.select("x < 0"), 100, LHS, stream(0, "a"))
    assert len(points) == 100 and (points[:, 0] < 0).all() and NOTCHED.contains(points).all()
