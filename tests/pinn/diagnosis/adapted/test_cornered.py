"""Runs know of corners: the network sees what is singular there, and equations count less."""

from __future__ import annotations

import numpy as np
import pytest

import pinn
from pinn.diagnosis import at_corners, without_places
from pinn.models import AutoModel
from pinn.training.experiment import Experiment

ELL = pinn.Polygon([(0, 0), (1, 0), (1, -1), (-1, -1), (-1, 1), (0, 1)])
SQUARE = pinn.Interval("x", -1, 1) * pinn.Interval("y", -1, 1)
STEP = SQUARE - pinn.Interval("x", -2, 0) * pinn.Interval("y", -2, 0)
ROOT = "hypot(x, y)**(2/3)*cos(2/3*atan2(x - y, -x - y))"


def problem(domain=ELL, equations=None, conditions=None, unknowns=("u",), **given):
    equations = equations or {"e": "laplacian(u)"}
    conditions = conditions or [pinn.Dirichlet(name, 0) for name in unknowns]
    return pinn.Problem(domain, list(unknowns), equations, conditions, **given)


def told(asked, **given):
    asked = asked if isinstance(asked, Experiment) else Experiment(asked, AutoModel(), **given)
    return at_corners(asked, asked)


def test_a_run_that_leaves_all_open_knows_its_corners():
    asked = Experiment(problem(), AutoModel())
    experiment, (decision,) = told(asked)
    (seen,) = experiment.model.embedding
    assert (seen.corner, seen.exponent, seen.of) == ((0, 0), pytest.approx(2 / 3), "scalar")
    assert experiment.problem.singularities == (pinn.Singularity({"x": 0, "y": 0}, 0.5),)
    assert str(decision).startswith("corners: at x = 0, y = 0 (270 degrees): slopes are infinite")
    plainer = without_places(experiment, asked)
    assert plainer.model == AutoModel() and not plainer.problem.singularities


def test_a_hole_and_its_corners_are_seen_together():
    domain = SQUARE - pinn.Interval("x", -0.3, 0.3) * pinn.Interval("y", -0.3, 0.3)
    experiment, decisions = told(problem(domain))
    assert [one.corner for one in experiment.model.embedding] == [
        (-0.3, -0.3), (-0.3, 0.3), (0.3, -0.3), (0.3, 0.3)
    ]  # fmt: skip
    # as far as the middle of the hole
    assert {one.reach for one in experiment.problem.singularities} == {0.424}


@pytest.mark.parametrize(("unknowns", "equations", "of"), [
    ("uvp", {"mx": "p_x - laplacian(u)", "my": "p_y - laplacian(v)", "m": "u_x + v_y"}, "flow"),
    ("uv", {"x": "u_xx + v_xy + u_yy", "y": "v_yy + u_xy + v_xx"}, "vector"),
    ("uv", {"x": "laplacian(u) + v", "y": "laplacian(v) - u"}, "scalar"),
])  # fmt: skip
def test_what_is_singular_is_told_by_the_equations(unknowns, equations, of):
    experiment, _ = told(problem(STEP, equations, unknowns=unknowns))
    (seen,) = experiment.model.embedding
    assert seen.of == of
    exponent = 2 / 3 if of == "scalar" else 0.5444837367824622
    assert seen.exponent == pytest.approx(exponent, rel=1e-9)


def test_values_that_end_where_slopes_begin():
    conditions = [
        pinn.Dirichlet("u", 0, on="y=-1 and x < 0"), pinn.Neumann("u", 0, on="y=-1 and x > 0"),
        pinn.Dirichlet("u", 1, on=["x=-1", "x=1", "y=1"]),
    ]  # fmt: skip
    experiment, (decision,) = told(problem(SQUARE, conditions=conditions))
    (seen,) = experiment.model.embedding  # at 90 degrees nothing is infinite
    assert seen.corner == pytest.approx((0, -1)) and seen.exponent == pytest.approx(0.5)
    assert "at x = 0, y = -1 (from values to slopes)" in str(decision)


def test_values_on_one_side_of_a_corner_and_slopes_on_the_other():
    conditions = [
        pinn.Dirichlet("u", 0, on="x=0 and y < 0"), pinn.Neumann("u", 0, on="y=0 and x < 0"),
        pinn.Dirichlet("u", 1, on=["x=-1", "x=1", "y=-1", "y=1"]),
    ]  # fmt: skip
    experiment, (decision,) = told(problem(STEP, conditions=conditions))
    (seen,) = experiment.model.embedding
    assert seen.exponent == pytest.approx(1 / 3)
    assert "270 degrees, from values to slopes" in str(decision)


@pytest.mark.parametrize("asked", [
    Experiment(problem(), pinn.MLP()),
    Experiment(problem(), AutoModel(features=["x", "y"])),
    Experiment(problem(), AutoModel(), sampling=pinn.Sampling(density="1 + x**2")),
    Experiment(problem(SQUARE), AutoModel()),
    Experiment(problem(equations={"e": "u_x + u_y"}), AutoModel()),
    Experiment(problem(equations={"e": "laplacian(laplacian(u))"}), AutoModel()),
])  # fmt: skip
def test_what_is_chosen_by_hand_or_known_to_be_smooth_stays(asked):
    assert told(asked) == (asked, ())


def test_more_corners_than_networks_can_see_stay():
    domain = SQUARE
    for k in (-0.6, 0.0, 0.6):
        domain = domain - pinn.Interval("x", k - 0.1, k + 0.1) * pinn.Interval("y", -0.1, 0.1)
    assert told(problem(domain))[1] == ()


