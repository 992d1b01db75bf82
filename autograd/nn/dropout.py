"""Dropout: numbers that are left out at random while a network is trained."""

from __future__ import annotations

from ..inplace import in_place
from ..ops.create import bernoulli
from ..tensor import Tensor
from .module import Module


def _checked(p: float) -> float:
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    return p


def dropout(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Return `input` with each number set to 0 with probability p, all others by 1 / (1 - p).

    training  False: `input` as it is.  inplace: write into `input`.
    Drawn by the default generator (`manual_seed`).  Raises ValueError for p outside [0, 1].
    """
    _checked(p)

    def dropped(x: Tensor) -> Tensor:
        if p == 1.0:
            return x * 0.0
        kept = bernoulli(x.detach(), 1.0 - p)
        return x * kept / (1.0 - p)

    if not training or p == 0.0:
        return input
    return in_place(input, dropped) if inplace else dropped(input)


class Dropout(Module):
    """Set numbers to 0 at random while training, as `functional.dropout` does: Hinton et al. 2012.

    p  the probability of each.  In evaluation (`eval()`) nothing is left out.
    """

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        self.p, self.inplace = _checked(p), inplace

    def forward(self, input: Tensor) -> Tensor:
        return dropout(input, self.p, self.training, self.inplace)

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"
