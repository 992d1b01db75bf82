"""Reading and filling with a boolean mask."""

from __future__ import annotations

from typing import Any

from ... import dtypes
from ...tensor import Tensor, method
from ..elementwise.select import chosen
from ..registry import Op, cast, into
from .shape import broadcast_shapes, broadcast_tensors, reshape_op

__all__ = [
    "masked_fill",
    "masked_select",
]


def _masked_keep(xp: Any, x: Any, mask: Any, out: Any = None, *, keep: bool) -> Any:
    zero = 0 if x.dtype.kind in "fc" else xp.zeros((), x.dtype)
    return into(out, chosen(xp, mask, x, zero) if keep else chosen(xp, mask, zero, x))


masked_keep_op = Op(  # x where the mask is `keep`, zero elsewhere
    "masked_keep",
    _masked_keep,
    {"x": lambda g, mask, keep: masked_keep_op(g, mask, keep=keep)},
    broadcasts=True,
    elementwise=True,
    taylor="linear",
)


def _masked_fill(xp: Any, x: Any, mask: Any, value: Any, out: Any = None) -> Any:
    return into(out, chosen(xp, mask, xp.asarray(value, dtype=x.dtype), x))


masked_fill_op = Op(
    "masked_fill",
    _masked_fill,
    {
        "x": lambda g, mask: masked_keep_op(g, mask, keep=False),
        "value": lambda g, mask: masked_keep_op(g, mask, keep=True),
    },
    broadcasts=True,
    elementwise=True,
    taylor="linear",
)


def _checked_mask(mask: Tensor, name: str) -> Tensor:
    if mask.dtype.kind != "b":
        raise RuntimeError(f"{name}: expected a mask of dtype bool, got {mask.dtype}; use .bool()")
    return mask


@method
def masked_fill(x: Tensor, mask: Tensor, value: Any) -> Tensor:
    """Return `x` with `value` (a number or a 0-d tensor) where `mask` (broadcast) is True."""
    mask = _checked_mask(mask, "masked_fill")
    broadcast_shapes(tuple(x.shape), tuple(mask.shape))
    if isinstance(value, Tensor):
        if value.ndim:
            raise RuntimeError(
                "masked_fill only supports a 0-dimensional value tensor, but got tensor with "
                f"{value.ndim} dimension(s); use where(mask, value, x)"
            )
    if x.dtype.kind != "c" and dtypes.result_type(value).kind == "c":
        raise RuntimeError(
            f"masked_fill: value cannot be converted to type {x.dtype} without overflow: got a "
            "complex one; use where(mask, value, x)"
        )
    if isinstance(value, Tensor):
        value = cast(value, x.dtype)
    elif x.dtype.kind in "bui" and isinstance(value, float) and value != int(value):
        raise RuntimeError(
            f"value cannot be converted to type {x.dtype} without overflow: got {value!r}"
        )
    return masked_fill_op(x, mask, value)


@method
def masked_select(x: Tensor, mask: Tensor) -> Tensor:
    """Return the elements of `x` where `mask` is True as a 1-d tensor; both are broadcast."""
    wide, where = broadcast_tensors(x, _checked_mask(mask, "masked_select"))
    if wide.ndim == 0:
        wide, where = reshape_op(wide, shape=(1,)), reshape_op(where, shape=(1,))
    return wide[where]
