"""numba's loops: what they are compiled to, and the folder that they are kept in."""

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
from autograd.plan import NumpyExecutor, executors, optimize, trace
from autograd.plan.chunks import Chunked
from autograd.plan.executors import loop_cache, make_executor, numba_executor


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


def test_loops_over_many_arrays_use_vector_instructions(numba):
    def fn(*xs):
        mixed = sum(x * y for x, y in zip(xs[:5], xs[5:], strict=True))
        return [mixed * x for x in xs]

    program = recorded(fn, *(np.ones(64, np.float32) for _ in range(10)))
    (fused,) = numba_executor.NumbaExecutor.prepared(program).instructions
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


def test_auto_takes_numba_where_there_is_nothing_better(numba, monkeypatch):
    program = recorded(lambda p: [p * p - p], np.arange(3.0))
    monkeypatch.setattr(executors, "host", lambda: None)
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
    monkeypatch.setattr(executors, "host", lambda: None)
    monkeypatch.setattr(executors, "_warned", False)
    monkeypatch.delenv("AUTOGRAD_EXECUTOR", raising=False)
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    with pytest.warns(RuntimeWarning, match="NUMBA_DISABLE_JIT is set: .* with numpy") as warned:
        assert executors.default_executor() == "numpy"
    assert executors.default_executor() == "numpy" and len(warned) == 1
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "0")
    assert executors.default_executor() == "numba"


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
