"""The loss on points that training never sees."""

import math

import numpy as np
import pytest

import pinn
from pinn.training.experiment import Experiment
from pinn.training.judging.fresh import FreshLoss, fresh_points, shares

X, T = pinn.Interval("x", 0, 1), pinn.Time("t", 0, 1)
PROBLEM = pinn.Problem(
    X * T, ["u"], {"heat": "u_t - u_xx"}, [pinn.Initial("u", "sin(pi*x)"), pinn.Dirichlet("u", 0)],
)  # fmt: skip
SMALL = {"model": pinn.MLP(width=6, depth=1), "sampling": pinn.Sampling(interior=30, redraw=4)}
STAGES = [pinn.Adam(6), pinn.SSBroyden(6)]


def coordinates(drawn):
    return {name: points.coordinates for name, points in drawn.items()}


def test_the_points_are_others_than_those_of_any_draw():
    setup = Experiment(PROBLEM, **SMALL)
    fresh = coordinates(fresh_points(setup))
    for number in range(4):
        for name, drawn in coordinates(setup.draw_points(number)).items():
            assert fresh[name].shape == (200, drawn.shape[1])  # few points are no judge of few
            assert not {p.tobytes() for p in fresh[name]} & {p.tobytes() for p in drawn}
    again = coordinates(fresh_points(setup))
    assert all(np.array_equal(fresh[name], again[name]) for name in fresh)


def test_a_grid_is_compared_with_points_off_the_grid():
    setup = Experiment(PROBLEM, sampling=pinn.Sampling(interior=25, method="grid"))
    assert len(np.unique(fresh_points(setup)["heat"].coordinates[:, 0])) > 5


def test_it_is_the_weighted_mean_of_squares_there():
    setup = Experiment(PROBLEM, **SMALL, weighting={"initial_u": 3.0})
    objective, points = setup.objective(), fresh_points(setup)
    theta = objective.theta + 0.1
    other = setup.objective()
    other.set_points(points)
    expected = other.value_and_gradient(theta).loss
    assert FreshLoss(objective, points)(theta) == pytest.approx(expected, rel=1e-12)


def test_it_is_reported_for_each_stage_and_at_the_end():
    solution = pinn.solve(PROBLEM, **SMALL, training=STAGES)
    report = solution.report
    losses = [stage.fresh_loss for stage in report.stages]
    assert report.fresh_loss == losses[-1] and losses[0] > losses[1] > 0
    assert losses[-1] != report.loss
    objective = solution.experiment.objective()
    points = fresh_points(solution.experiment)
    assert FreshLoss(objective, points)(solution.theta) == report.fresh_loss
    assert f"({report.fresh_loss:.3e} on fresh points)" in report.summary()
    again = type(report).from_dict(report.as_dict())
    assert (again.fresh_loss, again.stages) == (report.fresh_loss, report.stages)


def test_looking_at_it_changes_no_bit():
    class Looking(pinn.Callback):
        def on_start(self, session):
            self.session, self.seen = session, []

        def on_step(self, record):
            self.seen.append(self.session.fresh_loss(record))

    looking = Looking()
    watched = pinn.solve(PROBLEM, **SMALL, training=STAGES, callbacks=[looking])
    plain = pinn.solve(PROBLEM, **SMALL, training=STAGES)
    assert watched.theta.tobytes() == plain.theta.tobytes()
    assert len(looking.seen) == 12 and looking.seen[-1] == watched.report.fresh_loss


def test_points_that_are_fitted_alone_show():
    # Three points hold the equation down; between them nothing does.
    start = pinn.Dirichlet("u", 0, on="x=0")
    problem = pinn.Problem(X, ["u"], {"e": "u_x - 10*cos(10*x)"}, [start])
    few = pinn.Sampling(interior=3, redraw=None)
    report = pinn.solve(problem, pinn.MLP(10, 1), few, [pinn.SSBroyden(300)]).report
    assert report.fresh_loss > 1e3 * report.loss


def test_a_loss_without_a_finite_value_is_no_error():
    problem = pinn.Problem(pinn.Time("t", -1, 1), ["u"], {"root": "sqrt(t)*u"})
    setup = Experiment(problem, **SMALL)
    value = FreshLoss(setup.objective(), fresh_points(setup))(setup.objective().theta)
    assert math.isnan(value)


def test_the_share_that_is_left_is_that_of_each_block():
    before = {"equation": 1.0, "wall": 1e6, "start": 0.0}

    def left(**after):
        return shares(before, dict.fromkeys(before, 0.0) | after)

    assert left(equation=0.2) == {"equation": 0.2, "wall": 0.0, "start": 0.0}
    assert left(wall=10.0)["wall"] == 1e-5
    assert left(start=1.0)["start"] == pytest.approx(1 / (1e6 + 1))
    assert left(equation=math.nan)["equation"] == math.inf
    assert shares({"equation": math.inf}, {"equation": 0.0}) == {"equation": math.inf}
    assert shares({"equation": 0.0}, {"equation": 0.0}) == {"equation": 0.0}
