"""Dropout: numbers that are left out at random while a network is trained."""

from __future__ import annotations

import math
from collections.abc import Callable

from ..inplace import in_place
from ..ops.creation.create import bernoulli, ones, rand
from ..ops.elementwise.piecewise import where
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


def torch_dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """Return `nn.functional.dropout(input, p, train)`, as PyTorch's own `dropout` is called."""
    return dropout(input, p, train)


def _whole_channels(
    name: str, dims: tuple[int, int], alone: int | None, input: Tensor, p: float, training: bool,
    inplace: bool,
) -> Tensor:  # fmt: skip
    """Return `input` with whole channels set to 0; `alone` is the number of dimensions of one."""
    _checked(p)
    if input.ndim not in dims:
        raise RuntimeError(
            f"{name}: Expected {dims[0]}D or {dims[1]}D input, but received a {input.ndim}D input "
            f"of shape {list(input.shape)}"
        )
    if not training or p == 0.0:
        return input
    channels = input.shape[: 1 if input.ndim == alone else 2]
    shape = (*channels, *(1,) * (input.ndim - len(channels)))
    kept = dropout(ones(shape, dtype=input.dtype, device=input.device), p)
    return in_place(input, lambda x: x * kept) if inplace else input * kept


def dropout1d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Return (n, c, l), or (c, l), with each channel set to 0 with probability p (as `dropout`).

    Raises RuntimeError for other dimensions.
    """
    return _whole_channels("dropout1d", (2, 3), 2, input, p, training, inplace)


def dropout2d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Return (n, c, h, w), or (n, c, l), with each channel set to 0 with probability p.

    Raises RuntimeError for other dimensions (Tompson et al. 2015).
    """
    return _whole_channels("dropout2d", (3, 4), None, input, p, training, inplace)


def dropout3d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Return (n, c, d, h, w), or (c, d, h, w), with each channel set to 0 with probability p.

    Raises RuntimeError for other dimensions.
    """
    return _whole_channels("dropout3d", (4, 5), 4, input, p, training, inplace)


def alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """Return `input` with numbers at random, with probability p, at the lower bound of `selu`.

    Then all are scaled and moved so that mean 0 and variance 1 stay (Klambauer et al. 2017).
    Raises ValueError for p outside [0, 1].
    """
    _checked(p)
    if not training or p == 0:
        return input
    bound = -1.7580993408473766  # what selu comes to far on the left
    scale = 0.0 if p == 1 else 1 / math.sqrt((bound**2 * p + 1) * (1 - p))

    def dropped(x: Tensor) -> Tensor:
        kept = rand(x.shape, dtype=x.dtype, device=x.device) >= p
        return where(kept, x, bound) * scale - scale * bound * p

    return in_place(input, dropped) if inplace else dropped(input)


class _Dropout(Module):
    """What all share: a probability; in evaluation (`eval()`) nothing is left out."""

    _function: Callable[..., Tensor]

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        self.p, self.inplace = _checked(p), inplace

    def forward(self, input: Tensor) -> Tensor:
        return self._function(input, self.p, self.training, self.inplace)

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_Dropout):
    """Set numbers to 0 at random while training, as `functional.dropout` does: Hinton et al. 2012.

    p  the probability of each.  In evaluation (`eval()`) nothing is left out.
    """

    _function = staticmethod(dropout)


class Dropout1d(_Dropout):
    """Set whole channels of (n, c, l) to 0 at random while training."""

    _function = staticmethod(dropout1d)


class Dropout2d(_Dropout):
    """Set whole channels of (n, c, h, w) to 0 at random while training: Tompson et al. 2015."""

    _function = staticmethod(dropout2d)


class Dropout3d(_Dropout):
    """Set whole channels of (n, c, d, h, w) to 0 at random while training."""

    _function = staticmethod(dropout3d)


class AlphaDropout(_Dropout):
    """Leave numbers out so that mean and variance stay, after SELU: Klambauer et al. 2017."""

    _function = staticmethod(alpha_dropout)
