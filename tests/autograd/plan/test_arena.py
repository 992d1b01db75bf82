"""Memory of a program: views, reuse in place, and joined values computed in their places."""

from __future__ import annotations

import numpy as np

import autograd as T
from autograd.plan import NumpyExecutor, optimize, trace
from autograd.plan.passes.arena import plan_memory

rng = np.random.default_rng(0)
A, B = rng.normal(size=(64, 8)), rng.normal(size=(64, 8))
SIZE = A.nbytes


def recorded(fn, *arrays, optimized=False):
    program = trace(fn, [T.tensor(a) for a in arrays])[0]
    return optimize(program) if optimized else program


def run(program, *arrays):
    executor = NumpyExecutor(program, [np.array(a) for a in arrays])
    executor.run()
    return [np.array(o) for o in executor.outputs]


def test_a_chain_of_elementwise_operations_takes_one_buffer():
    program = recorded(lambda x: [T.tanh(T.exp(x) * 2 + 1) - 3], A)
    assert plan_memory(program).arena_bytes == SIZE
    np.testing.assert_allclose(run(program, A)[0], np.tanh(np.exp(A) * 2 + 1) - 3, rtol=1e-14)


def test_inputs_and_outputs_are_not_written_over():
    program = recorded(lambda x: (lambda y: [y, T.exp(y), x])(x + 1), A)
    given = np.array(A)
    executor = NumpyExecutor(program, [given])
    executor.run()
    np.testing.assert_array_equal(given, A)
    np.testing.assert_array_equal(executor.outputs[0], A + 1)
    np.testing.assert_allclose(executor.outputs[1], np.exp(A + 1), rtol=1e-15)
    assert executor.outputs[2] is given


def test_a_value_that_broadcasts_is_not_written_over():
    row = rng.normal(size=(1, 8))
    program = recorded(lambda x, r: [T.exp(r) + x, T.exp(r) * 2 - x[:1]], A[:1], row)
    np.testing.assert_allclose(run(program, A[:1], row)[0], np.exp(row) + A[:1], rtol=1e-14)


def test_a_transposed_view_is_not_written_over_in_step():
    square = rng.normal(size=(8, 8))

    def fn(x):
        y = T.exp(x)
        return [y + y.T]

    expected = np.exp(square) + np.exp(square).T
    np.testing.assert_allclose(run(recorded(fn, square), square)[0], expected, rtol=1e-14)


def test_shifted_views_are_not_written_over_in_step():
    def fn(x):
        y = T.exp(x)
        return [y[1:] - y[:-1], T.tanh(y.reshape(-1)[8:] + y.reshape(-1)[:-8])]

    y = np.exp(A)
    first, second = run(recorded(fn, A), A)
    np.testing.assert_allclose(first, y[1:] - y[:-1], rtol=1e-14)
    np.testing.assert_allclose(second, np.tanh(y.ravel()[8:] + y.ravel()[:-8]), rtol=1e-13)


def test_views_take_no_memory_and_keep_their_source_alive():
    def fn(x):
        y = T.exp(x)
        view = y.reshape(-1)[8:].reshape(63, 8)
        z = T.sin(x) * 2 + T.cos(x)
        return [view * 1.5, z]

    program = recorded(fn, A)
    assert {v.shape for v in plan_memory(program).views} == {(512,), (504,), (63, 8)}
    view, z = run(program, A)
    np.testing.assert_allclose(view, np.exp(A)[1:] * 1.5, rtol=1e-14)
    np.testing.assert_allclose(z, 2 * np.sin(A) + np.cos(A), rtol=1e-14)


def test_what_is_stacked_is_computed_in_its_place():
    program = recorded(lambda x, y: [T.stack([T.exp(x), T.sin(y), x * y])], A, B)
    memory = plan_memory(program)
    assert len(memory.slots) == 3 and memory.arena_bytes == 3 * SIZE
    assert len(NumpyExecutor(program).steps) == 3  # and nothing is copied
    np.testing.assert_allclose(run(program, A, B)[0], [np.exp(A), np.sin(B), A * B], rtol=1e-14)


def test_what_cannot_be_placed_is_copied():
    def fn(x, y):
        e = T.exp(x)
        twice = T.stack([e, e, y])  # the same value twice, and an input
        along = T.cat([e, T.sin(y)], dim=1)  # not along the first dimension
        again = T.cat([twice[1], e[:2], T.stack([e, y])[1]], dim=0)  # views, and a second join
        return [twice, along, again, e]

    e = np.exp(A)
    twice, along, again, alone = run(recorded(fn, A, B), A, B)
    np.testing.assert_array_equal(twice, [e, e, B])
    np.testing.assert_array_equal(along, np.concatenate([e, np.sin(B)], axis=1))
    np.testing.assert_array_equal(again, np.concatenate([e, e[:2], B]))
    np.testing.assert_array_equal(alone, e)


def test_a_joined_value_is_kept_while_a_part_is_read():
    def fn(x, y):
        part = T.exp(x)
        joined = T.stack([part, T.sin(y)])
        total = joined.sum(0)
        other = T.cos(total) * 2 + 1  # needs memory of the same size while `part` waits
        return [T.tanh(other) * part]

    expected = np.tanh(np.cos(np.exp(A) + np.sin(B)) * 2 + 1) * np.exp(A)
    np.testing.assert_allclose(run(recorded(fn, A, B), A, B)[0], expected, rtol=1e-13)


def test_the_arena_of_a_deep_network_does_not_grow_with_depth():
    w = rng.normal(size=(8, 8)) / 3

    def deep(depth):
        def fn(x, w):
            for _ in range(depth):
                x = T.tanh(x @ w) + 1
            return [x]

        return plan_memory(recorded(fn, A, w, optimized=True)).arena_bytes

    assert deep(40) == deep(3) <= 2 * SIZE


def test_empty_and_scalar_values_have_places():
    def fn(x):
        return [x[:0] * 2, x.sum() * 3, T.cat([x[:0], x], dim=0)]

    empty, total, joined = run(recorded(fn, A), A)
    assert empty.shape == (0, 8) and total.shape == ()
    np.testing.assert_allclose(total, 3 * A.sum(), rtol=1e-13)
    np.testing.assert_array_equal(joined, A)


def test_two_executors_of_one_program_share_no_memory():
    program = recorded(lambda x: [T.exp(x) * 2], A)
    one, two = NumpyExecutor(program), NumpyExecutor(program)
    one.inputs[0][...] = A
    two.inputs[0][...] = B
    one.run()
    two.run()
    np.testing.assert_allclose(one.outputs[0], 2 * np.exp(A), rtol=1e-15)
    np.testing.assert_allclose(two.outputs[0], 2 * np.exp(B), rtol=1e-15)
    assert not np.shares_memory(one.outputs[0], two.outputs[0])


def test_outputs_are_overwritten_by_the_next_run():
    executor = NumpyExecutor(recorded(lambda x: [x * 2], A))
    executor.inputs[0][...] = A
    executor.run()
    held = executor.outputs[0]
    executor.inputs[0][...] = B
    executor.run()
    np.testing.assert_array_equal(held, 2 * B)
