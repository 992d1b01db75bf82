"""A solver from outside the package: Gauss-Newton on the least-squares protocol, in training."""

from dataclasses import dataclass

import numpy as np
import pytest

import pinn
from pinn.optimizers import Diverged, LeastSquares, Stage, StageEnd, Step, StopReason
from pinn.training.experiment import Experiment
from pinn.training.judging.watched import Watched

PROBLEM = pinn.Problem(
    pinn.Time("t", 0, 2), ["u"], {"decay": "u_t + u"}, [pinn.Initial("u", 1)],
    reference={"u": "exp(-t)"},
)  # fmt: skip
SMALL = {
    "model": pinn.MLP(width=8, depth=1),
    "sampling": pinn.Sampling(interior=40, redraw=10, adaptive=None),
}


def by_jacobian(function, theta, damping):
    rows, jacobian = function.jacobian(theta)
    stacked = np.vstack([jacobian, np.sqrt(damping) * np.eye(function.size)])
    return np.linalg.lstsq(stacked, np.concatenate([rows, np.zeros(function.size)]))[0]


def by_gram(function, theta, damping):
    normal, slope = function.gram(theta)
    return np.linalg.solve(normal + damping * np.eye(function.size), slope)


def by_kernel(function, theta, damping):
    kernel, rows = function.kernel(theta)
    return function.vjp(theta, np.linalg.solve(kernel + damping * np.eye(function.rows), rows))


def by_products(function, theta, damping):
    """Conjugate gradients on (J^T J + damping) d = J^T r."""
    rest = function.vjp(theta, function.weighted_rows(theta))
    found, direction = np.zeros_like(theta), rest.copy()
    least = 1e-24 * (rest @ rest)
    while rest @ rest > least:
        image = function.vjp(theta, function.jvp(theta, direction)) + damping * direction
        alpha = (rest @ rest) / (direction @ image)
        found, before = found + alpha * direction, rest @ rest
        rest = rest - alpha * image
        direction = rest + (rest @ rest) / before * direction
    return found


@dataclass(frozen=True)
class ToyGaussNewton(Stage):
    """Damped Gauss-Newton steps; the damping, its state, falls with success and rises without."""

    name = "toy-gauss-newton"

    steps: int = 30
    direction: object = by_jacobian
    seconds: float | None = None

    def run(self, function: LeastSquares, theta, state=None):
        number, damping = (int(state["number"]), float(state["damping"])) if state else (0, 1e-2)
        loss = function.value(theta)
        while number < self.steps:
            if damping > 1e6:
                return StageEnd(theta, StopReason.NO_DECREASE, "no damping helps")
            trial = theta - self.direction(function, theta, damping)
            lower = function.value(trial)
            if not lower < loss:
                damping *= 10
                continue
            theta, loss, damping, number = trial, lower, damping / 5, number + 1
            memory = {"number": np.array(number), "damping": np.array(damping)}
            yield Step(number, theta, loss, state=memory)
        return StageEnd(theta, StopReason.STEPS, f"all {self.steps} steps done")


@pytest.mark.parametrize("direction", [by_jacobian, by_gram, by_kernel, by_products])
def test_it_trains(direction):
    records = []
    solution = pinn.solve(
        PROBLEM, **SMALL, training=[ToyGaussNewton(60, direction)], callbacks=[records.append]
    )
    assert solution.report.rel_l2["u"] < 1e-5
    assert [r.stage_step for r in records] == list(range(1, len(records) + 1))
    assert records[-1].draw >= 3
    assert set(records[-1].losses) == {"decay", "initial_u"}
    assert records[-1].loss == pytest.approx(sum(records[-1].losses.values()), rel=1e-12)