def test_an_infinite_slope_is_solved_to_many_digits():
    asked = problem(conditions=[pinn.Dirichlet("u", ROOT)], reference={"u": ROOT})
    solution = pinn.solve(asked, sampling=pinn.Sampling(interior=1600), error_bars=False)
    assert solution.report.rel_l2["u"] < 1e-6
    assert any(str(one).startswith("corners") for one in solution.report.decisions)


def test_where_what_is_given_contradicts_itself_networks_see_a_logarithm():
    asked = problem(SQUARE, {"e": "laplacian(u) + 1"})
    experiment, (decision,) = told(asked)
    seen = experiment.model.embedding
    assert [(one.corner, one.exponent, one.log) for one in seen] == [
        ((x, y), 2, True) for x in (-1, 1) for y in (-1, 1)
    ]
    assert experiment.problem.singularities == ()  # second derivatives have squares to integrate
    assert str(decision).startswith("corners: at x = -1, y = -1 (r^2 log r); at x = -1, y = 1 (r^2")


def test_a_contradiction_between_slopes_counts_by_the_distance_as_well():
    conditions = [
        pinn.Dirichlet("u", 0, on=["x=-1", "y=-1", "y=1"]), pinn.Neumann("u", 1, on="x=1")
    ]  # fmt: skip
    experiment, (decision,) = told(problem(SQUARE, conditions=conditions))
    assert [one.exponent for one in experiment.model.embedding] == [1, 1]
    assert [one.at for one in experiment.problem.singularities] == [
        {"x": 1, "y": -1}, {"x": 1, "y": 1}
    ]
    assert "(r log r)" in str(decision)


def test_more_logarithms_than_networks_can_see_are_left_out():
    domain, logs = SQUARE, []
    for k in (-0.5, 0.5):
        domain = domain - pinn.Interval("x", k - 0.1, k + 0.1) * pinn.Interval("y", -0.1, 0.1)
        seen = told(problem(domain, {"e": "laplacian(u) + 1"}))[0].model.embedding
        logs.append([one.log for one in seen])
    assert logs == [[False] * 4 + [True] * 4, [False] * 8]


def test_torsion_of_a_square_bar_is_solved_to_many_digits():
    """u in the middle: 1/8 less a sum of 1/(k^3 cosh(k pi/2)), k odd."""
    k = np.arange(1, 60, 2)
    signs = (-1.0) ** ((k - 1) / 2)
    middle = 1 / 8 - 4 / np.pi**3 * (signs / (k**3 * np.cosh(k * np.pi / 2))).sum()
    domain = pinn.Interval("x", 0, 1) * pinn.Interval("y", 0, 1)
    solution = pinn.solve(
        problem(domain, {"e": "laplacian(u) + 1"}), sampling=pinn.Sampling(interior=1600),
        error_bars=False,
    )  # fmt: skip
    assert solution.evaluate(x=0.5, y=0.5)["u"] == pytest.approx(middle, rel=1e-10)


def test_in_time_corners_are_those_of_space():
    asked = problem(
        pinn.Time("t", 0, 1) * ELL, {"heat": "u_t - laplacian(u)"},
        [pinn.Initial("u", 0), pinn.Dirichlet("u", 0)],
    )  # fmt: skip
    experiment, _ = told(asked)
    (seen,) = experiment.model.embedding
    assert tuple(seen.coordinates) == ("x", "y")
    assert experiment.problem.singularities == (pinn.Singularity({"x": 0, "y": 0}, 0.5),)


def test_places_that_are_stated_stay_and_networks_see_all_corners():
    here, elsewhere = (
        pinn.Singularity({"y": at, "x": at}, reach) for at, reach in ((0, 0.1), (-1, 0.2))
    )
    experiment, _ = told(problem(singularities=[here]))
    assert experiment.problem.singularities == (here,) and len(experiment.model.embedding) == 1
    experiment, _ = told(problem(singularities=[elsewhere]))
    found = pinn.Singularity({"x": 0, "y": 0}, 0.5)
    assert experiment.problem.singularities == (elsewhere, found)


def test_a_run_that_goes_on_from_a_solution_counts_as_that_did():
    began = told(problem())[0].problem
    asked = Experiment(problem(), pinn.MLP())
    experiment, decisions = at_corners(asked, asked, began)
    assert experiment.problem.singularities == began.singularities and not decisions


def test_a_solution_that_knows_of_no_corner_is_solved_without():
    exact = "sin(pi*x)*cos(pi*y)"
    asked = problem(
        equations={"e": f"laplacian(u) + 2*pi**2*{exact}"}, conditions=[pinn.Dirichlet("u", exact)]
    )
    solution = pinn.solve(asked, sampling=pinn.Sampling(interior=1200), error_bars=False)
    assert not solution.experiment.model.embedding and not solution.problem.singularities
    said = [str(one) for one in solution.report.decisions]
    assert any(one.startswith("inputs: without what tells of corners: ") for one in said)


def test_corners_that_are_known_by_two_ways_are_one():
    """They lie where two shapes meet, whose sides have values and slopes."""
    across, up = (
        pinn.Interval("x", -a, a) * pinn.Interval("y", -b, b) for a, b in ((1, 0.3), (0.3, 1))
    )
    asked = problem(
        across.named("h") | up.named("v"),
        conditions=[pinn.Dirichlet("u", 0, on="h"), pinn.Neumann("u", 0, on="v")],
    )
    experiment, _ = told(asked)
    assert [one.exponent for one in experiment.model.embedding] == [pytest.approx(1 / 3)] * 4
    assert {one.reach for one in experiment.problem.singularities} == {0.5}
