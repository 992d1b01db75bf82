"""Kernels give what the recorded program gives, whatever the turns of threads and blocks."""

from __future__ import annotations

import numpy as np
import pytest

import autograd as T
from autograd import devices
from autograd.plan import chunks
from autograd.plan.chunks import Chunked
from autograd.plan.lanes.cuda import arithmetic, form
from autograd.strict import counted
from autograd.strict.kernels import TURNS
from tests.autograd.plan.lanes.functions_of_points import (
    ALONG_NUMBERS,
    chosen,
    everything,
    network,
    parameters,
    random_function,
    rows_of,
    rows_with_yes_and_no,
    step_of,
)

TOLERANCE = {"float64": 1e-13, "float32": 2e-5}


def there(p):
    """Return tensors as leaves on the device."""
    return [one.detach().to(device="cuda").requires_grad_() for one in p]


def run(gpu, step, rows):
    """Return the results of a step on the device, on the host."""
    return [gpu.to_host(one) for one in step([gpu.from_host(r, 0) for r in rows])]


def launched_step(p):
    """Return the step of `everything` with parameters on the device."""
    leaves = there(p)
    fn, kinds = everything(leaves)
    return Chunked(fn, leaves, kinds)


def tiles_of(step):
    (found,) = step._tiles.values()
    assert found is not None
    return found


def assert_agree(found, expected, tolerance, message=""):
    for one, other in zip(found, expected, strict=True):
        assert one.shape == other.shape and one.dtype == other.dtype
        scale = np.abs(other).max() + 1e-300
        np.testing.assert_allclose(one, other, rtol=0, atol=tolerance * scale, err_msg=message)


@pytest.mark.parametrize("part", range(3))
def test_operations_along_a_points_numbers_are_written_out(gpu, part):
    """Several in one program, as each takes long to compile."""
    several = list(ALONG_NUMBERS.values())[part::3]

    def of(p):
        def fn(rows):
            total = sum((form(p, rows[0]) ** 2).sum() for form in several)
            gradients = T.grad(total, p, materialize_grads=True)
            return [total.detach(), T.cat([g.reshape(-1) for g in gradients])]

        return fn, p, ["sum", "sum"]

    p, rows = parameters(), rows_of(70)[:1]
    step = Chunked(*of(there(p)))
    found = run(gpu, step, rows)
    tiles_of(step)
    assert_agree(found, Chunked(*of(p), executor="numpy")(rows), 1e-12)


@pytest.mark.parametrize("by_cupy", [False, True])
def test_what_knows_no_point_is_added_once(gpu, by_cupy, monkeypatch):
    """In kernels of ours, and where cupy does what comes before tiles and after."""
    if by_cupy:
        monkeypatch.setattr(arithmetic, "_MOST", 1)
    made, really = [], chunks.tiled_or_none
    noted = lambda *given: made.append(really(*given)) or made[-1]  # noqa: E731
    monkeypatch.setattr(chunks, "tiled_or_none", noted)
    p = there(parameters())
    alone = T.tensor(np.array([0.5, -1.5]), device="cuda", requires_grad=True)
    wall, value = (T.tensor(r, device="cuda") for r in rows_of(9)[:2])

    def loss(x, y):
        edge = ((network(p, wall, value) - 0.25) ** 2).mean()
        return T.stack([(network(p, x, y) ** 2).mean(), edge, (alone**2).sum()]).sum() - 2.0

    found = T.compile(loss, points=("x", "y"))
    for count in (1, 100, 300, 100):
        x, y = (T.tensor(r, device="cuda") for r in rows_of(count)[:2])
        one, other = ([f(x, y), *T.grad(f(x, y), [*p, alone])] for f in (found, loss))
        ours, expected = ([t.detach().cpu().numpy() for t in some] for some in (one, other))
        assert_agree(ours, expected, 1e-12, str(count))
    assert made and all(one is not None for one in made)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_all_kinds_of_results_agree_with_numpy(gpu, dtype):
    p = parameters(dtype)
    step = launched_step(p)
    for count in (1, 2, 15, 16, 17, 33, 64, 300):
        rows = rows_of(count, dtype)
        expected = step_of(p, "numpy")(rows)
        assert_agree(run(gpu, step, rows), expected, TOLERANCE[dtype], str(count))
    assert tiles_of(step).kernels.form.shared


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_values_in_memory_of_each_block_give_the_same(gpu, dtype):
    """So it is for many values, or on a device that gives a block little shared memory."""
    gpu.xp.attributes["MaxSharedMemoryPerBlockOptin"] = 1024
    p, rows = parameters(dtype), rows_of(130, dtype)
    step = launched_step(p)
    assert_agree(run(gpu, step, rows), step_of(p, "numpy")(rows), TOLERANCE[dtype])
    assert not tiles_of(step).kernels.form.shared


