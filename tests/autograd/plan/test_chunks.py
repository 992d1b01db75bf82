"""Replay over chunks: same bits for any number of threads, and every hazard of reuse."""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
from types import SimpleNamespace

import numpy as np
import pytest

import autograd as T
from autograd import threads
from autograd.plan import NumpyExecutor, TraceError, chunks
from autograd.plan.chunks import Chunked
from autograd.plan.pieces import even_pieces

rng = np.random.default_rng(0)
FEW = [7, 14]  # the points with which a function of many is recorded
N = 203
X, Y = rng.normal(size=(N, 2)), rng.normal(size=(N, 1))


def parameters():
    r = np.random.default_rng(1)
    return [
        T.tensor(r.normal(size=shape), requires_grad=True) for shape in [(6, 3), (6,), (1, 6), (1,)]
    ]


def network(p, x, y):
    h = T.tanh(T.nn.functional.linear(T.cat([x, y], dim=1), p[0], p[1]))
    return T.nn.functional.linear(h, p[2], p[3]).reshape(-1)


def chunked(p, **options):
    """Sum, rows and per-row gradients of one network."""

    def fn(rows):
        x, y, seed = rows
        u = network(p, x, y)
        total = (u * u).sum()
        gradient = T.grad(total, p, retain_graph=True)
        shares = T.grad(u, p, seed.reshape(-1))
        return [total, T.cat([g.reshape(-1) for g in gradient]), u.detach(),
                T.cat([g.reshape(-1) for g in shares])]  # fmt: skip

    return Chunked(fn, p, ["sum", "sum", "rows", "per_row"], executor="numpy", **options)


ROWS = [X, Y, np.ones((N, 1))]


def expected(p):
    u = network(p, T.tensor(X), T.tensor(Y))
    total = (u * u).sum()
    gradient = np.concatenate([g.numpy().ravel() for g in T.grad(total, p, retain_graph=True)])
    jacobian = np.stack([
        np.concatenate([g.numpy().ravel() for g in T.grad(u[k], p, retain_graph=True)])
        for k in range(N)
    ])  # fmt: skip
    return total.item(), gradient, u.detach().numpy(), jacobian


@pytest.mark.parametrize("chunk", [1, 7, 64, 1000, None])
def test_all_kinds_equal_the_whole_at_once(chunk):
    p = parameters()
    found = chunked(p, chunk=chunk, threads=2)(ROWS)
    for got, want in zip(found, expected(p), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)


def test_what_is_joined_goes_where_it_is_asked_to():
    run = chunked(parameters(), chunk=50, threads=2)
    found = run(ROWS)
    wide = np.full((N, 2 * found[3].shape[1]), np.nan)
    place, single = wide[:, ::2], np.empty(N, np.float32)
    given = run(ROWS, [None, None, single, place])
    assert given[2] is single and given[3] is place
    np.testing.assert_array_equal(single, found[2].astype(np.float32))
    np.testing.assert_array_equal(place, found[3])
    assert np.isnan(wide[:, 1::2]).all()
    with pytest.raises(ValueError, match=r"into: expected an array of shape \(203,\), got \(7,\)"):
        run(ROWS, [None, None, np.empty(7), None])


@pytest.mark.parametrize("chunk", [5, 50])
def test_the_bits_are_the_same_for_any_number_of_threads(chunk):
    results = []
    for count in (1, 2, 3, 7):
        step = chunked(parameters(), chunk=chunk, threads=count)
        for _ in range(3):
            results.append(step(ROWS))
    for other in results[1:]:
        for a, b in zip(results[0], other, strict=True):
            assert np.asarray(a).tobytes() == np.asarray(b).tobytes()


def test_rows_come_in_the_order_of_the_points():
    step = Chunked(lambda rows: [rows[0][:, 0], rows[0] * 2], [], ["rows", "rows"], chunk=9,
                   threads=3, executor="numpy")  # fmt: skip
    first, both = step([X])
    np.testing.assert_array_equal(first, X[:, 0])
    np.testing.assert_array_equal(both, 2 * X)


