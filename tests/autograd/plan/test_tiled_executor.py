"""What is compiled without points goes through tiles where rows do not meet; it is always right."""

from __future__ import annotations

import numpy as np
import pytest

import autograd as T
from autograd.plan.executors import tiled_executor
from autograd.plan.lanes import few_rows, tiled
from tests.autograd.plan.lanes.functions_of_points import random_function

rng = np.random.default_rng(0)
N = 130


def drawn(*shape: int, requires_grad: bool = False) -> T.Tensor:
    return T.tensor(rng.uniform(-1, 1, shape), requires_grad=requires_grad)


X, Y, MORE = drawn(N, 2), drawn(N, 2), drawn(3 * N + 7, 2)
TABLE = drawn(N, 3)
MASK = TABLE[:, :1] > 0
WIDE, LONG, SQUARE = drawn(N, 200), drawn(2 * N + 50, 2), drawn(N, N)


@pytest.fixture
def sets(monkeypatch) -> list[int]:
    """The numbers of rows that went through tiles, however little is done with them.

    Negative for those that did not.
    """
    seen: list[int] = []
    make = tiled_executor.tiled_or_none

    def noted(tried, count):
        found = make(tried, count)
        seen.append(-count if found is None else count)
        return found

    monkeypatch.setattr(tiled_executor, "tiled_or_none", noted)
    monkeypatch.setattr(few_rows, "_WORTH", 1)
    monkeypatch.setattr(tiled, "_WORTH_COMPILING", 1)
    return seen


class Held:
    """Parameters, and functions of tensors."""

    def __init__(self) -> None:
        shapes = [(2, 9), (9,), (9, 1)]
        self.parameters = [drawn(*s, requires_grad=True) for s in shapes]

    def u(self, x: T.Tensor) -> T.Tensor:
        w, b, v = self.parameters
        return T.tanh(x @ w + b) @ v

    def times(self, x: T.Tensor) -> T.Tensor:
        return x * self.parameters[1][0]

    def slope(self, x: T.Tensor) -> T.Tensor:
        u = self.u(x)
        return T.grad(u.sum(), x, create_graph=True)[0]

    def residual(self, x: T.Tensor) -> T.Tensor:
        first = self.slope(x)
        second = T.grad(first[:, 0].sum(), x, create_graph=True)[0]
        return first[:, 1:] + self.u(x) * first[:, :1] - 0.1 * second[:, :1]

    def ends(self, x: T.Tensor) -> T.Tensor:
        """Of two sets in one array, one after the other."""
        both = self.u(T.cat([x, -x]))
        return both[: len(x)] - both[len(x) :]


IN_TILES = {
    "residual": lambda h, x: (h.residual(x) ** 2).mean(),
    "sum by a number": lambda h, x: (h.residual(x) ** 2).sum() / len(x),
    "rows": lambda h, x: h.residual(x),
    "rows and a sum": lambda h, x: [h.u(x), h.u(x).sum()],
    "penalty": lambda h, x: (h.u(x) ** 2).mean() + sum((p**2).sum() for p in h.parameters),
    "equally many at a wall": lambda h, x: (h.residual(x) ** 2).mean() + (h.u(Y) ** 2).mean(),
    "more at a wall": lambda h, x: (h.residual(x) ** 2).mean() + 3 * (h.u(MORE) ** 2).mean(),
    "walls alone": lambda h, x: (h.u(MORE) ** 2).mean() * x.sum(),
    "periodic": lambda h, x: ((h.u(x) - h.u(Y)) ** 2).mean(),
    "ends in one array": lambda h, x: (h.ends(x) ** 2).mean(),
    "row by row": lambda h, x: (h.u(x) * TABLE).square().mean(0).sum(),
    "rows without a dimension": lambda h, x: (h.u(x)[:, 0] * x[:, 1]).mean(),
    "half of the components": lambda h, x: T.stack([h.u(x), x[:, :1]]).square().sum(),
    "root of a mean": lambda h, x: (h.residual(x) ** 2).mean().sqrt(),
    "root of a root": lambda h, x: (h.u(x) ** 2).mean().sqrt().sqrt() * 3 + h.u(MORE).mean() ** 2,
    "ratio of sums": lambda h, x: (h.u(x) ** 2).sum() / (MORE**2).sum().exp(),
    "relative norm": lambda h, x: (h.u(x) - Y[:, :1]).norm() / Y[:, :1].norm(),
    "norm along rows": lambda h, x: h.residual(x).norm(dim=0) + 1.0,
    "logarithm": lambda h, x: T.log((h.residual(x) ** 2).mean() + 1e-3),
    "multiplied by a sum": lambda h, x: h.u(x) * (1.0 + h.u(x).square().mean().detach()),
    "divided by a sum": lambda h, x: (x[:, :1] / (h.u(x).square().mean().detach() + 1.0)) * h.u(x),
    "ones": lambda h, x: (h.u(x) * T.ones(len(x), 1)).sum(),
    "yes and no": lambda h, x: T.where(MASK, h.u(x), x[:, :1] ** 2).sum(),
    "a column of that number": lambda h, x: (h.u(x) * WIDE[:, N : N + 1]).square().sum(),
    "a row of that number": lambda h, x: (h.u(x) ** 2).sum() * (h.times(LONG)[N] ** 2).sum(),
    "as many of others": lambda h, x: (h.u(x) ** 2).sum() * h.times(LONG)[N : 2 * N].square().sum(),
}  # fmt: skip


