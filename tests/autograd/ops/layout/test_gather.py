"""gather, scatter, index_select, index_add: values, gradients of every order, errors."""

import numpy as np
import pytest

import autograd as T
from autograd.ops.layout import gather as G
from autograd.strict import strict_cuda
from autograd.testing import OpCase, check_op

PLACES = np.array([[2, 0, 2], [1, 1, 0]])
DISTINCT = np.array([[2, 0], [1, 2]])


def _positions(x, values):
    """Return index values on the device of x."""
    return T.tensor(np.asarray(values), device=x.device)


CASES = [
    OpCase(
        "gather",
        lambda x: G.gather(x, 1, _positions(x, PLACES)),
        [((2, 3),), ((4, 3),)],
        reference=lambda x: np.take_along_axis(x[:2], PLACES, 1),
        complex=True,
    ),
    OpCase(
        "gather 0-d", lambda x: G.gather(x, 0, _positions(x, 0)), [((),)], reference=lambda x: x
    ),
    OpCase(
        "scatter_add",
        lambda x, y: G.scatter_add(x, 1, _positions(x, PLACES), y),
        [((2, 3), (2, 3)), ((2, 4), (3, 5))],
        complex=True,
        reference=lambda x, y: _scatter(x, y, np.add),
    ),
    OpCase(
        "scatter",
        lambda x, y: G.scatter(x, 1, _positions(x, DISTINCT), y),
        [((2, 3), (2, 2))],
        reference=lambda x, y: _scatter(x, y, lambda old, new: new, DISTINCT),
    ),
    OpCase(
        "scatter number",
        lambda x: G.scatter(x, 1, _positions(x, PLACES), 2.5),
        [((2, 3),)],
        reference=lambda x: _scatter(x, np.full((2, 3), 2.5), lambda old, new: new),
    ),
    OpCase(
        "index_select",
        lambda x: G.index_select(x, 1, _positions(x, [2, 0, 2])),
        [((2, 3),), ((2, 3, 2),), ((0, 3),)],
        reference=lambda x: x[:, [2, 0, 2]],
        complex=True,
    ),
    OpCase(
        "index_add",
        lambda x, y: G.index_add(x, 1, _positions(x, [2, 2]), y, alpha=3),
        [((2, 3), (2, 2)), ((2, 3, 2), (2, 2, 2))],
        reference=lambda x, y: _index_add(x, y),
        complex=True,
    ),
    OpCase(
        "take_along_dim",
        lambda x: G.take_along_dim(x, _positions(x, [[1], [-1]]), 1),
        [((1, 3),), ((2, 3),)],
        reference=lambda x: np.array([[x[0, 1]], [x[-1, 2]]]),
    ),
    OpCase(
        "take_along_dim flat",
        lambda x: G.take_along_dim(x, _positions(x, [3, 3, 0])),
        [((2, 2),)],
        reference=lambda x: x.reshape(-1)[[3, 3, 0]],
    ),
    OpCase(
        "take",
        lambda x: G.take(x, _positions(x, [[3, -1], [0, 0]])),
        [((2, 2),)],
        reference=lambda x: x.reshape(-1)[[[3, -1], [0, 0]]],
    ),
    OpCase(
        "repeat_interleave",
        lambda x: G.repeat_interleave(x, 2, 1),
        [((2, 3),)],
        reference=lambda x: np.repeat(x, 2, 1),
    ),
    OpCase(
        "repeat_interleave counts",
        lambda x: G.repeat_interleave(x, _positions(x, [2, 0, 1]), -1),
        [((2, 3),)],
        reference=lambda x: np.repeat(x, [2, 0, 1], -1),
    ),
    OpCase(
        "repeat_interleave flat",
        lambda x: G.repeat_interleave(x, 2),
        [((2, 2),), ((),)],
        reference=lambda x: np.repeat(x, 2),
    ),
]


def _scatter(x, source, combine, places=PLACES):
    x = x.copy()
    for i, j in np.ndindex(places.shape):
        x[i, places[i, j]] = combine(x[i, places[i, j]], source[i, j])
    return x


def _index_add(x, y):
    x = x.copy()
    for k in range(2):
        x[:, 2] += 3 * y[:, k]
    return x


@pytest.mark.parametrize("case", CASES, ids=str)
def test_values_and_derivatives(case):
    check_op(case)


@pytest.mark.parametrize("dim", [0, 1, 2])
def test_what_is_added_along_any_dimension_of_a_larger_tensor(dim):
    rng = np.random.default_rng(dim)
    x, src = rng.normal(size=(4, 3, 50)), rng.normal(size=(2, 3, 4))
    index = rng.integers(0, x.shape[dim], src.shape)
    expected = x.copy()
    for place in np.ndindex(src.shape):
        target = list(place)
        target[dim] = index[place]
        expected[tuple(target)] += src[place]
    for kind in (np.int64, np.int8):
        found = T.scatter_add(T.tensor(x), dim, T.tensor(index.astype(kind)), T.tensor(src))
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-14, atol=1e-14)


