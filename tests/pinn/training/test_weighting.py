"""Training with weights that change on the way: by every scheme, with every solver."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest

import pinn
from pinn.config import load
from pinn.objective.weighting import Attention, Combined, Fixed, View, Weighting, reweigh
from pinn.optimizers.quasi_newton import base as quasi_newton
from pinn.schema import dump
from pinn.solution.storage import experiment_json, read_experiment
from pinn.training.experiment import Experiment
from pinn.training.loop import Redraw, Training
from pinn.training.records import Resume

PROBLEM = pinn.Problem(
    pinn.Interval("x", -1, 1) * pinn.Time("t", 0, 1), ["u"], {"heat": "u_t - 0.1*u_xx"},
    [pinn.Initial("u", "sin(pi*x)"), pinn.Dirichlet("u", 0.0)],
)  # fmt: skip
SCHEMES = {
    "grad_norm": pinn.GradNorm(every=4),
    "ntk": pinn.NTK(every=4),
    "lra": pinn.LRA(every=4),
    "relobralo": pinn.ReLoBRaLo(memory=0.7, lookback=0.5),
    "softadapt": pinn.SoftAdapt(every=3, beta=1),
    "self_adaptive": pinn.SelfAdaptive(every=2, rate=0.05),
    "attention": pinn.Attention(every=2, gamma=0.9, eta=0.1, rows=["heat", "initial_u"]),
    "causal": pinn.Causal(every=2, slices=4, epsilons=[1, 2, 4], next_at=0.3),
    "combined": Combined([pinn.Causal(every=2, slices=4), pinn.GradNorm(every=4)]),
}
SOLVERS = {
    "adam": pinn.Adam(12, learning_rate=0.01),
    "lbfgs": pinn.LBFGS(12, hold=3),
    "ssbroyden": pinn.SSBroyden(12, hold=3),
}


def experiment(weighting, **sampling):
    counts = {"interior": 40, "initial": 12, "boundary": 12, "adaptive": None, "redraw": 5}
    made = pinn.Sampling(**counts | sampling)
    return Experiment(PROBLEM, pinn.MLP(width=6, depth=1), made, weighting)


def training(setup, stages, callbacks=(), resume=None):
    objective = setup.objective()
    redraw = Redraw(setup.sampling.redraw, setup.draw_points)
    return Training(
        objective, stages, callbacks, redraw, weighting=setup.weighting, resume=resume
    ), objective  # fmt: skip


def kept(record):
    """The record with its solver's state as it is now: a checkpoint in memory."""
    state = {name: np.array(array) for name, array in record.solver_state.items()}
    return dataclasses.replace(record, solver_state=state)


@pytest.mark.parametrize("solver", ["lbfgs", "ssbroyden"])
@pytest.mark.parametrize("name", SCHEMES)
def test_quasi_newton_steps_lower_the_loss_as_it_is_weighed_at_the_time(name, solver, monkeypatch):
    setup = experiment(SCHEMES[name])
    records = []
    run, objective = training(setup, [SOLVERS[solver]], [records.append])
    pairs, learn = [], quasi_newton._Memory.learn

    def checked(memory, here, end, *rest):
        # Both gradients of a pair belong to the objective as it is now.
        for point in (here, end):
            found = objective.value_and_gradient(point.theta)
            assert found.loss == point.loss
            np.testing.assert_array_equal(found.gradient, point.raw)
        pairs.append(memory.number)
        learn(memory, here, end, *rest)

    monkeypatch.setattr(quasi_newton._Memory, "learn", checked)
    begun = objective.theta
    run.run()
    assert len(records) == len(pairs) == 12
    weighed = [(record.weights, {n: v.tobytes() for n, v in record.row_weights.items()})
               for record in records]  # fmt: skip
    assert any(a != b for a, b in zip(weighed, weighed[1:], strict=False))
    before = [begun, *(record.theta for record in records)]
    for theta, record in zip(before, records, strict=False):
        objective.set_points(record.points)
        objective.set_weights(record.weights, record.row_weights)
        assert record.loss == objective.value_and_gradient(record.theta).loss
        assert record.loss < objective.value(theta)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("name", SCHEMES)
