"""What every solver in the table keeps to, whatever it does: resumption, bounds, walls, limits."""

import dataclasses
import zlib

import numpy as np
import pytest

import pinn
from pinn.files.npz import write_npz
from pinn.optimizers import STAGES, StopReason
from pinn.solution.checkpoint import read_checkpoint
from pinn.solution.report import Report
from pinn.solution.solution import Solution
from pinn.training.experiment import Experiment
from pinn.training.judging.watched import Watched
from pinn.training.loop import Redraw, train
from pinn.training.records import Resume

NAMES = list(STAGES)
STEPS = 11

# Its coefficients end near 1: one starts close above its bound, one has to pass far below its own.
INVERSE = pinn.Problem(
    pinn.Time("t", 0, 1), ["u"], {"decay": "u_t + a*b*u"},
    [pinn.Initial("u", 1), pinn.Data("u", {"t": [0.25, 0.5, 1.0], "u": [0.78, 0.61, 0.37]})],
    parameters=[pinn.Parameter("a", 0.31, lower=0.3, upper=0.4), pinn.Parameter("b", 4, lower=3.9)],
)  # fmt: skip
# A little way off, u + 0.6 is negative and its logarithm has no value.
WALLED = pinn.Problem(
    pinn.Time("t", 0, 1), ["u"], {"e": "u_t + u*log(u + 0.6)"}, [pinn.Initial("u", 0.1)]
)
SCHEMES = {
    "fixed": None,
    "of blocks and rows": [pinn.Attention(every=3), pinn.SoftAdapt(every=2)],
}


def experiment(problem=INVERSE, weighting=None, precision="float64"):
    sampling = pinn.Sampling(interior=20, redraw=4, adaptive="rad", candidates=60)
    return Experiment(
        problem, pinn.MLP(width=5, depth=1), sampling, precision=precision,
        **({"weighting": weighting} if weighting else {}),
    )  # fmt: skip


def run(setup, stage, callbacks=(), resume=None):
    objective = setup.objective()

    def draw(number):
        return setup.draw_points(number, lambda at: objective.residuals(objective.theta, at))

    redraw = Redraw(setup.sampling.redraw, draw)
    return train(
        objective, [stage], callbacks, redraw, weighting=setup.weighting, resume=resume
    )


def made(name, steps=STEPS):
    """A stage with its own settings, but for the number of steps."""
    return STAGES[name](steps=steps)


def kept(record):
    """The record with its solver's state as it is now."""
    state = {name: np.array(array) for name, array in record.solver_state.items()}
    return dataclasses.replace(record, solver_state=state)


class Kept(pinn.Callback):
    def __init__(self):
        self.records = []

    def on_step(self, record):
        self.records.append(kept(record))


def report(record):
    return Report(
        stop_reason="running", message="", loss=record.loss, losses=dict(record.losses),
        wall_seconds=record.seconds, steps=record.step,
    )  # fmt: skip


def write_checkpoint(path, setup, record):
    write_npz(path, Solution(setup, record.theta, report(record), Resume(record)).checkpoint())


def same(a, b):
    """Whether two steps are the same to the last bit."""
    assert (a.step, a.stage_step, a.draw) == (b.step, b.stage_step, b.draw)
    assert a.course.choices == b.course.choices
    assert a.course.weighed_at == b.course.weighed_at
    assert (a.loss, a.losses, a.weights) == (b.loss, b.losses, b.weights)
    assert a.theta.tobytes() == b.theta.tobytes()
    arrays = ("solver_state", "row_weights", "weighting_state")
    for ours, theirs in [(getattr(a, n), getattr(b, n)) for n in arrays]:
        assert ours.keys() == theirs.keys()
        for name in ours:
            assert ours[name].tobytes() == theirs[name].tobytes(), name
    for block, points in a.points.items():
        assert points.coordinates.tobytes() == b.points[block].coordinates.tobytes()


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", NAMES)
def test_killed_at_any_step_it_goes_on_to_the_same_bits(name, scheme, tmp_path):
    setup, stage = experiment(weighting=SCHEMES[scheme]), made(name)
    rng = np.random.default_rng(zlib.crc32(f"{name} {scheme}".encode()))
    stops = rng.choice(np.arange(1, STEPS), 2, replace=False)
    records = []

    def keep(record):
        records.append(kept(record))
        if record.step in stops:
            write_checkpoint(tmp_path / f"{record.step}.npz", setup, record)

    whole = run(setup, stage, [keep])
    # A solver that converges, or finds no lower loss, may end before its last step.
    reached = [stop for stop in stops if stop <= len(records)]
    assert reached
    for stop in reached:
        resume = read_checkpoint(tmp_path / f"{stop}.npz").resume
        rest = Kept()
        result = run(setup, made(name), [rest], resume)
        assert result.theta.tobytes() == whole.theta.tobytes()
        assert (result.loss, result.losses) == (whole.loss, whole.losses)
        assert (result.steps, result.reason) == (whole.steps, whole.reason)
        for a, b in zip(records[stop:], rest.records, strict=True):
            same(a, b)


