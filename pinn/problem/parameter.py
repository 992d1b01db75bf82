"""A trainable coefficient of an inverse problem."""

from __future__ import annotations

import math

import autograd as T
from pinn.problem.bounds import Bounds
from pinn.schema import Name, Positive, declared
from pinn.schema.errors import refuse


@declared
class Parameter:
    """A trainable coefficient of an inverse problem, with a start and optional bounds.

    The optimizers see an unbounded number `raw`; the coefficient is a smooth function of it that
    increases and stays strictly inside the bounds, so any solver keeps to them:

    - no bound: scale * raw
    - lower only: lower + scale * softplus(raw) (upper only: its mirror image)
    - both: lower + (upper - lower) * sigmoid(raw)

    scale: how far the coefficient may well be from its start, which a unit of raw stands for;
    max(1, |initial|) where left out, with one bound |initial - bound| / log 2 (raw then starts at
    0). It is refused beside two bounds, which say as much. Several coefficients are several
    parameters, `[pinn.Parameter(f"k{i}", 1.0) for i in range(3)]`; one that depends on the place is
    a pinn.Field.

    Raises ValueError unless lower < initial < upper, all of them finite.
    """

    name: Name
    initial: float
    lower: float | None = None
    upper: float | None = None
    scale: Positive | None = None

    def __post_init__(self) -> None:
        if not Bounds(self.lower, self.upper).holds(self.initial):
            refuse(
                f"{self.name!r}: expected lower < initial < upper, strictly, got lower = "
                f"{self.lower}, initial = {self.initial}, upper = {self.upper}"
            )
        if self.scale is not None and None not in (self.lower, self.upper):
            refuse(f"{self.name!r}: two bounds say how far it may go; leave scale out", "scale")

    @property
    def bounds(self) -> Bounds:
        """The map from raw numbers to the coefficient."""
        return Bounds(self.lower, self.upper, self._scale)

    @property
    def reach(self) -> float:
        """How far the coefficient may well be from its start."""
        if self.lower is not None and self.upper is not None:
            return self.upper - self.lower
        return self._scale

    @property
    def raw_initial(self) -> float:
        """The raw number that stands for `initial`."""
        return self.bounds.raw(self.initial)

    def value(self, raw: T.Tensor) -> T.Tensor:
        """Return the coefficient that a raw number (a tensor of shape ()) stands for."""
        return self.bounds.value(raw)

    @property
    def _scale(self) -> float:
        if self.scale is not None:
            return self.scale
        bound = self.upper if self.lower is None else self.lower
        if bound is None:
            return max(1.0, abs(self.initial))
        return abs(self.initial - bound) / math.log(2.0)
