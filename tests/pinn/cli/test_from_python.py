"""pinn.sweep and pinn.ensemble: what the command does, for problems of Python."""

import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import pinn
import pinn.cli.worker

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
    *table, mark = str(found).splitlines()
    assert [line.split()[:2] for line in table] == [["width", "steps"], *found.values]
    assert mark.startswith("unsolved ")
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
    for seeds in (2, np.int64(2), iter(range(2)), np.arange(2)):
        again = pinn.ensemble(heat(), **SETTINGS, seeds=seeds)
        assert [one.experiment.seed for one in again.solutions] == [0, 1]


def test_runs_that_diverge_are_no_part_of_an_ensemble():
    wild = {**SETTINGS, "training": [pinn.Adam(steps=9, learning_rate=1e300)]}
    found = pinn.sweep(heat(), **wild, grid={"seed": [0, 1]}, out="all")
    assert found.codes == [3, 3]
    lines = str(found).splitlines()
    assert [line.split()[1] for line in lines[1:3]] == ["diverged", "diverged"]
    assert all("training diverged: " in reason for reason in found.reasons)
    with pytest.raises(ValueError, match="expected two solutions or more, got 0; 2 of 2 runs"):
        pinn.ensemble(heat(), **wild, seeds=2, out="all")
    solution = pinn.solve(heat(), **SETTINGS)
    for seed in (2, 3):
        Path(f"all/seed={seed}").mkdir()
        solution.save(f"all/seed={seed}/solution.npz")
    assert len(pinn.Ensemble.load("all").solutions) == 2


@pytest.mark.parametrize("made", [nullcontext, partial(ThreadPoolExecutor, 1)])
def test_a_failed_run_keeps_its_reason_and_the_table_ends_with_it(monkeypatch, made):
    monkeypatch.setitem(sys.modules, "cupy", None)
    with made() as executor:
        found = pinn.sweep(
            heat(), **SETTINGS, device="cuda", grid={"seed": range(6)}, out="all", executor=executor
        )
    assert found.codes == [4] * 6
    (reason,) = set(found.reasons)
    assert reason.startswith("device 'cuda' needs cupy, which is not installed; ")
    last = str(found).splitlines()[7:]
    assert last == [f"seed=0, seed=1, seed=2, seed=3 and 2 more: {reason}"]


