"""The peers' problems: their configs, the formulas that they are compared with, and the table."""

import dataclasses
import json

import numpy as np
import pytest

import autograd as T
import pinn
from experiments import measure
from experiments.case import relative_l2
from experiments.measure import problem as problem_of
from experiments.measure import solve
from experiments.peers import __main__ as program
from experiments.peers import headers, measurements
from experiments.peers import row as row_module
from experiments.peers.problems import f7_helmholtz_search as search
from experiments.peers.references import conduction, evolution, membrane, waves
from experiments.peers.row import PROBLEMS, SHIPPED, Row
from experiments.peers.rows import OWN, ROWS
from experiments.resumable import ROOT, Rows
from pinn.config import load
from pinn.equations.functions import NUMPY_FUNCTIONS
from pinn.equations.term import Term
from pinn.equations.values import Values

WITH_FORMULA = [
    row for row in [*ROWS, *OWN]
    if row.reference is None and isinstance(problem_of(row).reference, dict)
]  # fmt: skip


def test_every_config_or_program_has_a_row_and_every_row_one_of_them():
    every = [*ROWS, *OWN]
    files = {*PROBLEMS.glob("*.yaml"), *PROBLEMS.glob("*.py"), *SHIPPED.glob("*.yaml")}
    assert {row.file for row in every} == files
    assert len({row.id for row in every}) == len({row.file for row in every}) == len(every)


@pytest.mark.parametrize("row", [*ROWS, *OWN], ids=lambda row: row.id)
def test_a_row_is_compared_with_a_formula_or_with_something_computed(row):
    assert (problem_of(row).reference is None) == (row.reference is not None)


@pytest.mark.parametrize("row", WITH_FORMULA, ids=lambda row: row.id)
def test_a_formula_satisfies_the_equations_and_conditions_of_its_problem(
    row, solution_of_formula
):
    solution = solution_of_formula(problem_of(row))
    # Of terms of up to 1e4, to rounding. Fractional powers of what does not leave the boundary as
    # the theory says, x^3 (1 - x)^3, are good to 1e-4 of their size of 0.2 by 20 nodes.
    rounded = row.id not in ("F30", "F33")
    assert solution.report.loss < (1e-16 if rounded else 1e-9)


def test_the_error_is_relative_to_the_reference_and_may_leave_out_the_mean():
    exact = np.array([1.0, 2.0, 3.0])
    assert relative_l2(exact * 1.01, exact) == pytest.approx(0.01)
    assert relative_l2(exact + 5, exact, up_to_constant=True) < 1e-15
    assert relative_l2(exact + 5, exact) == pytest.approx(5 * np.sqrt(3 / 14))


def config(name):
    return problem_of(next(row for row in ROWS if row.name == name))


def test_the_waves_of_the_config_are_those_of_the_reference(exact):
    problem = config("p2_burgers_plane")
    x, y = np.random.default_rng(0).random((2, 50)) * 4
    formula = exact(dataclasses.replace(problem, reference={
        condition.unknown: condition.value for condition in problem.conditions
        if isinstance(condition, pinn.Initial)
    }))  # fmt: skip
    points = T.tensor(np.stack([x, y, np.zeros(50)], axis=1), dtype=T.float64)
    with T.no_grad():
        assert np.abs(formula(points).numpy() - waves.start(x, y).T).max() < 1e-14


def test_the_two_media_of_the_config_are_those_of_the_reference():
    scope = config("p15_wave_two_media").scope.of_values()
    x, y = 2 * np.random.default_rng(0).random((2, 200)) - 1
    values = Values({"x": x, "y": y, "t": 0 * x}, {})
    found = Term("c", "where(fast, 1, 0)", scope).evaluate(values, NUMPY_FUNCTIONS)
    assert 0 < found.sum() < 200 and (found == membrane.fast(x, y)).all()


def test_the_tables_of_random_coefficients_are_their_formulas():
    rng = np.random.default_rng(0)
    blocks = measurements.blocks()
    x, y = rng.random((2, 50)) * 20 - 10
    place = tuple(np.floor((points + 10) / 4).astype(int) for points in (x, y))
    for table in config("p6_poisson_blocks").tables:
        assert table.at(x, y) == pytest.approx(blocks[table.value][place], rel=1e-9)
    x, y = rng.random((2, 50))
    (table,) = config("p7_heat_random_coefficient").tables
    assert table.at(x, y) == pytest.approx(measurements.diffusivity(x, y), rel=1e-4)


