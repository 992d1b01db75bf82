"""Problems: what is refused, and their references."""

import copy
import functools
import math
import pickle

import numpy as np
import pytest

import pinn
import pinn.schema
from pinn.problem.references import cole_hopf

X, TIME = pinn.Interval("x", -1, 1), pinn.Time("t", 0, 1)


def problem(**changes):
    arguments = {"domain": X * TIME, "unknowns": ["u"], "equations": {"heat": "u_t - nu*u_xx"},
                 "constants": {"nu": 0.1}}  # fmt: skip
    return pinn.Problem(**{**arguments, **changes})


def test_blocks_are_named_after_equations_and_conditions():
    made = problem(
        unknowns=["u", "v"],
        equations={"heat": "u_t - nu*u_xx", "other": "v - u"},
        conditions=[
            pinn.Initial("u", 0),
            pinn.Initial("u", 0, order=1),
            pinn.Dirichlet("u", 0),
            pinn.Dirichlet("v", 0, on="x=1"),
        ],
    )
    assert [r.name for r in made.residuals] == [
        "heat", "other", "initial_u", "initial_u_t", "dirichlet_u", "dirichlet_v_x_high"
    ]  # fmt: skip


def test_constants_may_be_texts_that_use_each_other():
    assert problem(constants={"nu": "0.01/pi"}).constants == {"nu": 0.01 / np.pi}
    made = problem(constants={"nu": "k/pi", "k": "2*c", "c": 0.005})
    assert list(made.constants.items()) == [("nu", 0.01 / np.pi), ("k", 0.01), ("c", 0.005)]


def test_every_mistake_is_told_at_once_with_its_path():
    with pytest.raises(pinn.schema.DeclarationError) as caught:
        problem(
            equations={"heat": "u_t - q", "other": "u_y"},
            conditions=[pinn.Initial("w", 0), pinn.Dirichlet("u", "z", on="x=1")],
        )
    assert [mistake.path for mistake in caught.value.mistakes] == [
        ("equations", "heat"), ("equations", "other"),
        ("conditions", "0", "unknown"), ("conditions", "1", "value"),
    ]  # fmt: skip


def test_problems_copy_and_pickle():
    made = problem()
    for again in (copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        assert again.equations == made.equations and again.constants == made.constants
        assert [r.name for r in again.residuals] == [r.name for r in made.residuals]

@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"domain": "x"}, TypeError, "domain: expected pinn.Interval"),
        ({"unknowns": "u"}, TypeError, r"expected a list of names such as .*, got 'u'"),
        ({"parameters": "k"}, TypeError, r"; write \[pinn\.Parameter\(\.\.\.\)\]"),
        ({"conditions": {"a": pinn.Initial("u", 0)}}, TypeError, r"; write \[pinn\.Dirichlet\("),
        ({"conditions": [pinn.Dirichlet("u", 0), pinn.Dirichlet("u", 1)]}, ValueError,
         "called 'dirichlet_u', .*say with `on` where each Dirichlet holds, as in on='x=-1'"),
        ({"conditions": [pinn.Operator("u", name="w"), pinn.Operator("u_x", name="w")]}, ValueError,
         r"called 'w', .*another name: Operator\(\.\.\., name=\"other\"\)"),
        ({"conditions": [pinn.Initial("u", 0), pinn.Initial("u", 1)]}, ValueError,
         "called 'initial_u', .*leave one Initial out"),
        ({"equations": {"e": "du/dt - d2u/dx2"}}, ValueError,
         "unknown name 'du'; derivatives are written u_t and u_xx"),
        ({"equations": {"e": "u_t - d2u/dx2"}}, ValueError,
         "unknown name 'd2u'; derivatives are written u_t and u_xx"),
        ({"unknowns": []}, ValueError, "unknowns: expected a list of names .* got none"),
        ({"unknowns": ["u", "u"]}, ValueError, "'u' is declared as an unknown and again"),
        ({"unknowns": ["x"]}, ValueError, "'x' is declared as"),
        ({"unknowns": ["sin"]}, ValueError, "'sin' cannot name an unknown"),
        ({"constants": {"nu": 1, "u_x": 1}}, ValueError, "'u_x' cannot name a constant"),
        ({"constants": {"nu": "1/0"}}, ValueError, "constants.nu: .*divides by zero"),
        ({"constants": {"nu": "x"}}, ValueError, "constants.nu: unknown name 'x'"),
        ({"constants": {}}, ValueError, "equations.heat: unknown name 'nu'"),
        ({"equations": {}}, ValueError, "equations: expected a mapping"),
        ({"equations": "u_t"}, TypeError, "equations: expected a mapping"),
        ({"equations": {"heat": 3}}, TypeError, "equations.heat: expected text, a function or"),
        ({"equations": {"a heat": "u_t"}}, ValueError, "got 'a heat'"),
        ({"equations": {"heat": "u_t - u_yy"}}, ValueError, r"equations.heat: [^$]*\^"),
        ({"equations": {"heat": "sin(x)"}}, ValueError, "at least one of the unknowns u"),
        ({"unknowns": ["u", "v"]}, ValueError, "v appear in no equation"),
        ({"conditions": ["u = 0"]}, TypeError, "conditions.0: expected a condition such as pinn"),
        ({"parameters": ["k"]}, TypeError, "expected pinn.Parameter.*, got 'k'"),
        ({"reference": "cole-hop"}, ValueError, "did you mean 'cole-hopf'"),
        ({"reference": {"v": "x"}}, ValueError, "reference.v: expected one of the unknowns u"),
        ({"reference": {"u": "y"}}, ValueError, "reference.u: unknown name 'y'"),
        ({"reference": 3}, TypeError, "reference: expected the name"),
        ({"reference": "cole-hopf", "domain": pinn.Interval("y", 0, 1) * TIME,
          "equations": {"e": "u_t"}}, ValueError, "needs the coordinates x, t"),
        ({"name": ""}, ValueError, "name: expected a name of letters"),
        ({"unknowns": {"u", "v"}}, TypeError, "a set has no order"),
        ({"conditions": pinn.Initial("u", 0)}, TypeError, r"put it in \[ \]"),
        ({"conditions": [pinn.Initial]}, TypeError,
         r"got the class Initial; write pinn.Initial\(...\)"),
        ({"domain": [pinn.Interval("x", 0, 1), TIME]}, TypeError, r"is a product, write x \* t$"),
        ({"domain": (pinn.Interval("x", 0, 1), TIME)}, TypeError, r"is a product, write x \* t$"),
        ({"domain": ["x", "t"]}, TypeError, r"got \['x', 't'\]$"),
        ({"domain": pinn.Interval}, TypeError, r"write pinn.Interval\(...\)"),
        ({"reference": "sin(pi*x)"}, ValueError, r'write reference=\{"u": "sin\(pi\*x\)"\}'),
        ({"unknowns": ["u", "v"], "equations": {"e": "u_t + v_t"}, "reference": "x"}, ValueError,
         r'write reference=\{"u": "x", ...\}'),
        ({"reference": lambda x, t: x}, TypeError, r"reference: .*one namespace `s`.*\(x, t\)$"),
        ({"reference": {"u": lambda x, t: x}}, TypeError, r"reference.u: .* with s.x, s.t in it"),
        ({"equations": {"e": lambda u, x, t: u}}, TypeError, r"equations.e: .*takes \(u, x, t\)$"),
        ({"conditions": [pinn.Initial("u", lambda x, y: x)]}, TypeError,
         r"conditions.0.value: the function gets one namespace `s`, not the coordinates"),
        ({"constants": {"nu": "a", "a": "nu"}}, ValueError, "constants a and nu need each other"),
        ({"constants": {"nu": 10**400}}, ValueError, "constants.nu: expected a finite number"),
        ({"constants": 3}, TypeError, "constants: expected a mapping"),
    ],
)  # fmt: skip
def test_what_does_not_fit_together_is_refused(changes, error, message):
    with pytest.raises(error, match=message):
        problem(**changes)


