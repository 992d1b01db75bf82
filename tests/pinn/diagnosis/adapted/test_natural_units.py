"""Runs whose problem is stated in units far from its own: their outputs and losses are scaled."""

import warnings

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import pinn
from pinn.diagnosis import in_natural_units
from pinn.diagnosis.posed.sizes import block_sizes, stated_sizes
from pinn.diagnosis.posed.statement import statement_of
from pinn.objective.weighting import NTK, Fixed
from pinn.training.experiment import Experiment

# Steel, in SI units: a bar of 0.1 m for ten minutes.
BAR, TIME = pinn.Interval("x", 0, 0.1), pinn.Time("t", 0, 600)
STEEL = {"rc": 4e6, "k": 50.0, "L": 0.1}
SMALL = pinn.Sampling(interior=300, redraw=None, adaptive=None)


def heat(equation="rc*T_t - k*T_xx", hard=False):
    return pinn.Problem(
        BAR * TIME, ["T"], {"heat": equation},
        [pinn.Initial("T", "300 + 100*sin(pi*x/L)", hard=hard),
         pinn.Dirichlet("T", 300.0, hard=hard)],
        constants=STEEL, reference={"T": "300 + 100*sin(pi*x/L)*exp(-k/rc*(pi/L)**2*t)"},
    )  # fmt: skip


def bar():
    """A bar of steel that is pulled: stress and displacement are 1e11 apart."""
    return pinn.Problem(
        pinn.Interval("x", 0, 1), ["u", "s"], {"balance": "s_x + f", "hooke": "s - E*u_x"},
        [pinn.Dirichlet("u", 0, on="x=0"), pinn.Dirichlet("s", "S", on="x=1")],
        constants={"E": 2.1e11, "f": 1e6, "S": 1e8},
        reference={"s": "S + f*(1 - x)", "u": "(S*x + f*(x - x**2/2))/E"},
    )  # fmt: skip


def told(problem, **given):
    """Return the run in natural units and what was decided, as texts."""
    experiment, decisions = in_natural_units(Experiment(problem, **given))
    return experiment, [str(one) for one in decisions]


def weights(problem, **given):
    return told(problem, **given)[0].weighting.initial


def test_an_equation_that_is_far_larger_than_the_conditions_is_weighed_by_its_size():
    experiment, (_, said) = told(heat())
    # T changes by 100: rho*cp*T/time is 4e6*100/600, and k*T/L^2 50*100/0.1^2, about 5e5 each
    assert experiment.weighting.initial == {"heat": 1e-10, "initial_T": 1e-4, "dirichlet_T": 1e-4}
    assert said == (
        "weights: heat 1e-10, initial_T 1e-04, dirichlet_T 1e-04: as the problem is stated the "
        "residual of heat is about 3e+05 large, and that of initial_T about 1e+02; each has the "
        "weight 1/size^2"
    )


@pytest.mark.parametrize("factor", [1e-9, 1e-6, 1e7, 1e12])
def test_an_equation_times_a_number_is_the_same_run(factor):
    """But for rounding: the weighted loss is the same function, up to a power of ten."""
    times = heat(f"{factor}*(T_t - k/rc*T_xx)")
    before, after = weights(heat()), weights(times)
    # rc = 4e6 is no power of ten
    share = (after["heat"] * factor**2) / (before["heat"] * 4e6**2)
    assert 0.05 < share < 20
    assert after["dirichlet_T"] == before["dirichlet_T"]


@pytest.mark.parametrize("given", [
    {"weighting": Fixed({"heat": 1.0})},
    {"weighting": NTK()},
    {"target": 1e-9},
])  # fmt: skip
def test_weights_that_are_given_and_a_loss_with_a_target_stay_as_they_are(given):
    experiment, said = told(heat(), **given)
    assert not [one for one in said if one.startswith("weights")]
    assert experiment.weighting == given.get("weighting", Fixed())


def test_what_is_stated_in_its_own_units_is_left_alone():
    problem = pinn.Problem(
        pinn.Interval("x", 0, 1) * pinn.Time("t", 0, 1), ["u"], {"heat": "u_t - 0.3*u_xx"},
        [pinn.Initial("u", "sin(pi*x)"), pinn.Dirichlet("u", 0)],
    )  # fmt: skip
    asked = Experiment(problem, model=pinn.MLP(8, 2))
    assert in_natural_units(asked) == (asked, ())


