"""Parts of arrays at fixed positions: all points, in order, or none."""

from __future__ import annotations

import pytest

import autograd as T
from tests.autograd.plan.over_points import check_as_eager, matrices, refuses

W = T.tensor([0.3, 1.1, 0.7, 0.5], dtype=T.float64, requires_grad=True)
MASK = T.tensor([True, False, True, True])


def _written(x: T.Tensor) -> T.Tensor:
    y = T.zeros_like(x)
    y[:, 1] = 2 * x[:, 0]
    y[:, [0, 3]] = x[:, 1:3]
    return y


APART = {
    "a list": lambda x: x[:, [1, 0, 1]],
    "a mask": lambda x: x[:, MASK],
    "two lists": lambda x: matrices(x)[:, [0, 1, 1], [1, 0, 1]],
    "two lists that lie apart": lambda x: matrices(x)[:, [0, 1], None, [1, 0]][..., 0].T,
    "the last dimension": lambda x: matrices(x)[..., [1, 0]],
    "of transposed points": lambda x: x.T[T.tensor([[0, 1], [2, 3]])].permute(2, 0, 1),
    "new dimensions": lambda x: x[None, :, None, 1:][0],
    "every second number": lambda x: x.reshape(-1)[::2].reshape(-1, 2),
    "every second of the others": lambda x: x.reshape(-1)[1::2].reshape(-1, 2),
    "index_put": lambda x: x.index_put((None, T.tensor([1, 2])), 3 * x[:, :2]),
    "index_put of a number": lambda x: x.index_put((None, T.tensor([1])), W[:1]),
    "index_put into points that lie second": lambda x: x.T.index_put((T.tensor([1]),), x.T[:1]).T,
    "written in place": _written,
}


@pytest.mark.parametrize("name", APART)
def test_parts_of_each_point(short_chunks, name):
    check_as_eager(APART[name], [W])


@pytest.mark.parametrize("name", ["a list", "two lists that lie apart", "written in place"])
def test_parts_of_each_point_in_tiles(short_chunks, name):
    check_as_eager(APART[name], [W], "llvm")


MEET = {
    "a list of points": lambda x: x[[0, 2, 4]],
    "all of them, listed": lambda x: x[T.arange(len(x))],
    "in another order": lambda x: x[T.arange(len(x) - 1, -1, -1)],
    "as many numbers as there are points": lambda x: x.reshape(-1)[: len(x)].sum(),
    "half of the numbers": lambda x: x.reshape(-1)[: 2 * len(x)].reshape(-1, 2),
    "the first rows of columns": lambda x: x.T.reshape(-1)[: len(x)].sum(),
    "every second number of columns": lambda x: x.T.reshape(-1)[::2].sum(),
    "as many zeros behind": lambda x: T.pad(x, (0, 0, 0, len(x))).reshape(-1, 8).prod(1).sum(),
    "put where others are": lambda x: x.reshape(-1, 2).index_put(
        (None, T.tensor([1])), x.T[:2].reshape(-1, 1)),
    "their number in an index": lambda x: x * W[len(x) % 4],
    "their number as a step": lambda x: x[:, :: len(x)],
}  # fmt: skip


@pytest.mark.parametrize("name", MEET)
def test_some_of_the_points_or_others_are_refused(name):
    refuses(MEET[name], "takes some of the points|to another|index that depends on how many|left "
            "out")
