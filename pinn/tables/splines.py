"""Piecewise polynomials through values on a grid: nearest value, linear, cubic splines.

All are tensor products of B-splines: along each coordinate a value is a combination of degree + 1
neighbouring coefficients. Evaluation is array operations alone, on the CPU as on the GPU.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from autograd.devices import Device, device_of, put

DEGREES = {"nearest": 0, "linear": 1, "spline": 3}


class GridFunction:
    """The interpolant of values at the nodes of a grid, with all its partial derivatives.

    axes: increasing node coordinates (n_k,), one array a variable. table: values (n_1, ..., n_d).
    method: "nearest" (its derivative is 0; half way the upper node counts), "linear" (the
    derivative is the slope of the cell, at a node that of the cell above) or "spline" (cubic in
    each variable, not-a-knot, twice continuously differentiable; de Boor, A Practical Guide to
    Splines, 1978). Outside of the nodes the outermost piece goes on.

    Raises ValueError for fewer than 2 nodes along a variable, or 4 for a spline.
    """

    def __init__(self, axes: Sequence[np.ndarray], table: np.ndarray, method: str) -> None:
        self.degree = DEGREES[method]
        self.bounds = tuple((float(axis[0]), float(axis[-1])) for axis in axes)
        knots, coefficients = [], np.asarray(table, dtype=np.float64)
        for k, axis in enumerate(axes):
            along, coefficients = _interpolating(axis, coefficients, k, self.degree)
            knots.append(along)
        self._knots = tuple(knots)
        self._coefficients = coefficients
        self._copies: dict[tuple[Device, np.dtype], tuple[list[Any], Any]] = {}

    def values(self, xp: Any, xs: tuple[Any, ...], orders: tuple[int, ...]) -> Any:
        """Return a partial derivative at arrays that broadcast, in their shape and dtype."""
        xs = xp.broadcast_arrays(*xs)
        if max(orders) > self.degree:
            return xp.zeros_like(xs[0])
        knots, coefficients = self._copy(device_of(xs[0]), xs[0].dtype)
        along = [
            self._weights(xp, x, t, order) for x, t, order in zip(xs, knots, orders, strict=True)
        ]
        total = None
        strides = np.cumprod([1, *self._coefficients.shape[:0:-1]])[::-1].tolist()
        for offsets in itertools.product(range(self.degree + 1), repeat=len(xs)):
            place, weight = 0, 1.0
            for (first, weights), stride, offset in zip(along, strides, offsets, strict=True):
                place = place + (first + offset) * stride
                weight = weight * weights[offset]
            term = weight * xp.take(coefficients, place)
            total = term if total is None else total + term
        return total

    def _copy(self, device: Device, dtype: np.dtype) -> tuple[list[Any], Any]:
        """Return knots and coefficients on a device, made once."""
        key = (device, np.dtype(dtype))
        if key not in self._copies:
            flat = self._coefficients.reshape(-1)
            *knots, table = (put(a.astype(dtype), device) for a in (*self._knots, flat))
            self._copies[key] = knots, table
        return self._copies[key]

    def _weights(self, xp: Any, x: Any, t: Any, order: int) -> tuple[Any, list[Any]]:
        """Return the first of the coefficients that count at x, and the weight of each."""
        last = len(t) - self.degree - 2
        piece = xp.searchsorted(t, x.reshape(-1), side="right").reshape(x.shape) - 1
        piece = xp.clip(piece, self.degree, last)
        weights: list[Any] = [1.0]
        for q in range(1, self.degree + 1):
            differentiated = q > self.degree - order
            raised: list[Any] = [0.0] * (q + 1)
            for m, weight in enumerate(weights):
                # B-splines of degree q - 1 are numbered piece - q + 1 + m
                low, high = t[piece - q + 1 + m], t[piece + 1 + m]
                if differentiated:
                    slope = weight * (q / (high - low))
                    raised[m], raised[m + 1] = raised[m] - slope, raised[m + 1] + slope
                else:
                    raised[m] = raised[m] + weight * ((high - x) / (high - low))
                    raised[m + 1] = raised[m + 1] + weight * ((x - low) / (high - low))
            weights = raised
        if self.degree == 0:
            weights = [xp.ones_like(x)]
        return piece - self.degree, weights


def _interpolating(
    axis: np.ndarray, values: np.ndarray, along: int, degree: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the knots along one variable, and the coefficients for the values there."""
    fewest = max(2, degree + 1)
    if len(axis) < fewest:
        raise ValueError(f"expected {fewest} values along it at least, got {len(axis)}")
    if degree == 0:
        middles = (axis[1:] + axis[:-1]) / 2
        return np.concatenate([axis[:1], middles, axis[-1:]]), values
    if degree == 1:
        return np.concatenate([axis[:1], axis, axis[-1:]]), values
    from scipy.interpolate import make_interp_spline

    spline = make_interp_spline(axis, np.moveaxis(values, along, 0), k=degree)
    return spline.t, np.moveaxis(spline.c, 0, along)
