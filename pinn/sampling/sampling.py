"""How many points of each kind a problem gets, and how they are placed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import field, replace
from typing import Annotated

from pinn.geometry import UnitSampler
from pinn.sampling.adaptive import ADAPTIVE, RETAINING
from pinn.sampling.block import BlockKind, BlockSampling
from pinn.sampling.methods import METHODS
from pinn.schema import Count, Fraction, NonNegative, Text, declared
from pinn.schema.errors import refuse
from pinn.schema.kinds import Entry, Integer, Names, Optional, WordOr

# Points of each equation: a network of a thousand numbers is determined by them, with two rows for
# each, and more of them cost steps.
_INTERIOR, _INTERIOR_LINE, _INTERIOR_FUNCTIONS = 2500, 2000, 8000
# Points of an initial condition and of a boundary condition, for so many coordinates and fewer than
# the next: in a plane they lie along lines, in many coordinates in spaces nearly as large as the
# inside.
_INITIAL = {1: 100, 3: 400, 4: 1000}
_BOUNDARY = {1: 200, 3: 800, 4: 1500}
# For each of them, of which an adaptive method chooses one.
_CANDIDATES = 8
# A method that adds points adds one for so many at each draw, up to so many times as many.
_ADDED, _MOST = 20, 2
# Points that turn out to be too few grow up to so many times as many.
_MOST_GROWN = 4

_BLOCKS = Names(BlockKind(), "a mapping from block names to numbers of points or settings")


@declared
class Sampling:
    """Counts and method of the collocation points.

    interior: points of each equation, None for 2000 where there is one coordinate, 2500 where there
    are more and 8000 where functions are inputs. initial: points of each initial condition, None
    for 100 in up to two coordinates, 400 in three and 1000 in more. boundary: points of each
    boundary condition, shared among its faces by their size, None for 200, 800 and 1500. A lattice
    has at most that many.
    blocks: other settings for some blocks, by name, or their number of points.

    redraw: steps after which points are drawn anew, None for never; a stage of few long steps has a
    number of its own (Stage.redraw) that comes first, and has them drawn at once where the loss on
    other points is more than ten times that on these. New points keep a network from fitting its
    points alone. "auto" for when it does: where the loss on other points, looked at every hundred
    steps, is more than twice that on the present ones. Where that happens again soon, those blocks
    of which it is true get half as many points more, up to `most` (None: four times the count).
    keep: the share of the present points that stay then, random ones of each block; the rest is
    drawn as all would be.

    method: an entry of pinn.sampling.METHODS. density: a text in the coordinates and constants, not
    negative; points of equations are then placed at random, in proportion to it.

    adaptive: one of pinn.sampling.ADAPTIVE, None for points that look at no residual. It draws the
    points of equations anew; the first ones, and those of conditions (unless `blocks` says so for
    one), are placed by `method`. "rad" takes them out of `candidates` random ones (None: eight
    times their count), with the density |r|^rad_power / mean(|r|^rad_power) + rad_floor. "rar-d"
    adds `added` points of that density (None: a twentieth of the count) to those there are, up to
    `most` in all (None: twice the count), "rar-g" those of largest residual. "r3" keeps the points
    whose residual is above the mean, and draws the others anew. These three keep points as they
    see fit, and go without `keep`.

    batch: points of each block in a step of Adam, a new subset each step, None for all; all of them
    take part in every step of a solver that compares steps, such as the quasi-Newton ones.

    Raises ValueError for a count below one, an unknown method or fewer candidates than points,
    TypeError for a count that is not a whole number.
    """

    interior: Count | None = None
    initial: Count | None = None
    boundary: Count | None = None
    method: Annotated[str, Entry(METHODS)] = "latin-hypercube"
    redraw: Annotated[int | str | None, Optional(WordOr(("auto",), Integer(low=1)))] = 500
    keep: Fraction = 0.0
    adaptive: Annotated[str, Entry(ADAPTIVE)] | None = "rad"
    candidates: Count | None = None
    rad_power: NonNegative = 1.0
    rad_floor: NonNegative = 1.0
    added: Count | None = None
    most: Count | None = None
    density: Text | None = None
    batch: Count | None = None
    blocks: Annotated[Mapping[str, BlockSampling], _BLOCKS] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.keep and self.adaptive in RETAINING:
            self._refuse_keep(self.adaptive)
        if self.adaptive is None or self.interior is None or self.candidates is None:
            return
        if self.candidates < self.interior:
            refuse(
                f"expected at least the {self.interior} interior points, got {self.candidates}",
                "candidates",
            )

    def resolved(self, coordinates: int, functions: bool = False) -> Sampling:
        """Return the settings for a domain of so many coordinates, with numbers of points.

        functions: whether some of these are the numbers of a function's modes.
        """
        default = _INTERIOR_LINE if coordinates == 1 else _INTERIOR
        default = _INTERIOR_FUNCTIONS if functions else default
        return replace(
            self,
            interior=self.interior or default,
            initial=self.initial or _of(coordinates, _INITIAL),
            boundary=self.boundary or _of(coordinates, _BOUNDARY),
        )

    def of_block(self, block: str, count: int, equation: bool) -> Sampling:
        """Return the settings of one block, whose kind has `count` points; every count a number.

        It has the block's count for points of all kinds. equation: whether what is said of all
        equations is said of the block.
        """
        own = self.blocks.get(block, BlockSampling())
        count = own.count or count
        adaptive = own.adaptive or (self.adaptive if equation else None)
        if self.keep and adaptive in RETAINING:
            self._refuse_keep(adaptive)
        most = _MOST_GROWN if self.redraw == "auto" else _MOST
        if adaptive is not None and self.candidates is not None and self.candidates < count:
            refuse(
                f"expected at least the {count} points of {block}, got {self.candidates}",
                "candidates",
            )
        return replace(
            self,
            interior=count,
            initial=count,
            boundary=count,
            method=own.method or self.method,
            adaptive=adaptive,
            candidates=self.candidates or _CANDIDATES * count,
            added=self.added or max(1, count // _ADDED),
            most=self.most or most * count,
            density=own.density or (self.density if equation else None),
            batch=own.batch or self.batch,
            blocks={},
        )

    def of_count(self, n: int) -> Sampling:
        """Return the settings of n points, whatever their place; each from as many candidates."""
        if n in (self.interior, self.initial, self.boundary):
            return self
        candidates = math.ceil(self.candidates * n / self.interior)
        return replace(self, interior=n, initial=n, boundary=n, candidates=candidates)

    def uniform(self, n: int) -> Sampling:
        """Return the settings of n random points, whatever their place."""
        return replace(
            self, interior=n, initial=n, boundary=n, method="uniform", candidates=None
        )  # fmt: skip

    def _refuse_keep(self, adaptive: str) -> None:
        refuse(
            f"expected 0 with {adaptive}, which keeps points by itself, got {self.keep:g}", "keep"
        )

    @property
    def sampler(self) -> UnitSampler:
        """The method as a function (n, dimensions, rng) -> (n, dimensions) in the unit cube."""
        return METHODS[self.method]


def _of(coordinates: int, counts: Mapping[int, int]) -> int:
    """Return the count of the largest number of coordinates that is not above this one."""
    return counts[max(least for least in counts if least <= coordinates)]