def test_an_ensemble_whose_runs_fail_says_why(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(ValueError, match="2 of 2 runs failed(?s:.)*device 'cuda' needs cupy"):
        pinn.ensemble(heat(), **SETTINGS, device="cuda", seeds=2)


def test_an_ensemble_without_one_of_its_runs_warns_of_it_and_why(monkeypatch):
    def fails(config, *given):
        if config.experiment.seed == 1:
            raise OSError(28, "No space left on device", "all/seed=1")
        return really(config, *given)

    really = pinn.cli.worker.train_config
    monkeypatch.setattr("pinn.cli.worker.train_config", fails)
    with pytest.warns(RuntimeWarning, match="1 of 3 runs failed(?s:.)*seed=1: all/seed=1: .*left"):
        found = pinn.ensemble(heat(), **SETTINGS, seeds=3)
    assert [one.experiment.seed for one in found.solutions] == [0, 2]


# An executor as far as anybody can see who does not submit.
ANY = SimpleNamespace(submit=lambda function, argument: None)


@pytest.mark.parametrize("given, error, said", [
    ({"seeds": 1.5}, TypeError, "ensemble: seeds: expected how many, or which"),
    ({"seeds": "three"}, TypeError, "ensemble: seeds: expected how many, or which"),
    ({"seeds": {0: 1}}, TypeError, "ensemble: seeds: expected how many, or which"),
    ({"seeds": 0}, ValueError, "ensemble: seeds: expected a whole number >= 2, got 0"),
    ({"seeds": 1}, ValueError, "ensemble: seeds: expected a whole number >= 2, got 1"),
    ({"seeds": True}, TypeError, "ensemble: seeds: expected a whole number >= 2, got True"),
    ({"seeds": []}, ValueError, "ensemble: seeds: expected two or more, got []"),
    ({"seeds": iter([7])}, ValueError, "ensemble: seeds: expected two or more, got [7]"),
    ({"seeds": [0, 1.5]}, TypeError, "ensemble: seeds: expected a whole number >= 0, got 1.5"),
    ({"seeds": [0, -1]}, ValueError, "ensemble: seeds: expected a whole number >= 0, got -1"),
    ({"jobs": 0}, ValueError, "ensemble: jobs: expected a whole number >= 1, got 0"),
    ({"executor": 3}, TypeError, "ensemble: executor: expected an executor"),
    ({"executor": "ranks"}, ValueError, "ensemble: executor 'ranks': ranks share one run"),
])  # fmt: skip
def test_mistakes_of_an_ensemble_are_told_as_its_own(folder, given, error, said):
    with pytest.raises(error) as caught:
        pinn.ensemble(heat(), **SETTINGS, **given)
    assert str(caught.value).startswith(said)
    assert not list(folder.iterdir())


@pytest.mark.parametrize("changes, given, error, said", [
    ({}, {"grid": {"sead": [0]}}, ValueError, "sead: unknown key"),
    ({}, {"grid": {}}, ValueError, "grid: expected a key with values"),
    ({}, {"grid": {"seed": []}}, ValueError, "grid: seed: expected one value or more, got none"),
    ({}, {"grid": {"seed": [1, 1]}}, ValueError, "seed=1: two combinations would go there"),
    ({}, {"grid": {"seed": [object()]}}, TypeError, "grid: seed: expected plain data, got object"),
    ({}, {"grid": {"seed": [0]}, "start": 1}, TypeError, "sweep has no argument 'start'"),
    ({}, {"grid": {"seed": [0]}, "sead": 1}, TypeError, "sead: unknown argument"),
    ({}, {"grid": {"seed": [0]}, "executor": "dusk"}, ValueError, "expected one of processes"),
    ({}, {"grid": {"seed": [0]}, "executor": ANY, "jobs": 2}, ValueError, "sweep: jobs"),
    ({}, {"grid": {"seed": [0]}, "executor": 3}, TypeError,
     "sweep: executor: expected an executor, which has submit()"),
    ({}, {"grid": {"seed": [0]}, "executor": ThreadPoolExecutor}, TypeError,
     "sweep: executor: expected an executor, which has submit()"),
    ({}, {"grid": {"seed": [0]}, "executor": SimpleNamespace(submit=None)}, TypeError,
     "sweep: executor: expected an executor, which has submit()"),
    ({}, {"grid": {"seed": [0]}, "executor": "ranks"}, ValueError,
     "sweep: executor 'ranks': ranks share one run, of pinn.solve"),
    ({}, {"grid": {"model.width": 4}}, TypeError,
     "grid: model.width: expected the values that it has in turn, got 4; for one value write [4]"),
    ({}, {"grid": {"model.activation": "sin"}}, TypeError, "for one value write ['sin']"),
    ({}, {"grid": ["model.width"]}, TypeError, "grid: expected a mapping from keys to values"),
    ({}, {"grid": {3: [1]}}, TypeError, "grid: 3: expected the key of a config as a text"),
    ({}, {"grid": {"seed": [0]}, "jobs": "two"}, TypeError,
     "sweep: jobs: expected a whole number >= 1, got 'two'"),
    ({}, {"grid": {"seed": [0]}, "jobs": -1}, ValueError,
     "sweep: jobs: expected a whole number >= 1, got -1"),
    ({}, {"grid": {"seed": [0]}, "jobs": 0}, ValueError,
     "sweep: jobs: expected a whole number >= 1, got 0"),
    ({}, {"grid": {"seed": [0]}, "tries": 0}, ValueError,
     "sweep: tries: expected a whole number >= 1, got 0"),
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


def test_runs_that_ended_under_other_limits_are_told_of_and_extended_when_asked():
    longer = {**SETTINGS, "training": [pinn.Adam(steps=5)]}
    pinn.sweep(heat(), **SETTINGS, grid={"seed": range(2)}, out="all")
    told = (
        r"sweep: 2 of 2 runs had ended under other limits.*training\.0\.adam\.steps is 3 there "
        "and 5 here; extend=True goes on with them, and another out= begins new ones"
    )
    with pytest.warns(RuntimeWarning, match=told) as warned:
        kept = pinn.sweep(heat(), **longer, grid={"seed": range(2)}, out="all")
    assert warned[0].filename == __file__
    assert [run.summary()["steps"] for run in kept.runs] == [3, 3]
    found = pinn.sweep(heat(), **longer, grid={"seed": range(2)}, out="all", extend=True)
    assert [run.summary()["steps"] for run in found.runs] == [5, 5]
    alone = pinn.solve(heat(), **longer, seed=1)
    np.testing.assert_array_equal(pinn.load("all/seed=1").theta, alone.theta)


def test_solutions_in_place_of_a_problem_are_sent_to_the_class():
    with pytest.raises(TypeError, match=r"expected a problem.*got list; .* pinn\.Ensemble\("):
        pinn.ensemble([None, None])
