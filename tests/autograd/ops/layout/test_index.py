"""Indexing and index_put: values against numpy, PyTorch's order of dimensions, gradients."""

import tracemalloc

import numpy as np
import pytest

import autograd as T
from autograd.ops.layout import index as I
from autograd.testing import OpCase, check_op

BASIC = {
    "int": 1,
    "negative": -1,
    "slice": np.s_[1:],
    "steps": np.s_[::2, 1:-1],
    "ellipsis": np.s_[..., 0],
    "newaxis": np.s_[:, None, 1],
    "all": np.s_[...],
    "nothing": np.s_[()],
    "empty": np.s_[2:1],
    "every": np.s_[1, 2, 0],
}
ADVANCED = {
    "array": np.array([2, 0, 2, -1]),
    "matrix": np.array([[0, 1], [2, 2]]),
    "second": np.s_[:, np.array([0, -1])],
    "pair": np.s_[np.array([0, 2]), np.array([1, 1])],
    "broadcast": np.s_[np.array([[0], [2]]), np.array([1, 0])],
    "separated": np.s_[np.array([0, 2]), :, np.array([1, 0])],
    "with slice": np.s_[1:, np.array([0, 0])],
    "with newaxis": np.s_[np.array([0, 1]), None],
    "after ellipsis": np.s_[..., np.array([1, 1])],
    "no positions": np.array([], dtype=np.int64),
    "row mask": np.array([True, False, True]),
    "full mask": np.arange(24).reshape(3, 4, 2) % 3 == 0,
    "mask and slice": np.s_[:, np.array([True, False, False, True]), :1],
    "mask of nothing": np.zeros(3, bool),
}


def _reads(index):
    if isinstance(index, tuple):
        return tuple(T.tensor(i) if isinstance(i, np.ndarray) else i for i in index)
    return T.tensor(index) if isinstance(index, np.ndarray) else index


@pytest.mark.parametrize("name", [*BASIC, *ADVANCED])
def test_reading(name):
    index = {**BASIC, **ADVANCED}[name]
    check_op(
        OpCase(
            name,
            lambda x: x[_reads(index)],
            [((3, 4, 2),)],
            reference=lambda x: x[index],
            complex=True,
        )
    )


@pytest.mark.parametrize("accumulate", [False, True])
@pytest.mark.parametrize("name", [*BASIC, *ADVANCED])
def test_writing(name, accumulate):
    index = {**BASIC, **ADVANCED}[name]
    array = np.zeros((3, 4, 2))[index]
    if not accumulate and array.size != np.unique(np.arange(24).reshape(3, 4, 2)[index]).size:
        return  # which of several values stays is left open

    def put(x, values):
        normal = I.normal_index(x, _reads(index))
        return I.index_put_op(x, values, index=normal, accumulate=accumulate)

    def reference(x, values):
        x = x.copy()
        if accumulate:
            np.add.at(x, index, values)
        else:
            x[index] = values
        return x

    shapes = [((3, 4, 2), array.shape), ((3, 4, 2), ()), ((3, 4, 2), (1, *array.shape))]
    check_op(OpCase(name, put, shapes[:2], reference=reference))
    x, values = np.random.default_rng(0).normal(size=(3, 4, 2)), np.ones((1, *array.shape))
    found = put(T.tensor(x), T.tensor(values))
    np.testing.assert_array_equal(found.numpy(), reference(x, values[0]))


def test_ints_are_applied_before_arrays_as_in_pytorch():
    x = T.tensor(np.arange(24.0).reshape(2, 3, 4))
    found = x[0, :, T.tensor([1, 3])]
    np.testing.assert_array_equal(found.numpy(), x.numpy()[0][:, [1, 3]])
    assert found.shape == (3, 2)  # numpy moves the array's dimension to the front


def test_index_kinds_that_mean_the_same():
    x = T.tensor(np.arange(6.0).reshape(2, 3))
    for one in (1, np.int64(1), T.tensor(1), np.array(1)):
        assert x[one].tolist() == [3, 4, 5] and x[one]._base is x
    for two in ([1, 0], np.array([1, 0]), T.tensor([1, 0]), range(1, -1, -1), [T.tensor(1), 0]):
        assert x[two].tolist() == [[3, 4, 5], [0, 1, 2]]
    assert x[(0, 1)].item() == 1
    assert x[[]].shape == (0, 3)
    assert x[T.tensor(0) : T.tensor(1)].tolist() == [[0, 1, 2]]


def test_scalar_masks():
    x = T.tensor(3.0, requires_grad=True)
    assert x[x > 0].tolist() == [3.0] and x[x < 0].shape == (0,)
    assert x[True].tolist() == [3.0] and x[False].shape == (0,)
    assert T.grad(x[T.tensor(True)].sum() * 2, x)[0].item() == 2.0
    assert T.zeros(2, 3)[True, 1].shape == (1, 3)


def test_basic_indexing_is_a_view_and_arrays_copy():
    x = T.tensor(np.arange(6.0).reshape(2, 3))
    for part in (x[0], x[:, 1], x[..., None], x[0, 0], x[...]):
        assert isinstance(part.numpy(), np.ndarray)
        assert part._base is x and np.shares_memory(part.numpy(), x.numpy())
    for part in (x[[0]], x[T.tensor([True, False])], x[:, [1]]):
        assert part._base is None and not np.shares_memory(part.numpy(), x.numpy())


def test_changing_an_index_tensor_afterwards_changes_no_gradient():
    x = T.zeros(3, requires_grad=True)
    places = T.tensor([0, 0, 1])
    y = x[places]
    places.numpy()[:] = 2
    assert T.grad(y.sum(), x)[0].tolist() == [2.0, 1.0, 0.0]


