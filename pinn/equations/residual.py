"""What has to vanish at some points."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import autograd as T
from pinn.equations.functions import TENSOR_FUNCTIONS
from pinn.equations.leaves import Derivative, Laplacian
from pinn.equations.nested import Field
from pinn.equations.term import Term
from pinn.sampling import Sampling


@dataclass(frozen=True)
class Residual:
    """What has to vanish at some points: `term`, or `quantity - term` for a condition.

    name is the block's name, what names it in messages, sample(sampling, rng) -> (n, d) points.
    """

    name: str
    what: str
    term: Term
    quantity: Derivative | None
    sample: Callable[[Sampling, np.random.Generator], np.ndarray]

    @property
    def leaves(self) -> tuple[Derivative | Laplacian, ...] | None:
        """The unknowns and derivatives that are asked for; None where only a run can tell."""
        known = self.term.leaves
        if known is None or self.quantity is None:
            return known
        return (self.quantity, *known)

    def combined(self) -> Residual | None:
        """Return the residual with its sums of derivatives as single leaves; None for functions."""
        term = self.term.combined()
        return None if term is None else dataclasses.replace(self, term=term)

    def evaluate(self, field: Field) -> T.Tensor:
        """Return the residual at the points of a field, shape (n,).

        Raises ValueError, naming the block, for a function whose result is not one number a point.
        """
        value = self.term.evaluate(field, TENSOR_FUNCTIONS)
        if self.quantity is None:
            return self._rows(value, field.n)
        # Checked before the subtraction: (n,) - (n, 1) would quietly become (n, n).
        if isinstance(value, T.Tensor) and value.ndim > 0:
            value = self._rows(value, field.n)
        elif not isinstance(value, T.Tensor | float | int):
            raise TypeError(
                f"{self.what}: expected a tensor or a number from the function, "
                f"got {type(value).__name__}"
            )
        return field[self.quantity] - value

    def _rows(self, value: Any, n: int) -> T.Tensor:
        if not isinstance(value, T.Tensor):
            raise TypeError(
                f"{self.what}: expected a tensor of shape ({n},), one number a point, "
                f"got {type(value).__name__}"
            )
        shape = tuple(value.shape)
        if shape not in ((n,), (n, 1)):
            raise ValueError(
                f"{self.what}: expected a residual of shape ({n},) or ({n}, 1), one number a "
                f"point, got {shape}; the names of the namespace have shape ({n},), and mixing "
                f"them with shape ({n}, 1) broadcasts"
            )
        return value.reshape(-1)