def test_results_are_fresh_arrays():
    p = parameters()
    step = chunked(p, chunk=50)
    first = step(ROWS)
    kept = [np.array(a) for a in first]
    step([-X, Y, ROWS[2]])
    for a, b in zip(first, kept, strict=True):
        np.testing.assert_array_equal(a, b)
    second = step(ROWS)
    assert not any(np.shares_memory(a, b) for a in first for b in second)


def test_points_are_not_changed_and_may_have_any_layout():
    p = parameters()
    wide = np.asfortranarray(np.repeat(X, 2, axis=0))
    step = chunked(p, chunk=50)
    found = step([wide[::2], Y[::-1][::-1], ROWS[2]])
    for got, want in zip(found, step(ROWS), strict=True):
        np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(wide, np.repeat(X, 2, axis=0))


# ---- guards: what is recorded again


def test_changes_of_parameters_in_place_are_seen():
    p = parameters()
    step = chunked(p, chunk=50)
    step(ROWS)
    with T.no_grad():
        p[0].mul_(1.5)
        p[3].add_(1.0)
    for got, want in zip(step(ROWS), expected(p), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)


def test_parameters_may_get_other_memory():
    p = parameters()
    step = chunked(p, chunk=50)
    step(ROWS)
    flat = T.tensor(rng.normal(size=18))
    p[0].data = flat.reshape(6, 3)
    p[2].data = T.tensor(rng.normal(size=(6, 1))).T  # strides unlike before
    for _ in range(2):
        for got, want in zip(step(ROWS), expected(p), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)
        with T.no_grad():
            p[2].mul_(2.0)


def test_parameters_that_are_not_contiguous_are_read_anew():
    w = T.tensor(rng.normal(size=(1, 2))).T
    step = Chunked(
        lambda rows: [rows[0] @ w.reshape(2, 1) * w.reshape(-1).sum()], [w], ["rows"],
        executor="numpy",
    )  # fmt: skip
    for _ in range(2):
        np.testing.assert_allclose(step([X])[0], X @ w.numpy() * w.numpy().sum(), rtol=1e-13)
        w.mul_(-1.5)


def test_requires_grad_is_guarded():
    p = T.tensor(np.ones((2, 1)), requires_grad=True)

    def fn(rows):
        u = (rows[0] @ p).sum()
        return [T.grad(u, p)[0] if p.requires_grad else T.zeros_like(p)]

    step = Chunked(fn, [p], ["sum"], executor="numpy")
    np.testing.assert_allclose(step([X])[0].ravel(), X.sum(0), rtol=1e-12)
    p.requires_grad_(False)
    np.testing.assert_array_equal(step([X])[0], 0)
    p.requires_grad_(True)
    np.testing.assert_allclose(step([X])[0].ravel(), X.sum(0), rtol=1e-12)


def counting(fn, *arguments, **options):
    recordings = []

    def noted(rows):
        recordings.append(len(rows[0]))
        return fn(rows)

    return Chunked(noted, *arguments, executor="numpy", **options), recordings


def test_shapes_dtypes_modes_and_flags_are_guarded():
    flag = [False]
    step, recordings = counting(
        lambda rows: [rows[0] * (2.0 if T.is_grad_enabled() else 3.0) + (1.0 if flag[0] else 0.0)],
        [], ["rows"], chunk=500, guard=lambda: flag[0],
    )  # fmt: skip
    np.testing.assert_array_equal(step([X])[0], 2 * X)
    assert step([X.astype("f4")])[0].dtype == np.float32
    assert step([Y])[0].shape == Y.shape
    with T.no_grad():
        np.testing.assert_array_equal(step([X])[0], 3 * X)
    flag[0] = True
    np.testing.assert_array_equal(step([X])[0], 2 * X + 1)
    flag[0] = False
    np.testing.assert_array_equal(step([X])[0], 2 * X)
    assert recordings == 5 * FEW  # going back records nothing


def test_another_dtype_or_shape_of_a_parameter_records_again():
    w = T.tensor(np.ones((2, 1)))
    step, recordings = counting(lambda rows: [rows[0].to(w.dtype) @ w], [w], ["rows"], chunk=500)
    assert step([X])[0].dtype == np.float64
    w.data = T.tensor(np.ones((2, 3), "f4"))
    found = step([X])[0]
    assert found.dtype == np.float32 and found.shape == (N, 3)
    assert recordings == 2 * FEW


