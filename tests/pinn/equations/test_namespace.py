"""What a function that stands for an equation may write: against the same equation as text."""

from __future__ import annotations

import numpy as np
import pytest

import autograd as T
import pinn
from pinn.equations.functions import TENSOR_FUNCTIONS
from pinn.equations.jets import JetPlan, JetValues
from pinn.equations.nested import NestedPlan, NestedValues
from pinn.equations.scope import Scope
from pinn.equations.term import Term
from pinn.equations.values import coordinate_columns

POINTS = np.random.default_rng(0).uniform(-1, 1, (7, 3))
SCOPE = Scope(("u", "v"), ("x", "y", "t"), ("x", "y"), {"c": 0.5}, ("k",))


class Known(T.nn.Module):
    def forward(self, points):
        x, y, t = points[:, 0:1], points[:, 1:2], points[:, 2:3]
        return T.cat([T.sin(2 * x) * T.exp(y) * t**2, x * y + t], dim=1)


def evaluated(source, jets=False):
    term = Term("equation 'heat'", source, SCOPE)
    values, leaves = None, ()
    for kind, plan in ((NestedValues, NestedPlan), (JetValues, JetPlan))[: 1 + jets]:
        columns = coordinate_columns(POINTS, T.float64, "cpu")
        coefficients = {"k": T.tensor(3.0, dtype=T.float64)}
        values = kind(Known(), SCOPE, columns, coefficients, plan(leaves, SCOPE))
        value = term.evaluate(values, TENSOR_FUNCTIONS)
        leaves = tuple(values.asked)
    return value


PAIRS = [
    (lambda s: s.laplacian(s.u), "laplacian(u)"),
    (lambda s: s.laplacian("u*v"), "laplacian(u*v)"),
    (lambda s: s.diff(s.u, "x", 2), "u_xx"),
    (lambda s: s.diff(s.u_x, s.t), "u_xt"),
    (lambda s: s.diff("u**2", "x"), "diff(u**2, x)"),
    (lambda s: s.diff(s.diff("u*v", "x"), "y"), "diff(u*v, x, y)"),
    (lambda s: s.dot(s.grad("u"), s.grad(s.v)), "dot(grad(u), grad(v))"),
    (lambda s: s.dot((s.u, s.v), s.grad(s.u)), "u*u_x + v*u_y"),
    (lambda s: s.dot((s.u * s.v, 2), (s.sin(s.x), s.y)), "u*v*sin(x) + 2*y"),
    (lambda s: s.div((s.u, s.v)), "u_x + v_y"),
    (lambda s: s.div(s.grad(s.u)), "laplacian(u)"),
    (lambda s: s.div(("u*v", "c")), "diff(u*v, x)"),
    (lambda s: sum(s.vec(s.u, s.v)), "u + v"),
    (lambda s: s.grad("u")[1], "u_y"),
    (lambda s: s.at(s.grad(s.u), x=0)[0], "at(u_x, x=0)"),
]


VECTORS = [
    (lambda s: s.dot(2 * s.grad(s.u), s.vec(s.v, s.x)), "2*u_x*v + 2*u_y*x"),
    (lambda s: s.dot(s.x * s.grad(s.u) / s.c, -s.grad(s.v)), "dot(x*grad(u)/c, -grad(v))"),
    (lambda s: s.grad(s.u) @ s.vec(s.y, np.float64(2)), "u_x*y + 2*u_y"),
    (lambda s: (s.grad(s.u) * s.x).dot((s.v, 1)), "x*u_x*v + x*u_y"),
    (lambda s: sum(s.grad(s.u) + s.vec(s.x, s.y) - (1, s.t)), "u_x + x - 1 + u_y + y - t"),
    (lambda s: sum([s.grad(s.u), s.k * s.grad(s.v)])[0], "u_x + k*v_x"),
    (lambda s: sum(np.float64(3) * +s.grad(s.u)) / len(s.grad(s.u)), "3*(u_x + u_y)/2"),
    (lambda s: sum((s.x, s.y) - s.grad(s.u)), "x - u_x + y - u_y"),
]

