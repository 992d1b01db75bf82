"""The loss and its gradient where theta stays on a device: no copy, and no wait."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from autograd.devices import Device, backend, put
from autograd.plan.lanes.cuda.transfers import copy

if TYPE_CHECKING:
    from autograd.plan.lanes.cuda.launched import Held
    from pinn.objective.flat_parameters import FlatParameters
    from pinn.objective.group import Placed


class OnDevice:
    """Evaluations of an objective on its device, of which the host is told nothing.

    The results of one are float64 numbers there: each block's sum of v * r^2, group after group
    (`blocks` of them), then the gradient of each group's sum of seed * v * r^2 (`groups` times
    `size`), `results` in all. run: computes these of all groups, at the parameters as they are.
    held: `() -> calls` that do the same, into places that stay, or None. It belongs to the points
    and weights that there were when it was made. recorded: what solvers have recorded for this
    objective, by a key of theirs.
    """

    def __init__(
        self,
        parameters: FlatParameters,
        device: Device,
        placed: Sequence[Placed],
        run: Callable[[], list[list[Any]]],
        held: Callable[[], tuple[Held, ...] | None],
        recorded: dict[Hashable, Any],
    ) -> None:
        self.device = device
        self.xp = backend(device.type).xp
        self.recorded = recorded
        self.size = parameters.size
        self.groups = len(placed)
        self.counts = np.array([float(len(one.points)) for one in placed])
        self._blocks = [block for one in placed for block in one.blocks]
        self._parameters = parameters
        self._run = run
        self.held = held
        self._shares: Any = None

    @property
    def blocks(self) -> int:
        """How many sums of squares an evaluation gives."""
        return len(self._blocks)

    @property
    def results(self) -> int:
        """How many numbers an evaluation gives."""
        return self.blocks + self.groups * self.size

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
        pairs = sorted(zip(self._blocks, totals, strict=True), key=lambda pair: pair[0].number)
        return {block.name: float(total) / block.rows for block, total in pairs}
