"""What the JSON of a run has to look like before anything is made of it; a key may be missing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Form = Mapping[str, Callable[[Any], bool]]
"""Key -> whether a value will do; None stands for a key that is not there."""

# Of blocks, unknowns or coefficients, each of which has a curve of its own.
_MOST_NAMES, _LONGEST_NAME = 1000, 200


def wrong_key(value: Mapping[str, Any], form: Form) -> str | None:
    """Return the first key of a form whose value will not do, None where all will."""
    return next((key for key, holds in form.items() if not holds(value.get(key))), None)


def is_whole(value: Any) -> bool:
    """Whether it is a whole number that fits into 64 bits."""
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63


def is_count(value: Any) -> bool:
    """Whether it is a whole number of zero or more, that fits into 64 bits."""
    return is_whole(value) and value >= 0


def is_number(value: Any) -> bool:
    """Whether it is a number, or the null that stands for nan and inf."""
    return value is None or isinstance(value, float) or is_whole(value)


def is_no_less_than_zero(value: Any) -> bool:
    """Whether it is such a number, or null."""
    return is_number(value) and (value is None or value >= 0)


def is_numbers(value: Any) -> bool:
    """Whether it is numbers by name, of which a figure can have as many."""
    return (
        isinstance(value, dict) and len(value) <= _MOST_NAMES
        and all(len(name) <= _LONGEST_NAME for name in value)
        and all(map(is_number, value.values()))
    )  # fmt: skip


def is_text(value: Any) -> bool:
    """Whether it is a text."""
    return isinstance(value, str)


def maybe(holds: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """Return the same test, which nothing passes too."""
    return lambda value: value is None or holds(value)


def listed(holds: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """Return a test of a list whose items pass another; nothing passes too."""
    return maybe(lambda value: isinstance(value, list) and all(map(holds, value)))


def named(holds: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """Return a test of an object, by names, whose values pass another."""
    return lambda value: isinstance(value, dict) and all(map(holds, value.values()))


def of_form(form: Form) -> Callable[[Any], bool]:
    """Return a test of an object of a form."""
    return lambda value: isinstance(value, dict) and wrong_key(value, form) is None


RECORD: Form = {
    "step": is_count,
    "stage": maybe(lambda value: is_text(value) and len(value) <= _LONGEST_NAME),
    "wall_s": is_number,
    "loss": is_number,
    "losses": maybe(is_numbers),
    "fresh_loss": is_number,
    "draw": maybe(is_whole),
    "parameters": maybe(is_numbers),
    "weights": maybe(is_numbers),
    "rel_l2": lambda value: is_number(value) or is_numbers(value),
}

DATA_FIT: Form = {
    "rows": is_count,
    "sigma": is_number,
    "freedom": is_no_less_than_zero,
    "chi_square": is_no_less_than_zero,
    "probability": is_number,
    "left_out": maybe(is_count),
    "outliers": maybe(is_count),
}

SUMMARY: Form = {
    "steps": maybe(is_count),
    "wall_s": is_number,
    "loss": is_number,
    "rel_l2": maybe(is_numbers),
    "parameters": maybe(is_numbers),
    "error_estimate": maybe(of_form({
        "relative_l2": maybe(is_numbers), "doubts": listed(is_text), "remarks": listed(is_text),
    })),
    "recovery": maybe(of_form({
        "standard_errors": maybe(is_numbers), "untrained": listed(is_text),
        "data": maybe(named(of_form(DATA_FIT))),
    })),
    "unsolved": maybe(lambda value: isinstance(value, bool)),
    "stop_reason": maybe(is_text),
    "message": maybe(is_text),
    "stages": listed(of_form({"name": is_text, "message": is_text, "loss": is_number})),
    "decisions": listed(of_form({"what": is_text, "why": is_text})),
    "warnings": listed(is_text),
}  # fmt: skip