@pytest.mark.parametrize("shared", [True, False])
def test_turns_of_threads_and_blocks_and_their_number_leave_the_bits_alone(stand_in, shared):
    """A missing barrier, or two blocks that add into one place, would show here."""
    if not shared:
        stand_in.xp.attributes["MaxSharedMemoryPerBlockOptin"] = 0
    p, rows = parameters(), rows_of(333)
    results = []
    for multiprocessors in (132, 1):
        stand_in.xp.attributes["MultiProcessorCount"] = multiprocessors
        step = launched_step(p)
        for turns in TURNS:
            stand_in.xp.turns = turns
            results.append(run(stand_in, step, rows))
    for other in results[1:]:
        for one, two in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(one, two)


def test_lanes_of_several_tiles_are_added_up(gpu, monkeypatch):
    monkeypatch.setattr(form, "_MOST_LANES", 3)
    monkeypatch.setattr(form, "_LEAST_LANES", 3)
    p, rows = parameters(), rows_of(16 * 8 + 5)
    step = launched_step(p)
    assert_agree(run(gpu, step, rows), step_of(p, "numpy")(rows), TOLERANCE["float64"])
    assert tiles_of(step).kernels.lanes == 3


def test_a_step_is_five_launches_and_nothing_is_copied_or_waited_for(stand_in):
    p, rows = parameters(), rows_of(100)
    step = launched_step(p)
    arrays = [stand_in.from_host(r, 0) for r in rows]
    step(arrays)
    with counted() as counts:
        step(arrays)
    assert counts.launches <= 5
    assert (counts.uploads, counts.downloads, counts.synchronisations) == (0, 0, 0)


def sums_of(p):
    """Return the sums of `everything`, with parameters on the device."""
    leaves = there(p)
    fn, kinds = everything(leaves)
    sums = [k for k, kind in enumerate(kinds) if kind == "sum"]
    return Chunked(lambda rows: [fn(rows)[k] for k in sums], leaves, ["sum"] * len(sums)), leaves


def test_a_call_that_is_held_launches_kernels_alone_into_the_same_places(stand_in):
    step, leaves = sums_of(parameters())
    arrays = [stand_in.from_host(r, 0) for r in rows_of(100)]
    held = step.held(arrays)
    for move in (0.0, 0.1):
        with T.no_grad():
            leaves[0] += move
        expected = [stand_in.to_host(one) for one in step(arrays)]
        with counted() as counts:
            held()
        assert counts.launches <= 5
        assert (counts.uploads, counts.synchronisations, counts.allocations) == (0, 0, 0)
        for one, other in zip(held.results, expected, strict=True):
            np.testing.assert_array_equal(stand_in.to_host(one), other)


def test_it_is_the_same_call_until_an_array_is_another(gpu):
    step, leaves = sums_of(parameters())
    arrays = [gpu.from_host(r, 0) for r in rows_of(100)]
    held = step.held(arrays)
    assert step.held(arrays) is held
    with T.no_grad():
        leaves[0] += 1.0
    assert step.held(arrays) is held
    assert step.held([arrays[0].copy(), *arrays[1:]]) is not held
    held = step.held(arrays)
    leaves[0].data = leaves[0].data.clone()
    assert step.held(arrays) is not held


def test_what_takes_more_than_kernels_or_joins_results_is_not_held(gpu, monkeypatch):
    arrays = [gpu.from_host(r, 0) for r in rows_of(100)]
    assert launched_step(parameters()).held(arrays) is None
    monkeypatch.setattr(arithmetic, "_MOST", -1)  # what knows no point is left to cupy
    step, _ = sums_of(parameters())
    assert step.held(arrays) is None and tiles_of(step)._after is None


