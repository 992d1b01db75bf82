"""The functions of the texts on floats, arrays and tensors: against mpmath."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

import autograd as T
import pinn
from pinn.equations.functions import NUMPY_FUNCTIONS, TENSOR_FUNCTIONS
from pinn.expressions import FLOAT_FUNCTIONS, FUNCTIONS, evaluate, parse
from pinn.training.experiment import Experiment

ONE = {
    "sin": (-2, 0, 3), "cos": (-2, 0.5, 3), "tan": (-1, 0.5), "asin": (-0.9, 0, 0.5),
    "acos": (-0.9, 0, 0.5), "atan": (-30, 0, 2), "sinh": (-2, 0, 3), "cosh": (-2, 0, 3),
    "tanh": (-2, 0, 3), "sech": (-700, -89, -20.5, -19.5, -1, 0, 0.3, 19.9, 25, 90, 744),
    "exp": (-2, 0, 3), "log": (0.1, 2), "sqrt": (0.1, 2), "erf": (-3, -0.2, 0, 0.7, 4),
    "abs": (-2, 3), "sign": (-2, 3), "floor": (-2.5, 0.5, 3.2), "gamma": (-1.3, 0.4, 3),
    "lgamma": (0.4, 3), "digamma": (0.4, 3),
}  # fmt: skip
TWO = {"min": (1.5, 2.5), "max": (1.5, 2.5), "atan2": (-1.5, -2.5), "hypot": (3.0, -4.5)}
EXACT = {"abs": abs, "min": min, "max": max, "lgamma": mpmath.loggamma}


def exact(name):
    return EXACT.get(name) or getattr(mpmath, name)


def test_every_function_is_tried():
    # where is tried below; polygamma, whose order is a number, in test_gamma_function.py
    assert {*ONE, *TWO, "where", "polygamma"} == set(FUNCTIONS) == set(FLOAT_FUNCTIONS)
    assert set(FUNCTIONS) == set(NUMPY_FUNCTIONS) == set(TENSOR_FUNCTIONS)


@pytest.mark.parametrize("name", ONE)
def test_values_and_derivatives_of_one_variable(name):
    xs = np.array(ONE[name], dtype=float)
    values, slopes, seconds = (
        np.array([float(mpmath.diff(exact(name), x, order)) for x in xs]) for order in (0, 1, 2)
    )
    tree = parse(f"{name}(x)")
    floats = [evaluate(tree, {"x": float(x)}) for x in xs]
    assert all(type(value) is float for value in floats)
    x = T.tensor(xs, requires_grad=True)
    value = TENSOR_FUNCTIONS[name](x)
    found = [floats, NUMPY_FUNCTIONS[name](xs), value.detach().numpy()]
    for one in found:
        np.testing.assert_allclose(one, values, rtol=4e-15, atol=1e-300)
    (slope,) = T.grad(value.sum(), x, create_graph=True)
    np.testing.assert_allclose(slope.detach().numpy(), slopes, rtol=1e-13, atol=1e-15)
    if slope.requires_grad:
        (second,) = T.grad(slope.sum(), x, materialize_grads=True)
        np.testing.assert_allclose(second.numpy(), seconds, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", TWO)
def test_values_and_derivatives_of_two_variables(name):
    point = TWO[name]
    a, b = (T.tensor([p], dtype=T.float64, requires_grad=True) for p in point)
    value = TENSOR_FUNCTIONS[name](a, b)
    for found in (
        value.item(),
        float(NUMPY_FUNCTIONS[name](*map(np.array, point))),
        evaluate(parse(f"{name}(a, b)"), dict(zip("ab", point, strict=True))),
    ):
        assert found == pytest.approx(float(exact(name)(*point)), rel=1e-15)
    slopes = T.grad(value.sum(), [a, b], materialize_grads=True)
    for slope, orders in zip(slopes, ((1, 0), (0, 1)), strict=True):
        expected = float(mpmath.diff(exact(name), point, orders))
        assert slope.item() == pytest.approx(expected, rel=1e-12, abs=1e-12)
    half = TENSOR_FUNCTIONS[name](a, 2.0)  # a number beside a tensor
    assert half.item() == pytest.approx(float(exact(name)(point[0], 2.0)), rel=1e-15)


def test_a_step_is_zero_at_zero():
    assert evaluate(parse("sign(0)"), {}) == 0.0 == TENSOR_FUNCTIONS["sign"](T.zeros(1)).item()


@pytest.mark.parametrize("name", ["asin", "acos", "atan", "sech", "erf", "sign", "floor"])
def test_functions_go_through_a_sweep_of_jets(name):
    """In a value that holds exactly, a function is part of the model."""
    x, t = pinn.Interval("x", -1, 1), pinn.Time("t", 0, 1)
    problem = pinn.Problem(
        x * t, ["u"], {"e": "u_xx - u_t"},
        [pinn.Initial("u", f"{name}(x/2 + 0.1)*exp(x) + hypot(x, 1) + atan2(1, x + 2)", hard=True)],
    )  # fmt: skip
    found = []
    for derivatives in ("jets", "nested"):
        objective = Experiment(
            problem, model=pinn.MLP(width=5, depth=2), sampling=pinn.Sampling(interior=20),
            derivatives=derivatives,
        ).objective()  # fmt: skip
        found.append(objective.residuals(objective.theta)["e"])
    np.testing.assert_allclose(*found, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(
    ("text", "hint"),
    [("ln(2)", "log"), ("arctan(2)", "atan"), ("sgn(2)", "sign"), ("arcsin(1)", "asin")],
)
def test_other_spellings_are_told_the_name_here(text, hint):
    with pytest.raises(ValueError, match=f"did you mean '{hint}'"):
        parse(text)
