"""The accuracy suite: its configs, what they are compared with, verdicts and the results files."""

import dataclasses
import json
import math
import subprocess
import sys

import numpy as np
import pytest

import autograd as T
import pinn
from experiments import stored
from experiments.case import Reference
from experiments.measure import estimated as estimated_of
from experiments.measure import left_to_auto as declared_auto
from experiments.measure import network
from experiments.measure import problem as problem_of
from experiments.resumable import ROOT
from experiments.suite import __main__ as program
from experiments.suite.entries import ENTRIES
from experiments.suite.entry import PROBLEMS, Entry
from experiments.suite.page import markdown
from experiments.suite.references import waves
from experiments.suite.verdict import (
    estimate_of,
    left_to_auto,
    summaries,
    summary,
    told_apart,
    verdicts,
)

BY_NAME = {entry.name: entry for entry in ENTRIES}
WITH_FORMULA = [
    entry for entry in ENTRIES
    if entry.reference is None and isinstance(problem_of(entry).reference, dict)
    and set(problem_of(entry).unknowns) <= set(problem_of(entry).reference)
]  # fmt: skip


def test_every_config_or_program_has_an_entry_and_every_entry_one_of_them():
    files = {*PROBLEMS.glob("*.yaml"), *PROBLEMS.glob("[!_]*.py")}
    assert {entry.file for entry in ENTRIES} == files
    assert len(BY_NAME) == len(files) == len(ENTRIES)
    assert [entry.number for entry in ENTRIES] == sorted(entry.number for entry in ENTRIES)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_an_entry_is_compared_with_a_formula_or_with_something_computed(entry):
    problem = problem_of(entry)
    assert (problem.reference is None) == (entry.reference is not None)


@pytest.mark.parametrize("entry", WITH_FORMULA, ids=lambda entry: entry.name)
def test_a_formula_satisfies_the_equations_and_conditions_of_its_problem(
    entry, solution_of_formula
):
    solution = solution_of_formula(problem_of(entry))
    assert max(solution.report.residual.values()) < 1e-12


def test_the_string_satisfies_the_equation_of_what_is_added_to_its_start(solution_of_formula):
    problem = problem_of(BY_NAME["wave"])
    # cos(5 a) - 1 is (c - 1) (4 c^2 + 2 c - 1)^2 of c = cos(a).
    added = "-2*sin(pi*x) - sin(5*pi*x)*(4*cos(2*pi*t)**2 + 2*cos(2*pi*t) - 1)**2"
    assert set(problem.reference) == {"u"}
    conditions = [one for one in problem.conditions if isinstance(one, pinn.Dirichlet)]
    problem = dataclasses.replace(problem, reference={"w": added}, conditions=conditions)
    solution = solution_of_formula(problem)
    assert max(solution.report.residual.values()) < 1e-12
    x, t = 0.3, np.array([0.1, 0.6])
    given = problem_of(BY_NAME["wave"]).exact({"x": x + 0 * t, "t": t})["u"]
    assert solution.evaluate(x=x, t=t)["u"] == pytest.approx(given, abs=1e-12)


def slope_in_time(u, h):
    """Central differences of order 8 along the first axis; four rows at either end are lost."""
    weights = (4 / 5, -1 / 5, 4 / 105, -1 / 280)
    n = len(u)
    return sum(
        w * (u[4 + k : n - 4 + k] - u[4 - k : n - 4 - k]) for k, w in enumerate(weights, 1)
    ) / h  # fmt: skip


def test_kdv_satisfies_its_equation_and_keeps_its_invariants():
    u = waves.kdv_table(512, 1600, kept=400, end=0.4)
    a, k = np.fft.rfft(u), np.pi * np.arange(257)
    bent = np.fft.irfft((1j * k) ** 3 * a)
    steep = np.fft.irfft(1j * k * a)
    left = slope_in_time(u, 1e-3) + (u * steep + 0.022**2 * bent)[4:-4]
    assert np.abs(left).max() < 1e-7 * np.abs(steep).max()
    held = [u.mean(axis=1), (u**2).mean(axis=1)]
    held += [(u**3 / 3 - 0.022**2 * steep**2).mean(axis=1)]
    assert max(np.ptp(one) for one in held) < 1e-9


