"""Kolmogorov-Arnold networks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

import autograd as T
from autograd.ops.special.bspline import bspline
from pinn.models.network import Network
from pinn.models.parts import Layer, Part
from pinn.schema import Count, Few, declared

# The spread of a spline's coefficients at the start (Liu et al., section 2.2).
_SPREAD = 0.1


@declared
class KAN(Network):
    """A network whose weights are functions: a layer sums functions of single inputs z.

    basis "chebyshev": sums of T_k(tanh z) up to the `degree` (Sidharth et al., arXiv:2405.07200;
    coefficients start with variance 1 / (inputs (degree + 1))^2). basis "spline": a multiple of
    silu(z) and a sum of B-splines of the `degree` in tanh z on `grid` intervals of [-1, 1] (Liu et
    al., arXiv:2404.19756, with tanh instead of grids that move; the multiples start as Glorot's,
    coefficients with standard deviation 0.1). A spline of degree p has p - 1 continuous
    derivatives: a degree below the order of the equation plus 1 loses terms of it.
    width: units of each of the `depth` hidden layers.
    """

    width: Count = 8
    depth: Few = 2
    basis: Literal["chebyshev", "spline"] = "chebyshev"
    degree: Count = 5
    grid: Count = 5

    def parts(self, inputs: int, outputs: int) -> dict[str, Part]:
        sizes = (inputs, *(self.width,) * self.depth, outputs)
        chebyshev = self.basis == "chebyshev"
        functions = self.degree if chebyshev else 1 + self.grid + self.degree
        draw = self._chebyshev_coefficients if chebyshev else self._spline_coefficients
        return {
            str(number): Layer(functions * a, b, draw)
            for number, (a, b) in enumerate(zip(sizes[:-1], sizes[1:], strict=True))
        }

    def forward(self, parts: Mapping[str, Any], z: T.Tensor) -> T.Tensor:
        for layer in parts.values():
            z = layer(self._chebyshev(z) if self.basis == "chebyshev" else self._splines(z))
        return z

    def _chebyshev(self, z: T.Tensor) -> T.Tensor:
        """Return T_1 ... T_degree of tanh z, (n, degree * inputs); T_0 is the layer's bias."""
        t = T.tanh(z)
        found = [t]
        if self.degree > 1:
            double = t * 2.0
            found.append(double * t - 1.0)
        while len(found) < self.degree:
            found.append(double * found[-1] - found[-2])
        return T.cat(found, dim=1)

    def _splines(self, z: T.Tensor) -> T.Tensor:
        """Return silu(z) and the splines of tanh z, (n, inputs + inputs * (grid + degree))."""
        # the centres of the splines that do not vanish on [-1, 1], in cells of width 2 / grid
        count = self.grid + self.degree
        centres = np.arange(count) - (count - 1) / 2
        rows, inputs = z.shape
        t = T.tanh(z).reshape(rows, inputs, 1) * (self.grid / 2)
        # one operation for all of them: a recorded step is as long for any grid
        splines = bspline(t - T.tensor(centres, dtype=z.dtype, device=z.device), self.degree)
        return T.cat([T.nn.functional.silu(z), splines.reshape(rows, inputs * count)], dim=1)

    def _chebyshev_coefficients(
        self, rng: np.random.Generator, outputs: int, columns: int
    ) -> np.ndarray:
        inputs = columns // self.degree
        return rng.standard_normal((outputs, columns)) / (inputs * (self.degree + 1))

    def _spline_coefficients(
        self, rng: np.random.Generator, outputs: int, columns: int
    ) -> np.ndarray:
        inputs = columns // (1 + self.grid + self.degree)
        multiples = np.sqrt(2 / (inputs + outputs)) * rng.standard_normal((outputs, inputs))
        coefficients = _SPREAD * rng.standard_normal((outputs, columns - inputs))
        return np.concatenate([multiples, coefficients], axis=1)