def test_a_run_with_changing_weights_goes_on_with_the_same_bits(name, solver):
    setup = experiment(SCHEMES[name])
    records, rest = [], []
    whole, _ = training(setup, [SOLVERS[solver]], [lambda record: records.append(kept(record))])
    expected = whole.run()
    # Before, at and after a change of weights or points.
    for stop in (1, 3, 5, 8):
        rest.clear()
        run, _ = training(setup, [SOLVERS[solver]], [rest.append], Resume(records[stop - 1]))
        assert run.run().theta.tobytes() == expected.theta.tobytes()
        for a, b in zip(records[stop:], rest, strict=True):
            assert (a.loss, a.losses, a.weights) == (b.loss, b.losses, b.weights)
            assert a.weighting_state.keys() == b.weighting_state.keys()
            for one in a.weighting_state:
                assert np.array_equal(a.weighting_state[one], b.weighting_state[one]), one


@pytest.mark.parametrize("scheme", [pinn.Attention(every=2), pinn.SelfAdaptive(every=2)])
def test_rows_keep_what_they_have_learned_where_points_are_drawn_anew(scheme):
    records = []
    run, objective = training(experiment(scheme), [SOLVERS["adam"]], [records.append])
    run.run()
    old, new = records[4], records[5]  # drawn anew after step 5
    assert (old.draw, new.draw) == (0, 1)
    inside = new.points["heat"].coordinates
    assert not np.isin(inside, old.points["heat"].coordinates).any()
    state = new.weighting_state
    assert state["heat/points"] is inside
    # The update right after the draw, at the theta of step 5, from the state before it.
    objective.set_points(new.points)
    reweigh(scheme, View(objective, old.theta, 5, new_points=True), old.weighting_state)
    for name, own in new.row_weights.items():
        np.testing.assert_array_equal(objective.row_weights[name], own)


def test_weights_record_no_program_anew():
    setup = experiment(pinn.SelfAdaptive(every=1), redraw=1)
    run, objective = training(setup, [pinn.Adam(12, learning_rate=0.01)])
    run.run()
    names = [key[0] for key in objective._engine._recorded]
    assert names.count("gradient") == names.count("residuals") == len(objective.groups) == 3


def test_a_quasi_newton_stage_keeps_the_weights_for_a_while():
    setup = experiment(pinn.Attention(every=2), redraw=None)
    records = []
    stages = [pinn.Adam(6), pinn.SSBroyden(20, hold=8)]
    run = Training(
        setup.objective(), stages, [records.append], weighting=setup.weighting
    )  # fmt: skip
    run.run()
    changed = [
        b.step for a, b in zip(records, records[1:], strict=False)
        if a.row_weights["heat"] is not b.row_weights["heat"]
        and (a.row_weights["heat"] != b.row_weights["heat"]).any()
    ]  # fmt: skip
    assert changed == [3, 5, 9, 17, 25]


def test_residuals_that_are_not_finite_are_told_of_and_not_weights():
    problem = pinn.Problem(
        pinn.Interval("x", -1, 1), ["u"], {"root": "u_x + sqrt(x)"}, [pinn.Dirichlet("u", 0)],
    )  # fmt: skip
    objective = Experiment(problem, pinn.MLP(width=4, depth=1)).objective()
    for scheme in (pinn.Attention(), pinn.SelfAdaptive(), pinn.GradNorm(), pinn.NTK()):
        result = Training(objective, [pinn.Adam(3)], weighting=scheme).run()
        assert result.reason == "diverged"
        assert "block 'root' is not finite" in result.message


# ---- metrics, files