def rod(source, *conditions):
    return pinn.Problem(
        pinn.Interval("x", 0, 1), ["u"], {"rod": f"u_xx + {source}"}, list(conditions)
    )


@pytest.mark.parametrize("source", [1e-12, 1e25])
def test_a_source_of_any_size_tells_how_large_the_solution_is(source):
    experiment, _ = told(rod(source, pinn.Dirichlet("u", 0)), model=pinn.MLP(8, 2))
    assert source / 100 < experiment.model.scale["u"] < source
    found = block_sizes(statement_of(experiment.problem))
    assert found["rod"] / found["dirichlet_u"] < 1e3


@pytest.mark.parametrize("load", [
    pinn.Neumann("u", 1, on="x=1"), pinn.Operator("2e11*u_x - 2e11", on="x=1", name="load"),
    pinn.Robin("u", 0.5, 1, 1, on="x=1"),
])  # fmt: skip
@pytest.mark.parametrize("source", [1e-9, 1e-3])
def test_a_small_source_does_not_hide_what_conditions_bring_about(source, load):
    problem = rod(source, pinn.Dirichlet("u", 0, on="x=0"), load)
    experiment, said = told(problem, model=pinn.MLP(8, 2))
    assert not [one for one in said if one.startswith("scale")]
    found = experiment.weighting.initial
    if isinstance(load, pinn.Operator):
        assert found.pop("load") < 1e-18
        assert found == {"rod": 1.0, "dirichlet_u_x_low": 1.0}
    else:
        assert found == {}


def test_what_a_robin_condition_pulls_to_is_a_size():
    problem = pinn.Problem(
        pinn.Interval("x", 0, 0.1), ["T"], {"wall": "T_xx"},
        [pinn.Operator("-50*T_x + 8*(T - 263)", on="x=0"),
         pinn.Operator("50*T_x + 25*(T - 293)", on="x=0.1")],
    )  # fmt: skip
    size = stated_sizes(statement_of(problem))["T"]
    assert size.value == pytest.approx(293) and size.changes == pytest.approx(30)
    assert told(problem, model=pinn.MLP(8, 2))[0].model.scale == {"T": 100.0}


def test_derivatives_are_as_large_as_what_changes_and_not_as_the_level():
    """Copper at 373 K that cools in air of 293 K: rho*cp*T_t is of 80 K."""
    problem = pinn.Problem(
        pinn.Interval("x", 0, 0.05) * pinn.Time("t", 0, 3600), ["T"],
        {"heat": "3.45e6*T_t - 400*T_xx"},
        [pinn.Initial("T", 373), pinn.Neumann("T", 0, on="x=0"),
         pinn.Operator("400*T_x + 25*(T - 293)", on="x=0.05")],
    )  # fmt: skip
    size = stated_sizes(statement_of(problem))["T"]
    assert size.value == pytest.approx(373) and size.changes == pytest.approx(80)
    # 400*80/0.05^2 is 1.3e7
    assert block_sizes(statement_of(problem))["heat"] == pytest.approx(1.3e7, rel=0.5)


def test_a_scale_that_is_given_is_the_size_that_blocks_are_weighed_by():
    """The load of 1e8 makes u about 5e-4, which whoever gives a scale of 1 denies."""
    problem = pinn.Problem(
        pinn.Interval("x", 0, 1), ["u"], {"rod": "2e11*u_xx"},
        [pinn.Dirichlet("u", 0, on="x=0"), pinn.Operator("2e11*u_x - 1e8", on="x=1")],
    )  # fmt: skip
    by_statement, by_scale = (
        weights(problem, model=pinn.MLP(8, 2, scale=scale)) for scale in ({}, {"u": 1.0})
    )
    assert by_statement["dirichlet_u_x_low"] > 1e5 and by_scale["dirichlet_u_x_low"] == 1.0


def box(equations, *conditions, unknowns=("u",), **constants):
    domain = pinn.Interval("x", 0, 1) * pinn.Interval("y", 0, 1)
    return pinn.Problem(domain, unknowns, equations, conditions, constants=constants)


