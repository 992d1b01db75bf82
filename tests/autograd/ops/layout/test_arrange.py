"""Flip, roll, repeat, pad, diagonals, triangles: values, gradients, memory."""

import numpy as np
import pytest
import scipy.linalg

import autograd as T
from autograd.ops.layout import arrange as A
from autograd.testing import UNARY_SHAPES, OpCase, check_op

MATRICES = [((3, 4),), ((4, 2),), ((2, 3, 3),), ((0, 3),)]


def _pad(widths, mode):
    return lambda x: np.pad(x, widths, mode=mode)


CASES = [
    OpCase(
        "flip",
        lambda x: A.flip(x, 0, -1),
        [((2, 3),), ((0, 3),)],
        reference=lambda x: x[::-1, ::-1],
        complex=True,
    ),
    OpCase("fliplr", A.fliplr, [((2, 3),)], reference=np.fliplr),
    OpCase("flipud", A.flipud, [((2, 3),)], reference=np.flipud),
    OpCase(
        "roll",
        lambda x: A.roll(x, (1, -2), (0, 1)),
        [((2, 3),), ((3, 4, 2),)],
        reference=lambda x: np.roll(x, (1, -2), (0, 1)),
        complex=True,
    ),
    OpCase(
        "roll flat", lambda x: A.roll(x, 2), UNARY_SHAPES[1:], reference=lambda x: np.roll(x, 2)
    ),
    OpCase(
        "repeat",
        lambda x: A.repeat(x, 2, 1, 3),
        [((2, 3),), ((3,),), ((),), ((0, 3),)],
        reference=lambda x: np.tile(x, (2, 1, 3)),
        complex=True,
    ),
    OpCase(
        "repeat to nothing",
        lambda x: A.repeat(x, 0, 2),
        [((2, 3),)],
        reference=lambda x: np.tile(x, (0, 2)),
    ),
    OpCase(
        "tile", lambda x: A.tile(x, (2,)), [((2, 3),), ((3,),)], reference=lambda x: np.tile(x, 2)
    ),
    OpCase(
        "diag of vector",
        lambda x: A.diag(x, -1),
        [((3,),), ((0,),)],
        reference=lambda x: np.diag(x, -1),
    ),
    OpCase(
        "diag of matrix",
        lambda x: A.diag(x, 1),
        [((3, 4),), ((4, 2),)],
        reference=lambda x: np.diag(x, 1),
        complex=True,
    ),
    OpCase(
        "diagonal",
        lambda x: A.diagonal(x, -1, 0, 2),
        [((3, 2, 4),), ((2, 2, 0),)],
        reference=lambda x: np.diagonal(x, -1, 0, 2),
        complex=True,
    ),
    OpCase(
        "diag_embed",
        lambda x: A.diag_embed(x, 1),
        [((2, 3),)],
        reference=lambda x: np.stack([np.diag(row, 1) for row in x]),
    ),
    OpCase(
        "diag_embed dims",
        lambda x: A.diag_embed(x, 0, 0, 2),
        [((2, 3),)],
        reference=lambda x: np.stack([np.diag(row) for row in x], 1),
    ),
    OpCase(
        "tril", lambda x: A.tril(x, -1), MATRICES, reference=lambda x: np.tril(x, -1), complex=True
    ),
    OpCase("triu", lambda x: A.triu(x, 1), MATRICES, reference=lambda x: np.triu(x, 1)),
    OpCase(
        "pad",
        lambda x: A.pad(x, (1, 2, 0, 1)),
        [((2, 3),), ((2, 2, 3),), ((0, 3),)],
        reference=lambda x: np.pad(x, [(0, 0)] * (x.ndim - 2) + [(0, 1), (1, 2)]),
        complex=True,
    ),
    OpCase(
        "constant_pad_nd",
        lambda x: A.constant_pad_nd(x, (1, 2), 2.5),
        [((2, 3),)],
        reference=lambda x: np.pad(x, ((0, 0), (1, 2)), constant_values=2.5),
    ),
    OpCase(
        "pad value",
        lambda x: A.pad(x, (1, 2), value=2.5),
        [((2, 3),)],
        reference=lambda x: np.pad(x, ((0, 0), (1, 2)), constant_values=2.5),
    ),
    OpCase(
        "crop",
        lambda x: A.pad(x, (-1, 2, 1, -1)),
        [((2, 3),)],
        reference=lambda x: np.pad(x[:1, 1:], ((1, 0), (0, 2))),
    ),
    OpCase(
        "pad reflect",
        lambda x: A.pad(x, (2, 1), mode="reflect"),
        [((2, 3),)],
        reference=_pad(((0, 0), (2, 1)), "reflect"),
    ),
    OpCase(
        "pad replicate",
        lambda x: A.pad(x, (4, 1), mode="replicate"),
        [((2, 3),)],
        reference=_pad(((0, 0), (4, 1)), "edge"),
    ),
    OpCase(
        "pad circular",
        lambda x: A.pad(x, (3, 1, 1, 2), mode="circular"),
        [((2, 3),)],
        reference=_pad(((1, 2), (3, 1)), "wrap"),
    ),
    OpCase(  # as PyTorch 2.13 does: what is cropped does not come back
        "crop and wrap",
        lambda x: A.pad(x, (-1, 2), mode="circular"),
        [((2, 4),)],
        reference=lambda x: np.pad(x[:, 1:], ((0, 0), (0, 2)), mode="wrap"),
    ),
]
CASES += [
    OpCase(
        "block_diag",
        A.block_diag,
        [((2, 3), (2,), ()), ((1, 1), (0, 2), (3, 1)), ((2, 2), (0,), (1,))],
        reference=scipy.linalg.block_diag,
        complex=True,
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_values_and_derivatives(case):
    check_op(case)


@pytest.mark.parametrize(
    "copy",
    [
        lambda x: x.flip(0),
        lambda x: x.roll(1, 0),
        lambda x: x.roll(0),
        lambda x: x.repeat(1, 1),
        lambda x: x.tile(1, 1),
        lambda x: x.tril(5),
        lambda x: x.diag(),
        lambda x: A.pad(x, (0, 0)),
    ],
)
def test_copies_share_nothing(copy):
    x = T.ones(2, 2)
    y = copy(x)
    assert not np.shares_memory(y.numpy(), x.numpy()) and y._base is None


def test_diagonal_is_a_writable_view():
    x = T.zeros(2, 3)
    d = x.diagonal(1)
    assert d._base is x
    d.fill_(7.0)
    assert x.tolist() == [[0.0, 7.0, 0.0], [0.0, 0.0, 7.0]]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: x.flip(2), IndexError, "Dimension out of range"),
        (lambda x: x.flip(0, 0), RuntimeError, "more than once"),
        (lambda x: x[0].fliplr(), RuntimeError, ">= 2-d"),
        (lambda x: x.roll((1, 2), 0), RuntimeError, "must align"),
        (lambda x: x.repeat(2), RuntimeError, "can not be smaller"),
        (lambda x: x.repeat(2, -1), RuntimeError, "negative dimension"),
        (lambda x: x.diagonal(0, 1, 1), RuntimeError, "cannot be identical"),
        (lambda x: x.unsqueeze(0).diag(), RuntimeError, "1D or 2D"),
        (lambda x: x[0].tril(), RuntimeError, "at least 2 dimensions"),
        (lambda x: A.pad(x, (1,)), RuntimeError, "divisible by 2"),
        (lambda x: A.pad(x, (1,) * 6), RuntimeError, "at most twice"),
        (lambda x: A.pad(x, (-2, -2)), RuntimeError, "negative output size"),
        (lambda x: A.pad(x, (3, 0), mode="reflect"), RuntimeError, "less than the corresponding"),
        (lambda x: A.pad(x, (1, 1), mode="mirror"), NotImplementedError, "Unrecognised"),
        (lambda x: A.pad(x, (1, -3), mode="circular"), RuntimeError, "less than the corresponding"),
        (lambda x: A.pad(x, (1, 1), mode="reflect", value=1), RuntimeError, "doesn't take in val"),
    ],
)
def test_bad_arguments_are_refused(call, error, message):
    with pytest.raises(error, match=message):
        call(T.ones(2, 3))


