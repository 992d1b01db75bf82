"""The inverse Hessian on a device: all of it, and kernels of our own."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd.devices import CPU, linalg_raises, put
from autograd.plan.lanes.cuda.modules import kernel_of
from pinn.objective import OnDevice
from pinn.optimizers.quasi_newton.inverse_hessian import Change, InverseHessian

_THREADS, _ROWS = 128, 16
_TEXT = """
typedef double R;

// where column j of a packed lower triangle begins, less j
static __device__ long long column(long long j, int size) { return j * size - j * (j + 1) / 2; }

#define EACH(i, j) \\
  const int j = blockIdx.x * blockDim.x + threadIdx.x; \\
  const int last = size < int(blockIdx.y + 1) * ROWS ? size : int(blockIdx.y + 1) * ROWS; \\
  if (j >= size) return; \\
  for (int i = blockIdx.y * ROWS; i < last; ++i)

// m <- keep m + ss s s' + sy (s h' + h s') + hh h h': an element and its mirror image come of the
// same operations on the same numbers, so m stays symmetric to the last bit.
extern "C" __global__ void change(R *__restrict__ m, const R *__restrict__ s,
                                  const R *__restrict__ h, double keep, double ss, double sy,
                                  double hh, int size) {
  EACH(i, j) {
    const int a = i > j ? i : j, b = i > j ? j : i;
    const R of_s = ss * s[b] + sy * h[b], of_h = sy * s[b] + hh * h[b];
    R *at = m + (long long)i * size + j;
    *at = keep * *at + (s[a] * of_s + h[a] * of_h);
  }
}

extern "C" __global__ void pack(const R *m, R *packed, int size) {
  EACH(i, j) if (j >= i) packed[column(i, size) + j] = m[(long long)i * size + j];
}

extern "C" __global__ void unpack(R *m, const R *packed, double scale, int size) {
  EACH(i, j) {
    const int a = i > j ? i : j, b = i > j ? j : i;
    m[(long long)i * size + j] = scale * packed[column(b, size) + a];
  }
}
""".replace("ROWS", str(_ROWS))


class FullInverseHessian(InverseHessian):
    """All elements of H, on a device: the array library has no fast product with a triangle.

    The product reads the matrix once, the rank-2 change reads and writes it once, in one launch.
    """

    def __init__(self, size: int, there: OnDevice) -> None:
        super().__init__(size)
        self._device, self._xp = there.device, there.xp
        self._matrix = self._xp.empty((size, size), np.float64)
        self.set_identity(1.0)

    @property
    def packed(self) -> np.ndarray:
        packed = self._xp.empty((self.size * (self.size + 1) // 2,), np.float64)
        self._launch("pack", self._matrix, packed)
        return put(packed, CPU)

    @property
    def scale(self) -> float:
        return 1.0

    def set_identity(self, scale: float) -> None:
        self._matrix.fill(0.0)
        self._matrix.reshape(-1)[:: self.size + 1] = float(scale)
        self.version += 1

    def set_packed(self, packed: np.ndarray, scale: float) -> None:
        self._check(packed)
        there = put(np.ascontiguousarray(packed, np.float64), self._device)
        self._launch("unpack", self._matrix, there, np.float64(scale))
        self.version += 1

    def copy(self, other: InverseHessian) -> bool:
        same = isinstance(other, FullInverseHessian) and self._place == other._place
        if same:
            self._xp.copyto(self._matrix, other._matrix)
            self.version += 1
        return same

    def times(self, vector: Any) -> Any:
        return self._matrix @ vector

    def is_positive_definite(self) -> bool:
        with linalg_raises(self._xp):
            try:
                self._xp.linalg.cholesky(self._matrix)
            except np.linalg.LinAlgError:
                return False
        return True

    def add(self, s: Any, hy: Any, by: Change) -> None:
        numbers = [np.float64(number) for number in (1 / by.tau, by.ss, by.sy, by.yy)]
        self._launch("change", self._matrix, s, hy, *numbers)

    @property
    def _place(self) -> tuple:
        return self._device, self.size

    def _launch(self, name: str, *arguments: Any) -> None:
        grid = -(-self.size // _THREADS), -(-self.size // _ROWS)
        kernel = kernel_of(self._xp.RawModule, _TEXT, name)
        kernel(grid, (_THREADS,), (*arguments, np.int32(self.size)))
