"""Nodes along lines through shapes: measures and integrals in closed form."""

from __future__ import annotations

import math

import numpy as np
import pytest

import pinn
from pinn.residuals.by_lines import by_lines

SQUARE = pinn.Box(pinn.Interval("x", 0, 1), pinn.Interval("y", 0, 1))
CORNER = pinn.Box(pinn.Interval("x", 0.5, 1), pinn.Interval("y", 0.5, 1))
PI = math.pi


def lens(r, d):
    """The area that two disks of radius r have in common whose middles are d apart."""
    return 2 * r**2 * math.acos(d / (2 * r)) - d / 2 * math.sqrt(4 * r**2 - d**2)


SHAPES = {
    "disk": (pinn.Disk((0.3, -2), 0.5), PI / 4, 1e-14),
    "ellipse": (pinn.Ellipse((0, 0), (2, 0.5)), PI, 1e-14),
    "annulus": (pinn.Disk() - pinn.Disk((0, 0), 0.5), PI * 0.75, 1e-10),
    "hole": (SQUARE - pinn.Disk((0.5, 0.4), 0.2), 1 - PI * 0.04, 1e-14),
    "holes above each other": (
        SQUARE - pinn.Disk((0.3, 0.3), 0.1) - pinn.Ellipse((0.2, 0.7), (0.1, 0.05)),
        1 - PI * 0.015, 1e-6,
    ),
    "corner cut off": (SQUARE - pinn.Disk((1, 1), 0.6), 1 - PI * 0.09, 1e-12),
    "L": (SQUARE - CORNER, 0.75, 1e-14),
    "lens": (pinn.Disk() & pinn.Disk((1, 0), 1), lens(1, 1), 1e-6),
    "two disks": (pinn.Disk() | pinn.Disk((1, 0), 1), 2 * PI - lens(1, 1), 1e-6),
    "triangle": (pinn.Polygon([(0, 0), (1, 0.2), (0.7, 1)]), 0.43, 3e-5),
    "rotated": (SQUARE.rotated(0.3), 1.0, 1e-5),
    "ball": (pinn.Ball((0, 1, 0), 0.5), PI / 6, 1e-14),
    "shell": (pinn.Ball() - pinn.Ball((0, 0, 0), 0.5), PI * 4 / 3 * 0.875, 1e-5),
}  # fmt: skip


@pytest.mark.parametrize("name", SHAPES)
def test_weights_sum_up_to_the_measure_and_nodes_are_inside(name):
    shape, measure, tolerance = SHAPES[name]
    points, weights = by_lines(shape, 24 if len(shape.coordinates) == 2 else 12)
    assert weights.sum() == pytest.approx(measure, rel=tolerance)
    assert (weights > 0).all() and shape.contains(points, 1e-9).all()
    assert len(weights) < 5000


@pytest.mark.parametrize("each", [24, 60, 97])
def test_more_nodes_give_the_same_integral_over_a_disk(each):
    """Of exp(x): 2 pi I_1(1), with I_1 by its series; the last lines are hardly there."""
    points, weights = by_lines(pinn.Disk(), each)
    terms = (0.5 ** (2 * k + 1) / (math.factorial(k) * math.factorial(k + 1)) for k in range(20))
    assert weights @ np.exp(points[:, 0]) == pytest.approx(2 * PI * sum(terms), rel=1e-13)


def test_an_integral_over_a_disk_with_a_hole_is_met():
    """u = a - r**2 with the mean 1: the integral of r**2 is pi (1 - 1/16)/2."""
    ring = pinn.Disk() - pinn.Disk((0, 0), 0.5)
    problem = pinn.Problem(
        ring, ["u"], {"e": "laplacian(u) = -4"},
        [pinn.Integral("u", 1, mean=True), pinn.Operator("dn(u) = -2*(x*normal_x + y*normal_y)")],
    )  # fmt: skip
    solution = pinn.solve(problem, pinn.RandomFeatures(200), error_bars=False)
    x, y = np.array([0.6, -0.3, 0.0]), np.array([0.0, 0.7, -0.9])
    right = 1 + (PI * 15 / 32) / (PI * 0.75) - x**2 - y**2
    np.testing.assert_allclose(solution.evaluate(x=x, y=y)["u"].ravel(), right, atol=1e-8)


def test_the_condition_of_a_disk_says_nothing_wrong():
    problem = pinn.Problem(
        pinn.Disk(), ["u"], {"e": "laplacian(u) = -4"},
        [pinn.Integral("u", 1), pinn.Neumann("u", -2)],
    )  # fmt: skip
    solution = pinn.solve(problem, pinn.RandomFeatures(200), error_bars=False)
    found = solution.evaluate(x=0.0, y=0.0)["u"]
    assert found == pytest.approx((1 + PI / 2) / PI, abs=1e-9)
