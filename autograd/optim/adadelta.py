"""Adadelta."""

from __future__ import annotations

from typing import Any

from .. import devices
from ..tensor import Tensor
from .moments import average_squares, decay
from .optimizer import Optimizer, zeros_like


class Adadelta(Optimizer):
    """p <- p - lr d, where d = g sqrt(u + eps) / sqrt(v + eps).

    v and u are the moving averages of g^2 and of d^2, both with `rho`; g includes weight_decay p.
    With `maximize` the step goes uphill.  Source: Zeiler, arXiv:1212.5701, algorithm 1.
    """

    elementwise = True

    def __init__(
        self,
        params: Any,
        lr: float | Tensor = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0.0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(
            params,
            {
                "lr": lr,
                "rho": rho,
                "eps": eps,
                "weight_decay": weight_decay,
                "maximize": maximize,
                "foreach": foreach,
            },
        )

    def _check_options(self, group: dict[str, Any]) -> None:
        super()._check_options(group)
        if not 0 <= group["rho"] <= 1:
            raise ValueError(f"Adadelta: invalid rho: {group['rho']}; it must lie in [0, 1]")

    def _update(self, values: Any, grad: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        xp = devices.namespace_of(values)
        if not state:
            state["step"] = 0
            state["square_avg"] = zeros_like(values)
            state["acc_delta"] = zeros_like(values)
        state["step"] += 1
        square, moved = state["square_avg"]._data, state["acc_delta"]._data
        work, decayed, change = self._workspace(values, 3)
        grad = decay(values, grad, group, False, work, decayed)
        average_squares(square, grad, group["rho"], work)
        xp.add(moved, group["eps"], out=change)
        xp.sqrt(change, out=change)
        xp.add(square, group["eps"], out=work)
        xp.sqrt(work, out=work)
        change /= work
        change *= grad
        average_squares(moved, change, group["rho"], work)
        change *= group["lr"]
        values -= change
