"""Where a part of a text that is known is narrow: how far a place is from there, as a formula."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from pinn.expressions import Expression
from pinn.geometry import Shape
from pinn.residuals.crossings import coordinates_of, differences
from pinn.residuals.narrow import Narrow, by_width
from pinn.sampling import stream

# What reaches farther from its middle, as a share of the domain, is followed by any network.
_WIDE = 1 / 12
# A difference that is zero in the middle of a part is off by less than this share of its reach.
_MIDDLE = 0.5
# Points by which the range of a difference over the domain is told.
_EVEN = 4096
# Slopes of a function are looked at in steps of this share of the domain, and are as alike as that.
_STEP, _ALIKE = 1e-4, 1e-6
# Places so far from each other, as a share of the domain, are places of their own, of which so many
# points tell how large it is.
_APART, _FEW = 0.15, 12
_NUMBER = ".6g"


@dataclass(frozen=True)
class Direction:
    """A function of the place that is zero in the middle of a spot, and its size at the edge.

    text: x - 0.3, or x - cos(t) of a spot that moves. where: x = 0.3, in words. coordinates: the
    names in it. reach: its size where half of the part is. range: the largest over the domain, and
    spread: from the least to the largest value there.
    """

    text: str
    where: str
    coordinates: tuple[str, ...]
    reach: float
    range: float
    spread: float


@dataclass(frozen=True)
class Spot:
    """A place of small size along some directions, and of any along the others."""

    directions: tuple[Direction, ...]

    @property
    def coordinates(self) -> tuple[str, ...]:
        """The names that the distance from it depends on."""
        return tuple(dict.fromkeys(name for one in self.directions for name in one.coordinates))

    @property
    def where(self) -> str:
        """Where it is, in words: "x = 0.3 (0.01 wide), y - cos(t) = 0 (0.02 wide)"."""
        return ", ".join(f"{one.where} ({2 * one.reach:.2g} wide)" for one in self.directions)

    @property
    def share(self) -> float:
        """How much of the domain it is, about."""
        return math.prod(2 * one.reach / one.spread for one in self.directions)

    @property
    def squared(self) -> str:
        """The text of the distance from its middle, in widths, squared."""
        return " + ".join(f"(({one.text})/{one.reach:{_NUMBER}})**2" for one in self.directions)

    @property
    def profile(self) -> str:
        """The text of the logarithm of the distance, which goes from -1 to 1 over the domain."""
        farthest = sum((one.range / one.reach) ** 2 for one in self.directions)
        return f"log(1 + {self.squared})/{math.log1p(farthest) / 2:{_NUMBER}} - 1"

    def density(self, amount: float) -> str:
        """Return the text of a density that has as many points at any scale of the distance.

        amount: its mean over the domain, about.
        """
        many, ratios = len(self.directions), [one.spread / one.reach for one in self.directions]
        far = max(ratios) / 2
        radial = {
            1: 2 * math.asinh(far), 2: math.pi * math.log1p(far**2),
            3: 4 * math.pi * (math.asinh(far) - far / math.hypot(1, far)),
        }[many]  # fmt: skip
        height = amount * math.prod(ratios) / radial
        power = "" if many == 2 else f"**{many / 2:g}"
        return f"{height:{_NUMBER}}/(1 + {self.squared}){power}"


def spots(parts: Sequence[Narrow], domain: Shape) -> tuple[Spot, ...]:
    """Return where narrow parts are small in space, those alone of which a formula tells where.

    It is told by the coordinates of a place, and where a spot moves by a difference in the text
    that vanishes there, as x - v*t in exp(-(x - v*t)**2/w**2).
    """
    found = (one for part in parts for one in _of_part(part, domain))
    return tuple(dict.fromkeys(one for one in found if len(one.directions) <= 3))


def _of_part(part: Narrow, domain: Shape) -> Iterator[Spot]:
    """Yield the spot of a part, or one for each of its places where these are small in more."""
    whole = tuple(_directions(part, domain, part.box, part.points))
    several = []
    for points in _places(part, domain):
        box = np.stack([points.min(axis=0), points.max(axis=0)])
        several.append(tuple(_directions(part, domain, box, points)))
    if len(several) > 1 and min(map(len, several)) > len(whole):
        yield from map(Spot, several)
    elif whole:
        yield Spot(whole)


def _places(part: Narrow, domain: Shape) -> Iterator[np.ndarray]:
    """Yield the points of each place of a part, all in one place or far from each other."""
    from scipy.cluster.hierarchy import fcluster, linkage

    low, high = _bounds(domain)
    groups = fcluster(linkage((part.points - low) / (high - low)), _APART, "distance")
    for group in range(1, 1 + groups.max()):
        points = part.points[groups == group]
        if len(points) >= _FEW:  # fewer do not tell how large it is
            yield points


def _directions(
    part: Narrow, domain: Shape, box: np.ndarray, points: np.ndarray
) -> Iterator[Direction]:
    used: set[str] = set()
    for name, (least, most) in zip(domain.coordinates, box.T, strict=True):
        low, high = domain.bounds[name]
        reach, middle = (most - least) / 2, (most + least) / 2
        if name in domain.space and 0 < reach <= _WIDE * (high - low):
            used.add(name)
            text = f"{name} - {middle:.9g}" if middle > 0 else f"{name} + {-middle:.9g}"
            where, range_ = f"{name} = {by_width(middle, reach)}", max(high - middle, middle - low)
            yield Direction(
                text, where, (name,), float(reach), float(range_), float(high - low)
            )
    for tree in differences(part.tree):
        names = coordinates_of(tree)
        own = [name for name in names if name in domain.space and name not in used]
        if len(names) == 1 or not own or not _is_linear(part, tree, domain):
            continue
        there = part.values(tree, points)
        reach = float(np.abs(there).max())
        everywhere = part.values(tree, _even(domain))
        range_, spread = float(np.abs(everywhere).max()), float(np.ptp(everywhere))
        is_zero = abs(there.max() + there.min()) < 2 * _MIDDLE * reach
        if is_zero and 0 < reach <= _WIDE * range_:
            used.add(own[0])
            yield Direction(str(tree), f"{tree} = 0", names, reach, range_, spread)


def _is_linear(part: Narrow, tree: Expression, domain: Shape) -> bool:
    """Return whether a function has the same slopes all over space, at each time."""
    points, (low, high) = _even(domain), _bounds(domain)
    space = [domain.coordinates.index(name) for name in domain.space]
    elsewhere = points.copy()
    elsewhere[:, space] = points[::-1][:, space]
    for j in space:
        step = np.where(np.arange(len(low)) == j, _STEP * (high - low), 0.0)
        here, there = (
            part.values(tree, at + step) - part.values(tree, at - step)
            for at in (points, elsewhere)
        )
        if not np.abs(here - there).max() <= _ALIKE * np.abs(here).max():
            return False
    return True


def _bounds(domain: Shape) -> tuple[np.ndarray, np.ndarray]:
    low, high = np.array(list(domain.bounds.values())).T
    return low, high


def _even(domain: Shape) -> np.ndarray:
    low, high = _bounds(domain)
    return low + (high - low) * stream(0, "spots").random((_EVEN, len(low)))
