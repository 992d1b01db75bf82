"""DSGNAR: its formulas written out, closed problems, the radius it takes, and exact resumption."""

import math
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.interpolate import PchipInterpolator
from scipy.optimize import brentq, least_squares

import pinn
import pinn.config
from pinn.optimizers import DSGNAR, StopReason
from pinn.optimizers.dsgnar import last_reaching, rises
from pinn.solution.storage import experiment_json, read_experiment


def bent(dense, rows=60, size=10, seed=0, steep=1.0):
    """tanh of a linear map, with a solution where all rows are zero."""
    rng = np.random.default_rng(seed)
    matrix, there = steep * rng.standard_normal((rows, size)) / 3, rng.standard_normal(size)
    data = np.tanh(matrix @ there)
    return dense.Rows(
        lambda t: np.tanh(matrix @ t) - data,
        lambda t: matrix / np.cosh(matrix @ t)[:, None] ** 2, size,
    )  # fmt: skip


def plain_radius(function, theta, sketches, last, aim, count):
    """One radius as the paper chooses it, with all radii tried and the sketches as matrices."""
    rows, jacobian = function.jacobian(theta)
    few, omega = (
        sketches[0].part(0, np.eye(len(rows))), sketches[1].columns(np.eye(len(theta)))
    )  # fmt: skip
    small, right = few @ jacobian @ omega, few @ rows
    left, values, _ = np.linalg.svd(small, full_matrices=False)
    g = values * (left.T @ right)

    def step(radius):
        def length(shift):
            return np.linalg.norm(g / (values**2 + shift))

        shift = 0.0
        if length(0.0) > radius:
            shift = brentq(lambda s: length(s) - radius, 0, 1e12, xtol=1e-15, rtol=1e-14)
        gram = small.T @ small + shift * np.eye(small.shape[1])
        p = -np.linalg.solve(gram, small.T @ right)
        predicted = np.sum(g**2 * (values**2 + 2 * shift) / (values**2 + shift) ** 2)
        return theta + omega @ p, predicted

    radii = np.geomspace(last / 3, last * 3, count)
    ratios = []
    for radius in radii:
        end, predicted = step(radius)
        ratios.append((function.value(theta) - function.value(end)) / predicted)
    ratios = np.minimum.accumulate(np.clip(ratios, -1, 1))
    fine = np.linspace(math.log(radii[0]), math.log(radii[-1]), 200_001)
    reached = np.flatnonzero(PchipInterpolator(np.log(radii), ratios)(fine) >= aim)
    radius = math.exp(fine[reached[-1]]) if reached.size else radii[0]
    return radius, step(radius)[0]


@pytest.mark.parametrize("aim", [0.3, 0.8])
def test_its_steps_are_those_of_the_formulas(dense, aim):
    function, theta = bent(dense, steep=3.0), np.zeros(10)
    stage = DSGNAR(8, columns=0.6, rows=3.0, radius=2.0, radii=9, first_ratio=aim)
    steps, _ = dense.follow(stage, function, theta)
    last, drawn, inside = 2.0, 0, 0
    for step in steps:
        for number in range(drawn + 1, int(step.state["drawn"]) + 1):
            sketches = stage.sketches(60, 10, number)
            radius, end = plain_radius(function, theta, sketches, last, aim, 9)
            inside += last / 3 < radius < last * 3
            taken = number == int(step.state["drawn"])
            last = radius if taken else min(radius, last) / 3
        drawn = int(step.state["drawn"])
        # The grid of the plain search is 1e-5 apart in the logarithm.
        assert float(step.state["radius"]) == pytest.approx(radius, rel=3e-5)
        np.testing.assert_allclose(step.theta, end, atol=1e-4 * radius)
        theta, last = step.theta, float(step.state["radius"])
    assert inside


def test_without_sketches_a_linear_problem_is_solved_by_one_step(dense):
    rng = np.random.default_rng(1)
    matrix, right = rng.standard_normal((20, 6)), rng.standard_normal(20)
    function = dense.Rows(lambda t: matrix @ t - right, lambda t: matrix, 6)
    stage = DSGNAR(1, columns=1.0, rows=4.0, radius=1e3)
    steps, _ = dense.follow(stage, function, np.zeros(6))
    np.testing.assert_allclose(steps[0].theta, np.linalg.lstsq(matrix, right)[0], rtol=1e-10)
    assert float(steps[0].state["radius"]) == pytest.approx(3e3)


