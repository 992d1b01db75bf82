"""Line search for the strong Wolfe conditions."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

Slice = Callable[[float], tuple[float, float]]
"""alpha -> f(alpha), f'(alpha) along the search direction; not finite where f has no value."""

# The search gives up when the interval is this small a share of its upper end.
_NARROW = 1e-14
# How far a step may grow beyond the last one, while no minimum is bracketed.
_GROW_LEAST, _GROW_MOST = 1.1, 4.0
# A bracket that has not shrunk by this factor in two trials is halved.
_SHRINK = 0.66
# How much of a step is kept when there is no value, or nothing to go by, at its end.
_RETREAT = 0.1


@dataclass(frozen=True)
class Conditions:
    """f(alpha) <= f(0) + c1 alpha f'(0) and |f'(alpha)| <= c2 |f'(0)|."""

    c1: float = 1e-4
    c2: float = 0.9

    def hold(self, start: tuple[float, float], alpha: float, end: tuple[float, float]) -> bool:
        """Whether a step alpha > 0 satisfies both; start and end are (f, f')."""
        (f0, d0), (f, d) = start, end
        return f <= f0 + self.c1 * alpha * d0 and abs(d) <= -self.c2 * d0


@dataclass
class _Point:
    """A step with f and its slope there."""

    x: float
    f: float
    d: float

    def tilted(self, slope: float) -> _Point:
        """The same point of f(x) - slope x."""
        return _Point(self.x, self.f - self.x * slope, self.d - slope)


def wolfe_step(
    along: Slice, f0: float, d0: float, first: float, most: int, conditions: Conditions
) -> float | None:
    """Return a step that satisfies the strong Wolfe conditions, or None where none was found.

    The search interpolates by cubics and parabolas, with safeguards. along: evaluated once at each
    step that is tried, first at `first`. f0, d0: value and slope at 0, with d0 < 0. most: how many
    steps are tried. Where there is no finite value the step is shortened, and no longer one is
    tried again.

    autograd.optim has a search of its own, which tries the steps that PyTorch's L-BFGS tries.

    More and Thuente, ACM Trans. Math. Softw. 20 (1994) 286.
    """
    needed = conditions.c1 * d0  # the slope of the line that f has to get below
    best, other = _Point(0.0, f0, d0), _Point(0.0, f0, d0)
    bracketed, descending = False, True
    width, width_before = math.inf, math.inf
    low, high, wall = 0.0, first + _GROW_MOST * first, math.inf
    step = first
    for _ in range(most):
        f, d = along(step)
        if not (math.isfinite(f) and math.isfinite(d)):
            wall = step
            step = best.x + _RETREAT * (step - best.x)
            if not 0.0 < step < wall or step == best.x:
                return None
            high = min(high, wall)
            continue
        if conditions.hold((f0, d0), step, (f, d)):
            return step
        target = f0 + step * needed
        if descending and f <= target and d >= 0:
            descending = False
        trial = _Point(step, f, d)
        if descending and target < f <= best.f:
            # While f itself is not low enough, interpolate f less the line, which has a minimum.
            tilted = (point.tilted(needed) for point in (best, other, trial))
            best, other, step, bracketed = _next(*tilted, bracketed, low, high)
            best, other = best.tilted(-needed), other.tilted(-needed)
        else:
            best, other, step, bracketed = _next(best, other, trial, bracketed, low, high)
        if bracketed:
            if abs(other.x - best.x) >= _SHRINK * width_before:
                step = best.x + 0.5 * (other.x - best.x)
            width_before, width = width, abs(other.x - best.x)
            low, high = sorted((best.x, other.x))
            if high - low <= _NARROW * high:
                return None
            if not low < step < high:
                # Lost in rounding: the minimum is many orders nearer to `best` than the other end.
                step = best.x + _RETREAT * (other.x - best.x)
        else:
            low = step + _GROW_LEAST * (step - best.x)
            high = step + _GROW_MOST * (step - best.x)
        if step >= wall:
            step = best.x + 0.5 * (wall - best.x)
        if not (math.isfinite(step) and step > 0):
            return None
    return None


def _next(
    best: _Point, other: _Point, trial: _Point, bracketed: bool, low: float, high: float
) -> tuple[_Point, _Point, float, bool]:
    """Return the new ends of the interval, the step to try, and whether a minimum is between.

    best is the end with the lowest f; the other end lies where best's slope points to. Section 4 of
    the paper, cases 1 to 4.
    """
    ahead = trial.x > best.x
    opposite = trial.d * best.d < 0
    if trial.f > best.f:
        # The minimum is between: the cubic, or half way to the parabola that is farther off.
        cubic = _cubic(best, trial)
        slope = (best.f - trial.f) / (trial.x - best.x) + best.d
        parabola = best.x + 0.5 * (best.d / slope) * (trial.x - best.x)
        near = abs(cubic - best.x) < abs(parabola - best.x)
        step = cubic if near else cubic + 0.5 * (parabola - cubic)
        return best, trial, step, True
    if opposite:
        # Past the minimum: whichever of cubic and secant goes back farther.
        cubic, secant = _cubic(trial, best), _secant(trial, best)
        far = abs(cubic - trial.x) > abs(secant - trial.x)
        return trial, best, cubic if far else secant, True
    if abs(trial.d) < abs(best.d):
        # The slope falls off: the cubic, where it has a minimum that way.
        cubic, secant = _cubic(trial, best, high if ahead else low), _secant(trial, best)
        if bracketed:
            near = abs(cubic - trial.x) < abs(secant - trial.x)
            step = cubic if near else secant
            limit = trial.x + _SHRINK * (other.x - trial.x)
            step = min(limit, step) if ahead else max(limit, step)
        else:
            far = abs(cubic - trial.x) > abs(secant - trial.x)
            step = min(max(cubic if far else secant, low), high)
    elif bracketed:
        step = _cubic(trial, other)
    else:
        step = high if ahead else low
    return trial, other, step, bracketed


def _cubic(near: _Point, far: _Point, without: float | None = None) -> float:
    """The minimum of the cubic through both points, from `near`.

    without: taken where the cubic has no minimum on the side away from `far`; without it the
    caller knows that there is one between.
    """
    theta = 3 * (near.f - far.f) / (far.x - near.x) + near.d + far.d
    size = max(abs(theta), abs(near.d), abs(far.d))
    if size == 0:  # flat: nothing to go by
        return near.x if without is None else without
    # Not negative where a minimum exists, but for rounding.
    gamma = size * math.sqrt(max(0.0, (theta / size) ** 2 - (near.d / size) * (far.d / size)))
    if far.x < near.x:
        gamma = -gamma
    if without is None:
        bottom = ((gamma - near.d) + gamma) + far.d
    else:
        bottom = (gamma + (far.d - near.d)) + gamma
    top = (gamma - near.d) + theta
    ratio = top / bottom if bottom != 0 else 0.0
    if without is not None and not (ratio < 0 and gamma != 0):
        return without
    return near.x + ratio * (far.x - near.x)


def _secant(near: _Point, far: _Point) -> float:
    """Where the line through both slopes is zero."""
    return near.x + near.d / (near.d - far.d) * (far.x - near.x)
