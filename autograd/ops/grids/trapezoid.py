"""The trapezoidal rule for values at points: integrals, and running integrals."""

from __future__ import annotations

from ...tensor import Tensor
from ..elementwise.arithmetic import add, mul, sub
from ..layout.index import narrow
from ..layout.shape import normal_axis, reshape_op
from ..reductions.cumulative import cumsum
from ..reductions.reduce import sum
from ..registry import floating

__all__ = ["cumulative_trapezoid", "trapezoid", "trapz"]


def trapezoid(
    y: Tensor, x: Tensor | None = None, *, dx: float | None = None, dim: int = -1
) -> Tensor:
    """Return the integral along `dim` of the lines through the values `y`.

    x   the points, one for each value along `dim`, or a tensor that broadcasts against `y`; without
        it they are `dx` (1 by default) apart.
    Of one value, or none, the integral is 0.  Raises RuntimeError where the points do not fit, and
    TypeError for both x and dx.
    """
    return sum(_panels("trapezoid", y, x, dx, dim), dim)


def cumulative_trapezoid(
    y: Tensor, x: Tensor | None = None, *, dx: float | None = None, dim: int = -1
) -> Tensor:
    """Return the integrals from the first value along `dim` to each of the others: one less.

    The arguments are those of `trapezoid`.
    """
    return cumsum(_panels("cumulative_trapezoid", y, x, dx, dim), dim)


trapz = trapezoid


def _panels(name: str, y: Tensor, x: Tensor | None, dx: float | None, dim: int) -> Tensor:
    """Return the areas between neighbours along `dim`."""
    if y.ndim == 0:
        raise IndexError(f"{name}: Dimension specified as {dim} but tensor has no dimensions")
    if y.dtype.kind == "b":
        raise RuntimeError(
            f"{name}: received a bool input for `y`, but bool is not supported; use y.double()"
        )
    if x is not None and dx is not None:
        raise TypeError(f"{name}: takes the points x, or their distance dx, but got both")
    axis = normal_axis(dim, y.ndim)
    y = floating(y)  # sums and differences of integers without a sign would wrap around
    middle = mul(add(*_neighbours(y, axis)), 0.5)
    if x is None:
        return middle if dx is None else mul(middle, dx)
    left, right = _neighbours(_along(name, floating(x), y, axis), axis - y.ndim)
    return mul(middle, sub(right, left))


def _neighbours(values: Tensor, axis: int) -> tuple[Tensor, Tensor]:
    """Return all values but the last, and all but the first."""
    size = values.shape[axis]
    count = max(size - 1, 0)
    return narrow(values, axis, 0, count), narrow(values, axis, size - count, count)


def _along(name: str, x: Tensor, y: Tensor, axis: int) -> Tensor:
    """Return the points `x` with as many dimensions after `axis` as `y` has."""
    after = y.ndim - axis
    if x.ndim == 1:
        x = reshape_op(x, shape=(x.shape[0], *(1,) * (after - 1)))
    if x.ndim < after or x.shape[-after] != y.shape[axis]:
        raise RuntimeError(
            f"{name}: There must be one `x` value for each sample point: got x of shape "
            f"{list(x.shape)} for y of shape {list(y.shape)} along dimension {axis}"
        )
    return x
