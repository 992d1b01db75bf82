"""Weights under which a measure of each block becomes the same for all of them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pinn.objective.weighting.weighting import State, Weights

# A measure below this share of their mean counts as if it were this: a condition that holds already
# has no gradient, and would get all the weight there is.
_LEAST_SHARE = 1e-5


def balanced(measures: Mapping[str, float]) -> dict[str, float]:
    """Return mean(measures) / (measure + 1e-5 mean(measures)) of each block, 1 for equal ones."""
    mean = float(np.mean(list(measures.values())))
    if mean == 0:
        return dict.fromkeys(measures, 1.0)
    return {name: mean / (one + _LEAST_SHARE * mean) for name, one in measures.items()}


def averaged(
    wanted: Mapping[str, float], memory: float, state: State
) -> tuple[Weights, dict[str, np.ndarray]]:
    """Return memory * the last weights + (1 - memory) * those wanted now, and the state of it.

    The first time they are those wanted.
    """
    now = np.array(list(wanted.values()))
    if state:
        now = memory * state["weights"] + (1 - memory) * now
    return Weights(dict(zip(wanted, now.tolist(), strict=True))), {"weights": now}