WRITTEN = [
    (lambda s: s.div(s.x * s.grad(s.u)), "div(x*grad(u))"),
    (lambda s: s.div(2 * s.grad(s.u)), "div(2*grad(u))"),
    (lambda s: s.div(-s.k * s.grad(s.u) / s.c), "div(-k*grad(u)/c)"),
    (lambda s: s.div(s.vec(s.x * s.u_x, s.x * s.u_y)), "div(vec(x*u_x, x*u_y))"),
    (lambda s: s.div(s.grad(s.u) + s.vec(s.u * s.v, s.y)), "div(grad(u) + vec(u*v, y))"),
    (lambda s: s.curl(s.u * s.vec(s.u, s.v)), "curl(u*vec(u, v))"),
    (lambda s: s.dot(s.curl(s.u * s.v), (s.u, s.v)), "dot(curl(u*v), vec(u, v))"),
    (lambda s: s.diff(s.u**2, "x"), "diff(u**2, x)"),
    (lambda s: s.diff(s.sin(s.u) * s.exp(-s.t), s.x, 2, s.t), "diff(sin(u)*exp(-t), x, 2, t)"),
    (lambda s: s.laplacian(s.u * s.v), "laplacian(u*v)"),
    (lambda s: sum(s.laplacian(s.vec(s.u, s.v * s.x))), "laplacian(u) + laplacian(v*x)"),
    (lambda s: s.at(s.u * s.x, x=2 * s.y), "at(u*x, x=2*y)"),
    (lambda s: s.integral(s.u * s.x, s.x, 0, s.y), "integral(u*x, x, 0, y)"),
    (
        lambda s: s.diff(s.where((s.x < s.y) & ~(s.t > 0.5), s.u, abs(s.v)), "x"),
        "diff(where(x < y and not t > 0.5, u, abs(v)), x)",
    ),
    (lambda s: (s.x < 0) * (1 - s.u) / 2**s.v, "(x < 0)*(1 - u)/2**v"),
    (lambda s: s.div(s.grad(s("u*v"))) / np.sqrt(s.c), "laplacian(u*v)/sqrt(c)"),
]


def with_values(function):
    """Return the same function with something in it that only values can do."""
    return lambda s: (s.x.shape, function(s))[1]


def agree(function, text, jets):
    expected = evaluated(text).detach().numpy()
    got = evaluated(function, jets).detach().numpy()
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("jets", [False, True])
@pytest.mark.parametrize("function, text", [*PAIRS, *VECTORS])
def test_operators_take_values_as_texts_do(function, text, jets):
    agree(with_values(function), text, jets)


@pytest.mark.parametrize("jets", [False, True])
@pytest.mark.parametrize("function, text", [*PAIRS, *VECTORS, *WRITTEN])
def test_operators_take_what_a_function_writes_as_texts_do(function, text, jets):
    assert Term("e", function, SCOPE).leaves is not None
    agree(function, text, jets)


def doubled(s):
    u = s.u
    u *= 2
    return s.diff(u, "x")


def test_what_is_written_in_place_is_new():
    agree(doubled, "2*u_x", jets=True)


def test_a_value_that_was_written_to_is_no_longer_the_unknown():
    with pytest.raises(ValueError, match="does not know what it was made of"):
        evaluated(with_values(doubled))


@pytest.mark.parametrize(
    "function",
    [
        lambda s: T.sin(s.u), lambda s: s.u.reshape(-1, 1), lambda s: T.ones(7) * s.u,
        lambda s: np.ones(7) * s.u, lambda s: s.where(s.x == 0, s.u, s.v), lambda s: 0.0,
        lambda s: ((s.x < 0) + (s.y < 0)) * s.u, lambda s: s.u if s.c < s.x.shape[0] else s.v,
        lambda s: s.dot((T.sin(s.u), 1.0), s.grad(s.u)),
    ],
)  # fmt: skip
def test_what_only_values_can_do_is_left_to_them(function):
    term = Term("e", function, SCOPE)
    assert term.tree is None and (term.leaves is None)


def test_a_function_that_writes_an_equation_is_called_once():
    calls = []

    def function(s):
        calls.append(type(s).__name__)
        return s.u_t - s.u_xx

    evaluated(function, jets=True)
    assert calls == ["Symbols"]


NO_MEANING = [
    (lambda s: s.grad(s.u) + s.u, r"'\+' has no meaning between a vector of 2 and a scalar"),
    (lambda s: s.u - s.grad(s.u), "'-' has no meaning between a scalar and a vector of 2"),
    (lambda s: s.grad(s.u) - (1, 2, 3), "between a vector of 2 and a vector of 3"),
    (lambda s: s.grad(s.u) * s.grad(s.v), r"between a vector of 2 and.*use s\.dot\(a, b\)"),
    (lambda s: s.u / s.grad(s.u), "'/' has no meaning between a scalar and a vector of 2"),
    (lambda s: s.grad(s.u) / (1, 2), "'/' has no meaning between a vector"),
    (lambda s: s.grad(s.u) ** 2, r"'\*\*' has no meaning between a vector of 2 and a scalar"),
    (lambda s: 2 ** s.grad(s.u), r"'\*\*' has no meaning between a scalar and"),
    (lambda s: (1, 2) * s.grad(s.u), r"'\*' has no meaning between a vector"),
    (lambda s: s.grad(s.u) @ s.u, "dot takes vectors of equal length, got a vector of 2 and a sc"),
    (lambda s: s.div(s.u), "div takes a vector here"),
    (lambda s: s.uu, "unknown name 'uu'; did you mean 'u'"),
]


