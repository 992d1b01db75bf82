"""How DeepXDE solves a problem: what its example of it states, in its own terms."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Adam:
    """So many steps of Adam; decay: as DeepXDE's compile takes it, ("inverse time", k, r).

    draws: whether the points are drawn anew before every step.
    """

    steps: int
    rate: float = 1e-3
    decay: tuple[Any, ...] | None = None
    draws: bool = False

    def __str__(self) -> str:
        slower = f", rate / (1 + {self.decay[2]:g} i / {self.decay[1]})" if self.decay else ""
        drawn = ", new points every step" if self.draws else ""
        return f"Adam {self.steps} steps of {self.rate:g}{slower}{drawn}"


@dataclass(frozen=True)
class LBFGS:
    """L-BFGS with DeepXDE's own options: at most 15 000 steps, 100 pairs."""

    steps: int = 15_000

    def __str__(self) -> str:
        return f"L-BFGS, at most {self.steps} steps"


@dataclass(frozen=True)
class Setting:
    """A problem as DeepXDE states it, and how it is trained.

    data and net: of DeepXDE. coordinates: names of the network's inputs. unknowns: names of its
    outputs. stages: one after the other. weights: of the terms of the loss, in DeepXDE's order, or
    a function of their values before the first step. coefficients: variables to be found, by name.
    """

    data: Any
    net: Any
    coordinates: tuple[str, ...]
    unknowns: tuple[str, ...]
    stages: Sequence[Adam | LBFGS]
    weights: Sequence[float] | Callable[[np.ndarray], Sequence[float]] | None = None
    coefficients: Mapping[str, Any] = field(default_factory=dict)
