"""What an operation says about itself, against what its forward does."""

from __future__ import annotations

from functools import reduce

import numpy as np
import pytest

import autograd as T
from autograd.jets import partials
from autograd.ops.registry import REGISTRY, LoopCode, Op
from autograd.plan import NumpyExecutor, Program, TraceError, optimize, trace
from autograd.plan.executors import make_executor
from autograd.plan.executors.numba_executor import numba_is_installed
from autograd.plan.passes.arena import plan_memory
from autograd.plan.passes.fold import fold_constants
from autograd.plan.passes.lower import lower
from autograd.plan.program import INPUT, Instruction, flops

OPERATIONS = {name: op for name, op in REGISTRY.items() if "tests" not in name}


class Waves:
    """The product of the sines of all variables, with its derivatives."""

    def values(self, xp, xs, orders):
        waves = [xp.sin(x + k * np.pi / 2) for x, k in zip(xs, orders, strict=True)]
        return reduce(xp.multiply, waves)


ATTRIBUTES = {
    "order": 3, "exponent": 2.5, "scale": 1.5, "slope": 0.1, "alpha": 1.0, "outer": 1.0,
    "low": 0.3, "high": 0.7, "decimals": 1, "keep": True, "dtype": np.dtype(np.float32),
    "device": T.devices.CPU, "source": T.devices.CPU,
    "function": Waves(), "orders": (0,), "lengths": (9,), "dims": (0,),
}  # fmt: skip
OF_INTEGERS = {name for name in OPERATIONS if name.startswith("bitwise")} | {
    "flat_position", "gcd", "lcm",
}  # fmt: skip
OF_A_CONDITION = {"where": 0, "masked_keep": 1, "masked_fill": 1}  # the position of the bools
OF_COMPLEX = {"real", "imag"}


def named(fact):
    return sorted(name for name, op in OPERATIONS.items() if fact(op))


def arrays_for(op, n=24, dtype=np.float64):
    rng = np.random.default_rng(len(op.name))
    arrays = [rng.uniform(0.1, 0.9, n).astype(dtype) for _ in op.inputs]
    if op.name in OF_INTEGERS:
        arrays = [rng.integers(1, 9, n) for _ in op.inputs]
    if op.name in OF_A_CONDITION:
        arrays[OF_A_CONDITION[op.name]] = rng.integers(0, 2, n).astype(bool)
    if op.name in OF_COMPLEX:
        arrays = [a + 1j * a[::-1] for a in arrays]
    return arrays


def forward(op, arrays):
    attributes = {k: ATTRIBUTES.get(k, v) for k, v in op.attributes.items()}
    with np.errstate(all="ignore"):
        return op.forward(np, *arrays, **attributes)


@pytest.mark.parametrize("name", named(lambda op: op.elementwise))
def test_an_elementwise_operation_commutes_with_every_permutation(name):
    op = OPERATIONS[name]
    arrays = arrays_for(op)
    order = np.random.default_rng(1).permutation(24)
    expected = np.array(forward(op, arrays))[order]
    np.testing.assert_array_equal(forward(op, [a[order] for a in arrays]), expected)


@pytest.mark.parametrize("name", named(lambda op: not op.elementwise))
def test_what_is_elementwise_says_so(name):
    op = OPERATIONS[name]
    order = np.random.default_rng(1).permutation(24)
    for arrays in (arrays_for(op), [a.reshape(4, 6) for a in arrays_for(op)]):
        rows = order if arrays[0].ndim == 1 else order[order < 4]
        try:
            plain = forward(op, arrays)
            permuted = forward(op, [a[rows] for a in arrays])
        except (TypeError, ValueError, IndexError, AttributeError, RuntimeError):
            return  # it needs attributes or shapes of its own
        same = getattr(plain, "shape", None) == arrays[0].shape
        if not (same and np.array_equal(permuted, plain[rows])):
            return
    assert not op.reads_values  # nothing of the elements is in the result


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", named(lambda op: op.ufunc))
def test_a_ufunc_is_all_of_the_forward_and_may_write_over_an_input(name, dtype):
    op = OPERATIONS[name]
    arrays = arrays_for(op, dtype=dtype)
    ufunc = getattr(np, op.ufunc)
    assert ufunc.nin == len(op.inputs)
    expected = np.array(forward(op, arrays))
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(ufunc(*arrays), expected, strict=True)
        for over in range(ufunc.nin):
            inputs = [a.copy() for a in arrays]
            ufunc(*inputs, out=inputs[over])
            np.testing.assert_array_equal(inputs[over], expected)