def test_a_changed_index_is_noticed():
    x = T.ones(3, requires_grad=True)
    places = T.tensor([0, 1])
    y = x.gather(0, places).sum()
    places._data[:] = 2
    places._version[0] += 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        T.grad(y, x)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda x: x.gather(1, T.tensor([[3]])),
            RuntimeError,
            "index 3 is out of bounds for dimension 1 with size 3",
        ),
        (lambda x: x.gather(1, T.tensor([[-1]])), RuntimeError, "index -1 is out of bounds"),
        (lambda x: x.gather(1, T.tensor([[0.5]])), RuntimeError, "Expected dtype int64 for index"),
        (lambda x: x.gather(1, T.tensor([0])), RuntimeError, "same number of dimensions"),
        (lambda x: x.gather(1, T.tensor([[0]] * 3)), RuntimeError, "no larger than self"),
        (lambda x: x.gather(2, T.tensor([[0]])), IndexError, "Dimension out of range"),
        (
            lambda x: x.scatter(1, T.tensor([[0]]), T.tensor([[1]])),
            RuntimeError,
            "self.dtype to be equal to src.dtype",
        ),
        (
            lambda x: x.scatter(1, T.tensor([[0, 1]]), T.ones(1, 1)),
            RuntimeError,
            "no larger than src",
        ),
        (lambda x: x.scatter(1, T.tensor([[0]])), TypeError, "needs src"),
        (lambda x: x.index_select(0, T.tensor([2])), IndexError, "index 2 is out of bounds"),
        (lambda x: x.index_select(0, T.tensor([[0]])), IndexError, "supposed to be a vector"),
        (lambda x: x.index_select(0, [0]), TypeError, "argument 'index'.*Tensor, not list"),
        (lambda x: x.index_add(0, T.tensor([0]), T.ones(2, 3)), RuntimeError, "source must have"),
        (
            lambda x: x.index_add(0, T.tensor([0]), T.tensor([[1, 2, 3]])),
            RuntimeError,
            "same scalar type",
        ),
        (lambda x: x.take_along_dim(T.tensor([[3]]), 1), IndexError, "out of bounds"),
        (lambda x: x.take_along_dim(T.tensor([0]), 1), RuntimeError, "same number of dimensions"),
        (lambda x: x.repeat_interleave(T.tensor([1, 2]), 1), RuntimeError, "one a slice"),
    ],
)
def test_bad_arguments_are_refused(call, error, message):
    with pytest.raises(error, match=message):
        call(T.ones(2, 3))


def test_scatter_reduces():
    x = T.tensor(np.arange(6.0).reshape(2, 3))
    index = T.tensor([[0, 1, 1], [0, 0, 1]])
    src = T.tensor(np.full((2, 3), 2.0))
    np.testing.assert_array_equal(x.scatter(0, index, src, reduce="add"), [[4, 3, 2], [3, 6, 9]])
    np.testing.assert_array_equal(
        x.scatter(0, index, 2.0, reduce="multiply"), [[0, 2, 2], [3, 8, 20]]
    )
    assert T.tensor(1.0).scatter(0, T.tensor(0), 2.5, reduce="add").item() == 3.5
    leaf = x.clone().requires_grad_()
    assert T.gradcheck(lambda a, b: a.scatter(0, index, b, reduce="add"), (leaf, src.clone()))
    with pytest.raises(RuntimeError, match="'add' or 'multiply', got 'mean'"):
        x.scatter(0, index, src, reduce="mean")
    with pytest.raises(RuntimeError, match="has no derivative"):
        leaf.scatter(0, index, src, reduce="multiply")


@pytest.mark.parametrize("shape", [(3, 4), (0, 4)])
def test_factors_of_one_element_come_one_after_the_other_on_a_device_too(shape):
    rng = np.random.default_rng(0)
    x, src, index = rng.random((2, 4)), rng.random(shape), rng.integers(0, 2, shape)
    expected = x.copy()
    np.multiply.at(expected, (index, np.arange(4)), src)
    with strict_cuda():
        for device in ("cpu", "cuda"):
            given = [T.tensor(array, device=device) for array in (x, index, src)]
            found = given[0].scatter(0, *given[1:], reduce="multiply")
            assert str(found.device).startswith(device)
            np.testing.assert_array_equal(found.cpu().numpy(), expected)


@pytest.mark.parametrize("add", [
    lambda x, places, src: x.scatter_add(0, places, src),
    lambda x, places, src: x.index_add(0, places, src),
    lambda x, places, src: x.index_put((places,), src, accumulate=True),
], ids=["scatter_add", "index_add", "index_put"])  # fmt: skip
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int16", "int32", "int64", "float16"])
def test_small_integers_add_up_and_wrap_around_on_a_device_as_on_the_host(gpu, dtype, add):
    x = np.array([1, 0, 0, 100]).astype(dtype)
    src, places = np.array([1, 0, 100, 127, 50]).astype(dtype), np.array([0, 1, 3, 3, 0])
    expected = x.copy()
    np.add.at(expected, places, src)
    for device in ("cpu", "cuda"):
        given = [T.tensor(array, device=device) for array in (x, places, src)]
        found = add(*given).cpu().numpy()
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(given[0].cpu().numpy(), x)


def test_scalars_and_empty_indices():
    x = T.tensor(3.0, requires_grad=True)
    total = T.index_add(x, 0, T.tensor([0]), T.tensor(2.0), alpha=2)
    total.backward()
    assert total.item() == 7.0 and total.shape == () and x.grad.item() == 1.0
    none = T.tensor(np.zeros((2, 0), np.uint8))
    assert T.arange(5).gather(0, none).shape == (2, 0)
    assert T.arange(5.0, requires_grad=True).gather(0, none).requires_grad


def test_repeat_interleave_checks_the_expected_size():
    x = T.tensor([1.0, 2.0])
    assert x.repeat_interleave(T.tensor([1, 2]), output_size=3).tolist() == [1.0, 2.0, 2.0]
    with pytest.raises(RuntimeError, match="output_size is 4, but the repeats add up to 3"):
        x.repeat_interleave(T.tensor([1, 2]), output_size=4)
