"""Adamax: Adam with the largest gradient in place of the mean square."""

from __future__ import annotations

from typing import Any

from .. import devices
from ..tensor import Tensor
from .moments import average, decay
from .optimizer import Optimizer, zeros_like


class Adamax(Optimizer):
    """p <- p - lr m' / u, with the bias-corrected moving average m' of g, and u that falls slowly.

    u is the larger of beta2 u and |g| + eps.  g includes weight_decay p; with `maximize` the step
    goes uphill.
    Source: Kingma and Ba, ICLR 2015, algorithm 2.
    """

    elementwise = True

    def __init__(
        self,
        params: Any,
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(
            params,
            {
                "lr": lr,
                "betas": betas,
                "eps": eps,
                "weight_decay": weight_decay,
                "foreach": foreach,
                "maximize": maximize,
            },
        )

    def _update(self, values: Any, grad: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        xp = devices.namespace_of(values)
        beta1, beta2 = group["betas"]
        if not state:
            state["step"] = 0
            state["exp_avg"] = zeros_like(values)
            state["exp_inf"] = zeros_like(values)
        state["step"] += 1
        mean, largest = state["exp_avg"]._data, state["exp_inf"]._data
        work, decayed = self._workspace(values, 2)
        grad = decay(values, grad, group, False, work, decayed)
        average(mean, grad, beta1, work)
        largest *= beta2
        xp.absolute(grad, out=work)
        work += group["eps"]
        xp.maximum(largest, work, out=largest)
        xp.divide(mean, largest, out=work)
        work *= group["lr"] / (1 - beta1 ** state["step"])
        values -= work
