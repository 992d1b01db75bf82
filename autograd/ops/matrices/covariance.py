"""Covariances and correlations of variables, which are rows of observations."""

from __future__ import annotations

from typing import Any

from ...tensor import Tensor, method
from ..elementwise.arithmetic import conj_of, div, mul, sub
from ..elementwise.piecewise import clamp
from ..layout.index import value_range
from ..layout.shape import reshape_op
from ..registry import cast
from .matmul import matmul_op

__all__ = ["corrcoef", "cov"]


def _checked_weights(name: str, weights: Any, count: int, kinds: str) -> Tensor:
    if weights.ndim > 1 or weights.numel() != count or weights.dtype.kind not in kinds:
        raise RuntimeError(
            f"cov(): expected {name} to have one number of an observation ({count}), "
            f"{'integers' if 'i' in kinds else 'floating point'}, got shape "
            f"{list(weights.shape)} of {weights.dtype}"
        )
    if value_range(weights._whole())[0] < 0:
        raise RuntimeError(f"cov(): {name} cannot be negative")
    return weights


@method
def cov(
    x: Tensor,
    *,
    correction: int = 1,
    fweights: Tensor | None = None,
    aweights: Tensor | None = None,
) -> Tensor:
    """Return the covariances (d, d) of d variables, the rows of `x` (d, n); of one, a 0-d tensor.

    correction  is taken off the number of observations.
    fweights    how often each counts, integers; aweights: how much.
    Raises RuntimeError for bools, more than two dimensions and weights that do not fit.
    """
    if x.ndim > 2 or x.dtype.kind == "b":
        raise RuntimeError(
            "cov(): expected input to have two or fewer dimensions and numbers, got shape "
            f"{list(x.shape)} of {x.dtype}"
        )
    rows = x if x.ndim == 2 else reshape_op(x, shape=(1, x.numel()))
    rows = rows if rows.dtype.kind in "fc" else mul(rows, 1.0)
    count = rows.shape[1]
    weights = None
    if fweights is not None:
        weights = cast(_checked_weights("fweights", fweights, count, "iu"), rows.real.dtype)
    if aweights is not None:
        amount = cast(_checked_weights("aweights", aweights, count, "f"), rows.real.dtype)
        weights = amount if weights is None else mul(weights, amount)
    if weights is None:
        centred = sub(rows, rows.mean(1, keepdim=True))
        weighted, norm = centred, max(count - correction, 0)
    else:
        total = weights.sum()
        mean = div(mul(rows, weights).sum(1, keepdim=True), total)
        centred = sub(rows, mean)
        weighted = mul(centred, weights)
        spread = total
        if aweights is not None and correction:
            spread = div(mul(weights, aweights).sum(), total)
            norm = sub(total, mul(spread, correction))
        else:
            norm = sub(total, correction)
        norm = clamp(norm, min=0)
    found = div(matmul_op(weighted, conj_of(centred).mT), norm)
    return found if x.ndim == 2 and x.shape[0] != 1 else reshape_op(found, shape=())


@method
def corrcoef(x: Tensor) -> Tensor:
    """Return the correlations (d, d) of d variables, the rows of `x` (d, n); of one, 1.

    Raises RuntimeError for more than two dimensions.
    """
    found = cov(x)
    if found.ndim == 0:
        return div(found, found)
    deviations = found.diagonal().real.sqrt() if found.is_complex() else found.diagonal().sqrt()
    scaled = div(div(found, deviations.unsqueeze(1)), deviations)
    return scaled if scaled.is_complex() else clamp(scaled, -1.0, 1.0)
