"""NAdam: Adam with Nesterov's momentum."""

from __future__ import annotations

from typing import Any

from .. import devices
from ..tensor import Tensor
from .moments import average, average_squares, decay
from .optimizer import Optimizer, zeros_like


class NAdam(Optimizer):
    """p <- p - lr ((1 - mu) g / (1 - M) + mu' m / (1 - M mu')) / (sqrt(v') + eps).

    m and v are the moving averages of g and g^2, v' the bias-corrected one; mu is the momentum
    beta1 (1 - 0.96^(t momentum_decay) / 2) at step t, mu' that of the next step and M the product
    of all so far.  Weight decay shrinks p directly with `decoupled_weight_decay`, and belongs to g
    without; with `maximize` the step goes uphill.
    Source: Dozat, ICLR workshop 2016, algorithm 2.
    """

    elementwise = True

    def __init__(
        self,
        params: Any,
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        momentum_decay: float = 4e-3,
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
                "momentum_decay": momentum_decay,
                "decoupled_weight_decay": decoupled_weight_decay,
                "foreach": foreach,
                "maximize": maximize,
            },
        )

    def _check_options(self, group: dict[str, Any]) -> None:
        super()._check_options(group)
        if not 0 <= group["momentum_decay"]:
            raise ValueError(
                f"NAdam: invalid momentum_decay: {group['momentum_decay']}; it must be >= 0"
            )

    def _update(self, values: Any, grad: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        xp = devices.namespace_of(values)
        beta1, beta2 = group["betas"]
        if not state:
            state["step"] = 0
            state["mu_product"] = 1.0
            state["exp_avg"] = zeros_like(values)
            state["exp_avg_sq"] = zeros_like(values)
        state["step"] += 1
        step, lr = state["step"], group["lr"]
        mean, square = state["exp_avg"]._data, state["exp_avg_sq"]._data
        work, decayed, ahead = self._workspace(values, 3)
        grad = decay(values, grad, group, group["decoupled_weight_decay"], work, decayed)
        average(mean, grad, beta1, work)
        average_squares(square, grad, beta2, work)
        momentum, following = (
            beta1 * (1 - 0.5 * 0.96 ** (at * group["momentum_decay"])) for at in (step, step + 1)
        )
        state["mu_product"] *= momentum
        product = state["mu_product"]
        xp.multiply(grad, lr * (1 - momentum) / (1 - product), out=decayed)
        xp.multiply(mean, lr * following / (1 - product * following), out=ahead)
        decayed += ahead
        xp.multiply(square, 1 / (1 - beta2**step), out=work)
        xp.sqrt(work, out=work)
        work += group["eps"]
        xp.divide(decayed, work, out=work)
        values -= work
