"""Averaged stochastic gradient descent."""

from __future__ import annotations

from typing import Any

from ..tensor import Tensor
from .moments import decay
from .optimizer import Optimizer, zeros_like


class ASGD(Optimizer):
    """p <- p (1 - lambd eta) - eta g with the falling rate eta = lr / (1 + lambd lr t)^alpha.

    The state of each parameter has `ax`, the mean of its values since step `t0` (the present ones
    before it).  g includes weight_decay p; with `maximize` the step goes uphill.
    Source: Polyak and Juditsky, SIAM J. Control Optim. 30 (1992); the rate: Bottou, COMPSTAT 2010.
    """

    elementwise = True

    def __init__(
        self,
        params: Any,
        lr: float | Tensor = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0.0,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        super().__init__(
            params,
            {
                "lr": lr,
                "lambd": lambd,
                "alpha": alpha,
                "t0": t0,
                "weight_decay": weight_decay,
                "foreach": foreach,
                "maximize": maximize,
            },
        )

    def _update(self, values: Any, grad: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        if not state:
            state.update(step=0, eta=float(group["lr"]), mu=1.0, ax=zeros_like(values))
        state["step"] += 1
        step, rate, mean = state["step"], state["eta"], state["ax"]._data
        work, decayed = self._workspace(values, 2)
        grad = decay(values, grad, group, False, work, decayed)
        values *= 1 - group["lambd"] * rate
        work[...] = grad
        work *= rate
        values -= work
        if state["mu"] == 1:
            mean[...] = values
        else:
            work[...] = values
            work -= mean
            work *= state["mu"]
            mean += work
        lr = group["lr"]
        state["eta"] = lr / (1 + group["lambd"] * lr * step) ** group["alpha"]
        state["mu"] = 1 / max(1.0, step - group["t0"])
