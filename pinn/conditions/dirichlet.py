"""The value of an unknown on the boundary."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pinn.conditions.condition import Condition, Value, check_hard
from pinn.equations.leaves import Derivative
from pinn.geometry import Domain, Face
from pinn.sampling import Sampling


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
        check_hard("Dirichlet", self)

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