def test_the_ways_to_its_step_agree():
    objective, damping = Experiment(PROBLEM, **SMALL).objective(), 1e-2
    theta = objective.theta
    expected = by_jacobian(objective, theta, damping)
    normal, _ = objective.gram(theta)
    condition = 1 + np.linalg.eigvalsh(normal)[-1] / damping
    # Conjugate gradients stop at 1e-12 of the first residual, the others at rounding.
    bound = condition * (1e-12 + 100 * np.finfo(float).eps) * np.linalg.norm(expected)
    for direction in (by_gram, by_kernel, by_products):
        assert np.linalg.norm(direction(objective, theta, damping) - expected) < bound


def test_it_shares_training_with_the_others_and_stops_like_them():
    stages = [pinn.Adam(20), ToyGaussNewton(15), pinn.SSBroyden(10)]
    report = pinn.solve(PROBLEM, **SMALL, training=stages).report
    assert [s.name for s in report.stages] == ["adam", "toy-gauss-newton", "ssbroyden"]
    assert report.stages[0].loss > report.stages[1].loss > report.stages[2].loss
    stopped = pinn.solve(
        PROBLEM, **SMALL, training=stages, callbacks=[lambda record: record.step == 25]
    )
    assert (stopped.report.steps, stopped.report.stop_reason) == (25, "stopped by callback")


def test_a_residual_without_a_finite_value_ends_it_as_diverged():
    class Leaping(ToyGaussNewton):
        def run(self, function, theta, state=None):
            yield Step(1, theta, function.value(theta))
            assert not np.isfinite(function.value(theta + 1e200))
            with pytest.raises(Diverged):
                function.jacobian(theta + 1e200)
            function.weighted_rows(theta * np.nan)

    report = pinn.solve(PROBLEM, **SMALL, training=[Leaping()]).report
    assert (report.stop_reason, report.steps) == ("diverged", 1)
    assert "block 'decay' is not finite" in report.message


def test_training_shows_the_objective_as_it_is():
    objective = Experiment(PROBLEM, **SMALL).objective()
    watched, theta = Watched(objective), objective.theta
    vector, rows = np.linspace(-1, 1, objective.size), np.linspace(-1, 1, objective.rows)
    assert (watched.size, watched.rows) == (objective.size, objective.rows)
    calls = {
        "value": (), "value_and_gradient": (), "hvp": (vector,), "weighted_rows": (),
        "jvp": (vector,), "second_jvp": (vector,), "vjp": (rows,), "jacobian": (), "gram": (),
        "kernel": (),
    }  # fmt: skip
    both = [theta, 0.9 * theta]
    assert watched.values(both) == objective.values(both) == [objective.value(t) for t in both]
    assert watched.find(both[0]).loss == objective.value(theta)
    pairs = zip(watched.rows_at(both), map(objective.weighted_rows, both), strict=True)
    assert all(np.array_equal(seen, own) for seen, own in pairs)
    protocol = {name for name in vars(LeastSquares) if not name.startswith("_")}
    assert protocol == calls.keys() | {
        "size", "rows", "threads", "ranks", "dtype", "layout", "jacobian_chunks",
        "values", "rows_at", "on_device", "steps_ahead", "told", "is_linear", "superposition",
    }  # fmt: skip
    assert watched.is_linear is objective.is_linear is False
    assert watched.on_device is objective.on_device is None
    assert watched.superposition is objective.superposition is None
    assert watched.steps_ahead() == 1  # where nobody says that more are worth it
    assert watched.layout is objective.layout
    assert watched.dtype == objective.dtype
    assert watched.threads == objective.threads
    assert watched.ranks is objective.ranks
    parts = watched.jacobian_chunks(theta, 5), objective.jacobian_chunks(theta, 5)
    for seen, own in zip(*parts, strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(seen, own, strict=True))
    for name, given in calls.items():
        seen, own = getattr(watched, name)(theta, *given), getattr(objective, name)(theta, *given)
        if isinstance(own, tuple):
            assert all(np.array_equal(a, b) for a, b in zip(seen, own, strict=True))
        else:
            np.testing.assert_array_equal(seen, own)
