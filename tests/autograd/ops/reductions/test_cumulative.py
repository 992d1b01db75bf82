"""Products, running sums and running products; factors that are zero."""

import numpy as np
import pytest

import autograd as T
from autograd.ops.reductions import cumulative as C
from autograd.testing import UNARY_SHAPES, OpCase, check_op


def recurrence(a, b):
    h = np.zeros_like(a * b)
    for i in range(a.shape[1]):
        h[:, i] = b[:, i] + (a[:, i] * h[:, i - 1] if i else 0)
    return h


CASES = [
    OpCase("prod", C.prod, UNARY_SHAPES, reference=np.prod, complex=True),
    OpCase(
        "prod dim",
        lambda x: C.prod(x, 1, keepdim=True),
        [((2, 3, 2),), ((2, 0),), ((2, 1),)],
        reference=lambda x: x.prod(1, keepdims=True),
        complex=True,
        order=3,
    ),
    OpCase(
        "cumsum",
        lambda x: C.cumsum(x, 1),
        [((2, 4),), ((2, 3, 2),), ((2, 0),)],
        reference=lambda x: x.cumsum(1),
        complex=True,
    ),
    OpCase("cumsum 0-d", lambda x: C.cumsum(x, 0), [((),)], reference=lambda x: x),
    OpCase(
        "cumprod",
        lambda x: C.cumprod(x, -1),
        [((2, 4),), ((5,),), ((2, 0),), ((1, 1),)],
        reference=lambda x: x.cumprod(-1),
        complex=True,
        order=3,
    ),
    OpCase(
        "cumprod first", lambda x: C.cumprod(x, 0), [((3, 2),)], reference=lambda x: x.cumprod(0)
    ),
    OpCase(
        "recurrence",
        lambda a, b: C.recurrence_op(a, b, dim=1),
        [((2, 5), (2, 5))],
        reference=recurrence,
        complex=True,
        order=3,
    ),
    OpCase(
        "recurrence reversed",
        lambda a, b: C.recurrence_op(a, b, dim=1, reverse=True),
        [((2, 5), (2, 5))],
        reference=lambda a, b: recurrence(a[:, ::-1], b[:, ::-1])[:, ::-1],
    ),
    OpCase(
        "shifted",
        lambda x: C.shifted_op(x, dim=0, fill=1.0),
        [((3, 2),)],
        reference=lambda x: np.concatenate([np.ones((1, 2)), x[:-1]]),
    ),
]
CASES += [
    OpCase("diff", C.diff, [((4,),), ((2, 3),), ((2, 1),), ((0, 3),)], reference=np.diff),
    OpCase(
        "diff twice",
        lambda x: C.diff(x, 2, 0),
        [((4, 3),), ((2, 3),)],
        reference=lambda x: np.diff(x, 2, 0),
        complex=True,
    ),
    OpCase(
        "diff of joined",
        lambda x, y: C.diff(x, prepend=y, append=x),
        [((2, 3), (2, 1))],
        reference=lambda x, y: np.diff(x, prepend=y, append=x),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_values_and_derivatives(case):
    check_op(case)


ZEROS = {"one": [2.0, 0.0, 3.0, -1.0], "two": [2.0, 0.0, 3.0, 0.0], "all": [0.0] * 4}


@pytest.mark.parametrize("values", ZEROS.values(), ids=ZEROS)
@pytest.mark.parametrize("function", [C.prod, C.cumprod], ids=["prod", "cumprod"])
def test_derivatives_where_factors_are_zero(values, function):
    check_op(
        OpCase(
            "zeros",
            lambda x: function(x, 0),
            [((4,),)],
            make=lambda rng, s: [np.array(values)],
            order=4,
        )
    )


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("size", [*range(10), 31])
def test_a_recurrence_of_any_length(size, reverse):
    a, b = np.random.default_rng(size).normal(size=(2, 2, size, 3))
    found = C.recurrence_op(T.tensor(a), T.tensor(b), dim=1, reverse=reverse).numpy()
    last, expected = np.zeros((2, 3)), np.empty_like(b)
    for k in reversed(range(size)) if reverse else range(size):
        last = expected[:, k] = a[:, k] * last + b[:, k]
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_gradient_of_prod_is_the_product_of_the_others():
    x = T.tensor(np.array([2.0, 0.0, 5.0]), requires_grad=True)
    (g,) = T.grad(x.prod(), x)
    assert g.tolist() == [0.0, 10.0, 0.0]


def test_integers_go_to_int64():
    x = T.tensor(np.array([[1, 2], [3, 4]], np.int32))
    assert x.prod().item() == 24 and x.prod().dtype == T.int64
    assert x.cumsum(1).tolist() == [[1, 3], [3, 7]] and x.cumsum(1).dtype == T.int64
    assert x.cumprod(0).tolist() == [[1, 2], [3, 8]]
    assert x.prod(0, dtype=T.float64).dtype == T.float64


def test_dimensions_are_checked():
    for function in (C.prod, C.cumsum, C.cumprod):
        with pytest.raises(IndexError, match="Dimension out of range"):
            function(T.zeros(2, 3), 2)
        with pytest.raises(IndexError, match="Dimension out of range"):
            function(T.tensor(1.0), 1)


def test_results_may_be_written_into_given_arrays():
    a, b = np.random.default_rng(0).normal(size=(2, 2, 5))
    out = np.empty_like(a)
    for op, inputs, options in [
        (C.cumsum_op, (a,), {"dim": 1, "reverse": True}),
        (C.cumprod_op, (a,), {"dim": 1}),
        (C.shifted_op, (a,), {"dim": 1, "reverse": True}),
        (C.recurrence_op, (a, b), {"dim": 1}),
    ]:
        expected = op.forward(np, *inputs, **options)
        assert op.forward(np, *inputs, out=out, **options) is out
        assert np.array_equal(out, expected)


@pytest.mark.parametrize("dtype", [T.bool, T.int32, T.uint8])
def test_sums_and_products_have_the_dtype_that_is_asked_for(dtype):
    x = T.tensor([[0, 2], [1, 3]])
    array = x.numpy().astype(dtype)
    kind = "any" if dtype == T.bool else "sum"
    for found, expected in (
        (T.prod(x, 1, dtype=dtype), np.multiply.reduce(array, 1, dtype=dtype)),
        (T.sum(x, 1, dtype=dtype), getattr(array, kind)(1)),
        (T.cumprod(x, 1, dtype=dtype), np.multiply.accumulate(array, 1, dtype=dtype)),
        (T.cumsum(x, 1, dtype=dtype), np.add.accumulate(array, 1, dtype=dtype)),
    ):
        assert found.dtype == dtype
        assert np.array_equal(found.numpy(), expected)


def test_differences_of_integers_bools_and_none_at_all():
    assert C.diff(T.tensor([1, 4, 9])).tolist() == [3, 5]
    assert C.diff(T.tensor([True, False, False])).tolist() == [True, False]
    x = T.tensor([1.0, 3.0])
    same = C.diff(x, 0)
    assert same.tolist() == [1, 3] and same is not x
    assert C.diff(x, 0, prepend=x, append=x).tolist() == [1, 3]
    assert C.diff(x, 5).shape == (0,)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: T.diff(T.tensor(1.0)), "at least one-dimensional"),
        (lambda: T.diff(T.ones(3), -1), "non-negative but got -1"),
    ],
)
def test_differences_that_do_not_exist_are_refused(call, words):
    with pytest.raises(RuntimeError, match=words):
        call()
