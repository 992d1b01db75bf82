"""The largest and smallest elements, their places, and how ties share a gradient."""

import math

import numpy as np
import pytest

import autograd as T
from autograd.ops.reductions import extrema as E
from autograd.testing import OpCase, check_op

SHAPES = [((),), ((4,),), ((2, 3),)]
DIMS = [((2, 3),), ((2, 3, 2),), ((0, 3),)]

CASES = [
    OpCase("amax", E.amax, SHAPES, reference=np.max),
    OpCase("amin", E.amin, SHAPES, reference=np.min),
    OpCase(
        "amax dims",
        lambda x: E.amax(x, (0, -1), keepdim=True),
        DIMS[:2],
        reference=lambda x: x.max((0, -1), keepdims=True),
    ),
    OpCase("amin dim", lambda x: E.amin(x, 1), DIMS, reference=lambda x: x.min(1)),
    OpCase(
        "aminmax", lambda x: E.aminmax(x, dim=1), DIMS[:1], reference=lambda x: (x.min(1), x.max(1))
    ),
    OpCase("max", E.max, SHAPES, reference=np.max),
    OpCase("min", E.min, SHAPES, reference=np.min),
    OpCase("max dim", lambda x: E.max(x, 1), DIMS, reference=lambda x: (x.max(1), x.argmax(1))),
    OpCase(
        "min dim",
        lambda x: E.min(x, -1, keepdim=True),
        DIMS,
        reference=lambda x: (x.min(-1, keepdims=True), x.argmin(-1, keepdims=True)),
    ),
    OpCase("max of two", E.max, [((3,), (3,)), ((2, 1), (3,))], reference=np.maximum),
    OpCase("min of two", E.min, [((3,), (3,)), ((2, 1), (3,))], reference=np.minimum),
    OpCase("argmax", E.argmax, [((4,),), ((2, 3),)], reference=np.argmax, order=0, dtypes=()),
    OpCase(
        "argmin dim",
        lambda x: E.argmin(x, 0, keepdim=True),
        [((2, 3),)],
        reference=lambda x: x.argmin(0, keepdims=True),
        order=0,
        dtypes=(),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_values_and_derivatives(case):
    check_op(case)


@pytest.mark.parametrize("function", [E.amax, E.amin, E.max, E.min])
def test_ties_share_evenly_without_a_dimension(function):
    x = T.tensor(np.array([[1.0, 1.0], [1.0, 1.0]]), requires_grad=True)
    (g,) = T.grad(function(x), x)
    assert g.tolist() == [[0.25, 0.25], [0.25, 0.25]]


def test_ties_along_a_dimension():
    values = np.array([[1.0, 3.0, 3.0], [2.0, 2.0, 2.0]])
    x = T.tensor(values, requires_grad=True)
    (g,) = T.grad(x.amax(1).sum(), x)
    np.testing.assert_allclose(g.numpy(), [[0, 0.5, 0.5], [1 / 3, 1 / 3, 1 / 3]], rtol=1e-15)
    values, indices = x.max(1)
    (g,) = T.grad(values.sum(), x)
    assert indices.tolist() == [1, 0]
    assert g.tolist() == [[0, 1, 0], [1, 0, 0]]


def test_ties_between_two_tensors_share_one_half():
    x = T.tensor(np.array([1.0, 2.0]), requires_grad=True)
    y = T.tensor(np.array([1.0, 0.0]), requires_grad=True)
    gx, gy = T.grad(E.max(x, y).sum(), (x, y))
    assert (gx.tolist(), gy.tolist()) == ([0.5, 1.0], [0.5, 0.0])


def test_results_have_names():
    x = T.tensor([[1.0, 5.0], [7.0, 3.0]])
    found = x.max(dim=1)
    assert found.values.tolist() == [5.0, 7.0]
    assert found.indices.tolist() == [1, 0]
    assert found.indices.dtype == T.int64
    assert not found.indices.requires_grad
    assert (x.aminmax().min.item(), x.aminmax().max.item()) == (1.0, 7.0)


def test_a_number_has_one_place():
    x = T.tensor(3.0)
    values, indices = x.max(0)
    assert (values.item(), indices.item(), indices.shape) == (3.0, 0, ())
    assert x.argmax().item() == x.argmin(0).item() == 0
    assert T.zeros(2, 3).argmax(keepdim=True).shape == (1, 1)


def test_nan_wins():
    x = T.tensor([1.0, math.nan, 2.0])
    assert math.isnan(x.max().item()) and math.isnan(x.amin().item())
    assert x.argmax().item() == 1


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: T.zeros(0).max(), RuntimeError, "Expected reduction dim to be specified"),
        (lambda: T.zeros(0, 2).amin(), RuntimeError, "Expected reduction dim to be specified"),
        (lambda: T.zeros(0, 2).amax(0), IndexError, "non-zero size"),
        (lambda: T.zeros(0).amax(0), IndexError, "non-zero size"),
        (lambda: T.zeros(2, 0).max(1), IndexError, "non-zero size"),
        (lambda: T.zeros(2, 0).argmax(), IndexError, "reduction dim to be specified"),
        (lambda: T.zeros(2).cfloat().amax(), RuntimeError, "complex numbers have no order"),
        (lambda: T.zeros(2).max(1), IndexError, "Dimension out of range"),
    ],
)
def test_what_has_no_extreme_is_refused(call, error, words):
    with pytest.raises(error, match=words):
        call()
