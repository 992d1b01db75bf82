"""Fractional powers of the Laplacian on intervals and balls: exact along every chord.

On -1 < y < 1 what leaves the ends as the theory says, like distance^s times a smooth function
(Ros-Oton and Serra, J. Math. Pures Appl. 101, 2014), is a sum of eigenfunctions up to that power,

    (-d^2/dy^2)^s [(1 - y^2)^s P_n(y)] = G(2 s + n + 1) / n! P_n(y),    -1 < y < 1,

P_n the Jacobi polynomials of the weight (1 - y^2)^s, 0 outside (Acosta, Borthagaray, Bruno and
Maas, Math. Comp. 87 (2018) 1821, theorem 3.14). So with u at the N Gauss-Legendre nodes of a chord
of half length L, u / (1 - y^2)^s interpolated there by a polynomial, the power along the chord is

    L^(-2 s) sum_j K_j(xi) u(y_j),   K_j a polynomial, xi the place of x on the chord:

exact where u is (1 - y^2)^s times a polynomial of degree N - 1, spectral where that is smooth. The
chord in direction theta through a point of a ball ends on the sphere; directions are averaged as in
pinn.equations.fractional.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

import autograd as T
from pinn.equations.axes import Axes, Axis, Nodes, Sum, gauss_legendre, next_level
from pinn.equations.fractional import OfOrder, Region, Scale, sphere
from pinn.expressions import Expression, Number, algebra

DEFAULT_NODES = 20
# Directions: of a half circle's angle; of the polar angle, with twice as many around it.
DEFAULT_DIRECTIONS = {1: 1, 2: 8, 3: 4}
# Chebyshev polynomials in the order, which is from 0 to 2; the nearest pole is at -1.
_TERMS = 28


@dataclass(frozen=True, eq=False, repr=False)
class Kernel(OfOrder):
    """d^order/dxi^order of K_j(xi), with the nodes j along the axis of a level."""

    place: Expression
    level: int
    count: int
    order: int = 0

    @property
    def children(self) -> tuple[Expression, ...]:
        return (self.alpha, self.place)

    @property
    def label(self) -> tuple[int, int, int]:
        return (self.level, self.count, self.order)

    @classmethod
    def build(
        cls, label: Sequence[Any], children: Sequence[Expression], position: int, source: str
    ) -> Kernel:
        return cls(*children, *label, position=position, source=source)

    def pieces(self) -> list[str | Expression]:
        return [f"kernel{self.level}(", self.alpha, ", ", self.place, f", nodes={self.count})"]

    def slope(self, inner: Sequence[Expression]) -> Expression:
        return algebra.multiply(replace(self, order=self.order + 1), inner[1], self)

    def value(self, axes: Axes, children: Sequence[Any]) -> Any:
        alpha, xi = children
        rows = self._rows(axes, alpha)
        total = rows[0] + 0.0 * xi
        below, here = 1.0, xi
        for n, row in enumerate(rows[1:], 1):
            total = total + row * here
            below, here = here, ((2 * n + 1) * xi * here - n * below) / (n + 1)
        return total

    def _rows(self, axes: Axes, alpha: Any) -> list[Any]:
        """Return the Legendre coefficients of the kernels, along the axis each."""
        if not isinstance(alpha, T.Tensor):
            return [axes.along(self.level, row) for row in coefficients(alpha, self.count,
                                                                        self.order)]
        like = axes.along(self.level, np.zeros(self.count))
        table = T.tensor(_table(self.count, self.order), dtype=like.dtype, device=like.device)
        z = alpha - 1.0
        below, here = 1.0, z
        total = table[0] + table[1] * z
        for row in range(2, _TERMS):
            below, here = here, 2.0 * z * here - below
            total = total + table[row] * here
        rows = total.reshape(-1, *like.shape)
        return [rows[n] for n in range(self.count)]


def coefficients(alpha: float, count: int, order: int = 0) -> np.ndarray:
    """Return (degrees, count): the Legendre coefficients of each K_j, or of its derivatives."""
    from scipy.special import eval_jacobi, gammaln

    s, n = alpha / 2, np.arange(count)
    y = 2 * gauss_legendre(count)[0] - 1
    # Normalised, so that their values at the nodes are a well-conditioned matrix.
    log_size = gammaln(n + s + 1) - 0.5 * (gammaln(n + 2 * s + 1) + gammaln(n + 1))
    size = np.exp(log_size) * np.sqrt(2 ** (2 * s + 1) / (2 * n + 2 * s + 1))
    values = eval_jacobi(n, s, s, y[:, None]) / size
    eigenvalues = np.exp(gammaln(alpha + n + 1) - gammaln(n + 1))
    applied = (values * eigenvalues) @ np.linalg.inv(values) / (1 - y**2) ** s
    legendre = np.polynomial.legendre.legvander(y, count - 1)
    weights = (2 * gauss_legendre(count)[1])[:, None]
    found = (n + 0.5)[:, None] * (legendre.T @ (weights * applied))
    for _ in range(order):
        found = np.pad(np.polynomial.legendre.legder(found, axis=0), ((0, 1), (0, 0)))[:count]
    return found


@lru_cache(maxsize=16)
def _table(count: int, order: int) -> np.ndarray:
    """Return (terms, degrees * count): the coefficients as Chebyshev sums in alpha - 1."""
    angles = np.pi * (np.arange(_TERMS) + 0.5) / _TERMS
    found = np.stack([coefficients(1 + math.cos(angle), count, order) for angle in angles])
    basis = np.cos(np.outer(np.arange(_TERMS), angles)) * (2 / _TERMS)
    basis[0] /= 2
    return basis @ found.reshape(_TERMS, -1)


Elsewhere = Callable[[dict[str, Expression]], Expression]


def power_along_chords(
    operand: Expression,
    alpha: Expression,
    space: Sequence[str],
    region: Region,
    nodes: int,
    directions: int,
    elsewhere: Elsewhere,
) -> Expression | None:
    """Return (-laplacian)^(alpha/2) of an expression that counts as 0 outside of a region.

    nodes: on each chord. directions: as DEFAULT_DIRECTIONS says. elsewhere: the operand with
    coordinates replaced. None for a region whose chords have no formula.
    """
    thetas, weights = lines(len(space), directions)
    found = _along(operand, alpha, space, region, nodes, thetas, elsewhere)
    if found is None or len(space) == 1:
        return found
    level = next_level(found)
    total = Sum(level, algebra.multiply(Axis.of(level, weights), found))
    return algebra.multiply(Scale(alpha, None, len(space)), total)


def riemann_liouville_along_chords(
    operand: Expression,
    alpha: Expression,
    coordinate: str,
    space: Sequence[str],
    region: Region,
    nodes: int,
    elsewhere: Elsewhere,
) -> Expression | None:
    """Return left plus right Riemann-Liouville derivative of order alpha along a coordinate.

    None for a region whose chords have no formula.
    """
    along = np.array([[float(name == coordinate) for name in space]])
    found = _along(operand, alpha, space, region, nodes, along, elsewhere)
    if found is None:
        return None
    half_turn = algebra.multiply(Number(math.pi / 2), alpha)
    return algebra.multiply(algebra.multiply(Number(2.0), algebra.apply("cos", half_turn)), found)


def _along(
    operand: Expression,
    alpha: Expression,
    space: Sequence[str],
    region: Region,
    nodes: int,
    thetas: np.ndarray,
    elsewhere: Elsewhere,
) -> Expression | None:
    """Return the power along each direction, these on the level after the nodes'."""
    level = next_level(operand)
    if len(thetas) == 1:
        direction = {n: algebra.number(float(c)) for n, c in zip(space, thetas[0], strict=True)}
    else:
        direction = {n: Axis.of(level + 1, c) for n, c in zip(space, thetas.T, strict=True)}
    chord = region.chord(direction)
    if chord is None:
        return None
    along = algebra.multiply(chord.half, Nodes(level, nodes, algebra.number(-1.0), Number(1.0)))
    places = {
        name: algebra.add(middle, algebra.multiply(direction[name], along))
        for name, middle in chord.middle.items()
    }
    terms = algebra.multiply(Kernel(alpha, chord.place, level, nodes), elsewhere(places))
    return algebra.multiply(algebra.power(chord.half, algebra.negate(alpha)), Sum(level, terms))


def lines(dimension: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return one direction (m, d) of each line of `sphere`, and weights whose sum is the area."""
    thetas, weights = sphere(dimension, count)
    # The first component, from the last, that is not 0 tells which of two opposite ones it is.
    last = thetas[:, ::-1] * (np.abs(thetas[:, ::-1]) > 1e-12)
    first = last[np.arange(len(last)), np.argmax(last != 0, axis=1)]
    return thetas[first > 0], 2 * weights[first > 0]
