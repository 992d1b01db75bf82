"""Elements added at the ends of the last dimensions, as layers."""

from __future__ import annotations

from typing import Any

from ..tensor import Tensor
from . import functional as F
from .module import Module


class _Pad(Module):
    """What all share: how many elements, one number for all ends or (before, after) a dimension.

    The last dimension comes first, as in `functional.pad`.  ValueError for another count.
    """

    _dims: int
    _mode = "constant"

    def __init__(self, padding: Any) -> None:
        super().__init__()
        count = 2 * self._dims
        several = isinstance(padding, (tuple, list))
        self.padding = tuple(padding) if several else (padding,) * count
        if len(self.padding) != count:
            raise ValueError(
                f"{type(self).__name__}: expected one number or {count} of them, (before, after) a "
                f"dimension from the last on, got {padding}"
            )

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, self._mode)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _ConstantPad(_Pad):
    def __init__(self, padding: Any, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPad):
    """Adds elements `value` at the ends of the last dimension."""

    _dims = 1


class ConstantPad2d(_ConstantPad):
    """Adds elements `value` at the ends of the last two dimensions."""

    _dims = 2


class ConstantPad3d(_ConstantPad):
    """Adds elements `value` at the ends of the last three dimensions."""

    _dims = 3


class ZeroPad1d(_Pad):
    """Adds zeros at the ends of the last dimension."""

    _dims = 1


class ZeroPad2d(_Pad):
    """Adds zeros at the ends of the last two dimensions."""

    _dims = 2


class ZeroPad3d(_Pad):
    """Adds zeros at the ends of the last three dimensions."""

    _dims = 3


class ReflectionPad1d(_Pad):
    """Mirrors the last dimension at its ends, which are not repeated."""

    _dims, _mode = 1, "reflect"


class ReflectionPad2d(_Pad):
    """Mirrors the last two dimensions at their ends, which are not repeated."""

    _dims, _mode = 2, "reflect"


class ReflectionPad3d(_Pad):
    """Mirrors the last three dimensions at their ends, which are not repeated."""

    _dims, _mode = 3, "reflect"


class ReplicationPad1d(_Pad):
    """Repeats the ends of the last dimension."""

    _dims, _mode = 1, "replicate"


class ReplicationPad2d(_Pad):
    """Repeats the ends of the last two dimensions."""

    _dims, _mode = 2, "replicate"


class ReplicationPad3d(_Pad):
    """Repeats the ends of the last three dimensions."""

    _dims, _mode = 3, "replicate"


class CircularPad1d(_Pad):
    """Goes on at an end of the last dimension with the other one."""

    _dims, _mode = 1, "circular"


class CircularPad2d(_Pad):
    """Goes on at an end of the last two dimensions with the other one."""

    _dims, _mode = 2, "circular"


class CircularPad3d(_Pad):
    """Goes on at an end of the last three dimensions with the other one."""

    _dims, _mode = 3, "circular"
