"""How the numbers of a loss become one."""

from __future__ import annotations

from ..tensor import Tensor

REDUCTIONS = ("mean", "sum", "none")


def check_reduction(reduction: str) -> None:
    """Raise ValueError for anything but "mean", "sum" and "none"."""
    if reduction not in REDUCTIONS:
        raise ValueError(
            f"{reduction!r} is not a valid value for reduction; use one of {REDUCTIONS}"
        )


def reduced(values: Tensor, reduction: str) -> Tensor:
    """Return the mean or the sum of values, or these as they are."""
    check_reduction(reduction)
    if reduction == "none":
        return values
    return values.mean() if reduction == "mean" else values.sum()