@pytest.mark.parametrize("width", [0.03, 0.01, 5e-3, 1e-3])
def test_a_source_that_hardly_any_point_sees_tells_no_size(width):
    """A load at nearly a point, 1 in all: where it is not met its tail is 1e-14, or nothing."""
    load = "exp(-((x - 0.37)**2 + (y - 0.61)**2)/w**2)/(pi*w**2)"
    narrow = box({"membrane": f"laplacian(u) + {load}"}, pinn.Dirichlet("u", 0), w=width)
    assert told(narrow)[1] == []
    weak = box({"membrane": f"1e-7*laplacian(u) + {load}"}, pinn.Dirichlet("u", 0), w=0.3)
    assert told(weak)[1][0].startswith("scale of outputs: u 1e+0")


def test_blocks_are_not_weighed_where_an_unknown_may_balance_what_is_large():
    """Convection: the pressure is as large as the buoyancy, and no condition says how large."""
    convection = box(
        {"mx": "u*u_x + v*u_y + p_x - Pr*laplacian(u)",
         "my": "u*v_x + v*v_y + p_y - Pr*laplacian(v) - Ra*Pr*T",
         "mass": "u_x + v_y", "heat": "u*T_x + v*T_y - laplacian(T)"},
        pinn.Dirichlet("u", 0), pinn.Dirichlet("v", 0), pinn.Dirichlet("T", 1, on="x=0"),
        pinn.Dirichlet("T", 0, on="x=1"), pinn.Neumann("T", 0, on=["y=0", "y=1"]),
        pinn.PointValue("p", 0, x=0, y=0), unknowns=("u", "v", "p", "T"), Ra=1e6, Pr=0.71,
    )  # fmt: skip
    assert block_sizes(statement_of(convection)) is None
    assert told(convection)[1] == []


def test_where_coefficients_are_to_be_found_blocks_are_weighed_sooner():
    """A thermal diffusivity by three thermocouples, and a rate in time alone, in SI units."""
    times = np.linspace(5, 600, 10)
    data = {"x": np.full(10, 0.05), "t": times, "T": 300 + 400 * np.exp(-times / 100)}

    def found(parameters, constants):
        return weights(pinn.Problem(
            BAR * TIME, ["T"], {"heat": "T_t - a*T_xx"},
            [pinn.Initial("T", "300 + 400*sin(pi*x/0.1)"), pinn.Dirichlet("T", 300.0),
             pinn.Data("T", data)], parameters=parameters, constants=constants,
        ))  # fmt: skip

    assert found([], {"a": 1e-5}) == {}
    inverse = found([pinn.Parameter("a", 5e-6, lower=0)], {})
    assert inverse["heat"] / inverse["initial_T"] == pytest.approx(1e5, rel=10)
    decay = pinn.Problem(
        pinn.Time("t", 0, 4e4), ["A"], {"a": "A_t + k*A"},
        [pinn.Initial("A", 1e6), pinn.Data("A", {"t": times, "A": 1e6 * np.exp(-1e-4 * times)})],
        parameters=[pinn.Parameter("k", 1e-4, lower=0)],
    )  # fmt: skip
    assert weights(decay)["a"] > 1e6 * weights(decay)["initial_A"]


def test_in_time_alone_equations_that_are_far_apart_are_weighed():
    """A temperature of 300 K beside 1e-8 moles that heat it: of c alone a loss saw nothing."""
    problem = pinn.Problem(
        pinn.Time("t", 0, 100), ["T", "c"],
        {"heat": "T_t + 0.02*(T - 300) - 5e7*c", "reaction": "c_t + 0.05*c*exp(-(T - 300)/100)"},
        [pinn.Initial("T", 350), pinn.Initial("c", 1e-8)],
    )  # fmt: skip
    found = weights(problem)
    assert found["reaction"] > 1e14 * found["heat"]
    solution = pinn.solve(problem, error_bars=False)
    t = np.linspace(0, 100, 41)
    right = solve_ivp(
        lambda t, y: [
            -0.02 * (y[0] - 300) + 5e-1 * y[1], -0.05 * y[1] * np.exp(-(y[0] - 300) / 100)
        ],
        (0, 100), [350, 1.0], "DOP853", t, rtol=1e-12, atol=1e-12,
    ).y[1]  # fmt: skip
    np.testing.assert_allclose(1e8 * solution.evaluate(t=t)["c"].ravel(), right, atol=1e-9)


