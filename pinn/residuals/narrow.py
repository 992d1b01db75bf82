"""What is known in an equation or a condition and happens in a small place, as text says where."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from pinn.equations.jumps import is_of_place
from pinn.expressions import Binary, Call, Expression, ExpressionError, Unary, abridge
from pinn.expressions.conditions import is_condition
from pinn.residuals.crossings import coordinates_of, operands, parts_in, values_of
from pinn.residuals.gathered import Places, places_of, weighed
from pinn.residuals.residual import Residual
from pinn.sampling import Points, stream

# Fewer points in it, counted by what each stands for, do not tell how large a place is: others are
# drawn in a box around them.
_ENOUGH = 200
# A part of a larger share is not looked for any closer, and one of a still larger share is not
# narrow: where points miss it they are too few for anything.
_BROAD, _NOT_NARROW = 0.01, 0.05
# Where so few are in it in the end it is the rounding at an end, as that of t > 4 in t from 4 on.
_FEW = 20
# A part that is more times as large somewhere as half of it is has no size: 1/t at 0.
_SINGULAR = 100.0
# Points that stand for the place where a part is.
_POINTS = 64
# Where it is wider than this share of the domain its place there tells nothing.
_WIDE = 0.5
# What such functions make of coordinates is nowhere narrow, if nothing else is in it.
_SMOOTH = frozenset({"sin", "cos", "sqrt", "log", "asin", "acos", "atan"})
# Parts of more trees than these are left alone.
_MOST_PARTS = 50
# Characters of a part that are shown.
_SHOWN = 72
# So few points where a part is hardly meet it.
_HARDLY = 3


@dataclass(frozen=True, eq=False)
class Narrow:
    """A part of a residual that is known, and where most of it is.

    text: the part. points: where it is, (64, d). change: by how much it differs there from what it
    is elsewhere, (64,). share: how much of the source of points that place is, half of the part
    being there. added: whether the residual has it as a term, and not in or before an unknown's.
    box: the least and the largest coordinates of that place, (2, d). tree: the part, resolved.
    """

    text: str
    points: np.ndarray
    change: np.ndarray
    share: float
    added: bool
    box: np.ndarray
    tree: Expression
    _names: tuple[str, ...]
    _constants: Mapping[str, float]
    _usual: float
    _least: float

    def is_met(self, points: Points) -> bool:
        """Return whether three of some points or more are where it is."""
        values = self.values(self.tree, points.coordinates)
        return int(np.sum(np.abs(values - self._usual) >= self._least)) >= _HARDLY

    def is_met_by(self, count: int) -> bool:
        """Return whether so many of even points can be expected there."""
        return self.share * count >= _HARDLY

    def values(self, tree: Expression, points: np.ndarray) -> np.ndarray:
        """Return the values of something in the part, (n,), at points (n, d)."""
        return values_of(tree, self._names, points, self._constants)

    def place(self, bounds: Mapping[str, tuple[float, float]]) -> str:
        """Return where it is, in words: "t = 4.001 (0.002 wide), x = 0.5 (0.1 wide)"."""
        shown = []
        for name, (least, most) in zip(self._names, self.box.T, strict=True):
            (low, high), width = bounds[name], float(most - least)
            if width > _WIDE * (high - low) or name not in coordinates_of(self.tree):
                continue
            wide = f" ({width:.2g} wide)" if width > 0 else ""
            middle = float(least) + width / 2
            shown.append(f"{name} = {by_width(middle, width)}{wide}")
        return ", ".join(shown) or "small places all over the domain"


def narrow(residual: Residual, constants: Mapping[str, float]) -> tuple[Narrow, ...]:
    """Return the known parts of a residual, with the place where each is; () where none can be.

    Known are functions of the place alone, conditions of where too; a function that is no text, a
    table and what stands in an integral are not looked into. No network is run: places are looked
    at by the ten thousand, and ever closer to where differences in the text change their sign
    (pinn.residuals.crossings), so that what is 1e-13 of the domain wide is found.
    """
    places = places_of(residual.source)
    trees = [term.formula for term in residual.terms]
    if places is None or None in trees or residual.whole:
        return ()
    families = places.domain.families
    random = frozenset(one.name for one in families if one.spacing == "normal")
    parts = dict.fromkeys(part for tree in trees for part in _known(tree, random))
    if not parts or len(parts) > _MOST_PARTS:
        return ()
    return _found(tuple(parts), places, tuple(constants.items()))


def _known(
    tree: Expression, random: frozenset[str]
) -> Iterator[tuple[Expression, bool]]:
    """Yield the largest parts that depend on the place alone, and whether each is a term.

    random: coordinates that are no place, the numbers of a function's modes.
    """
    rest = [(tree, True)]
    while rest:
        node, added = rest.pop()
        if isinstance(node, Binary) and node.operator in ("+", "-"):
            rest += [(child, added) for child in node.children]
        elif isinstance(node, Unary) and not is_condition(node):
            rest.append((node.operand, added))
        elif is_of_place(node) and random.isdisjoint(coordinates_of(node)):
            if _may_be_narrow(node):
                yield node, added
        else:
            rest += [(child, False) for child in operands(node)]


def _may_be_narrow(tree: Expression) -> bool:
    """Return whether a function of the place is more than waves and powers of coordinates."""
    if not coordinates_of(tree):
        return False
    for node in parts_in(tree):
        if is_condition(node) or isinstance(node, Call) and node.function not in _SMOOTH:
            return True
        if isinstance(node, Binary) and node.operator in ("/", "**"):
            if coordinates_of(node.right):
                return True
    return False


@lru_cache(maxsize=128)
def _found(
    parts: tuple[tuple[Expression, bool], ...],
    places: Places,
    constants: tuple[tuple[str, float], ...],
) -> tuple[Narrow, ...]:
    numbers = dict(constants)
    found = (_of_known_part(*part, places, numbers) for part in parts)
    return tuple(one for one in found if one is not None)


def _of_known_part(*arguments: Any) -> Any:
    """Return what `_of_part` does, None for a part with a value from elsewhere: at(u, t=t - 1)."""
    try:
        return _of_part(*arguments)
    except ExpressionError:
        return None


def _of_part(
    tree: Expression, added: bool, places: Places, constants: Mapping[str, float]
) -> Narrow | None:
    seen = _seen(tree, places, constants, closer=False)
    if seen is None or not (seen.is_enough and seen.share > _BROAD):
        seen = _seen(tree, places, constants)
    if seen is not None and not seen.is_enough:
        seen = _seen(tree, places, constants, box=seen.box)
    if seen is None or seen.share > _NOT_NARROW or len(np.unique(seen.points, axis=0)) < _FEW:
        return None
    if seen.change.max() > _SINGULAR * seen.least:
        return None
    rng = stream(0, "narrow", str(tree))
    drawn = rng.choice(len(seen.points), _POINTS, p=seen.weights / seen.weights.sum())
    return Narrow(
        abridge(str(tree), _SHOWN), seen.points[drawn], seen.change[drawn], seen.share, added,
        seen.box, tree, places.domain.coordinates, constants, seen.usual, seen.least,
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class _Seen:
    """The points where half of a part is, with what each stands for, and what it is elsewhere.

    least: the change from there on. share: of all places.
    """

    points: np.ndarray
    weights: np.ndarray
    change: np.ndarray
    usual: float
    least: float
    share: float

    @property
    def is_enough(self) -> bool:
        """Whether they tell how large the place is."""
        return bool(self.weights.sum() ** 2 > _ENOUGH * (self.weights @ self.weights))

    @property
    def box(self) -> np.ndarray:
        """The least and the largest coordinates, (2, d)."""
        return np.stack([self.points.min(axis=0), self.points.max(axis=0)])


def _seen(
    tree: Expression, places: Places, constants: Mapping[str, float], **how: Any
) -> _Seen | None:
    """Return where a part is, as far as places that are drawn tell; None where it is one number.

    how: as of weighed.
    """
    points, weights = weighed(tree, places, constants, **how)
    values = values_of(tree, places.domain.coordinates, points, constants)
    fine = np.isfinite(values) & (weights > 0)
    points, weights, values = points[fine], weights[fine], values[fine]
    if not len(values):
        return None
    usual = _median(values, weights)
    change = np.abs(values - usual)
    order = np.argsort(-change)
    amount = np.cumsum((weights * change)[order])
    if not amount[-1] > 0:
        return None
    least = float(change[order][np.searchsorted(amount, amount[-1] / 2)])
    there = change >= least
    share = float(weights[there].sum() / weights.sum())
    return _Seen(points[there], weights[there], change[there], usual, least, share)


def _median(values: np.ndarray, weights: np.ndarray) -> float:
    order = np.argsort(values)
    whole = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(whole, whole[-1] / 2)])


def by_width(value: float, width: float) -> str:
    """Return a number with as many digits as its width has a use for."""
    if not width or not value:
        return f"{value:.6g}"
    digits = int(np.clip(np.ceil(np.log10(abs(value) / width)) + 1, 3, 15))
    return f"{value:.{digits}g}"
