"""Checks that many constructors share; each raises an error that names what was given."""

from __future__ import annotations

import difflib
import math
import numbers
from collections.abc import Iterable


def nearest(name: object, names: Iterable[str]) -> str:
    """Return "; did you mean 'x'?" for the name most like `name`, or "" where none is near."""
    close = difflib.get_close_matches(str(name), list(names), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def check_count(what: str, value: object) -> None:
    """Raise TypeError or ValueError unless `value` is a whole number of one or more."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{what}: expected a whole number, got {value!r}")
    if value < 1:
        raise ValueError(f"{what}: expected one or more, got {value}")


def check_number(
    what: str, value: object, *, above: float | None = None, low: float | None = None
) -> None:
    """Raise TypeError or ValueError unless `value` is a finite number > above and >= low."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"{what}: expected a number, got {value!r}")
    if not math.isfinite(value):
        raise ValueError(f"{what}: expected a finite number, got {value!r}")
    if above is not None and not value > above:
        raise ValueError(f"{what}: expected a number > {above:g}, got {value!r}")
    if low is not None and not value >= low:
        raise ValueError(f"{what}: expected a number >= {low:g}, got {value!r}")


def check_choice(what: str, value: object, options: Iterable[str]) -> None:
    """Raise ValueError, with the nearest option, unless `value` is one of `options`."""
    options = list(options)
    if value not in options:
        raise ValueError(
            f"{what}: expected one of {', '.join(options)}, got {value!r}{nearest(value, options)}"
        )