def test_points_beyond_the_last_do_not_count_whatever_they_make(gpu):
    rows = [np.concatenate([np.ones((16 * 4, 1)), np.zeros((1, 1)), np.ones((4, 1))])]
    p = there([T.tensor(np.array([1.0]), requires_grad=True)])

    def fn(given):
        inverse = p[0] / given[0].reshape(-1)
        return [T.exp(-inverse * inverse).sum(), inverse.detach()]

    total, joined = run(gpu, Chunked(fn, p, ["sum", "rows"]), rows)
    np.testing.assert_allclose(total, np.exp(-1.0) * (len(rows[0]) - 1), rtol=1e-13)
    assert np.isinf(joined[64]) and np.all(np.delete(joined, 64) == 1.0)


def test_a_nan_stays_with_its_point(gpu):
    rows = rows_of(100)
    rows[0][40] = np.nan
    _, _, u, shares = run(gpu, launched_step(parameters()), rows)
    assert np.isnan(u[40]) and np.all(np.isnan(shares[40, :6]))
    assert np.all(np.isfinite(np.delete(u, 40))) and np.all(np.isfinite(np.delete(shares, 40, 0)))


def test_places_of_other_dtypes_and_orders_are_written(gpu):
    rows = [gpu.from_host(r, 0) for r in rows_of(70)]
    step = launched_step(parameters())
    _, _, u, shares = step(rows)
    xp = gpu.xp
    into = [None, None, xp.zeros(70, np.float32), xp.zeros((70, shares.shape[1]), order="F")]
    found = step(rows, into)
    assert found[2] is into[2] and found[3] is into[3]
    np.testing.assert_array_equal(gpu.to_host(into[2]), gpu.to_host(u).astype(np.float32))
    np.testing.assert_array_equal(gpu.to_host(into[3]), gpu.to_host(shares))


def test_results_are_new_arrays_at_each_call(gpu):
    step, rows = launched_step(parameters()), [gpu.from_host(r, 0) for r in rows_of(40)]
    first = step(rows)
    kept = [gpu.to_host(one) for one in first]
    step([r * 2.0 for r in rows])
    for one, before in zip(first, kept, strict=True):
        np.testing.assert_array_equal(gpu.to_host(one), before)


def test_parameters_are_read_anew_also_where_they_lie_elsewhere(gpu):
    p, rows = parameters(), rows_of(90)
    leaves = there(p)
    fn, kinds = everything(leaves)
    step = Chunked(fn, leaves, kinds)
    run(gpu, step, rows)
    for k, (one, leaf) in enumerate(zip(p, leaves, strict=True)):
        for tensor in (one, leaf):
            tensor.data = tensor.detach() * 0.5 if k % 2 else tensor.data.mul_(0.5)
    assert_agree(run(gpu, step, rows), step_of(p, "numpy")(rows), TOLERANCE["float64"])


def test_a_constant_that_is_written_to_is_recorded_again(gpu):
    scale = T.tensor(np.array(2.0), device="cuda")
    step = Chunked(lambda rows: [(rows[0] * scale).sum()], [], ["sum"])
    rows = [np.ones((80, 1))]
    assert run(gpu, step, rows)[0] == 160.0
    scale.mul_(2.0)
    assert run(gpu, step, rows)[0] == 320.0


@pytest.mark.parametrize("what, fn", [
    ("not linear", lambda rows: [T.exp((rows[0] * rows[0]).sum() * 1e-3)]),
    ("between points", lambda rows: [(rows[0] - rows[0].flip(0)).square().sum()]),
    ("no such operation", lambda rows: [T.cumsum(rows[0], 0).sum()]),
])  # fmt: skip
def test_what_tiles_do_not_hold_runs_operation_by_operation(gpu, what, fn):
    rows = [np.random.default_rng(4).normal(size=(66, 1))]
    step = Chunked(fn, [], ["sum"], chunk=66)
    expected = Chunked(fn, [], ["sum"], executor="numpy", chunk=66)(rows)
    np.testing.assert_allclose(run(gpu, step, rows)[0], expected[0], rtol=1e-12)
    assert list(step._tiles.values()) == [None]


def test_the_executor_cupy_takes_no_kernels_of_ours(gpu):
    p, rows = parameters(), rows_of(40)
    leaves = there(p)
    fn, kinds = everything(leaves)
    step = Chunked(fn, leaves, kinds, executor="cupy")
    assert_agree(run(gpu, step, rows), step_of(p, "numpy")(rows), TOLERANCE["float64"])
    assert not step._tiles


