"""Declared dataclasses from their JSON, strictly."""

from __future__ import annotations

import math
from dataclasses import fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints


def restored(kind: Any, value: Any, place: str) -> Any:
    """Return a value of a declared type from its JSON; a number that JSON could not hold is nan.

    Of a dataclass the fields without the metadata `stored: False`; files from before a field had
    been thought of may lack one with the metadata `later: True`. Raises ValueError, naming the
    place, for anything else.
    """
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        names = [one.name for one in fields(kind) if one.metadata.get("stored", True)]
        later = {one.name for one in fields(kind) if one.metadata.get("later")}
        if not isinstance(value, dict) or value.keys() | later != set(names):
            raise ValueError(f"{place}: expected an object of {', '.join(names)}")
        parts = {name: restored(hints[name], value[name], f"{place}.{name}")
                 for name in names if name in value}  # fmt: skip
        return kind(**parts)
    if kind is Any:
        return value
    origin, inner = get_origin(kind), get_args(kind)
    if origin is UnionType and NoneType in inner:
        (kind,) = (one for one in inner if one is not NoneType)
        return None if value is None else restored(kind, value, place)
    if origin is dict and isinstance(value, dict):
        return {key: restored(inner[1], item, f"{place}.{key}") for key, item in value.items()}
    if origin in (list, tuple) and isinstance(value, list):
        return origin(restored(inner[0], item, f"{place}.{i}") for i, item in enumerate(value))
    if kind is float and value is None:
        return math.nan
    if kind is float and isinstance(value, int | float) and not isinstance(value, bool):
        return float(value) if abs(value) < 2**1000 else math.inf
    if kind is bool and isinstance(value, bool):
        return value
    if kind is int and isinstance(value, int) and not isinstance(value, bool):
        if abs(value) >= 2**63:
            raise ValueError(f"{place}: expected a whole number of 64 bits")
        return value
    if isinstance(kind, type) and issubclass(kind, str) and isinstance(value, str):
        return kind(value)
    raise ValueError(f"{place}: expected {getattr(kind, '__name__', kind)}, got {value!r:.60}")
