"""The strong Wolfe line search: bracket, then zoom with cubic interpolation."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple


class Point(NamedTuple):
    """The objective at one step length: value, gradient (a flat array), slope along the line."""

    step: float
    value: float
    grad: Any
    slope: float


@dataclass(frozen=True)
class Found:
    """The point a line search ended at, and how many evaluations it took."""

    point: Point
    evaluations: int


def cubic_minimum(a: Point, b: Point, low: float, high: float) -> float:
    """Return the minimiser of the cubic through two points and slopes, kept inside [low, high].

    The middle of [low, high] where the cubic has none, or a value is not finite.
    Source: Nocedal and Wright, Numerical Optimization, 2nd ed., eq. 3.59.
    """
    if a.step > b.step:
        a, b = b, a
    width = b.step - a.step
    if width == 0 or not math.isfinite(a.value + b.value + a.slope + b.slope):
        return (low + high) / 2
    d1 = a.slope + b.slope - 3 * (a.value - b.value) / (a.step - b.step)
    square = d1 * d1 - a.slope * b.slope
    if square < 0:
        return (low + high) / 2
    d2 = math.sqrt(square)
    bottom = b.slope - a.slope + 2 * d2
    if bottom == 0:
        return (low + high) / 2
    return min(max(b.step - width * ((b.slope + d2 - d1) / bottom), low), high)


def strong_wolfe(
    evaluate: Callable[[float], Point],
    start: Point,
    step: float,
    scale: float,
    *,
    c1: float = 1e-4,
    c2: float = 0.9,
    tolerance_change: float = 1e-9,
    max_evaluations: int = 25,
) -> Found:
    """Return a point that fulfils the strong Wolfe conditions, or the best one when it gives up.

    evaluate  returns the Point at a step length.
    start     the point at step 0; its slope is negative.
    step      the first step length to try.
    scale     the largest component of the direction: the search ends when the bracket times
              `scale` is below `tolerance_change`.
    A value that is not finite counts as too high.  Source: Nocedal and Wright, algorithms 3.5 and
    3.6, with the safeguards of M. Schmidt's minFunc, as in torch.optim.LBFGS: the same steps are
    tried in the same order, which is why pinn's search (More and Thuente's) takes no part here.
    """

    def too_high(point: Point) -> bool:
        return not point.value <= start.value + c1 * point.step * start.slope

    def flat(point: Point) -> bool:
        return abs(point.slope) <= -c2 * start.slope

    previous, current = start, evaluate(step)
    evaluations, rounds = 1, 0
    while True:
        if rounds >= max_evaluations:
            bracket = [start, current]
            break
        if too_high(current) or (rounds > 1 and current.value >= previous.value):
            bracket = [previous, current]
            break
        if flat(current):
            return Found(current, evaluations)
        if current.slope >= 0:
            bracket = [previous, current]
            break
        nearest = current.step + 0.01 * (current.step - previous.step)
        step = cubic_minimum(previous, current, nearest, 10 * current.step)
        previous, current = current, evaluate(step)
        evaluations += 1
        rounds += 1

    bracket.sort(key=_height)  # the lower end first
    stuck = False
    while rounds < max_evaluations:
        low, high = bracket
        left, right = sorted((low.step, high.step))
        if (right - left) * scale < tolerance_change:
            break
        step = cubic_minimum(low, high, left, right)
        margin = 0.1 * (right - left)
        if min(right - step, step - left) < margin:
            # a minimiser this close to an end, twice or on it, means the cubic misleads
            if stuck or not left < step < right:
                step = right - margin if abs(step - right) < abs(step - left) else left + margin
                stuck = False
            else:
                stuck = True
        else:
            stuck = False
        trial = evaluate(step)
        evaluations += 1
        rounds += 1
        if too_high(trial) or trial.value >= low.value:
            bracket = sorted((low, trial), key=_height)
            continue
        if flat(trial):
            return Found(trial, evaluations)
        bracket = [trial, low if trial.slope * (high.step - low.step) >= 0 else high]
    return Found(bracket[0], evaluations)


def _height(point: Point) -> float:
    return point.value if math.isfinite(point.value) else math.inf
