"""What a condition is: a quantity of one unknown, a value for it, and where both agree."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from pinn.equations.leaves import Derivative
from pinn.geometry import Domain
from pinn.sampling import Sampling

Value = str | float | Callable[[Any], Any]
"""Text in the coordinates, constants and parameters; a number; or a function of the namespace."""


class Condition(ABC):
    """A quantity of one unknown, a value for it, and the part of the domain where both agree.

    A soft condition is a residual block, trained with the others. A hard one holds exactly,
    whatever the network does (pinn.conditions.hard), and has no block.
    """

    unknown: str
    value: Value
    hard: bool = False

    @abstractmethod
    def name(self, domain: Domain) -> str:
        """Return the name of the residual block, such as "initial_u"."""

    @abstractmethod
    def check(self, domain: Domain) -> None:
        """Raise ValueError where the domain has no such place."""

    @abstractmethod
    def quantity(self, domain: Domain) -> Derivative:
        """Return what equals the value: the unknown or a derivative of it."""

    @abstractmethod
    def sample(self, domain: Domain, sampling: Sampling, rng: np.random.Generator) -> np.ndarray:
        """Return points of the place where the condition holds, (n, d)."""


def check_hard(kind: str, condition: Condition) -> None:
    if not isinstance(condition.hard, bool):
        raise TypeError(
            f"{kind} condition of {condition.unknown!r}: hard: expected True or False, "
            f"got {condition.hard!r}"
        )
