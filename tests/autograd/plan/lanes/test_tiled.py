"""Compiled tiles give what the recorded program gives, for any number of points and threads."""

from __future__ import annotations

import numpy as np
import pytest

import autograd as T
from autograd.plan import chunks
from autograd.plan.chunks import Chunked
from autograd.plan.lanes import tiled
from autograd.plan.lanes.host import Host
from tests.autograd.plan.lanes.functions_of_points import (
    chosen,
    network,
    parameters,
    random_function,
    rows_of,
    rows_with_yes_and_no,
    step_of,
)


@pytest.fixture
def compiled(monkeypatch):
    """Fails the test where something was not compiled: returns the texts that say why."""
    reasons = []
    made = chunks.tiled_or_none

    def noted(*arguments):
        found = made(*arguments)
        if found is None:
            reasons.append(arguments[0])
        return found

    monkeypatch.setattr(chunks, "tiled_or_none", noted)
    yield reasons
    assert not reasons


@pytest.mark.parametrize("dtype, tolerance", [("float64", 1e-13), ("float32", 2e-5)])
@pytest.mark.parametrize("count", [1, 2, 31, 32, 33, 64, 65, 500])
def test_all_kinds_of_results_agree_with_numpy(compiled, count, dtype, tolerance):
    p = parameters(dtype)
    rows = rows_of(count, dtype)
    found = step_of(p)(rows)
    expected = step_of(p, "numpy")(rows)
    for one, other in zip(found, expected, strict=True):
        assert one.shape == other.shape and one.dtype == other.dtype
        scale = np.abs(other).max()
        np.testing.assert_allclose(one, other, rtol=0, atol=tolerance * scale)


def test_any_number_of_threads_gives_the_same_bits(compiled):
    rows = rows_of(1200)
    results = [step_of(parameters(), threads=k)(rows) for k in (1, 2, 3, 7)]
    for other in results[1:]:
        for one, two in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(one, two)


def test_points_beyond_the_last_do_not_count_whatever_they_make(compiled):
    """The last tile is filled with its first point, where the function may be infinite."""
    rows = [np.concatenate([np.ones((32 * 64, 1)), np.zeros((1, 1)), np.ones((4, 1))])]
    p = [T.tensor(np.array([1.0]), requires_grad=True)]

    def fn(given):
        inverse = p[0] / given[0].reshape(-1)
        return [T.exp(-inverse * inverse).sum(), inverse.detach()]

    total, joined = Chunked(fn, p, ["sum", "rows"], executor="llvm")(rows)
    np.testing.assert_allclose(total, np.exp(-1.0) * (len(rows[0]) - 1), rtol=1e-13)
    assert np.isinf(joined[32 * 64]) and np.all(np.delete(joined, 32 * 64) == 1.0)


def test_a_nan_stays_with_its_point(compiled):
    rows = rows_of(100)
    rows[0][40] = np.nan
    _, _, u, shares = step_of(parameters())(rows)
    assert np.isnan(u[40]) and np.all(np.isnan(shares[40, :6]))
    assert np.all(np.isfinite(np.delete(u, 40))) and np.all(np.isfinite(np.delete(shares, 40, 0)))


def test_places_of_other_dtypes_and_orders_are_written(compiled):
    rows, p = rows_of(70), parameters()
    _, _, u, shares = step_of(p)(rows)
    into = [None, None, np.zeros(70, np.float32), np.zeros((70, shares.shape[1]), order="F")]
    found = step_of(p)(rows, into)
    assert found[2] is into[2] and found[3] is into[3]
    np.testing.assert_array_equal(into[2], u.astype(np.float32))
    np.testing.assert_array_equal(into[3], shares)


def test_parameters_are_read_anew_also_where_they_lie_elsewhere(compiled):
    p, rows = parameters(), rows_of(90)
    step = step_of(p)
    step(rows)
    for k, one in enumerate(p):
        one.data = one.detach() * 0.5 if k % 2 else one.data.mul_(0.5)
    expected = step_of(p, "numpy")(rows)
    for one, other in zip(step(rows), expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-13)


