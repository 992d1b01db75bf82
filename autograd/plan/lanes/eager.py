"""Functions of a single number as vector code, for operations that run one by one on the host."""

from __future__ import annotations

import ctypes
import math
import os
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

from ...ops.registry import REGISTRY
from . import functions
from .host import host
from .library import module
from .native import address

# So many numbers are worth a call, which takes as long as numpy for some hundreds of them.
_MANY = 2048
# Where registers have 512 bits numpy's own functions are vector code as fast, but for scipy's.
_NUMPY_IS_WIDE = 64
_OF_SCIPY = ("erf", "erfc")
_OF_NUMPY = ("tanh", "exp", "expm1", "log", "log1p", "sin", "cos", "sinh", "cosh", "tan")


def install() -> None:
    """Let operations on many numbers run as vector code on the host, where that is faster.

    As tiles do (`functions`): within a unit in the last place, the same for a number wherever it
    stands. Without the extra `jit`, and with AUTOGRAD_EXECUTOR=numpy or numba, all is numpy's.
    """
    for name in (*_OF_NUMPY, *_OF_SCIPY):
        op = REGISTRY[name]
        op.on_host = _Function(name, op.on_host or partial(op.forward, np))
    sine, cosine = REGISTRY["sin"].on_host, REGISTRY["cos"].on_host
    REGISTRY["sin_slope"].on_host = lambda x, _: cosine(x)
    REGISTRY["cos_slope"].on_host = lambda x, _: np.negative(sine(x))
    for name, inner, made in (
        ("sigmoid", "exp", _sigmoid), ("silu", "exp", _silu), ("gelu", "erfc", _gelu),
    ):  # fmt: skip
        op = REGISTRY[name]
        op.on_host = _made_of(REGISTRY[inner].on_host, made, partial(op.forward, np))


def _made_of(inner: _Function, made: Callable, plain: Callable) -> Callable:
    return lambda x: made(inner, x) if inner.holds(x) else plain(x)


def _sigmoid(exp: Callable, x: np.ndarray) -> np.ndarray:
    out = exp(np.negative(x))
    np.add(out, 1, out=out)
    return np.reciprocal(out, out=out)


def _silu(exp: Callable, x: np.ndarray) -> np.ndarray:
    out = _sigmoid(exp, x)
    return np.multiply(out, x, out=out)


def _gelu(erfc: Callable, x: np.ndarray) -> np.ndarray:
    """Compute x times the distribution function, by erfc, which is accurate in the left tail."""
    out = erfc(x * np.asarray(-math.sqrt(0.5), x.dtype))
    np.multiply(out, 0.5, out=out)
    return np.multiply(out, x, out=out)


class _Function:
    """What an operation does on the host: with many numbers as vector code, else as before."""

    def __init__(self, name: str, plain: Callable) -> None:
        self._name, self._plain = name, plain

    def holds(self, x: Any) -> bool:
        """Return whether vector code is faster for an array."""
        many = x.size >= _MANY and x.dtype.char in "fd" and x.dtype.isnative
        return many and _compiled(self._name, x.dtype) is not None

    def __call__(self, x: Any) -> Any:
        if not self.holds(x):
            return self._plain(x)
        run = _compiled(self._name, x.dtype)
        if not x.flags.forc:
            x = np.ascontiguousarray(x)
        out = np.empty_like(x)
        run(x.size, x.ctypes.data, out.ctypes.data)
        return out


@cache
def _compiled(name: str, dtype: np.dtype) -> Callable[[int, int, int], None] | None:
    """Return the function of n numbers from one place to another; None where it is no faster."""
    found = host() if os.environ.get("AUTOGRAD_EXECUTOR", "llvm") == "llvm" else None
    if found is None or (found.vector_bytes >= _NUMPY_IS_WIDE and name in _OF_NUMPY):
        return None
    lanes = 2 * found.vector_bytes // dtype.itemsize
    run = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)
    return run(address(_text(name, str(dtype), lanes), "run"))


def _text(name: str, dtype: str, lanes: int) -> str:
    """Return the module of `run(n, x, out)` for n numbers, at least `lanes`."""
    real, size = {"float64": ("double", 8), "float32": ("float", 4)}[dtype]
    vector = f"<{lanes} x {real}>"
    return module([
        *sorted(functions.declarations(dtype, lanes)), functions.function_text(name, dtype, lanes),
        "declare i64 @llvm.smin.i64(i64, i64)",
        "define void @run(i64 %n, ptr %x, ptr %out) #0 {",
        "entry:", f"  %last = sub i64 %n, {lanes}", "  br label %loop",
        "loop:", "  %i = phi i64 [0, %entry], [%start, %loop]",
        f"  %from = getelementptr {real}, ptr %x, i64 %i",
        f"  %v = load {vector}, ptr %from, align {size}",
        f"  %r = call {vector} @{functions.name(name, dtype, lanes)}({vector} %v)",
        f"  %to = getelementptr {real}, ptr %out, i64 %i",
        f"  store {vector} %r, ptr %to, align {size}",
        f"  %next = add i64 %i, {lanes}",
        # the last ones are computed together with those before them
        "  %start = call i64 @llvm.smin.i64(i64 %next, i64 %last)",
        "  %more = icmp slt i64 %i, %last", "  br i1 %more, label %loop, label %done",
        "done:", "  ret void", "}",
    ])  # fmt: skip
