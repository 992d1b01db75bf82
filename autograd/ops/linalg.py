"""Matrix products and dense linear algebra."""

from __future__ import annotations

from typing import Any

from ..tensor import Tensor, method
from .arithmetic import binary_operator, conj_of
from .registry import Op
from .shape import transpose


def _adjoint(x: Tensor) -> Tensor:
    return conj_of(transpose(x, -2, -1))


def _matmul_forward(xp: Any, x: Any, y: Any, out: Any = None) -> Any:
    return xp.matmul(x, y) if out is None else xp.matmul(x, y, out=out)


matmul_op = Op(
    "matmul",
    _matmul_forward,
    {
        "x": lambda g, y: matmul_op(g, _adjoint(y)),
        "y": lambda g, x: matmul_op(_adjoint(x), g),
    },
    dtype="promote",
    broadcasts=True,
)


def _linear_forward(xp: Any, x: Any, weight: Any, bias: Any, out: Any = None) -> Any:
    result = xp.matmul(x, weight.T, out=out) if out is not None else xp.matmul(x, weight.T)
    if bias is not None:
        result += bias
    return result


linear_op = Op(
    "linear",
    _linear_forward,
    {
        "x": lambda g, weight: matmul_op(g, conj_of(weight)),
        "weight": lambda g, x: _linear_weight_gradient(g, x),
        "bias": lambda g: g,
    },
    dtype="promote",
    broadcasts=True,
)


def _linear_weight_gradient(g: Tensor, x: Tensor) -> Tensor:
    rows = g.reshape(-1, g.shape[-1])
    return matmul_op(transpose(rows, 0, 1), conj_of(x.reshape(-1, x.shape[-1])))


@method
def matmul(x: Tensor, y: Tensor) -> Tensor:
    """Return the matrix product of tensors of any rank >= 1, batched over leading dimensions."""
    if x.ndim == 0 or y.ndim == 0:
        raise RuntimeError(
            f"matmul: both arguments need at least 1 dimension, got {x.ndim} and {y.ndim}; "
            "use mul for numbers"
        )
    left = x.reshape(1, -1) if x.ndim == 1 else x
    right = y.reshape(-1, 1) if y.ndim == 1 else y
    if left.shape[-1] != right.shape[-2]:
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({list(x.shape)} and {list(y.shape)}): "
            f"{left.shape[-1]} columns against {right.shape[-2]} rows"
        )
    result = matmul_op(left, right)
    if x.ndim == 1:
        result = result.reshape(*result.shape[:-2], result.shape[-1])
    return result.reshape(result.shape[:-1]) if y.ndim == 1 else result


binary_operator("matmul", matmul)
