"""The newcomer's table: its problems, what they are compared with, and its results files."""

import json

import numpy as np
import pytest

from experiments import newcomer
from experiments import newcomer_references as references
from experiments.newcomer_problems import ROWS

WITH_FORMULA = [
    name for name in ROWS if name.endswith("-soft") and isinstance(
        ROWS[name].problem().reference, dict)
]


@pytest.mark.parametrize("name", ROWS)
def test_a_row_is_a_problem_whose_conditions_are_as_its_name_says(name):
    conditions = ROWS[name].problem().conditions
    assert conditions
    assert all(condition.hard == name.endswith("-hard") for condition in conditions)


@pytest.mark.parametrize("name", WITH_FORMULA)
def test_a_formula_satisfies_the_equations_and_conditions_of_its_problem(name, solution_of_formula):
    assert solution_of_formula(ROWS[name].problem()).report.loss < 1e-20


def test_the_layer_of_convection_and_diffusion_satisfies_its_equation():
    problem = ROWS["convection-diffusion-hard"].problem()
    x, h = np.linspace(0.01, 0.99, 50), 1e-4
    before, at, after = (problem.exact({"x": x + k * h})["u"] for k in (-1, 0, 1))
    residual = -0.01 * (after - 2 * at + before) / h**2 + (after - before) / (2 * h) - 1
    assert np.max(np.abs(residual)) < 1e-2  # of terms up to 37, by differences of order 2
    ends = problem.exact({"x": np.array([0.0, 1.0])})["u"]
    assert np.max(np.abs(ends)) < 1e-15


@pytest.mark.parametrize("orbit", [references.lotka_volterra, references.van_der_pol])
def test_an_orbit_does_not_depend_on_the_tolerance(orbit):
    t = np.linspace(0, 10, 101)
    assert np.max(np.abs(orbit()(t) - orbit(1e-10)(t))) < 1e-8


def test_lotka_and_volterras_first_integral_holds():
    x, y = references.lotka_volterra()(np.linspace(0, 10, 101))
    held = x - np.log(x) + 4 / 3 * y - 2 / 3 * np.log(y)
    assert np.max(np.abs(held - held[0])) < 1e-11


def test_allen_cahn_agrees_in_two_resolutions():
    x, t = np.linspace(-1, 1, 41)[:, None], np.linspace(0, 1, 21)
    coarse = references.allen_cahn(255, 250)(x, t)
    fine = references.allen_cahn(511, 500)(x, t)
    assert np.linalg.norm(fine - coarse) < 2e-6 * np.linalg.norm(fine)
    assert np.max(np.abs(fine[[0, -1]] + 1)) < 1e-12
    assert np.max(np.abs(fine[:, 0] - (x**2 * np.cos(np.pi * x))[:, 0])) < 1e-8


def test_schroedinger_agrees_in_two_resolutions_and_with_the_formula_on_the_whole_line():
    x, t = np.linspace(-5, 5, 41)[:, None], np.linspace(0, np.pi / 2, 21)
    coarse = references.schroedinger(512, 400)(x, t)
    fine = references.schroedinger(1024, 800)(x, t)
    above = np.cosh(3 * x) + 3 * np.exp(4j * t) * np.cosh(x)
    below = np.cosh(4 * x) + 4 * np.cosh(2 * x) + 3 * np.cos(4 * t)
    formula = 4 * np.exp(0.5j * t) * above / below
    size = np.linalg.norm(fine)
    assert np.linalg.norm(fine - coarse) < 1e-3 * size
    assert np.linalg.norm(fine - formula) < 1e-5 * size


def test_a_run_writes_its_rows_and_goes_on_with_them(tmp_path, capsys, monkeypatch):
    def refusing():
        raise ValueError("too many operations")

    refused = newcomer.Row("poisson-hard", refusing, 1.0)
    monkeypatch.setitem(newcomer.ROWS, "poisson-hard", refused)
    tiny = ["--seconds", "0.3", "--out", str(tmp_path)]
    assert newcomer.main(["--only", "oscillator-hard", *tiny]) == 0
    (row,) = json.loads((tmp_path / "newcomer.json").read_text())["rows"]
    assert row["name"] == "oscillator-hard" and row["parameters"] > 0
    assert row["ratio"] == row["error"] / row["best"]
    assert newcomer.main(["--only", "poisson-hard", *tiny]) == 0
    results = json.loads((tmp_path / "newcomer.json").read_text())
    assert [r["name"] for r in results["rows"]] == ["oscillator-hard", "poisson-hard"]
    assert results["rows"][0] == row and "operations" in results["rows"][1]["refused"]
    page = (tmp_path / "newcomer.md").read_text()
    assert "| oscillator-hard" in page and "poisson-hard: refused: " in page
    assert newcomer.main(["--only", "wave-hard", "--seed", "1", *tiny]) == 2
    assert "expected results of seed 1" in capsys.readouterr().err
    assert newcomer.main(["--only", "wave-hrad", *tiny]) == 2
    assert "did you mean 'wave-hard'" in capsys.readouterr().err


def test_a_row_is_reached_within_a_factor_and_a_minute():
    assert newcomer._reached(2.9e-5, 1e-5, 60.0) is True
    assert newcomer._reached(3.1e-5, 1e-5, 60.0) is False
    assert newcomer._reached(1e-5, 1e-5, 61.0) is False
    assert newcomer._reached(float("nan"), 1e-5, 60.0) is False
    assert newcomer._reached(1e-5, None, 60.0) is None