def test_constants_that_the_library_changes_record_again():
    scale = T.tensor(np.array([2.0, 3.0]))
    step, recordings = counting(
        lambda rows: [rows[0] * scale + (scale * 2).sum()], [], ["rows"], chunk=500
    )
    for _ in range(2):
        np.testing.assert_allclose(step([X])[0], X * [2, 3] + 10, rtol=1e-15)
    assert recordings == FEW
    scale.mul_(2)
    np.testing.assert_allclose(step([X])[0], X * [4, 6] + 20, rtol=1e-15)
    scale.data = T.tensor(np.array([1.0, 1.0]))
    np.testing.assert_allclose(step([X])[0], X + 4, rtol=1e-15)
    assert recordings == 3 * FEW


def test_a_replay_records_nothing():
    step, recordings = counting(lambda rows: [rows[0].sum()], [], ["sum"], chunk=50)
    for _ in range(4):
        step([X])
    assert sorted(set(recordings)) == sorted(recordings)  # once for each size of chunk


# ---- several users


def test_two_computations_over_the_same_parameters_keep_apart():
    p = parameters()
    one, two = chunked(p, chunk=50, threads=2), chunked(p, chunk=30, threads=2)
    a = one(ROWS)
    b = two([2 * X, Y, ROWS[2]])
    for got, want in zip(one(ROWS), a, strict=True):
        np.testing.assert_array_equal(got, want)
    for got, want in zip(two([2 * X, Y, ROWS[2]]), b, strict=True):
        np.testing.assert_array_equal(got, want)


def test_one_computation_may_be_called_from_several_threads():
    step = chunked(parameters(), chunk=10, threads=2)
    inputs = [[k * X, Y, ROWS[2]] for k in range(1, 5)]
    alone = [step(rows) for rows in inputs]
    found = [None] * 4

    def work(k):
        for _ in range(10):
            found[k] = step(inputs[k])

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for a, b in zip(alone, found, strict=True):
        for x, y in zip(a, b, strict=True):
            np.testing.assert_array_equal(x, y)


def _in_a_child(step, queue):
    queue.put([np.asarray(r) for r in step(ROWS)])


@pytest.mark.skipif(sys.platform != "linux", reason="fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_gets_its_own_pool():
    step = chunked(parameters(), chunk=10, threads=3)
    here = step(ROWS)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_in_a_child, args=(step, queue))
    child.start()
    there = queue.get(timeout=60)
    child.join(timeout=60)
    for a, b in zip(here, there, strict=True):
        np.testing.assert_array_equal(a, b)


# ---- failures


class Failing:
    """Stands for an executor; fails in the chunk that holds a marked point."""

    def __init__(self, executor):
        self.executor = executor
        self.inputs, self.outputs = executor.inputs, executor.outputs
        self.nbytes = executor.nbytes

    def run(self):
        if (self.inputs[0] > 1e6).any():
            raise MemoryError("no memory in this chunk")
        self.executor.run()