def test_a_nonlinear_problem_ends_where_scipys_does(dense):
    function = bent(dense)
    theirs = least_squares(
        lambda t: function.jacobian(t)[0], np.zeros(10), lambda t: function.jacobian(t)[1],
        method="lm", xtol=1e-15, ftol=1e-15, gtol=1e-15,
    )  # fmt: skip
    start = np.zeros(10)
    _, end = dense.follow(DSGNAR(30, columns=1.0, rows=6.0), function, start)
    np.testing.assert_allclose(end.theta, theirs.x, rtol=1e-7)
    # In half of the dimensions at a time it takes longer, and gets there too.
    steps, _ = dense.follow(DSGNAR(50, columns=0.5), function, start)
    assert steps[-1].loss < 1e-4 * function.value(start)
    losses = [step.loss for step in steps]
    assert all(a > b for a, b in zip(losses, losses[1:], strict=False))


def test_at_a_minimum_the_radius_shrinks_to_the_end(dense):
    rng = np.random.default_rng(2)
    matrix, right = rng.standard_normal((20, 6)), rng.standard_normal(20)
    function = dense.Rows(lambda t: matrix @ t - right, lambda t: matrix, 6)
    best = np.linalg.lstsq(matrix, right)[0]
    _, end = dense.follow(DSGNAR(200), function, best)
    assert end.reason == StopReason.NO_DECREASE
    assert "none down to a length of 1e-08 lowers the loss" in end.message
    np.testing.assert_allclose(end.theta, best, rtol=1e-7)


def test_the_radius_is_where_the_monotone_cubic_reaches_the_aim():
    radii = np.geomspace(0.1, 10, 7)
    ratios = np.array([0.9, 0.9, 0.7, 0.6, 0.1, -0.2, -1.0])
    found = last_reaching(radii, ratios, 0.3)
    cubic = PchipInterpolator(np.log(radii), ratios)
    assert cubic(math.log(found)) == pytest.approx(0.3, abs=1e-12)
    assert radii[3] < found < radii[4]
    assert last_reaching(radii, ratios, 0.95) == radii[0]
    assert last_reaching(radii, ratios, -1.0) == radii[-1]
    # What lies beyond two radii below the aim makes no difference: it need not be evaluated.
    assert last_reaching(radii[:6], ratios[:6], 0.3) == found
    # Among equal ratios the largest radius counts.
    assert last_reaching(radii, np.full(7, 0.3), 0.3) == radii[-1]


def test_rises_is_a_line_through_the_numbers():
    rng = np.random.default_rng(3)
    steps = np.arange(30.0)
    for slope in (2e-4, 5e-5, 0.0, -1e-3):
        numbers = slope * steps + 1e-4 * rng.standard_normal(30)
        fitted = np.polyfit(steps, numbers, 1)[0]
        correlation = np.corrcoef(steps, numbers)[0, 1]
        assert rises(numbers) == (fitted > 1e-4 and correlation > 0.1)
    assert not rises(np.ones(30))


def test_a_shift_that_rises_begins_the_second_stage():
    from pinn.optimizers.dsgnar import _Memory

    memory, logs = _Memory(1.0), []
    for number in range(1, 121):
        logs.append(abs(number - 70.0))  # falls and rises; the line through 30 rises from 85 on
        memory.learn(1.0, math.exp(logs[-1]))
        slope = np.polyfit(range(30), logs[-30:], 1)[0] if number >= 80 else -1
        assert not memory.late or slope > 1e-4
        assert memory.late or number < 90
    assert len(memory.shifts) == 30


def test_resumed_at_any_step_it_takes_the_same_bits(dense):
    stage = DSGNAR(20)
    whole, end = dense.follow(stage, bent(dense), np.zeros(10))
    for stop in (1, 5, 17):
        at = whole[stop - 1]
        rest, again = dense.follow(stage, bent(dense), at.theta, at.state)
        assert again.theta.tobytes() == end.theta.tobytes()
        for a, b in zip(whole[stop:], rest, strict=True):
            assert (a.number, a.loss, a.theta.tobytes()) == (b.number, b.loss, b.theta.tobytes())
            assert all(a.state[name].tobytes() == b.state[name].tobytes() for name in a.state)
    other, _ = dense.follow(DSGNAR(1, seed=1), bent(dense), np.zeros(10))
    assert other[0].theta.tobytes() != whole[0].theta.tobytes()


