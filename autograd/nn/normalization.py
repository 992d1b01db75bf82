"""Normalisation of each sample by itself: over its last dimensions, or over its channels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..ops.creation.create import ones, zeros
from ..tensor import Tensor
from . import functional, init
from .module import Module
from .parameter import Parameter


def give_factors(layer: Any, shape: Any, weight: bool, bias: bool, device: Any, dtype: Any) -> None:
    """Give a layer a weight of ones and a bias of zeros, or None for what is not asked for."""
    for name, asked, make in (("weight", weight, ones), ("bias", bias, zeros)):
        made = Parameter(make(shape, dtype=dtype, device=device)) if asked else None
        layer.register_parameter(name, made)


def reset_factors(layer: Any) -> None:
    """Set weight to ones and bias to zeros, where a layer has them."""
    if layer.weight is not None:
        init.ones_(layer.weight)
    if getattr(layer, "bias", None) is not None:
        init.zeros_(layer.bias)


def _sizes(normalized_shape: int | Sequence[int]) -> tuple[int, ...]:
    if isinstance(normalized_shape, int):
        return (normalized_shape,)
    return tuple(normalized_shape)


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
        self.normalized_shape = _sizes(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        give_factors(
            self, self.normalized_shape, elementwise_affine, elementwise_affine and bias, device,
            dtype,
        )  # fmt: skip

    def reset_parameters(self) -> None:
        """Set weight to ones and bias to zeros."""
        reset_factors(self)

    def forward(self, input: Tensor) -> Tensor:
        return functional.layer_norm(
            input, self.normalized_shape, self.weight, self.bias, self.eps
        )

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, "
            f"elementwise_affine={self.elementwise_affine}, bias={self.bias is not None}"
        )


class RMSNorm(Module):
    """x / sqrt(mean square + eps) * weight over the last dimensions: Zhang and Sennrich 2019.

    normalized_shape  the sizes of these dimensions, or the size of the last one.
    eps               None: the smallest step of the input's dtype at 1.
    weight            of that shape, ones at first; None without `elementwise_affine`.
    """

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = _sizes(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        made = ones(self.normalized_shape, dtype=dtype, device=device)
        self.register_parameter("weight", Parameter(made) if elementwise_affine else None)

    def reset_parameters(self) -> None:
        """Set weight to ones."""
        reset_factors(self)

    def forward(self, input: Tensor) -> Tensor:
        return functional.rms_norm(input, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, "
            f"elementwise_affine={self.elementwise_affine}"
        )


class GroupNorm(Module):
    """Mean 0 and deviation 1 in each group of channels of each sample: Wu and He 2018.

    weight, bias  (num_channels,), ones and zeros at first; both None with `affine=False`, bias
                  alone with `bias=False`.
    ValueError unless num_groups divides num_channels.
    """

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if num_channels % num_groups:
            raise ValueError(
                f"GroupNorm: num_channels ({num_channels}) must be divisible by num_groups "
                f"({num_groups})"
            )
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.eps = eps
        self.affine = affine
        give_factors(self, num_channels, affine, affine and bias, device, dtype)

    def reset_parameters(self) -> None:
        """Set weight to ones and bias to zeros."""
        reset_factors(self)

    def forward(self, input: Tensor) -> Tensor:
        return functional.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
            f"bias={self.bias is not None}"
        )


class LocalResponseNorm(Module):
    """x / (k + alpha m)^beta with the mean square m of `size` neighbouring channels.

    See `functional.local_response_norm`.
    """

    def __init__(
        self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
    ) -> None:
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, input: Tensor) -> Tensor:
        return functional.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"