def test_a_constant_that_is_written_to_is_recorded_again(compiled):
    scale = T.tensor(np.array(2.0))
    step = Chunked(lambda rows: [(rows[0] * scale).sum()], [], ["sum"], executor="llvm")
    rows = [np.ones((80, 1))]
    assert step(rows)[0] == 160.0
    scale.mul_(2.0)
    assert step(rows)[0] == 320.0


def test_parts_of_parameters_beside_sums_are_read_and_not_written_to(compiled):
    p = [T.tensor(np.array([2.0, 3.0, 5.0]), requires_grad=True)]
    fn = lambda rows: [rows[0].sum() * p[0][1:3]]  # noqa: E731
    step = Chunked(fn, p, ["sum"], executor="llvm")
    for _ in range(2):
        np.testing.assert_array_equal(step([np.ones((80, 1))])[0], [240.0, 400.0])
    np.testing.assert_array_equal(p[0].detach().numpy(), [2.0, 3.0, 5.0])
    (tiles,) = step._tiles.values()
    assert tiles._totals == [1]


@pytest.mark.parametrize("count", [1, 64, 100, 203])
def test_what_knows_no_point_is_added_once(compiled, count):
    """The loss at a wall, penalties, numbers: beside means, subtracted, joined, or alone."""
    p = parameters()
    alone = T.tensor(np.array([0.5, -1.5]), requires_grad=True)
    (x, y, _), (wall, value, _) = (map(T.tensor, rows_of(k)) for k in (count, 9))

    def loss(x, y):
        inside = (network(p, x, y) ** 2).mean()
        edge = ((network(p, wall, value) - 0.25) ** 2).mean()
        both = T.stack([inside, edge, (alone**2).sum()])
        return 2.0 - (edge - inside) + (both * T.tensor([1.0, 3.0, 0.1], dtype=T.float64)).sum()

    found = T.compile(loss, points=("x", "y"), executor="llvm")
    one, other = ([f(x, y), *T.grad(f(x, y), [*p, alone])] for f in (found, loss))
    for ours, expected in zip(one, other, strict=True):
        scale = float(expected.detach().abs().max())
        np.testing.assert_allclose(
            ours.detach(), expected.detach(), rtol=0, atol=1e-13 * max(scale, 1e-3)
        )


