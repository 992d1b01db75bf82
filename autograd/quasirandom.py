"""Points that fill a cube evenly: Sobol's sequence, by scipy."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import dtypes
from .ops.creation.create import tensor
from .random import default_generator
from .tensor import Tensor

__all__ = ["SobolEngine"]


class SobolEngine:
    """Sobol's sequence in the cube [0, 1)^dimension, scrambled or not.

    seed  of the scrambling; without one it is drawn by the default generator.
    Without scrambling the first point is 0, as in PyTorch. Source: Joe and Kuo 2008, SIAM J. Sci.
    Comput. 30, by scipy.stats.qmc.Sobol, whose scrambling is not PyTorch's.
    """

    MAXDIM = 21201  # of Joe and Kuo's numbers

    def __init__(self, dimension: int, scramble: bool = False, seed: int | None = None) -> None:
        if not 1 <= dimension <= self.MAXDIM:
            raise ValueError(f"SobolEngine: dimension is 1 to {self.MAXDIM}, got {dimension}")
        self.dimension, self.scramble, self.num_generated = dimension, scramble, 0
        if scramble and seed is None:
            seed = int(default_generator.numpy.integers(2**31))
        self.seed = seed
        self.reset()

    def reset(self) -> SobolEngine:
        """Begin again at the first point."""
        from scipy.stats import qmc  # which takes long to import

        self._points = qmc.Sobol(self.dimension, scramble=self.scramble, seed=self.seed)
        self.num_generated = 0
        return self

    def fast_forward(self, n: int) -> SobolEngine:
        """Leave out the next n points."""
        if n:  # scipy refuses none at the start
            self._points.fast_forward(n)
        self.num_generated += n
        return self

    def draw(self, n: int = 1, out: Tensor | None = None, dtype: Any = None) -> Tensor:
        """Return the next n points, (n, dimension), of the default dtype where none is given."""
        if n < 1:
            raise ValueError(f"SobolEngine: the number of points is 1 or more, got {n}")
        # the first one by itself: scipy warns of a first draw that is no power of 2
        points = np.concatenate([self._points.random(1), self._points.random(n - 1)])
        self.num_generated += n
        found = tensor(points, dtype=dtypes.get_default_dtype() if dtype is None else dtype)
        return found if out is None else out.copy_(found)

    def draw_base2(self, m: int, out: Tensor | None = None, dtype: Any = None) -> Tensor:
        """Return the next 2^m points."""
        return self.draw(2**m, out, dtype)

    def __repr__(self) -> str:
        return (
            f"SobolEngine(dimension={self.dimension}, scramble={self.scramble}, seed={self.seed})"
        )
