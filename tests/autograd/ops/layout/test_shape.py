"""Broadcasting, reshape, the order of dimensions, copies: values, gradients, memory."""

import numpy as np
import pytest

import autograd as T
from autograd.ops.layout import shape as S
from autograd.testing import UNARY_SHAPES, OpCase, check_op

MATRICES = [((2, 3),), ((2, 3, 4),), ((0, 3),)]

CASES = [
    OpCase(
        "reshape",
        lambda x: S.reshape(x, -1),
        UNARY_SHAPES[:3],
        reference=lambda x: x.ravel(),
        complex=True,
    ),
    OpCase(
        "reshape sizes",
        lambda x: S.reshape(x, (3, -1, 2)),
        [((2, 3, 4),)],
        reference=lambda x: x.reshape(3, 4, 2),
    ),
    OpCase(
        "flatten",
        lambda x: S.flatten(x, 1, 2),
        [((2, 3, 4),), ((2, 0, 4),)],
        reference=lambda x: x.reshape(2, x.shape[1] * 4),
    ),
    OpCase("flatten all", S.flatten, UNARY_SHAPES, reference=np.ravel),
    OpCase(
        "unflatten",
        lambda x: S.unflatten(x, 1, (2, -1)),
        [((3, 4),)],
        reference=lambda x: x.reshape(3, 2, 2),
    ),
    OpCase("squeeze", S.squeeze, [((1, 3, 1),), ((2, 3),), ((),)], reference=np.squeeze),
    OpCase("squeeze dim", lambda x: S.squeeze(x, (0, 1)), [((1, 3, 1),)], reference=lambda x: x[0]),
    OpCase(
        "unsqueeze", lambda x: S.unsqueeze(x, -1), UNARY_SHAPES, reference=lambda x: x[..., None]
    ),
    OpCase(
        "expand",
        lambda x: S.expand(x, 4, -1, 3),
        [((2, 1),), ((2, 3),)],
        reference=lambda x: np.broadcast_to(x, (4, 2, 3)),
        complex=True,
    ),
    OpCase(
        "expand 0-d",
        lambda x: S.broadcast_to(x, (2, 2)),
        [((),)],
        reference=lambda x: np.full((2, 2), x),
    ),
    OpCase(
        "broadcast_tensors", S.broadcast_tensors, [((2, 1), (3,))], reference=np.broadcast_arrays
    ),
    OpCase(
        "permute",
        lambda x: S.permute(x, (2, 0, 1)),
        [((2, 3, 4),), ((2, 0, 4),)],
        reference=lambda x: x.transpose(2, 0, 1),
        complex=True,
    ),
    OpCase(
        "transpose",
        lambda x: S.transpose(x, 0, -1),
        MATRICES,
        reference=lambda x: np.swapaxes(x, 0, -1),
    ),
    OpCase(
        "movedim",
        lambda x: S.movedim(x, (0, 1), (-1, 0)),
        [((2, 3, 4),)],
        reference=lambda x: np.moveaxis(x, (0, 1), (-1, 0)),
    ),
    OpCase(
        "adjoint",
        S.adjoint,
        [((2, 3),), ((2, 3, 4),)],
        reference=lambda x: np.conj(np.swapaxes(x, -1, -2)),
        complex=True,
    ),
    OpCase(
        "meshgrid",
        lambda x, y: S.meshgrid(x, y),
        [((2,), (3,))],
        reference=lambda x, y: np.meshgrid(x, y, indexing="ij"),
    ),
    OpCase(
        "meshgrid xy",
        lambda x, y, z: S.meshgrid(x, y, z, indexing="xy"),
        [((2,), (3,), (2,))],
        reference=np.meshgrid,
    ),
    OpCase("clone", S.clone, UNARY_SHAPES, reference=np.copy, complex=True),
    OpCase("atleast_3d", S.atleast_3d, UNARY_SHAPES[:3], reference=np.atleast_3d),
    OpCase(
        "sum_to",
        lambda x: S.sum_to_op(x, shape=(3, 1)),
        [((2, 3, 4),), ((1, 3, 1),)],
        reference=lambda x: x.sum((0, 2))[:, None],
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_values_and_derivatives(case):
    check_op(case)


def _wide():
    return T.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x.reshape(3, 2),
        lambda x: x.view(6),
        lambda x: x.flatten(),
        lambda x: x.ravel(),
        lambda x: x.unflatten(1, (3, 1)),
        lambda x: x.unsqueeze(0),
        lambda x: x.squeeze(),
        lambda x: x.permute(1, 0),
        lambda x: x.transpose(0, 1),
        lambda x: x.t(),
        lambda x: x.T,
        lambda x: x.mT,
        lambda x: x.swapaxes(0, 1),
        lambda x: x.movedim(0, 1),
        lambda x: x.expand(2, 2, 3),
        lambda x: x.broadcast_to((2, 2, 3)),
        lambda x: x.view_as(T.zeros(3, 2)),
        lambda x: x.reshape_as(T.zeros(3, 2)),
    ],
)
def test_views_share_memory_and_the_version_counter(view):
    x = _wide()
    y = view(x)
    assert y is not x and np.shares_memory(y.numpy(), x.numpy())
    assert y._base is x and y._version is x._version