@pytest.mark.parametrize("where", [0, N // 2, N - 1])
def test_an_exception_in_any_worker_reaches_the_caller(monkeypatch, where):
    from autograd.plan import chunks

    made = chunks.make_executor
    monkeypatch.setattr(chunks, "make_executor", lambda *a: Failing(made(*a)))
    step = chunked(parameters(), chunk=10, threads=3)
    good = step(ROWS)
    bad = np.array(X)
    bad[where] = 1e9
    with pytest.raises(MemoryError, match="no memory in this chunk"):
        step([bad, Y, ROWS[2]])
    for got, want in zip(step(ROWS), good, strict=True):  # nothing is left half done
        np.testing.assert_array_equal(got, want)


def test_an_error_while_recording_reaches_the_caller_and_leaves_no_trace():
    step = Chunked(lambda rows: [rows[0] * rows[0].sum().item()], [], ["rows"])
    for _ in range(2):
        with pytest.raises(TraceError, match=r"item\(\)"):
            step([X])
    assert T.modes.state.tracer is None


@pytest.mark.parametrize(
    ("fn", "kinds", "message"),
    [
        (lambda rows: [rows[0].sum()], ["sum", "rows"], "expected 2 results, .*sum, rows; got 1"),
        (lambda rows: [rows[0].sum()], ["rows"], r"'rows': expected 203 rows .* got shape \[\]"),
        (lambda rows: [rows[0][:1]], ["rows"], r"got shape \[1, 2\]; return one row a point"),
    ],
)
def test_results_that_do_not_fit_their_kinds_are_refused(fn, kinds, message):
    with pytest.raises(ValueError, match=message):
        Chunked(fn, [], kinds, chunk=500, executor="numpy")([X])


def test_an_unknown_executor_is_refused():
    with pytest.raises(ValueError, match="unknown executor 'torch'.*numpy"):
        Chunked(lambda rows: [rows[0]], [], ["rows"], executor="torch")([X])


# ---- sizes


@pytest.mark.parametrize("count", [0, 1, 2, 63, 64, 65])
def test_few_points(count):
    step = chunked(parameters(), threads=2)
    total, gradient, u, shares = step([r[:count] for r in ROWS])
    assert u.shape == (count,) and shares.shape == (count, 31) and gradient.shape == (31,)
    np.testing.assert_allclose(total, (u * u).sum(), rtol=1e-12)
    np.testing.assert_allclose(gradient, 2 * shares.T @ u, rtol=1e-11, atol=1e-12)


def test_memory_does_not_grow_with_the_number_of_points():
    def held(count):
        step = chunked(parameters(), threads=1)
        step([np.zeros((count, 2)), np.zeros((count, 1)), np.ones((count, 1))])
        return sum(executor.nbytes for executor in step._bound.values())

    assert held(200_000) <= 2 * held(20_000)


def test_blas_keeps_one_thread_while_workers_run(monkeypatch):
    found = []
    run = NumpyExecutor.run

    def looking(executor):
        found.append([library.get() for library in threads.numpy_libraries()])
        run(executor)

    monkeypatch.setattr(NumpyExecutor, "run", looking)
    before = [library.get() for library in threads.numpy_libraries()]
    step = chunked(parameters(), threads=2, chunk=8)
    step([np.zeros((64, 2)), np.zeros((64, 1)), np.ones((64, 1))])
    assert len(found) == 8 and {number for numbers in found for number in numbers} == {1}
    assert [library.get() for library in threads.numpy_libraries()] == before


def test_the_number_of_workers_is_what_was_chosen(monkeypatch):
    monkeypatch.setattr(threads, "_chosen", 3)
    assert Chunked(lambda rows: [], [], []).threads == 3
    assert Chunked(lambda rows: [], [], [], threads=2).threads == 2
    monkeypatch.setattr(threads, "_chosen", None)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 2, 5, 6}, raising=False)
    assert Chunked(lambda rows: [], [], []).threads == 4


# ---- functions that look at all rows together


