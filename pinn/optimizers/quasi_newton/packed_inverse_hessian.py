"""The inverse Hessian on the host: one triangle of it, and BLAS."""

from __future__ import annotations

import math

import numpy as np

from pinn.optimizers.quasi_newton.inverse_hessian import Change, InverseHessian, Rule, change

# Hy is the difference of two products with H while |y|^2 is more than this share of |gradient|^2.
_MOSTLY_ROUNDING = 1e-4
# The scale is multiplied into the matrix before it leaves this range.
_SCALE_RANGE = (1e-50, 1e50)


class PackedInverseHessian(InverseHessian):
    """H = scale * M, with the lower triangle of M packed by columns.

    That is half the memory, symmetric by construction, and dividing H by tau costs one number. The
    product and the rank-2 change are BLAS calls on the triangle, the change in place.
    """

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self._packed = np.zeros(size * (size + 1) // 2)
        self._scale = 1.0
        self.set_identity(1.0)

    @property
    def packed(self) -> np.ndarray:
        return self._packed

    @property
    def scale(self) -> float:
        return self._scale

    def set_identity(self, scale: float) -> None:
        self._packed.fill(0.0)
        # Column j starts with its diagonal, and has size - j numbers.
        columns = np.arange(self.size)
        self._packed[columns * self.size - columns * (columns - 1) // 2] = 1.0
        self._scale = float(scale)
        self.version += 1

    def set_packed(self, packed: np.ndarray, scale: float) -> None:
        self._check(packed)
        self._packed[...] = packed
        self._scale = float(scale)
        self.version += 1

    def copy(self, other: InverseHessian) -> bool:
        return False

    def times(self, vector: np.ndarray) -> np.ndarray:
        from scipy.linalg.blas import dspmv

        return dspmv(self.size, self._scale, self._packed, vector, lower=1)

    def step(
        self, s: np.ndarray, y: np.ndarray, sbs: float, rule: Rule, direction: np.ndarray,
        gradient: np.ndarray,
    ) -> np.ndarray | None:  # fmt: skip
        """Learn a pair, and return -H times the gradient at its end, from one product with H.

        y is the difference of the gradients, and so is Hy of their products; and H changes by a
        form in s and Hy. None where the gradients differ by so little that Hy takes a product of
        its own.
        """
        after = self.times(gradient)
        hy, square_y = after + direction, float(y @ y)
        if not square_y > _MOSTLY_ROUNDING * float(gradient @ gradient):
            return super().step(s, y, sbs, rule, direction, gradient)
        products = float(y @ s), float(s @ s), square_y, float(y @ hy)
        by = change(rule, self.size, sbs, *products)
        if by is None:
            return -after
        self.learned(s, hy, by)
        sg, hg = float(s @ gradient), float(hy @ gradient)
        of_s, of_hy = by.ss * sg + by.sy * hg, by.sy * sg + by.yy * hg
        return -(after / by.tau + of_s * s + of_hy * hy)

    def is_positive_definite(self) -> bool:
        from scipy.linalg.lapack import dpptrf

        _, info = dpptrf(self.size, self._packed, lower=1)
        return info == 0 and self._scale > 0

    def add(self, s: np.ndarray, hy: np.ndarray, by: Change) -> None:
        from scipy.linalg.blas import dspr, dspr2

        ss, sy, yy, tau = by
        n, scale = self.size, self._scale / tau
        discriminant = sy * sy - ss * yy
        if discriminant >= 0:
            # The form is a product of two real factors, so one pass over the triangle is enough.
            w = sy + math.copysign(math.sqrt(discriminant), sy)
            left, right = ss * s + w * hy, s + (yy / w) * hy
            self._changed(
                dspr2(n, 0.5 / scale, left, right, self._packed, lower=1, overwrite_ap=1)
            )
        else:
            left = hy + (sy / yy) * s
            self._changed(dspr(n, yy / scale, left, self._packed, lower=1, overwrite_ap=1))
            rest = (ss - sy * sy / yy) / scale
            self._changed(dspr(n, rest, s, self._packed, lower=1, overwrite_ap=1))
        self._scale = scale
        if not _SCALE_RANGE[0] < scale < _SCALE_RANGE[1]:
            self._packed *= scale
            self._scale = 1.0

    def _changed(self, packed: np.ndarray) -> None:
        # The same array where scipy worked in place, as it does for contiguous float64.
        self._packed = packed
