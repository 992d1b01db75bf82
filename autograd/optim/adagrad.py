"""Adagrad."""

from __future__ import annotations

from typing import Any

from .. import devices
from ..tensor import Tensor
from .optimizer import Optimizer


class Adagrad(Optimizer):
    """p <- p - lr / (1 + (t - 1) lr_decay) g / (sqrt(sum of g^2) + eps) at step t.

    With `maximize` the step goes uphill.
    Source: Duchi, Hazan and Singer, JMLR 12 (2011).
    """

    elementwise = True

    def __init__(
        self,
        params: Any,
        lr: float | Tensor = 1e-2,
        lr_decay: float = 0.0,
        weight_decay: float = 0.0,
        initial_accumulator_value: float = 0.0,
        eps: float = 1e-10,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        fused: bool | None = None,
    ) -> None:
        super().__init__(
            params,
            {
                "lr": lr,
                "lr_decay": lr_decay,
                "weight_decay": weight_decay,
                "initial_accumulator_value": initial_accumulator_value,
                "eps": eps,
                "maximize": maximize,
                "foreach": foreach,
                "fused": fused,
            },
        )

    def _check_options(self, group: dict[str, Any]) -> None:
        super()._check_options(group)
        for name in ("lr_decay", "initial_accumulator_value"):
            if not 0 <= group[name]:
                raise ValueError(f"Adagrad: invalid {name}: {group[name]}; it must be >= 0")

    def _update(self, values: Any, grad: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        xp = devices.namespace_of(values)
        if not state:
            state["step"] = 0
            start = xp.full(values.shape, group["initial_accumulator_value"], values.dtype)
            state["sum"] = Tensor(start)
        state["step"] += 1
        work, decayed = self._workspace(values, 2)
        if group["maximize"]:
            grad = self._uphill(grad, decayed)
        if group["weight_decay"]:
            xp.multiply(values, group["weight_decay"], out=work)
            grad = xp.add(grad, work, out=decayed)
        total = state["sum"]._data
        xp.multiply(grad, grad, out=work)
        total += work
        xp.sqrt(total, out=work)
        work += group["eps"]
        xp.divide(grad, work, out=work)
        work *= group["lr"] / (1 + (state["step"] - 1) * group["lr_decay"])
        values -= work
