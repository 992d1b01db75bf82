"""RMSprop."""

from __future__ import annotations

from typing import Any

from .. import devices
from ..tensor import Tensor
from .optimizer import Optimizer, zeros_like


class RMSprop(Optimizer):
    """p <- p - lr g / (sqrt(v) + eps), with the moving average v of g^2.

    `centered` subtracts the squared moving average of g from v; `momentum` accumulates the steps;
    with `maximize` they go uphill.
    Source: Tieleman and Hinton, Coursera lecture 6.5, 2012; Graves 2013 (centred).
    """

    elementwise = True

    def __init__(
        self,
        params: Any,
        lr: float | Tensor = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        momentum: float = 0.0,
        centered: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
    ) -> None:
        super().__init__(
            params,
            {
                "lr": lr,
                "alpha": alpha,
                "eps": eps,
                "weight_decay": weight_decay,
                "momentum": momentum,
                "centered": centered,
                "maximize": maximize,
                "foreach": foreach,
            },
        )

    def _check_options(self, group: dict[str, Any]) -> None:
        super()._check_options(group)
        if not 0 <= group["alpha"] <= 1:
            raise ValueError(f"RMSprop: invalid alpha: {group['alpha']}; it must lie in [0, 1]")

    def _update(self, values: Any, grad: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        xp = devices.namespace_of(values)
        alpha = group["alpha"]
        if not state:
            state["step"] = 0
            state["square_avg"] = zeros_like(values)
            if group["momentum"]:
                state["momentum_buffer"] = zeros_like(values)
            if group["centered"]:
                state["grad_avg"] = zeros_like(values)
        state["step"] += 1
        work, decayed = self._workspace(values, 2)
        if group["maximize"]:
            grad = self._uphill(grad, decayed)
        if group["weight_decay"]:
            xp.multiply(values, group["weight_decay"], out=work)
            grad = xp.add(grad, work, out=decayed)
        square = state["square_avg"]._data
        square *= alpha
        xp.multiply(grad, grad, out=work)
        work *= 1 - alpha
        square += work
        if group["centered"]:
            average = state["grad_avg"]._data
            average *= alpha
            xp.multiply(grad, 1 - alpha, out=work)
            average += work
            xp.multiply(average, average, out=work)
            xp.subtract(square, work, out=work)
            xp.sqrt(work, out=work)
        else:
            xp.sqrt(square, out=work)
        work += group["eps"]
        xp.divide(grad, work, out=work)
        if group["momentum"]:
            buffer = state["momentum_buffer"]._data
            buffer *= group["momentum"]
            buffer += work
            work[...] = buffer
        work *= group["lr"]
        values -= work