def slope(u, h, axis, order=1):
    """Central differences of order 4; two values at either end are lost, along every axis."""
    weights = {1: (1, -8, 0, 8, -1), 2: (-1, 16, -30, 16, -1)}[order]
    inner = [slice(2, -2)] * u.ndim
    total = 0
    for k, weight in enumerate(weights):
        inner[axis] = slice(k, u.shape[axis] - 4 + k)
        total = total + weight * u[tuple(inner)]
    return total / (12 * h**order)


def test_heat_with_a_random_coefficient_satisfies_its_equation():
    u, h = conduction._table(24), 1 / 32
    t, x, y = np.meshgrid(conduction._TIMES, conduction._SHOWN, conduction._SHOWN, indexing="ij")
    source = 200 * np.sin(np.pi * x) * np.sin(5 * np.pi * y) * np.sin(np.pi * t)
    laplacian = slope(u, h, 1, 2) + slope(u, h, 2, 2)
    inner = (slice(2, -2),) * 3
    spread = measurements.diffusivity(x, y)[inner] * laplacian
    left = slope(u, 0.1, 0) - spread - source[inner]
    # Five half waves of the source by four of the coefficient are known to (9 pi h)^4 / 90.
    assert np.abs(left).max() < 7e-3 * 200


def test_burgers_equations_in_the_plane_hold_for_their_reference():
    found = waves._table(64, 40)
    u, v = (found[name].reshape(11, 32, 32) for name in "uv")
    inner = (slice(2, -2),) * 3
    for w in (u, v):
        rate, along_x, along_y = slope(w, 0.1, 0), slope(w, 1 / 8, 1), slope(w, 1 / 8, 2)
        bent = slope(w, 1 / 8, 1, 2) + slope(w, 1 / 8, 2, 2)
        carried = u[inner] * along_x + v[inner] * along_y
        # At t = 0.2: three waves on 32 points are known to (3 pi / 16)^4 / 30, 4e-3 of the slope.
        left = (rate + carried - 1e-3 * bent)[0]
        assert np.abs(left).max() < 0.03 * np.abs(carried[0]).max()


def test_the_plate_of_blocks_satisfies_its_equation_and_leaves_through_its_sides():
    blocks = pytest.importorskip("experiments.peers.references.blocks")  # has finite elements
    solved, h = blocks._solved(6), 0.2
    x, y = np.meshgrid(np.arange(-4, 5) * h, np.arange(-4, 5) * h, indexing="ij")
    table = measurements.blocks()
    for i, j in ((0, 0), (2, 3), (4, 1)):
        place = np.array([(x + 4 * i - 8).ravel(), (y + 4 * j - 8).ravel()])
        u = solved(place).reshape(9, 9)
        bump = (np.cos(np.pi * x / 4) * np.cos(np.pi * y / 4))[2:-2, 2:-2]
        source = table["c0"][i, j] + table["c1"][i, j] * bump
        bent = slope(u, h, 0, 2) + slope(u, h, 1, 2)
        assert np.abs(bent + source / table["a"][i, j]).max() < 0.01 * source.max()
    near = np.array([[-10.0, -9.9, -9.8], [1.0, 1.0, 1.0]])
    u = solved(near)
    assert (-3 * u[0] + 4 * u[1] - u[2]) / 0.2 == pytest.approx(u[0], rel=0.01)


def test_two_resolutions_of_an_evolution_agree():
    reference = evolution.lotka_volterra()
    assert reference.agreement < 1e-8
    held = 80 * reference.values["r"] - 21.2 * np.log(reference.values["r"])
    held += 160 * reference.values["p"] - 40 * np.log(reference.values["p"])
    assert np.ptp(held) < 1e-9


def test_a_row_is_measured_written_and_kept(tmp_path, capsys):
    arguments = ["--only", "F17", "--seconds", "0.5", "--out", str(tmp_path)]
    assert program.main(arguments) == 0
    (row,) = json.loads((tmp_path / "peers.json").read_text())["rows"]
    assert row["name"] == "f17_poisson_neumann" and row["error"] == row["errors"]["u"] > 0
    assert row["measured"]["command"] == "python -m experiments.peers --seconds 0.5 --seed 0"
    assert "| F17 | Poisson 1-D, Neumann |" in (tmp_path / "peers.md").read_text()
    assert (tmp_path / "peers" / "F17_u.png").stat().st_size > 1000
    capsys.readouterr()
    assert program.main(["--only", "F17x", "--out", str(tmp_path)]) == 2
    assert "got 'F17x'; did you mean 'F17'" in capsys.readouterr().err


