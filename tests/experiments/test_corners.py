"""Problems with infinite slopes: their formulas solve them, and a row can be measured."""

import json

import numpy as np
import pytest

from experiments import corners
from experiments.corners import ROWS
from pinn.equations.functions import NUMPY_FUNCTIONS
from pinn.expressions import evaluate, parse

STEP = 1e-3
# of a first derivative by differences of fourth order
WEIGHTS = {-2: 1 / 12, -1: -2 / 3, 1: 2 / 3, 2: -1 / 12}
SIDE = np.linspace(0.1, 0.9, 9)
NAMES = {"pi": np.pi}


def value(text, domain, at):
    columns = dict(zip(domain.coordinates, at.T, strict=True))
    return np.broadcast_to(evaluate(parse(text), {**columns, **NAMES}, NUMPY_FUNCTIONS), len(at))


def slopes_of(name, **further):
    """Return d(unknown, "x", "y", ...), derivatives of a row's reference apart from its walls."""
    problem = ROWS[name].problem()
    domain = problem.domain
    texts = {**problem.reference, **further}
    points = domain.from_unit(np.random.default_rng(0).random((500, len(domain.coordinates))))
    points = points[~np.isnan(points).any(axis=1)]
    points = points[domain.distance(points) > 0.1]
    assert len(points) > 20

    def d(unknown, *along, at=points):
        if not along:
            return value(texts[unknown], domain, at)
        direction = STEP * (np.array(domain.coordinates) == along[0])
        return sum(w * d(unknown, *along[1:], at=at + k * direction)
                   for k, w in WEIGHTS.items()) / STEP  # fmt: skip

    return d, domain, points


def vanishes(residual, size):
    return np.abs(residual).max() < 1e-5 * np.abs(size).max()


@pytest.mark.parametrize("name", [n for n in ROWS if n not in ("plate", "clamped", "Stokes")])
def test_references_solve_laplaces_equation(name):
    """But for a source in its text, and what makes up for the rest of an equation."""
    d, domain, points = slopes_of(name)
    seconds = [d("u", c, c) for c in domain.space]
    rest = 2 * np.pi**2 * d("u") if name == "smooth" else 0
    if name == "L shape, source":
        text = ROWS[name].problem().equations["e"]
        rest = value(text.replace("laplacian(u)", "0"), domain, points)
    assert vanishes(sum(seconds) + rest, seconds[0])


def along_x(x=SIDE, y=0.0):
    return np.stack([np.broadcast_to(x, SIDE.shape), np.broadcast_to(y, SIDE.shape)], axis=1)


def test_values_and_slopes_are_those_of_the_walls():
    d, *_ = slopes_of("values to slopes")
    np.testing.assert_allclose(d("u", at=along_x(-SIDE)), 0, atol=1e-12)
    np.testing.assert_allclose(d("u", "y", at=along_x()), 0, atol=1e-9)
    d, *_ = slopes_of("values and slopes")
    np.testing.assert_allclose(d("u", at=along_x()), 0, atol=1e-12)
    np.testing.assert_allclose(d("u", "x", at=along_x(0.0, SIDE)), 0, atol=1e-7)
    d, *_ = slopes_of("L shape, source")
    for wall in (along_x(), along_x(0.0, SIDE), along_x(-SIDE, -1.0), along_x(1.0, -SIDE)):
        np.testing.assert_allclose(d("u", at=wall), 0, atol=1e-12)


def test_the_flow_is_one_and_rests_at_both_walls_of_the_corner():
    problem = ROWS["Stokes"].problem()
    pressure = problem.conditions[-1].value
    d, *_ = slopes_of("Stokes", p=pressure)
    assert vanishes(d("u", "x") + d("v", "y"), d("u", "x"))
    for u, c in (("u", "x"), ("v", "y")):
        assert vanishes(d("p", c) - d(u, "x", "x") - d(u, "y", "y"), d("p", c))
        for wall in (along_x(), along_x(0.0, SIDE)):
            np.testing.assert_allclose(d(u, at=wall), 0, atol=1e-9)


@pytest.mark.parametrize(("name", "free"), [
    ("plate", [(along_x(), "y"), (along_x(0.0, SIDE), "x")]), ("clamped", [(along_x(), "y")]),
])  # fmt: skip
def test_plates_are_in_balance_and_have_no_traction_where_they_are_free(name, free):
    d, *_ = slopes_of(name)
    stiff, other, shear = 1 / 0.91, 0.3 / 0.91, 0.5 / 1.3
    for u, v, x, y in (("u", "v", "x", "y"), ("v", "u", "y", "x")):
        force = stiff * d(u, x, x) + other * d(v, x, y) + shear * (d(u, y, y) + d(v, x, y))
        assert vanishes(force, d(u, x, x))
    for wall, normal in free:
        ux, uy, vx, vy = (d(one, c, at=wall) for one in "uv" for c in "xy")
        own = stiff * ux + other * vy if normal == "x" else stiff * vy + other * ux
        assert vanishes(own, stiff * ux) or vanishes(own, stiff * vy)
        assert vanishes(shear * (uy + vx), uy)


def test_the_clamped_plate_stays_at_the_wall():
    d, *_ = slopes_of("clamped")
    for unknown in "uv":
        np.testing.assert_allclose(d(unknown, at=along_x(0.0, SIDE)), 0, atol=1e-14)


def test_a_row_is_measured_and_written(tmp_path, monkeypatch):
    monkeypatch.setattr(corners, "_LIMIT", 6)
    name = "L shape"
    assert corners.main(["--only", name, "--out", str(tmp_path)]) == 0
    (row,) = json.loads((tmp_path / "corners.json").read_text())["rows"]
    assert row["error"] < 1e-6 and row["error"] < row["alone"]
    assert row["measured"]["command"] == "python -m experiments.corners --seed 0"
    assert f"- {name} (r^(2/3) and x y" in (tmp_path / "corners.md").read_text()