@pytest.mark.parametrize(
    "copy", [lambda x: x.clone(), lambda x: x.T.contiguous(), lambda x: x.T.reshape(-1)]
)
def test_copies_share_nothing(copy):
    x = _wide()
    y = copy(x)
    assert not np.shares_memory(y.numpy(), x.numpy()) and y._base is None
    assert y.is_contiguous()


def test_view_refuses_what_needs_a_copy():
    x = _wide()
    with pytest.raises(RuntimeError, match="view size is not compatible.*reshape"):
        x.T.view(6)
    assert x.T.reshape(6).tolist() == [1, 4, 2, 5, 3, 6]
    assert T.zeros(0, 3).T.view(0).shape == (0,)


def test_contiguous_and_flatten_return_self_when_nothing_is_to_be_done():
    x = _wide()
    assert x.contiguous() is x
    assert x[0].flatten() is not x
    line = T.tensor([1.0, 2.0])
    assert line.flatten() is line
    assert S.atleast_1d(line) is line


def test_sizes_are_taken_in_every_spelling():
    x = T.zeros(2, 3)
    assert x.reshape(3, 2).shape == x.reshape((3, 2)).shape == S.reshape(x, shape=(3, 2)).shape
    assert x.permute(1, 0).shape == x.permute(dims=(1, 0)).shape == (3, 2)
    assert x.expand(size=(4, 2, 3)).shape == (4, 2, 3)
    assert x.reshape(T.tensor(3), T.tensor(2)).shape == (3, 2)
    with pytest.raises(TypeError, match="twice"):
        S.reshape(x, 3, 2, shape=(3, 2))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: x.reshape(4, 2), RuntimeError, "invalid for input of size 6"),
        (lambda x: x.reshape(-1, -1), RuntimeError, "only one dimension can be inferred"),
        (lambda x: x.reshape(4, -1), RuntimeError, "invalid for input of size 6"),
        (lambda x: x.reshape(-2, 3), RuntimeError, "invalid shape dimension -2"),
        (lambda x: T.zeros(0).reshape(0, -1), RuntimeError, "ambiguous"),
        (lambda x: x.expand(3), RuntimeError, "number of sizes provided"),
        (lambda x: x.expand(2, 4), RuntimeError, r"expanded size of the tensor \(4\) must match"),
        (lambda x: x.expand(-1, 2, 3), RuntimeError, "non-existing dimension"),
        (lambda x: x.unsqueeze(3), IndexError, r"expected to be in range of \[-3, 2\].*got 3"),
        (lambda x: x.transpose(0, 2), IndexError, "Dimension out of range"),
        (lambda x: x.permute(0), RuntimeError, "number of dimensions"),
        (lambda x: x.permute(0, 0), RuntimeError, "more than once"),
        (lambda x: x.movedim((0, 1), 0), RuntimeError, "same number of dims"),
        (lambda x: x.unsqueeze(0).t(), RuntimeError, r"<= 2 dimensions, but self is 3D"),
        (lambda x: x[0].mT, RuntimeError, "only supported on matrices"),
        (lambda x: x[0].H, RuntimeError, "only supported on matrices"),
        (lambda x: x.flatten(1, 0), RuntimeError, "start_dim cannot come after end_dim"),
        (lambda x: x.unflatten(1, (2, -1)), RuntimeError, "don't multiply up to the size of dim 1"),
        (lambda x: S.meshgrid(x), RuntimeError, "0D or 1D"),
        (lambda x: S.meshgrid(x[0], indexing="yx"), RuntimeError, "indexing must be one of"),
        (lambda x: S.broadcast_tensors(x, T.zeros(2)), RuntimeError, "cannot be broadcast"),
    ],
)
def test_bad_arguments_are_refused(call, error, message):
    with pytest.raises(error, match=message):
        call(_wide())