def test_kdv_moves_a_soliton_as_its_formula_says_to_fourth_order_of_the_step():
    d, c = 0.022, 0.5

    def soliton(x):
        return 3 * c / np.cosh(np.sqrt(c) / (2 * d) * ((x + 1) % 2 - 1)) ** 2

    x = -1 + 2 * np.arange(256) / 256
    exact = soliton(x - c * 0.5)
    coarse, fine = (
        np.linalg.norm(waves.kdv_table(256, steps, 1, 0.5, soliton)[1] - exact)
        for steps in (500, 1000)
    )
    assert fine < 1e-7 * np.linalg.norm(exact) and 14 < coarse / fine < 18


def test_kdv_agrees_in_two_resolutions():
    coarse, fine = waves.kdv_table(384, 1600), waves.kdv_table(512, 3200)
    difference = coarse[:, ::3] - fine[:, ::4]
    assert np.linalg.norm(difference) < 1e-6 * np.linalg.norm(fine[:, ::4])


def test_allen_cahn_agrees_in_space_in_time_and_at_the_kink():
    fine = waves.allen_cahn_table(1024, 16, 8)
    size = np.linalg.norm(fine)
    assert np.linalg.norm(fine - waves.allen_cahn_table(2048, 16, 8)[:, ::2]) < 1e-11 * size
    size = np.linalg.norm(fine[:, ::4])
    one, two, four = (waves.allen_cahn_table(256, steps) for steps in (64, 128, 256))
    assert np.linalg.norm(two - waves.allen_cahn_table(256, 128, 13)) < 1e-11 * size
    first, second = np.linalg.norm(one - two), np.linalg.norm(two - four)
    assert second < 1e-9 * size and 14 < first / second < 18


def test_allen_cahn_satisfies_its_equation():
    u = waves.allen_cahn_table(512, 64, 10)[8:]  # layers have formed that 1/64 of time resolves
    a = np.fft.rfft(np.hstack([u, u[:, -2:0:-1]]))
    bent = np.fft.irfft(-((np.pi * np.arange(513)) ** 2) * a)
    rate = 1e-4 * bent[:, :513] + 5 * u - 5 * u**3
    left = slope_in_time(u, 1 / 64) - rate[4:-4]
    assert np.abs(left).max() < 1e-6 * np.abs(rate).max()


class Nothing(T.nn.Module):
    """A network that is zero, and has a parameter."""

    def __init__(self):
        super().__init__()
        self.factor = T.nn.Parameter(T.zeros((), dtype=T.float64))

    def forward(self, points):
        return self.factor * points[:, :1]


def test_allen_cahn_begins_exactly_and_loses_its_kink_as_a_fine_solver_does():
    problem = problem_of(BY_NAME["allen_cahn"])
    with pytest.warns(pinn.UnsolvedWarning):
        solution = pinn.solve(
            problem, Nothing(), pinn.Sampling(20), [pinn.Adam(steps=1, learning_rate=1e-300)],
            derivatives="nested", engine="eager",
        )
    x = np.linspace(-1, 1, 101)
    start = solution.evaluate(x=x, t=0.0)["u"]
    assert np.abs(start - x**2 * np.cos(np.pi * x)).max() < 2e-7
    near = 1 - np.array([0.0, 1e-4, 2e-4, 3e-4])
    u = solution.evaluate(x=near, t=0.1)["u"]
    assert abs(np.array([-11, 18, -9, 2]) @ u) < 6e-4 * 1e-3  # no slope: 6 h times it
    # Beside the kink, where u + 1 is small, a network that is zero is the solution already.
    table = waves.allen_cahn_table(2048, 16, 13)
    place = slice(-13, None)
    x, t = np.linspace(0, 1, 2049)[place], 1 / 64
    exact = table[1, place]
    still = solution.evaluate(x=x, t=t)["u"]
    spread = np.abs(exact - (x**2 * np.cos(np.pi * x) + 1) * np.exp(-10 * t) + 1).max()
    assert np.abs(still - exact).max() < 0.1 * spread


