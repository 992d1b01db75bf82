"""The affine layer, and the one that is affine in each of two inputs."""

from __future__ import annotations

import math
from typing import Any

from ..ops.creation.create import zeros
from ..tensor import Tensor
from . import functional, init
from .module import Module
from .parameter import Parameter


def draw(layer: Any, inputs: int, generator: Any) -> None:
    """Draw weight, then bias of a layer, uniform on +-1/sqrt(inputs)."""
    bound = 1 / math.sqrt(inputs) if inputs else 0.0
    init.uniform_(layer.weight, -bound, bound, generator)
    if layer.bias is not None:
        init.uniform_(layer.bias, -bound, bound, generator)


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
        draw(self, self.in_features, generator)

    def forward(self, input: Tensor) -> Tensor:
        return functional.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, "
            f"bias={self.bias is not None}"
        )


class Bilinear(Module):
    """y[k] = x1^T W[k] x2 + b[k] for x1 (..., in1_features) and x2 (..., in2_features).

    weight  (out_features, in1_features, in2_features), uniform on +-1/sqrt(in1_features), as in
            PyTorch.
    bias    (out_features,), drawn from the same interval; None with `bias=False`.
    """

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        generator: Any = None,
    ) -> None:
        super().__init__()
        if in1_features <= 0:
            raise ValueError(f"Bilinear: in1_features must be > 0, got {in1_features}")
        self.in1_features = in1_features
        self.in2_features = in2_features
        self.out_features = out_features
        shape = (out_features, in1_features, in2_features)
        self.weight = Parameter(zeros(shape, dtype=dtype, device=device))
        if bias:
            self.bias = Parameter(zeros(out_features, dtype=dtype, device=device))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters(generator)

    def reset_parameters(self, generator: Any = None) -> None:
        """Draw weight, then bias, anew."""
        draw(self, self.in1_features, generator)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        return functional.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        return (
            f"in1_features={self.in1_features}, in2_features={self.in2_features}, "
            f"out_features={self.out_features}, bias={self.bias is not None}"
        )
