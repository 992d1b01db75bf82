"""Points of a problem, given by the names of its coordinates."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from pinn.checks import nearest
from pinn.geometry import Shape


def points_of(
    domain: Shape,
    coordinates: Mapping[str, Any],
    needed: set[str] | None = None,
    functions: Mapping[str, Sequence[str]] | None = None,
) -> tuple[np.ndarray, tuple[int, ...]]:
    """Return points (n, d) in the order of the domain's coordinates, and their broadcast shape.

    coordinates: a number or an array for each. needed: those that must be given, all where left
    out; others are then nan. functions: name -> the numbers of its modes, of what may be given in
    their place, for messages. Raises TypeError for a missing or unknown coordinate, ValueError for
    shapes that do not broadcast and for nan.
    """
    names = domain.coordinates
    missing = [n for n in names if n not in coordinates and (needed is None or n in needed)]
    unknown = [name for name in coordinates if name not in names]
    if missing or unknown:
        _refuse_names(domain, missing, unknown, functions or {})
    arrays = [
        _numbers(name, coordinates[name]) if name in coordinates else np.array(math.nan)
        for name in names
    ]
    try:
        arrays = np.broadcast_arrays(*arrays)
    except ValueError as error:
        shapes = ", ".join(f"{n} {a.shape}" for n, a in zip(names, arrays, strict=True))
        raise ValueError(f"the coordinates do not broadcast together: {shapes}") from error
    return np.stack([array.reshape(-1) for array in arrays], axis=1), arrays[0].shape


def _refuse_names(
    domain: Shape,
    missing: Sequence[str],
    unknown: Sequence[str],
    functions: Mapping[str, Sequence[str]],
) -> NoReturn:
    middles = {family.name: f"{family.middle:.3g}" for family in domain.families}
    middles |= dict.fromkeys(functions, "f")
    owner = {mode: name for name, modes in functions.items() for mode in modes}
    names = list(dict.fromkeys(owner.get(name, name) for name in domain.coordinates))
    missing = list(dict.fromkeys(owner.get(name, name) for name in missing))
    told = []
    if missing:
        one = len(missing) == 1
        shown = ", ".join(f"{name}={middles.get(name, '...')}" for name in names)
        told.append(
            f"{', '.join(missing)} {'is' if one else 'are'} missing: give "
            f"{'its value' if one else 'their values'}, as in evaluate({shown})"
            + ", with f a function of arrays or a text such as \"sin(pi*x)\"" * bool(functions)
        )
    for name in unknown:
        told.append(
            f"{name!r} is no coordinate of this problem, which has {', '.join(names)}"
            f"{nearest(name, names)}"
        )
    raise TypeError("; ".join(told))


def _numbers(name: str, given: Any) -> np.ndarray:
    """Return what was given for a coordinate as float64; TypeError for what is no number."""
    try:
        array = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        shown = repr(given)
        shown = shown if len(shown) <= 60 else f"{shown[:57]}..."
        raise TypeError(f"{name}: expected a number or an array of numbers, got {shown}") from error
    bad = np.argwhere(np.isnan(array))
    if len(bad):
        index = ", ".join(map(str, bad[0]))
        more = f" ({len(bad)} of {array.size} are nan)" if len(bad) > 1 else ""
        raise ValueError(
            f"{name}: expected numbers, got nan{f' at index {index}' if index else ''}{more}"
        )
    return array
