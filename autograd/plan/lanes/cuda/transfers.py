"""Kernels that move numbers between arrays of a device, and add them up.

Several arrays are one launch, from one precision to another, and what is written or read may be a
row whose number stands in an array of the device.  So they can be captured in a CUDA graph, which
has addresses, and each launch of it takes the next row.  All arrays are dense, float32 or float64,
those of places int32.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from .each import C_TYPES, FIRST_AND_STEP, launch
from .modules import kernel_of

_MOST = 48  # pairs a launch: kernels take 4 KiB of arguments
_ADDING = 256


def copy(xp: Any, pairs: Sequence[tuple[Any, Any]]) -> None:
    """Copy the first array of each pair to the second, of as many numbers."""
    _copy(xp, [(source, to, 0) for source, to in pairs], None)


def copy_to_rows(xp: Any, pairs: Sequence[tuple[Any, Any, int]], number: Any) -> None:
    """Copy the first array of each to the second, moved on by `number` rows of so many numbers.

    number  an int64 array (1,).
    """
    _copy(xp, pairs, number)


def _copy(xp: Any, pairs: Sequence[tuple[Any, Any, int]], number: Any | None) -> None:
    for first in range(0, len(pairs), _MOST):
        some = pairs[first : first + _MOST]
        types = tuple((C_TYPES[str(a.dtype)], C_TYPES[str(b.dtype)]) for a, b, _ in some)
        arguments = [] if number is None else [number]
        for source, to, row in some:
            arguments += [source, to, np.int64(source.size)]
            arguments += [] if number is None else [np.int64(row)]
        most = max(source.size for source, _, _ in some)
        launch(xp, _copy_text(types, number is not None), "copy", arguments, most)


@cache
def _copy_text(types: Sequence[tuple[str, str]], rows: bool) -> str:
    arguments = ["const long long *number"] if rows else []
    lines = ["  const long long row = number[0];"] if rows else []
    for k, (source, to) in enumerate(types):
        arguments += [f"const {source} *s{k}", f"{to} *t{k}", f"long long n{k}"]
        arguments += [f"long long r{k}"] if rows else []
        place = f"t{k}[row * r{k} + e]" if rows else f"t{k}[e]"
        lines.append(f"  for (long long e = first; e < n{k}; e += step) {place} = {to}(s{k}[e]);")
    return "\n".join([
        "typedef double R;",
        f'extern "C" __global__ void copy({", ".join(arguments)}) {{',
        FIRST_AND_STEP,
        *lines, "}", "",
    ])  # fmt: skip


def gather_row(xp: Any, taken: Sequence[tuple[Any, Any, int]], places: Any, number: Any) -> None:
    """Copy elements of the first array of each to the second, by a row of places.

    taken   (from, to, first): the places of one array begin at number `first` of a row.
    places  an int32 array (rows, width).
    number  an int64 array (1,): of the row.
    """
    for first in range(0, len(taken), _MOST):
        some = taken[first : first + _MOST]
        arguments = [places, number, np.int64(places.shape[1])]
        for source, to, begin in some:
            arguments += [source, to, np.int64(to.size), np.int64(begin)]
        text = _gather_text(tuple(C_TYPES[str(source.dtype)] for source, _, _ in some))
        launch(xp, text, "gather", arguments, max(to.size for _, to, _ in some))


@cache
def _gather_text(types: Sequence[str]) -> str:
    arguments = ["const int *places", "const long long *number", "long long width"]
    lines = []
    for k, one in enumerate(types):
        arguments += [f"const {one} *s{k}", f"{one} *t{k}", f"long long n{k}", f"long long f{k}"]
        lines.append(
            f"  for (long long e = first; e < n{k}; e += step) t{k}[e] = s{k}[row[f{k} + e]];"
        )
    return "\n".join([
        "typedef double R;",
        f'extern "C" __global__ void gather({", ".join(arguments)}) {{',
        "  const int *row = places + number[0] * width;",
        FIRST_AND_STEP,
        *lines, "}", "",
    ])  # fmt: skip


def next_row(xp: Any, rows: Any, number: Any, to: Any) -> None:
    """Copy row `number` of float64 rows to a place of their length, and raise the number by 1.

    number  an int64 array (1,).
    """
    kernel = kernel_of(xp.RawModule, _NEXT_ROW, "next_row")
    kernel((1,), (32,), (rows, number, to, np.int64(to.size)))


def add_up(xp: Any, numbers: Any, totals: Any) -> None:
    """Write the sums of rows of numbers, of which there are as many as totals.

    Each is added in an order that is fixed.
    """
    text = _add_up_text(C_TYPES[str(numbers.dtype)])
    count = np.int64(numbers.size // totals.size)
    kernel_of(xp.RawModule, text, "add_up")((totals.size,), (_ADDING,), (numbers, totals, count))


_NEXT_ROW = """typedef double R;
extern "C" __global__ void next_row(const R *rows, long long *number, R *to, long long width) {
  const long long row = number[0];
  for (long long e = threadIdx.x; e < width; e += 32) to[e] = rows[row * width + e];
  __syncthreads();
  if (threadIdx.x == 0) number[0] = row + 1;
}
"""


@cache
def _add_up_text(real: str) -> str:
    return f"""typedef {real} R;
__shared__ R parts[{_ADDING}];
extern "C" __global__ void add_up(const R *numbers, R *totals, long long count) {{
  numbers += blockIdx.x * count;
  R sum = R(0);
  #pragma unroll 8
  for (long long e = threadIdx.x; e < count; e += {_ADDING}) sum += numbers[e];
  parts[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x < 16) {{
    for (int k = threadIdx.x + 16; k < {_ADDING}; k += 16) sum += parts[k];
    parts[threadIdx.x] = sum;
  }}
  __syncthreads();
  if (threadIdx.x == 0) {{
    for (int k = 1; k < 16; ++k) sum += parts[k];
    totals[blockIdx.x] = sum;
  }}
}}
"""
