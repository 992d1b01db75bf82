"""Matrices of powers, against numpy's."""

import numpy as np
import pytest

import autograd as T
from autograd.testing import OpCase, check_op

LINES = [((3,),), ((1,),)]
CASES = [
    OpCase("vander", T.vander, LINES, reference=np.vander, complex=True, order=3),
    OpCase(
        "more columns, from the left",
        lambda x: T.vander(x, 5, increasing=True),
        LINES,
        reference=lambda x: np.vander(x, 5, increasing=True),
    ),
    OpCase("one column", lambda x: T.vander(x, N=1), LINES, reference=lambda x: np.vander(x, 1)),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_values_and_derivatives(case):
    check_op(case)


def test_derivatives_at_zero_are_those_of_the_powers():
    x = T.tensor([0.0], requires_grad=True)
    powers = T.vander(x, 4, increasing=True).sum()
    found = []
    for _ in range(3):
        (powers,) = T.grad(powers, x, create_graph=True)
        found.append(powers.item())
    assert found == [1.0, 2.0, 6.0]


def test_dtypes_and_sizes():
    assert T.vander(T.tensor([1, 2, 3])).tolist() == [[1, 1, 1], [4, 2, 1], [9, 3, 1]]
    assert T.vander(T.tensor([True, False])).dtype == T.int64
    assert T.vander(T.ones(2), 0).shape == (2, 0) and T.vander(T.ones(0), 3).shape == (0, 3)
    with pytest.raises(RuntimeError, match=r"one-dimensional tensor, got shape \[2, 2\]"):
        T.vander(T.ones(2, 2))
    with pytest.raises(RuntimeError, match="N must be non-negative, got -1"):
        T.vander(T.ones(2), -1)
