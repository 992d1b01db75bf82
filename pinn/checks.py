"""Checks that many constructors share; each raises an error that names what was given."""

from __future__ import annotations

import difflib
import math
import numbers
import re
from collections.abc import Iterable

# A name of anything that an expression can mention.
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


def nearest(name: object, names: Iterable[str]) -> str:
    """Return "; did you mean 'x'?" for the name most like `name`, or "" where none is near."""
    close = difflib.get_close_matches(str(name), list(names), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def is_name(name: object) -> bool:
    """Return whether something is a text that can be a name: a letter, then letters, digits, _."""
    return isinstance(name, str) and NAME.fullmatch(name) is not None


def check_name(kind: str, name: object) -> str:
    """Return a name made of letters, digits and underscores that starts with a letter.

    Raises TypeError for something that is not text, ValueError for another text; `kind` says in
    the message what the name is for.
    """
    if not isinstance(name, str):
        raise TypeError(f"{kind}: expected a name as text, got {name!r}")
    if not is_name(name):
        raise ValueError(
            f"{kind}: expected a name of letters, digits and underscores that starts with a "
            f"letter, got {name!r}"
        )
    return name


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
