"""A trainable coefficient of an inverse problem."""

from __future__ import annotations

import math

import autograd as T
from pinn.schema import Name, declared
from pinn.schema.errors import refuse


@declared
class Parameter:
    """A trainable coefficient of an inverse problem, with a start and optional bounds.

    The optimizers see an unbounded number `raw`; the coefficient is a smooth function of it that
    increases and stays inside the bounds, so any solver keeps to them:

    - no bound: max(1, |initial|) * raw
    - lower only: lower + (initial - lower) * softplus(raw) / log 2 (upper only: its mirror image)
    - both: lower + (upper - lower) * sigmoid(raw)

    Raises ValueError unless lower < initial < upper, all of them finite.
    """

    name: Name
    initial: float
    lower: float | None = None
    upper: float | None = None

    def __post_init__(self) -> None:
        low = -math.inf if self.lower is None else self.lower
        high = math.inf if self.upper is None else self.upper
        if not low < self.initial < high:
            refuse(
                f"{self.name!r}: expected lower < initial < upper, strictly, got lower = "
                f"{self.lower}, initial = {self.initial}, upper = {self.upper}"
            )

    @property
    def raw_initial(self) -> float:
        """The raw number that stands for `initial`."""
        if self.lower is not None and self.upper is not None:
            share = (self.initial - self.lower) / (self.upper - self.lower)
            return math.log(share) - math.log1p(-share)
        if self.lower is None and self.upper is None:
            return self.initial / max(1.0, abs(self.initial))
        return 0.0

    def value(self, raw: T.Tensor) -> T.Tensor:
        """Return the coefficient that a raw number (a tensor of shape ()) stands for."""
        if self.lower is not None and self.upper is not None:
            return self.lower + (self.upper - self.lower) * T.sigmoid(raw)
        if self.lower is None and self.upper is None:
            return max(1.0, abs(self.initial)) * raw
        bound, sign = (self.lower, 1.0) if self.lower is not None else (self.upper, -1.0)
        reach = abs(self.initial - bound) / math.log(2.0)
        return bound + sign * reach * T.nn.functional.softplus(sign * raw)