def test_the_smooth_burgers_equation_is_what_the_formula_answers():
    problem = problem_of(BY_NAME["burgers_smooth"])
    x = np.linspace(-1, 1, 1025)[:-1, None]
    t = 0.5 + 1e-3 * np.arange(9)
    u = problem.exact({"x": x + 0 * t, "t": t + 0 * x})["u"].T
    k = np.pi * np.arange(513)
    steep, bent = (np.fft.irfft((1j * k) ** n * np.fft.rfft(u)) for n in (1, 2))
    left = slope_in_time(u, 1e-3) + (u * steep - 0.01 * bent)[4:-4]
    assert np.abs(left).max() < 1e-9 * np.abs(bent).max()


def test_a_computed_reference_is_on_the_domain_of_its_problem():
    for name, made in (
        ("kdv", waves.kdv_of((128, 640), (256, 1280))),
        ("allen_cahn", waves.allen_cahn_of((256, 32), (512, 32))),
    ):
        domain = problem_of(BY_NAME[name]).domain
        points = np.stack([made.points[one] for one in domain.coordinates], axis=1)
        assert domain.contains(points).all() and len(points) == len(made.values["u"])
        start = made.points["t"] == 0
        x, u = made.points["x"][start], made.values["u"][start]
        exact = np.cos(np.pi * x) * (x**2 if name == "allen_cahn" else 1)
        assert np.abs(u - exact).max() < 1e-14