def test_in_time_alone_sizes_that_change_on_the_way_are_not_weighed():
    """Robertson's reactions over ten decades: a weight by the last one hid the first ones."""
    times = np.log([1e-5, 1e5])
    problem = pinn.Problem(
        pinn.Time("s", *times), ["a", "b", "c"],
        {"mass": "a + b/1e4 + c = 1",
         "intermediate": "(b_s - exp(s)*(400*a - 1e4*b*c - 3000*b**2))/(1 + 400*exp(s))",
         "product": "c_s = 0.3*exp(s)*b**2"},
        [pinn.Initial("a", 1, hard=True), pinn.Initial("b", 0, hard=True),
         pinn.Initial("c", 0, hard=True)],
    )  # fmt: skip
    assert weights(problem) == {}
    solution = pinn.solve(problem, error_bars=False)
    assert solution.experiment.model.trained < 30
    s = np.linspace(*times, 41)

    def rates(s, y):
        a, b, c = y
        back, onwards = b * c, 0.3 * b**2
        return np.exp(s) * np.array(
            [-0.04 * a + back, 1e4 * (0.04 * a - back - onwards), onwards]
        )

    right = solve_ivp(rates, times, [1, 0, 0], "Radau", s, rtol=1e-10, atol=1e-14).y
    found = solution.evaluate(s=s)
    for name, expected in zip("abc", right, strict=True):
        np.testing.assert_allclose(found[name].ravel(), expected, rtol=0, atol=1e-8)


def test_in_time_alone_one_equation_is_not_weighed_beside_its_start():
    problem = pinn.Problem(
        pinn.Time("t", 0, 9), ["T"], {"cooling": "1e6*T_t + 2e5*(T - 300)"},
        [pinn.Initial("T", 400)],
    )  # fmt: skip
    assert weights(problem) == {}


def test_equations_between_unknowns_far_apart_are_weighed_by_what_others_ask_for():
    experiment, (scale, _) = told(bar(), model=pinn.MLP(8, 2))
    assert experiment.model.scale == {"s": 1e8, "u": 1e-4}
    assert scale == (
        "scale of outputs: s 1e+08, u 0.0001: s is about 1e+08 (dirichlet_s_x_high), u is about "
        "0.0005 (hooke)"
    )
    found = experiment.weighting.initial
    assert found["dirichlet_u_x_low"] / found["hooke"] == pytest.approx(1e20)


MODELS = [
    pinn.MLP(8, 2), pinn.Siren(), pinn.PerUnknown(pinn.MLP(8, 2)),
    pinn.Windows(2, pinn.MLP(8, 2)), pinn.AutoModel(),
]  # fmt: skip


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_outputs_of_any_network_are_scaled_by_what_conditions_give(model):
    found = told(heat(), model=model)[0].model
    if isinstance(found, pinn.Windows):
        assert found.count == 2
        found = found.model
    if isinstance(found, pinn.PerUnknown):
        found = found.networks["T"]
    assert found.scale == {"T": 100.0}


@pytest.mark.parametrize("model", [
    pinn.MLP(8, 2, scale={"T": 1}), pinn.MLP(8, 2, offset={"T": 300}), pinn.MLP(8, 2, scale="data"),
    pinn.RandomFeatures(40), pinn.PerUnknown(pinn.MLP(8, 2), {"T": pinn.MLP(8, 2, scale={"T": 1})}),
])  # fmt: skip
def test_outputs_stay_where_their_scale_is_given_or_is_solved_for(model):
    before = Experiment(heat(), model=model).model
    assert told(heat(), model=model)[0].model == before


def test_where_a_condition_holds_exactly_the_network_is_as_large_as_what_is_beside_it():
    """T = 300 at the walls, exactly: a network that adds to it need not be 300 large."""
    problem = pinn.Problem(
        pinn.Interval("x", 0, 1), ["T"], {"heat": "T_xx + 1"}, [pinn.Dirichlet("T", 300, hard=True)]
    )
    assert told(problem, model=pinn.MLP(8, 2))[1] == []


@pytest.mark.parametrize("value", ["1e-3", "1e-3*x", "sin(pi*x)*sin(pi*y)"])
def test_small_values_at_a_boundary_say_nothing_beside_a_source(value):
    square = pinn.Interval("x", 0, 1) * pinn.Interval("y", 0, 1)
    problem = pinn.Problem(
        square, ["u"], {"e": "laplacian(u) + 20"}, [pinn.Dirichlet("u", value)]
    )  # fmt: skip
    assert told(problem, model=pinn.MLP(8, 2))[1] == []