def test_blocks_are_matrices_at_most_and_promoted():
    assert A.block_diag(T.tensor([1, 2]), T.ones(1, 1)).tolist() == [[1, 2, 0], [0, 0, 1]]
    with pytest.raises(RuntimeError, match="Input 1 has 3 dimensions"):
        A.block_diag(T.ones(1), T.ones(1, 1, 1))


# ---- quarters of a turn, and a diagonal made of all elements


@pytest.mark.parametrize("k", range(-1, 5))
@pytest.mark.parametrize("dims", [(0, 1), (1, 0), (-1, 0)])
def test_quarters_of_a_turn_are_numpys(k, dims):
    check_op(
        OpCase(
            "rot90", lambda x: T.rot90(x, k, dims), [((2, 3),), ((2, 1, 2),)],
            reference=lambda x: np.rot90(x, k, dims), order=1,
        )  # fmt: skip
    )


def test_a_turn_needs_two_dimensions():
    for dims, message in (((1, 1), "to be different"), ((0,), "total rotation dims == 2")):
        with pytest.raises(RuntimeError, match=message):
            T.rot90(T.ones(2, 2), 1, dims)
    with pytest.raises(RuntimeError, match="total dims >= 2, but got total dims = 1"):
        T.rot90(T.ones(2))


def test_all_elements_on_a_diagonal():
    check_op(
        OpCase("diagflat", lambda x: T.diagflat(x, -1), [((2, 2),), ((),)],
               reference=lambda x: np.diagflat(x, -1))
    )  # fmt: skip


# ---- windows


def test_windows_are_numpys():
    def windows(x):
        return np.lib.stride_tricks.sliding_window_view(x, 3, 1)[:, ::2]

    check_op(
        OpCase("unfold", lambda x: x.unfold(1, 3, 2), [((2, 7),), ((2, 3, 1),)], reference=windows)
    )
    assert T.arange(5).unfold(0, 2, 3).tolist() == [[0, 1], [3, 4]]
    assert T.tensor(2.0).unfold(0, 1, 1).tolist() == [2.0]
    with pytest.raises(RuntimeError, match="dimension 0 is 3 but size is 4"):
        T.ones(3).unfold(0, 4, 1)
    with pytest.raises(RuntimeError, match="step is 0 but must be > 0"):
        T.ones(3).unfold(0, 1, 0)