def same(found, expected) -> None:
    several = isinstance(expected, (list, tuple))
    for one, other in zip(found, expected, strict=True) if several else [(found, expected)]:
        one, other = (t.numpy(force=True) for t in (one, other))
        scale = max(1.0, np.abs(other).max())
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-12 * scale)


def check(fn, x: T.Tensor = X) -> None:
    """Compare values and gradients with those of the function itself, twice."""
    held = Held()

    def loss(given: T.Tensor):
        return fn(held, given)

    compiled = T.compile(loss, executor="llvm")
    for _ in range(2):
        ours, theirs = (x.clone().requires_grad_() for _ in range(2))
        found, expected = compiled(ours), loss(theirs)
        same(found, expected)
        pair = []
        for result, given in ((found, ours), (expected, theirs)):
            parts = result if isinstance(result, list) else [result]
            seeds = [T.linspace(0.5, 1.5, p.numel(), dtype=p.dtype).reshape(p.shape) for p in parts]
            total = sum((p * seed).sum() for p, seed in zip(parts, seeds, strict=True))
            pair.append(T.grad(total, [given, *held.parameters], materialize_grads=True))
        same(*pair)
        for parameter in held.parameters:
            parameter._data[...] += 0.1


@pytest.mark.parametrize("name", IN_TILES)
def test_rows_that_do_not_meet_go_through_tiles(sets, name):
    check(IN_TILES[name])
    assert -N not in sets and (N in sets or name == "walls alone")


def test_each_number_of_rows_goes_through_tiles_of_its_own(sets):
    check(IN_TILES["more at a wall"])
    assert {N, len(MORE)} <= set(sets)


@pytest.mark.parametrize(
    "fn",
    {
        "product over points": lambda h, x: (x.T @ h.u(x)).sum(),  # rows in the last dimension
        "a root beside a mean": lambda h, x: (h.u(x) ** 2).mean().sqrt() + h.u(x).tanh().mean(),
        "two roots": lambda h, x: (h.u(x) ** 2).mean().sqrt() + (h.u(x) ** 4).mean().sqrt(),
        "less the mean": lambda h, x: ((h.u(x) - h.u(x).mean()) ** 2).sum(),
        "weights over all": lambda h, x: (T.softmax(h.u(x), 0) * x).sum(),
        "running sum": lambda h, x: (T.cumsum(h.u(x), 0) ** 2).mean(),
        "neighbours": lambda h, x: ((h.u(x)[1:] - h.u(x)[:-1]) ** 2).mean(),
        "turned round": lambda h, x: (h.u(x) * h.u(x.flip(0))).mean(),
        "first row": lambda h, x: (h.u(x) - h.u(x)[0]).square().mean(),
        "every other row": lambda h, x: (h.u(x)[::2] * x[1::2]).sum(),
        "each with each": lambda h, x: T.exp(-((h.u(x) - h.u(x).T) ** 2)).mean(),
        "kernel": lambda h, x: ((h.u(x) @ h.u(x).T) ** 2).mean(),
        "the largest": lambda h, x: h.u(x).amax() + h.u(x).amin(0).sum(),
        "in order": lambda h, x: (T.sort(h.u(x), 0)[0] * x).sum(),
        "moved on by as many as are recorded": lambda h, x: (h.u(x) * h.u(x).roll(7, 0)).sum(),
        "every other row of two sets": lambda h, x: T.cat([h.u(x), h.u(Y)])[::2].sum(),
        "first rows of two sets": lambda h, x: T.cat([h.u(x), h.u(Y)])[:14].square().sum(),
        "two sets as they are": lambda h, x: T.cat([h.u(x), h.u(Y)]),
        "half of the rows": lambda h, x: x.sin().reshape(2, -1)[0].sum() + h.u(x).sum(),
        "a square beside": lambda h, x: h.u(x).square().sum() * h.times(SQUARE).square().sum(),
        "a square alone": lambda h, x: (h.times(SQUARE) ** 2).sum(),
        "means of columns": lambda h, x: (h.u(x) * x).mean(0, keepdim=True).square().sum(),
        "as a square": lambda h, x: (h.u(x).reshape(10, 13) @ TABLE[:13]).tanh().sum(),
    }.items(),
    ids=lambda pair: pair[0],
)  # fmt: skip
def test_where_rows_meet_the_numbers_are_right_too(sets, fn):
    check(fn[1])