def test_a_reference_is_kept_and_computed_anew_where_its_file_is_damaged(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    calls = []

    @stored.stored
    def line():
        calls.append(1)
        x = np.linspace(0, 1, 3)
        return Reference({"x": x}, {"u": 2 * x, "v": 3 * x}, 1e-9, "a line")

    first, second = line(), line()
    assert len(calls) == 1 and second.method == "a line" and second.agreement == 1e-9
    assert list(second.values) == ["u", "v"] and (second.values["v"] == first.values["v"]).all()
    (file,) = (tmp_path / "pinn-references").iterdir()
    file.write_bytes(file.read_bytes()[:40])
    assert line().method == "a line" and len(calls) == 2


def run(name, seed, error, budget=300.0):
    stages = [{"name": "adam", "steps": 5, "seconds": 1.0, "reason": "steps done", "loss": 1.0,
               "fresh_loss": None}]  # fmt: skip
    return {
        "name": name, "seed": seed, "budget_seconds": budget, "error": error,
        "errors": {"u": error}, "seconds": 10.0 + seed, "cpu_seconds": 12.0, "reference": "formula",
        "reference_agreement": None, "network": "mlp 3x20", "parameters": 921, "stages": stages,
        "setbacks": [], "warnings": [], "stop_reason": "time limit",
        "measured": {"command": "a", "machine": {"cpu": "c", "cores": 2}, "versions": {},
                     "executor": "numpy"},
    }  # fmt: skip


def failed(name, seed):
    kept = run(name, seed, None)
    kept = {key: kept[key] for key in ("name", "seed", "budget_seconds", "measured")}
    return {**kept, "failed": "ValueError: no such thing"}


def test_an_entry_is_as_good_as_the_median_of_its_seeds():
    entry = Entry("a", 1, "A", {300.0: 1e-6, 1800.0: 1e-8})
    three = [run("a", 0, 1e-5), run("a", 1, 1e-9), run("a", 2, 9e-7)]
    line = summary(entry, 300.0, three)
    assert (line["error"], line["worst"], line["seconds"]) == (9e-7, 1e-5, 11.0)
    assert line["reached"] and line["goal"] == 1e-6 and line["seeds"] == [0, 1, 2]
    assert not summary(entry, 1800.0, three)["reached"]
    assert summary(entry, 60.0, three)["goal"] == 1e-6
    two = [run("a", 0, 1e-5), run("a", 1, 1e-9)]
    assert summary(entry, 300.0, two)["error"] == 1e-5


def test_what_failed_or_is_no_number_counts_as_the_worst():
    entry = Entry("a", 1, "A", {300.0: 1e-6})
    line = summary(entry, 300.0, [run("a", 0, 1e-7), run("a", 1, math.nan), failed("a", 2)])
    assert line["error"] is None and line["worst"] is None and not line["reached"]
    line = summary(entry, 300.0, [run("a", 0, 1e-7), run("a", 1, 1e-8), failed("a", 2)])
    assert line["error"] == 1e-7 and line["worst"] is None and line["reached"]


def test_a_problem_is_as_good_as_the_worst_of_its_variants():
    entries = [Entry("a", 1, "A", {300.0: 1e-6}), Entry("b", 2, "B 40", {300.0: 1e-6}),
               Entry("c", 2, "B 80", {300.0: 1e-6})]  # fmt: skip
    runs = [run("a", 0, 1e-7), run("b", 0, 1e-7)]
    assert verdicts(summaries(entries, runs), entries) == {1: True}
    runs.append(run("c", 0, 1e-5))
    lines = summaries(entries, runs)
    assert verdicts(lines, entries) == {1: True, 2: False}
    page = markdown(entries, [*runs, failed("c", 1)])
    assert "1 of 2 problems measured reach their goal" in page
    assert "c, 300 s, seed 1: ValueError: no such thing" in page
    assert "adam 5 steps in 1 s (steps done, loss 1, on fresh points -)" in page


def test_a_problem_is_left_to_auto_where_all_of_its_variants_are():
    entries = [Entry("a", 1, "A", {300.0: 1e-6}), Entry("b", 2, "B 40", {300.0: 1e-6}),
               Entry("c", 2, "B 80", {300.0: 1e-6})]  # fmt: skip
    both = {"auto": ["model", "stages"]}
    runs = [run("a", 0, 1e-7) | both, run("b", 0, 1e-7) | both,
            run("c", 0, 1e-7) | {"auto": ["stages"]}]  # fmt: skip
    assert left_to_auto(summaries(entries, runs)) == {"model": [1], "stages": [1, 2]}
    assert left_to_auto(summaries(entries, [run("a", 0, 1e-7)])) == {"model": [], "stages": []}
    page = markdown(entries, runs)
    assert "in 1 problems (1), the stages of training (0036) in 2 problems (1, 2)" in page
    none = markdown(entries, [run("a", 0, 1e-7) | {"auto": []}])
    assert "in none, the stages of training (0036) in none" in none
    assert "0036" not in markdown(entries, [failed("a", 0)])  # not known


def test_what_a_config_leaves_to_auto():
    named = {entry.name: entry for entry in ENTRIES}
    assert declared_auto(named["poisson_2d"]) == ["model", "stages"]
    assert declared_auto(named["reaction"]) == ["stages"]
    assert declared_auto(named["poisson_100d"]) == []
    assert sum(declared_auto(entry) == ["model", "stages"] for entry in ENTRIES) >= 12


def estimated(name, seed, error, estimate, trusted=True, unknown="u"):
    doubts = [] if trusted else ["93% of the residual is left"]
    found = {"errors": {unknown: estimate}, "trusted": trusted, "unexplained": 0.1,
             "doubts": doubts, "remarks": [], "seconds": 1.5}  # fmt: skip
    return {**run(name, seed, error), "estimate": found}


def test_estimates_stand_beside_the_errors_and_are_counted():
    entries = [Entry("a", 1, "A", {300.0: 1e-6}), Entry("b", 2, "B", {300.0: 1e-6})]
    runs = [
        estimated("a", 0, 1e-7, 2.9e-7), estimated("a", 1, 1e-7, 0.34e-7),
        estimated("a", 2, 2e-7, 0.1e-7, trusted=False),  # warned of
        estimated("b", 0, 1e-7, 0.09e-7), estimated("b", 1, 1e-8, 1e-7, trusted=False),
        run("b", 2, 1e-9), failed("b", 3),
    ]  # fmt: skip
    assert told_apart(runs) == {"runs": 5, "within": 2, "silent": 1}
    known = [{**one, "reference_agreement": 1.5e-7} for one in runs]  # to a digit or less
    assert told_apart(known) == {"runs": 1, "within": 0, "silent": 0}
    one, other = summaries(entries, runs)
    assert (one["error"], one["estimate"], one["trusted"]) == (1e-7, 0.34e-7, True)
    assert (other["error"], other["estimate"], other["trusted"]) == (1e-7, 0.09e-7, True)
    page = markdown(entries, runs)
    assert "within a factor 3 of the true error in 2 of 5 runs; in 1 it is below a tenth" in page
    assert "u 2e-07 (formula); estimated u 1e-08 in 1.5 s; not to be trusted: 93% of the" in page
    (line,) = (line for line in markdown(entries[:1], runs[2:3]).splitlines() if "| A" in line)
    assert [cell.strip() for cell in line.split("|")[8:11]] == ["2e-07", "1e-08 ?", "2e-07"]


def test_runs_without_an_estimate_are_printed_as_they_are():
    entries = [Entry("a", 1, "A", {300.0: 1e-6})]
    page = markdown(entries, [run("a", 0, 1e-7)])
    assert "The estimate is within" not in page and "u 1e-07 (formula); adam" in page
    broken = {**run("a", 0, 1e-7), "estimate": {"failed": "RuntimeError: no"}}
    assert "no estimate: RuntimeError: no" in markdown(entries, [broken])
    (line,) = summaries(entries, [broken])
    assert (line["estimate"], line["trusted"]) == (None, None)


def test_the_estimate_is_that_of_the_unknown_with_the_worst_error():
    both = estimated("a", 0, 1e-3, 0.5)
    both["errors"] = {"v": 1e-3, "u": 1e-4}
    both["estimate"]["errors"] = {"u": 0.5, "v": 0.002}
    assert estimate_of(both) == (0.002, True)
    both["estimate"]["errors"] = {"u": 0.5, "w": None}  # none of that name: the worst there is
    assert estimate_of(both) == (0.5, True)
    assert estimate_of({**both, "estimate": {**both["estimate"], "errors": {}}}) is None


def test_what_a_solution_says_of_its_errors():
    """Of a pressure without its mean, as the true error is; of a coefficient with its noise."""
    case = dataclasses.replace(BY_NAME["kovasznay_viscosity"], truth={"nu": 0.05, "mu": 1.0})

    class Field:
        def evaluate(self, points):
            return {"p": 0.1 * np.sin(points["x"]) + 7}

        def expressions(self, expressions, coordinates, stacklevel):
            return [{"nu": -0.003, "mu": 0.0}[one] for one in expressions]

    class Solution:
        parameters = {"nu": 0.04, "mu": 1.0}
        report = pinn.Report("", "", 0.0, {}, 0.0, 0, recovery=pinn.solution.Recovery({"nu": 0.01}))

        def error_estimate(self):
            return pinn.estimates.ErrorEstimate({"u": 0.05, "p": 0.4}, error=Field(), seconds=2.0)

        def evaluate(self, **points):
            return {"p": np.cos(points["y"])}

    found = estimated_of(case, Solution())
    points = case.reference().points
    present = np.cos(points["y"])
    better = present + 0.1 * np.sin(points["x"])
    size = np.linalg.norm(better - better.mean())
    off = 0.1 * np.sin(points["x"])
    expected = np.linalg.norm(off - off.mean()) / size
    nu = math.hypot(0.003, 0.01) / 0.04
    assert found["errors"] == {"u": 0.05, "p": pytest.approx(expected), "nu": pytest.approx(nu)}
    assert found["trusted"] and found["seconds"] == 2.0 and found["doubts"] == []

    class Without(Solution):
        def error_estimate(self):
            raise RuntimeError("a function")

    assert estimated_of(case, Without()) == {"failed": "RuntimeError: a function"}


def test_runs_are_measured_written_kept_and_measured_again_when_asked(tmp_path, capsys):
    arguments = ["--only", "9", "--budget", "0.3", "--out", str(tmp_path)]
    assert program.main([*arguments, "--seeds", "0"]) == 0
    assert program.main([*arguments, "--seeds", "0,1"]) == 0
    told = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in told] == ["reaction, seed 0", "reaction, seed 1"]
    found = json.loads((tmp_path / "suite.json").read_text())
    assert [(row["name"], row["seed"]) for row in found["rows"]] == [
        ("reaction", 0), ("reaction", 1)
    ]  # fmt: skip
    (line,) = found["entries"]
    assert found["reached"] == [{"budget_seconds": 0.3, "problems": {"9": False}}]
    assert line["goal"] == 1e-8 and line["budget_seconds"] == 0.3 and line["seeds"] == [0, 1]
    assert line["network"].startswith("mlp 3x20, features [2*((x - pi)/pi)**2 - 1, t")
    row = found["rows"][1]
    assert set(row["estimate"]["errors"]) == {"u"} and row["estimate"]["seconds"] > 0
    assert row["parameters"] == 921 and row["measured"]["blas_kernels"] and row["stages"]
    assert "| 9 | Reaction" in (tmp_path / "suite.md").read_text()
    assert program.main([*arguments, "--seeds", "0", "--anew"]) == 0
    assert "reaction, seed 0" in capsys.readouterr().out
    assert program.main(["--only", "reactio", "--out", str(tmp_path)]) == 2
    assert "did you mean 'reaction'" in capsys.readouterr().err


