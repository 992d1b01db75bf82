"""pinn.sweep and pinn.ensemble: what the command does, for problems of Python."""

from pathlib import Path

import numpy as np
import pytest

import pinn

SETTINGS = {
    "model": pinn.MLP(width=4, depth=1), "sampling": pinn.Sampling(20, 5, 5),
    "training": [pinn.Adam(steps=3)],
}  # fmt: skip


def heat(**changes):
    arguments = {
        "domain": pinn.Interval("x", 0, 1) * pinn.Time("t", 0, 1), "unknowns": ["u"],
        "equations": {"heat": "u_t - 0.1*u_xx"}, "name": "heat",
        "conditions": [pinn.Initial("u", "sin(pi*x)"), pinn.Dirichlet("u", 0)],
    }  # fmt: skip
    return pinn.Problem(**{**arguments, **changes})


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_runs_have_the_bits_of_solve_and_a_directory_each():
    told = []
    found = pinn.sweep(
        heat(), **SETTINGS, tell=told.append,
        grid={"model.width": [3, 5], "training.0.steps": np.array([2, 4])},
    )  # fmt: skip
    assert found.names == ["width", "steps"] and found.codes == [0, 0, 0, 0]
    assert [list(texts) for texts in found.values] == [
        ["3", "2"], ["3", "4"], ["5", "2"], ["5", "4"]
    ]  # fmt: skip
    assert [str(run.directory) for run in found.runs] == [
        f"runs/heat-sweep/width={width}_steps={steps}" for width in "35" for steps in "24"
    ]
    for run, (width, steps) in zip(found.runs, [(3, 2), (3, 4), (5, 2), (5, 4)], strict=True):
        given = {"model": pinn.MLP(width=width, depth=1), "training": [pinn.Adam(steps=steps)]}
        alone = pinn.solve(heat(), **{**SETTINGS, **given})
        assert np.array_equal(pinn.load(run.directory).theta, alone.theta)
    table = str(found).splitlines()
    assert [line.split()[:2] for line in table] == [["width", "steps"], *found.values]
    assert told[0] == "runs/heat-sweep/width=3_steps=2 (1 of 4): begins"
    assert len(told) == 8


def test_what_has_ended_is_not_trained_again():
    given = {**SETTINGS, "out": "all"}
    pinn.sweep(heat(), **given, grid={"seed": [0, 1]})
    times = {path: path.stat().st_mtime_ns for path in Path("all").rglob("solution.npz")}
    told = []
    found = pinn.sweep(heat(), **given, grid={"seed": range(3)}, tell=told.append)
    assert found.codes == [0, 0, 0]
    assert {line.split()[0] for line in told} == {"all/seed=2"}
    assert all(path.stat().st_mtime_ns == time for path, time in times.items())
    with pytest.raises(ValueError, match="is of another run: sampling.interior is"):
        pinn.sweep(heat(), **{**given, "sampling": pinn.Sampling(21, 5, 5)}, grid={"seed": [0]})


def test_an_executor_of_any_kind_does_the_runs():
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(3) as executor:
        found = pinn.sweep(heat(), **SETTINGS, grid={"seed": range(3)}, executor=executor)
    assert found.codes == [0, 0, 0]
    for seed, run in enumerate(found.runs):
        alone = pinn.solve(heat(), **SETTINGS, seed=seed)
        assert np.array_equal(pinn.load(run.directory).theta, alone.theta)


def test_an_ensemble_has_a_run_for_each_seed():
    found = pinn.ensemble(heat(), **SETTINGS, seeds=[5, 2])
    assert {path.name for path in Path("runs/heat-ensemble").iterdir()} == {"seed=5", "seed=2"}
    for seed, solution in zip((5, 2), found.solutions, strict=True):
        alone = pinn.solve(heat(), **SETTINGS, seed=seed)
        assert np.array_equal(solution.theta, alone.theta)
    again = pinn.ensemble(heat(), **SETTINGS, seeds=2)
    assert [one.experiment.seed for one in again.solutions] == [0, 1]


def test_runs_that_diverge_are_no_part_of_an_ensemble():
    wild = {**SETTINGS, "training": [pinn.Adam(steps=9, learning_rate=1e300)]}
    found = pinn.sweep(heat(), **wild, grid={"seed": [0, 1]}, out="all")
    assert found.codes == [3, 3]
    assert str(found).count("diverged") == 2
    with pytest.warns(RuntimeWarning, match="2 of 2 runs failed or diverged"):
        with pytest.raises(ValueError, match="expected two solutions or more, got 0"):
            pinn.ensemble(heat(), **wild, seeds=2, out="all")


@pytest.mark.parametrize("changes, given, error, said", [
    ({}, {"grid": {"sead": [0]}}, ValueError, "sead: unknown key"),
    ({}, {"grid": {}}, ValueError, "grid: expected a key with values"),
    ({}, {"grid": {"seed": []}}, ValueError, "grid: seed: expected one value or more, got none"),
    ({}, {"grid": {"seed": [1, 1]}}, ValueError, "seed=1: two combinations would go there"),
    ({}, {"grid": {"seed": [object()]}}, TypeError, "grid: seed: expected plain data, got object"),
    ({}, {"grid": {"seed": [0]}, "start": 1}, TypeError, "sweep has no argument 'start'"),
    ({}, {"grid": {"seed": [0]}, "sead": 1}, TypeError, "sead: unknown argument"),
    ({}, {"grid": {"seed": [0]}, "executor": "dusk"}, ValueError, "expected one of processes"),
    ({}, {"grid": {"seed": [0]}, "executor": object(), "jobs": 2}, ValueError, "sweep: jobs"),
    ({"equations": {"heat": lambda s: s.u_t - s.u_xx}}, {"grid": {"seed": [0]}}, TypeError,
     "problem.equations.heat is a Python function"),
    ({"conditions": [pinn.Dirichlet("u", lambda s: 0 * s.x)]}, {"grid": {"seed": [0]}}, TypeError,
     "problem.conditions.0.value is a Python function"),
    ({"reference": lambda s: s.x}, {"grid": {"seed": [0]}}, TypeError,
     "problem.reference is a Python function"),
])  # fmt: skip
def test_mistakes_are_told_before_anything_is_trained(folder, changes, given, error, said):
    with pytest.raises(error) as caught:
        pinn.sweep(heat(**changes), **given)
    assert said in str(caught.value)
    assert not list(folder.iterdir())