def test_what_follows_sums_may_be_anything_where_no_gradient_goes_back(sets):
    held = Held()

    @T.compile(executor="llvm")
    def relative(x: T.Tensor) -> T.Tensor:
        return (held.u(x) - x[:, :1]).square().mean().sqrt() / x.square().sum().log()

    with T.no_grad():
        same(relative(X), relative.fn(X))
    assert sets == [N]


@pytest.mark.parametrize("scale", [0.0, 1e-200, 1e-170, 1.0, 1e160, 1e200])
def test_a_norm_is_that_of_what_is_very_small_and_very_large_too(sets, scale):
    held = Held()
    factor = T.tensor(scale, dtype=T.float64)

    def loss(x: T.Tensor) -> T.Tensor:
        return (held.u(x) * factor).norm()

    compiled = T.compile(loss, executor="llvm")
    found, expected = compiled(X), loss(X)
    np.testing.assert_allclose(found.item(), expected.item(), rtol=1e-13)
    pairs = [T.grad(one, held.parameters) for one in (found, expected)]
    for one, other in zip(*pairs, strict=True):
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-10, atol=1e-12 * scale)
    assert sets == [N]


@pytest.mark.parametrize("width", [65, N, 2 * N])
def test_widths_that_are_numbers_of_rows_too_are_told_apart(sets, width):
    weights = [drawn(2, width, requires_grad=True), drawn(width, 1, requires_grad=True)]

    def loss(x: T.Tensor) -> T.Tensor:
        hidden = T.tanh(x @ weights[0])
        return ((hidden @ weights[1]) ** 2).mean() + hidden.mean()

    compiled = T.compile(loss, executor="llvm")
    same(compiled(X), loss(X))
    same(T.grad(compiled(X), weights), T.grad(loss(X), weights))


def test_a_parameter_with_a_row_a_point_has_its_gradient(sets):
    source = drawn(N, 1, requires_grad=True)
    held = Held()

    def loss(x: T.Tensor) -> T.Tensor:
        return ((held.residual(x) - source) ** 2).mean() + 1e-3 * (source**2).sum()

    x = X.clone().requires_grad_()
    wanted = [source, *held.parameters]
    compiled = T.compile(loss, executor="llvm")
    same(T.grad(compiled(x), wanted), T.grad(loss(x), wanted))
    assert sets


@pytest.mark.parametrize("seed", range(12))
def test_random_functions_agree(sets, seed):
    p, fn = random_function(seed)
    x = drawn(N, 4)

    def loss(given: T.Tensor) -> T.Tensor:
        total, _, full = fn([given])
        return total / len(given) + (full * full.cos()).mean()

    found, expected = T.compile(loss, executor="llvm")(x), loss(x)
    same(found, expected)
    pairs = [T.grad(one, p, materialize_grads=True) for one in (found, expected)]
    same(*pairs)


def test_any_number_of_threads_gives_the_same_bits(sets):
    held = Held()
    x = drawn(3000, 2).requires_grad_()
    results = []
    for threads in (1, 2, 3):
        loss = T.compile(IN_TILES["more at a wall"], threads=threads, executor="llvm")
        value = loss(held, x)
        results.append([value, *T.grad(value, held.parameters)])
    for other in results[1:]:
        for one, two in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(one.numpy(force=True), two.numpy(force=True))


def test_arguments_of_another_length_are_recorded_anew(sets):
    held = Held()
    loss = T.compile(lambda x: IN_TILES["residual"](held, x), executor="llvm")
    for count in (N, 2 * N, 5, N):
        x = drawn(count, 2).requires_grad_()
        same(loss(x), loss.fn(x))


def test_new_memory_of_a_parameter_is_read(sets):
    held = Held()
    loss = T.compile(lambda x: IN_TILES["more at a wall"](held, x), executor="llvm")
    x = X.clone().requires_grad_()
    loss(x)
    compiled = len(sets)
    held.parameters[0].data = drawn(2, 9)
    same(loss(x), loss.fn(x))
    assert len(sets) == compiled  # and nothing is compiled again