def test_runs_side_by_side_are_those_of_the_command_line(tmp_path):
    """In a process of its own: the module of a command is none that others can import."""
    arguments = ["--only", "4", "--budget", "0.1", "--seeds", "0", "--jobs", "2"]
    command = [sys.executable, "-m", "experiments.suite", *arguments, "--out", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (row,) = json.loads((tmp_path / "suite.json").read_text())["rows"]
    assert row["threads"] == 1 and row["measured"]["command"].endswith("--jobs 2")


def test_an_interrupted_run_is_no_result(tmp_path, monkeypatch, capsys):
    class Interrupted:
        report = pinn.solution.report.Report(
            stop_reason="interrupted", message="", loss=1.0, losses={}, wall_seconds=1.0, steps=1
        )

    monkeypatch.setattr("experiments.measure.solve", lambda *_: Interrupted())
    arguments = ["--only", "multiscale", "--seeds", "0", "--out", str(tmp_path)]
    assert program.main(arguments) == 130
    assert "the same command goes on" in capsys.readouterr().err
    assert not (tmp_path / "suite.json").exists()


def test_what_goes_wrong_stays_in_the_table(tmp_path, monkeypatch):
    def lost(*_):
        raise RuntimeError("lost its way")

    monkeypatch.setattr("experiments.measure.solve", lost)
    arguments = ["--only", "multiscale", "--seeds", "0", "--out", str(tmp_path)]
    assert program.main(arguments) == 0
    (row,) = json.loads((tmp_path / "suite.json").read_text())["rows"]
    assert row["failed"] == "RuntimeError: lost its way"


def test_a_model_is_told_in_a_few_words():
    assert network(pinn.MLP()) == "mlp 3x20"
    assert network(pinn.MLP(width=[10, 30], activation="sin")) == "mlp 10-30, activation sin"
    embedded = pinn.MLP(embedding=[pinn.PeriodicEmbedding("t", period=0.5)])
    assert network(embedded) == "mlp 3x20, embedding [{periodic: {coordinate: t, period: 0.5, " \
        "harmonics: 1}}]"