def test_broadcast_shapes():
    assert S.broadcast_shapes((2, 1), (3,), ()) == (2, 3)
    assert S.broadcast_shapes((0, 1), (1, 3)) == (0, 3)
    assert S.broadcast_shapes() == ()
    assert S.broadcast_shapes(3, (2, 1)) == (2, 3)


def test_gradient_of_an_expanded_tensor_is_a_sum_without_the_full_array():
    x = T.ones(1, requires_grad=True)
    (g,) = T.grad(x.expand(1000, 1000).sum(), x)
    assert g.tolist() == [1e6]


def test_expanded_tensors_pass_through_operations():
    x = T.tensor([1.0, 2.0], requires_grad=True)
    wide = x.expand(3, 2)
    (g,) = T.grad((wide * wide).reshape(-1).sum(), x)
    assert g.tolist() == [6.0, 12.0]
    assert wide.clone().is_contiguous()


# ---- bits


def test_the_bits_of_a_tensor_are_seen_as_another_dtype():
    x = T.tensor([[1.0, -2.0], [0.5, 3.0]], requires_grad=True)
    for dtype in (T.int32, T.float32, T.int16, T.uint8, T.float64, T.complex64):
        found, expected = x.view(dtype), x.detach().numpy().view(dtype)
        np.testing.assert_array_equal(found.numpy(), expected, strict=True)
        assert not found.requires_grad and found.view(dtype=T.float32).shape == (2, 2)
        assert found.data_ptr() == x.data_ptr()
    assert T.zeros(0, 3).view(T.int16).shape == (0, 6)
    assert T.tensor(1.0).view(T.int32).item() == 0x3F800000
    signs = T.vmap(lambda row: row.view(T.int32) < 0)(x.detach())
    assert signs.tolist() == [[False, True], [False, False]]
    sign = T.compile(lambda v: (v.view(T.int32) < 0).float() * v)
    for _ in range(2):
        assert sign(x.detach()).tolist() == [[0.0, -2.0], [0.0, 0.0]]


def test_writing_bits_changes_the_tensor_and_its_version():
    x = T.ones(2)
    bits = x.view(T.int32)
    bits.zero_()
    assert x.tolist() == [0.0, 0.0] and x._version == bits._version == [1]
    computed = T.ones(2, requires_grad=True) * 1
    with pytest.raises(RuntimeError, match="no_grad"):
        computed.view(T.int32).zero_()  # whose gradient would not know


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: T.zeros(2, 3).view(T.float64), "must be divisible by 2 .* got 3"),
        (lambda: T.tensor(1.0).view(T.float64), "cannot be 0-d"),
        (lambda: T.zeros(3, 2).t().view(T.int16), r"stride\(-1\) must be 1 .* got 2"),
    ],
)
def test_bits_that_do_not_fit_are_refused(call, words):
    with pytest.raises(RuntimeError, match=words):
        call()
