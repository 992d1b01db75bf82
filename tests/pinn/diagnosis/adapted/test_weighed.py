"""Equations beside conditions that are trained: weighed by the errors that they stand for."""

import pytest

import pinn
from pinn.diagnosis import weighed_by_errors
from pinn.objective.weighting import NTK, Fixed
from pinn.training.experiment import Experiment

SQUARE = pinn.Interval("x", 0, 1) * pinn.Interval("y", 0, 1)
POISSON = {"poisson": "laplacian(u) + 2*pi**2*sin(pi*x)*sin(pi*y)"}


def poisson(hard=False, *more, **given):
    given = {"reference": {"u": "sin(pi*x)*sin(pi*y)"}, **given}
    return pinn.Problem(SQUARE, ["u"], POISSON, [pinn.Dirichlet("u", 0, hard=hard), *more], **given)


def told(problem, **given):
    """Return the run that is weighed and what was decided, as texts."""
    experiment, decisions = weighed_by_errors(Experiment(problem, **given))
    return experiment, [str(one) for one in decisions]


def weights(problem, **given):
    return told(problem, **given)[0].weighting.initial


def test_an_equation_is_weighed_by_what_it_makes_of_an_error():
    experiment, (said,) = told(poisson())
    # 2 pi^2 = 19.7, whose square is between 100 and 1000
    assert experiment.weighting == Fixed({"poisson": 0.01})
    assert said == (
        "weights: poisson 0.01: an error of one, half a wave over the domain, makes a residual of "
        "20 in poisson, and conditions see it as it is"
    )


def test_equations_of_other_orders_are_weighed_by_their_own():
    flow = pinn.Problem(
        SQUARE, ["u", "v", "p"],
        {"along_x": "p_x - laplacian(u)", "along_y": "p_y - laplacian(v)", "mass": "u_x + v_y"},
        [pinn.Dirichlet("u", "y"), pinn.Dirichlet("v", 0), pinn.Dirichlet("p", 0, on="x=1")],
    )
    assert weights(flow) == {"along_x": 0.01, "along_y": 0.01, "mass": 0.1}


def test_conditions_at_the_ends_of_a_line_are_trained():
    line = pinn.Interval("x", 0, 1)
    steep = pinn.Problem(line, ["u"], {"e": "u_xx - 1"}, [pinn.Dirichlet("u", 0)])
    assert weights(steep) == {"e": 0.1}
    around = pinn.Problem(
        SQUARE, ["u"], {"e": "laplacian(u) - 1"}, [pinn.Periodic("u", "x", orders=2)]
    )
    assert weights(around) == {"e": 0.01}


def test_weights_that_are_given_to_conditions_stand_beside_those_of_equations():
    given = Fixed({"dirichlet_u": 10.0})
    assert weights(poisson(), weighting=given) == {"dirichlet_u": 10.0, "poisson": 0.01}


def test_a_weight_is_no_less_than_a_ten_thousandth():
    """-u_xx - (50 pi)^2 u has solutions that are short, of which it makes less than that tells."""
    problem = pinn.Problem(
        pinn.Interval("x", 0, 1), ["u"], {"wave": "u_xx + (50*pi)**2*u"},
        [pinn.Dirichlet("u", 1, on="x=0"), pinn.Neumann("u", 0, on="x=1")],
    )  # fmt: skip
    assert weights(problem) == {"wave": 1e-4}


DATA = pinn.Data("u", {"x": [0.5, 0.2], "y": [0.5, 0.7], "u": [1.0, 0.4]})


@pytest.mark.parametrize(("problem", "given"), [
    (poisson(hard=True), {}),
    (poisson(True, pinn.Integral("u", 0.4)), {}),  # a mean can be had exactly
    (poisson(True, pinn.PointValue("u", 1, x=0.5, y=0.5)), {}),
    (poisson(True, pinn.Operator("at(u, x=0.5, y=0.5) - 1", on="x=0", name="level")), {}),
    (poisson(False, DATA), {}),
    (pinn.Problem(SQUARE, ["u"], {"poisson": "laplacian(u) + k*sin(pi*x)*sin(pi*y)"},
                  [pinn.Dirichlet("u", 0), DATA], parameters={"k": 1.0}), {}),
    (pinn.Problem(pinn.Time("t", 0, 0.1), ["u"], {"e": "u_t + u"}, [pinn.Initial("u", 1)]), {}),
    (pinn.Problem(pinn.Interval("x", 0, 9), ["u"], {"e": "u_x + u/4"},
                  [pinn.Dirichlet("u", 1, on="x=0")]), {}),  # makes less than 1 of it
    (pinn.Problem(pinn.Interval("x", 0, 1), ["u"], {"e": "u_xx - 1"},
                  [pinn.Dirichlet("u", 0, hard=True), pinn.PointValue("u", -0.1, x=0.5)]), {}),
    (pinn.Problem(pinn.Time("t", 0, 0.1), ["u"], {"e": "u_t + k*u"}, [pinn.Initial("u", 1)],
                  families={"k": [1, 2]}), {}),
    (poisson(), {"weighting": Fixed({"poisson": 1.0})}),
    (poisson(), {"weighting": NTK()}),
    (poisson(), {"target": 1e-9}),
])  # fmt: skip
def test_equations_have_the_weight_one(problem, given):
    experiment, said = told(problem, **given)
    assert said == [] and experiment.weighting == given.get("weighting", Fixed())


def test_weighed_equations_are_solved_sooner():
    few, stage = pinn.Sampling(interior=300, boundary=80), [pinn.LevenbergMarquardt(steps=25)]
    found = []
    for weighting in ({"poisson": 1.0}, None):
        solution = pinn.solve(
            poisson(), pinn.MLP(width=10, depth=1), few, stage, weighting, error_bars=False
        )
        found.append(solution.report.rel_l2["u"])
    assert found[1] < found[0] / 3 and found[1] < 1e-2
