"""The loss and its gradient where theta stays on a device: no copy, and no wait."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from autograd.devices import CPU, Device, backend, put
from autograd.plan.lanes.cuda.transfers import copy, gather_row
from autograd.ranks import Ranks

if TYPE_CHECKING:
    from autograd.plan.lanes.cuda.launched import Held
    from pinn.objective.flat_parameters import FlatParameters
    from pinn.objective.gathered import Gathered
    from pinn.objective.group import Placed


class OnDevice:
    """Evaluations of an objective on its device, of which the host is told nothing.

    The results of one are float64 numbers there: each block's sum of v * r^2, group after group
    (`blocks` of them), then the gradient of each group's sum of seed * v * r^2 (`groups` times
    `size`), `results` in all. run: computes these of all groups, at the parameters as they are.
    held: `() -> calls` that do the same, into places that stay, or None. It belongs to the points
    and weights that there were when it was made. recorded: what solvers have recorded for this
    objective, by a key of theirs. ranks: who share the evaluations. gathered: by the number of a
    group, the part of its rows that it is evaluated on, where that is not all. rows: `(k) ->
    {number of a group: rows}`, what each of these takes in the step after k others. Until
    `gather` is called these are the first ones.
    """

    def __init__(
        self,
        parameters: FlatParameters,
        device: Device,
        placed: Sequence[Placed],
        run: Callable[[], list[list[Any]]],
        held: Callable[[], tuple[Held, ...] | None],
        recorded: dict[Hashable, Any],
        ranks: Ranks,
        gathered: Mapping[int, Gathered],
        rows: Callable[[int], Mapping[int, np.ndarray]],
    ) -> None:
        self.device = device
        self.xp = backend(device.type).xp
        self.recorded = recorded
        self.size = parameters.size
        self.groups = len(placed)
        self._gathered, self._rows = gathered, rows
        self.places = sum(one.size for one in gathered.values())
        counts = [gathered[k].size if k in gathered else None for k in range(len(placed))]
        pairs = list(zip(placed, counts, strict=True))
        self.counts = np.array([float(n or len(one.points)) for one, n in pairs])
        self._blocks = [block for one in placed for block in one.blocks]
        self._block_rows = [n or block.rows for one, n in pairs for block in one.blocks]
        self._parameters = parameters
        self._run = run
        self.held = held
        self._ranks = ranks
        self._shares: Any = None

    @property
    def blocks(self) -> int:
        """How many sums of squares an evaluation gives."""
        return len(self._blocks)

    @property
    def results(self) -> int:
        """How many numbers an evaluation gives."""
        return self.blocks + self.groups * self.size

    def places_of(self, count: int) -> np.ndarray:
        """Return the rows that so many steps take from now on, (count, places) int32.

        A row of it has those of one group after the other. places: 0 where all points are taken.
        """
        found = np.empty((count, self.places), np.int32)
        for k, step in enumerate(found):
            rows = self._rows(k)
            np.concatenate([rows[group] for group in self._gathered], out=step)
        return found

    def gather(self, places: Any, number: Any) -> None:
        """Take the rows of one row of such places, an array of the device: a launch of a kernel.

        number: of that row, an int64 array (1,) of the device.
        """
        taken, first = [], 0
        for one in self._gathered.values():
            taken += [(a, b, first) for a, b in zip(one.sources, one.arrays, strict=True)]
            first += one.size
        gather_row(self.xp, taken, places, number)

    def evaluate(self, theta: Any, into: Any, held: Sequence[Held] | None = None) -> None:
        """Write the results at theta, an array (size,) of the device, into one of (results,).

        held: calls that `held` has returned, with which nothing takes memory: launches of kernels
        are all that happens.
        """
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            self._parameters.load_there(theta)
            if held is None:
                found = self._run()
            else:
                found = [one.results for one in held]
                for one in held:
                    one()
            parts = [total for *totals, _ in found for total in totals]
            parts += [slope for *_, slope in found]
            ends = np.cumsum([part.size for part in parts]).tolist()
            copy(self.xp, [
                (self.xp.ascontiguousarray(part), into[end - part.size : end])
                for part, end in zip(parts, ends, strict=True)
            ])  # fmt: skip

    def home(self, array: Any) -> np.ndarray:
        """Return what was made of evaluations on the host, which waits for it.

        Where a rank has failed that ends with its failure: what it owes never arrives.
        """
        self._ranks.settle()
        return put(array, CPU)

    def evaluated_at(self, theta: np.ndarray | None) -> None:
        """Take note of where the last evaluation was; None before some that nobody is told of."""
        self._parameters.loaded(theta)

    def gradient(self, results: Any, counts: Any) -> Any:
        """Return the gradient of the loss, (size,), of what an evaluation gave.

        results, counts: arrays of the device, or tensors where it is recorded. The latter has what
        `counts` has: points drawn anew may be others in number.
        """
        total = None
        for k in range(self.groups):
            start = self.blocks + k * self.size
            part = results[start : start + self.size] / counts[k]
            total = part if total is None else total + part
        return total

    def total_gradient(self, results: Any) -> Any:
        """Return the same of an array (results,) of the device, as an array, by one product."""
        if self._shares is None:
            self._shares = put(1 / self.counts, self.device)
        with np.errstate(over="ignore", invalid="ignore"):
            return self._shares @ results[self.blocks :].reshape(self.groups, self.size)

    def losses(self, totals: np.ndarray) -> dict[str, float]:
        """Return each block's mean(v * r^2) by name, of the sums of squares (blocks,)."""
        found = zip(self._blocks, totals, self._block_rows, strict=True)
        ordered = sorted(found, key=lambda one: one[0].number)
        return {block.name: float(total) / rows for block, total, rows in ordered}
