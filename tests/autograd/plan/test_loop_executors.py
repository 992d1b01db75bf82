"""Compiled loops against numpy: random programs, operands of all layouts, memory, threads."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import autograd as T
from autograd.ops.registry import REGISTRY
from autograd.plan import NumpyExecutor, executors, optimize, trace
from autograd.plan.chunks import Chunked
from autograd.plan.executors import LLVMExecutor, llvm_executor, make_executor
from autograd.plan.lanes.host import Host, host
from autograd.plan.lanes.whole_arrays import numbers_at_a_time

ROUNDING = {"float32": 2e-5, "float64": 1e-13}


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("loops")


@pytest.fixture(params=["numba", "llvm"])
def compiler(request, folder, monkeypatch):
    """An executor with loops, and a cache folder of the tests."""
    monkeypatch.setenv("AUTOGRAD_CACHE_DIR", str(folder))
    if request.param == "llvm" and host() is None:
        pytest.skip("no llvmlite, or no processor that code is written for")
    pytest.importorskip("numba")
    return request.param


@pytest.fixture
def written(folder, monkeypatch):
    """Skips where there is no compiler for text of our own."""
    monkeypatch.setenv("AUTOGRAD_CACHE_DIR", str(folder))
    if host() is None:
        pytest.skip("no llvmlite, or no processor that code is written for")


def recorded(fn, *arrays):
    return optimize(trace(fn, [T.tensor(a) for a in arrays])[0])


def both(compiler, program, arrays):
    """Return the results of the two executors, each run twice with other inputs in between."""
    results = []
    for name in ("numpy", compiler):
        executor = make_executor(name, program, [np.array(a) for a in arrays])
        executor.run()
        first = [np.array(o) for o in executor.outputs]
        for array in executor.inputs:
            array *= 1.25
        executor.run()
        results.append(first + [np.array(o) for o in executor.outputs])
    return results


@pytest.mark.parametrize("seed", range(3))
def test_random_programs_give_the_same_numbers(compiler, random_program, seed, dtype):
    program, arrays = random_program(seed, dtype.name)
    for expected, got in zip(*both(compiler, program, arrays), strict=True):
        scale = max(1.0, np.abs(expected).max())
        np.testing.assert_allclose(got, expected, rtol=0, atol=ROUNDING[dtype.name] * scale)


def test_every_operation_of_a_loop(compiler, dtype):
    def fn(a, b):
        return [
            T.maximum(a, b) + 1.0,
            T.minimum(a, b) - 1.0,
            T.abs(a) * 2.0,
            T.sqrt(b) / a,
            1.0 / b - 1.0,
            (a - b) * (a + b),
            -a * a,
        ]

    a = np.array([[-2.0, 0.5, np.nan], [1.0, -1.0, np.inf]], dtype)
    b = np.array([[1.0, np.nan, 2.0], [3.0, 0.25, 4.0]], dtype)
    executor = make_executor(compiler, recorded(fn, a, b), [a, b])
    executor.run()
    with np.errstate(all="ignore"):
        expected = [
            np.maximum(a, b) + 1,
            np.minimum(a, b) - 1,
            abs(a) * 2,
            np.sqrt(b) / a,
            1 / b - 1,
            (a - b) * (a + b),
            -a * a,
        ]
    for one, other in zip(executor.outputs, expected, strict=True):
        assert one.dtype == dtype
        np.testing.assert_allclose(one, other, rtol=4 * np.finfo(dtype).eps)


@pytest.mark.parametrize(
    "shape, other",
    [
        ((4, 3), (3,)),
        ((4, 3), (4, 1)),
        ((4, 3), (1,)),
        ((4, 1), (4, 1)),
        ((5,), (5,)),
        ((5,), ()),
        ((2, 4, 3), (3,)),
        ((2, 4, 3), (2, 4, 1)),
        ((1, 3), (3,)),
        ((), ()),
        ((33, 17), (17,)),
    ],
)
def test_operands_are_broadcast(compiler, shape, other):
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=shape), rng.normal(size=other)
    executor = make_executor(compiler, recorded(lambda p, q: [(p - q) * q + p], a, b), [a, b])
    executor.run()
    np.testing.assert_allclose(executor.outputs[0], (a - b) * b + a, rtol=1e-14, atol=1e-15)


def test_arrays_that_are_not_dense_are_read_anew_in_each_run(compiler):
    def fn(a):
        return [a[:, 0] * a[:, 1] + a[:, 0], a.T * 2.0 + 1.0]

    a = np.arange(8.0).reshape(4, 2)
    executor = make_executor(compiler, recorded(fn, a), [a])
    for _ in range(2):
        a += 1.0
        executor.run()
        np.testing.assert_array_equal(executor.outputs[0], a[:, 0] * a[:, 1] + a[:, 0])
        np.testing.assert_array_equal(executor.outputs[1], a.T * 2 + 1)


def test_a_loop_that_writes_over_its_inputs(compiler):
    """Both halves of a product are read by both outputs, which take their places."""

    def fn(a, w):
        low, high = (a @ w).unbind(0)
        return [T.stack([low * 2.0 + high, high * low - 1.0]) @ w]

    a, w = np.random.default_rng(0).normal(size=(2, 300, 4)), np.eye(4)
    executor = make_executor(compiler, recorded(fn, a, w), [a, w])
    executor.run()
    expected = np.stack([a[0] * 2 + a[1], a[1] * a[0] - 1])
    np.testing.assert_allclose(executor.outputs[0], expected, rtol=1e-14, atol=1e-14)


def test_one_array_given_twice_and_an_input_that_is_an_output(compiler):
    a = np.arange(6.0)
    executor = make_executor(compiler, recorded(lambda p: [p * p + p, p, p - p * 3.0], a), [a])
    executor.run()
    np.testing.assert_array_equal(executor.outputs[0], a * a + a)
    np.testing.assert_array_equal(executor.outputs[1], a)
    np.testing.assert_array_equal(executor.outputs[2], -2 * a)


@pytest.mark.parametrize("rows", [1, 2, 3, 4, 5, 102])
def test_rows_are_added_up(compiler, dtype, rows):
    a = np.random.default_rng(rows).normal(size=(2, rows, 3)).astype(dtype)
    sum_to = REGISTRY["sum_to"]
    program = recorded(lambda p: [sum_to(p, shape=(3,)), sum_to(T.exp(p), shape=(1, 1, 3))], a)
    executor = make_executor(compiler, program, [a])
    executor.run()
    for one, terms in zip(executor.outputs, (a, np.exp(a)), strict=True):
        expected = terms.astype("f8").sum(axis=(0, 1))
        np.testing.assert_allclose(
            one.reshape(3), expected, rtol=0, atol=4 * np.finfo(dtype).eps * abs(terms).sum()
        )


def test_the_same_bits_for_any_number_of_threads(compiler):
    rng = np.random.default_rng(0)
    w = T.tensor(rng.normal(size=(6, 6))).requires_grad_()

    def fn(rows):
        (x,) = rows
        y = T.tanh(x @ w)
        loss = ((y * x - 0.3) * (1.0 - y * y)).sum()
        return [loss, *T.grad(loss, [w])]

    x = rng.normal(size=(150, 6))
    results = [
        Chunked(fn, [w], ["sum", "sum"], threads=threads, chunk=20, executor=compiler)([x])
        for threads in (1, 2, 3)
    ]
    for other in results[1:]:
        for one, expected in zip(other, results[0], strict=True):
            assert one.tobytes() == expected.tobytes()


# ---- code of our own


@pytest.mark.parametrize("columns", [1, 2, 3, 7, 8, 15, 16, 17, 20, 63, 64, 65, 129])
def test_rows_of_any_length_and_nothing_beside_them(written, dtype, columns):
    """What is left of a row is read and written by masks: what follows stays as it is."""
    rng = np.random.default_rng(columns)
    shapes = [(5, columns), (5, 1), (columns,), (1,)]
    arrays = [rng.uniform(0.5, 2.0, shape).astype(dtype) for shape in shapes]
    program = recorded(lambda a, b, c, d: [a * b + c * d - a, (a * c).sum(dim=0)], *arrays)
    a, b, c, d = (np.float64(array) for array in arrays)
    around = [np.full(array.size + 64, -7.0, dtype) for array in arrays]
    for whole, array in zip(around, arrays, strict=True):
        whole[32:-32] = array.reshape(-1)
    inner = [w[32:-32].reshape(x.shape) for w, x in zip(around, arrays, strict=True)]
    executor = LLVMExecutor(program, inner)
    executor.run()
    expected = a * b + c * d - a, (a * c).sum(axis=0)
    for one, other in zip(executor.outputs, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=40 * np.finfo(dtype).eps)
    for whole in around:
        assert np.all(whole[:32] == -7.0) and np.all(whole[-32:] == -7.0)


def test_functions_are_steps_of_loops(written, dtype):
    x = np.linspace(0.1, 3.0, 77).astype(dtype)
    fn = lambda p: [T.exp(-T.tanh(p) * T.sin(p)) + T.log(p), T.sqrt(p) ** 3]  # noqa: E731
    program = recorded(fn, x)
    (fused, *_) = LLVMExecutor.prepared(program).instructions
    assert {"exp", "tanh", "sin", "log"} <= {s.op for s in fused.attributes["loop"].steps}
    executor = LLVMExecutor(program, [x])
    executor.run()
    x = np.float64(x)
    expected = np.exp(-np.tanh(x) * np.sin(x)) + np.log(x), x**1.5
    for one, other in zip(executor.outputs, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=40 * np.finfo(dtype).eps)


@pytest.mark.parametrize("vector_bytes", [16, 32, 64])
def test_code_for_vectors_of_other_lengths(written, monkeypatch, vector_bytes):
    """LLVM cuts vectors that are longer than the host's: the text is that of other processors."""
    here = host()
    other = Host(vector_bytes, here.block, here.sum_rows, here.cpu, here.features)
    monkeypatch.setattr(llvm_executor, "host", lambda: other)
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(9, 21)), rng.normal(size=21)
    program = recorded(lambda p, q: [T.tanh(p * q) + q, (p + q).sum(dim=0)], a, b)
    executor = LLVMExecutor(program, [a, b])
    executor.run()
    np.testing.assert_allclose(executor.outputs[0], np.tanh(a * b) + b, rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(executor.outputs[1], (a + b).sum(axis=0), rtol=1e-13)


def test_yes_and_no_are_no_numbers_of_a_loop(written, dtype):
    x = np.array([1.0, np.nan, -2.0] * 9, dtype)
    program = recorded(lambda p: [T.where(T.isnan(p), 3.0, p) * 2.0 + 1.0], x)
    executor = LLVMExecutor(program, [x])
    executor.run()
    np.testing.assert_array_equal(executor.outputs[0], [3.0, 7.0, -3.0] * 9)


def test_two_registers_at_a_time_where_they_fill():
    wide = {n: numbers_at_a_time(Host(32, (6, 2), 3, "", ""), "float64", n) for n in (4, 8, 20, 99)}
    assert wide == {4: 4, 8: 8, 20: 4, 99: 8}


def test_no_row_is_a_sum_of_nothing(written):
    a = np.ones((0, 3))
    program = recorded(lambda p: [REGISTRY["sum_to"](p, shape=(3,))], a)
    executor = LLVMExecutor(program, [a])
    executor.run()
    np.testing.assert_array_equal(executor.outputs[0], np.zeros(3))


def test_equal_loops_are_one_function(written, monkeypatch):
    def fn(a, w):
        for _ in range(3):
            a = (a @ w) * 0.5 + 1.0
        return [a]

    runs = set()
    made = llvm_executor._compiled
    monkeypatch.setattr(llvm_executor, "_compiled", lambda text: runs.add(text) or made(text))
    for rows in (5, 9):
        LLVMExecutor(recorded(fn, np.ones((rows, 2)), np.eye(2)))
    assert len(runs) == 1


def test_nothing_of_numba_is_imported(tmp_path):
    if host() is None:
        pytest.skip("no llvmlite, or no processor that code is written for")
    code = (
        "import sys, numpy as np, autograd as T\n"
        "f = T.compile(lambda x: (T.tanh(x @ x) * x + 1.0).sum(), executor='llvm')\n"
        "x = T.tensor(np.eye(9), requires_grad=True)\n"
        "f(x).backward()\n"
        "assert 'llvmlite' in sys.modules and 'numba' not in sys.modules"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], env={"AUTOGRAD_CACHE_DIR": str(tmp_path)}, timeout=60
    )
    assert ran.returncode == 0


def test_without_a_compiler_the_executor_names_the_extra(monkeypatch):
    monkeypatch.setattr(llvm_executor, "host", lambda: None)
    with pytest.raises(ImportError, match="extra `jit`"):
        make_executor("llvm", recorded(lambda p: [p * p - p], np.arange(3.0)))


def test_auto_takes_what_is_there(monkeypatch):
    program = recorded(lambda p: [p * p - p], np.arange(3.0))
    monkeypatch.delenv("AUTOGRAD_EXECUTOR", raising=False)
    if host() is not None:
        assert type(make_executor("auto", program)) is LLVMExecutor
        monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")  # it asks nothing of numba
        assert type(make_executor("auto", program)) is LLVMExecutor
    monkeypatch.setattr(executors, "host", lambda: None)
    monkeypatch.setattr(executors.numba_executor, "numba_is_installed", lambda: False)
    assert type(make_executor("auto", program)) is NumpyExecutor
