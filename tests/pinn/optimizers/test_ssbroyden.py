"""SSBroyden, and what it shares with BFGS and SSBFGS: minima, restarts, new points, resumption."""

import math
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import minimize as scipys
from scipy.optimize import rosen, rosen_der

import pinn
import pinn.config
from pinn.optimizers import (
    BFGS,
    SSBFGS,
    Diverged,
    SSBroyden,
    Stage,
    StageEnd,
    Step,
    StopReason,
    minimize,
)
from pinn.optimizers.quasi_newton import base as quasi_newton
from pinn.solution.storage import experiment_json, read_experiment
from pinn.training.experiment import Experiment
from pinn.training.loop import Redraw, train

MEMBERS = [BFGS, SSBFGS, SSBroyden]
TRANSFORMS = ["value", "sqrt", "log"]
START = np.array([-1.2, 1.0, 0.5, -0.7])


def rosenbrock(theta):
    return float(rosen(theta)), rosen_der(theta)


def quadratic(rng, size, minimum, condition=100):
    """A convex quadratic of least curvature 1, with its matrix and the place of its minimum."""
    q, _ = np.linalg.qr(rng.standard_normal((size, size)))
    matrix = (q * np.geomspace(1, condition, size)) @ q.T
    centre = rng.standard_normal(size)

    def evaluate(theta):
        d = theta - centre
        return minimum + 0.5 * float(d @ matrix @ d), matrix @ d

    return evaluate, matrix, centre


def counted(evaluate):
    seen = []

    def count(theta):
        seen.append(theta.tobytes())
        return evaluate(theta)

    return count, seen


def run(evaluate, start=START, solver=SSBroyden, **settings):
    steps = []
    return minimize(solver(**settings), evaluate, start, steps.append), steps


@pytest.mark.parametrize("member", MEMBERS)
@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("size", [2, 5, 20])
def test_rosenbrock_is_minimised_in_about_the_steps_of_scipys_bfgs(member, transform, size):
    start = np.random.default_rng(1).uniform(-2, 2, size)
    theirs = scipys(rosen, start, jac=rosen_der, method="BFGS", options={"gtol": 1e-9})
    np.testing.assert_allclose(theirs.x, 1, atol=1e-8)
    evaluate, seen = counted(rosenbrock)
    end, steps = run(evaluate, start, member, transform=transform, gradient_tolerance=4e-12)
    # The least eigenvalue of the Hessian there is 0.39: such a gradient is within 1e-10.
    np.testing.assert_allclose(end.theta, 1, rtol=0, atol=1e-10)
    assert end.reason == StopReason.CONVERGED
    assert np.abs(rosen_der(end.theta)).max() <= 4e-12
    # Of a loss that falls to zero log and sqrt have a spike at the minimum, not a parabola.
    assert len(steps) < (2 if transform == "value" else 5) * theirs.nit
    assert len(set(seen)) == len(seen) == steps[-1].state["evaluations"]
    assert [step.number for step in steps] == list(range(1, len(steps) + 1))
    assert all(step.loss == rosen(step.theta) for step in steps)
    assert all(a.loss > b.loss for a, b in zip(steps, steps[1:], strict=False))


def test_bfgs_with_exact_searches_ends_on_a_quadratic_after_as_many_steps_as_dimensions():
    size, condition = 6, 10
    evaluate, matrix, centre = quadratic(np.random.default_rng(0), size, 0.0, condition)

    # The minimum along the direction, by two evaluations, in place of the Wolfe search.
    def exact(along, f0, d0, first, most, conditions):
        _, slope = along(1.0)
        alpha = d0 / (d0 - slope)
        along(alpha)
        return alpha

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(quasi_newton, "wolfe_step", exact)
        end, steps = run(
            evaluate, np.zeros(size), BFGS, transform="value", steps=size,
        )  # fmt: skip
    # One step before it is not there at all, so the bound may be a generous one: the roundings of
    # a gradient, of a step length (the quotient of slopes that cancel) and of a direction each grow
    # by the condition, in every step.
    assert np.abs(steps[-2].theta - centre).max() > 1e-2
    bound = np.finfo(float).eps * condition**3 * size
    np.testing.assert_allclose(end.theta, centre, rtol=0, atol=bound)
    # By then H is the inverse of the matrix.
    inverse = np.zeros((size, size))
    inverse.T[np.triu_indices(size)] = steps[-1].state["packed"] * steps[-1].state["scale"]
    inverse = np.tril(inverse) + np.tril(inverse, -1).T
    np.testing.assert_allclose(inverse @ matrix, np.eye(size), rtol=0, atol=bound)


