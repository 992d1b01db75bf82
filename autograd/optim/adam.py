"""Adam, and AdamW with decoupled weight decay."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from .. import devices
from ..tensor import Tensor
from .moments import average, average_squares, decay
from .optimizer import Optimizer, zeros_like


class Adam(Optimizer):
    """p <- p - lr m' / (sqrt(v') + eps), with bias-corrected moving averages m' of g and v' of g^2.

    g includes weight_decay p; with `decoupled_weight_decay` p shrinks directly, as in AdamW.  With
    `amsgrad` v' is the largest one so far; with `maximize` the step goes uphill.  Source: Kingma
    and Ba, ICLR 2015, algorithm 1; Reddi et al., ICLR 2018.
    """

    elementwise = True

    def __init__(
        self,
        params: Any,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        super().__init__(
            params,
            {
                "lr": lr,
                "betas": betas,
                "eps": eps,
                "weight_decay": weight_decay,
                "amsgrad": amsgrad,
                "maximize": maximize,
                "foreach": foreach,
                "fused": fused,
                "decoupled_weight_decay": decoupled_weight_decay,
            },
        )

    def _update(self, values: Any, grad: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        xp = devices.namespace_of(values)
        beta1, beta2 = group["betas"]
        if not state:
            state["step"] = 0
            state["exp_avg"] = zeros_like(values)
            state["exp_avg_sq"] = zeros_like(values)
            if group["amsgrad"]:
                state["max_exp_avg_sq"] = zeros_like(values)
        state["step"] += 1
        step = state["step"]
        mean, square = state["exp_avg"]._data, state["exp_avg_sq"]._data
        work, decayed = self._workspace(values, 2)
        grad = decay(values, grad, group, group["decoupled_weight_decay"], work, decayed)
        average(mean, grad, beta1, work)
        average_squares(square, grad, beta2, work)
        if group["amsgrad"]:
            largest = state["max_exp_avg_sq"]._data
            xp.maximum(largest, square, out=largest)
            square = largest
        xp.sqrt(square, out=work)
        work *= 1 / math.sqrt(1 - beta2**step)
        work += group["eps"]
        xp.divide(mean, work, out=work)
        work *= group["lr"] / (1 - beta1**step)
        values -= work


class AdamW(Adam):
    """Adam whose weight decay shrinks the parameters directly: p <- p (1 - lr weight_decay) first.

    Source: Loshchilov and Hutter, ICLR 2019, algorithm 2.
    """

    def __init__(
        self,
        params: Any,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        fused: bool | None = None,
    ) -> None:
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            amsgrad,
            maximize=maximize,
            foreach=foreach,
            fused=fused,
            decoupled_weight_decay=True,
        )

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Take over a snapshot, also one of Adam; the decay stays decoupled."""
        super().load_state_dict(state_dict)
        for group in self.param_groups:
            group["decoupled_weight_decay"] = True
