"""RAdam: Adam that waits until its estimate of the variance can be trusted."""

from __future__ import annotations

import math
from typing import Any

from .. import devices
from ..tensor import Tensor
from .moments import average, average_squares, decay
from .optimizer import Optimizer, zeros_like


class RAdam(Optimizer):
    """Adam's step times r, which rises to 1; p <- p - lr m' in the first steps, where r is unknown.

    r is the length of the average of g^2 that has been seen, as a share of the length that betas
    allow.  Weight decay shrinks p directly with `decoupled_weight_decay`, and belongs to g without;
    with `maximize` the step goes uphill.
    Source: Liu et al., ICLR 2020, algorithm 2.
    """

    elementwise = True

    def __init__(
        self,
        params: Any,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        super().__init__(
            params,
            {
                "lr": lr,
                "betas": betas,
                "eps": eps,
                "weight_decay": weight_decay,
                "decoupled_weight_decay": decoupled_weight_decay,
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
            state["exp_avg_sq"] = zeros_like(values)
        state["step"] += 1
        step = state["step"]
        mean, square = state["exp_avg"]._data, state["exp_avg_sq"]._data
        work, decayed = self._workspace(values, 2)
        grad = decay(values, grad, group, group["decoupled_weight_decay"], work, decayed)
        average(mean, grad, beta1, work)
        average_squares(square, grad, beta2, work)
        rate = group["lr"] / (1 - beta1**step)
        rectified = _rectification(step, beta2)
        if rectified is None:
            xp.multiply(mean, rate, out=work)
        else:
            xp.sqrt(square, out=work)
            work += group["eps"]
            xp.divide(mean, work, out=work)
            work *= rate * rectified * math.sqrt(1 - beta2**step)
        values -= work


def _rectification(step: int, beta2: float) -> float | None:
    """Return r of a step; None where the variance of the average of g^2 is infinite."""
    longest = 2 / (1 - beta2) - 1
    length = longest - 2 * step * beta2**step / (1 - beta2**step)
    if length <= 5:
        return None
    share = (length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length)
    return math.sqrt(share)