def test_a_pressure_that_is_held_at_nothing_is_not_small():
    square = pinn.Interval("x", 0, 1) * pinn.Interval("y", 0, 1)
    problem = pinn.Problem(
        square, ["u", "v", "p"],
        {"mass": "u_x + v_y", "x": "u*u_x + v*u_y + p_x - 0.1*laplacian(u)",
         "y": "u*v_x + v*v_y + p_y - 0.1*laplacian(v)"},
        [pinn.Dirichlet("u", 1, on="y=1"), pinn.Dirichlet("u", 0, on=["x=0", "x=1", "y=0"]),
         pinn.Dirichlet("v", 0), pinn.Dirichlet("p", 1e-5, on="x=0")],
    )  # fmt: skip
    assert told(problem, model=pinn.MLP(8, 2))[1] == []


def test_numbers_to_start_from_are_those_of_the_model_as_it_was():
    """A solution's numbers go with its model; numbers alone with what the problem makes of it."""
    settings = {"training": [pinn.Adam(2)], "sampling": SMALL, "error_bars": False}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pinn.UnsolvedWarning)
        old = pinn.solve(heat(), pinn.MLP(6, 1, scale={"T": 7.0}), **settings)
        new = pinn.solve(heat(), start=old, **settings)
        plain = pinn.solve(heat(), pinn.MLP(6, 1), **settings)
        again = pinn.solve(heat(), pinn.MLP(6, 1), start=plain.named_theta, **settings)
    assert new.experiment.model.scale == {"T": 7.0}
    assert again.experiment.model.scale == plain.experiment.model.scale == {"T": 100.0}


def test_a_check_and_a_run_are_of_one_loss_and_the_run_says_so():
    settings = {"training": [pinn.Adam(2)], "sampling": SMALL}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pinn.UnsolvedWarning)
        solution = pinn.solve(heat(), pinn.MLP(6, 1), error_bars=False, **settings)
    assert [one.what.split(":")[0] for one in solution.report.decisions] == [
        "scale of outputs", "weights"
    ]  # fmt: skip
    assert solution.experiment.weighting != Fixed()
    found = pinn.check(heat(), pinn.MLP(6, 1), **settings)
    rms = {block.name: block.rms for block in found.blocks}
    weighted = sum(
        solution.experiment.weighting.initial[name] * value**2 for name, value in rms.items()
    )
    assert 0.01 < weighted < 100


@pytest.mark.filterwarnings("ignore::pinn.UnsolvedWarning")
def test_steel_is_solved_in_si_units_by_layers_and_by_features():
    layers = pinn.solve(
        heat(), pinn.MLP(10, 2), SMALL, [pinn.LevenbergMarquardt(60)], error_bars=False
    )
    assert layers.report.rel_l2["T"] < 1e-4  # without units of its own 0.05
    features = pinn.solve(heat(), pinn.RandomFeatures(300), SMALL, error_bars=False)
    assert features.report.rel_l2["T"] < 1e-6


def test_given_weights_of_one_leave_steel_unsolved():
    """What the units are for: the run without them, which the test above solves."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pinn.UnsolvedWarning)
        found = pinn.solve(
            heat(), pinn.MLP(10, 2, scale={"T": 1}), SMALL, [pinn.LevenbergMarquardt(60)],
            {"heat": 1.0}, error_bars=False,
        )  # fmt: skip
    assert found.report.rel_l2["T"] > 1e-2
    assert np.isfinite(found.report.loss)


def test_a_block_with_a_number_in_its_name_is_weighed():
    at = [pinn.Dirichlet("w", 0, on="x=0"), pinn.PointValue("w", 0.1, x=0.5)]
    problem = pinn.Problem(pinn.Interval("x", 0, 1), ["w"], {"e": "5000*w_xx + 1"}, at)
    experiment, _ = in_natural_units(Experiment(problem))
    assert "value_w_x_0.5" in experiment.weighting.blocks
    asked = pinn.check(problem=problem, model=pinn.MLP(4, 1), weighting={"value_w_x_0.5": 2.0})
    assert asked.warnings == ()
