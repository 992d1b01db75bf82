"""Clusters: what is fused, what is computed again, and that the numbers stay."""

from __future__ import annotations

import numpy as np
import pytest

import autograd as T
from autograd.ops.registry import REGISTRY
from autograd.plan import NumpyExecutor, Program, optimize, trace
from autograd.plan.passes.arena import plan_memory
from autograd.plan.passes.clusters import fuse, in_gpu_loops, layout, loop_size
from autograd.plan.program import INPUT, Instruction, Value


def recorded(fn, *arrays):
    return optimize(trace(fn, [T.tensor(a) for a in arrays])[0])


def names(program: Program) -> list[str]:
    return [i.op.name for i in program.instructions]


def replayed(program: Program, arrays) -> list[np.ndarray]:
    executor = NumpyExecutor(program, [np.array(a) for a in arrays])
    executor.run()
    return [np.array(o) for o in executor.outputs]


@pytest.fixture
def x() -> np.ndarray:
    return np.linspace(0.5, 1.5, 12).reshape(4, 3)


def test_a_chain_of_arithmetic_is_one_loop(x):
    program = fuse(recorded(lambda a, b: [(a * b + 2.0) / (a - 3.0)], x, 2 * x))
    assert names(program) == ["fused"]
    (result,) = replayed(program, [x, 2 * x])
    np.testing.assert_allclose(result, (x * (2 * x) + 2.0) / (x - 3.0), rtol=1e-15)


def test_one_instruction_stays_a_ufunc(x):
    assert names(fuse(recorded(lambda a, b: [a * b], x, 2 * x))) == ["mul"]


def test_one_instruction_that_broadcasts_rows_becomes_a_loop(x):
    assert names(fuse(recorded(lambda a, b: [a + b], x, x[0]))) == ["fused"]


def test_transcendental_functions_stay_alone_between_loops(x):
    program = fuse(recorded(lambda a: [T.tanh(a * a + 1.0) * 2.0 - 1.0], x))
    assert names(program) == ["fused", "tanh", "fused"]


def test_named_operations_join_the_loops(x):
    program = recorded(lambda a: [T.tanh(a * a + 1.0) * 2.0 - 1.0], x)
    assert names(fuse(program, in_gpu_loops)) == ["fused"]


def test_arrays_that_share_nothing_are_loops_apart(x):
    program = fuse(recorded(lambda a, b: [a * a + 1.0, b * b + 1.0], x, x + 1))
    assert names(program) == ["fused", "fused"]
    first, second = (i.attributes["loop"] for i in program.instructions)
    assert first == second


def test_values_read_inside_alone_are_not_written(x):
    (loop,) = fuse(recorded(lambda a, b: [(a + b) * (a - b)], x, 2 * x)).instructions
    assert len(loop.outputs) == 1 and len(loop.attributes["loop"].steps) == 3


def test_cheap_values_are_computed_again_instead_of_kept(x):
    def fn(a, w):
        y = T.tanh(a)
        derivative = 1.0 - y * y
        hidden = (derivative * a) @ w
        return [hidden, (hidden @ w) * derivative]

    w = np.eye(3) + 0.1
    program = fuse(recorded(fn, x, w))
    assert [len(i.outputs) for i in program.instructions if i.op.name == "fused"] == [1, 1]
    y = np.tanh(x)
    hidden = ((1 - y * y) * x) @ w
    for got, expected in zip(
        replayed(program, [x, w]), [hidden, (hidden @ w) * (1 - y * y)], strict=True
    ):
        np.testing.assert_allclose(got, expected, rtol=1e-14)


