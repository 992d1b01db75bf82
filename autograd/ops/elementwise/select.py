"""A choice between two arrays, element by element."""

from __future__ import annotations

from typing import Any

import numpy as np

# numpy's `where` branches at each element, which costs some ten times as much as all passes below
# where conditions alternate; of fewer elements than this the passes themselves cost more.
_MANY = 4096


def chosen(xp: Any, condition: Any, x: Any, y: Any, out: Any = None) -> Any:
    """Return `xp.where(condition, x, y)`, on the host by bits: of x where a mask has ones.

    out  memory for the result, which may be that of x or y.
    """
    kind = _common(x, y) if xp is np and condition.size >= _MANY else None
    if kind is None or (out is not None and out.dtype != kind):
        result = xp.where(condition, x, y)
        if out is None:
            return result
        out[...] = result
        return out
    bits = np.dtype(f"i{kind.itemsize}")
    target = None if out is None else out.view(bits)
    if _is_zero(x):
        mask = _mask(np.logical_not(condition), bits)
        return _joined(np.bitwise_and, mask, _bits(y, kind, bits), target).view(kind)
    mask = _mask(condition, bits)
    if _is_zero(y):
        return _joined(np.bitwise_and, mask, _bits(x, kind, bits), target).view(kind)
    first, second = _bits(x, kind, bits), _bits(y, kind, bits)
    mask = _joined(np.bitwise_and, mask, np.bitwise_xor(first, second), None)
    return _joined(np.bitwise_xor, mask, second, target).view(kind)


def _common(x: Any, y: Any) -> np.dtype | None:
    """Return the dtype of both, one of which may be a number; None where `where` has to decide."""
    kinds = {value.dtype for value in (x, y) if isinstance(value, np.ndarray)}
    others = [value for value in (x, y) if not isinstance(value, np.ndarray)]
    if len(kinds) != 1 or len(others) > 1:
        return None
    (kind,) = kinds
    are_plain = all(type(value) in (int, float) for value in others)
    return kind if kind.kind == "f" and kind.itemsize <= 8 and are_plain else None


def _mask(condition: np.ndarray, bits: np.dtype) -> np.ndarray:
    """Return ones in all bits where a condition holds: -1, made in bytes, which are fewer."""
    return np.negative(condition.view(np.int8)).astype(bits)


def _is_zero(value: Any) -> bool:
    return not isinstance(value, np.ndarray) and value == 0 and not np.signbit(value)


def _bits(value: Any, kind: np.dtype, bits: np.dtype) -> np.ndarray:
    return np.asarray(value, kind).view(bits)


def _joined(function: Any, mask: np.ndarray, other: np.ndarray, out: Any) -> np.ndarray:
    """Return the two joined, in the memory of the mask where nothing has to be broadcast."""
    if out is None and np.broadcast_shapes(mask.shape, other.shape) == mask.shape:
        out = mask
    return function(mask, other) if out is None else function(mask, other, out=out)
