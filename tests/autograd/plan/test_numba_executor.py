"""Compiled loops against numpy: random programs, operands of all layouts, memory, and the cache."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import autograd as T
from autograd.ops.registry import REGISTRY
from autograd.plan import NumpyExecutor, executors, optimize, trace
from autograd.plan.chunks import Chunked
from autograd.plan.executors import loop_cache, make_executor, numba_executor

ROUNDING = {"float32": 2e-5, "float64": 1e-13}


@pytest.fixture(scope="session")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("loops")


@pytest.fixture
def numba(folder, monkeypatch):
    """numba, with a cache folder of the tests."""
    monkeypatch.setenv("AUTOGRAD_CACHE_DIR", str(folder))
    return pytest.importorskip("numba")


@pytest.fixture
def nothing_compiled(monkeypatch):
    """A process that has no loop yet and has not warned."""
    monkeypatch.setattr(loop_cache, "_compiled", {})
    monkeypatch.setattr(loop_cache, "_warned", False)


def recorded(fn, *arrays):
    return optimize(trace(fn, [T.tensor(a) for a in arrays])[0])


def both(program, arrays):
    """Return the results of the two executors, each run twice with other inputs in between."""
    results = []
    for name in ("numpy", "numba"):
        executor = make_executor(name, program, [np.array(a) for a in arrays])
        executor.run()
        first = [np.array(o) for o in executor.outputs]
        for array in executor.inputs:
            array *= 1.25
        executor.run()
        results.append(first + [np.array(o) for o in executor.outputs])
    return results


@pytest.mark.parametrize("seed", range(3))
def test_random_programs_give_the_same_numbers(numba, random_program, seed, dtype):
    program, arrays = random_program(seed, dtype.name)
    for expected, got in zip(*both(program, arrays), strict=True):
        scale = max(1.0, np.abs(expected).max())
        np.testing.assert_allclose(got, expected, rtol=0, atol=ROUNDING[dtype.name] * scale)


def test_every_operation_of_a_loop(numba, dtype):
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
    executor = make_executor("numba", recorded(fn, a, b), [a, b])
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
def test_operands_are_broadcast(numba, shape, other):
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=shape), rng.normal(size=other)
    executor = make_executor("numba", recorded(lambda p, q: [(p - q) * q + p], a, b), [a, b])
    executor.run()
    np.testing.assert_allclose(executor.outputs[0], (a - b) * b + a, rtol=1e-14, atol=1e-15)


def test_arrays_that_are_not_dense_are_read_anew_in_each_run(numba):
    def fn(a):
        return [a[:, 0] * a[:, 1] + a[:, 0], a.T * 2.0 + 1.0]

    a = np.arange(8.0).reshape(4, 2)
    executor = make_executor("numba", recorded(fn, a), [a])
    for _ in range(2):
        a += 1.0
        executor.run()
        np.testing.assert_array_equal(executor.outputs[0], a[:, 0] * a[:, 1] + a[:, 0])
        np.testing.assert_array_equal(executor.outputs[1], a.T * 2 + 1)


def test_a_loop_that_writes_over_its_inputs(numba):
    """Both halves of a product are read by both outputs, which take their places."""

    def fn(a, w):
        low, high = (a @ w).unbind(0)
        return [T.stack([low * 2.0 + high, high * low - 1.0]) @ w]

    a, w = np.random.default_rng(0).normal(size=(2, 300, 4)), np.eye(4)
    executor = make_executor("numba", recorded(fn, a, w), [a, w])
    executor.run()
    expected = np.stack([a[0] * 2 + a[1], a[1] * a[0] - 1])
    np.testing.assert_allclose(executor.outputs[0], expected, rtol=1e-14, atol=1e-14)


def test_one_array_given_twice_and_an_input_that_is_an_output(numba):
    a = np.arange(6.0)
    executor = make_executor("numba", recorded(lambda p: [p * p + p, p, p - p * 3.0], a), [a])
    executor.run()
    np.testing.assert_array_equal(executor.outputs[0], a * a + a)
    np.testing.assert_array_equal(executor.outputs[1], a)
    np.testing.assert_array_equal(executor.outputs[2], -2 * a)


@pytest.mark.parametrize("rows", [1, 2, 3, 4, 5, 102])
def test_rows_are_added_up(numba, dtype, rows):
    a = np.random.default_rng(rows).normal(size=(2, rows, 3)).astype(dtype)
    sum_to = REGISTRY["sum_to"]
    program = recorded(lambda p: [sum_to(p, shape=(3,)), sum_to(T.exp(p), shape=(1, 1, 3))], a)
    executor = make_executor("numba", program, [a])
    executor.run()
    for one, terms in zip(executor.outputs, (a, np.exp(a)), strict=True):
        expected = terms.astype("f8").sum(axis=(0, 1))
        np.testing.assert_allclose(
            one.reshape(3), expected, rtol=0, atol=4 * np.finfo(dtype).eps * abs(terms).sum()
        )


def test_the_same_bits_for_any_number_of_threads(numba):
    rng = np.random.default_rng(0)
    w = T.tensor(rng.normal(size=(6, 6))).requires_grad_()

    def fn(rows):
        (x,) = rows
        y = T.tanh(x @ w)
        loss = ((y * x - 0.3) * (1.0 - y * y)).sum()
        return [loss, *T.grad(loss, [w])]

    x = rng.normal(size=(150, 6))
    results = [
        Chunked(fn, [w], ["sum", "sum"], threads=threads, chunk=20, executor="numba")([x])
        for threads in (1, 2, 3)
    ]
    for other in results[1:]:
        for one, expected in zip(other, results[0], strict=True):
            assert one.tobytes() == expected.tobytes()


def test_loops_over_many_arrays_use_vector_instructions(numba):
    def fn(*xs):
        mixed = sum(x * y for x, y in zip(xs[:5], xs[5:], strict=True))
        return [mixed * x for x in xs]

    program = recorded(fn, *(np.ones(64, np.float32) for _ in range(10)))
    (fused,) = numba_executor.fuse(program).instructions
    source = numba_executor.codegen.python_source(fused.attributes["loop"], cached=False)
    run = loop_cache._in_memory(source)
    (text,) = run.inspect_llvm().values()
    assert re.search(r"fmul (\w+ )*<\d+ x float>", text)


def test_equal_loops_are_compiled_once(numba, nothing_compiled):
    def fn(a, w):
        for _ in range(3):
            a = (a @ w) * 0.5 + 1.0
        return [a]

    a, w = np.ones((5, 2)), np.eye(2)
    program = recorded(fn, a, w)
    make_executor("numba", program, [a, w])
    make_executor("numba", program, [a, w])
    assert len(loop_cache._compiled) == 1


def test_loops_are_kept_on_disk(numba, nothing_compiled, tmp_path, monkeypatch):
    monkeypatch.setenv("AUTOGRAD_CACHE_DIR", str(tmp_path / "deep" / "loops"))
    a = np.arange(5.0)
    for _ in range(2):
        executor = make_executor("numba", recorded(lambda p: [p * p - p], a), [a])
        executor.run()
        np.testing.assert_array_equal(executor.outputs[0], a * a - a)
        monkeypatch.setattr(loop_cache, "_compiled", {})
    (source,) = (tmp_path / "deep" / "loops").glob("*.py")
    assert list((tmp_path / "deep" / "loops" / "__pycache__").glob(f"{source.stem}*.nbc"))


def test_a_damaged_module_is_written_again(numba, nothing_compiled, tmp_path, monkeypatch):
    monkeypatch.setenv("AUTOGRAD_CACHE_DIR", str(tmp_path))
    a = np.arange(5.0)
    for damage in ("raise SystemExit", ""):
        executor = make_executor("numba", recorded(lambda p: [p * p - p], a), [a])
        executor.run()
        np.testing.assert_array_equal(executor.outputs[0], a * a - a)
        (source,) = tmp_path.glob("*.py")
        good = source.read_text()
        source.write_text(damage)
        monkeypatch.setattr(loop_cache, "_compiled", {})
    make_executor("numba", recorded(lambda p: [p * p - p], a), [a])
    assert source.read_text() == good


@pytest.mark.parametrize("damage", ["flipped bit", "truncated", "sums gone", "sums damaged"])
def test_damaged_machine_code_is_never_run(numba, nothing_compiled, tmp_path, monkeypatch, damage):
    monkeypatch.setenv("AUTOGRAD_CACHE_DIR", str(tmp_path))
    program = recorded(lambda p: [p * p - p], np.arange(5.0))
    make_executor("numba", program)
    (source,) = tmp_path.glob("*.py")
    codes = list((tmp_path / "__pycache__").glob(f"{source.stem}.*"))
    assert any(c.suffix == ".nbc" for c in codes)
    (sums,) = tmp_path.glob("*.sums")
    victim = sums if damage.startswith("sums") else max(codes, key=lambda c: c.stat().st_size)
    content = bytearray(victim.read_bytes())
    content[len(content) // 2] ^= 4
    if damage == "sums gone":
        sums.unlink()
    else:
        victim.write_bytes(content[:-9] if damage == "truncated" else content)
    there = []

    def importing(spec):  # what numba would find; running damaged code may end the process
        there.extend((tmp_path / "__pycache__").glob("*"))
        return lambda address: None

    with monkeypatch.context() as patched:
        patched.setattr(loop_cache, "_compiled", {})
        patched.setattr(loop_cache, "_imported", importing)
        make_executor("numba", program)
    assert there == []
    monkeypatch.setattr(loop_cache, "_compiled", {})
    a = np.arange(5.0)
    executor = make_executor("numba", program, [a])  # and compiled anew
    executor.run()
    np.testing.assert_array_equal(executor.outputs[0], a * a - a)
    monkeypatch.setattr(loop_cache, "_compiled", {})
    make_executor("numba", program)  # and that is sound
    (run,) = loop_cache._compiled.values()
    assert sum(run.stats.cache_hits.values()) == 1


def test_sound_machine_code_is_loaded_and_not_compiled(
    numba, nothing_compiled, tmp_path, monkeypatch
):
    monkeypatch.setenv("AUTOGRAD_CACHE_DIR", str(tmp_path))
    program = recorded(lambda p: [p * p - p], np.arange(5.0))
    for hits in (0, 1):
        make_executor("numba", program)
        (run,) = loop_cache._compiled.values()
        assert sum(run.stats.cache_hits.values()) == hits
        monkeypatch.setattr(loop_cache, "_compiled", {})


def test_code_that_numba_keeps_elsewhere_is_checked_too(
    numba, nothing_compiled, tmp_path, monkeypatch
):
    monkeypatch.setenv("AUTOGRAD_CACHE_DIR", str(tmp_path / "loops"))
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "elsewhere"))
    program = recorded(lambda p: [p * p - p], np.arange(5.0))
    make_executor("numba", program)
    codes = list((tmp_path / "elsewhere").glob("*/*.nbc"))
    codes[0].write_bytes(b"damaged")
    monkeypatch.setattr(loop_cache, "_compiled", {})
    make_executor("numba", program)
    assert codes[0].read_bytes() != b"damaged"


def _compile_two_loops():
    a = np.arange(5.0)
    for fn in (lambda p: [p * p - p], lambda p: [p * p + p]):
        executor = make_executor("numba", recorded(fn, a), [a])
        executor.run()
    np.testing.assert_array_equal(executor.outputs[0], a * a + a)


def test_a_folder_that_cannot_be_used_is_one_warning(
    numba, nothing_compiled, tmp_path, monkeypatch
):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("AUTOGRAD_CACHE_DIR", str(tmp_path / "file"))
    with pytest.warns(RuntimeWarning, match="AUTOGRAD_CACHE_DIR") as warned:
        _compile_two_loops()
    assert len(warned) == 1


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_a_folder_that_others_may_write_to_is_not_used(
    numba, nothing_compiled, tmp_path, monkeypatch
):
    tmp_path.chmod(tmp_path.stat().st_mode | stat.S_IWOTH)
    monkeypatch.setenv("AUTOGRAD_CACHE_DIR", str(tmp_path))
    with pytest.warns(RuntimeWarning, match="other users may write"):
        _compile_two_loops()
    assert not list(tmp_path.iterdir())


def test_without_numba_the_executor_names_the_extra(monkeypatch):
    monkeypatch.delenv("AUTOGRAD_EXECUTOR", raising=False)
    monkeypatch.setattr(numba_executor, "numba_is_installed", lambda: False)
    program = recorded(lambda p: [p * p - p], np.arange(3.0))
    with pytest.raises(ImportError, match="extra `jit`"):
        make_executor("numba", program)
    assert type(make_executor("auto", program)) is NumpyExecutor


def test_auto_takes_numba_where_it_is(numba, monkeypatch):
    program = recorded(lambda p: [p * p - p], np.arange(3.0))
    monkeypatch.delenv("AUTOGRAD_EXECUTOR", raising=False)
    assert type(make_executor("auto", program)) is numba_executor.NumbaExecutor
    monkeypatch.setenv("AUTOGRAD_EXECUTOR", "numpy")
    assert type(make_executor("auto", program)) is NumpyExecutor


def test_a_wrong_executor_in_the_environment_is_said_before_anything_is_recorded(monkeypatch):
    monkeypatch.setenv("AUTOGRAD_EXECUTOR", "fast")
    with pytest.raises(ValueError, match="AUTOGRAD_EXECUTOR is 'fast', expected 'numpy', 'nu"):
        Chunked(lambda rows: [], [], [])


def test_numba_that_may_not_compile_is_left_out_with_one_warning(monkeypatch):
    monkeypatch.setattr(numba_executor, "numba_is_installed", lambda: True)
    monkeypatch.setattr(executors, "_warned", False)
    monkeypatch.delenv("AUTOGRAD_EXECUTOR", raising=False)
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    with pytest.warns(RuntimeWarning, match="NUMBA_DISABLE_JIT is set: .* with numpy") as warned:
        assert executors.default_executor() == "numpy"
    assert executors.default_executor() == "numpy" and len(warned) == 1
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "0")
    assert executors.default_executor() in ("llvm", "numba")


def test_numba_that_may_not_compile_is_refused_where_it_is_asked_for(numba, monkeypatch):
    monkeypatch.setattr(numba.config, "DISABLE_JIT", 1)
    program = recorded(lambda p: [p * p - p], np.arange(3.0))
    with pytest.raises(executors.ExecutorError, match="NUMBA_DISABLE_JIT is set.*'numpy'"):
        make_executor("numba", program)


def test_an_unknown_executor_is_refused():
    with pytest.raises(ValueError, match="'fast'.*numpy, numba"):
        make_executor("fast", recorded(lambda p: [p * p], np.arange(3.0)))


def test_importing_the_library_imports_neither_numba_nor_llvm():
    code = (
        "import sys, autograd, autograd.plan.chunks, autograd.plan.executors.numba_executor;"
        "sys.exit(any(m in sys.modules for m in ('numba', 'llvmlite', 'cupy')))"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0