@pytest.mark.parametrize("name", named(lambda op: op.commutative))
def test_a_commutative_operation_gives_the_same_bits_either_way(name):
    op = OPERATIONS[name]
    a, b = arrays_for(op)
    np.testing.assert_array_equal(forward(op, [a, b]), forward(op, [b, a]), strict=True)


# ---- views


VIEWS = {
    "reshape": (np.ones((2, 6)), {"shape": (3, 4)}),
    "permute": (np.ones((2, 3)), {"axes": (1, 0)}),
    "expand": (np.ones((1, 3)), {"shape": (4, 3)}),
    "slice": (np.ones((4, 3)), {"index": (slice(1, 3),)}),
    "unbind": (np.ones((2, 3)), {"dim": 0}),
    "split": (np.ones((4, 3)), {"sizes": (1, 3), "dim": 0}),
    "diagonal": (np.ones((3, 3)), {"offset": 0, "dim1": 0, "dim2": 1}),
    "real": (np.ones((2, 3)) + 1j, {}),
    "imag": (np.ones((2, 3)) + 1j, {}),
    "view_as_real": (np.ones((2, 3)) + 1j, {}),
    "view_as_complex": (np.ones((2, 3, 2)), {}),
    "bits": (np.ones((2, 3)), {"dtype": np.dtype(np.int32)}),
}


def test_views_are_the_operations_that_give_memory_of_their_input():
    assert set(VIEWS) == set(named(lambda op: op.view))
    for name, (array, attributes) in VIEWS.items():
        result = OPERATIONS[name].forward(np, array, **attributes)
        for one in result if isinstance(result, tuple) else (result,):
            assert np.shares_memory(one, array), name


def test_a_program_gives_views_no_memory_and_no_work():
    for name, (array, attributes) in VIEWS.items():
        program, _ = trace(
            lambda x, op=OPERATIONS[name], a=attributes: _several(op(x, **a)),
            [T.tensor(array)],
        )
        memory = plan_memory(program)
        (instruction,) = program.instructions
        assert set(memory.views) == set(instruction.outputs) and memory.arena_bytes == 0, name
        assert flops(instruction) == 0
        executor = NumpyExecutor(program, [array])
        executor.run()
        expected = _several(OPERATIONS[name].forward(np, array, **attributes))
        for found, one in zip(executor.outputs, expected, strict=True):
            np.testing.assert_array_equal(found, one)


def _several(result):
    return list(result) if isinstance(result, tuple) else [result]


# ---- joins, shapes, work


@pytest.mark.parametrize("name", named(lambda op: op.joins))
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_a_join_says_where_its_inputs_lie(name, dim):
    op = OPERATIONS[name]
    parts = [np.full((2, 3), k + 1.0) for k in range(3)]
    joined = op.forward(np, *parts, dim=dim)
    built = np.zeros_like(joined)
    for key, one in zip(op.joins([p.shape for p in parts], {"dim": dim}), parts, strict=True):
        built[key] += one
    np.testing.assert_array_equal(built, joined)


def test_what_reads_no_values_is_a_constant_of_a_program():
    assert named(lambda op: not op.reads_values) == ["new_full", "ones_like", "zeros_like"]
    program, results = trace(
        lambda x: [T.ones_like(x), REGISTRY["new_full"](x, shape=(2,), value=3.0)],
        [T.tensor(np.arange(3.0))],
    )
    folded = fold_constants(program)
    assert folded.instructions == []
    for value, result in zip(folded.outputs, results, strict=True):
        np.testing.assert_array_equal(value.data, result.numpy(), strict=True)


