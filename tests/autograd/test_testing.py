"""The checker of operations finds what is wrong with an operation."""

from __future__ import annotations

import numpy as np
import pytest

import autograd as T
from autograd.strict import strict_cuda
from autograd.testing import BINARY_SHAPES, OpCase, check_op

_calls = iter(range(10**9))


def _overwritten(x):
    x.data.fill_(0.0)
    return x * 1.0


class _CubeOnce(T.autograd.Function):
    """x**3 whose second derivative is lost."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * (x.detach() * x.detach() * 3.0)


def test_a_right_operation_passes():
    check_op(OpCase("square", lambda x: x * x, reference=np.square, order=3, complex=True))
    check_op(OpCase("product", lambda x, y: x * y, BINARY_SHAPES, reference=np.multiply))


@pytest.mark.parametrize(
    ("fn", "words"),
    [
        (lambda x: x * x.detach(), "order 1"),
        (_overwritten, "changed its input"),
        (lambda x: x * next(_calls), "a second run differs"),
        (lambda x: x * T.ones_like(x, dtype=T.float64), "in float32|gave float64"),
        (lambda x: (x.cpu() * 2.0).to(x.device) if x.is_cuda else x * 3.0, "the device differs"),
    ],
    ids=["gradient", "input", "twice", "precision", "device"],
)
def test_a_wrong_operation_is_named(fn, words):
    with pytest.raises((AssertionError, T.GradcheckError), match=words):
        check_op(OpCase("wrong", fn, shapes=[((2, 3),)]))


def test_a_wrong_value_is_found():
    with pytest.raises(AssertionError, match="wrong"):
        check_op(OpCase("wrong", T.sin, reference=np.cos, shapes=[((3,),)]))


def test_a_second_derivative_that_is_wrong_on_the_device_is_found():
    def fn(x):
        return _CubeOnce.apply(x) if x.is_cuda else x * x * x

    case = OpCase("wrong", fn, shapes=[((3,),)])
    with pytest.raises(AssertionError, match="the device differs"):
        check_op(case)


def test_the_matrix_runs_on_a_gpu_where_there_is_one():
    seen = []

    def fn(x):
        seen.append(str(x.device))
        return T.tanh(x)

    case = OpCase("tanh", fn, shapes=[((3,),)])
    check_op(case)
    on_the_test_device = seen.count("cuda:1")
    with strict_cuda():  # stands for the GPU that is there
        seen.clear()
        check_op(case)
    assert seen.count("cuda:0") == seen.count("cuda:1") == on_the_test_device > 0
