"""Operations on whole arrays as kernels: products of matrices, sums, elements by their places.

cupy's take memory for their results, and cuBLAS cannot be captured in a CUDA graph; these write to
memory that is there.  They are for short programs, as the step of an optimizer: products of stacks
of small matrices, each tile of a result by a block of its own, and sums of which one block does a
row.  The order in which numbers are added is fixed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from .each import C_TYPES, FIRST_AND_STEP, launch
from .modules import kernel_of
from .transfers import add_up, copy

_FLOATS = {"float32", "float64"}
_TILE, _DEEP, _SIDE = 32, 16, 8  # of a block: numbers of a side, products at a time, threads a side
Launch = Callable[[Any], None]
"""Writes a result to a dense array of its shape."""


def launch_of(xp: Any, op: str, inputs: Sequence[Any], attributes: dict[str, Any]) -> Launch | None:
    """Return what computes an operation, by its name, with launches alone; None: no kernel does.

    inputs, attributes  those of the instruction, on the device that is current.
    """
    found = _OPERATIONS.get(op)
    types = {str(getattr(one, "dtype", "number")) for one in inputs}
    if found is None or len(types) != 1 or not types <= _FLOATS:
        return None
    return found(xp, inputs, **attributes)


def _product(
    xp: Any, inputs: Sequence[Any], transpose_x: bool, transpose_y: bool, columns: bool
) -> Launch | None:
    x, y = (
        one.swapaxes(-1, -2) if turned and one.ndim > 1 else one
        for one, turned in zip(inputs, (transpose_x, transpose_y), strict=True)
    )
    if x.ndim not in (2, 3) or x.ndim != y.ndim or x.shape[:-2] != y.shape[:-2]:
        return None
    left, right = _laid_out(x), _laid_out(y)
    if left is None or right is None or 0 in (*x.shape, *y.shape):
        return None
    (x_there, *x_steps), (y_there, *y_steps) = left, right
    (m, inner), n = x.shape[-2:], y.shape[-1]
    tiles, stack = -(-m // _TILE) * -(-n // _TILE), x.size // (m * inner)
    kernel = kernel_of(xp.RawModule, _product_text(C_TYPES[str(x.dtype)]), "product")
    sizes = tuple(map(np.int64, (m, n, inner, *x_steps, *y_steps)))
    # one after the other along x: of the other axes a grid has 65535 blocks at most
    return lambda to: kernel((tiles * stack,), (_SIDE * _SIDE,), (x_there, y_there, to, *sizes))


def _laid_out(array: Any) -> tuple[Any, int, int] | None:
    """Return matrices as a dense array, and how far rows and columns lie apart; None: neither."""
    if array.flags.c_contiguous:
        return array, array.shape[-1], 1
    turned = array.swapaxes(-1, -2)
    return (turned, 1, array.shape[-2]) if turned.flags.c_contiguous else None


def _sum(xp: Any, inputs: Sequence[Any], axes: Sequence[int], keepdims: bool) -> Launch | None:
    (x,) = inputs
    last = tuple(range(x.ndim - len(axes), x.ndim))
    if tuple(sorted(axes)) != last or not x.flags.c_contiguous or not x.size:
        return None
    return lambda to: add_up(xp, x, to)


def _index(xp: Any, inputs: Sequence[Any], index: tuple, unique: bool) -> Launch | None:
    (x,), places = inputs, index[0]
    if x.ndim != 1 or not x.flags.c_contiguous or len(index) != 1:
        return None
    if str(getattr(places, "dtype", "")) != "int64" or not places.flags.c_contiguous:
        return None
    text, sizes = _index_text(C_TYPES[str(x.dtype)]), (np.int64(x.size), np.int64(places.size))
    return lambda to: launch(xp, text, "elements", (x, places, to, *sizes), places.size)


def _cat(xp: Any, inputs: Sequence[Any], dim: int) -> Launch | None:
    if dim != 0 or not all(one.flags.c_contiguous for one in inputs):
        return None
    ends = np.cumsum([len(one) for one in inputs]).tolist()
    return lambda to: copy(xp, [
        (one, to[end - len(one) : end])
        for one, end in zip(inputs, ends, strict=True) if one.size
    ])  # fmt: skip


_OPERATIONS: dict[str, Callable[..., Launch | None]] = {
    "matmul": _product, "sum": _sum, "index": _index, "cat": _cat,
}  # fmt: skip


@cache
def _index_text(real: str) -> str:
    return f"""typedef {real} R;
extern "C" __global__ void elements(const R *from, const long long *places, R *to,
                                    long long size, long long count) {{
{FIRST_AND_STEP}
  for (long long e = first; e < count; e += step)
    to[e] = from[places[e] < 0 ? places[e] + size : places[e]];
}}
"""


@cache
def _product_text(real: str) -> str:
    """Return the kernel: a block has a tile, a thread of it 4 x 4 numbers that lie 8 apart."""
    each = _TILE // _SIDE
    return f"""typedef {real} R;
__shared__ R xs[{_DEEP}][{_TILE} + 1], ys[{_DEEP}][{_TILE} + 1];
extern "C" __global__ void product(const R *x, const R *y, R *to, long long m, long long n,
                                   long long inner, long long x_row, long long x_column,
                                   long long y_row, long long y_column) {{
  const int t = threadIdx.x, row = t / {_SIDE}, column = t % {_SIDE};
  const long long across = (n + {_TILE - 1}) / {_TILE};
  const long long tiles = (m + {_TILE - 1}) / {_TILE} * across;
  const long long tile = blockIdx.x % tiles, number = blockIdx.x / tiles;
  const long long top = tile / across * {_TILE}, left = tile % across * {_TILE};
  x += number * m * inner;
  y += number * inner * n;
  to += number * m * n;
  R sums[{each}][{each}] = {{}};
  for (long long first = 0; first < inner; first += {_DEEP}) {{
    for (int e = t; e < {_TILE * _DEEP}; e += {_SIDE * _SIDE}) {{
      // neighbours take what lies side by side
      const int r = x_column == 1 ? e / {_DEEP} : e % {_TILE};
      const int k = x_column == 1 ? e % {_DEEP} : e / {_TILE};
      xs[k][r] = top + r < m && first + k < inner
        ? x[(top + r) * x_row + (first + k) * x_column] : R(0);
      const int c = y_column == 1 ? e % {_TILE} : e / {_DEEP};
      const int l = y_column == 1 ? e / {_TILE} : e % {_DEEP};
      ys[l][c] = left + c < n && first + l < inner
        ? y[(first + l) * y_row + (left + c) * y_column] : R(0);
    }}
    __syncthreads();
    for (int k = 0; k < {_DEEP}; ++k) {{
      #pragma unroll
      for (int i = 0; i < {each}; ++i)
        #pragma unroll
        for (int j = 0; j < {each}; ++j)
          sums[i][j] += xs[k][row + {_SIDE} * i] * ys[k][column + {_SIDE} * j];
    }}
    __syncthreads();
  }}
  #pragma unroll
  for (int i = 0; i < {each}; ++i)
    #pragma unroll
    for (int j = 0; j < {each}; ++j) {{
      const long long r = top + row + {_SIDE} * i, c = left + column + {_SIDE} * j;
      if (r < m && c < n) to[r * n + c] = sums[i][j];
    }}
}}
"""
