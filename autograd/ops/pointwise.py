"""A function of several variables that is given by an object, with its derivatives."""

from __future__ import annotations

from typing import Any, Protocol

from ..tensor import Tensor
from .registry import Op

__all__ = ["PointwiseFunction", "pointwise"]


class PointwiseFunction(Protocol):
    """A function of d variables known with its partial derivatives, such as a spline.

    What it holds does not change, and it is told from others by identity: a recorded program keeps
    it as it is.
    """

    def values(self, xp: Any, xs: tuple[Any, ...], orders: tuple[int, ...]) -> Any:
        """Return a partial derivative at arrays of the namespace xp, which broadcast.

        orders: how often it is taken in each variable; all zero is the function itself.
        """


def _forward(xp: Any, *xs: Any, function: PointwiseFunction, orders: tuple[int, ...]) -> Any:
    return function.values(xp, xs, orders)


def _pull_back(
    g: Tensor, xs: tuple, needed: tuple, function: PointwiseFunction, orders: tuple[int, ...]
) -> list:
    slopes: list[Tensor | None] = []
    for k, wanted in enumerate(needed):
        raised = (*orders[:k], orders[k] + 1, *orders[k + 1 :])
        slopes.append(g * pointwise_op(*xs, function=function, orders=raised) if wanted else None)
    return slopes


pointwise_op = Op(
    "pointwise",
    _forward,
    _pull_back,
    dtype="float",
    broadcasts=True,
    elementwise=True,
    taylor="nested",
)


def pointwise(function: PointwiseFunction, *xs: Tensor, orders: tuple[int, ...] = ()) -> Tensor:
    """Return a function of tensors that broadcast, or a partial derivative of it.

    orders: how often the derivative is taken in each; none where left out. It can be differentiated
    as often as the function has derivatives.
    """
    return pointwise_op(*xs, function=function, orders=tuple(orders) or (0,) * len(xs))
