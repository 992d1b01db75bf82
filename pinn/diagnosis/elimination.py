"""The network's part of a trained problem's linearised least squares, for a few right-hand sides.

With J_n the Jacobian of the weighted rows in the numbers of the networks, and D a diagonal,

    H = J_n^T J_n + D^2,    X = H^-1 J_n^T b,    b - J_n X: what the networks cannot follow.

X comes from conjugate gradients whose products J_n v and J_n^T z are sweeps of the recorded step,
so that nothing is squared in b - J_n X itself (Bjoerck, Numerical Methods for Least Squares
Problems, 1996, sections 2.5 and 7.4). Up to MOST_DENSE numbers they are preconditioned by the
Cholesky factor of H, and end after a few steps; beyond by its diagonal, and take some hundred. H is
summed over chunks of rows by one symmetric product each. Where rounding decides (D^2 below the
rounding of H) the factor is that of H plus a shift, and a second pass over the rows divided by it
gives the rest (Fukaya et al., SIAM J. Sci. Comput. 42 (2020) A477).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator

import numpy as np

from pinn.objective import Block, Objective

MOST_DENSE = 4000
"""Numbers of the networks up to which H is factorised."""

# Numbers of a chunk of the Jacobian.
_CHUNK = 2**23
# Steps of the conjugate gradients, the share of what is left that the last ones may have changed.
_MOST_STEPS, _WINDOW, _CHANGE = 600, 20, 1e-3
_FEW_STEPS, _SMALL_CHANGE = 50, 1e-10
# Numbers of the residuals that are remembered, twice.
_KEPT = 2**25
# Random vectors of which the trace of a large hat matrix is the mean.
_PROBES = 6


class Elimination:
    """H of the networks of an objective, where training left it.

    columns: the numbers of theta that are the networks'. ridge: D as a function of the Jacobian's
    norm. `ended` tells whether all conjugate gradients ended by themselves.
    """

    def __init__(
        self,
        objective: Objective,
        columns: np.ndarray,
        ridge: Callable[[float], np.ndarray],
    ) -> None:
        self.columns = columns
        self.ended = True
        self._objective = objective
        self._theta = objective.theta
        self._dense = len(columns) <= MOST_DENSE
        gram = self._gram()
        diagonal = np.diag(gram) if self._dense else gram
        self.norm = float(np.sqrt(diagonal.sum()))
        self.ridge = ridge(self.norm)
        if self._dense:
            self._upper = self._factor(gram)
        else:
            self._diagonal = diagonal + self.ridge**2

    def eliminated(self, direction: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return X and b - J_n X (rows,) for b = J direction, a direction of all of theta."""
        b = self._objective.jvp(self._theta, direction)
        x = self._solve(self._pulled(b), float(b @ b))
        whole = direction.copy()
        whole[self.columns] -= x
        return x, self._objective.jvp(self._theta, whole)

    def leverage(self, block: Block) -> float:
        """Return the trace of the hat matrix of a block's rows: the numbers fitted to them.

        Beyond MOST_DENSE it is estimated by random vectors (Hutchinson, Commun. Stat. Simul. 19
        (1990) 433), always the same ones: the mean of so many has a standard deviation of less than
        sqrt(2 trace / probes).
        """
        if self._dense:
            return sum(float(np.sum(self._halved(rows.T) ** 2)) for rows in self._chunks(block))
        rng = np.random.default_rng(0)
        where = self._place(block)
        found = []
        for _ in range(_PROBES):
            z = np.zeros(self._objective.rows)
            z[where] = rng.choice([-1.0, 1.0], block.rows)
            b = self._pulled(z)
            found.append(float(b @ self._solve(b, None)))
        return float(np.mean(found))

    def rows_of(self, block: Block, rows: np.ndarray) -> np.ndarray:
        """Return a block's part of what has a number (or more) for each row."""
        return rows[self._place(block)]

    def solve_dense(self, right: np.ndarray) -> np.ndarray:
        """Return H^-1 right, (size, k), by the factor."""
        from scipy.linalg import solve_triangular

        return solve_triangular(self._upper, self._halved(right))

    def pushed(self, block: Block, directions: np.ndarray) -> np.ndarray:
        """Return a block's rows of J_n directions, (rows, k)."""
        return np.concatenate([rows @ directions for rows in self._chunks(block)])

    # ---- H

    def _gram(self) -> np.ndarray:
        """Return J_n^T J_n, or its diagonal where that alone is kept."""
        size = len(self.columns)
        total = np.zeros((size, size) if self._dense else size)
        for rows in self._chunks():
            if self._dense:
                total += rows.T @ rows
            else:
                total += np.einsum("np,np->p", rows, rows)
        return total

    def _factor(self, gram: np.ndarray) -> np.ndarray:
        """Return R with R^T R = H, but for shifts that rounding needs."""
        size = len(gram)
        rounding = size * np.finfo(np.float64).eps
        shift = rounding * self.norm**2
        gram[np.diag_indices(size)] += self.ridge**2 + shift
        upper = np.linalg.cholesky(gram, upper=True)
        if shift <= 1e-4 * float(self.ridge.min()) ** 2:
            return upper
        from scipy.linalg import solve_triangular

        # of D and of the rows divided by R: what the shift has put too much falls out
        held = solve_triangular(upper, np.diag(self.ridge), trans="T")
        again = held @ held.T
        for rows in self._chunks():
            divided = solve_triangular(upper, rows.T, trans="T")
            again += divided @ divided.T
        again[np.diag_indices(size)] += rounding
        return np.linalg.cholesky(again, upper=True) @ upper

    def _halved(self, right: np.ndarray) -> np.ndarray:
        """Return R^-T right."""
        from scipy.linalg import solve_triangular

        return solve_triangular(self._upper, right, trans="T")

    def _chunks(self, block: Block | None = None) -> Iterator[np.ndarray]:
        """Yield the weighted rows of J_n, all or those of a block, some at a time."""
        rows = max(1, _CHUNK // self._objective.size)
        only = None if block is None else [block.name]
        for _, jacobian in self._objective.jacobian_chunks(self._theta, rows, only):
            yield jacobian[:, self.columns].astype(np.float64, copy=False)

    def _place(self, block: Block) -> slice:
        """Return where a block's rows stand among all."""
        start = 0
        for one in self._objective.blocks:
            if one is block:
                return slice(start, start + one.rows)
            start += one.rows
        raise ValueError(f"the objective has no block {block.name!r}")

    # ---- conjugate gradients

    def _pulled(self, rows: np.ndarray) -> np.ndarray:
        return self._objective.vjp(self._theta, rows)[self.columns]

    def _applied(self, x: np.ndarray) -> np.ndarray:
        """Return H x."""
        direction = np.zeros(self._objective.size)
        direction[self.columns] = x
        pushed = self._objective.jvp(self._theta, direction)
        return self._pulled(pushed) + self.ridge**2 * x

    def _preconditioned(self, x: np.ndarray) -> np.ndarray:
        return self.solve_dense(x) if self._dense else x / self._diagonal

    def _solve(self, right: np.ndarray, whole: float | None) -> np.ndarray:
        """Return H^-1 right.

        whole: |b|^2 where right is J_n^T b. Each step takes from |b - J_n x|^2 + |D x|^2; they end
        when what the last ones took is a small share of what is left of it (without `whole`: of
        what all have taken). Residuals are kept orthogonal to those before, which rounding undoes,
        to as many as there is room for.
        """
        most, window, change = (
            (_FEW_STEPS, 1, _SMALL_CHANGE) if self._dense else (_MOST_STEPS, _WINDOW, _CHANGE)
        )
        x, residual = np.zeros_like(right), right.copy()
        preconditioned = self._preconditioned(residual)
        direction, power = preconditioned.copy(), float(residual @ preconditioned)
        taken: list[float] = []
        kept = deque[tuple[np.ndarray, np.ndarray]](maxlen=max(20, _KEPT // len(right)))
        while power > 0:
            if len(taken) == most:
                if not self._dense:  # with the factor, what is left by then is rounding
                    self.ended = False
                break
            kept.append((residual / np.sqrt(power), preconditioned / np.sqrt(power)))
            applied = self._applied(direction)
            length = power / float(direction @ applied)
            x += length * direction
            residual = residual - length * applied
            for old, conjugate in kept:
                residual -= old * float(conjugate @ residual)
            taken.append(length * power)
            left = sum(taken) if whole is None else max(whole - sum(taken), 0.0)
            rounding = np.finfo(np.float64).eps * (whole or left)
            if len(taken) >= window and sum(taken[-window:]) <= change * left + rounding:
                break
            preconditioned = self._preconditioned(residual)
            before, power = power, float(residual @ preconditioned)
            direction = preconditioned + (power / before) * direction
        return x
