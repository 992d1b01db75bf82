"""Spots: where known parts are narrow, as formulas that networks and densities can take."""

from __future__ import annotations

import math

import numpy as np
import pytest

import pinn
from pinn.residuals import narrow, spots
from pinn.residuals.crossings import values_of

X, Y, T = pinn.Interval("x", 0, 2), pinn.Interval("y", -1, 1), pinn.Time("t", 0, 1)
AT = "((x - 0.3)**2 + (y + 0.2)**2)"


def found(domain, source, conditions=(), **constants):
    problem = pinn.Problem(
        domain, ["u"], {"p": f"laplacian(u) = {source}"}, conditions, constants=constants
    )
    parts = [part for one in problem.residuals for part in narrow(one, problem.constants)]
    return spots(parts, problem.domain), problem


def values(text, problem, **at):
    term = problem.scope.resolve(text)
    columns = dict.fromkeys(problem.domain.coordinates, np.zeros(1)) | {
        name: np.atleast_1d(np.asarray(value, float)) for name, value in at.items()
    }
    points = np.stack(np.broadcast_arrays(*columns.values()), axis=1)
    return values_of(term, tuple(columns), points, problem.constants)


def test_a_round_source_is_a_spot_as_wide_as_half_of_it_is():
    (spot,), problem = found(X * Y, f"exp(-{AT}/(2*w**2))", w=0.02)
    assert [one.coordinates for one in spot.directions] == [("x",), ("y",)]
    # half of a Gaussian of two variables is within sqrt(2 log 2) of its middle
    for one in spot.directions:
        assert one.reach == pytest.approx(0.02 * math.sqrt(2 * math.log(2)), rel=0.05)
    assert spot.where.startswith("x = 0.3 (0.04") and "y = -0.2 (0.04" in spot.where
    near, far = values(spot.profile, problem, x=[0.3, 2.0], y=[-0.2, 1.0])
    assert near == pytest.approx(-1, abs=1e-3) and far == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize(("source", "directions"), [
    ("exp(-((x - 0.3)/0.01)**2)", 1), (f"exp(-{AT}/0.0002)", 2),
    ("where((x - 0.3)**2 + (y + 0.2)**2 < 1e-4, 100, 0)", 2), ("100*(0.29 < x < 0.31)*(y < 2)", 1),
])  # fmt: skip
def test_a_density_has_the_mean_that_is_asked_for(source, directions):
    (spot,), problem = found(X * Y, source)
    assert len(spot.directions) == directions
    axis = 0.3 + np.concatenate([-np.geomspace(0.3, 1e-6, 700), np.geomspace(1e-6, 1.7, 900)])
    other = -0.2 + np.concatenate([-np.geomspace(0.8, 1e-6, 700), np.geomspace(1e-6, 1.2, 900)])
    x, y = np.meshgrid(axis, other, indexing="ij")
    density = values(spot.density(1.0), problem, x=x.ravel(), y=y.ravel()).reshape(x.shape)
    mean = np.trapezoid(np.trapezoid(density, other, axis=1), axis) / 4
    assert 0.5 < mean < 1.5


def test_a_source_that_moves_is_a_spot_around_where_it_is():
    (spot,), problem = found(
        X * Y * T, "exp(-((x - 1 - 0.5*cos(6*t))**2 + (y - 0.5*sin(6*t))**2)/(2*w**2))", w=0.02
    )
    assert set(spot.coordinates) == {"x", "y", "t"} and len(spot.directions) == 2
    t = np.linspace(0, 1, 9)
    there = {"x": 1 + 0.5 * np.cos(6 * t), "y": 0.5 * np.sin(6 * t), "t": t}
    np.testing.assert_allclose(values(spot.squared, problem, **there), 0, atol=1e-20)
    assert (values(spot.squared, problem, **{**there, "x": there["x"] + 0.1}) > 9).all()


def test_places_of_one_part_are_spots_of_their_own():
    two, _ = found(X * Y, f"2*(exp(-{AT}/(2*w**2)) + exp(-((x - 1.5)**2 + y**2)/(2*w**2)))", w=0.02)
    middles = sorted(one.where.split(" ")[2] for one in two)
    assert [float(one) for one in middles] == pytest.approx([0.3, 1.5], abs=0.01)


@pytest.mark.parametrize("source", [
    "sin(pi*x)*sin(pi*y)", "exp(-(x**2 + y**2))", "exp(-(sqrt((x - 1)**2 + y**2) - 0.3)**2/1e-4)",
])  # fmt: skip
def test_what_is_wide_or_no_spot_is_left_alone(source):
    assert found(X * Y, source)[0] == ()


def test_a_pulse_in_time_is_no_spot():
    assert found(X * T, "exp(-((t - 0.5)/0.001)**2)")[0] == ()