def test_steps_to_losses_that_are_not_finite_are_not_taken(dense):
    function = dense.Rows(lambda t: np.log(t) - 1, lambda t: np.diag(1 / t), 2)
    _, end = dense.follow(DSGNAR(60, columns=1.0, radius=50), function, [0.1, 7.0])
    np.testing.assert_allclose(end.theta, math.e, rtol=1e-8)
    stage = DSGNAR(5)
    state = stage.slower(3, {
        "radius": np.array(2.0), "number": np.array(3), "drawn": np.array(4),
        "late": np.array(False), "shifts": np.zeros(3),
    }, 2)  # fmt: skip
    assert float(state["radius"]) == pytest.approx(0.02) and int(state["number"]) == 3


PROBLEM = pinn.Problem(
    pinn.Time("t", 0, 2), ["u"], {"decay": "u_t + u"}, [pinn.Initial("u", 1)],
    reference={"u": "exp(-t)"},
)  # fmt: skip
SMALL = {
    "model": pinn.MLP(width=8, depth=1),
    "sampling": pinn.Sampling(interior=40, redraw=30, adaptive=None),
}


@pytest.mark.parametrize("precision, error", [("float64", 1e-4), ("float32", 1e-2)])
def test_it_trains_a_network_in_both_precisions(precision, error):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "dsgnar: in float32", pinn.ProblemWarning)
        solution = pinn.solve(PROBLEM, **SMALL, training=[DSGNAR(60)], precision=precision)
    assert solution.report.rel_l2["u"] < error


def test_it_trains_with_weights_that_make_the_losses_equal():
    scheme, records = pinn.EqualLosses(blocks={"decay": 1e-2}), []
    solution = pinn.solve(
        PROBLEM, **SMALL, training=[DSGNAR(60)], weighting=scheme, callbacks=[records.append]
    )
    assert solution.report.rel_l2["u"] < 1e-3
    weights = records[-1].weights
    assert sum(weights.values()) == pytest.approx(2) and weights["decay"] != 1e-2


def test_float32_is_doubted_and_a_sketch_beyond_the_memory_is_refused():
    # The Jacobian itself, 7 GiB, is never there.
    many = SimpleNamespace(on_device=None, dtype=np.dtype(np.float64), size=1000, rows=10**6)
    assert DSGNAR().check(many) == []
    poor = SimpleNamespace(on_device=None, dtype=np.dtype(np.float32), size=100, rows=50)
    rows, precision = DSGNAR().check(poor)
    assert "dsgnar: 50 rows for" in rows and "dsgnar: in float32" in precision
    large = SimpleNamespace(on_device=None, dtype=np.dtype(np.float64), size=40_000, rows=10**6)
    with pytest.raises(ValueError, match="dsgnar: a Jacobian .* takes 30.1 GiB with its sketch"):
        DSGNAR().check(large)


def test_it_is_declared_in_python_yaml_and_json(tmp_path):
    path = tmp_path / "case.yaml"
    path.write_text(
        "problem: {domain: {t: {time: [0, 1]}}, unknowns: [u], equations: {decay: u_t + u}}\n"
        "training: [dsgnar: {steps: 7, columns: 1/3, seed: 4}]\n"
        "weighting: {equal_losses: {rate: 0.1, blocks: {decay: 1e-4}}}\n"
    )
    experiment = pinn.config.load(path).experiment
    assert tuple(experiment.training) == (DSGNAR(7, columns=1 / 3, seed=4),)
    assert experiment.weighting == pinn.EqualLosses(0.1, blocks={"decay": 1e-4})
    again = read_experiment(experiment_json(experiment), "file")
    assert (again.training, again.weighting) == (experiment.training, experiment.weighting)
    for wrong in ({"columns": 0}, {"rows": -1}, {"radii": 0}, {"radius": 0}, {"seed": -1}):
        with pytest.raises(ValueError, match=f"dsgnar: {next(iter(wrong))}: expected"):
            DSGNAR(**wrong)
