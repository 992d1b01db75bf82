"""What has to vanish at some points."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import autograd as T
from pinn.equations.functions import TENSOR_FUNCTIONS
from pinn.equations.leaves import Column, Derivative, UnknownLeaf
from pinn.equations.term import Term
from pinn.residuals.sources import Source


@dataclass(frozen=True)
class Residual:
    """`left - right` has to vanish at the points of a source; without `right`, `left` does.

    name is the block's name, `what` names it in messages. left has a number a point; right may be
    one number for all of them. whole: a row may depend on all points at once, as a mean does; then
    the sides may have any number of rows, and the points are never split into chunks.

    factor: the column of the source that the difference is multiplied by, as one over the standard
    deviation of a measurement. huber: a threshold h in units of the source's noise beyond which a
    row counts less: its square is Huber's loss, r^2 up to there and 2*h*|r| - h^2 beyond. nodes: a
    row is the sum over so many points that follow each other, as an integral is; then it is whole.
    scale: what the difference is multiplied by, a function of the place alone.
    """

    name: str
    what: str
    left: Term
    source: Source
    right: Term | None = None
    whole: bool = False
    factor: str | None = None
    huber: float | None = None
    nodes: int | None = None
    scale: Term | None = None

    def __post_init__(self) -> None:
        if self.nodes is not None:
            object.__setattr__(self, "whole", True)

    @property
    def terms(self) -> tuple[Term, ...]:
        """Both sides, or the one there is."""
        return (self.left,) if self.right is None else (self.left, self.right)

    @property
    def gives(self) -> str | None:
        """The unknown that it gives values to: u = right, with a right side free of unknowns."""
        left = self.left.tree
        if not isinstance(left, Derivative) or left.coordinates:
            return None
        if self.whole or self.huber is not None:
            return None  # a sum of values, or no line in them
        return left.unknown if self.right is None or not self.right.scope.unknowns else None

    @property
    def leaves(self) -> tuple[UnknownLeaf, ...] | None:
        """The unknowns and derivatives that are asked for; None where only a run can tell."""
        sides = [term.leaves for term in self.terms]
        return None if None in sides else tuple(leaf for side in sides for leaf in side)

    def called(self, name: str) -> Residual:
        """Return the residual of a condition with another name."""
        if name == self.name:
            return self
        what = f"condition {name!r}"
        right = None if self.right is None else self.right.called(what)
        left = self.left.called(what)
        return dataclasses.replace(self, name=name, what=what, left=left, right=right)

    def combined(self, dtype: T.dtype) -> Residual | None:
        """Return the residual with its sums of derivatives as single leaves; None for functions.

        dtype: the one that it will be evaluated in.
        """
        sides = [term.combined(dtype) for term in self.terms]
        if None in sides:
            return None
        return dataclasses.replace(self, left=sides[0], right=sides[1] if sides[1:] else None)

    def evaluate(self, values: Any) -> T.Tensor:
        """Return the residual at n points, shape (rows,), from the values of its leaves there.

        There is a row a point, any number of them for a residual of the points as a whole. Raises
        ValueError, naming the block, for a function whose result has another shape.
        """
        found = self._difference(values)
        if self.factor is not None:
            found = found * values[Column(self.factor)]
        if self.scale is not None:
            found = found * self._rows(self.scale.evaluate(values, TENSOR_FUNCTIONS), values.n)
        if self.nodes is not None:
            found = found.reshape(-1, self.nodes).sum(dim=1)
        if self.huber is None:
            return found
        return _huber(found, self.huber * (self.source.noise or 1.0))

    def _difference(self, values: Any) -> T.Tensor:
        left = self._rows(self.left.evaluate(values, TENSOR_FUNCTIONS), values.n)
        if self.right is None:
            return left
        right = self.right.evaluate(values, TENSOR_FUNCTIONS)
        # Checked before the subtraction: (n,) - (n, 1) would quietly become (n, n).
        if isinstance(right, T.Tensor) and right.ndim > 0:
            right = self._rows(right, values.n)
            if right.shape != left.shape:
                raise ValueError(
                    f"{self.what}: expected sides of as many rows, got {len(left)} and {len(right)}"
                )
        elif not isinstance(right, T.Tensor | float | int):
            raise TypeError(
                f"{self.what}: expected a tensor or a number from the function, "
                f"got {type(right).__name__}"
            )
        return left - right

    def _rows(self, value: Any, n: int) -> T.Tensor:
        if not isinstance(value, T.Tensor):
            raise TypeError(
                f"{self.what}: expected a tensor of shape ({n},), one number a point, "
                f"got {type(value).__name__}"
            )
        shape = tuple(value.shape)
        if self.whole and self.nodes is None:
            if len(shape) > 1 or shape == (0,):
                raise ValueError(
                    f"{self.what}: expected a number or a residual of shape (rows,) from all "
                    f"{n} points, got {shape}"
                )
            return value.reshape(-1)
        if shape not in ((n,), (n, 1)):
            raise ValueError(
                f"{self.what}: expected a residual of shape ({n},) or ({n}, 1), one number a "
                f"point, got {shape}; the names of the namespace have shape ({n},), and mixing "
                f"them with shape ({n}, 1) broadcasts"
            )
        return value.reshape(-1)


def _huber(residual: T.Tensor, threshold: float) -> T.Tensor:
    """Return rows whose squares are Huber's loss of a residual, with its sign: C^1 in it.

    Huber, Ann. Math. Stat. 35 (1964) 73.
    """
    size = T.abs(residual)
    edge = T.tensor(threshold, dtype=residual.dtype, device=residual.device)
    # Up to the edge the root is that of edge^2, whose slope is zero and not nan.
    beyond = T.sqrt(2 * edge * T.maximum(size, edge) - edge * edge)
    return T.where(size <= edge, residual, T.sign(residual) * beyond)
