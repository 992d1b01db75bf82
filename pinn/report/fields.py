"""The unknowns of a solution on grids, as the numbers that the page draws them from.

Unknowns of the same coordinates make a group. One or two coordinates are drawn; of the others up to
two have a slider each, time first, and what is left is held in the middle of its bounds. The values
of all places of the sliders are in the page, thinned so that all groups together stay within
`MOST_NUMBERS`. Arrays are float32 in base64; an error is the difference of float64 values, because
that of float32 values would end at 1e-7 of them.
"""

from __future__ import annotations

import base64
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pinn.figures.rim import rim_of
from pinn.figures.scales import scale_of
from pinn.geometry import Shape
from pinn.problem import Problem
from pinn.solution.pictured import measured_at
from pinn.solution.sampled import Sampled, sampled
from pinn.solution.solution import Solution

# In all arrays of a page together: 1.6 MB as text.
MOST_NUMBERS = 300_000

_LINE, _MAP, _MAP_OF_MANY = 401, 129, 61
_LEAST_LINE, _LEAST_MAP = 101, 33
_PLACES = ((31,), (13, 7))
# Rims are looked for on grids of so many cells: those of many places may be needed.
_RIM_CELLS = 256
# Corners of a rim closer to the line between their neighbours, as a share of the box, are left out.
_STRAIGHT = 5e-4


@dataclass(frozen=True)
class Layout:
    """Which coordinates of a group are drawn, which have a slider, and which are held where.

    drawn: one name, or the horizontal one and the vertical one. counts: by name, of drawn ones and
    of those with a slider.
    """

    drawn: tuple[str, ...]
    sliders: tuple[str, ...]
    held: Mapping[str, float]
    counts: Mapping[str, int]


