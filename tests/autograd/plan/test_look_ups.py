"""Tables that are read at positions of points, and what is added to them there."""

from __future__ import annotations

import numpy as np
import pytest

import autograd as T
from tests.autograd.plan.over_points import check_as_eager, check_sums_as_eager, refuses

rng = np.random.default_rng(2)
LINE = T.tensor(rng.uniform(size=17), requires_grad=True)
TABLE = T.tensor(rng.uniform(size=(9, 7)), requires_grad=True)
FIXED = T.tensor(rng.uniform(size=(9, 7)))
KNOTS = T.tensor(np.linspace(0, 1, 9))
ROWS = T.tensor(rng.uniform(size=(500, 4)))


def place(x: T.Tensor, size: int, column: int = 0) -> T.Tensor:
    """A position of each point in a dimension of a size, (n,)."""
    return (x[:, column].detach() * (size - 0.01)).floor().to(T.int64)


def _bilinear(x: T.Tensor, table: T.Tensor) -> T.Tensor:
    a, b = x[:, 0] * 7.9, x[:, 1] * 5.9
    i, j = place(x, 1) + a.detach().floor().to(T.int64), b.detach().floor().to(T.int64)
    p, q = a - i, b - j
    below = (1 - q) * table[i, j] + q * table[i, j + 1]
    return (1 - p) * below + p * ((1 - q) * table[i + 1, j] + q * table[i + 1, j + 1])


def _linear(x: T.Tensor) -> T.Tensor:
    k = (T.searchsorted(KNOTS, x[:, 0].detach()) - 1).clamp(0, 7)
    share = (x[:, 0] - KNOTS[k]) / (KNOTS[k + 1] - KNOTS[k])
    return LINE[k] * (1 - share) + LINE[k + 1] * share


READ = {
    "bilinear": lambda x: _bilinear(x, TABLE),
    "bilinear in a constant": lambda x: _bilinear(x, FIXED),
    "between knots": _linear,
    "rows": lambda x: TABLE[place(x, 9), :] * x[:, :1],
    "columns": lambda x: (TABLE[:, place(x, 7)] * x[:, 0]).T,
    "the last dimensions": lambda x: (TABLE[None][..., place(x, 9), place(x, 7)] * x[:, 0]).T,
    "from the end": lambda x: TABLE[-1 - place(x, 9), place(x, 7) - 7] * x[:, 0],
    "several of each point": lambda x: TABLE[place(x, 9)[:, None], [0, 2]] * x[:, :2],
    "several of each, points last": lambda x: (
        LINE[place(x, 9) + T.arange(3)[:, None]] * x[:, 0]).sum(0),
    "index_select": lambda x: T.index_select(TABLE, 0, place(x, 9)) * x[:, :1],
    "take": lambda x: T.take(TABLE, place(x, 63)) * x[:, 0],
    "gather": lambda x: T.gather(LINE, 0, place(x, 17)) * x[:, 0],
    "gather of columns": lambda x: T.gather(TABLE[:, :4], 0, (x * 8).detach().to(T.int64)) * x,
    "take_along_dim": lambda x: T.take_along_dim(LINE, place(x, 17) - 17, 0) * x[:, 0],
    "of each point's own numbers": lambda x: T.gather(x, 1, place(x, 4)[:, None]),
    "along its numbers": lambda x: T.take_along_dim(x, x.argmin(1, keepdim=True), 1),
    "at fixed places": lambda x: T.index_select(x, 1, T.tensor([2, 0, 2])),
    "at a fixed row": lambda x: T.take_along_dim(x, T.tensor([[2, 0, 2]]), 1),
    "scatter": lambda x: x.scatter(1, x.argmax(1, keepdim=True), 0.5),
    "scatter of numbers": lambda x: T.scatter(T.zeros_like(x), 1, T.argsort(x, 1), x * x),
    "scatter_add": lambda x: T.scatter_add(x, 1, (x * 3.3).detach().to(T.int64), x * x),
    "index_add": lambda x: T.index_add(x, 1, T.tensor([2, 0, 2, 1]), x * x),
}  # fmt: skip


@pytest.mark.parametrize("name", READ)
def test_what_each_point_reads(short_chunks, name):
    check_as_eager(READ[name], [LINE, TABLE])


@pytest.mark.parametrize("name", ["bilinear", "between knots"])
def test_what_each_point_reads_where_tiles_are_tried(name):
    check_as_eager(READ[name], [LINE, TABLE], "llvm")


def _slope_in_the_table(x: T.Tensor) -> T.Tensor:
    found = TABLE[place(x, 9), place(x, 7, 1)]
    return T.grad((found**2 * x[:, 0]).sum(), TABLE, create_graph=True)[0]


ADDED = {
    "by index_add": lambda x: T.index_add(T.zeros(9, 4, dtype=x.dtype), 0, place(x, 9), x * x),
    "by scatter_add": lambda x: T.scatter_add(
        T.zeros(9, dtype=x.dtype), 0, place(x, 9), x[:, 0]),
    "a mean, beside what knows no point": lambda x: T.scatter_add(
        T.zeros(17, dtype=x.dtype), 0, place(x, 17), x[:, 0]) / len(x) + LINE,
    "a gradient": _slope_in_the_table,
}  # fmt: skip


@pytest.mark.parametrize("name", ADDED)
def test_what_is_added_over_points_is_a_sum(short_chunks, name):
    check_sums_as_eager(ADDED[name])


MEET = {
    "points read each other": (lambda x: x[place(x, 4)], "lets points meet"),
    "one point's number": (lambda x: x.reshape(-1)[place(x, 4)], "lets points meet"),
    "sorted": (lambda x: T.gather(x, 0, T.argsort(x, 0)), "lets points meet"),
    "the first points": (lambda x: T.gather(x, 0, T.tensor([[0, 1, 0, 1]])), "given positions"),
    "another row for each": (
        lambda x: T.gather(ROWS, 1, (x * 3.9).detach().to(T.int64)), "lets points meet"),
    "the last that is written": (
        lambda x: T.scatter(T.zeros(9, dtype=x.dtype), 0, place(x, 9), x[:, 0]), "points meet"),
    "added to ones": (
        lambda x: T.index_add(T.ones(9, 4, dtype=x.dtype), 0, place(x, 9), x), "each would add"),
    "added to a point": (lambda x: T.index_add(x, 0, T.tensor([0]), ROWS[:1]), "given positions"),
    "squares of sums": (
        lambda x: T.scatter_add(T.zeros(9, dtype=x.dtype), 0, place(x, 9), x[:, 0]) ** 2,
        "not linear"),
    "other numbers of each": (
        lambda x: T.gather(x.reshape(-1, 2), 1, (x.T[:2] > 0.5).to(T.int64).reshape(-1, 1)),
        "lets points meet"),
    "their number, written": (
        lambda x: x.scatter(1, x.argmax(1, keepdim=True), 1 / len(x)), "how many points"),
    "at a sum": (lambda x: LINE[(x > 0.5).sum() % 17] * x, "not linear"),
}  # fmt: skip


@pytest.mark.parametrize("name", MEET)
def test_look_ups_in_which_points_meet_are_refused(name):
    refuses(*MEET[name])
