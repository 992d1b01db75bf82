"""Matrices of powers."""

from __future__ import annotations

from ...tensor import Tensor
from ..elementwise.arithmetic import pow
from ..layout.index import narrow
from ..layout.join import stack
from ..layout.shape import unsqueeze

__all__ = ["vander"]


def vander(
    x: Tensor,
    N: int | None = None,  # noqa: N803 - PyTorch's name
    increasing: bool = False,
) -> Tensor:
    """Return the Vandermonde matrix of the 1-d `x`: `N` columns, its powers, the highest first.

    N           by default as many as `x` has elements.
    increasing  the powers 0, 1, ... from left to right instead.
    Raises RuntimeError for other tensors and a negative N.
    """
    if x.ndim != 1:
        raise RuntimeError(
            f"vander: x must be a one-dimensional tensor, got shape {list(x.shape)}; flatten it"
        )
    columns = x.shape[0] if N is None else N
    if columns < 0:
        raise RuntimeError(f"vander: N must be non-negative, got {N}")
    x = x.long() if x.dtype.kind in "iub" else x
    if columns == 0:
        return narrow(unsqueeze(x, -1), -1, 0, 0)
    exponents = range(columns) if increasing else reversed(range(columns))
    return stack([pow(x, k) for k in exponents], -1)


def linalg_vander(x: Tensor, *, N: int | None = None) -> Tensor:  # noqa: N803 - PyTorch's name
    """Return the Vandermonde matrices (..., n, N) of `x` (..., n): its powers 0, 1, ..., N - 1.

    N  by default n.  A 0-d `x` is taken as (1,).  Raises RuntimeError for N < 2.
    """
    x = x if x.ndim else unsqueeze(x, 0)
    columns = x.shape[-1] if N is None else N
    if columns < 2:
        raise RuntimeError(f"N must be greater than 1, got {columns}")
    x = x.long() if x.dtype.kind == "b" else x
    return stack([pow(x, k) for k in range(columns)], -1)
