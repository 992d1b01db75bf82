"""masked_fill and masked_select: values, gradients, errors."""

import numpy as np
import pytest

import autograd as T
from autograd.ops.layout import mask as M
from autograd.testing import OpCase, check_op

MASK = np.array([[True, False, True], [False, False, True]])


def _mask(x, values=MASK):
    return T.tensor(values, device=x.device)


CASES = [
    OpCase(
        "masked_fill",
        lambda x: M.masked_fill(x, _mask(x), -3.0),
        [((2, 3),), ((2, 2, 3),)],
        reference=lambda x: np.where(MASK, -3.0, x),
        complex=True,
    ),
    OpCase(
        "masked_fill broadcasts",
        lambda x: M.masked_fill(x, _mask(x), 1),
        [((3,),), ((),)],
        reference=lambda x: np.where(MASK, 1.0, x),
    ),
    OpCase(
        "masked_fill tensor",
        lambda x, v: M.masked_fill(x, _mask(x), v),
        [((2, 3), ())],
        reference=lambda x, v: np.where(MASK, v, x),
        complex=True,
    ),
    OpCase(
        "masked_select",
        lambda x: M.masked_select(x, _mask(x)),
        [((2, 3),), ((3,),), ((),)],
        reference=lambda x: np.broadcast_to(x, (2, 3))[MASK],
        complex=True,
    ),
    OpCase(
        "masked_select none",
        lambda x: M.masked_select(x, _mask(x, np.zeros(3, bool))),
        [((2, 3),)],
        reference=lambda x: np.zeros(0),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_values_and_derivatives(case):
    check_op(case)


def test_masked_fill_hides_infinite_gradients():
    x = T.tensor([0.0, 4.0], requires_grad=True)
    mask = T.tensor([True, False])
    (g,) = T.grad((1.0 / x.masked_fill(mask, 1.0)).sum(), x)
    assert g.tolist() == [0.0, -0.0625]


def test_masked_fill_keeps_the_dtype():
    x = T.tensor([1, 2])
    mask = T.tensor([True, False])
    assert x.masked_fill(mask, 5).dtype == T.int64
    assert T.ones(2).masked_fill(mask, T.tensor(2.0, dtype=T.float64)).dtype == T.float32
    with pytest.raises(RuntimeError, match="cannot be converted to type int64"):
        x.masked_fill(mask, 0.5)
    with pytest.raises(RuntimeError, match="0-dimensional value tensor"):
        x.masked_fill(mask, T.tensor([1]))


def test_masks_are_checked():
    with pytest.raises(RuntimeError, match="mask of dtype bool, got int64"):
        T.ones(2).masked_fill(T.tensor([1, 0]), 0)
    with pytest.raises(TypeError, match="argument 'mask'.*must be Tensor, not list of bool"):
        T.ones(2).masked_select([True, False])
    with pytest.raises(RuntimeError, match="cannot be broadcast"):
        T.ones(2).masked_fill(T.tensor([True, False, True]), 0)


def test_a_complex_value_does_not_fit_into_a_real_tensor():
    for value in (1j, T.tensor(1j)):
        with pytest.raises(RuntimeError, match="cannot be converted to type float32"):
            T.ones(2).masked_fill(T.tensor([True, False]), value)