def plain_member(solver, b, h, n):
    """tau, phi and theta of a member at a pair, as the paper gives them."""
    if solver is BFGS:
        return 1.0, 1.0, 0.0
    if solver is SSBFGS:
        return min(1, 1 / b), 1.0, 0.0
    a = b * h - 1
    c = np.sqrt(a / (1 + a))
    rho = min(1, h * (1 - c))
    theta = max((rho - 1) / a, min(1 / rho, (1 - b) / b))
    sigma = 1 + a * theta
    sigma_n = abs(sigma) ** (1 / (1 - n))
    bound = min(1, 1 / b)
    tau = min(bound * sigma_n, sigma) if theta <= 0 else bound * min(sigma_n, 1 / theta)
    return tau, (1 - theta) / sigma, theta


def of_h(H, s, y, tau, phi, theta):
    """The new inverse Hessian, by the formula for it."""
    ys, hy = y @ s, H @ y
    q = y @ hy
    v = s / ys - hy / q
    return (H - np.outer(hy, hy) / q + phi * q * np.outer(v, v)) / tau + np.outer(s, s) / ys


def of_b(H, s, y, tau, phi, theta):
    """The new inverse Hessian, by the formula for its inverse B."""
    ys, B = y @ s, np.linalg.inv(H)
    bs = B @ s
    sbs = s @ bs
    w = y / ys - bs / sbs
    return np.linalg.inv(
        tau * (B - np.outer(bs, bs) / sbs + theta * sbs * np.outer(w, w)) + np.outer(y, y) / ys
    )


def plain(solver, form, evaluate, theta, alphas):
    """log L with dense matrices, by either form of the update, at the step lengths given."""
    n = len(theta)
    H = np.eye(n)
    loss, gradient = evaluate(theta)
    g = gradient / loss
    for number, alpha in enumerate(alphas):
        s = -alpha * H @ g
        theta = theta + s
        loss, gradient = evaluate(theta)
        y = gradient / loss - g
        ys = y @ s
        if number == 0:
            H = form(np.eye(n) * ys / (y @ y), s, y, 1.0, 1.0, 0.0)
        else:
            b, h = s @ np.linalg.solve(H, s) / ys, (y @ H @ y) / ys
            H = form(H, s, y, *plain_member(solver, b, h, n))
        g = gradient / loss
        yield theta, H, g


@pytest.mark.parametrize("form", [of_h, of_b])
@pytest.mark.parametrize("solver", MEMBERS)
def test_the_steps_are_those_of_the_equations_and_satisfy_the_wolfe_conditions(solver, form):
    evaluate, *_ = quadratic(np.random.default_rng(3), 7, 0.3)
    start = np.zeros(7)
    _, steps = run(evaluate, start, solver, steps=25)
    # The step lengths follow from the first plain run: alpha is the ratio of step to direction.
    thetas = [start, *(step.theta for step in steps)]
    alphas = []

    def lengths():
        direction = -evaluate(start)[1] / evaluate(start)[0]
        for here, there in zip(thetas, thetas[1:], strict=False):
            alphas.append(float((there - here) @ direction / (direction @ direction)))
            loss, gradient = evaluate(here)
            slope = gradient @ direction / loss
            new_loss, new_gradient = evaluate(there)
            assert math.log(new_loss) <= math.log(loss) + 1e-4 * alphas[-1] * slope + 1e-15
            assert abs(new_gradient @ direction / new_loss) <= 0.9 * abs(slope)
            yield alphas[-1]
            direction = -current[1] @ current[2]

    current = None
    for current, step in zip(
        plain(solver, form, evaluate, start, lengths()), steps, strict=False
    ):
        np.testing.assert_allclose(step.theta, current[0], rtol=0, atol=1e-6)
    assert len(alphas) == 25
    assert any(alpha != 1 for alpha in alphas) and any(a == pytest.approx(1) for a in alphas)