@pytest.mark.parametrize("seed", range(6))
def test_random_programs_agree_with_numpy(stand_in, seed):
    p, fn = random_function(seed)
    rows = [np.random.default_rng(seed).uniform(0.5, 1.5, (37, 4))]
    kinds = ["sum", "sum", "rows"]
    expected = Chunked(fn, p, kinds, executor="numpy")(rows)
    leaves, fn = random_function(seed, there)
    for turns in TURNS[:2]:
        stand_in.xp.turns = turns
        step = Chunked(fn, leaves, kinds)
        assert_agree(run(stand_in, step, rows), expected, 1e-11)
        tiles_of(step)


@pytest.mark.parametrize("sizes", [(1, 1), (3, 70), (70, 3), (33, 64)])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_products_of_any_size_agree_with_numpy(gpu, dtype, sizes):
    """Blocks of rows with a rest, sums over points in squares with a rest."""
    m, k = sizes
    rng = np.random.default_rng(m)
    w = [T.tensor(rng.normal(size=sizes).astype(dtype), requires_grad=True)]

    def fn_of(w):
        def fn(rows):
            y = T.nn.functional.linear(rows[0], w[0])
            return [y.square().sum(), *T.grad(y.square().sum(), w), y.detach()]

        return fn

    rows, kinds = [rng.normal(size=(75, k)).astype(dtype)], ["sum", "sum", "rows"]
    expected = Chunked(fn_of(w), w, kinds, executor="numpy")(rows)
    leaves = there(w)
    step = Chunked(fn_of(leaves), leaves, kinds)
    assert_agree(run(gpu, step, rows), expected, {"float64": 1e-13, "float32": 1e-4}[dtype])
    tiles_of(step)


@pytest.mark.parametrize("dtype", [T.float64, T.float32])
def test_a_compiled_function_of_points_is_made_of_kernels(stand_in, dtype):
    rng = np.random.default_rng(0)
    w = T.tensor(rng.normal(size=(5, 2)), dtype=dtype, device="cuda", requires_grad=True)
    x = T.tensor(rng.normal(size=(100, 2)), dtype=dtype, device="cuda")

    @T.compile(points="x")
    def loss(x, w):
        return T.tanh(T.nn.functional.linear(x, w)).square().mean()

    value = loss(x, w)
    value.backward()
    slope = w.grad.cpu().numpy()
    w.grad = None
    expected = loss.fn(x, w)
    expected.backward()
    tolerance = 20 * np.finfo(dtype).eps
    np.testing.assert_allclose(value.item(), expected.item(), rtol=tolerance)
    np.testing.assert_allclose(slope, w.grad.cpu().numpy(), rtol=tolerance, atol=tolerance)
    with counted() as counts:
        loss(x, w)
    assert counts.launches <= 12 and counts.synchronisations == 0


def test_its_cost_is_told(gpu):
    p, rows = parameters(), [gpu.from_host(r, 0) for r in rows_of(100)]
    step = launched_step(p)
    cost = step.cost(rows)
    assert (cost.chunks, cost.workers) == (1, 1)
    assert cost.nbytes == tiles_of(step).nbytes > 0 and cost.flops > 100 * 65


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_all_kinds_of_results_on_a_gpu(dtype):
    if not devices.cuda_is_available():
        pytest.skip("no usable GPU")
    backend, p = devices.backend("cuda"), parameters(dtype)
    step = launched_step(p)
    for count in (1, 33, 5000):
        rows = rows_of(count, dtype)
        expected = step_of(p, "numpy")(rows)
        found, again = run(backend, step, rows), run(backend, step, rows)
        assert_agree(found, expected, 10 * TOLERANCE[dtype], str(count))
        for one, two in zip(found, again, strict=True):
            np.testing.assert_array_equal(one, two)
    tiles_of(step)


def test_points_that_are_yes_or_no_are_not_read_as_numbers(gpu):
    rows = rows_with_yes_and_no(130)
    found = run(gpu, Chunked(chosen, [], ["sum", "rows"]), rows)
    assert_agree(found, Chunked(chosen, [], ["sum", "rows"], executor="numpy")(rows), 1e-13)
