"""Random programs: eager, replayed and optimized give the same; memory is never shared by two."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import autograd as T
from autograd.plan import NumpyExecutor, optimize, trace
from autograd.plan.passes import PASSES
from autograd.plan.passes.arena import plan_memory
from autograd.plan.program import COMPUTED

ROWS, COLUMNS = 6, 4
seeds = st.integers(0, 2**32 - 1)
quickly = settings(max_examples=40, deadline=None, derandomize=True, database=None)


def random_function(seed, contractions=True):
    """Return a function of three matrices, drawn from the seed, and inputs for it.

    Without contractions (products of matrices, sums, gradients) no result depends on the order in
    which memory is gone through.
    """
    r = np.random.default_rng(seed)
    arrays = [r.uniform(0.5, 1.5, (ROWS, COLUMNS)) for _ in range(2)]
    arrays.append(r.uniform(-0.5, 0.5, (COLUMNS, COLUMNS)))
    count = int(r.integers(8, 25))
    state = r.bit_generator.state
    operations = OPERATIONS if contractions else [f for f in OPERATIONS if f not in CONTRACTIONS]

    def fn(*inputs):
        r.bit_generator.state = state
        x, y, w = inputs
        leaf = x.detach().requires_grad_()
        known = [leaf, y]
        for _ in range(count):
            a, b = (known[k] for k in r.integers(len(known), size=2))
            known.append(operations[int(r.integers(len(operations)))](a, b, w))
        last = T.tanh(known[-1]) + known[-2] * 0.1 + leaf * 0.01
        if not contractions:
            return [last, known[int(r.integers(len(known)))]]
        (gradient,) = T.grad((last * last).sum(), leaf, create_graph=True, materialize_grads=True)
        return [last, gradient, known[int(r.integers(len(known)))], last.sum(0), last.mean()]

    return fn, arrays


def exchanged(a, b, w):
    top, bottom = T.split(a, [2, ROWS - 2], dim=0)
    return T.cat([bottom, top], dim=0) * 0.9


CONTRACTIONS = [
    lambda a, b, w: T.tanh(a @ w) + b,
    lambda a, b, w: a @ w.T @ (b.T @ b) * 0.05,
    lambda a, b, w: T.nn.functional.linear(a, w, w[0]),
    lambda a, b, w: T.stack([a, b, a]).sum(0) * 0.3,
    lambda a, b, w: a.reshape(-1)[::1].reshape(ROWS, COLUMNS) - b.sum(0) * 0.05,
    lambda a, b, w: a.mean(1, keepdim=True).expand(ROWS, COLUMNS) * b,
]
OPERATIONS = [
    *CONTRACTIONS,
    lambda a, b, w: (a + b) * 0.5,
    lambda a, b, w: a - b * 1.0,
    lambda a, b, w: -(a - b),
    lambda a, b, w: a * b * 0.25,
    lambda a, b, w: a * a * 0.3,
    lambda a, b, w: a / (b * b + 1.0),
    lambda a, b, w: T.tanh(a) + 0.0,
    lambda a, b, w: T.sin((-a).neg()),
    lambda a, b, w: T.sqrt(a**2 + 0.1),
    lambda a, b, w: T.sigmoid(a) ** 3,
    lambda a, b, w: T.exp(-a * a),
    lambda a, b, w: T.maximum(a, b) * T.where(a > b, 0.5, b),
    lambda a, b, w: T.stack([T.sin(a), b * 2.0], dim=1).reshape(-1, COLUMNS)[:ROWS],
    lambda a, b, w: T.unbind(T.stack([a * 0.5, b]), dim=0)[0],
    exchanged,
    lambda a, b, w: T.cat([a[:, :1], b[:, 1:]], dim=1),
    lambda a, b, w: a.T.reshape(ROWS, COLUMNS) * 0.7,
    lambda a, b, w: a[:1] * b + T.ones(ROWS, 1, dtype=T.float64),
    lambda a, b, w: T.flip(a, [0]) * 0.8,
    lambda a, b, w: T.cumsum(a, dim=0) * 0.1,
]


def replay(program, arrays):
    executor = NumpyExecutor(program, [np.array(a) for a in arrays])
    executor.run()
    first = [np.array(o) for o in executor.outputs]
    executor.run()  # a second run starts from what the first one left in the arena
    for one, two in zip(first, executor.outputs, strict=True):
        np.testing.assert_array_equal(one, two)
    return first


@given(seeds)
@quickly
def test_optimizing_keeps_the_results(seed):
    fn, arrays = random_function(seed)
    program, _ = trace(fn, [T.tensor(a) for a in arrays])
    others = [np.roll(a, 1) * 1.1 for a in arrays]
    expected = [r.detach().numpy() for r in fn(*(T.tensor(a) for a in others))]
    for version in (program, optimize(program)):
        for got, want in zip(replay(version, others), expected, strict=True):
            scale = max(1.0, np.abs(want).max())
            np.testing.assert_allclose(got, want, rtol=0, atol=1e-12 * scale)


@given(seeds)
@quickly
def test_a_replay_has_the_bits_of_the_eager_run(seed):
    fn, arrays = random_function(seed, contractions=False)
    program, _ = trace(fn, [T.tensor(a) for a in arrays])
    others = [np.roll(a, 1) * 1.1 for a in arrays]
    expected = [r.detach().numpy() for r in fn(*(T.tensor(a) for a in others))]
    for got, want in zip(replay(program, others), expected, strict=True):
        np.testing.assert_array_equal(got, want)


@given(seeds)
@quickly
def test_passes_without_algebra_keep_the_bits(seed):
    fn, arrays = random_function(seed)
    program, _ = trace(fn, [T.tensor(a) for a in arrays])
    expected = replay(program, arrays)
    for name, run in PASSES:
        if name in ("algebra", "transposes"):  # these reassociate, or choose other BLAS kernels
            continue
        program = run(program)
        for got, want in zip(replay(program, arrays), expected, strict=True):
            np.testing.assert_array_equal(got, want, err_msg=name)


def span(array):
    low, high = np.lib.array_utils.byte_bounds(array)
    return low, high


def check_memory(program):
    """No value is written over while it is still to be read, looked up in real addresses."""
    executor = NumpyExecutor(program)
    memory = plan_memory(program)
    last = {}
    for number, instruction in enumerate(program.instructions):
        for value in instruction.values():
            last[value] = number
    for value in program.outputs:
        last[value] = len(program.instructions)
    # what is read through a view is read of its source
    for instruction in reversed(program.instructions):
        for output in instruction.outputs:
            if output in memory.views and output in last:
                source = instruction.inputs[0]
                last[source] = max(last.get(source, 0), last[output])
    live = []  # (value, start, stop) that must keep its bytes
    for number, instruction in enumerate(program.instructions):
        for output in instruction.outputs:
            if output in memory.views or output.nbytes == 0:
                continue
            start, stop = span(executor.array(output))
            for value, low, high in live:
                if value is output or stop <= low or high <= start or last[value] < number:
                    continue
                inside_join = instruction.op.name in ("stack", "cat") and value in memory.slots
                in_place = (
                    last[value] == number
                    and instruction.op.ufunc
                    and all(
                        _in_step(executor.array(v), executor.array(output))
                        for v in instruction.values()
                    )
                )
                assert inside_join or in_place, (
                    f"{instruction} writes over {value}, read last at {last[value]}"
                )
            live.append((output, start, stop))
        live = [item for item in live if last.get(item[0], -1) > number]
    return memory


def _in_step(read, written):
    """Each element is read and written at the same place, or the two lie apart."""
    if not np.may_share_memory(read, written):
        return True
    where = (read.ctypes.data, read.shape, read.strides)
    return where == (written.ctypes.data, written.shape, written.strides)


@given(seeds)
@quickly
def test_two_live_values_never_share_memory(seed):
    fn, arrays = random_function(seed)
    program, _ = trace(fn, [T.tensor(a) for a in arrays])
    for version in (program, optimize(program)):
        memory = check_memory(version)
        wanted = sum(
            v.nbytes for i in version.instructions for v in i.outputs
            if v.kind == COMPUTED and v not in memory.views
        )  # fmt: skip
        assert memory.arena_bytes <= max(wanted + 64 * len(version.instructions), 64)