@pytest.mark.parametrize("name", NAMES)
def test_coefficients_stay_inside_their_bounds_at_every_step(name):
    seen = []
    result = run(experiment(), made(name, 30), [lambda record: seen.append(record.parameters)])
    assert result.steps == len(seen) > 0
    assert all(0.3 < at["a"] < 0.4 and at["b"] > 3.9 for at in seen)


@pytest.mark.parametrize("name", NAMES)
def test_a_wall_in_its_way_is_survived_or_told(name):
    result = run(experiment(WALLED), made(name, 30))
    assert np.isfinite(result.theta).all() and np.isfinite(result.loss)
    if result.reason == StopReason.DIVERGED:
        assert "block 'e' is not finite" in result.message
    else:
        start = experiment(WALLED).objective()
        assert result.loss < start.value(start.theta)


@pytest.mark.parametrize("bad", [3, 4, 7])
@pytest.mark.parametrize("name", NAMES)
def test_a_loss_that_is_not_finite_on_the_way_is_survived_or_told(name, bad):
    """Whatever it evaluates at its call of this number, and at the next one, is not finite."""
    objective, calls = experiment().objective(), []
    before = objective.value(objective.theta)

    def failing(method, spoiled):
        def evaluate(theta):
            calls.append(method)
            found = method(theta)
            return spoiled(found) if len(calls) in (bad, bad + 1) else found

        return evaluate

    spoil = {
        "losses_at": lambda found: [dict.fromkeys(losses, np.inf) for losses in found],
        "value_and_gradient": lambda found: found._replace(loss=np.nan),
        "rows_at": lambda found: [np.full_like(rows, np.nan) for rows in found],
    }
    for method, spoiled in spoil.items():
        setattr(objective, method, failing(getattr(objective, method), spoiled))
    result = train(objective, [made(name)])
    assert len(calls) > bad
    assert np.isfinite(result.theta).all() and np.isfinite(result.loss)
    assert result.reason in (StopReason.STEPS, StopReason.NO_DECREASE, StopReason.DIVERGED)
    if result.reason == StopReason.STEPS:
        assert result.loss < before


@pytest.mark.parametrize("name", NAMES)
def test_what_was_handed_out_is_never_changed(name):
    objective = experiment().objective()
    start = objective.theta
    before, seen = start.copy(), []
    solver = made(name).run(Watched(objective), start)
    for step in solver:
        seen.append((step.theta, step.theta.copy(), step.loss))
    np.testing.assert_array_equal(start, before)
    for now, then, loss in seen:
        np.testing.assert_array_equal(now, then)
        assert loss == pytest.approx(objective.value(now), rel=1e-12)


@pytest.mark.parametrize("steps", [1, 2, 7])
@pytest.mark.parametrize("name", NAMES)
def test_there_are_no_more_steps_than_stated(name, steps):
    seen = []
    result = run(experiment(), made(name, steps), [lambda record: seen.append(record.stage_step)])
    assert seen == list(range(1, len(seen) + 1))
    assert len(seen) == result.steps <= steps
    assert (result.steps == steps) == (result.reason == StopReason.STEPS)


@pytest.mark.parametrize("name", NAMES)
def test_float32_is_refused_or_lowers_the_loss(name):
    setup = experiment(precision="float32")
    stage, objective = made(name, 30), setup.objective()
    try:
        said = stage.check(objective)
    except ValueError as error:
        assert "float64" in str(error)
        return
    assert all("float64" in sentence for sentence in said)
    result = run(setup, stage)
    start = objective.value(objective.theta)
    assert np.isfinite(result.loss) and result.loss < start