@pytest.mark.parametrize("executor", ["numpy", "numba"])
def test_a_function_of_the_rows_as_a_whole_gets_them_in_one_go(executor):
    p = parameters()

    def fn(rows):
        x, y, weights = rows
        u = network(p, x, y)
        spread = u - u.mean()
        parts = T.stack([(u * u).sum(), (spread * weights.sum()).abs().sum()])
        gradients = T.grad(parts, p, T.ones(2, dtype=T.float64))
        return [spread.detach(), parts.detach(), T.cat([g.reshape(-1) for g in gradients])]

    few = np.array([[0.5], [2.0]])
    more = rng.normal(size=(2 * N, 1))
    whole = Chunked(fn, p, ["sum"] * 3, whole=True, threads=2, chunk=7, executor=executor)
    for weights in (few, more, few):
        expected = fn([T.tensor(X), T.tensor(Y), T.tensor(weights)])
        for found, one in zip(whole([X, Y, weights]), expected, strict=True):
            np.testing.assert_allclose(found, one.numpy(), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("executor", ["numpy", "numba"])
def test_single_numbers_are_stacked_in_place(executor):
    p = parameters()

    def fn(rows):
        u = network(p, *rows)
        return [T.stack([u.sum(), (u * u).sum(), u.sum() * 2])]

    (found,) = Chunked(fn, p, ["sum"], executor=executor)([X, Y])
    np.testing.assert_allclose(found, fn([T.tensor(X), T.tensor(Y)])[0].detach().numpy())


# ---- how many programs are recorded


def recordings(monkeypatch, count, **options):
    """Return the sizes of the programs that a first call records."""
    sizes = []

    def counting(fn, inputs, names):
        sizes.append(len(inputs[0]))
        return trace(fn, inputs, names)

    trace = chunks.trace
    monkeypatch.setattr(chunks, "trace", counting)
    p = parameters()
    rows = [np.linspace(0, 1, 2 * count).reshape(-1, 2), np.ones((count, 1))]
    Chunked(lambda r: [network(p, *r).sum()], p, ["sum"], executor="numpy", **options)(rows)
    return sizes


@pytest.mark.parametrize(
    ("count", "recorded"), [(1, [1]), (63, [63]), (64, FEW), (256, FEW), (600, FEW), (6000, FEW)]
)
def test_many_rows_are_recorded_with_few(count, recorded, monkeypatch):
    monkeypatch.setattr(chunks, "_LONG_BYTES", 1 << 13)  # some chunks of the longer ones
    assert recordings(monkeypatch, count) == recorded


def test_with_numpy_alone_most_calls_are_long_however_small_the_cache(monkeypatch):
    monkeypatch.setattr(chunks, "l2_cache_bytes", lambda: 1 << 12)
    weights = [T.randn(16, 16, dtype=T.float64) for _ in range(3)]
    rows = [np.ones((100_000, 16))]

    def function(given):
        x = given[0]
        for weight in weights:
            x = T.tanh(x @ weight)
        return [x]

    step = Chunked(function, [], ["rows"], executor="numpy")
    step(rows)
    assert step.chunk * 16 * 8 == chunks._LONG_BYTES
    narrow = Chunked(lambda given: [given[0].sum(dim=1).sin()], [], ["rows"], executor="numpy")
    narrow(rows)
    assert narrow.chunk == chunks._LONG_BYTES // 8


@pytest.mark.parametrize(
    ("count", "least", "pieces"),
    [
        (2500, 1, 1),
        (10_000, 2, 2),
        (10_000, 3, 4),
        (10_000, 13, 16),
        (8192, 9, 8),  # chunks an eighth longer than they need be, all of one size
        (8192, 3, 4),
        (10_007, 9, 10),  # a prime: two sizes
        (3, 3, 3),
    ],
)
def test_chunks_have_one_size_where_they_can(count, least, pieces):
    assert even_pieces(count, least) == pieces


def test_points_of_many_sizes_keep_few_programs():
    p = parameters()
    recorded = chunked(p)
    for n in range(20, 80):
        recorded([X[:n], Y[:n], np.ones((n, 1))])
        assert len(recorded._programs) <= chunks._MOST_PROGRAMS + 2
        kept = {id(one) for parts in recorded._programs.values() for one in parts}
        assert {id(program) for program, *_ in recorded._bound} <= kept
    first, again = (recorded([X[:20], Y[:20], np.ones((20, 1))]) for _ in range(2))
    for a, b in zip(first, again, strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_short_call_wakes_no_other_thread(monkeypatch):
    handed, pool = [], chunks.worker_pool()
    monkeypatch.setattr(
        chunks, "worker_pool",
        lambda: SimpleNamespace(submit=lambda *work: handed.append(1) or pool.submit(*work)),
    )  # fmt: skip
    x = np.linspace(0, 1, 4000)[:, None]
    found = []
    for worth in (1 << 20, 0):
        monkeypatch.setattr(chunks, "_WORTH_THREADS", worth)
        step = Chunked(
            lambda rows: [T.sin(rows[0]).sum()], [], ["sum"], chunk=500, threads=2, executor="numpy"
        )
        found += step([x])
        assert step.cost([x]).workers == (1 if worth else 2)
        assert len(handed) == (0 if worth else 1)
    assert np.array_equal(*found)
