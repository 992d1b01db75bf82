"""Missing conditions are told; problems that are well posed, and configs that ship, are not."""

import dataclasses
import functools
import operator
from pathlib import Path

import numpy as np
import pytest

import autograd as T
import pinn
from pinn.conditions import Condition
from pinn.config import load
from pinn.diagnosis import preflight
from pinn.diagnosis.posed.held import HeldByModel
from pinn.diagnosis.posed.missing import missing, overdetermined, underdetermined
from pinn.diagnosis.posed.statement import Statement
from pinn.equations.term import Term
from pinn.schema import Name, Text, declared
from pinn.training.experiment import Experiment

BC, IC, P, PAR = pinn.Dirichlet, pinn.Initial, pinn.Problem, pinn.Parameter
X, Y, Z = (pinn.Interval(name, 0, 1) for name in "xyz")
W = pinn.Interval("x", -1, 1)
T1 = pinn.Time("t", 0, 1)
SMALL = pinn.MLP(width=4, depth=1)
CONFIGS = Path(__file__).parents[3] / "configs"


@declared
class Slope(Condition):
    """The slope across a face vanishes: a condition from outside."""

    unknown: Name
    on: Text

    def label(self, domain):
        return f"slope_{BC(self.unknown, 0, on=self.on).label(domain)}"

    def residuals(self, domain, scope):
        (value,) = BC(self.unknown, 0, on=self.on).residuals(domain, scope)
        slope = Term("slope", f"{self.unknown}_{self.on.split('=')[0]}", scope)
        return [dataclasses.replace(value, name=self.label(domain), left=slope)]


def said(problem, model=SMALL):
    return preflight(Experiment(problem, model=model).objective())


def navier_stokes(*conditions, time=False):
    ut, vt = ("u_t + ", "v_t + ") if time else ("", "")
    return P(
        X * Y * T1 if time else X * Y,
        ["u", "v", "p"],
        {
            "x_momentum": f"{ut}u*u_x + v*u_y + p_x - 0.025*laplacian(u)",
            "y_momentum": f"{vt}u*v_x + v*v_y + p_y - 0.025*laplacian(v)",
            "mass": "u_x + v_y",
        },
        conditions,
    )


LOTKA = {"prey": "u_t - u + u*v", "predators": "v_t + v - u*v"}
SCHROEDINGER = {
    "real": "u_t + 0.5*v_xx + (u**2 + v**2)*v", "imaginary": "v_t - 0.5*u_xx - (u**2 + v**2)*u",
}  # fmt: skip
CUBE = functools.reduce(operator.mul, [pinn.Interval(f"x{k}", 0, 1) for k in range(6)])