def test_log_does_not_see_the_scale_of_the_loss():
    def scaled(theta):
        loss, gradient = rosenbrock(theta)
        return loss * 2.0**-40, gradient * 2.0**-40

    _, plain = run(rosenbrock, steps=12)
    _, small = run(scaled, steps=12)
    for a, b in zip(plain, small, strict=True):
        np.testing.assert_allclose(a.theta, b.theta, rtol=1e-9)


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_all_transforms_find_the_same_minimum(transform):
    evaluate, _, centre = quadratic(np.random.default_rng(4), 8, 0.7)
    end, _ = run(evaluate, np.zeros(8), transform=transform, gradient_tolerance=1e-7)
    assert end.reason == StopReason.CONVERGED
    np.testing.assert_allclose(end.theta, centre, atol=1e-7)


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_at_the_limit_of_rounding_it_restarts_and_then_stops(transform):
    rng = np.random.default_rng(5)
    A, b = rng.standard_normal((30, 5)), rng.standard_normal(30)

    def least_squares(theta):
        r = A @ theta - b
        return float(r @ r), 2 * A.T @ r

    end, steps = run(least_squares, np.zeros(5), transform=transform)
    assert end.reason == StopReason.NO_DECREASE
    assert "a line search along the gradient found no lower loss, most likely" in end.message
    np.testing.assert_allclose(end.theta, np.linalg.lstsq(A, b)[0], atol=1e-6)
    np.testing.assert_array_equal(end.theta, steps[-1].theta)


