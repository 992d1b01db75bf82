"""Convolutions and their transposes as layers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ..ops.creation.create import zeros
from ..ops.grids.convolution import same_padding
from ..ops.layout.arrange import pad
from ..tensor import Tensor
from . import functional as F
from .linear import draw
from .module import Module
from .parameter import Parameter

_MODES = ("zeros", "reflect", "replicate", "circular")


def _each(value: Any, count: int) -> tuple[int, ...]:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,) * count


class _Layer(Module):
    """What all share: a kernel for each group of channels, and a bias.

    Weight, then bias are uniform on +-1/sqrt(n), n the numbers that a sum is of: He et al. 2015 as
    PyTorch has it.
    """

    _dims: int
    _function: Callable[..., Tensor]

    def __init__(
        self,
        transposed: bool,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any,
        padding: Any,
        dilation: Any,
        groups: int,
        bias: bool,
        padding_mode: str,
        device: Any,
        dtype: Any,
        generator: Any,
    ) -> None:
        super().__init__()
        name, dims = type(self).__name__, self._dims
        if groups < 1:
            raise ValueError(f"{name}: groups must be a positive integer, got {groups}")
        for what, channels in (("in", in_channels), ("out", out_channels)):
            if channels % groups:
                raise ValueError(
                    f"{name}: {what}_channels must be divisible by groups, got {channels} and "
                    f"{groups}"
                )
        known = _MODES[:1] if transposed else _MODES
        if padding_mode not in known:
            raise ValueError(
                f"{name}: padding_mode must be one of {known}, but got padding_mode="
                f"{padding_mode!r}"
            )
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = _each(kernel_size, dims)
        self.stride = _each(stride, dims)
        self.padding = padding if isinstance(padding, str) else _each(padding, dims)
        self.dilation = _each(dilation, dims)
        self.groups = groups
        self.padding_mode = padding_mode
        if isinstance(padding, str):
            self._check_word(name)
        ends = (in_channels, out_channels) if transposed else (out_channels, in_channels)
        shape = (ends[0], ends[1] // groups, *self.kernel_size)
        self.weight = Parameter(zeros(shape, dtype=dtype, device=device))
        if bias:
            self.bias = Parameter(zeros(out_channels, dtype=dtype, device=device))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters(generator)

    def _check_word(self, name: str) -> None:
        if self.padding not in ("same", "valid"):
            raise ValueError(
                f"{name}: Invalid padding string {self.padding!r}, should be 'same' or 'valid'"
            )
        if self.padding == "same" and any(s != 1 for s in self.stride):
            raise ValueError(
                f"{name}: padding='same' is not supported for strided convolutions, got stride "
                f"{self.stride}"
            )

    def reset_parameters(self, generator: Any = None) -> None:
        """Draw weight, then bias, anew."""
        draw(self, math.prod(self.weight.shape[1:]), generator)

    def extra_repr(self) -> str:
        dims = len(self.kernel_size)
        told = [
            f"{self.in_channels}, {self.out_channels}",
            f"kernel_size={self.kernel_size}, stride={self.stride}",
        ]
        if self.padding != (0,) * dims:
            told.append(f"padding={self.padding}")
        if self.dilation != (1,) * dims:
            told.append(f"dilation={self.dilation}")
        if any(getattr(self, "output_padding", ())):
            told.append(f"output_padding={self.output_padding}")
        if self.groups != 1:
            told.append(f"groups={self.groups}")
        if self.bias is None:
            told.append("bias=False")
        if self.padding_mode != "zeros":
            told.append(f"padding_mode={self.padding_mode}")
        return ", ".join(told)


class _Conv(_Layer):
    """What convolutions share; their padding may be of other numbers than zeros."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
        *,
        generator: Any = None,
    ) -> None:
        super().__init__(
            False, in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias,
            padding_mode, device, dtype, generator,
        )  # fmt: skip

    def forward(self, input: Tensor) -> Tensor:
        padding: Any = self.padding
        if self.padding_mode != "zeros" and padding != "valid":
            if padding == "same":
                widths = same_padding(self.kernel_size, self.dilation)
            else:
                widths = [(width, width) for width in padding]
            counts = [width for pair in reversed(widths) for width in pair]
            input, padding = pad(input, counts, mode=self.padding_mode), 0
        return self._function(
            input, self.weight, self.bias, self.stride, padding, self.dilation, self.groups
        )


