"""Normalisation over the last dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..ops.create import ones, zeros
from ..tensor import Tensor
from . import functional, init
from .module import Module
from .parameter import Parameter


class LayerNorm(Module):
    """(x - mean) / sqrt(variance + eps) * weight + bias over the last dimensions: Ba et al. 2016.

    normalized_shape  the sizes of these dimensions, or the size of the last one.
    weight, bias      of that shape, ones and zeros at first; both None without
                      `elementwise_affine`, bias alone with `bias=False`.
    """

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = (
            (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        )
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        if elementwise_affine:
            self.weight = Parameter(ones(self.normalized_shape, dtype=dtype, device=device))
        else:
            self.register_parameter("weight", None)
        if elementwise_affine and bias:
            self.bias = Parameter(zeros(self.normalized_shape, dtype=dtype, device=device))
        else:
            self.register_parameter("bias", None)

    def reset_parameters(self) -> None:
        """Set weight to ones and bias to zeros."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, input: Tensor) -> Tensor:
        return functional.layer_norm(
            input, self.normalized_shape, self.weight, self.bias, self.eps
        )

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, "
            f"elementwise_affine={self.elementwise_affine}, bias={self.bias is not None}"
        )
