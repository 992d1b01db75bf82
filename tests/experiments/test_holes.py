"""Problems in domains with holes: their formulas solve them, and a row can be measured."""

import json

import numpy as np
import pytest

from experiments import holes
from experiments.holes import ROWS

STEP = 1e-3
FUNCTIONS = {one: getattr(np, one) for one in ("log", "sqrt", "hypot", "exp", "sin", "cos", "pi")}
# of a first derivative by differences of fourth order
WEIGHTS = {-2: 1 / 12, -1: -2 / 3, 1: 2 / 3, 2: -1 / 12}


def slopes_of(name):
    """Return d(unknown, "x", "y", ...), derivatives of a row's reference apart from its walls."""
    problem = ROWS[name].problem()
    domain = problem.domain
    points = domain.from_unit(np.random.default_rng(0).random((500, len(domain.coordinates))))
    points = points[~np.isnan(points).any(axis=1)]
    points = points[domain.distance(points) > 0.1]
    assert domain.holes and len(points) > 20

    def d(unknown, *along, at=points):
        if not along:
            columns = dict(zip(domain.coordinates, at.T, strict=True))
            return eval(problem.reference[unknown], FUNCTIONS, columns)
        direction = STEP * (np.array(domain.coordinates) == along[0])
        return sum(w * d(unknown, *along[1:], at=at + k * direction)
                   for k, w in WEIGHTS.items()) / STEP  # fmt: skip

    return d, domain.space


def vanishes(residual, size):
    return np.abs(residual).max() < 1e-5 * np.abs(size).max()


@pytest.mark.parametrize("name", [n for n in ROWS if n not in ("a plate in tension", "Stokes")])
def test_references_solve_laplaces_equation(name):
    """With what makes up for the rest of an equation in its text; the smooth one Helmholtz's."""
    d, space = slopes_of(name)
    seconds = [d("u", c, c) for c in space]
    rest = 2 * np.pi**2 * d("u") if name == "smooth" else 0
    assert vanishes(sum(seconds) + rest, seconds[0])


def test_the_plate_is_in_balance_and_its_hole_without_traction():
    d, _ = slopes_of("a plate in tension")
    stiff, other, shear = 1 / 0.91, 0.3 / 0.91, 0.5 / 1.3
    for u, v, x, y in (("u", "v", "x", "y"), ("v", "u", "y", "x")):
        force = stiff * d(u, x, x) + other * d(v, x, y) + shear * (d(u, y, y) + d(v, x, y))
        assert vanishes(force, d(u, x, x))
    angle = np.linspace(0, 2 * np.pi, 17)
    edge = 0.3 * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    ux, uy, vx, vy = (d(one, c, at=edge) for one in "uv" for c in "xy")
    xx, yy, xy = stiff * ux + other * vy, stiff * vy + other * ux, shear * (uy + vx)
    assert vanishes(xx * edge[:, 0] + xy * edge[:, 1], xx)
    assert vanishes(xy * edge[:, 0] + yy * edge[:, 1], xx)
    far = np.array([[30.0, 0.0]])
    pulled = stiff * d("u", "x", at=far) + other * d("v", "y", at=far)
    assert pulled == pytest.approx(1, abs=1e-3)


def test_the_flow_has_no_sources_and_its_vorticity_is_harmonic():
    d, _ = slopes_of("Stokes")
    assert vanishes(d("u", "x") + d("v", "y"), d("u", "x"))
    curled = [d("v", "x", c, c) - d("u", "y", c, c) for c in "xy"]
    assert vanishes(sum(curled) / 10, curled[0])


def test_the_cylinders_have_one_value_each():
    d, _ = slopes_of("eccentric cylinders")
    angle = np.linspace(0, 2 * np.pi, 17)
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    np.testing.assert_allclose(d("u", at=circle), 0, atol=1e-12)
    np.testing.assert_allclose(d("u", at=0.3 * circle + [0.4, 0]), 1, rtol=1e-12)


def test_a_row_is_measured_and_written(tmp_path, monkeypatch):
    monkeypatch.setattr(holes, "_LIMIT", 6)
    name = "eccentric cylinders"
    assert holes.main(["--only", name, "--out", str(tmp_path)]) == 0
    (row,) = json.loads((tmp_path / "holes.json").read_text())["rows"]
    assert row["error"] < 1e-6 and row["error"] < row["alone"]
    assert row["measured"]["command"] == "python -m experiments.holes --seed 0"
    assert f"- {name} (u = 1 and 0 on two circles" in (tmp_path / "holes.md").read_text()
