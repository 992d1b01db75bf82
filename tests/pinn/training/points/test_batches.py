"""Mini-batches: what each step sees, and what training ends with."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import pinn
from pinn.training.experiment import Experiment
from pinn.training.loop import Redraw, Training
from pinn.training.points.batches import Batches
from pinn.training.records import Resume

PROBLEM = pinn.Problem(
    pinn.Interval("x", -1, 1) * pinn.Time("t", 0, 1), ["u", "v"],
    {"first": "u_t - 0.1*u_xx", "second": "v_t + u"},
    [pinn.Initial("u", "sin(pi*x)"), pinn.Initial("v", 0), pinn.Dirichlet("u", 0.0)],
)  # fmt: skip
NAMES = ["first", "second", "initial_u", "initial_v", "dirichlet_u"]


def experiment(weighting=None, **sampling):
    counts = {"interior": 30, "initial": 12, "boundary": 8, "redraw": 5, "batch": 10}
    made = pinn.Sampling(**counts | sampling)
    weighting = {} if weighting is None else {"weighting": weighting}
    return Experiment(PROBLEM, pinn.MLP(width=6, depth=1), made, **weighting)


def training(setup, stages, callbacks=(), resume=None):
    objective = setup.objective()

    def draw(number):
        present = {block.name: block.points for block in objective.blocks}
        return setup.draw_points(
            number, lambda at: objective.residuals(objective.theta, at), present
        )

    every = setup.sampling.redraw
    return Training(
        objective, stages, callbacks, None if every is None else Redraw(every, draw),
        weighting=setup.weighting, batches=setup.batches, resume=resume,
    ), objective  # fmt: skip


def kept(record):
    state = {name: np.array(array) for name, array in record.solver_state.items()}
    return dataclasses.replace(record, solver_state=state)


class Seen(pinn.Callback):
    """The points that the objective has at each step."""

    def __init__(self):
        self.points, self.groups, self.records, self.reports = [], [], [], []

    def on_step(self, record):
        self.points.append({b.name: b.points.coordinates for b in self.objective.blocks})
        self.groups.append([group.key for group in self.objective.groups])
        self.records.append(record)

    def on_stage_end(self, report):
        self.reports.append(report)


def test_a_pass_takes_every_point_once_in_another_order_each_time():
    batches = Batches({"a": 4, "c": 9}, seed=1)
    points = {"a": range(10), "b": range(10), "c": range(8)}
    steps = [batches.rows([("a", "b"), ("c",)], points, 0, step) for step in range(6)]
    assert all(rows.keys() == {"a", "b"} for rows in steps)  # c has no more than its batch
    assert all(rows["a"] is rows["b"] for rows in steps)
    passes = [np.concatenate([rows["a"] for rows in steps[k : k + 2]]) for k in (0, 2, 4)]
    for one in passes:
        assert len(set(one.tolist())) == 8
    assert (passes[0] != passes[1]).any()
    again = Batches({"a": 4}, seed=1).rows([("a",)], points, 0, 3)["a"]
    np.testing.assert_array_equal(again, steps[3]["a"])
    for other in (Batches({"a": 4}, seed=2).rows([("a",)], points, 0, 3),
                  batches.rows([("a",)], points, 1, 3)):  # fmt: skip
        assert (other["a"] != again).any()


def test_each_step_of_adam_sees_a_batch_and_quasi_newton_steps_see_all():
    setup = experiment(redraw=None)
    assert setup.batches.sizes == dict.fromkeys(NAMES, 10)
    seen = Seen()
    run, seen.objective = training(setup, [pinn.Adam(6), pinn.LBFGS(3)], [seen])
    whole = {n: p.coordinates for n, p in setup.draw_points().items()}
    result = run.run()
    for points in seen.points[:6]:
        assert [len(points[name]) for name in NAMES] == [10, 10, 10, 10, 8]
        np.testing.assert_array_equal(points["first"], points["second"])
        assert {p.tobytes() for p in points["first"]} <= {p.tobytes() for p in whole["first"]}
    first_pass = np.concatenate([points["first"] for points in seen.points[:3]])
    assert {p.tobytes() for p in first_pass} == {p.tobytes() for p in whole["first"]}
    for points in seen.points[6:]:
        for name in NAMES:
            np.testing.assert_array_equal(points[name], whole[name])
    # Blocks that share their points share those of a batch, and one sweep.
    assert all(groups == seen.groups[0] for groups in seen.groups)
    # What a step tells of is its batch, what a stage ends with is everything.
    checked = setup.objective()
    last = seen.records[5]
    checked.set_points(seen.points[5])
    assert checked.value_and_gradient(last.theta).loss == last.loss
    checked.set_points(whole)
    assert result.loss == checked.value_and_gradient(result.theta).loss
    for record in seen.records:
        assert {n: len(p) for n, p in record.points.items()} == {
            name: len(array) for name, array in whole.items()
        }


def test_a_stage_that_ends_early_leaves_all_points():
    setup = experiment()
    seen = []
    run, objective = training(setup, [pinn.Adam(20)], [lambda r: seen.append(r) or len(seen) == 3])
    result = run.run()
    assert result.reason == "stopped by callback"
    assert objective.rows == 30 + 30 + 12 + 12 + 8
    assert result.loss == setup.objective().value_and_gradient(result.theta).loss


@pytest.mark.parametrize("rate, late", [(3.0, False), (0.3, True)])
def test_a_stage_that_ends_after_a_setback_tells_the_loss_on_all_points(monkeypatch, rate, late):
    problem = pinn.Problem(
        pinn.Time("t", 0, 1), ["u"], {"e": "u_t + u*log(u + 0.6)"}, [pinn.Initial("u", 0.1)]
    )  # fmt: skip
    setup = Experiment(problem, pinn.MLP(width=5, depth=1), pinn.Sampling(interior=20, batch=5))
    run, _ = training(setup, [pinn.Adam(30, learning_rate=rate)])
    if late:
        def said(stage, pace):
            return "no time" if run._setbacks else None

        monkeypatch.setattr(run, "_time_limit", said)
    result = run.run()
    assert result.setbacks and result.reason == ("time limit" if late else "diverged")
    assert result.loss == setup.objective().value_and_gradient(result.theta).loss


def test_blocks_have_sizes_of_their_own():
    setup = experiment(blocks={"first": {"batch": 3}}, batch=None)
    assert setup.batches.sizes == {"first": 3}
    assert experiment(batch=None).batches is None
    seen = Seen()
    run, seen.objective = training(setup, [pinn.Adam(2)], [seen])
    run.run()
    assert [len(seen.points[0][name]) for name in NAMES] == [3, 30, 12, 12, 8]


@pytest.mark.parametrize("weighting", [None, pinn.Attention(every=2), pinn.SelfAdaptive(every=3)])
@pytest.mark.parametrize("adaptive", ["rad", "rar-d", "r3"])
def test_a_run_goes_on_with_the_same_bits(adaptive, weighting):
    setup = experiment(weighting, adaptive=adaptive)
    records, rest = [], []
    stages = [pinn.Adam(12, learning_rate=0.01), pinn.SSBroyden(9, hold=2)]
    whole, _ = training(setup, stages, [lambda record: records.append(kept(record))])
    expected = whole.run()
    for stop in (1, 5, 7, 10, 12, 17):
        rest.clear()
        run, _ = training(setup, stages, [rest.append], Resume(records[stop - 1]))
        assert run.run().theta.tobytes() == expected.theta.tobytes()
        for a, b in zip(records[stop:], rest, strict=True):
            assert (a.loss, a.losses, a.theta.tobytes()) == (b.loss, b.losses, b.theta.tobytes())
            for name, points in a.points.items():
                np.testing.assert_array_equal(points.coordinates, b.points[name].coordinates)


def test_rows_of_a_batch_have_their_own_weights():
    setup = experiment(pinn.Attention(every=4), redraw=None)
    seen = Seen()
    run, seen.objective = training(setup, [pinn.Adam(6)], [seen])
    taken = []
    seen.on_step = lambda record: taken.append(
        (record, seen.objective.blocks[0].points.coordinates, seen.objective.row_weights["first"])
    )
    run.run()
    for record, inside, weights in taken:
        whole = record.points["first"].coordinates
        rows = [int(np.flatnonzero((whole == point).all(axis=1))[0]) for point in inside]
        np.testing.assert_array_equal(weights, record.row_weights["first"][rows])


def test_solve_takes_batches_and_adds_points():
    seen = []
    solution = pinn.solve(
        PROBLEM, pinn.MLP(width=6, depth=1),
        pinn.Sampling(interior=40, redraw=5, adaptive="rar-g", added=6, most=50, batch=16),
        [pinn.Adam(12), pinn.LBFGS(6)], callbacks=[seen.append],
    )  # fmt: skip
    assert [len(record.points["first"]) for record in seen[::5]] == [40, 46, 50, 50]
    assert solution.report.steps == 18


def test_points_that_a_callback_gives_one_block_are_its_own_and_others_keep_theirs():
    class Gives(Seen):
        def on_step(self, record):
            super().on_step(record)
            if record.step == 3:
                points = {block.name: block.points for block in self.objective.blocks}
                points["dirichlet_u"] = record.points["dirichlet_u"][:6]
                self.objective.set_points(points)

    seen = Gives()
    run, seen.objective = training(experiment(redraw=None), [pinn.Adam(steps=8)], [seen])
    run.run()
    before, after = ({name: len(one[name]) for name in NAMES} for one in seen.points[:8:7])
    assert after == {**before, "dirichlet_u": 6}  # all of them, as they are fewer than a batch
    assert {block.name: block.rows for block in seen.objective.blocks} == {
        "first": 30, "second": 30, "initial_u": 12, "initial_v": 12, "dirichlet_u": 6,
    }  # fmt: skip