@pytest.mark.parametrize(
    "reference",
    [lambda x: 2 * x, lambda x: np.sin(x), lambda x: math.sin(x), lambda x: x[0], lambda x: x],
)
def test_a_reference_that_takes_the_namespace_for_a_number_is_told_of_it(reference):
    with pytest.raises(TypeError, match="reference: the function gets one namespace `s`, .* s.x"):
        problem(reference=reference).exact({"x": np.zeros(3), "t": np.zeros(3)})


@pytest.mark.parametrize("taken", [lambda s: s.x, lambda s, rate=2: s.x, np.abs, functools.partial(
    lambda rate, s: s.x, 2)])  # fmt: skip
def test_a_function_may_have_more_arguments_than_the_namespace(taken):
    assert problem(reference=taken).reference is taken


X_POINTS = np.array([[-0.5], [0.25]])
T_POINTS = np.array([[0.0, 0.3, 0.7]]) + np.zeros((2, 1))
POINTS = {"x": X_POINTS + 0 * T_POINTS, "t": T_POINTS}


@pytest.mark.parametrize(
    "reference",
    [
        {"u": "nu*exp(-t)*where(x < 0, -x, x)"},
        lambda s: s.nu * s.exp(-s.t) * s.where(s.x < 0, -s.x, s.x),
        lambda s: {"u": s.nu * s.exp(-s.t) * s.abs(s.x)},
        {"u": lambda s: s.nu * s.exp(-s.t) * s.max(-s.x, s.x)},
    ],
)
def test_a_reference_may_be_texts_or_a_function(reference):
    exact = problem(reference=reference).exact(POINTS)
    np.testing.assert_allclose(exact["u"], 0.1 * np.exp(-T_POINTS) * np.abs(X_POINTS), rtol=1e-15)


def test_a_constant_reference_has_the_points_shape():
    assert problem(reference={"u": "2"}).exact(POINTS)["u"].tolist() == [[2.0] * 3] * 2


def test_a_shipped_reference_is_found_by_name():
    exact = problem(reference="cole-hopf").exact(POINTS)
    np.testing.assert_array_equal(exact["u"], cole_hopf(POINTS["x"], POINTS["t"], 0.1))


def test_no_reference():
    assert problem().exact(POINTS) is None