def fields_data(solution: Solution, numbers: int = MOST_NUMBERS) -> list[dict[str, Any]]:
    """Return the groups of unknowns of a solution, as plain data and texts.

    numbers: how many there may be in all arrays, as far as a picture can be coarse.
    Each has "axes" (the drawn coordinates with their label, low, high and count, the horizontal one
    first), "sliders" (the same), "held", "equal" (whether lengths are drawn to scale) and
    "unknowns": name, label, values and, with a reference, error (value - reference), each base64 of
    float32 in the order sliders, vertical, horizontal, nan outside of the domain; the scales of
    both; the outlines of a domain that is no box ("rims") and where it was measured.
    """
    groups: dict[tuple[str, ...], list[str]] = {}
    for name in solution.problem.solved:
        coordinates = solution.domain_of(name).coordinates
        if coordinates:
            groups.setdefault(coordinates, []).append(name)
    arrays = 2 * sum(map(len, groups.values()))
    return [_group(solution, names, numbers // arrays) for names in groups.values()]


def layout_of(domain: Shape, numbers: int) -> Layout:
    """Return how a domain is shown with so many numbers for each unknown, at most."""
    bounds, time = domain.bounds, domain.time
    families = [family.name for family in domain.families]
    plain = [name for name in bounds if name not in families]
    if len(plain) > 2 and time in plain:
        plain.remove(time)  # two of space are drawn, and time passes
    drawn = tuple(plain[:2] or families[:2])
    if time == drawn[-1]:
        drawn = drawn[::-1]  # time runs to the right
    others = [name for name in bounds if name not in drawn]
    others.sort(key=lambda name: (name != time, name in families))
    sliders = tuple(others[:2])
    least = _LEAST_LINE if len(drawn) == 1 else _LEAST_MAP**2
    places = [1] * len(sliders)
    if sliders:
        most = _PLACES[len(sliders) - 1]
        shrink = min(1.0, numbers / (least * math.prod(most))) ** (1 / len(sliders))
        places = [max(3, _odd(count * shrink)) for count in most]
    counts = dict(zip(sliders, places, strict=True))
    room = max(least, numbers // math.prod(places))
    if len(drawn) == 1:
        counts[drawn[0]] = _odd(min(_LINE, room))
    else:
        side = min(_MAP_OF_MANY if sliders else _MAP, int(math.sqrt(room)))
        ratio = 1.0
        if time not in drawn and not set(drawn) & set(families):
            # The cells are squares, and as many as of a square.
            wide, high = (bounds[name][1] - bounds[name][0] for name in drawn)
            ratio = min(max(math.sqrt(wide / high), 0.3), 3.0)
        counts |= {drawn[0]: _odd(side * ratio), drawn[1]: _odd(side / ratio)}
    held = {name: sum(bounds[name]) / 2 for name in others[2:]}
    held |= {family.name: family.middle for family in domain.families if family.name in held}
    return Layout(drawn, sliders, held, counts)


def _odd(count: float) -> int:
    """Return the largest odd number up to one: of so many places the middle is one."""
    return (int(count) - 1) | 1


def _group(solution: Solution, names: Sequence[str], numbers: int) -> dict[str, Any]:
    domain = solution.domain_of(names[0])
    shown = layout_of(domain, numbers)
    # The last axis is the horizontal one, as in the rows of a picture.
    order = (*shown.sliders, *shown.drawn[::-1])
    grids = {name: np.linspace(*domain.bounds[name], shown.counts[name]) for name in order}
    meshed = dict(zip(order, np.meshgrid(*grids.values(), indexing="ij"), strict=True))
    places = {**shown.held, **meshed}
    found = {name: sampled(solution, name, places) for name in names}
    rims: dict[bytes, Any] = {}  # most often that of one unknown is that of all
    for one in found.values():
        mask = one.inside.tobytes()
        rims[mask] = rims[mask] if mask in rims else _rims(domain, shown, grids, one)
    labels = {name: labelled(solution.problem, name) for name in (*names, *order)}

    def axis(name: str) -> dict[str, Any]:
        low, *_, high = grids[name].tolist()
        return {
            "name": name, "label": labels[name], "low": low, "high": high,
            "count": shown.counts[name],
        }  # fmt: skip

    return {
        "axes": [axis(name) for name in shown.drawn],
        "sliders": [
            axis(name)
            | {"start": 0 if name == domain.time else (shown.counts[name] - 1) // 2}
            for name in shown.sliders
        ],
        "held": dict(shown.held),
        "time": domain.time,
        "equal": _to_scale(solution.problem, domain, shown.drawn),
        "unknowns": [
            {
                "name": name, "label": labels[name], **_numbers(one),
                "rims": rims[one.inside.tobytes()],
                "measured": _measured(solution, name, shown),
            }
            for name, one in found.items()
        ],
    }  # fmt: skip


def labelled(problem: Problem, name: str) -> str:
    """Return a name with its unit, as in "x (m)"."""
    unit = problem.units.get(name)
    return f"{name} ({unit})" if unit else name


def _to_scale(problem: Problem, domain: Shape, drawn: Sequence[str]) -> bool:
    if len(drawn) == 1 or not problem.to_scale(drawn):
        return False
    wide, high = (domain.bounds[name][1] - domain.bounds[name][0] for name in drawn)
    return 0.2 <= high / wide <= 5.0


def _numbers(found: Sampled) -> dict[str, Any]:
    """Return values and errors with their scales."""
    told: dict[str, Any] = {"values": packed(found.values), "error": None}
    shown = found.values
    if found.reference is not None and np.isfinite(found.reference).any():
        with np.errstate(invalid="ignore"):
            error = found.values - found.reference
        shown = found.reference
        size = scale_of(np.abs(error), robust=True).high
        told |= {"error": packed(error), "error_scale": {"low": -size, "high": size}}
    scale = scale_of(shown, centred=True, robust=True)
    # A line has no use for an axis that is symmetric about zero.
    ends = scale_of(shown, robust=True)
    told["range"] = [ends.low, ends.high]
    told["scale"] = {
        "low": scale.low, "high": scale.high, "note": scale.note,
        "colours": "diverging" if scale.low == -scale.high else "sequential",
    }  # fmt: skip
    return told


def packed(array: np.ndarray) -> str:
    """Return an array as base64 of float32, the lowest byte first."""
    with np.errstate(over="ignore"):  # beyond float32 it is infinite, and not drawn
        return base64.b64encode(array.astype("<f4").tobytes()).decode("ascii")


def _measured(solution: Solution, name: str, shown: Layout) -> list[list[float]] | None:
    """Return where an unknown was measured, by drawn coordinate, if a map shows all there is."""
    if shown.sliders or len(shown.drawn) != 2:
        return None
    try:
        points = measured_at(solution.problem, name, shown.drawn, shown.held)
    except (OSError, ValueError):
        return None  # of a solution whose data have changed, or cannot be read
    return None if points is None else [column.tolist() for column in points.T]


def _rims(
    domain: Shape, shown: Layout, grids: Mapping[str, np.ndarray], found: Sampled
) -> dict[str, Any] | None:
    """Return the outlines of what is inside a map, for each place of the sliders it depends on.

    None where all is inside, and for lines. {"over": which sliders count, by place, "curves": for
    each place, the last slider fastest, a list of curves [xs, ys]}.
    """
    if len(shown.drawn) == 1 or found.inside.all():
        return None
    inside = found.inside
    over = [k for k in range(len(shown.sliders)) if (inside.any(k) != inside.all(k)).any()]
    places = [grids[name] if k in over else grids[name][:1] for k, name in enumerate(shown.sliders)]
    horizontal, vertical = shown.drawn
    box = np.array([np.ptp(grids[horizontal]), np.ptp(grids[vertical])])
    curves = []
    for at in itertools.product(*places):
        held = {**shown.held, **dict(zip(shown.sliders, at, strict=True))}

        def contains(points: np.ndarray, held: Mapping[str, float] = held) -> np.ndarray:
            known = {**held, **dict(zip(shown.drawn, points.T, strict=True))}
            columns = [np.broadcast_to(known[n], len(points)) for n in domain.coordinates]
            return found.contains(np.stack(columns, axis=-1))

        rim = rim_of(grids[horizontal], grids[vertical], contains, _RIM_CELLS)
        curves.append([
            [[float(f"{number:.5g}") for number in column] for column in curve.T]
            for curve in _closed_curves(rim, box)
        ])
    return {"over": over, "curves": curves}


def _closed_curves(rim: Any, box: np.ndarray) -> Iterator[np.ndarray]:
    """Give the curves of a rim, (n, 2) each, without the corners that lie on a line."""
    if rim.codes is None:
        return
    starts = np.flatnonzero(rim.codes == rim.MOVETO)
    for first, last in zip(starts, [*starts[1:], len(rim.codes)], strict=True):
        yield thinned(rim.vertices[first:last], _STRAIGHT * box)


def thinned(curve: np.ndarray, tolerance: np.ndarray) -> np.ndarray:
    """Return a curve (n, 2) without points that lie on the way between those which are kept.

    tolerance: (2,), how far off they may lie. By Douglas and Peucker, Cartographica 10 (1973) 112.
    """
    scaled = curve / tolerance
    kept = np.zeros(len(curve), dtype=bool)
    kept[[0, -1]] = True
    parts = [(0, len(curve) - 1)]
    while parts:
        first, last = parts.pop()
        if last - first < 2:
            continue
        between = scaled[first + 1 : last] - scaled[first]
        along = scaled[last] - scaled[first]
        length = float(np.hypot(*along))
        if length > 0:
            off = np.abs(between[:, 0] * along[1] - between[:, 1] * along[0]) / length
        else:  # a closed curve begins where it ends
            off = np.hypot(*between.T)
        worst = int(off.argmax())
        if off[worst] > 1:
            middle = first + 1 + worst
            kept[middle] = True
            parts += [(first, middle), (middle, last)]
    return curve[kept]
