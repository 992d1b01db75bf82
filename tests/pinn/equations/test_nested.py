"""Derivatives in the coordinates: against closed forms, and no more sweeps than needed."""

import numpy as np
import pytest
import scipy.special

import autograd as T
from pinn.equations.functions import TENSOR_FUNCTIONS
from pinn.equations.leaves import Derivative, Laplacian
from pinn.equations.nested import NestedPlan, NestedValues
from pinn.equations.scope import Scope
from pinn.equations.term import Term
from pinn.equations.values import coordinate_columns

POINTS = np.random.default_rng(0).uniform(-1, 1, (11, 3))
X, Y, TIME = POINTS.T
SCOPE = Scope(("u", "v"), ("x", "y", "t"), ("x", "y"), {"c": 0.5}, ("k",))
EXACT = {
    "u": np.sin(2 * X) * np.exp(Y) * TIME**2,
    "v": X * Y,
    "u_x": 2 * np.cos(2 * X) * np.exp(Y) * TIME**2,
    "u_xx": -4 * np.sin(2 * X) * np.exp(Y) * TIME**2,
    "u_xyt": 4 * np.cos(2 * X) * np.exp(Y) * TIME,
    "u_tt": 2 * np.sin(2 * X) * np.exp(Y),
    "u_ttt": 0 * X,
    "v_x": Y,
    "v_xy": 1 + 0 * X,
    "v_xx": 0 * X,
    "v_t": 0 * X,
    "v_tx": 0 * X,
    "u_xxxx": 16 * np.sin(2 * X) * np.exp(Y) * TIME**2,
    "laplacian(u)": -3 * np.sin(2 * X) * np.exp(Y) * TIME**2,
    "laplacian(laplacian(u))": 9 * np.sin(2 * X) * np.exp(Y) * TIME**2,
    "laplacian(v)": 0 * X,
    "diff(u*v, x)": (2 * X * np.cos(2 * X) + np.sin(2 * X)) * np.exp(Y) * TIME**2 * Y,
    "c*x + k*u": 0.5 * X + 3 * np.sin(2 * X) * np.exp(Y) * TIME**2,
}


class Known(T.nn.Module):
    def forward(self, p):
        x, y, t = p[:, 0:1], p[:, 1:2], p[:, 2:3]
        return T.cat([T.sin(2 * x) * T.exp(y) * t**2, x * y], dim=1)


def field(leaves=(), module=None):
    columns = coordinate_columns(POINTS, T.float64, "cpu")
    coefficients = {"k": T.tensor(3.0, dtype=T.float64)}
    return NestedValues(module or Known(), SCOPE, columns, coefficients, NestedPlan(leaves, SCOPE))


@pytest.mark.parametrize("planned", [True, False])
@pytest.mark.parametrize("text", EXACT)
def test_values_equal_the_closed_form(text, planned):
    term = Term("term", text, SCOPE)
    value = term.evaluate(field(term.leaves if planned else ()), TENSOR_FUNCTIONS)
    np.testing.assert_allclose(value.detach().numpy(), EXACT[text], rtol=1e-12, atol=1e-12)


def test_a_network_that_is_linear_has_no_second_derivative():
    class Linear(T.nn.Module):
        def forward(self, p):
            return T.cat([2 * p[:, 0:1], 3 * p[:, 1:2]], dim=1)

    values = field(module=Linear())
    assert values[Derivative("u", ("x",))].detach().numpy().tolist() == [2.0] * 11
    assert values[Derivative("u", ("x", "x"))].detach().numpy().tolist() == [0.0] * 11
    assert values[Laplacian("v", 2)].detach().numpy().tolist() == [0.0] * 11


@pytest.mark.parametrize(
    ("texts", "sweeps"),
    [
        (["u"], 0),
        (["u_x", "u_t"], 1),
        (["u_t", "u_x", "u_xx"], 2),
        (["u_xx", "u_xt", "u_x"], 2),
        (["u_xx", "u_yy", "u_t"], 3),
        (["laplacian(u)", "u_x"], 3),
        (["u_xxx"], 3),
        (["u_x", "v_x"], 2),
    ],
)
def test_only_what_is_asked_for_is_computed_and_shared(texts, sweeps, monkeypatch):
    leaves = [Term("term", text, SCOPE).leaves[0] for text in texts]
    runs, grads = [], []

    class Counted(Known):
        def forward(self, p):
            runs.append(1)
            return super().forward(p)

    original = T.grad
    monkeypatch.setattr(T, "grad", lambda *a, **k: (grads.append(1), original(*a, **k))[1])
    values = field(leaves, Counted())
    for leaf in leaves + leaves:
        values[leaf]
    assert (len(runs), len(grads)) == (1, sweeps)


def test_a_model_with_the_wrong_width_is_refused():
    class Narrow(T.nn.Module):
        def forward(self, p):
            return p[:, 0:1]

    with pytest.raises(ValueError, match=r"shape \(11, 1\); expected \(11, 2\), a column for each"):
        field(module=Narrow())[Derivative("u", ())]


def test_the_namespace_carries_the_names_of_the_texts():
    term = Term(
        "term",
        lambda s: s.u_xyt + s.diff("u*v", "x") - s.laplacian("u") + s.c * s.k * s.sin(s.x) * s.pi,
        SCOPE,
    )
    value = term.evaluate(field(), TENSOR_FUNCTIONS).detach().numpy()
    expected = (
        EXACT["u_xyt"] + EXACT["diff(u*v, x)"] - EXACT["laplacian(u)"] + 1.5 * np.sin(X) * np.pi
    )
    np.testing.assert_allclose(value, expected, rtol=1e-12)


@pytest.mark.parametrize("name", ["w", "u_z", "u_", "__class__x", "diff2"])
def test_other_names_are_refused(name):
    with pytest.raises(AttributeError, match="name|coordinate|__class__x"):
        Term("term", lambda s: getattr(s, name), SCOPE).evaluate(field(), TENSOR_FUNCTIONS)


ARGUMENTS = [0.3, np.array([0.2, 0.7, 1.5])]


@pytest.mark.parametrize("name", TENSOR_FUNCTIONS)
@pytest.mark.parametrize("kinds", ["float", "tensor", "mixed"])
def test_functions_take_floats_and_tensors(name, kinds):
    others = {
        "min": np.minimum, "max": np.maximum, "atan2": np.arctan2, "asin": np.arcsin,
        "acos": np.arccos, "atan": np.arctan, "erf": scipy.special.erf,
        "sech": lambda x: 1 / np.cosh(x), "gamma": scipy.special.gamma,
        "lgamma": scipy.special.gammaln, "digamma": scipy.special.digamma,
        "polygamma": scipy.special.polygamma,
    }  # fmt: skip
    reference = others.get(name, getattr(np, name, None))
    a = ARGUMENTS[0] if kinds == "float" else ARGUMENTS[1]
    b = 0.8 if kinds != "tensor" else np.array([1.0, 0.1, 2.0])
    arguments = {"where": (a < 0.5, a, b), "min": (a, b), "max": (b, a)}.get(name, (a,))
    if name in ("atan2", "hypot"):
        arguments = (a, b)
    if name in ("asin", "acos"):
        arguments = (a / 2,)
    if name == "polygamma":
        arguments = (1, a)

    def tensor(value):
        return T.tensor(value) if isinstance(value, np.ndarray) else value

    got = TENSOR_FUNCTIONS[name](*map(tensor, arguments))
    got = got.numpy() if isinstance(got, T.Tensor) else got
    np.testing.assert_allclose(got, reference(*arguments), rtol=1e-15)

