"""Mini-batches: each step of a first-order solver sees a part of the points."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from pinn.objective import Objective
from pinn.sampling import Points, stream


@dataclass(frozen=True)
class Batches:
    """Which points each step takes: passes over all points in random order.

    sizes: block name -> points a step, all of them for a block that is left out or has no more. A
    pass takes each point once, but for those left over at its end; the next pass has another order.
    """

    sizes: Mapping[str, int]
    seed: int
    _orders: dict[tuple[str, int, int, int], np.ndarray] = field(default_factory=dict, repr=False)

    def rows(
        self, groups: Sequence[Sequence[str]], points: Mapping[str, Points], draw: int, step: int
    ) -> dict[str, np.ndarray]:
        """Return the rows that a step takes of those blocks that do not take all, by name.

        groups: the names of blocks that share their points, and so the rows of the first. draw: how
        often the points had been drawn anew. step: counted from 0 over the whole run.
        """
        found = {}
        for names in groups:
            size, count = self.sizes.get(names[0]), len(points[names[0]])
            if size is not None and size < count:
                rows = self._rows(names[0], size, count, draw, step)
                found.update(dict.fromkeys(names, rows))
        return found

    def _rows(self, name: str, size: int, count: int, draw: int, step: int) -> np.ndarray:
        number, part = divmod(step, count // size)
        key = (name, count, draw, number)
        if key not in self._orders:
            for old in [one for one in self._orders if one[0] == name]:
                del self._orders[old]
            rng = stream(self.seed, "batches", name, str(draw), str(number))
            self._orders[key] = rng.permutation(count)
        return self._orders[key][part * size : (part + 1) * size]


@dataclass(frozen=True)
class AllPoints:
    """All points of an objective: by block, the weights of rows, and which blocks share theirs."""

    points: Mapping[str, Points]
    row_weights: Mapping[str, np.ndarray]
    groups: Sequence[tuple[str, ...]]


class PointsInUse:
    """Which points an objective has at a step: all of them, or a batch.

    On a device it may have all of them and take the batch of each step from there. Points that
    somebody else gives to a block are all of that block's from then on; the others keep theirs.
    Whoever gives it weights of rows does so while it takes all points, or together with new ones.
    """

    def __init__(self, objective: Objective, batches: Batches | None) -> None:
        self._objective = objective
        self._batches = batches
        # What it had before it took a batch, while it has one, and the points of that.
        self._kept: AllPoints | None = None
        self._taken: Mapping[str, Points] = {}
        # Whether it takes batches on a device.
        self._is_ahead = False

    @property
    def all(self) -> AllPoints:
        """All points, whether or not a batch is taken."""
        own, kept = self._own(), self._kept
        if kept is not None and not own:
            return kept
        points = {block.name: block.points for block in self._objective.blocks}
        weights = self._objective.row_weights
        if kept is not None:
            points = {name: p if name in own else kept.points[name] for name, p in points.items()}
            weights = {name: rows for name, rows in weights.items() if name in own}
        return AllPoints(points, weights, [group.key for group in self._objective.groups])

    @property
    def is_batch(self) -> bool:
        """Whether a batch is taken."""
        return self._is_ahead or (self._kept is not None and len(self._own()) < len(self._taken))

    def _own(self) -> set[str]:
        """Return the blocks that somebody else has given points since a batch was taken."""
        blocks = {block.name: block.points for block in self._objective.blocks}
        return {name for name, points in self._taken.items() if blocks[name] is not points}

    def take_ahead(self, now: Callable[[], tuple[int, int]]) -> bool:
        """Take the batches of all steps from now on, on a device; return whether that is new.

        now: the present draw and step.
        """
        if self._batches is None or self._is_ahead:
            return False
        self.take_all()

        def rows(k: int) -> Mapping[str, np.ndarray]:
            (draw, step), everything = now(), self.all
            return self._batches.rows(everything.groups, everything.points, draw, step + k)

        if not rows(0):
            return False
        self._objective.set_batches(rows)
        self._is_ahead = True
        return True

    def place(self, draw: int, step: int) -> None:
        """Have the objective at the batch of a step, where it takes those ahead on a device."""
        if self._is_ahead:
            self.take_all()
            self.take(draw, step)

    def take(self, draw: int, step: int) -> bool:
        """Take the batch of a step, or all points where these are no more; return if any is new."""
        if self._batches is None:
            return False
        everything = self.all
        rows = self._batches.rows(everything.groups, everything.points, draw, step)
        if not rows:
            return self.take_all()
        points = dict(everything.points)
        for names in everything.groups:
            if names[0] in rows:
                # One object for all blocks of a group: they are known to share their points by it.
                points.update(dict.fromkeys(names, points[names[0]][rows[names[0]]]))
        weights = everything.row_weights
        self._place(points, {n: v[rows[n]] if n in rows else v for n, v in weights.items()})
        self._kept, self._taken = everything, points
        return True

    def take_all(self) -> bool:
        """Take all points again; return whether there was a batch."""
        if self._is_ahead:
            self._objective.set_batches(None)
            self._is_ahead = False
            return True
        if self._kept is None:
            return False
        everything = self.all
        self._place(everything.points, everything.row_weights)
        self._kept, self._taken = None, {}
        return True

    def _place(self, points: Mapping[str, Points], rows: Mapping[str, np.ndarray]) -> None:
        weights = self._objective.weights
        self._objective.set_points(points)
        self._objective.set_weights(weights, rows)
