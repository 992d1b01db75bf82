"""Where the points of a residual come from; residuals with equal sources share their points."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

import numpy as np

from pinn.geometry import Domain, Face
from pinn.sampling import Points, Sampling


class Source(ABC):
    """A part of a domain that gives points; equal sources give the same points to all residuals.

    columns: the names of what it attaches to each point, such as a normal's components.
    """

    columns: tuple[str, ...] = ()

    @abstractmethod
    def draw(self, sampling: Sampling, rng: np.random.Generator) -> Points:
        """Return points, as many as the sampling asks for here."""

    def candidates(self, sampling: Sampling, rng: np.random.Generator) -> Points | None:
        """Return even points that an adaptive method chooses from; None where it does not."""
        return None


@dataclass(frozen=True)
class Interior(Source):
    """The inside of a domain, where equations hold."""

    domain: Domain

    def draw(self, sampling: Sampling, rng: np.random.Generator) -> Points:
        return Points(self.domain.sample_interior(sampling.interior, sampling.sampler, rng))

    def candidates(self, sampling: Sampling, rng: np.random.Generator) -> Points | None:
        even = replace(sampling, interior=sampling.candidates, method="uniform")
        return self.draw(even, rng)


@dataclass(frozen=True)
class Start(Source):
    """The start of time."""

    domain: Domain

    def draw(self, sampling: Sampling, rng: np.random.Generator) -> Points:
        return Points(self.domain.sample_initial(sampling.initial, sampling.sampler, rng))


@dataclass(frozen=True)
class Boundary(Source):
    """Some parts of the boundary, with points shared among them by their size."""

    domain: Domain
    parts: tuple[Face, ...]

    def draw(self, sampling: Sampling, rng: np.random.Generator) -> Points:
        n, sampler = sampling.boundary, sampling.sampler
        return Points(self.domain.sample_faces(self.parts, n, sampler, rng))
