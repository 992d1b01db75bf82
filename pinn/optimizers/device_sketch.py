"""Sketches of matrices that lie on a device."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd.devices import Device, backend, put, put_together
from autograd.plan.lanes.cuda.modules import kernel_of
from pinn.optimizers.least_squares.sketch import CosineSketch, CountSketch

_THREADS, _MOST_PIECES = 128, 64
_TEXT = f"""typedef double R;
// row blockIdx.x of the sketch: the sum of some rows, in their order
extern "C" __global__ void add_rows(const R *rows, const int *starts, const int *numbers,
                                    const R *shares, R *to, long long columns) {{
  const long long step = (long long)gridDim.y * {_THREADS};
  for (long long c = (long long)blockIdx.y * {_THREADS} + threadIdx.x; c < columns; c += step) {{
    R sum = R(0);
    for (int k = starts[blockIdx.x]; k < starts[blockIdx.x + 1]; ++k)
      sum += shares[k] * rows[numbers[k] * columns + c];
    to[blockIdx.x * columns + c] = sum;
  }}
}}
"""


class CountSketchThere:
    """C of a CountSketch, for matrices (rows, ...) of a device, whole; it goes there in two copies.

    A row of the result is added up in one place, in the order of the rows: there are no sums that
    depend on which thread comes first.
    """

    def __init__(self, sketch: CountSketch, device: Device) -> None:
        self._xp = backend(device.type).xp
        self._sketched = sketch.sketched
        matrix = sketch.by_rows()
        tables = [matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32)]
        self._starts, self._numbers = put_together(tables, device)
        self._shares = put(matrix.data, device)

    def of(self, matrix: Any) -> Any:
        """Return C times a matrix (rows, columns) or a vector (rows,), float64: one launch."""
        found = self._xp.empty((self._sketched, *matrix.shape[1:]), np.float64)
        columns = matrix.size // len(matrix)
        pieces = max(1, min(_MOST_PIECES, -(-columns // _THREADS)))
        kernel_of(self._xp.RawModule, _TEXT, "add_rows")(
            (self._sketched, pieces), (_THREADS,),
            (matrix, self._starts, self._numbers, self._shares, found, np.int64(columns)),
        )  # fmt: skip
        return found


class CosineSketchThere:
    """Omega of a CosineSketch as a matrix of a device, made there; it goes there in one copy.

    The singular values that follow take some four times the operations of the product with it.
    """

    def __init__(self, sketch: CosineSketch, device: Device) -> None:
        self._matrix: Any = None
        if sketch.is_identity:
            return
        size = sketch.size
        places = np.empty(size)
        places[sketch.order] = np.arange(size)
        lengths = np.sqrt(np.where(sketch.drawn > 0, 2.0, 1.0) / size)
        signs, odd, drawn, lengths = put_together(
            [sketch.signs, 2 * places + 1, sketch.drawn.astype(np.float64), lengths], device
        )
        xp = backend(device.type).xp
        # whole numbers, exact; turns that are whole are left out before they cost digits
        quarters = xp.remainder(odd[:, None] * drawn, 4.0 * size)
        self._matrix = signs[:, None] * xp.cos(quarters * (np.pi / (2 * size))) * lengths

    def columns(self, matrix: Any) -> Any:
        """Return A Omega, (rows, sketched), of a matrix A (rows, size)."""
        return matrix if self._matrix is None else matrix @ self._matrix

    def back(self, vector: Any) -> Any:
        """Return Omega v, (size,), of a vector v (sketched,)."""
        return vector if self._matrix is None else self._matrix @ vector