def test_repeated_positions_add_up_in_the_gradient():
    x = T.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    (g,) = T.grad((x[[0, 0, 1]] * T.tensor([[1.0], [2.0], [4.0]])).sum(), x)
    assert g.tolist() == [[3.0, 3.0], [4.0, 4.0]]


@pytest.mark.parametrize(
    ("index", "error", "message"),
    [
        (2, IndexError, "index 2 is out of bounds for dimension 0 with size 2"),
        (-3, IndexError, "index -3 is out of bounds"),
        (np.s_[:, 3], IndexError, "dimension 1 with size 3"),
        ([0, 2], IndexError, "index 2 is out of bounds for dimension 0 with size 2"),
        (np.s_[:, [-4]], IndexError, "index -4 is out of bounds for dimension 1"),
        ((0, 0, 0), IndexError, "too many indices for tensor of dimension 2"),
        ((..., ...), IndexError, "single ellipsis"),
        (1.0, IndexError, r"valid indices \(got float\)"),
        ("a", IndexError, r"valid indices \(got str\)"),
        ([0.5], IndexError, "must be long, int or bool tensors, got float64"),
        (np.zeros(2, np.uint8), IndexError, "use .bool.. for a mask"),
        (np.array([True, False, True]), IndexError, r"shape of the mask \[3\] at index 0"),
        (np.s_[::-1], ValueError, "step must be greater than zero"),
        (np.s_[::0], ValueError, "step cannot be zero"),
    ],
)
def test_bad_indices_are_refused(index, error, message):
    with pytest.raises(error, match=message):
        T.zeros(2, 3)[index]


def test_indices_follow_the_tensor_to_its_device(cuda):
    x = T.tensor([[1.0, 2.0], [3.0, 4.0]], device=cuda, requires_grad=True)
    for index in ([1, 0], T.tensor([1, 0]), T.tensor([1, 0], device=cuda), np.array([1, 0])):
        assert x[index].cpu().tolist() == [[3.0, 4.0], [1.0, 2.0]]
    (g,) = T.grad(x[[1, 1]].sum(), x)
    assert g.is_cuda and g.cpu().tolist() == [[0.0, 0.0], [2.0, 2.0]]
    with pytest.raises(IndexError, match="out of bounds"):
        x[[2]]
    with pytest.raises(RuntimeError, match="same device as the indexed tensor"):
        T.zeros(2)[T.tensor([0], device=cuda)]


def test_index_put():
    x = T.zeros(2, 3)
    places = (T.tensor([0, 0]), T.tensor([1, 1]))
    assert x.index_put(places, T.tensor([1.0, 2.0]), accumulate=True).tolist() == [
        [0, 3, 0],
        [0, 0, 0],
    ]
    assert x.index_put((None, T.tensor([2])), T.tensor(5.0)).tolist() == [[0, 0, 5], [0, 0, 5]]
    assert x.index_put((T.tensor([True, False]),), T.tensor(1.0)).tolist() == [[1, 1, 1], [0, 0, 0]]
    assert x.tolist() == [[0, 0, 0], [0, 0, 0]]
    with pytest.raises(RuntimeError, match="source and destination dtypes match"):
        x.index_put(places, T.tensor([1, 2]))
    with pytest.raises(RuntimeError, match=r"shape mismatch: value tensor of shape \[4\]"):
        x.index_put(places, T.zeros(4))


def test_narrow_and_select():
    check_op(
        OpCase(
            "narrow",
            lambda x: x.narrow(1, 1, 2),
            [((2, 3),), ((2, 4, 2),)],
            reference=lambda x: x[:, 1:3],
        )
    )
    check_op(OpCase("select", lambda x: x.select(-1, -2), [((2, 3),)], reference=lambda x: x[:, 1]))
    with pytest.raises(RuntimeError, match="exceeds dimension size"):
        T.zeros(3).narrow(0, 2, 2)
    with pytest.raises(IndexError, match="start out of range"):
        T.zeros(3).narrow(0, 4, 0)
    with pytest.raises(IndexError, match="0-dim"):
        T.tensor(1.0).select(0, 0)


def test_membership():
    x = T.tensor([1.0, 2.0])
    assert 2.0 in x and 3.0 not in x and T.tensor(1.0) in x


def test_the_gradient_of_rows_takes_memory_in_proportion():
    rows = np.random.default_rng(0).integers(0, 4000, 4000)
    peaks = []
    for n in (2000, 4000):
        x = T.zeros(n, 8, requires_grad=True)
        y = x[rows[:n] % n].sum()
        tracemalloc.start()
        T.grad(y, x)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] <= 2.2 * peaks[0]


def test_narrow_takes_an_integer_as_start():
    x = T.zeros(3)
    assert x.narrow(0, T.tensor(1), 2).shape == (2,)
    for start in (T.tensor([1, 2]), T.tensor(True), T.tensor(1.0)):
        with pytest.raises(RuntimeError, match="start must be an integer or a 0-dim integral"):
            x.narrow(0, start, 1)


def test_row_major_numbers_are_taken_apart(cuda):
    for device in ("cpu", cuda):
        numbers = T.arange(24, device=device).reshape(4, 6)
        found = T.unravel_index(numbers, (2, 3, 4))
        expected = np.unravel_index(np.arange(24).reshape(4, 6), (2, 3, 4))
        for ours, theirs in zip(found, expected, strict=True):
            np.testing.assert_array_equal(ours.cpu().numpy(), theirs)
    assert T.unravel_index(T.tensor(5), 7)[0].item() == 5
    with pytest.raises(TypeError, match="to be integer dtype, but got float32"):
        T.unravel_index(T.ones(1, dtype=T.float32), (2,))
    with pytest.raises(ValueError, match="cannot have negative values"):
        T.unravel_index(T.tensor([1]), (2, -1))
