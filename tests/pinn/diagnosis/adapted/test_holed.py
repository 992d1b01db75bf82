"""Runs know of holes: the network sees the inversion in a circle in each."""

from __future__ import annotations

import numpy as np
import pytest

import pinn
from pinn.diagnosis import around_holes, without_places
from pinn.models import AutoModel
from pinn.training.experiment import Experiment

SQUARE = pinn.Interval("x", -1, 1) * pinn.Interval("y", -1, 1)
PLATE = SQUARE - pinn.Disk((0.2, 0.1), 0.3)


def problem(domain=PLATE, conditions=None, exact="log((x - 0.25)**2 + (y - 0.1)**2)"):
    conditions = conditions or [pinn.Dirichlet("u", exact)]
    return pinn.Problem(domain, ["u"], {"e": "laplacian(u)"}, conditions, reference={"u": exact})


def told(asked):
    return around_holes(asked, asked)


def test_a_run_that_leaves_all_open_sees_its_holes():
    asked = Experiment(problem(), AutoModel())
    experiment, (decision,) = told(asked)
    assert experiment.model.embedding == (pinn.InversionEmbedding((0.2, 0.1), 0.3, ("x", "y")),)
    assert str(decision).startswith("holes: at x = 0.2, y = 0.1 (0.6 wide): networks see")
    assert without_places(experiment, asked).model == AutoModel()


def test_in_time_holes_are_those_of_space():
    domain = pinn.Time("t", 0, 1) * PLATE
    asked = pinn.Problem(
        domain, ["u"], {"heat": "u_t - laplacian(u)"},
        [pinn.Initial("u", 0), pinn.Dirichlet("u", 0)],
    )  # fmt: skip
    experiment, _ = told(Experiment(asked, AutoModel()))
    (seen,) = experiment.model.embedding
    assert tuple(seen.coordinates) == ("x", "y")


@pytest.mark.parametrize("given", [
    {"model": pinn.MLP()}, {"model": AutoModel(features=["x", "y"])},
    {"model": AutoModel(embedding=pinn.FourierEmbedding())},
    {"model": AutoModel(), "sampling": pinn.Sampling(density="1 + x**2")},
])  # fmt: skip
def test_what_is_chosen_by_hand_stays(given):
    asked = Experiment(problem(), **given)
    assert told(asked) == (asked, ())


def test_a_domain_without_holes_or_with_too_many_stays():
    many = SQUARE
    for k in range(9):
        many = many - pinn.Disk((-0.8 + 0.2 * k, 0), 0.05)
    for domain in (SQUARE, many):
        asked = Experiment(problem(domain, exact="x"), AutoModel())
        assert told(asked) == (asked, ())


def test_where_all_repeats_in_a_coordinate_there_is_no_distance():
    repeats = [
        pinn.Periodic("u", "x", hard=True), pinn.Dirichlet("u", 0, on=["y=-1", "y=1"], hard=True)
    ]  # fmt: skip
    asked = Experiment(problem(PLATE, repeats, "y"), AutoModel())
    assert "x" not in asked.inputs.coordinates
    assert told(asked) == (asked, ())


def test_what_is_steep_around_a_hole_is_solved_to_many_digits():
    """u = log r' of a point in a hole, a quarter of the way from its middle to its edge."""
    asked = problem(
        SQUARE - pinn.Disk((0.2, 0.1), 0.1), exact="log((x - 0.225)**2 + (y - 0.1)**2)"
    )
    solution = pinn.solve(asked, sampling=pinn.Sampling(interior=2000), error_bars=False)
    assert solution.report.rel_l2["u"] < 1e-6
    assert any(str(one).startswith("holes") for one in solution.report.decisions)
    at_its_edge = solution.evaluate(x=0.301, y=0.1)["u"]
    assert at_its_edge == pytest.approx(2 * np.log(0.076), rel=1e-5)


def test_families_around_a_hole_are_solved_one_at_a_time():
    """u = a log r + b x: linear in both, and a network of the point for each sees the hole."""
    exact = "a*log(x**2 + y**2) + b*x"
    domain = (
        SQUARE - pinn.Disk(radius=0.3)
    ) * pinn.Family("a", -1, 1) * pinn.Family("b", 1, 2)  # fmt: skip
    asked = problem(domain, exact=exact)
    solution = pinn.solve(asked, sampling=pinn.Sampling(interior=1200), error_bars=False)
    model = solution.experiment.model
    assert isinstance(model, pinn.DeepONet) and model.trunk.embedding
    assert solution.report.rel_l2["u"] < 1e-6


def test_a_solution_keeps_what_it_sees(tmp_path):
    training = [pinn.GaussNewton(steps=1)]
    seen = pinn.InversionEmbedding((0.2, 0.1), 0.3)
    solution = pinn.solve(
        problem(), pinn.RandomFeatures(100, embedding=seen), pinn.Sampling(interior=300),
        training, error_bars=False,
    )  # fmt: skip
    solution.save(tmp_path / "run.npz")
    again = pinn.load(tmp_path / "run.npz")
    places = {"x": np.linspace(-0.9, -0.3, 7), "y": np.linspace(-1, 1, 7)}
    np.testing.assert_array_equal(again.evaluate(**places)["u"], solution.evaluate(**places)["u"])
