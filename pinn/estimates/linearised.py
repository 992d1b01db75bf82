"""The linearised problem of an error, R'(u) e = -R(u), as least squares with a ridge."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

import numpy as np

from pinn.estimates.differences import rms
from pinn.objective import Objective

# Of each block that has more than a few rows, one row in so many is held back from the fit.
_HELD, _FEW = 5, 10
# From the largest, all as shares of what a column is seen by. Below the least rounding decides.
_RIDGES = tuple(10.0**-k for k in range(1, 12, 2))
# A residual this small beside that of another block, both in units of their slopes, is nothing.
_NOTHING = 1e-6
# A number that the residual sees less than this, beside the others, as that of a saturated unit, is
# not moved further for it.
_SEEN = 1e-3
# A row that decides on its own fit says nothing of chance: this much of it counts at least.
_OWN = 1e-3
# Numbers of a chunk of the Jacobian.
_CHUNK = 2**23


class Linearised:
    """|r + J p|^2 + ridge |D p|^2 over the rows of an objective at its theta, scaled.

    columns: the numbers of theta that may move, in order. scale: what the weighted rows of the
    objective are multiplied by, (rows,), so that the residual of each block has the size 1, unless
    that is next to nothing beside its slopes; `rows` are the scaled ones. D holds the norms of the
    columns of J, of the numbers of each of `networks` at least a small part of their mean. One row
    in five of each block takes no part in the fit; `held` tells which.
    """

    def __init__(
        self, objective: Objective, columns: np.ndarray, networks: Iterable[np.ndarray] = ()
    ) -> None:
        self._size, self._columns = objective.size, columns
        rows, jacobian = self._slopes_of(objective)
        self.scale = _scale(objective, rows, jacobian)
        self.rows = self.scale * rows
        jacobian *= self.scale[:, None]
        norms = np.linalg.norm(jacobian, axis=0)
        for network in networks:
            own = np.isin(columns, network)
            norms[own] = np.maximum(norms[own], _SEEN * rms(norms[own]))
        self._norms = norms
        self._norms[self._norms == 0] = 1.0
        jacobian /= self._norms
        self.held = _held_back(objective)
        self._fitted, self._apart = jacobian[~self.held], jacobian[self.held]
        self._gram = self._fitted.T @ self._fitted

    @property
    def is_finite(self) -> bool:
        """Whether all residuals and slopes are finite."""
        return bool(np.isfinite(self.rows).all() and np.isfinite(self._gram).all())

    def solvers(self) -> Iterator[Ridge]:
        """Yield what solves with each ridge, the largest first."""
        for ridge in _RIDGES:
            yield self.solver(ridge, np.arange(len(self._columns)))

    def solver(self, ridge: float, among: np.ndarray) -> Ridge:
        """Return what solves with a ridge, by some of the columns alone; among: their indices."""
        from scipy.linalg import cholesky

        shifted = self._gram[np.ix_(among, among)]
        shifted[np.diag_indices(len(shifted))] += ridge
        return Ridge(self, ridge, cholesky(shifted, overwrite_a=True), among)

    def hold_back(self, objective: Objective) -> None:
        """Take what is held back from another objective, of the same rows with other nodes."""
        _, jacobian = self._slopes_of(objective)
        self._apart = (self.scale[:, None] * jacobian / self._norms)[self.held]

    def _slopes_of(self, objective: Objective) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows of an objective and their slopes in the numbers that move."""
        chunks = objective.jacobian_chunks(objective.theta, max(1, _CHUNK // objective.size))
        pairs = [(rows, jacobian[:, self._columns]) for rows, jacobian in chunks]
        rows = np.concatenate([rows for rows, _ in pairs]).astype(np.float64)
        return rows, np.concatenate([one for _, one in pairs]).astype(np.float64)

    def triangle(self, tiny: float) -> np.ndarray:
        """Return the upper R, (P, P), with |R p|^2 = |J p|^2 + |tiny p|^2 for the rows of the fit.

        By orthogonal transformations, which keep what J's product with itself rounds away: how
        little J p may be.
        """
        from scipy.linalg import qr

        count = self._fitted.shape[1]
        stacked = np.vstack([self._fitted, tiny * np.eye(count)])
        return qr(stacked, mode="r", overwrite_a=True, check_finite=False)[0][:count]

    def changes(self, p: np.ndarray) -> tuple[float, float]:
        """Return |J p| for p (P,): of the rows of the fit, and of those that were held back."""
        return float(np.linalg.norm(self._fitted @ p)), float(np.linalg.norm(self._apart @ p))

    def scaled(self, slope: np.ndarray) -> np.ndarray:
        """Return a slope in all numbers, (size,), as one in the scaled p, (P,)."""
        return slope[self._columns] / self._norms

    def moved(self, direction: np.ndarray) -> np.ndarray:
        """Return the scaled p, (P,), of a direction in all numbers, (size,)."""
        return direction[self._columns] * self._norms

    def _solved(self, rows: np.ndarray, upper: np.ndarray, among: np.ndarray) -> np.ndarray:
        from scipy.linalg import cho_solve

        direction = np.zeros(self._size)
        found = cho_solve((upper, False), -(self._fitted.T @ rows[~self.held])[among])
        direction[self._columns[among]] = found / self._norms[among]
        return direction


class Ridge:
    """The linearised problem with one ridge, factorised."""

    def __init__(
        self, problem: Linearised, ridge: float, upper: np.ndarray, among: np.ndarray
    ) -> None:
        self._problem, self._upper, self._among = problem, upper, among
        self.ridge = ridge

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        """Return the direction p, (size,), that makes rows + J p small, for rows (rows,)."""
        return self._problem._solved(rows, self._upper, self._among)

    def scatter(self, slopes: Sequence[np.ndarray], after: np.ndarray) -> list[float]:
        """Return how far chance in the rows of the fit has moved some values through p, by group.

        slopes: of the values of each group in the scaled p, (values, P). after: what p leaves of
        all rows, (rows,). It is the root of the sum of the values' variances, to which each row
        adds its own square over one minus its leverage (HC2 of MacKinnon and White, J.
        Econometrics 29 (1985)).
        """
        from scipy.linalg import cho_solve

        fitted = self._problem._fitted[:, self._among]
        deviations = np.sqrt(np.square(after[~self._problem.held]) / self._free)
        found = []
        for group in slopes:
            by_row = fitted @ cho_solve((self._upper, False), group.T[self._among])
            found.append(float(np.linalg.norm(by_row * deviations[:, None])))
        return found

    @cached_property
    def _free(self) -> np.ndarray:
        """One minus the leverage of each row of the fit, (rows of the fit,)."""
        from scipy.linalg import solve_triangular

        fitted = self._problem._fitted[:, self._among]
        leverage = solve_triangular(self._upper, fitted.T, trans="T", check_finite=False)
        return np.maximum(1 - np.square(leverage).sum(axis=0), _OWN)


def _scale(objective: Objective, rows: np.ndarray, jacobian: np.ndarray) -> np.ndarray:
    """Return what each row is multiplied by, (rows,)."""
    ends = np.cumsum([block.rows for block in objective.blocks])[:-1]
    sizes = np.array([np.linalg.norm(part) for part in np.split(rows, ends)])
    slopes = np.array([_usual_slope(part) for part in np.split(jacobian, ends)])
    slopes = np.where(slopes > 0, slopes, 1.0)
    shares = sizes / slopes
    least = max(_NOTHING * float(shares.max()), np.finfo(float).tiny)
    scales = 1 / (np.maximum(shares, least) * slopes)
    return np.repeat(scales, [block.rows for block in objective.blocks])


def _usual_slope(jacobian: np.ndarray) -> float:
    """Return the size of what moves a block, by the half of the numbers that move it less.

    Those that move it most, as features steep in a layer do, say nothing of an error.
    """
    columns = np.linalg.norm(jacobian, axis=0)
    columns = columns[columns > 0]
    return float(np.median(columns) * np.sqrt(len(columns))) if len(columns) else 0.0


def _held_back(objective: Objective) -> np.ndarray:
    """Return which rows are held back, (rows,)."""
    held = np.zeros(objective.rows, dtype=bool)
    start = 0
    for block in objective.blocks:
        if block.rows > _FEW:
            held[start + _HELD - 1 : start + block.rows : _HELD] = True
        start += block.rows
    return held
