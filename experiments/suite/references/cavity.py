"""The lid-driven cavity: a stream function in Legendre polynomials, by Newton's method."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import comb

import numpy as np
from numpy.polynomial import legendre

from experiments.case import Reference, disagreement
from experiments.stored import stored

# Derivatives of the stream function along x and y that the equations ask for.
_ORDERS = [(0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 2)]
# Reynolds numbers before the last one: each flow starts the next.
_BEFORE = (20.0,)
_SETTLED, _STEPS = 1e-11, 12

Flow = Callable[[np.ndarray, np.ndarray], dict[str, np.ndarray]]
"""(x, y) -> u, v and p."""


@stored
def smooth_cavity() -> Reference:
    """The cavity at Reynolds number 100 under the lid 16 x^2 (1 - x)^2, p = 0 at the origin."""
    return _reference("smooth")


@stored
def parabolic_cavity() -> Reference:
    """The cavity at Reynolds number 100 under the lid 4 x (1 - x), p = 0 at the origin."""
    return _reference("parabola")


def _reference(lid: str) -> Reference:
    x = (np.arange(64) + 0.5) / 64
    x, y = (grid.ravel() for grid in np.meshgrid(x, x, indexing="ij"))
    coarse, fine = (cavity_field(lid, modes=modes)(x, y) for modes in (32, 42))
    method = "Legendre polynomials, Newton's method"
    return Reference({"x": x, "y": y}, fine, disagreement(coarse, fine), method)


@lru_cache
def cavity_field(lid: str, reynolds: float = 100.0, modes: int = 36) -> Flow:
    """Return (x, y) -> u, v, p of the steady flow in the unit square, p = 0 at the origin.

    lid: "smooth" moves with 16 x^2 (1 - x)^2, "parabola" with 4 x (1 - x). The stream function is
    that of the lid and a sum of products of `modes` polynomials that vanish with their slopes at
    the ends (Shen, SIAM J. Sci. Comput. 15 (1994) 1489), made to satisfy nu lap^2 psi = psi_y lap
    psi_x - psi_x lap psi_y in the mean over each product (Galerkin's method).

    A parabola has a slope where it meets the walls, which are at rest. There psi is r^2 times a
    function of the angle, and p is log(r) to leading order; both are part of the lid's function.
    Raises RuntimeError where Newton's method does not settle.
    """
    lift = {"smooth": _Smooth, "parabola": _Parabola}[lid]()
    grid = _Grid(modes, lift)
    coefficients = np.zeros((modes, modes))
    for number in (*(n for n in _BEFORE if n < reynolds), reynolds):
        coefficients = _newton(grid, coefficients, 1 / number)
    pressure = _pressure(grid, coefficients, 1 / reynolds)

    def flow(x: np.ndarray, y: np.ndarray) -> dict[str, np.ndarray]:
        x, y = np.broadcast_arrays(x, y)
        shape, x, y = x.shape, np.ravel(x), np.ravel(y)
        along_x, along_y = _clamped(modes, x), _clamped(modes, y)
        slopes = [
            np.einsum("ni,ij,nj->n", along_x[m], coefficients, along_y[n]) + lift(x, y, m, n)
            for m, n in ((0, 1), (1, 0))
        ]
        values = {"u": slopes[0], "v": -slopes[1], "p": pressure(x, y)}
        return {name: value.reshape(shape) for name, value in values.items()}

    return flow


class _Smooth:
    """A stream function that has the smooth lid's slope at y = 1 and is clamped elsewhere.

    jump: lap psi is jump times the angle from the lid next to its corners, but for a constant.
    """

    jump = 0.0

    def __call__(self, x: np.ndarray, y: np.ndarray, m: int, n: int) -> np.ndarray:
        """Return its derivative of order m along x and n along y."""
        along = np.polynomial.Polynomial([0, 0, 16, -32, 16]).deriv(m)
        across = np.polynomial.Polynomial([0, 0, -1, 1]).deriv(n)
        return along(x) * across(y)


class _Parabola:
    """The same for the parabola: at each upper corner the flow of a lid that slides away from it.

    With d the distance from the lid and s that from the wall, r^2 = s^2 + d^2 and the angle from
    the lid, psi = 2 a d^2 + b s d + c r^2 angle is biharmonic, at rest on the wall, and moves with
    4 s on the lid. It is faded out before the other sides, which adds to the lid what _Smooth takes
    away.
    """

    a, b, c = np.pi / 2, -2.0, -2.0
    jump = 4 * c

    def __call__(self, x: np.ndarray, y: np.ndarray, m: int, n: int) -> np.ndarray:
        left = self._corner(x, 1 - y, m, n)
        right = self._corner(1 - x, 1 - y, m, n)
        return (-1) ** n * (left + (-1) ** m * right) - _Smooth()(x, y, m, n)

    def _corner(self, s: np.ndarray, d: np.ndarray, m: int, n: int) -> np.ndarray:
        fade = np.polynomial.Polynomial([1, 0, -3, 2])  # 1 with no slope at 0, 0 with none at 1
        total = np.zeros(np.broadcast_shapes(s.shape, d.shape))
        for i in range(m + 1):
            for j in range(n + 1):
                count = comb(m, i) * comb(n, j)
                outer = fade.deriv(m - i)(s) * fade.deriv(n - j)(d)
                total = total + count * outer * self._sliding(s, d, i, j)
        return total

    def _sliding(self, s: np.ndarray, d: np.ndarray, i: int, j: int) -> np.ndarray:
        """Return the derivative of order i along s and j along d."""
        a, b, c = self.a, self.b, self.c
        angle, r2 = np.arctan2(d, s), np.maximum(s**2 + d**2, 1e-300)
        return {
            (0, 0): 2 * a * d**2 + b * s * d + c * r2 * angle,
            (1, 0): b * d + c * (2 * s * angle - d),
            (0, 1): 4 * a * d + b * s + c * (2 * d * angle + s),
            (2, 0): c * (2 * angle - 2 * s * d / r2),
            (1, 1): b + c * (s**2 - d**2) / r2,
            (0, 2): 4 * a + c * (2 * angle + 2 * s * d / r2),
        }[i, j]


def _clamped(modes: int, x: np.ndarray) -> list[np.ndarray]:
    """Return polynomials that vanish with their slopes at 0 and 1, and two derivatives, (n, modes).

    Their second derivatives are orthonormal.
    """
    k = np.arange(modes)
    matrix = np.zeros((modes + 4, modes))
    matrix[k, k] = 1
    matrix[k + 2, k] = -2 * (2 * k + 5) / (2 * k + 7)
    matrix[k + 4, k] = (2 * k + 3) / (2 * k + 7)
    # On [-1, 1] the norm of the second derivative is (2 k + 3)^2 (2 k + 5) 2.
    matrix /= (2 * k + 3) * np.sqrt(2 * (2 * k + 5)) * 2**1.5
    parts, z = [], 2 * x - 1
    for order in range(3):
        parts.append(2**order * legendre.legval(z, legendre.legder(matrix, order)).T)
    return parts


class _Grid:
    """Gauss-Legendre points, what the basis is there, and the lid's function."""

    def __init__(self, modes: int, lift: _Smooth | _Parabola) -> None:
        self.modes, self.lift = modes, lift
        z, w = legendre.leggauss(modes + modes // 2 + 8)
        self.x, w = (z + 1) / 2, w / 2
        self.weights = w[:, None] * w
        self.one = _clamped(modes, self.x)
        self.shown = {(m, n): np.einsum("pi,qj->pqij", self.one[m], self.one[n]).reshape(
            len(w) ** 2, -1) for m, n in _ORDERS[1:]}
        x, y = self.x[:, None], self.x[None, :]
        self.lifted = {(m, n): lift(x, y, m, n) for m, n in _ORDERS}

    def derivatives(self, coefficients: np.ndarray) -> dict[tuple[int, int], np.ndarray]:
        """Return the stream function's derivatives at the points by order along x and y."""
        return {
            (m, n): self.one[m] @ coefficients @ self.one[n].T + self.lifted[m, n]
            for m, n in _ORDERS
        }


def _newton(grid: _Grid, coefficients: np.ndarray, nu: float) -> np.ndarray:
    """Return the coefficients of the flow with this viscosity."""
    shown = grid.shown
    curl = shown[2, 0] + shown[0, 2]
    weights = grid.weights.ravel()[:, None]
    stiff = nu * curl.T @ (weights * curl)
    for _ in range(_STEPS):
        psi = {key: value.ravel()[:, None] for key, value in grid.derivatives(coefficients).items()}
        vorticity = psi[2, 0] + psi[0, 2]
        moved = weights * (psi[0, 1] * shown[1, 0] - psi[1, 0] * shown[0, 1])
        residual = (nu * weights * curl + moved).T @ vorticity
        turned = shown[1, 0].T @ (weights * vorticity * shown[0, 1])
        jacobian = stiff + moved.T @ curl + turned - turned.T
        change = np.linalg.solve(jacobian, residual[:, 0]).reshape(coefficients.shape)
        coefficients = coefficients - change
        if np.abs(change).max() < _SETTLED * np.abs(coefficients).max():
            return coefficients
    raise RuntimeError(f"cavity: Newton's method did not settle in {_STEPS} steps, nu = {nu:.3g}")


def _pressure(grid: _Grid, coefficients: np.ndarray, nu: float) -> Callable:
    """Return (x, y) -> p, the potential of nu lap u - (u grad) u in the mean over polynomials.

    Of lap u = (w_y, -w_x) the mean over grad q is what w, the vorticity, gives on the boundary, but
    for the corners' part, whose potential is known: -nu jump log r.
    """
    modes, lift, x = grid.modes, grid.lift, grid.x
    psi = grid.derivatives(coefficients)
    u, v = psi[0, 1], -psi[1, 0]
    force = -(u * psi[1, 1] + v * psi[0, 2]), u * psi[2, 0] + v * psi[1, 1]
    z = 2 * x - 1
    value = legendre.legvander(z, modes)
    identity = np.eye(modes + 1)
    slope = 2 * legendre.legval(z, legendre.legder(identity)).T
    ends = legendre.legvander(np.array([-1.0, 1.0]), modes)
    weights = np.diag(grid.weights) ** 0.5
    right = np.einsum("pq,pi,qj->ij", grid.weights * force[0], slope, value)
    right += np.einsum("pq,pi,qj->ij", grid.weights * force[1], value, slope)
    for index, (side, sign) in enumerate(((0.0, 1), (1.0, -1))):
        # w dx along y = 0 and against y = 1; w dy along x = 1 and against x = 0.
        low, along = np.array([side]), weights * sign
        total = _rest(grid, coefficients, x[:, None], low)[:, 0]
        right += nu * np.outer(slope.T @ (along * total), ends[index]) * -1
        total = _rest(grid, coefficients, low[:, None], x)[0]
        right += nu * np.outer(ends[index], slope.T @ (along * total))
    mass = (value * weights[:, None]).T @ value
    stiff = (slope * weights[:, None]).T @ slope
    # p = sum over eigenvectors of stiff against mass; the constant is free.
    scale = 1 / np.sqrt(np.diag(mass))
    rates, vectors = np.linalg.eigh(scale[:, None] * stiff * scale)
    vectors = scale[:, None] * vectors
    rates = np.abs(rates[:, None] + rates)
    rates[0, 0] = np.inf
    found = vectors @ ((vectors.T @ right @ vectors) / rates) @ vectors.T

    def pressure(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return known(x, y) - known(np.zeros(1), np.zeros(1))

    def known(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        total = legendre.legval2d(2 * x - 1, 2 * y - 1, found)
        if lift.jump:
            d2 = (1 - y) ** 2
            left, right = (np.log(np.maximum(s**2 + d2, 1e-300)) for s in (x, 1 - x))
            total = total - nu * lift.jump / 2 * (left - right)
        return total

    return pressure


def _rest(grid: _Grid, coefficients: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the vorticity on a product of points, without the corners' leading part."""
    lift = grid.lift
    along_x, along_y = _clamped(grid.modes, x.ravel()), _clamped(grid.modes, y.ravel())
    y = y.reshape(1, -1)
    total = along_x[2] @ coefficients @ along_y[0].T + along_x[0] @ coefficients @ along_y[2].T
    total = total + lift(x, y, 2, 0) + lift(x, y, 0, 2)
    if lift.jump:
        for s in (x, 1 - x):
            total = total - lift.jump * np.arctan2(1 - y, s)
    return total