class Conv1d(_Conv):
    """`functional.conv1d` with a kernel that is learned: (n, c, l) to (n, o, l').

    weight        (out_channels, in_channels / groups, kernel_size).
    bias          (out_channels,); None with `bias=False`.
    padding       a number, "same" or "valid".
    padding_mode  "zeros", "reflect" (mirrored), "replicate" (the edge repeated) or "circular".
    Raises ValueError for groups that do not divide both channels, and for unknown words.
    """

    _dims, _function = 1, staticmethod(F.conv1d)


class Conv2d(_Conv):
    """`functional.conv2d` with a kernel that is learned: (n, c, h, w) to (n, o, h', w').

    See `Conv1d`; kernel_size, stride, padding and dilation are one number, or one a dimension.
    """

    _dims, _function = 2, staticmethod(F.conv2d)


class Conv3d(_Conv):
    """`functional.conv3d` with a kernel that is learned: (n, c, d, h, w) to (n, o, d', h', w').

    See `Conv2d`.
    """

    _dims, _function = 3, staticmethod(F.conv3d)


class _ConvTranspose(_Layer):
    """What the transposes share: how large their result is."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
        *,
        generator: Any = None,
    ) -> None:
        super().__init__(
            True, in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias,
            padding_mode, device, dtype, generator,
        )  # fmt: skip
        self.output_padding = _each(output_padding, self._dims)

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        more = self.output_padding
        if output_size is not None:
            more = self._missing(input, tuple(output_size))
        return self._function(
            input, self.weight, self.bias, self.stride, self.padding, more, self.groups,
            self.dilation,
        )  # fmt: skip

    def _missing(self, input: Tensor, size: tuple) -> tuple[int, ...]:
        """Return the padding that gives a size; ValueError where none does."""
        dims = len(self.kernel_size)
        size = size[2:] if len(size) == dims + 2 and input.ndim == dims + 2 else size
        size = size[1:] if len(size) == dims + 1 and input.ndim == dims + 1 else size
        if len(size) != dims:
            raise ValueError(
                f"{type(self).__name__}: output_size must have {dims} elements, one a dimension "
                f"after the channels, got {len(size)}"
            )
        rows: Any = zip(
            input.shape[-dims:], self.kernel_size, self.stride, self.padding, self.dilation,
            strict=True,
        )  # fmt: skip
        least = [(n - 1) * s - 2 * p + d * (k - 1) + 1 for n, k, s, p, d in rows]
        most = [low + s - 1 for low, s in zip(least, self.stride, strict=True)]
        if any(not a <= n <= b for n, a, b in zip(size, least, most, strict=True)):
            raise ValueError(
                f"{type(self).__name__}: requested an output size of {size}, but valid sizes range "
                f"from {least} to {most} (for an input of {list(input.shape)})"
            )
        return tuple(n - low for n, low in zip(size, least, strict=True))


class ConvTranspose1d(_ConvTranspose):
    """`functional.conv_transpose1d` with a kernel that is learned.

    weight          (in_channels, out_channels / groups, kernel_size).
    bias            (out_channels,); None with `bias=False`.
    output_padding  elements more at the far end; the layer, called with `output_size`, finds them.
    Raises ValueError for groups that do not divide both channels.
    """

    _dims, _function = 1, staticmethod(F.conv_transpose1d)


class ConvTranspose2d(_ConvTranspose):
    """`functional.conv_transpose2d` with a kernel that is learned; see `ConvTranspose1d`."""

    _dims, _function = 2, staticmethod(F.conv_transpose2d)


class ConvTranspose3d(_ConvTranspose):
    """`functional.conv_transpose3d` with a kernel that is learned; see `ConvTranspose1d`."""

    _dims, _function = 3, staticmethod(F.conv_transpose3d)