def test_slopes_are_computed_again_from_an_output_that_a_product_reads(x):
    """Three slopes of tanh from y, which is there for the product: tanh itself is not run again."""

    def fn(a, w):
        y = T.tanh(a)
        first = 1.0 - y * y
        second = -2.0 * y * first
        third = first * (4.0 - 6.0 * first)
        b = y @ w
        hidden = (first * a + second * a * a + third * a) @ w
        return [hidden + b, (hidden @ w) * first * second * third]

    w = np.eye(3) + 0.1
    program = fuse(recorded(fn, x, w), in_gpu_loops)
    loops = [i for i in program.instructions if i.op.name == "fused"]
    tanh = [step.op for i in loops for step in i.attributes["loop"].steps].count("tanh")
    assert tanh + names(program).count("tanh") == 1
    last = loops[-1]
    assert len(last.inputs) == 2  # y, and the product
    y = np.tanh(x)
    first = 1 - y * y
    second, third = -2 * y * first, first * (4 - 6 * first)
    hidden = (first * x + second * x * x + third * x) @ w
    for got, expected in zip(
        replayed(program, [x, w]),
        [hidden + y @ w, (hidden @ w) * first * second * third],
        strict=True,
    ):
        np.testing.assert_allclose(got, expected, rtol=1e-13)


def test_values_of_many_arrays_are_kept(x):
    def fn(a, b, c, d, w):
        mixed = a * b + c * d
        return [((mixed - 1.0) @ w) * mixed]

    arrays = [x, x + 1, x + 2, x + 3, np.eye(3)]
    program = fuse(recorded(fn, *arrays))
    first = program.instructions[0]
    assert len(first.outputs) == 2
    mixed = x * (x + 1) + (x + 2) * (x + 3)
    np.testing.assert_allclose(replayed(program, arrays)[0], (mixed - 1) * mixed, rtol=1e-14)


def test_coefficients_are_given_at_run_time_and_small_numbers_are_part_of_the_loop(x):
    loops = [
        fuse(recorded(lambda a, c=c: [a * a * 2.0 + c], x)).instructions[0].attributes
        for c in (0.01 / np.pi, 0.3)
    ]
    assert loops[0]["loop"] == loops[1]["loop"]
    assert [loop["numbers"] for loop in loops] == [(0.01 / np.pi,), (0.3,)]


def test_the_same_layers_share_one_loop():
    def fn(a, w):
        for _ in range(3):
            a = (a @ w) * 0.5 + 1.0
        return [a]

    program = fuse(recorded(fn, np.ones((5, 2)), np.eye(2)))
    loops = {i.attributes["loop"] for i in program.instructions if i.op.name == "fused"}
    assert names(program).count("fused") == 3 and len(loops) == 1


def test_mixed_dtypes_and_unknown_broadcasts_are_left_alone():
    a = np.ones((2, 3, 4))
    assert names(fuse(recorded(lambda p, q: [p * q + q], a, np.ones((1, 3, 4))))) == ["mul", "add"]
    single = np.ones((3, 4), np.float32)
    program = recorded(lambda p, q: [p.to(T.float64) * q + 1.0], single, np.ones((3, 4)))
    fused = next(i for i in fuse(program).instructions if i.op.name == "fused")
    assert fused.attributes["loop"].dtype == "float64"


@pytest.mark.parametrize(
    "shape, full, expected",
    [
        ((4, 3), (4, 3), "full"),
        ((3,), (4, 3), "row"),
        ((1, 3), (4, 3), "row"),
        ((4, 1), (4, 3), "column"),
        ((), (4, 3), "scalar"),
        ((1, 1), (4, 3), "scalar"),
        ((2, 1, 3), (2, 4, 3), None),
        ((1,), (4, 1), "scalar"),
        ((3,), (1, 3), "full"),
        ((2, 4, 1), (2, 4, 3), "column"),
    ],
)
def test_layouts(shape, full, expected):
    assert layout(shape, full) == expected


@pytest.mark.parametrize(
    "shape, expected",
    [
        ((), (1, 1)),
        ((5,), (1, 5)),
        ((5, 1), (1, 5)),
        ((4, 3), (4, 3)),
        ((2, 4, 3), (8, 3)),
    ],
)
def test_loop_sizes(shape, expected):
    assert loop_size(shape) == expected


