"""Fractional powers of the Laplacian, and Riemann-Liouville derivatives, of what is 0 outside.

Along a line of direction theta the fractional power of -d^2/ds^2 is a sum over equal steps h,

    (-d^2/ds^2)^(a/2) u = h^-a sum_k g_k u(x + k h theta) + O(h^2),    k = ..., -1, 0, 1, ...
    g_0 = G(a + 1) / G(a/2 + 1)^2,    g_k+1 = g_k (k - a/2) / (k + 1 + a/2),    g_-k = g_k,

the centred form of the sums of Gruenwald and Letnikov (Ortigueira, Int. J. Math. Math. Sci. 2006,
eq. 3.1; Celik and Duman, J. Comput. Phys. 231, 2012). The mean over all directions, weighted, is
the Laplacian's power: since the symbol of the former is |xi . theta|^a,

    (-laplacian)^(a/2) u = K integral over directions of (-d^2/ds^2)^(a/2) u,
    K = G((d + a)/2) / (2 pi^((d - 1)/2) G((1 + a)/2)).

On a line the left and the right Riemann-Liouville derivative add up to 2 cos(pi a/2) times it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

import autograd as T
from autograd.devices import CPU, device_of, put
from autograd.ops.pointwise import pointwise
from pinn.equations.axes import Axes, Axis, Computed, Sum, next_level, substituted
from pinn.equations.leaves import Coordinate
from pinn.expressions import Expression, Number, algebra

DEFAULT_STEPS, MOST_STEPS = 100, 10_000
# Directions: of a half circle's angle; of the polar angle, with twice as many around it.
DEFAULT_DIRECTIONS = {1: 1, 2: 16, 3: 6}
MOST_DIRECTIONS = 1000


@dataclass(frozen=True)
class Chord:
    """Where a line through the points meets a region.

    middle: coordinate -> its value in the middle of the chord. half: half its length. place: where
    on it the points are, from -1 to 1.
    """

    middle: Mapping[str, Expression]
    half: Expression
    place: Expression


class Region(Protocol):
    """What is known of the domain in space."""

    def chord(self, direction: Mapping[str, Expression]) -> Chord | None:
        """Return the chord in a direction (coordinate -> component), None without a formula."""

    def inside_function(self) -> Expression:
        """Return a formula that is positive inside and negative outside."""

    def reach(self, direction: np.ndarray) -> float:
        """Return the largest direction . point."""


class _LogGamma:
    """log G and its derivatives."""

    def values(self, xp: Any, xs: tuple[Any, ...], orders: tuple[int, ...]) -> Any:
        from scipy import special

        (x,), (order,) = xs, orders
        host = put(x, CPU)  # a few numbers, and not every device has polygamma
        found = special.gammaln(host) if order == 0 else special.polygamma(order - 1, host)
        return put(np.asarray(found, dtype=host.dtype).reshape(host.shape), device_of(x))


_LOG_GAMMA = _LogGamma()


def _log_gamma(x: Any) -> Any:
    return pointwise(_LOG_GAMMA, x) if isinstance(x, T.Tensor) else math.lgamma(x)


def _exp(x: Any) -> Any:
    return T.exp(x) if isinstance(x, T.Tensor) else math.exp(x)


@dataclass(frozen=True, eq=False, repr=False)
class OfOrder(Computed):
    """A number that the order alpha determines; it takes no part in derivatives in space."""

    alpha: Expression

    @property
    def children(self) -> tuple[Expression, ...]:
        return (self.alpha,)

    def slope(self, inner: Sequence[Expression]) -> Expression:
        """Return the derivative, given those of the children, where the order has none."""
        return algebra.ZERO


@dataclass(frozen=True, eq=False, repr=False)
class Scale(OfOrder):
    """h^-alpha K g_0: what all terms are multiplied by; K is 1 along a single line.

    step: h; None for K alone.
    """

    step: float | None
    dimension: int

    @property
    def label(self) -> tuple[float | None, int]:
        return (self.step, self.dimension)

    @classmethod
    def build(
        cls, label: Sequence[Any], children: Sequence[Expression], position: int, source: str
    ) -> Scale:
        return cls(*children, *label, position=position, source=source)

    def pieces(self) -> list[str | Expression]:
        return ["scale(", self.alpha, ")"]

    def value(self, axes: Axes, children: Sequence[Any]) -> Any:
        (alpha,) = children
        d = self.dimension
        exponent = 0.0
        if self.step is not None:
            exponent = (
                _log_gamma(alpha + 1) - 2 * _log_gamma(alpha / 2 + 1) - alpha * math.log(self.step)
            )
        if d:
            exponent = exponent + _log_gamma((d + alpha) / 2) - _log_gamma((1 + alpha) / 2)
            exponent = exponent - math.log(2 * math.pi ** ((d - 1) / 2))
        return _exp(exponent)


@dataclass(frozen=True, eq=False, repr=False)
class Weights(OfOrder):
    """g_k / g_0 for k = 1, 2, ..., along the axis of a level."""

    level: int
    steps: int

    @property
    def label(self) -> tuple[int, int]:
        return (self.level, self.steps)

    @classmethod
    def build(
        cls, label: Sequence[Any], children: Sequence[Expression], position: int, source: str
    ) -> Weights:
        return cls(*children, *label, position=position, source=source)

    def pieces(self) -> list[str | Expression]:
        return [f"weights{self.level}(", self.alpha, ")"]

    def value(self, axes: Axes, children: Sequence[Any]) -> Any:
        half = children[0] / 2
        k = np.arange(self.steps, dtype=np.float64)
        if isinstance(half, float):
            return axes.along(self.level, np.cumprod((k - half) / (k + 1 + half)))
        k = axes.along(self.level, k)
        return axes.running_product(self.level, (k - half) / (k + 1 + half))


Elsewhere = Callable[[dict[str, Expression]], Expression]


def power_of_laplacian(
    operand: Expression,
    alpha: Expression,
    space: Sequence[str],
    region: Region,
    steps: int,
    directions: int,
    elsewhere: Elsewhere,
) -> Expression:
    """Return (-laplacian)^(alpha/2) of an expression that counts as 0 outside of a region.

    steps: of equal length across the region's width. directions: as DEFAULT_DIRECTIONS says.
    elsewhere: the operand with coordinates replaced.
    """
    thetas, weights = sphere(len(space), directions)
    level = next_level(operand)
    total, step = _line_sums(operand, alpha, space, region, steps, thetas, level, elsewhere)
    summed = Sum(level + 1, algebra.multiply(Axis.of(level + 1, weights), total))
    area = Number(float(weights.sum()))
    inner = algebra.add(
        algebra.multiply(area, operand), algebra.multiply(Number(2.0), summed)
    )
    return algebra.multiply(Scale(alpha, step, len(space)), inner)


def riemann_liouville(
    operand: Expression,
    alpha: Expression,
    coordinate: str,
    space: Sequence[str],
    region: Region,
    steps: int,
    elsewhere: Elsewhere,
) -> Expression:
    """Return left plus right Riemann-Liouville derivative of order alpha along a coordinate."""
    along = np.array([[float(name == coordinate) for name in space]])
    thetas = np.concatenate([along, -along])
    level = next_level(operand)
    total, step = _line_sums(operand, alpha, space, region, steps, thetas, level, elsewhere)
    both = algebra.add(operand, Sum(level + 1, algebra.multiply(Axis.of(level + 1, [1, 1]), total)))
    half_turn = algebra.multiply(Number(math.pi / 2), alpha)
    factor = algebra.multiply(Number(2.0), algebra.apply("cos", half_turn))
    return algebra.multiply(algebra.multiply(factor, Scale(alpha, step, 0)), both)


def _line_sums(
    operand: Expression,
    alpha: Expression,
    space: Sequence[str],
    region: Region,
    steps: int,
    thetas: np.ndarray,
    level: int,
    elsewhere: Elsewhere,
) -> tuple[Expression, float]:
    """Return sum_k>0 g_k/g_0 u(x + k h theta) with the directions on the next level, and h."""
    width = max(region.reach(theta) + region.reach(-theta) for theta in thetas)
    step = width / steps
    lengths = Axis.of(level, step * np.arange(1, steps + 1))
    offsets = {
        name: algebra.multiply(lengths, Axis.of(level + 1, thetas[:, j]))
        for j, name in enumerate(space)
        if np.any(thetas[:, j])
    }
    shape = region.inside_function()

    def moved(factor: Callable[[Expression], Expression]) -> dict[str, Expression]:
        return {name: algebra.add(Coordinate(name), factor(o)) for name, o in offsets.items()}

    outer = {Coordinate(name): place for name, place in moved(lambda offset: offset).items()}
    inside = substituted(shape, outer)

    def kept(value: Expression) -> Expression:
        return algebra.where(">", inside, algebra.ZERO, value, algebra.ZERO)

    # Where the sum is outside it stays at x: the operand need not have a value there.
    terms = kept(elsewhere(moved(kept)))
    return Sum(level, algebra.multiply(Weights(alpha, level, steps), terms)), step


def sphere(dimension: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return directions (m, d) and weights whose sum is the area of the unit sphere.

    One dimension: both. Two: 2 count equal angles. Three: count Gauss-Legendre nodes in the cosine
    of the polar angle, with 2 count equal angles each: exact for polynomials of degree 2 count - 1.
    """
    if dimension == 1:
        return np.array([[1.0], [-1.0]]), np.ones(2)
    angles = np.pi * (np.arange(2 * count) + 0.5) / count
    circle = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    if dimension == 2:
        return circle, np.full(2 * count, np.pi / count)
    heights, weights = np.polynomial.legendre.leggauss(count)
    radii = np.sqrt(1 - heights**2)
    up = np.broadcast_to(heights[:, None, None], (count, 2 * count, 1))
    around = np.concatenate([radii[:, None, None] * circle, up], axis=2)
    return around.reshape(-1, 3), np.repeat(weights * np.pi / count, 2 * count)
