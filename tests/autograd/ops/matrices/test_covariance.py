"""Covariances and correlations against numpy's, with weights, and their derivatives."""

import numpy as np
import pytest

import autograd as T
from autograd.strict import strict_cuda
from autograd.testing import OpCase, check_op

SHAPES = [((3, 6),), ((1, 4),), ((5,),)]
F, A = np.array([1, 2, 0, 3, 1, 1]), np.array([0.5, 2.0, 0.1, 3.0, 1.0, 0.7])

CASES = [
    OpCase("cov", T.cov, SHAPES, reference=np.cov, complex=True),
    OpCase(
        "correction 0", lambda x: T.cov(x, correction=0), SHAPES,
        reference=lambda x: np.cov(x, bias=True),
    ),
    OpCase("corrcoef", T.corrcoef, SHAPES, reference=np.corrcoef, tolerance=1e-11),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_shape_dtype_layout_and_device(case):
    check_op(case)


@pytest.mark.parametrize("correction", [0, 1, 2])
@pytest.mark.parametrize(
    "weights", [{"fweights": F}, {"aweights": A}, {"fweights": F, "aweights": A}]
)
def test_weights_are_numpys(weights, correction):
    x = np.random.default_rng(0).normal(size=(3, 6))
    expected = np.cov(x, ddof=correction, **weights)
    given = {name: T.tensor(w) for name, w in weights.items()}
    found = T.cov(T.tensor(x), correction=correction, **given)
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-12)


def test_a_weight_counts_as_repeating_the_observation():
    x = T.tensor(np.random.default_rng(1).normal(size=(2, 6)))
    repeated = x.repeat_interleave(T.tensor(F), 1)
    np.testing.assert_allclose(T.cov(x, fweights=T.tensor(F)).numpy(), T.cov(repeated).numpy())


def test_weights_may_lie_on_a_device_that_is_not_current():
    x = T.tensor(np.random.default_rng(0).normal(size=(3, 6)))
    weights = {"fweights": T.tensor(F), "aweights": T.tensor(A)}
    expected = T.cov(x, **weights).tolist()
    with strict_cuda():
        there = {name: weight.to("cuda:1") for name, weight in weights.items()}
        assert T.cov(x.to("cuda:1"), **there).tolist() == expected


def test_one_variable_and_integers():
    assert T.cov(T.tensor([1, 2, 3, 6])).item() == pytest.approx(np.cov([1, 2, 3, 6]))
    assert T.corrcoef(T.tensor([1.0, 2.0, 4.0])).item() == 1.0


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: T.cov(x[None]), "two or fewer dimensions"),
        (lambda x: T.cov(x > 0), "numbers, got shape"),
        (lambda x: T.cov(x, aweights=-T.ones(6)), "aweights cannot be negative"),
        (lambda x: T.cov(x, aweights=T.ones(5)), "one number of an observation"),
        (lambda x: T.cov(x, fweights=T.ones(6)), "integers, got shape"),
    ],
)
def test_what_is_refused(function, message):
    with pytest.raises(RuntimeError, match=message):
        function(T.ones(2, 6))