def test_a_failed_search_restarts_from_the_gradient_and_goes_on():
    fail_at, calls = 9, 0

    search = quasi_newton.wolfe_step

    def failing(*arguments):
        nonlocal calls
        calls += 1
        return None if calls == fail_at else search(*arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(quasi_newton, "wolfe_step", failing)
        end, steps = run(rosenbrock, transform="value", gradient_tolerance=1e-9)
    np.testing.assert_allclose(end.theta, 1, atol=1e-8)
    assert steps[-1].state["restarts"] == 1
    # The step after the failure goes along the gradient.
    s = steps[fail_at - 1].theta - steps[fail_at - 2].theta
    g = rosen_der(steps[fail_at - 2].theta)
    assert s @ g == pytest.approx(-np.linalg.norm(s) * np.linalg.norm(g), rel=1e-12)


def test_a_start_at_the_minimum_takes_no_step():
    end, steps = run(rosenbrock, np.ones(4))
    assert (end.reason, steps) == (StopReason.CONVERGED, [])
    assert "after 0 steps" in end.message


def test_steps_done():
    end, steps = run(rosenbrock, steps=7)
    assert (end.reason, end.message, len(steps)) == (StopReason.STEPS, "all 7 steps done", 7)
    state = saved(steps[-1]) | {"number": np.array(5)}
    minimize(SSBroyden(steps=7), rosenbrock, steps[-1].theta, steps.append, state)
    assert [step.number for step in steps[7:]] == [6, 7]


def test_one_parameter():
    end, _ = run(lambda t: (float(t @ t) + 1, 2 * t), np.array([3.0]), gradient_tolerance=1e-9)
    assert abs(end.theta[0]) < 1e-9


def test_a_trial_without_a_finite_loss_is_taken_back():
    def walled(theta):
        # Finite only near by; a first step of length one leads out.
        r = float(theta @ theta)
        if r > 1.1:
            raise Diverged("out of bounds")
        return 5 - math.sqrt(1.1 - r), theta / math.sqrt(1.1 - r)

    end, _ = run(walled, np.array([1.0, 0.2]), gradient_tolerance=1e-6)
    np.testing.assert_allclose(end.theta, 0, atol=1e-5)


@pytest.mark.parametrize("solver", MEMBERS)
def test_a_loss_that_falls_up_to_where_it_has_no_value_is_followed(solver):
    """Less than 1 along the first number: it falls with slope 1 right up to there."""

    def cliff(theta):
        if theta[0] >= 1:
            raise Diverged("over the edge")
        return 3 - theta[0] + float(theta[1] ** 2), np.array([-1.0, 2 * theta[1]])

    end, steps = run(cliff, np.array([0.0, 1.0]), solver, transform="value", steps=30)
    assert all(a.loss > b.loss for a, b in zip(steps, steps[1:], strict=False))
    assert 0.99 < end.theta[0] < 1 and end.reason != StopReason.DIVERGED
    assert len(steps) > 3


def test_a_start_without_a_finite_loss_is_told():
    def bad(theta):
        raise Diverged("nan")

    with pytest.raises(Diverged):
        run(bad)


def test_a_loss_below_zero_needs_its_value():
    with pytest.raises(ValueError, match="expected a loss >= 0 for transform 'log', got -1.000e"):
        run(lambda t: (-1.0, t))
    end, _ = run(
        lambda t: (float(t @ t) - 9, 2 * t), START, transform="value", gradient_tolerance=1e-8
    )
    np.testing.assert_allclose(end.theta, 0, atol=1e-8)


def saved(step):
    return {name: np.array(array) for name, array in step.state.items()}


@pytest.mark.parametrize("member", MEMBERS)
@pytest.mark.parametrize("stop", [1, 2, 17])
def test_a_resumed_run_gives_the_same_bits(member, stop):
    start = np.random.default_rng(6).uniform(-2, 2, 9)
    states = {}
    whole = []

    def keep(step):
        whole.append(step)
        if step.number == stop:
            states[stop] = saved(step)

    stage = member(steps=60)
    end = minimize(stage, rosenbrock, start.copy(), keep)
    rest = []
    resumed = minimize(
        stage, rosenbrock, whole[stop - 1].theta.copy(), rest.append, states[stop]
    )
    assert resumed.theta.tobytes() == end.theta.tobytes()
    for a, b in zip(whole[stop:], rest, strict=True):
        assert (a.number, a.loss, a.theta.tobytes()) == (b.number, b.loss, b.theta.tobytes())
    assert saved(rest[-1]).keys() == saved(whole[-1]).keys()
    for name, array in saved(whole[-1]).items():
        assert array.tobytes() == rest[-1].state[name].tobytes(), name


def test_the_state_stays_what_it_was_or_is_gone():
    stage, kept = SSBroyden(steps=5), []
    minimize(stage, rosenbrock, START.copy(), lambda step: kept.append((step, saved(step))))
    for step, then in kept[:-1]:
        # the direction comes with a pair that an H learned, not with the first
        assert ("direction" in then) == (step.number > 1)
        assert {"packed", "scale", "gradient", "number"} < then.keys()
        assert (len(step.state), list(step.state)) == (0, [])
        with pytest.raises(KeyError, match="ask for the solver's state before the next step"):
            step.state["packed"]
    step, then = kept[-1]
    assert then.keys() == step.state.keys()
    assert all(np.array_equal(step.state[name], then[name]) for name in then)


def test_other_points_keep_the_inverse_hessian():
    evaluate, matrix, centre = quadratic(np.random.default_rng(7), 10, 0.5)
    steps = []
    stage = SSBroyden(steps=200, gradient_tolerance=1e-6)
    minimize(SSBroyden(steps=30), evaluate, np.zeros(10), lambda s: steps.append((s, saved(s))))
    theta, state = steps[-1][0].theta, steps[-1][1]

    def moved(theta):
        d = theta - centre - 0.01
        return 0.5 + 0.5 * float(d @ matrix @ d), matrix @ d

    with_memory, without = [], []
    end = minimize(stage, moved, theta.copy(), with_memory.append, state)
    minimize(stage, moved, theta.copy(), without.append)
    np.testing.assert_allclose(end.theta, centre + 0.01, atol=1e-6)
    assert len(with_memory) < len(without)
    # The first step is the full quasi-Newton step with the matrix that was kept.
    H = np.zeros((10, 10))
    H.T[np.triu_indices(10)] = state["packed"] * state["scale"]
    H = np.tril(H) + np.tril(H, -1).T
    loss, gradient = moved(theta)
    np.testing.assert_allclose(with_memory[0].theta, theta - H @ gradient / loss, rtol=1e-12)
    assert with_memory[-1].state["restarts"] == 0


def test_other_points_restart_where_the_inverse_hessian_is_not_positive_definite():
    steps = []
    minimize(SSBroyden(steps=10), rosenbrock, START.copy(), lambda s: steps.append((s, saved(s))))
    theta, state = steps[-1][0].theta, steps[-1][1]
    state["packed"][0] = -1.0
    state["loss"] = np.array(0.0)
    rest = []
    minimize(SSBroyden(steps=11), rosenbrock, theta.copy(), rest.append, state)
    assert rest[0].state["restarts"] == 1
    s, g = rest[0].theta - theta, rosen_der(theta)
    assert s @ g == pytest.approx(-np.linalg.norm(s) * np.linalg.norm(g), rel=1e-12)


def test_the_state_of_another_network_is_refused():
    steps = []
    minimize(SSBroyden(steps=3), rosenbrock, START.copy(), lambda s: steps.append(saved(s)))
    with pytest.raises(ValueError, match="inverse Hessian: expected 3 numbers"):
        minimize(SSBroyden(), rosenbrock, np.zeros(2), id, steps[-1])


@pytest.mark.parametrize("where", ["evaluate", "on_step"])
@pytest.mark.parametrize("kind", [KeyboardInterrupt, ZeroDivisionError])
def test_exceptions_pass_through(where, kind):
    count = 0

    def fail(value):
        nonlocal count
        count += 1
        if count == 4:
            raise kind
        return value

    evaluate = (lambda t: fail(rosenbrock(t))) if where == "evaluate" else rosenbrock
    with pytest.raises(kind):
        minimize(SSBroyden(), evaluate, START.copy(), fail if where == "on_step" else id)


def test_nothing_that_was_handed_out_changes_later():
    kept = []
    start = START.copy()
    minimize(SSBroyden(9), rosenbrock, start, lambda s: kept.append((s.theta, s.theta.copy())))
    np.testing.assert_array_equal(start, START)
    for now, then in kept:
        np.testing.assert_array_equal(now, then)


def test_a_loss_of_zero_is_the_end():
    def bowl(theta):
        inside = float(theta @ theta) < 1
        return (0.0, 0 * theta) if inside else (float(theta @ theta), 2 * theta)

    for transform in TRANSFORMS:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            end, _ = run(bowl, np.array([1.3, 0.0]), transform=transform)
        assert (end.reason, bowl(end.theta)[0]) == (StopReason.CONVERGED, 0.0)


ODE = pinn.Problem(
    pinn.Time("t", 0, 2), ["u"], {"decay": "u_t + u"}, [pinn.Initial("u", 1)],
    reference={"u": "exp(-t)"},
)  # fmt: skip


def small(**sampling):
    settings = {"interior": 40, "redraw": 10, "adaptive": "rad", "candidates": 200, **sampling}
    return Experiment(ODE, pinn.MLP(width=8, depth=1), pinn.Sampling(**settings))


def adaptive(setup, objective):
    def draw(number):
        return setup.draw_points(number, lambda at: objective.residuals(objective.theta, at))

    return Redraw(setup.sampling.redraw, draw)


def test_it_solves_an_equation_on_points_that_move():
    setup = small()
    solution = pinn.solve(ODE, setup.model, setup.sampling, [SSBroyden(200)])
    assert solution.report.rel_l2["u"] < 1e-5
    again = pinn.solve(ODE, setup.model, setup.sampling, [SSBroyden(200)])
    assert solution.theta.tobytes() == again.theta.tobytes()


def test_new_points_in_training_keep_what_was_learned():
    setup, records = small(), []
    objective = setup.objective()
    train(objective, [SSBroyden(60)], [records.append], adaptive(setup, objective))
    assert [r.stage_step for r in records] == list(range(1, 61))
    assert [r.draw for r in records] == [n // 10 for n in range(60)]
    last = records[-1].solver_state
    assert last["restarts"] == 0 and not last["fresh"]
    assert last["evaluations"] >= 60 + 1 + 5
    for before, after in zip(records, records[1:], strict=False):
        same = all(
            np.array_equal(before.points[name].coordinates, after.points[name].coordinates)
            for name in after.points
        )
        assert same == (before.draw == after.draw)


@pytest.mark.parametrize("stop", [13, 20])
def test_a_checkpoint_of_a_solution_is_resumed_to_the_same_bits(stop):
    setup, kept, arrays = small(), [], {}

    class Keeper(pinn.Callback):
        def on_start(self, session):
            self.session = session

        def on_step(self, record):
            kept.append(record)
            if record.step == stop:
                arrays.update(self.session.solution(record).checkpoint())

    pinn.solve(ODE, setup.model, setup.sampling, [SSBroyden(29)], callbacks=[Keeper()])
    objective = setup.objective()
    objective.set_points(
        {n.removeprefix("points/"): a for n, a in arrays.items() if n.startswith("points/")}
    )
    theta = np.concatenate([a.ravel() for n, a in arrays.items() if n.startswith("theta/")])
    state = {n.removeprefix("solver/"): a for n, a in arrays.items() if n.startswith("solver/")}
    assert theta.tobytes() == kept[stop - 1].theta.tobytes()
    if stop % setup.sampling.redraw == 0:
        # The points of this step were drawn anew right after it.
        objective.parameters.load(theta)
        redraw = adaptive(setup, objective)
        objective.set_points(redraw.draw(kept[stop - 1].draw + 1))

    def evaluate(theta):
        found = objective.value_and_gradient(theta)
        return found.loss, found.gradient

    rest = []
    until = (stop // 10 + 1) * 10
    minimize(SSBroyden(min(until, 29)), evaluate, theta, rest.append, state)
    assert len(rest) == min(until, 29) - stop
    for record, step in zip(kept[stop:], rest, strict=False):
        assert (record.loss, record.theta.tobytes()) == (step.loss, step.theta.tobytes())


def test_a_config_names_the_stages_and_the_sampling(tmp_path):
    path = tmp_path / "case.yaml"
    path.write_text(
        "problem: {domain: {t: {time: [0, 1]}}, unknowns: [u], equations: {decay: u_t + u}}\n"
        "sampling: {adaptive: rad, redraw: 50, rad_floor: 0.5}\n"
        "training: [ssbfgs: {steps: 9, transform: sqrt}, bfgs: {hold: 7}, ssbroyden]\n"
    )
    experiment = pinn.config.load(path).experiment
    assert tuple(experiment.training) == (SSBFGS(9, "sqrt"), BFGS(hold=7), SSBroyden())
    assert experiment.sampling == pinn.Sampling(redraw=50, adaptive="rad", rad_floor=0.5)
    setup = Experiment(ODE, sampling=experiment.sampling, training=experiment.training)
    assert read_experiment(experiment_json(setup), "file").training == setup.training


class Stuck(Stage):
    """Takes its first steps, and finds no way down ever after."""

    name, seconds = "stuck", None

    def __init__(self, steps, way):
        self.steps, self.way, self.most, self.calls = steps, way, steps, 0

    def run(self, function, theta, state=None):
        self.calls += 1
        done = int(state["done"]) if state else 0
        while done < self.way:
            done += 1
            yield Step(done, theta, 1.0, state={"done": np.array(done)})
        self.way = min(2 * self.way, self.most)
        return StageEnd(theta, StopReason.LINE_SEARCH, "no way down")


@pytest.mark.parametrize(
    ("way", "every", "calls", "draws"), [(0, 100, 2, 1), (0, None, 1, 0), (3, None, 1, 0)]
)
def test_a_failed_line_search_is_tried_once_on_other_points(way, every, calls, draws):
    setup, stage = small(redraw=100), Stuck(50, way)
    objective, drawn = setup.objective(), []

    def draw(number):
        drawn.append(number)
        return setup.draw_points(number)

    result = train(objective, [stage], (), None if every is None else Redraw(every, draw))
    assert (result.reason, result.message) == (StopReason.LINE_SEARCH, "no way down")
    assert (stage.calls, len(drawn)) == (calls, draws)


def test_every_step_taken_earns_another_try():
    setup, stage, drawn = small(redraw=100), Stuck(50, 3), []

    def draw(number):
        drawn.append(number)
        return setup.draw_points(number)

    # Three steps, three more, six more, and then none.
    stage.most = 12
    result = train(setup.objective(), [stage], (), Redraw(100, draw))
    assert (result.reason, result.steps) == (StopReason.LINE_SEARCH, 12)
    assert (stage.calls, drawn) == (4, [1, 2, 3])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"steps": 0}, "ssbroyden: steps"),
        ({"transform": "exp"}, "ssbroyden: transform: expected one of log, sqrt, value"),
        ({"gradient_tolerance": -1}, "ssbroyden: gradient_tolerance"),
        ({"line_search": 0}, "ssbroyden: line_search"),
        ({"seconds": 0}, "ssbroyden: seconds"),
    ],
)
def test_bad_settings_are_refused(arguments, message):
    for solver in MEMBERS:
        with pytest.raises(ValueError, match=message.replace("ssbroyden", solver.name)):
            solver(**arguments)


@pytest.mark.parametrize("solver", MEMBERS)
def test_a_model_whose_inverse_hessian_is_too_large_is_refused_before_training(solver):
    message = f"{solver.name}: its inverse Hessian of 45901 .* 7.8 GiB.*Use lbfgs"
    with pytest.raises(ValueError, match=message):
        solver(steps=1).check(SimpleNamespace(size=45_901, on_device=None))
    assert solver(steps=1).check(SimpleNamespace(size=4_000, on_device=None)) == []
