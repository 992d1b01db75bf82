"""Strict JSON: no nan or inf, text keys, and one error for text that is none."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from pinn.files.atomic import write_text


def to_json(value: Any, indent: int | None = None, ascii: bool = False) -> str:
    """Return strict JSON of dicts with text keys, sequences, text, numbers, booleans and None.

    numpy scalars and arrays become numbers and lists. JSON has no nan or inf: they become null.
    ascii: with escapes for all other characters, as for a terminal.
    Raises TypeError, naming the place, for anything else.
    """
    return json.dumps(_plain(value, "value"), indent=indent, allow_nan=False, ensure_ascii=ascii)


def from_json(text: str | bytes) -> Any:
    """Return the value of a JSON text; bytes are UTF-8.

    Raises ValueError for text that is no JSON, for NaN and Infinity, which JSON does not have, for
    numbers beyond float64, and for lists and objects nested deeper than Python can follow.
    """
    if isinstance(text, bytes):
        text = text.decode("utf-8")
    try:
        return json.loads(text, parse_constant=_refuse, parse_float=_finite)
    except RecursionError:
        raise ValueError("lists or objects are nested too deeply") from None


def write_json(path: str | Path, value: Any) -> None:
    """Write a value atomically as indented JSON; see `to_json` for what may be in it."""
    write_text(path, to_json(value, indent=2) + "\n")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"{text:.40} is beyond the largest float64")
    return number


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON number")


def _plain(value: Any, place: str) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise TypeError(f"{place}: JSON needs text keys, got {key!r}")
        return {key: _plain(item, f"{place}[{key!r}]") for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item, f"{place}[{i}]") for i, item in enumerate(value)]
    raise TypeError(
        f"{place}: expected a number, text, None, a list or a dict, got {type(value).__name__}"
    )
