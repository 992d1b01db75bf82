"""The weights of blocks that training ended with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pinn.solution import Solution


def last_weights(solution: Solution, records: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Return the weight of each block at the end of training: those given where none were moved.

    records: what was logged on the way, as a report's history.
    """
    last = next((r["weights"] for r in reversed(records) if r.get("weights")), {})
    known = {name: weight for name, weight in last.items() if weight is not None}
    given = {**solution.experiment.weighting.initial, **known}
    names = [residual.name for residual in solution.problem.residuals]
    return {name: float(given.get(name, 1.0)) for name in names}
