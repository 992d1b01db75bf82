"""What the blocks of conditions are called where several would be called the same."""

import numpy as np
import pytest

import pinn

X, TIME = pinn.Interval("x", 0, 1), pinn.Time("t", 0, 1)


def beam(*free):
    """A cantilever whose right end has some conditions."""
    clamped = [pinn.Dirichlet("u", 0, on="x=0"), pinn.Neumann("u", 0, on="x=0")]
    return pinn.Problem(X, ["u"], {"beam": "u_xxxx - 1"}, [*clamped, *free])


def conditions_of(problem):
    return [r.name for r in problem.residuals if r.name not in problem.equations]


def test_operators_in_one_place_are_numbered_in_their_order():
    free = [pinn.Operator(f"{leaf} + 0*u", on="x=1") for leaf in ("u_xx", "u_xxx", "u")]
    problem = beam(*free)
    names = ["operator_x_high", "operator_x_high_2", "operator_x_high_3"]
    assert conditions_of(problem)[2:] == names
    for residual, leaf in zip(problem.residuals[3:], ("u_xx", "u_xxx", "u"), strict=True):
        assert leaf in [str(one) for one in residual.leaves]
        assert residual.what == residual.left.what == f"condition {residual.name!r}"


def test_numbers_step_aside_for_names_that_were_given():
    given = pinn.Operator("u_xx", on="x=1", name="operator_x_high_2")
    made = [pinn.Operator(leaf, on="x=1") for leaf in ("u_xxx", "u")]
    problem = beam(made[0], made[1], given)
    assert conditions_of(problem)[2:] == [
        "operator_x_high", "operator_x_high_3", "operator_x_high_2"
    ]  # fmt: skip


def test_only_the_parts_that_meet_are_numbered():
    heat = pinn.Problem(X * TIME, ["u"], {"heat": "u_t - u_xx"}, [
        pinn.Operator("u", on=["x=0", "t=0"]), pinn.Operator("u_x", on="x=0"),
        pinn.Operator("u", on="x=1"),
    ])  # fmt: skip
    assert conditions_of(heat) == [
        "operator_x_low", "operator_t_low", "operator_x_low_2", "operator_x_high"
    ]  # fmt: skip


@pytest.mark.parametrize(("conditions", "names"), [
    ([pinn.Data("u", {"x": np.zeros(1), "u": np.zeros(1)}),
      pinn.Data("u", {"x": np.ones(1), "u": np.ones(1)})], ["data_u", "data_u_2"]),
    ([pinn.Integral(lambda s: s.u), pinn.Integral(lambda s: s.u**2)], ["integral", "integral_2"]),
    ([pinn.Interface("x=0.3", "u", "v"), pinn.Interface("x=0.6", "u", "v")],
     ["interface_u_v", "interface_u_v_flux", "interface_u_v_2", "interface_u_v_flux_2"]),
])  # fmt: skip
def test_every_condition_that_can_have_a_name_is_told_apart(conditions, names):
    problem = pinn.Problem(X, ["u", "v"], {"a": "u_xx", "b": "v_xx"}, conditions)
    assert conditions_of(problem) == names


def test_an_equation_keeps_its_name():
    problem = pinn.Problem(X, ["u"], {"operator": "u_xx"}, [pinn.Operator("u")])
    assert [residual.name for residual in problem.residuals] == ["operator", "operator_2"]


def test_names_that_were_given_twice_are_refused():
    twice = [pinn.Operator(leaf, on="x=1", name="free") for leaf in ("u_xx", "u_xxx")]
    with pytest.raises(ValueError, match="are called 'free'.*give one of them another name"):
        beam(*twice)


def test_two_values_for_one_place_are_refused():
    with pytest.raises(ValueError, match="are called 'dirichlet_u_x_low'"):
        beam(pinn.Dirichlet("u", 1, on="x=0"))


def test_numbered_blocks_have_weights_points_and_residuals_of_their_own():
    problem = beam(pinn.Operator("u_xx", on="x=1"), pinn.Operator("u_xxx", on="x=1"))
    second = "operator_x_high_2"
    points = pinn.Sampling(interior=240, redraw=None, adaptive=None)
    stages = [pinn.LevenbergMarquardt(60)]
    model = pinn.MLP(width=8, depth=2)
    solution = pinn.solve(problem, model, points, stages, weighting={second: 4})
    x = np.linspace(0, 1, 21)
    exact = x**2 * (6 - 4 * x + x**2) / 24
    assert np.abs(solution.evaluate(x=x)["u"] - exact).max() < 1e-5
    assert second in solution.report.losses
    assert second in problem._repr_html_()
