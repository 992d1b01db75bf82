"""Problems of functions: what they are compared with solves them, and a row can be measured."""

import dataclasses
import json

import numpy as np
import pytest

import pinn
from experiments import by_default, operators
from experiments.operators import ROWS


@pytest.fixture
def finer(monkeypatch):
    """Grids that differences are right on."""
    monkeypatch.setattr(operators, "_X", np.linspace(0, 1, 401))
    monkeypatch.setattr(operators, "_T", np.linspace(0, 1, 401))


def slope(u, axis):
    """The derivative on a grid of 401 points, by differences of fourth order, inside."""
    near = {j: np.roll(u, -j, axis=axis) for j in (-2, -1, 1, 2)}
    return (8 * (near[1] - near[-1]) - near[2] + near[-2]) / (12 / 400)


@pytest.mark.parametrize("name", ROWS)
def test_what_solutions_are_compared_with_solves_the_equation(name, finer):
    row = ROWS[name]
    v = row.problem().functions["v"].draw(seed=4)
    u, places = row.exact(v), row.places()
    at = v(*(places[n] for n in ("x", "y") if n in places))
    u_x, last = slope(u, 0), slope(u, u.ndim - 1)
    left = {
        "antiderivative": lambda: u_x - at,
        "advection": lambda: last + u_x,
        "diffusion and reaction": lambda: last - 0.01 * slope(u_x, 0) + 0.01 * u**2 - at,
        "plate": lambda: slope(u_x, 0) + slope(last, 1) + at,
        "Darcy's flow": lambda: slope(np.exp(at) * u_x, 0) + 1,
        "Burgers": lambda: last + u * u_x - 0.05 * slope(u_x, 0),
    }[name]()
    inside = (slice(6, -6),) * u.ndim
    # at the ends of a start that does not fit to them only continuous data have a slope in t
    assert np.abs(left[inside]).max() < 1e-3 * np.abs(slope(u, 0)[inside]).max()
    if name in ("diffusion and reaction", "plate", "Darcy's flow"):
        assert np.abs(u[[0, -1]]).max() < 1e-12 * np.abs(u).max()
    if name in ("antiderivative", "diffusion and reaction"):
        assert u[0, 0] == 0 if u.ndim == 2 else u[0] == 0
    if name in ("advection", "Burgers"):
        assert u[:, 0] == pytest.approx(at[:, 0], abs=1e-9)
        assert u[0] == pytest.approx(u[-1], abs=1e-9)


def test_a_row_is_measured_and_written(tmp_path, monkeypatch):
    name = "antiderivative"

    def solved(problem, seconds, seed):
        training = [pinn.LevenbergMarquardt(15)]
        sampling = pinn.Sampling(interior=2000)
        return by_default.solved(problem, None, seed, training=training, sampling=sampling)

    monkeypatch.setattr(operators, "solved", solved)  # steps in place of seconds
    monkeypatch.setitem(ROWS, name, dataclasses.replace(ROWS[name], seconds=60))
    assert operators.main(["--only", name, "--out", str(tmp_path)]) == 0
    (row,) = json.loads((tmp_path / "operators.json").read_text())["rows"]
    assert len(row["errors"]) == 20 and min(row["errors"]) <= row["error"] <= row["worst"]
    assert row["worst"] < 1e-3 and row["known_as_modes"] < 1e-3
    assert row["known_error"] < 1e-3 and row["left"] < 1e-3
    assert name in (tmp_path / "operators.md").read_text()