def test_rows_of_columns_and_parts_and_zeros(compiled):
    """Everything that moves elements: parts of a point's values, joined, with zeros beside them."""
    w = [T.tensor(np.random.default_rng(2).normal(size=(4, 4)), requires_grad=True)]

    def fn(rows):
        (x,) = rows
        y = T.cat([x[:, 1:3], x[:, :1] * 2, T.zeros(x.shape[0], 1, dtype=T.float64)], dim=1)
        z = T.stack([y @ w[0], y * y], dim=0)
        first, second = z.unbind(0)
        parts = first.reshape(-1, 2, 2).sum(dim=2) * second[:, :2]
        total = (parts * parts).sum() + first[:, 3].sum() * 0.5
        return [total, *T.grad(total, w, retain_graph=True), parts.detach()]

    rows = [np.random.default_rng(3).normal(size=(75, 3))]
    results = [Chunked(fn, w, ["sum", "sum", "rows"], executor=e)(rows) for e in ("llvm", "numpy")]
    for one, other in zip(*results, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("what, fn", [
    ("not linear", lambda rows: [T.exp((rows[0] * rows[0]).sum() * 1e-3)]),
    ("between points", lambda rows: [(rows[0] - rows[0].flip(0)).square().sum()]),
    ("no such operation", lambda rows: [T.cumsum(rows[0], 0).sum()]),
    ("few points are refused", lambda rows: [rows[0].reshape(3, -1).sum(dim=1).square().sum()]),
    ("of another dtype", lambda rows: [(rows[0].to(T.float32) * 2).sum()]),
])  # fmt: skip
def test_what_tiles_do_not_hold_runs_as_without_them(what, fn):
    rows = [np.random.default_rng(4).normal(size=(66, 1))]
    step = Chunked(fn, [], ["sum"], executor="llvm", chunk=66)
    expected = Chunked(fn, [], ["sum"], executor="numpy", chunk=66)
    np.testing.assert_allclose(step(rows)[0], expected(rows)[0], rtol=1e-12)
    assert list(step._tiles.values()) == [None]


def test_numbers_of_several_arrays_that_are_joined_run_as_without_tiles():
    p = [T.tensor([0.5]), T.tensor([0.25, 3.0])]
    fn = lambda rows: [(rows[0] * T.cat([p[0], p[1]])).sum()]  # noqa: E731
    rows = [np.ones((70, 1))]
    assert Chunked(fn, p, ["sum"], executor="llvm")(rows)[0] == 70 * 3.75


def test_why_something_is_not_compiled_can_be_seen(monkeypatch, capfd):
    monkeypatch.setenv("AUTOGRAD_DEBUG", "1")
    fn = lambda rows: [T.exp((rows[0] * rows[0]).sum())]  # noqa: E731
    Chunked(fn, [], ["sum"], executor="llvm")([np.zeros((64, 1))])
    assert "not compiled for tiles: operation 'exp' on a sum over points" in capfd.readouterr().err


def test_a_cast_of_numbers_to_yes_and_no_is_left_to_others():
    rows = [np.array([0.0, -0.0, 0.5, -2.0, np.nan] * 20)[:, None]]

    def function(columns):
        (x,) = columns
        yes = x.to(T.bool).to(x.dtype)
        return [yes * 3, T.where(x.to(T.bool), x + 1, x - 1)]

    found, expected = (
        Chunked(function, [], ["rows"] * 2, executor=name)(rows) for name in ("llvm", "numpy")
    )
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(found[0][:5, 0], [0, 0, 3, 3, 3])


def test_random_programs_agree_with_numpy():
    """Random walks through the operations on a point's values, with all sorts of operands."""
    compiled = 0
    for seed in range(30):
        p, fn = random_function(seed)
        rows = [np.random.default_rng(seed).uniform(0.5, 1.5, (70, 4))]
        kinds = ["sum", "sum", "rows"]
        step = Chunked(fn, p, kinds, executor="llvm")
        expected = Chunked(fn, p, kinds, executor="numpy")(rows)
        for one, other in zip(step(rows), expected, strict=True):
            scale = np.abs(other).max() + 1e-300
            np.testing.assert_allclose(one, other, rtol=0, atol=1e-11 * scale, err_msg=str(seed))
        compiled += all(t is not None for t in step._tiles.values())
    assert compiled >= 25


_PROCESSORS = [(64, (4, 4), 4), (32, (6, 2), 3), (16, (4, 4), 4)]
"""AVX-512, AVX2 and NEON: what is written for them differs in shape."""


@pytest.mark.parametrize("shape", _PROCESSORS)
def test_code_for_other_processors_gives_the_same(compiled, monkeypatch, shape):
    """All of it runs on the host."""
    here = tiled.host()
    monkeypatch.setattr(tiled, "host", lambda: Host(*shape, here.cpu, here.features))
    for dtype, tolerance in (("float64", 1e-13), ("float32", 2e-5)):
        p, rows = parameters(dtype), rows_of(70, dtype)
        expected = step_of(p, "numpy")(rows)
        for one, other in zip(step_of(p)(rows), expected, strict=True):
            scale = np.abs(other).max()
            np.testing.assert_allclose(one, other, rtol=0, atol=tolerance * scale)


def test_means_over_points_are_means_of_all(compiled):
    """A mean is divided by the points of the recording, which a shared number makes up for."""
    share = T.tensor(np.array(0.0))
    p = parameters()

    def fn(rows):
        few = len(rows[0])
        mean = (network(p, *rows[:2]) ** 2).mean() * (few / share)
        return [mean, T.cat([g.reshape(-1) for g in T.grad(mean, p, retain_graph=True)])]

    rows = rows_of(150)
    share.data[...] = 150.0
    step = Chunked(fn, [*p, share], ["sum", "sum"], executor="llvm")
    expected = Chunked(fn, [*p, share], ["sum", "sum"], executor="numpy", chunk=150)
    for one, other in zip(step(rows), expected(rows), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-15)


def test_arrays_as_large_as_the_recording_are_not_taken_for_points(compiled):
    """Programs are recorded for a few points, and for others where an array has that size."""
    w = [T.tensor(np.random.default_rng(0).normal(size=(7, 7)), requires_grad=True)]
    ones = T.ones(7, dtype=T.float64)

    def fn(rows):
        y = T.tanh(rows[0] @ w[0]) * ones + ones
        return [(y * y).sum(), *T.grad((y * y).sum(), w)]

    rows = [np.random.default_rng(1).normal(size=(100, 7))]
    results = [Chunked(fn, w, ["sum", "sum"], executor=e)(rows) for e in ("llvm", "numpy")]
    for one, other in zip(*results, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_products_that_blas_does_faster_are_left_to_it():
    w = [T.tensor(np.zeros((300, 300)))]
    step = Chunked(lambda rows: [(rows[0] @ w[0]).sum()], w, ["sum"], executor="llvm")
    step([np.zeros((70, 300))])
    assert list(step._tiles.values()) == [None]


@pytest.mark.parametrize("shape", _PROCESSORS)
@pytest.mark.parametrize(
    "sizes", [(1, 1), (2, 5), (4, 7), (11, 6), (3, 130), (130, 3), (65, 64), (129, 200)]
)
def test_products_of_any_size_agree_with_numpy(compiled, monkeypatch, sizes, shape):
    """Blocks of rows of two heights, panels with a rest, sums over points in blocks with a rest."""
    here = tiled.host()
    monkeypatch.setattr(tiled, "host", lambda: Host(*shape, here.cpu, here.features))
    m, k = sizes
    rng = np.random.default_rng(m)
    for dtype, tolerance in (("float64", 1e-13), ("float32", 1e-4)):
        w = [T.tensor(rng.normal(size=sizes).astype(dtype), requires_grad=True)]

        def fn(rows, w=w):
            y = T.nn.functional.linear(rows[0], w[0])
            return [y.square().sum(), *T.grad(y.square().sum(), w), y.detach()]

        rows = [rng.normal(size=(75, k)).astype(dtype)]
        kinds = ["sum", "sum", "rows"]
        results = [Chunked(fn, w, kinds, executor=e)(rows) for e in ("llvm", "numpy")]
        for one, other in zip(*results, strict=True):
            scale = np.abs(other).max()
            np.testing.assert_allclose(one, other, rtol=0, atol=tolerance * scale)


@pytest.mark.parametrize("dtype", [T.float64, T.float32])
def test_compiled_functions_of_points_are_tiles_in_both_precisions(monkeypatch, dtype):
    found = []
    made = chunks.tiled_or_none
    monkeypatch.setattr(chunks, "tiled_or_none", lambda *a: found.append(made(*a)) or found[-1])
    x = T.tensor(np.random.default_rng(0).normal(size=(80, 2)), dtype=dtype)
    w = T.tensor(np.ones((3, 2)), dtype=dtype, requires_grad=True)

    @T.compile(points="x", executor="llvm")
    def loss(x, w):
        return T.tanh(T.nn.functional.linear(x, w)).square().mean()

    expected = np.square(np.tanh(x.numpy().sum(axis=1))).mean()
    np.testing.assert_allclose(loss(x, w).item(), expected, rtol=20 * np.finfo(dtype).eps)
    assert found and None not in found


def test_points_that_are_yes_or_no(compiled):
    rows = rows_with_yes_and_no(130)
    found = Chunked(chosen, [], ["sum", "rows"], executor="llvm")(rows)
    x, mask = rows
    expected = np.where(mask, np.sin(x), x * x)
    np.testing.assert_allclose(found[0], expected.sum(), rtol=1e-13)
    np.testing.assert_allclose(found[1], expected, rtol=0, atol=1e-14)