@pytest.mark.parametrize("function, message", NO_MEANING)
def test_what_has_no_meaning_is_refused_by_the_problem_and_with_values(function, message):
    domain = pinn.Interval("x", -1, 1) * pinn.Interval("y", -1, 1)
    with pytest.raises(ValueError, match=message) as caught:
        pinn.Problem(domain, ["u", "v"], {"heat": function})
    assert "equations.heat" in str(caught.value)
    with pytest.raises(ValueError, match="equation 'heat': .*" + message):
        evaluated(with_values(function))


def test_a_function_that_returns_a_vector_is_refused_by_the_problem():
    with pytest.raises(ValueError, match="equations.e: .*returns a vector of 1 components"):
        pinn.Problem(pinn.Interval("x", 0, 1), ["u"], {"e": lambda s: s.grad(s.u)})


@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        (lambda s: np.sin(s.u), TypeError, r"s\.sin\(s\.u\) for np\.sin\(s\.u\).*: sin, cos"),
        (lambda s: np.where(s.u > 0, s.u, 0), TypeError, r"s\.where\(s\.x > 0, a, b\) for np\.wh"),
        (lambda s: np.piecewise(s.x, [s.x > 0], [1, 0]), TypeError, "numpy's functions do not ta"),
        (lambda s: np.mean(s.u), TypeError, "numpy's functions do not take"),
        (lambda s: s.diff(s.u**2, "x"), ValueError, r"diff: a value.*give text.*s\.diff\('u\*\*2'"),
        (lambda s: s.laplacian(s.u * s.v), ValueError, "laplacian: a value that a function has"),
        (lambda s: s.div(s.x * s.grad(s.u)), ValueError, "div: a value that a function has"),
        (lambda s: s.at(s.u * 2, x=1), ValueError, "value 0 belongs to the points themselves"),
        (lambda s: s.at("u", z=1), ValueError, "'z' is not a coordinate; the coordinates here"),
        (lambda s: s.at("u"), ValueError, r"at takes an expression.*write at\(u, x=1\)"),
        (lambda s: s.dot(s.u), ValueError, "dot takes 2 arguments, got 1"),
        (lambda s: s.dot(s.u, s.v), ValueError, "dot takes a vector here"),
        (lambda s: s.diff("u", x=1), ValueError, "diff takes no arguments by name, got 'x'"),
        (lambda s: s.laplacian("uu"), ValueError, "unknown name 'uu'"),
        (lambda s: s.uu, AttributeError, "unknown name 'uu'; did you mean 'u'"),
        (lambda s: s.arctan(s.u), AttributeError, "no function 'arctan'; write s.atan"),
        (lambda s: s.dn("u"), ValueError, "dn needs the outward normal.*such as u_x"),
        (lambda s: np.zeros(2500) * s.u_xx, ValueError, "values of other lengths.*one value a poi"),
        (lambda s: s.u_xx * np.zeros(2500), ValueError, "values of other lengths.*one value a poi"),
    ],
)
def test_a_mistake_in_a_function_is_told_with_the_equation(function, error, message):
    with pytest.raises(error, match=message) as caught:
        evaluated(with_values(function))
    assert str(caught.value).startswith("equation 'heat': ")


def test_numpys_where_in_a_run_is_told_the_one_of_the_namespace():
    x = pinn.Interval("x", 0, 1)
    step = pinn.Problem(
        x, ["u"], {"e": lambda s: s.u_xx - np.where(s.x > 0.5, 1.0, 0.0)},
        [pinn.Dirichlet("u", 0.0)],
    )
    with pytest.raises(TypeError, match=r"equation 'e': .*s\.where\(.*\) for np\.where"):
        pinn.check(step, pinn.MLP(width=3, depth=1))


def test_a_mistake_in_numpys_own_arguments_is_numpys():
    with pytest.raises(TypeError, match="unsupported operand|ufunc") as caught:
        evaluated(lambda s: s.u * np.linspace(0, None, 3))
    assert "numpy's functions" not in str(caught.value)


def test_a_mistake_of_python_has_a_note_with_the_equation():
    with pytest.raises(ZeroDivisionError) as caught:
        evaluated(lambda s: s.u * (1 / 0))
    assert "in the function of equation 'heat'" in caught.value.__notes__


def test_functions_that_take_values_train_like_texts():
    x, t = pinn.Interval("x", -1, 1), pinn.Time("t", 0, 1)
    found = []
    for equation in (
        "u_t - laplacian(u) + at(u_x, x=1)",
        lambda s: s.u_t - s.laplacian(s.u) + s.at(s.u_x, x=1),
    ):
        problem = pinn.Problem(x * t, ["u"], {"e": equation}, [pinn.Initial("u", "sin(x)")])
        solution = pinn.solve(
            problem, model=pinn.MLP(width=6, depth=2), sampling=pinn.Sampling(interior=50),
            training=[pinn.Adam(5)],
        )  # fmt: skip
        found.append(solution.theta)
    np.testing.assert_allclose(*found, rtol=1e-9, atol=1e-12)