def test_a_search_goes_on_with_the_candidate_of_the_lowest_loss_on_fresh_points(monkeypatch):
    trials, trial = [], search.trial
    monkeypatch.setattr(search, "trial", lambda *given: trials.append(trial(*given)) or trials[-1])
    candidates = [(pinn.MLP(4, 1), 1e-6), (pinn.MLP(8, 2, "sin"), 1e-2), (pinn.MLP(6, 1), 1e-6)]
    monkeypatch.setattr(search, "CANDIDATES", candidates)
    row = next(row for row in ROWS if row.id == "F7")
    with pytest.warns(pinn.UnsolvedWarning):
        solution = solve(row, 0.5, 0)
    best = min(trials, key=lambda found: found.report.fresh_loss)
    assert [found.experiment.model for found in trials] == [model for model, _ in candidates]
    assert solution.experiment.model == best.experiment.model


def test_a_config_with_a_limit_of_its_own_takes_no_longer_than_that():
    row = next(row for row in OWN if row.config == "two_media")
    own = load(row.file).experiment.seconds
    assert measure.limit(row, 120.0) == own and measure.limit(row, 2.0) == 2.0
    unlimited = next(row for row in ROWS if row.config == "burgers")
    assert measure.limit(unlimited, 120.0) == 120.0


def facts_of(row, **errors):
    error, measured = max(errors.values()), {"machine": {"cores": 2}}
    facts = {"name": row.name, "errors": errors, "error": error}
    return {**facts, "seconds": 20.2, "measured": measured}


def test_the_header_of_a_config_says_what_was_measured(tmp_path, monkeypatch):
    monkeypatch.setattr(row_module, "SHIPPED", tmp_path)
    plain = Row("f1_a", "", config="a")
    coefficients = Row("i1_b", "", truth={"C": 1, "D": 2}, config="b")
    (tmp_path / "a.yaml").write_text("# A problem.\n#\n# More.\n\nproblem: {} # error: x\n")
    (tmp_path / "b.yaml").write_text("# error: 1.0e-1, of long ago\nproblem: {}\n")
    table = [facts_of(plain, u=1.234e-5), facts_of(coefficients, C=2e-3, D=1e-10)]
    assert headers.write_headers([plain, coefficients, Row("f2_c", "", config="c")], table) == [
        plain.file, coefficients.file
    ]
    assert plain.file.read_text() == (
        "# A problem.\n#\n# More.\n# error: 1.2e-5 relative L2, after 20 s (2 cores)\n\n"
        "problem: {} # error: x\n"
    )
    assert coefficients.file.read_text() == (
        "# error: 2.0e-3 of C, the worst coefficient, after 20 s (2 cores)\nproblem: {}\n"
    )
    assert headers.write_headers([plain, coefficients], table) == []
    several = headers.header_line(plain, facts_of(plain, u=1e-9, p=3e-6))
    assert several == "# error: 3.0e-6 relative L2 of p, the worst, after 20 s (2 cores)"


@pytest.mark.parametrize(
    "row", [row for row in [*ROWS, *OWN] if row.config], ids=lambda row: row.config
)
def test_the_headers_that_ship_agree_with_the_table(row):
    """What differs is written by python -m experiments.peers --headers."""
    table = Rows(ROOT / "experiments" / "results" / "peers.json", [row.name]).rows
    expected = headers.header_line(row, table[0]) if table else None
    assert headers.line_of(row.file) == expected


def test_two_processes_that_measure_side_by_side_keep_the_rows_of_each_other(tmp_path):
    one, other = (Rows(tmp_path / "rows.json", ["a", "b", "c"]) for _ in range(2))
    one.put({"name": "b", "error": 1.0}, "first")
    other.put({"name": "a", "error": 2.0}, "second")
    one.put({"name": "b", "error": 3.0}, "third")
    kept = Rows(tmp_path / "rows.json", ["a", "b", "c"]).rows
    assert [(row["name"], row["error"]) for row in kept] == [("a", 2.0), ("b", 3.0)]
    assert not Rows(tmp_path / "rows.json", ["a"], anew=True).rows