WELL_POSED = {
    "burgers": P(
        W * T1, ["u"], {"e": "u_t + u*u_x - 0.01*u_xx"}, [IC("u", "-sin(pi*x)"), BC("u", 0)]
    ),
    "burgers, hard": P(
        W * T1, ["u"], {"e": "u_t + u*u_x - 0.01*u_xx"},
        [IC("u", "-sin(pi*x)", hard=True), BC("u", 0, hard=True)],
    ),
    "half hard": P(
        X * T1, ["u"], {"e": "u_t - u_xx"}, [IC("u", "sin(pi*x)"), BC("u", 0, hard=True)]
    ),
    "heat, a function": P(
        X * T1, ["u"], {"e": lambda s: s.u_t - s.u_xx}, [IC("u", "sin(pi*x)"), BC("u", 0)]
    ),
    "heat, 3-D": P(
        X * Y * Z * T1, ["u"], {"e": "u_t - laplacian(u)"},
        [IC("u", "sin(pi*x)*sin(pi*y)*sin(pi*z)"), BC("u", 0)],
    ),
    "wave": P(
        X * T1, ["u"], {"e": "u_tt - 4*u_xx"},
        [IC("u", "sin(pi*x)"), IC("u", 0, order=1), BC("u", 0)],
    ),
    "poisson": P(X * Y, ["u"], {"e": "laplacian(u) + 1"}, [BC("u", 0)]),
    "poisson, 6-D": P(CUBE, ["u"], {"e": "laplacian(u) + 1"}, [BC("u", 0)]),
    "helmholtz": P(X * Y, ["u"], {"e": "u_xx + u_yy + 9*u - sin(x*y)"}, [BC("u", 0)]),
    "kdv": P(
        X * T1, ["u"], {"e": "u_t + 6*u*u_x + u_xxx"},
        [IC("u", "sin(pi*x)**2"), BC("u", 0), Slope("u", "x=1")],
    ),
    "plate in two equations": P(
        X * Y, ["u", "m"], {"a": "laplacian(u) - m", "b": "laplacian(m) - 1"},
        [BC("u", 0), BC("m", 0)],
    ),
    "allen-cahn": P(
        W * T1, ["u"], {"e": "u_t - 1e-4*u_xx + 5*u**3 - 5*u"},
        [IC("u", "x**2*cos(pi*x)"), BC("u", -1)],
    ),
    "advection": P(
        X * T1, ["u"], {"e": "u_t + 30*u_x"}, [IC("u", "x"), BC("u", "-30*t", on="x=0")]
    ),
    "convection-diffusion": P(X, ["u"], {"e": "u_x - 0.01*u_xx"}, [BC("u", "x")]),
    "schroedinger": P(
        W * T1, ["u", "v"], SCHROEDINGER,
        [IC("u", "1 - x**2"), IC("v", 0), BC("u", 0), BC("v", 0)],
    ),
    "lotka-volterra": P(T1, ["u", "v"], LOTKA, [IC("u", 2), IC("v", 1)]),
    "van der pol": P(
        T1, ["u"], {"e": "u_tt - (1 - u**2)*u_t + u"}, [IC("u", 2), IC("u", 0, order=1)]
    ),
    "kovasznay": navier_stokes(BC("u", "y"), BC("v", "x"), BC("p", 0, on="x=1")),
    "navier-stokes in time": navier_stokes(
        BC("u", 0), BC("v", 0), IC("u", 0), IC("v", 0), BC("p", 0, on="x=0"), time=True
    ),
    "acoustics, one end each": P(
        X * T1, ["u", "p"], {"a": "u_t + p_x", "b": "p_t + u_x"},
        [IC("u", 0), IC("p", 0), BC("u", 0)],
    ),
    "a velocity by its name or as a derivative": P(
        T1, ["u", "v"], {"a": "u_t - v", "b": "v_t + u"}, [IC("u", 0), IC("u", 1, order=1)]
    ),
    "everything flows out": P(W * T1, ["u"], {"e": "u_t + x*u_x"}, [IC("u", "x")]),
    "a speed that is not known": P(W * T1, ["u"], {"e": "u_t + u*u_x"}, [IC("u", "x")]),
    "singular at the centre": P(
        pinn.Interval("r", 0, 3), ["u"], {"e": "u_rr + 2*u_r/r + u**5"}, [BC("u", 1, on="r=0")]
    ),
    "degenerate at a bound": P(
        pinn.Interval("s", 0, 3) * T1, ["u"], {"e": "u_t - s**2*u_ss - s*u_s + u"},
        [IC("u", "s"), BC("u", 3, on="s=3")],
    ),
    "a coefficient from one more condition": P(
        T1, ["u"], {"e": "u_t + k*u"}, [IC("u", 1), IC("u", -2, order=1)],
        parameters=[PAR("k", 0.5, lower=0)],
    ),
    "more equations than unknowns": P(X, ["u"], {"a": "u_x - u", "b": "u_xx - u"}),
}  # fmt: skip


@pytest.mark.parametrize("name", WELL_POSED)
def test_well_posed_problems_are_left_in_peace(name):
    assert said(WELL_POSED[name]) == []


