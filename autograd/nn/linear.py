"""The affine layer."""

from __future__ import annotations

import math
from typing import Any

from ..ops.create import zeros
from ..tensor import Tensor
from . import functional, init
from .module import Module
from .parameter import Parameter


class Linear(Module):
    """y = x W^T + b for x of shape (..., in_features); y has shape (..., out_features).

    weight  (out_features, in_features), uniform on +-1/sqrt(in_features), as in PyTorch.
    bias    (out_features,), drawn from the same interval; None with `bias=False`.
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        generator: Any = None,
    ) -> None:
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        self.weight = Parameter(zeros(out_features, in_features, dtype=dtype, device=device))
        if bias:
            self.bias = Parameter(zeros(out_features, dtype=dtype, device=device))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters(generator)

    def reset_parameters(self, generator: Any = None) -> None:
        """Draw weight, then bias, anew."""
        bound = 1 / math.sqrt(self.in_features) if self.in_features else 0.0
        init.uniform_(self.weight, -bound, bound, generator)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound, generator)

    def forward(self, input: Tensor) -> Tensor:
        return functional.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, "
            f"bias={self.bias is not None}"
        )