def test_a_result_whose_shape_depends_on_values_cannot_be_recorded():
    assert named(lambda op: op.shaped_by_values) == [
        "bincount", "nonzero", "unique", "unique_consecutive",
    ]  # fmt: skip
    with pytest.raises(TraceError, match="whose shape depends on values"):
        trace(lambda x: [T.nonzero(x)], [T.tensor(np.arange(3.0))])


def test_a_matrix_product_counts_its_operations():
    program, _ = trace(
        lambda x, w, b: [T.nn.functional.linear(x, w, b) @ w],
        [T.tensor(np.ones(s)) for s in ((5, 3), (4, 3), (4,))],
    )
    assert [flops(i) for i in program.instructions] == [2 * 5 * 4 * 3, 2 * 5 * 3 * 4]


# ---- what the passes make of the facts


def test_elementwise_operations_are_taken_apart_where_their_forward_is_ufuncs():
    """Each that lowers gives the bits of its own forward."""
    lowered = []
    for name in named(lambda op: op.elementwise and not op.ufunc and not op.view):
        op = OPERATIONS[name]
        arrays = arrays_for(op)
        program = Program([], [], [])
        for array in arrays:
            value = program.new_value(array.shape, array.dtype)
            value.kind = INPUT
            program.inputs.append(value)
        expected = np.asarray(forward(op, arrays))
        output = program.new_value(expected.shape, expected.dtype)
        attributes = {k: ATTRIBUTES.get(k, v) for k, v in op.attributes.items()}
        program.instructions = [Instruction(op, tuple(program.inputs), attributes, (output,))]
        program.outputs = [output]
        program = lower(program)
        lowered += [name] * (program.instructions[0].op is not op)
        executor = NumpyExecutor(program, arrays)
        executor.run()
        np.testing.assert_array_equal(executor.outputs[0], expected, err_msg=name)
    for name in ("tanh_slope", "tanh_derivative", "sigmoid", "silu", "softplus", "clamp"):
        assert name in lowered


def test_a_new_operation_takes_part_in_everything_by_what_it_says():
    """Registered here and nowhere else: pushed forward, fused, shared and computed in place."""
    op = Op(
        "product_of_the_tests",
        lambda xp, x, y, out=None: xp.multiply(x, y, out=out),
        {"x": lambda g, y: op(g, y), "y": lambda g, x: op(g, x)},
        dtype="promote", broadcasts=True, ufunc="multiply", commutative=True,
        code=LoopCode.of("{0} * {1}"), taylor="product",
    )  # fmt: skip
    a, b = np.linspace(0.1, 1.0, 6), np.linspace(2.0, 3.0, 6)
    try:
        program, _ = trace(lambda x, y: [op(x, y) + op(y, x)], [T.tensor(a), T.tensor(b)])
        short = optimize(program)
        assert sum(i.op is op for i in short.instructions) == 1
        executors = [NumpyExecutor(short, [a, b])]
        if numba_is_installed():
            executors.append(make_executor("numba", short, [a, b]))
        for executor in executors:
            executor.run()
            np.testing.assert_allclose(executor.outputs[0], 2 * a * b, rtol=1e-15)
        found = partials(lambda x: op(x, op(x, x)), [T.tensor(a)], [(0, 0, 0)])
        np.testing.assert_allclose(found[(0, 0, 0)].numpy(), 6.0, rtol=1e-13)
    finally:
        del REGISTRY[op.name]


def test_code_needs_the_ufunc_that_it_repeats():
    with pytest.raises(ValueError, match="code for loops needs the ufunc"):
        Op("no_ufunc", lambda xp, x: x, None, code=LoopCode.of("-{0}"))
    assert "no_ufunc" not in REGISTRY
