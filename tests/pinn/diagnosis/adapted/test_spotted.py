"""Runs know of spots: points lie there, and the network sees how far they are."""

from __future__ import annotations

import numpy as np
import pytest

import pinn
from pinn.diagnosis import at_spots
from pinn.models import AutoModel
from pinn.sampling import BlockSampling
from pinn.training.experiment import Experiment

X, Y = pinn.Interval("x", 0, 1), pinn.Interval("y", 0, 1)


def plate(source="exp(-((x - 0.3)**2 + (y - 0.6)**2)/(2*w**2))/w**2", conditions=None, w=0.01):
    conditions = conditions or [pinn.Dirichlet("u", 0, hard=True)]
    return pinn.Problem(
        X * Y, ["u"], {"p": f"laplacian(u) = -{source}"}, conditions, constants={"w": w}
    )


def told(problem, **given):
    asked = Experiment(problem, **{"model": AutoModel(), **given})
    return at_spots(asked, asked)


def test_a_run_that_leaves_all_open_has_points_and_inputs_there():
    experiment, (decision,) = told(plate())
    assert experiment.model.features[:2] == ("x", "y") and len(experiment.model.features) == 3
    assert str(decision).startswith("spots: x = 0.3 (0.02")
    points = experiment.collocation.draw()["p"].coordinates
    near = np.hypot(points[:, 0] - 0.3, points[:, 1] - 0.6) < 0.05
    assert 0.1 < near.mean() < 0.5


@pytest.mark.parametrize("given", [
    {"model": pinn.MLP()}, {"model": AutoModel(features=["x", "y"])},
    {"sampling": pinn.Sampling(density="1 + x")}, {"continuation": {"w": [0.1]}},
    {"sampling": pinn.Sampling(blocks={"p": BlockSampling(points=np.zeros((3, 2)))})},
])  # fmt: skip
def test_what_is_chosen_by_hand_stays(given):
    experiment, decisions = told(plate(), **given)
    assert decisions == () and experiment.sampling == given.get("sampling", pinn.Sampling())


def test_a_coordinate_in_which_all_repeats_has_points_and_no_distance():
    problem = plate(conditions=[
        pinn.Periodic("u", "x", hard=True), pinn.Dirichlet("u", 0, on=["y=0", "y=1"], hard=True)
    ])  # fmt: skip
    experiment, (decision,) = told(problem)
    assert "spots: x = 0.3" in str(decision)
    assert not experiment.model.features and "(x - 0." in experiment.sampling.density


def test_more_places_than_can_be_seen_are_left_to_points_that_follow_the_residual():
    many = " + ".join(f"exp(-((x - {k}/10)**2 + (y - 0.5)**2)/2e-4)" for k in range(1, 10))
    assert told(plate(f"({many})"))[1] == ()


def test_what_even_points_cannot_see_is_told_and_left_alone():
    assert told(plate(w=3e-4))[1] == ()


def test_the_narrowest_spot_gives_as_many_points_as_adaptive_draws_ask_for():
    experiment, (_,) = told(plate(w=0.0024), sampling=pinn.Sampling(interior=20_000))
    assert len(experiment.collocation.draw()["p"]) == 20_000


def test_a_bar_heated_at_a_point_is_solved_to_rounding():
    """-u'' = a narrow Gaussian: its integral twice, of error functions."""
    problem = pinn.Problem(
        X, ["u"], {"bar": "u_xx - u = -exp(-((x - 0.4)/w)**2/2)/w"},
        [pinn.Dirichlet("u", 0, hard=True)], constants={"w": 0.01},
    )  # fmt: skip
    solution = pinn.solve(problem, error_bars=False)
    n = np.arange(1, 800) * np.pi
    amplitudes = 2 * np.sqrt(2 * np.pi) * np.exp(-((0.01 * n) ** 2) / 2) * np.sin(0.4 * n)
    x = np.linspace(0, 1, 501)
    right = np.sin(np.outer(x, n)) @ (amplitudes / (n**2 + 1))
    assert "spots" in " ".join(map(str, solution.report.decisions))
    found = solution.evaluate(x=x)["u"].ravel()
    np.testing.assert_allclose(found, right, atol=1e-10 * right.max())
