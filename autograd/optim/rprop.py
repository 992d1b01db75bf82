"""Rprop, which goes by the signs of the gradient alone."""

from __future__ import annotations

from typing import Any

from .. import devices
from ..tensor import Tensor
from .optimizer import Optimizer, zeros_like


class Rprop(Optimizer):
    """p <- p - s sign(g), with a length s of its own for each element, which starts as lr.

    It grows by the second of `etas` where the sign of g is that of the step before, and shrinks by
    the first where it has changed, within `step_sizes`; there the element stays, once.  With
    `maximize` the step goes uphill.  For gradients without noise.
    Source: Riedmiller and Braun, ICNN 1993.
    """

    elementwise = True

    def __init__(
        self,
        params: Any,
        lr: float | Tensor = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50.0),
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        super().__init__(
            params,
            {
                "lr": lr,
                "etas": etas,
                "step_sizes": step_sizes,
                "foreach": foreach,
                "maximize": maximize,
            },
        )

    def _check_options(self, group: dict[str, Any]) -> None:
        super()._check_options(group)
        smaller, larger = group["etas"]
        if not 0 < smaller < 1 < larger:
            raise ValueError(
                f"Rprop: invalid eta values: {smaller}, {larger}; they must be in (0, 1) and > 1"
            )

    def _update(self, values: Any, grad: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        xp = devices.namespace_of(values)
        if not state:
            state["step"] = 0
            state["prev"] = zeros_like(values)
            state["step_size"] = Tensor(xp.full(values.shape, group["lr"], values.dtype))
        state["step"] += 1
        before, length = state["prev"]._data, state["step_size"]._data
        smaller, larger = group["etas"]
        (agree,) = self._workspace(values)
        xp.multiply(before, grad, out=agree)  # both are turned round where the step goes uphill
        if group["maximize"]:
            xp.negative(agree, out=agree)
        kept, still, number = agree >= 0, agree == 0, values.dtype.type
        xp.multiply(length, xp.where(kept, number(larger), number(smaller)), out=agree)
        length[...] = xp.where(still, length, agree)
        xp.clip(length, *group["step_sizes"], out=length)
        before[...] = xp.where(kept, -grad if group["maximize"] else grad, number(0))
        xp.sign(before, out=agree)
        agree *= length
        values -= agree
