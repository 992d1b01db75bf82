"""Stochastic gradient descent, with momentum."""

from __future__ import annotations

from typing import Any

from ..tensor import Tensor
from .optimizer import Optimizer


class SGD(Optimizer):
    """p <- p - lr b, where b <- momentum b + (1 - dampening) g and b starts as g.

    g includes weight_decay p; with `nesterov` the step is g + momentum b instead of b, with
    `maximize` it goes uphill.  As in PyTorch, the momentum buffer is not scaled by lr.
    """

    elementwise = True

    def __init__(
        self,
        params: Any,
        lr: float | Tensor = 1e-3,
        momentum: float = 0.0,
        dampening: float = 0.0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        fused: bool | None = None,
    ) -> None:
        super().__init__(
            params,
            {
                "lr": lr,
                "momentum": momentum,
                "dampening": dampening,
                "weight_decay": weight_decay,
                "nesterov": nesterov,
                "maximize": maximize,
                "foreach": foreach,
                "fused": fused,
            },
        )

    def _check_options(self, group: dict[str, Any]) -> None:
        super()._check_options(group)
        if group["nesterov"] and (group["momentum"] <= 0 or group["dampening"] != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")

    def _update(self, values: Any, grad: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        momentum = group["momentum"]
        direction, decayed = self._workspace(values, 2)
        if group["weight_decay"]:
            decayed[...] = values
            decayed *= -group["weight_decay"] if group["maximize"] else group["weight_decay"]
            decayed += grad
            grad = decayed
        if momentum:
            buffer = state.get("momentum_buffer")
            if buffer is None:
                buffer = state["momentum_buffer"] = Tensor(grad.copy())
            else:
                buffer._data *= momentum
                direction[...] = grad
                direction *= 1 - group["dampening"]
                buffer._data += direction
            direction[...] = buffer._data
            if group["nesterov"]:
                direction *= momentum
                direction += grad
        else:
            direction[...] = grad
        direction *= -group["lr"] if not group["maximize"] else group["lr"]
        values += direction
