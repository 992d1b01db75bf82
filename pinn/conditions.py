"""What must hold at the start of time and on the boundary."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pinn.derivatives import Derivative
from pinn.geometry import Domain, Face
from pinn.sampling import Sampling

Value = str | float | Callable[[Any], Any]
"""Text in the coordinates, constants and parameters; a number; or a function of the namespace."""


class Condition(ABC):
    """A quantity of one unknown, a value for it, and the part of the domain where both agree.

    A soft condition is a residual block, trained with the others. A hard one holds exactly,
    whatever the network does (pinn.hard), and has no block.
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


@dataclass(frozen=True)
class Initial(Condition):
    """u = value, or u_t = value with order=1, at the start of time.

    value: text, number or callable. hard: hold exactly instead of in training; order 1 then needs
    order 0 to be hard too. Raises ValueError for another order, and when the problem is made for a
    domain without a time coordinate.
    """

    unknown: str
    value: Value
    order: int = 0
    hard: bool = False

    def __post_init__(self) -> None:
        _check_hard("initial", self)
        if isinstance(self.order, bool) or self.order not in (0, 1):
            raise ValueError(
                f"initial condition of {self.unknown!r}: expected order 0 (the unknown) or 1 (its "
                f"derivative in time), got {self.order!r}"
            )

    def name(self, domain: Domain) -> str:
        return "_".join(["initial", self.unknown, *[str(domain.time)] * self.order])

    def check(self, domain: Domain) -> None:
        if domain.time is None:
            names = ", ".join(domain.coordinates)
            raise ValueError(
                f"an initial condition needs a time coordinate, and this domain has only {names}; "
                "make one with pinn.Time, or use pinn.Dirichlet on a face"
            )

    def quantity(self, domain: Domain) -> Derivative:
        return Derivative(self.unknown, (domain.time,) * self.order)

    def sample(self, domain: Domain, sampling: Sampling, rng: np.random.Generator) -> np.ndarray:
        return domain.sample_initial(sampling.initial, sampling.sampler, rng)


@dataclass(frozen=True)
class Dirichlet(Condition):
    """u = value on every face of every space coordinate, or on one face.

    value: text, number or callable. on: None for all faces, or a text such as "x=-1". hard: hold
    exactly instead of in training. A face that the domain does not have is a ValueError when the
    problem is made.
    """

    unknown: str
    value: Value
    on: str | None = None
    hard: bool = False

    def __post_init__(self) -> None:
        _check_hard("Dirichlet", self)

    def faces(self, domain: Domain) -> tuple[Face, ...]:
        """Return the faces where the condition holds."""
        return domain.faces if self.on is None else (domain.face(self.on),)

    def name(self, domain: Domain) -> str:
        face = [] if self.on is None else [domain.face(self.on).label]
        return "_".join(["dirichlet", self.unknown, *face])

    def check(self, domain: Domain) -> None:
        if not self.faces(domain):
            raise ValueError(
                "a Dirichlet condition needs a space coordinate, and this domain has only "
                f"{', '.join(domain.coordinates)}; use pinn.Initial at the start of time"
            )

    def quantity(self, domain: Domain) -> Derivative:
        return Derivative(self.unknown, ())

    def sample(self, domain: Domain, sampling: Sampling, rng: np.random.Generator) -> np.ndarray:
        return domain.sample_faces(self.faces(domain), sampling.boundary, sampling.sampler, rng)


# The conditions by the names that configs and saved solutions use.
CONDITIONS: dict[str, type[Condition]] = {"initial": Initial, "dirichlet": Dirichlet}


def _check_hard(kind: str, condition: Initial | Dirichlet) -> None:
    if not isinstance(condition.hard, bool):
        raise TypeError(
            f"{kind} condition of {condition.unknown!r}: hard: expected True or False, "
            f"got {condition.hard!r}"
        )
