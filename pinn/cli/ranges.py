"""Ranges of values in the grid of a sweep, written as numpy and Python write them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from pinn.checks import nearest
from pinn.cli.verdict import Misuse
from pinn.text import split_outside, unbalanced

_CALL = re.compile(r"\s*([a-z]+)\s*\((.*)\)\s*", re.DOTALL)
# A sweep of more runs than these is a mistake in writing.
_MOST = 10_000
# 0.1 + 0.2 is 0.3 with so many: what is trained is what the directory of its run says.
_DIGITS = 12


def written_out(values: str, source: str) -> str:
    """Return values with the ranges among them written out: of "linspace(0, 1, 3), 5" "0,0.5,1, 5".

    source: what messages call them. Raises Misuse for a range that is not one, and for brackets
    that do not match.
    """
    wrong = unbalanced(values)
    if wrong is not None:
        from pinn.expressions import ExpressionError

        raise Misuse(f"{source}: {ExpressionError(wrong[0], values, wrong[1])}")
    found = []
    for item in split_outside(values):
        call = _CALL.fullmatch(item)
        kind = _RANGES.get(call[1]) if call else None
        if call and kind is None and (hint := nearest(call[1], _RANGES)):
            raise Misuse(
                f"{source}: no range {call[1]!r}{hint} Ranges are "
                f"{', '.join(one for one in _RANGES if one != 'logspace')}"
            )
        if kind is None:
            found.append(item)
            continue
        try:
            numbers = [_number(text) for text in split_outside(call[2])]
            if len(numbers) not in kind.counts:
                raise ValueError(f"got {len(numbers)} number{'s' * (len(numbers) != 1)}")
            found += [f"{value:.{_DIGITS}g}" for value in kind.values(*numbers)]
        except (ValueError, OverflowError) as error:
            raise Misuse(
                f"{source}: expected {kind.shape}, such as {kind.example}, but {error}"
            ) from error
    return ",".join(found)


class _Range(NamedTuple):
    """A function of ranges: how it is called, for messages, and its values.

    counts: how many numbers it takes.
    """

    shape: str
    example: str
    counts: Sequence[int]
    values: Callable[..., Sequence[float]]


def _even(first: float, last: float, count: float) -> list[float]:
    steps = max(_count(count) - 1, 1)
    return [first + (last - first) * k / steps for k in range(_count(count))]


def _by_factors(first: float, last: float, count: float) -> list[float]:
    if not first * last > 0:
        raise ValueError(f"got ends of {first:g} and {last:g}, which no factor leads between")
    steps = max(_count(count) - 1, 1)
    return [first * (last / first) ** (k / steps) for k in range(_count(count))]


def _by_exponents(*numbers: float) -> list[float]:
    raise ValueError("logspace takes exponents, and geomspace the ends themselves")


def _whole(*numbers: float) -> range:
    if not all(number.is_integer() for number in numbers):
        raise ValueError("got a number that is not whole; linspace takes any")
    found = range(*map(int, numbers))
    _count(float(len(found)))
    return found


def _count(number: float) -> int:
    if not (number.is_integer() and 1 <= number <= _MOST):
        raise ValueError(f"got {number:g} values, and 1 to {_MOST} make a sweep")
    return int(number)


def _number(text: str) -> float:
    from pinn.expressions import ExpressionError, constant

    try:
        return float(constant(text))
    except ExpressionError as error:
        why = str(error).removeprefix("expected a number, got ")
        raise ValueError(f"{text.strip()!r} is no number: {why}") from None


_ENDS = "(first, last, count)"
_GEOMETRIC = f"geomspace{_ENDS}", "geomspace(0.001, 0.1, 3)", (3,)
_RANGES = {
    "linspace": _Range(f"linspace{_ENDS}", "linspace(0.01, 0.1, 5)", (3,), _even),
    "geomspace": _Range(*_GEOMETRIC, _by_factors),
    "logspace": _Range(*_GEOMETRIC[:2], range(9), _by_exponents),
    "range": _Range("range(end) or range(first, end, step)", "range(5)", (1, 2, 3), _whole),
}