def test_fusing_keeps_memory_within_that_of_the_program():
    """A long forward and reverse sweep: no loop may keep much more alive."""
    weights = [np.eye(8) * 0.5 for _ in range(5)]

    def fn(a, *ws):
        for w in ws:
            a = T.tanh(a @ w)
        return [(a * a).sum(), *T.grad((a * a).sum(), ws)]

    inputs = [T.tensor(np.ones((64, 8)))] + [T.tensor(w).requires_grad_() for w in weights]
    program = optimize(trace(fn, inputs)[0])
    assert plan_memory(fuse(program)).arena_bytes <= 1.05 * plan_memory(program).arena_bytes


def test_an_output_takes_the_block_of_a_view_that_dies_and_lies_in_step():
    """unbind -> loop -> stack, each output at the place of an input: all in one block."""

    def fn(a, w):
        first, second = (a @ w).unbind(0)
        return [T.stack([first * 2.0 + second, second * first - 1.0]) @ w]

    arrays = [np.arange(12.0).reshape(2, 3, 2), np.eye(2)]
    program = fuse(recorded(fn, *arrays))
    memory = plan_memory(program)
    offsets = {memory.offsets[i.outputs[0]] for i in program.instructions if i.op.name == "stack"}
    products = [i for i in program.instructions if i.op.name == "matmul"]
    assert offsets == {memory.offsets[products[0].outputs[0]]}
    first, second = arrays[0]
    expected = np.stack([first * 2 + second, second * first - 1])
    np.testing.assert_array_equal(replayed(program, arrays)[0], expected)


def _value(number: int, shape: tuple, kind: str = "computed") -> Value:
    return Value(number, shape, np.dtype("float64"), kind)


def test_an_output_never_takes_the_block_of_a_view_that_lies_out_of_step():
    """The halves of a dying array are read crosswise: writing over them would spoil one."""
    a = _value(1, (2, 3, 2), INPUT)
    made, low, high = _value(2, (2, 3, 2)), _value(3, (3, 2)), _value(4, (3, 2))
    column, total = _value(5, (3, 1)), _value(6, (2, 3, 2))
    op = REGISTRY
    program = Program(
        [a],
        [
            Instruction(op["exp"], (a,), {}, (made,)),
            Instruction(op["unbind"], (made,), {"dim": 0}, (low, high)),
            Instruction(op["slice"], (low,), {"index": (slice(None), slice(0, 1))}, (column,)),
            Instruction(op["mul"], (made, column), {}, (total,)),
        ],
        [total],
    )
    memory = plan_memory(program)
    assert memory.offsets[total] != memory.offsets[made]


@pytest.mark.parametrize("terms", [200, 400])
def test_a_sum_of_many_terms_is_several_loops_of_few_kernels(terms):
    """A compiler's work grows faster than a loop: beyond a size loops are cut, and then equal."""
    x = np.linspace(0.0, 1.0, 12).reshape(3, 4)

    def fn(a, b):
        total = a
        for k in range(terms):
            total = total + (70.3 + k) * T.sin(a * (70.7 + k)) * b
        return [total, *T.grad(total.sum(), [a, b])]

    inputs = [T.tensor(x, requires_grad=True), T.tensor(x + 1, requires_grad=True)]
    program, results = trace(fn, inputs)
    fused = fuse(optimize(program))
    loops = [i for i in fused.instructions if i.op.name == "fused"]
    for one in loops:
        assert len(one.attributes["loop"].steps) <= 512
        assert len(one.inputs) + len(one.outputs) <= 160
    assert len({one.attributes["loop"] for one in loops}) <= 16
    executor = NumpyExecutor(fused, [x, x + 1])
    executor.run()
    for found, expected in zip(executor.outputs, results, strict=True):
        np.testing.assert_allclose(found, expected.detach().numpy(), rtol=1e-12, atol=1e-8)