HEAT = {"heat": "u_t - u_xx"}
ILL_POSED = {
    "no initial value": (
        P(X * T1, ["u"], HEAT, [BC("u", 0)]),
        "not to be determined in t: the equation 'heat' takes 1 condition in t, such as at its "
        "start, and none is given; add one, such as pinn.Initial('u', ...) (in YAML initial: "
        "{unknown: u, value: ...})",
    ),
    "no initial value, hard": (
        P(X * T1, ["u"], HEAT, [BC("u", 0, hard=True)]), "takes 1 condition in t",
    ),
    "no initial velocity": (
        P(X * T1, ["u"], {"wave": "u_tt - u_xx"}, [IC("u", "x"), BC("u", "x")]),
        "takes 2 conditions in t, such as at its start, and 1 is given (initial_u at t = 0); add "
        "one, such as pinn.Initial('u', ..., order=1)",
    ),
    "no second derivative at the start": (
        P(T1, ["u"], {"e": "u_ttt + u_t"}, [IC("u", 1), IC("u", 0, order=1)]),
        'and 2 are given (initial_u at t = 0, initial_u_t at t = 0); add one, such as '
        'pinn.Operator("u_tt - ...", at={"t": 0})',
    ),
    "nothing on the boundary": (
        P(X * T1, ["u"], HEAT, [IC("u", "x")]),
        "not to be determined at x=0, x=1, all of the boundary: there is no condition on 'u', and "
        "the equation 'heat' takes 1 at every point of it; add one, such as "
        "pinn.Dirichlet('u', ..., on='x=0')",
    ),
    "nothing on one face": (
        P(X * Y, ["u"], {"e": "laplacian(u)"}, [BC("u", 0, on=f) for f in ("x=0", "y=0", "y=1")]),
        "at x=1, 25 % of the boundary: there is no condition on 'u', and the equation 'e' takes 1 "
        "at every point of it; add one, such as pinn.Dirichlet('u', ..., on='x=1')",
    ),
    "no inflow": (
        P(X * T1, ["u"], {"e": "u_t + 2*u_x"}, [IC("u", "x")]),
        "at x=0: there the characteristics of the equation 'e' enter the domain",
    ),
    "a plate that is held but not clamped": (
        P(X, ["u"], {"plate": "u_xxxx - 1"}, [BC("u", 0)]),
        "at x=0, x=1, all of the boundary: there is 1 condition, and the equation 'plate' takes 2 "
        "at every point of it; add one, such as a derivative there",
    ),
    "one of two ordinary equations": (
        P(T1, ["u", "v"], LOTKA, [IC("u", 2)]), "add one, such as pinn.Initial('v', ...)",
    ),
    "one of two systems": (
        P(T1, ["a", "b"], {"first": "a_t + a", "second": "b_t - b"}, [IC("a", 1)]),
        "the equation 'second' takes 1 condition in t",
    ),
    "a flow without a start": (
        navier_stokes(BC("u", 0), BC("v", 0), BC("p", 0, on="x=0"), time=True),
        "'x_momentum', 'y_momentum', 'mass' take 1 condition in t",
    ),
    "a pressure up to a constant": (
        navier_stokes(BC("u", "y"), BC("v", "x")),
        "'p' seems to be determined only up to a constant: the equations and conditions ask for "
        "p_x, p_y and never for 'p' itself",
    ),
    "a pressure up to a function of time": (
        navier_stokes(BC("u", 0), BC("v", 0), IC("u", 0), IC("v", 0), time=True),
        "'p' seems to be determined only up to a function of t: the equations and conditions ask "
        "for p_x, p_y and never for 'p' itself; fix it by a condition that holds at all t, such as "
        "its integral: pinn.Integral('p', 0)",
    ),
    "slopes alone": (
        P(X * Y, ["u"], {"e": "laplacian(u) - x"},
          [Slope("u", face) for face in ("x=0", "x=1", "y=0", "y=1")]),
        "'u' seems to be determined only up to a constant: the equations and conditions ask for "
        "laplacian(u), u_x, u_y and never for 'u' itself",
    ),
    "a period that is too short": (
        P(X * T1, ["u"], {"e": "u_t + u_xxx"}, [IC("u", 0), pinn.Periodic("u", "x")]),
        "add one, such as those of all derivatives below order 3 (orders=3)",
    ),
    "periods of the values of two unknowns": (
        P(X * T1, ["u", "v"], {"a": "u_t + v_xx", "b": "v_t - u_xx"},
          [IC("u", 0), IC("v", 0), pinn.Periodic(["u", "v"], "x", orders=1)]),
        "there is a period of the value alone, and the equations 'a', 'b' take 2 at every point "
        "of it; add one, such as that of the slope (orders=2)",
    ),
    "one medium without its far wall": (
        P(X * Y, ["a", "b"], {"l": pinn.Equation("laplacian(a)", on="x<0.5"),
          "r": pinn.Equation("laplacian(b)", on="x>0.5")},
          [BC("a", 0, on=["x=0", "y=0 and x<0.5", "y=1 and x<0.5"]),
           pinn.Interface(on="x=0.5", inner="a", outer="b")]),
        "add one, such as pinn.Dirichlet('b', ..., on='x=1')",
    ),
    "a coefficient without data": (
        P(X * T1, ["u"], {"e": "u_t - k*u_xx"}, [IC("u", "sin(pi*x)"), BC("u", 0)],
          parameters=[PAR("k", 1, lower=0)]),
        "the parameter 'k' seems not to be determined",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ILL_POSED)
def test_what_is_missing_is_told_once(name):
    problem, expected = ILL_POSED[name]
    (sentence,) = said(problem)
    assert expected in sentence


@pytest.mark.parametrize("name", sorted(path.stem for path in CONFIGS.glob("*.yaml")))
def test_no_condition_is_said_to_be_missing_in_a_config_that_ships(name):
    experiment = load(CONFIGS / f"{name}.yaml").experiment
    if isinstance(experiment.model, pinn.AutoModel):  # what a trial may choose
        experiment = dataclasses.replace(experiment, model=experiment.model.trained(1))
    objective = experiment.objective()
    assert missing(Statement(objective.problem), HeldByModel(objective)) == []


class Periodic(T.nn.Module):
    """A network of the sine and cosine of x, and of t where `moving`."""

    def __init__(self, moving=True):
        super().__init__()
        self.first = T.nn.Linear(3, 6, dtype=T.float64)
        self.last = T.nn.Linear(6, 1, dtype=T.float64)

    def forward(self, points):
        x, t = points[:, :1], points[:, 1:]
        waves = [T.sin(2 * T.pi * x), T.cos(2 * T.pi * x), t]
        return self.last(T.tanh(self.first(T.cat(waves, dim=1))))


class Clamped(T.nn.Module):
    """x**2 (1 - x)**2 N(x): the value and slope of a clamped beam."""

    def __init__(self):
        super().__init__()
        self.network = T.nn.Sequential(
            T.nn.Linear(1, 6, dtype=T.float64), T.nn.Tanh(), T.nn.Linear(6, 1, dtype=T.float64)
        )

    def forward(self, x):
        return (x * (1 - x)) ** 2 * self.network(x)


def test_what_a_model_keeps_by_itself_is_not_missing():
    heat = P(X * T1, ["u"], HEAT, [IC("u", "sin(2*pi*x)")])
    assert len(said(heat)) == 1 and said(heat, Periodic()) == []
    beam = P(X, ["u"], {"beam": "u_xxxx - 1"})
    assert len(said(beam)) == 1 and said(beam, Clamped()) == []


def test_an_equation_that_only_a_network_can_run_is_left_in_peace():
    def peculiar(s):
        return s.u_t + s.u if s.u.grad_fn.next_functions else None

    assert said(P(T1, ["u"], {"decay": peculiar})) == []


def test_the_objective_is_left_to_the_last_bit():
    problem, _ = ILL_POSED["a coefficient without data"]
    objective = Experiment(problem, precision="float32", model=SMALL).objective()
    before, blocks = objective.theta.tobytes(), [b.points for b in objective.blocks]
    assert preflight(objective)
    assert objective.theta.tobytes() == before
    assert all(b.points is points for b, points in zip(objective.blocks, blocks, strict=True))


def test_fewer_equations_than_unknowns_are_told():
    def told(equations, unknowns=("u", "v"), conditions=()):
        problem = pinn.Problem(
            pinn.Interval("x", 0, 1), list(unknowns), equations,
            [pinn.Dirichlet("u", 1, on="x=0"), *conditions],
        )  # fmt: skip
        said = pinn.solve(
            problem, pinn.MLP(3, 1), pinn.Sampling(interior=9), [pinn.Adam(1)], error_bars=False
        ).report.warnings
        return [text for text in said if "leave some of them free" in text]

    with pytest.warns(pinn.ProblemWarning, match="1 equation for the 2 unknowns u, v"):
        assert len(told({"e": "u_x + v"})) == 1
    enough = {"e": "u_x + v", "f": "v_x - u"}
    assert told(enough, conditions=[pinn.Dirichlet("v", 0, on="x=0")]) == []
    data = {"x": np.linspace(0, 1, 5), "v": np.linspace(0, 1, 5)}
    assert told({"e": "u_x + v"}, conditions=[pinn.Data("v", data)]) == []


@pytest.mark.parametrize("delayed", ["u_t + at(v, t=t/2)", lambda s: s.u_t + s.v_t])
def test_an_equation_that_cannot_be_read_may_determine_any_unknown(delayed):
    equations = {"e": delayed, "f": "v_t + u"}
    assert underdetermined(Statement(P(T1, ["u", "v"], equations, [IC("u", 1), IC("v", 0)]))) == []


@pytest.mark.parametrize("equation", [
    "u_t + at(u, t=t/2)", "u_t + u + integral(at(u, t=s), s, 0, t)",
])  # fmt: skip
def test_an_equation_with_values_from_elsewhere_wants_a_start(equation):
    (sentence,) = said(P(T1, ["u"], {"e": equation}))
    assert sentence.startswith(
        "the solution seems not to be determined in t: the equation 'e' asks for u_t, and no "
        "condition for 'u'; add one, such as pinn.Initial('u', ...)"
    )
    data = pinn.Data("u", {"t": [0.1, 0.5], "u": [1.0, 0.5]})
    for condition in (IC("u", 1), IC("u", 1, hard=True), data, pinn.Terminal("u", 1)):
        assert said(P(T1, ["u"], {"e": equation}, [condition])) == []
    assert said(P(T1, ["u"], {"e": "u - 1 + integral(at(u, t=s), s, 0, t)"})) == []


def test_of_an_unknown_whose_value_is_given_at_the_start_its_rate_is_missing():
    waves = {"a": "u_tt - u_xx - v", "b": "v_tt - v_xx + u"}
    conditions = [IC("u", "sin(pi*x)"), IC("v", 0), BC("u", 0), BC("v", 0)]
    (sentence,) = said(P(X * T1, ["u", "v"], waves, conditions))
    assert "add one, such as pinn.Initial('u', ..., order=1)" in sentence
    assert said(P(X * T1, ["u", "v"], waves, [*conditions, *(
        IC(name, 0, order=1) for name in "uv")])) == []  # fmt: skip


@pytest.mark.parametrize("equations, unknowns, parameters, said", [
    ({"heat": "u_t - u_xx", "slope": "u_x - 1"}, ["u"], [], True),
    ({"heat": "u_t - u_xx", "wave": "v_tt - v_xx"}, ["u", "v"], [], False),
    ({"heat": "u_t - k*u_xx", "slope": "u_x - 1"}, ["u"], [PAR("k", 1.0)], False),
    ({"left": pinn.Equation("u_t - u_xx", on="x < 0.5"),
      "right": pinn.Equation("u_t - 2*u_xx", on="x > 0.5")}, ["u"], [], False),
    ({"heat": "u_t - u_xx", "above": "max(x - u, 0)"}, ["u"], [], False),  # an inequality
    ({"delayed": "u_t - at(u, t=t/2)"}, ["u"], [], False),  # nothing is known of it
])  # fmt: skip
def test_more_equations_than_unknowns_are_told(equations, unknowns, parameters, said):
    problem = P(X * T1, unknowns, equations, [IC("u", "x")], parameters=parameters)
    found = overdetermined(Statement(problem))
    assert len(found) == said
    assert not said or found[0].startswith("2 equations ('heat', 'slope') for 1 unknown, u: unless")


@pytest.mark.parametrize("equations, count", [
    ({"s": "u_t + u*v", "i": "v_t - u*v + v", "sum": "u_t + v_t + v"}, 0),
    ({"s": "u_t + v - t", "i": "v_t - u", "sum": "2*u_t + 2*v - v_t + u - 2*t"}, 0),
    ({"s": "u_t + v - t", "i": "v_t - u", "sum": "2*u_t + 2*v - v_t + u - t"}, 1),
    ({"s": "u_t + u*v", "i": "v_t - u*v + v", "sum": "u_t + v_t + u"}, 1),
    ({"s": "u_t + v", "i": "v_t - u", "sum": "u_t + v", "more": "u_t + v - u"}, 1),
])  # fmt: skip
def test_an_equation_more_that_follows_from_the_others_is_none(equations, count):
    problem = P(T1, ["u", "v"], equations, [IC("u", 1), IC("v", 0.5)])
    assert len(overdetermined(Statement(problem))) == count


def test_an_estimate_without_a_condition_is_not_to_be_trusted():
    """u_xx = -1 with one end given has many solutions: 1e-16 is the error of none of them."""
    problem = pinn.Problem(
        pinn.Interval("x", 0, 1), ["u"], {"e": "u_xx = -1"}, [pinn.Dirichlet("u", 0, on="x=0")]
    )
    with pytest.warns(pinn.ProblemWarning, match="condition"):
        solution = pinn.solve(
            problem, pinn.RandomFeatures(300), pinn.Sampling(interior=900, redraw=None)
        )
    estimate = solution.report.error_estimate
    assert not estimate.trusted and any("are missing" in one for one in estimate.doubts)


@pytest.mark.parametrize("order", [1, -1])
def test_a_coefficient_of_two_systems_is_told_by_the_data_of_one(order):
    equations = dict(list({"a": "u_t + k*u", "b": "v_t + k*v"}.items())[::order])
    starts, coefficients = [IC("u", 1), IC("v", 2)], [PAR("k", 1)]
    data = pinn.Data("u", {"t": [0.5], "u": [0.6]})
    for given in ([data], [IC("v", -2, order=1)]):
        problem = P(T1, ["u", "v"], equations, [*starts, *given], parameters=coefficients)
        assert said(problem) == []
    (sentence,) = said(P(T1, ["u", "v"], equations, starts, parameters=coefficients))
    assert sentence.startswith("the parameter 'k' seems not to be determined")


def test_a_norm_in_two_coordinates_determines_an_eigenvalue():
    conditions = [BC("u", 0), pinn.Integral("u**2", 1)]
    equations = {"e": "laplacian(u) + k*u"}
    assert said(P(X * Y, ["u"], equations, conditions, parameters=[PAR("k", 19)])) == []
    (sentence,) = said(P(X * Y, ["u"], equations, conditions[:1], parameters=[PAR("k", 19)]))
    assert sentence.startswith("the parameter 'k' seems not to be determined")


def test_a_mean_that_only_fixes_a_pressure_determines_no_coefficient():
    flow = {"x": "k*laplacian(u) - p_x", "y": "k*laplacian(v) - p_y", "mass": "u_x + v_y"}
    conditions = [BC("u", "x*(1-x)*y"), BC("v", 0), pinn.Integral("p", 0)]
    found = said(P(X * Y, ["u", "v", "p"], flow, conditions, parameters=[PAR("k", 1, lower=0)]))
    assert any("the parameter 'k' seems not to be determined" in one for one in found)


def test_media_that_nothing_joins_want_an_interface():
    equations = {"l": pinn.Equation("a_xx + 1", on="x<0.4"), "r": pinn.Equation("b_xx", on="x>0.4")}
    found = said(P(X, ["a", "b"], equations, [BC("a", 0, on="x=0"), BC("b", 0, on="x=1")]))
    assert len(found) == 2 and all("pinn.Interface(" in sentence for sentence in found)
