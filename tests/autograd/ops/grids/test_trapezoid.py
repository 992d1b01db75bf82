"""Integrals by the trapezoidal rule, against scipy's and against what is known."""

import numpy as np
import pytest
from scipy.integrate import cumulative_trapezoid as scipy_running
from scipy.integrate import trapezoid as scipy_trapezoid

import autograd as T
from autograd.testing import OpCase, check_op

CASES = [
    OpCase(
        "trapezoid",
        T.trapezoid,
        [((5,),), ((2, 4),), ((0, 3),)],
        reference=scipy_trapezoid,
        complex=True,
    ),
    OpCase(
        "dx and dim",
        lambda y: T.trapezoid(y, dx=0.3, dim=0),
        [((4, 2),), ((5,),)],
        reference=lambda y: scipy_trapezoid(y, dx=0.3, axis=0),
    ),
    OpCase(
        "points",
        T.trapezoid,
        [((2, 5), (5,)), ((5,), (5,)), ((2, 5), (1, 5)), ((2, 5), (2, 5))],
        reference=scipy_trapezoid,
    ),
    OpCase(
        "points along another dimension",
        lambda y, x: T.trapezoid(y, x, dim=1),
        [((2, 4, 3), (4,)), ((2, 4, 3), (2, 4, 3))],
        reference=lambda y, x: scipy_trapezoid(y, x, axis=1),
    ),
    OpCase(
        "cumulative_trapezoid",
        T.cumulative_trapezoid,
        [((5,), (5,)), ((2, 4), (4,))],
        reference=scipy_running,
    ),
    OpCase(
        "cumulative along another dimension",
        lambda y: T.cumulative_trapezoid(y, dx=2.0, dim=-2),
        [((4, 2),)],
        reference=lambda y: scipy_running(y, dx=2.0, axis=-2),
        complex=True,
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_values_and_derivatives(case):
    check_op(case)


def test_the_derivative_in_a_point_is_known():
    # of f0 (x1 - x0) / 2 + f1 (x2 - x0) / 2 + f2 (x2 - x1) / 2 in x1: (f0 - f2) / 2
    x = T.tensor([0.0, 0.4, 1.0], requires_grad=True)
    y = T.tensor([3.0, 1.0, -2.0])
    (slope,) = T.grad(T.trapezoid(y, x), x)
    assert slope.tolist() == [-2.0, 2.5, -0.5]


def test_one_value_and_none_have_no_area():
    for shape in ((1,), (0,), (2, 1), (2, 0)):
        assert T.trapezoid(T.ones(shape)).tolist() == T.zeros(shape[:-1]).tolist()
        assert T.cumulative_trapezoid(T.ones(shape)).shape == (*shape[:-1], 0)


def test_integers_become_floats_and_names_are_pytorchs():
    assert T.trapezoid(T.tensor([1, 2, 3])).item() == 4.0
    assert T.trapz is T.trapezoid
    y, x = T.tensor([[1.0, 3.0]]), T.tensor([0.0, 4.0])
    assert T.trapezoid(y=y, x=x).tolist() == T.trapezoid(y, x=x, axis=-1).tolist() == [8.0]


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: T.trapezoid(T.tensor(1.0)), IndexError, "has no dimensions"),
        (lambda: T.trapezoid(T.ones(3), dim=1), IndexError, "out of range"),
        (lambda: T.trapezoid(T.ones(3), T.ones(2)), RuntimeError, "one `x` value for each sample"),
        (lambda: T.trapezoid(T.ones(2, 3), T.tensor(1.0)), RuntimeError, "one `x` value for each"),
        (
            lambda: T.cumulative_trapezoid(T.ones(2, 3), T.ones(2, 1)),
            RuntimeError,
            r"cumulative_trapezoid: .* x of shape \[2, 1\] for y of shape \[2, 3\]",
        ),
        (lambda: T.trapezoid(T.ones(3), T.ones(3), dx=1.0), TypeError, "but got both"),
        (lambda: T.trapezoid(T.ones(3) > 0), RuntimeError, "bool is not supported"),
        (lambda: T.trapezoid(np.ones(3)), TypeError, "'y' .* must be Tensor, not ndarray"),
    ],
)
def test_bad_arguments_are_refused(call, error, words):
    with pytest.raises(error, match=words):
        call()
