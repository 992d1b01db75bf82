"""Adafactor, which remembers a matrix of squares by its rows and columns alone."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import devices
from ..tensor import Tensor
from .optimizer import Optimizer


class Adafactor(Optimizer):
    """p <- p - a u / max(1, rms(u) / d), where u = g / sqrt(v), of rate a = max(e, rms(p)) r.

    r = min(lr, 1/sqrt(t)) at step t.  v is the moving average of g^2, with weights t^beta2_decay;
    of a matrix (of the last two dimensions of any tensor that has them) it is the product of the
    means of rows and columns.  weight_decay shrinks p by 1 - lr weight_decay first; with `maximize`
    the step goes uphill.
    eps  (the least sqrt(v), None for the machine precision; e, the least rms(p)).
    Source: Shazeer and Stern, ICML 2018, algorithms 4 and 5.
    """

    def __init__(
        self,
        params: Any,
        lr: float | Tensor = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        super().__init__(
            params,
            {
                "lr": lr,
                "beta2_decay": beta2_decay,
                "eps": eps,
                "d": d,
                "weight_decay": weight_decay,
                "foreach": foreach,
                "maximize": maximize,
            },
        )

    def _check_options(self, group: dict[str, Any]) -> None:
        super()._check_options({name: v for name, v in group.items() if name != "eps"})
        if any(parameter.is_complex() for parameter in group["params"]):
            raise RuntimeError(
                "Adafactor does not support complex parameters; optimize view_as_real(...) of them"
            )
        if group["beta2_decay"] > 0:
            raise ValueError(
                f"Adafactor: invalid beta2_decay: {group['beta2_decay']}; it must be <= 0"
            )
        if any(eps is not None and eps < 0 for eps in group["eps"]):
            raise ValueError(f"Adafactor: invalid eps: {group['eps']}; both must be >= 0")
        if not group["d"] >= 1:
            raise ValueError(f"Adafactor: invalid d: {group['d']}; it must be >= 1")

    def _update(self, values: Any, grad: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        xp = devices.namespace_of(values)
        least, least_size = group["eps"]
        least = float(np.finfo(values.dtype).eps) if least is None else least
        if not state:
            state["step"] = 0
            for name, shape in _remembered(values.shape):
                state[name] = Tensor(xp.zeros(shape, values.dtype))
        state["step"] += 1
        fresh = state["step"] ** group["beta2_decay"]
        rate = min(group["lr"], 1 / math.sqrt(state["step"]))
        rate = rate * xp.maximum(least_size, _rms(xp, values))
        if group["weight_decay"]:
            values *= 1 - group["lr"] * group["weight_decay"]
        squares = grad * grad
        if grad.ndim > 1:
            rows, columns = state["row_var"]._data, state["col_var"]._data
            rows += fresh * (squares.mean(axis=-1, keepdims=True) - rows)
            columns += fresh * (squares.mean(axis=-2, keepdims=True) - columns)
            mean = xp.maximum(rows.mean(axis=-2, keepdims=True), least)
            squares = xp.matmul(rows, columns) / mean
        else:
            state["variance"]._data += fresh * (squares - state["variance"]._data)
            squares = state["variance"]._data
        update = grad / xp.sqrt(xp.maximum(squares, least * least))
        update *= rate / xp.maximum(1.0, _rms(xp, update) / group["d"])
        values -= -update if group["maximize"] else update


def _remembered(shape: tuple[int, ...]) -> list[tuple[str, tuple[int, ...]]]:
    if len(shape) < 2:
        return [("variance", shape)]
    *batch, rows, columns = shape
    return [("row_var", (*batch, rows, 1)), ("col_var", (*batch, 1, columns))]


def _rms(xp: Any, array: Any) -> Any:
    """Return the root of the mean square of all elements; what is of no dimension is a scalar."""
    return xp.sqrt((array * array).mean())