def test_the_history_has_each_blocks_weights():
    setup = experiment(SCHEMES["combined"])
    run, _ = training(setup, [SOLVERS["adam"]])
    result = run.run()
    first, last = result.history[0], result.history[-1]
    assert first["weights"].keys() == {"heat", "initial_u", "dirichlet_u"} != last["weights"]
    assert last["weights"] == result.last.weights
    rows = result.last.row_weights["heat"]
    assert last["row_weights"] == {
        "heat": {"least": rows.min(), "mean": rows.mean(), "largest": rows.max()}
    }
    json.dumps(last)


@pytest.mark.parametrize("name", [*SCHEMES, "fixed"])
def test_a_scheme_is_kept_in_a_solution_and_a_config(name, tmp_path):
    scheme = SCHEMES.get(name, Fixed({"heat": 2}))
    setup = experiment(scheme)
    again = read_experiment(experiment_json(setup), "file").weighting
    assert again == scheme
    path = tmp_path / "config.yaml"
    path.write_text(
        "problem: {domain: {x: [-1, 1], t: {time: [0, 1]}}, unknowns: u, equations: "
        "{heat: u_t - u_xx}, conditions: [initial: {unknown: u, value: x}]}\n"
        f"weighting: {json.dumps(dump(setup)['weighting'])}\n"
    )
    if name == "attention":
        path.write_text(path.read_text().replace("unknown: u, value: x", "unknown: u, value: 0"))
    config = load(path)
    assert config.experiment.weighting == scheme
    path.write_text(config.text())
    assert load(path).experiment.weighting == scheme


WRITTEN = [
    ("grad_norm", pinn.GradNorm()),
    ("{causal: {epsilons: [1e-1, 1]}}", pinn.Causal(epsilons=(0.1, 1.0))),
    ("[causal, {grad_norm: {every: 50}}]", Combined((pinn.Causal(), pinn.GradNorm(every=50)))),
    ("[causal, {initial_u: 10}]", Combined((pinn.Causal(), Fixed({"initial_u": 10.0})))),
    ("[attention]", Attention()),
]


@pytest.mark.parametrize(("written", "expected"), WRITTEN)
def test_a_config_writes_schemes_in_short(written, expected, tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text(
        "problem: {domain: {x: [-1, 1], t: {time: [0, 1]}}, unknowns: u, equations: "
        "{heat: u_t - u_xx}, conditions: [initial: {unknown: u, value: x}]}\n"
        f"weighting: {written}\n"
    )
    assert load(path).experiment.weighting == expected


def test_a_list_in_python_is_the_product():
    weighting = [pinn.Causal(), {"initial_u": 3}]
    assert experiment(weighting).weighting == Combined((pinn.Causal(), Fixed({"initial_u": 3.0})))
    assert isinstance(experiment([pinn.Causal()]).weighting, Weighting)


def test_a_solution_that_is_saved_holds_the_state_of_its_weighting(tmp_path):
    setup = experiment(pinn.Attention(every=2))
    solution = pinn.solve(
        PROBLEM, setup.model, setup.sampling, [pinn.Adam(7)], setup.weighting
    )  # fmt: skip
    solution.save(tmp_path / "solution.npz")
    arrays = solution.checkpoint()
    assert "weighting/heat/attention" in arrays and "row_weights/heat" in arrays
    again = pinn.load(tmp_path / "solution.npz")
    assert again.experiment.weighting == setup.weighting


@pytest.mark.parametrize("name", ["grad_norm", "attention", "causal", "combined"])
def test_the_step_after_which_weights_were_moved_last_is_known(name):
    records = []
    run, _ = training(experiment(SCHEMES[name]), [SOLVERS["adam"]], [records.append])
    run.run()

    def weights(record):
        rows = {block: own.tolist() for block, own in record.row_weights.items()}
        return dict(record.weights), rows

    expected = 0
    for before, after in zip(records, records[1:], strict=False):
        if weights(after) != weights(before):
            expected = before.step
        assert after.course.weighed_at == expected
    assert expected > 0


def test_weights_that_stay_were_moved_after_no_step():
    records = []
    run, _ = training(experiment(Fixed({"heat": 2.0})), [SOLVERS["adam"]], [records.append])
    run.run()
    assert {record.course.weighed_at for record in records} == {0}
