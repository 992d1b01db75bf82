"""What every domain can do: name its coordinates, list its faces, place points in and on them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from pinn.geometry.box import Box
    from pinn.geometry.interval import Interval

UnitSampler = Callable[[int, int, np.random.Generator], np.ndarray]
"""A sampler of the unit cube: (n, dimensions, rng) -> (at most n, dimensions) array in [0, 1]."""


@dataclass(frozen=True)
class Face:
    """One side of a domain: the points where `coordinate` equals `value`, its low or high bound."""

    coordinate: str
    side: str
    value: float

    @property
    def label(self) -> str:
        """The name used in block names, such as "x_low"."""
        return f"{self.coordinate}_{self.side}"

    def __str__(self) -> str:
        return f"{self.coordinate}={self.value:g}"


class Domain(ABC):
    """A product of intervals; points are float64 arrays (n, d), columns in declared order."""

    @property
    @abstractmethod
    def intervals(self) -> tuple[Interval, ...]:
        """The one-coordinate factors, in declared order."""

    @property
    def coordinates(self) -> tuple[str, ...]:
        """The names of the coordinates, in declared order."""
        return tuple(interval.name for interval in self.intervals)

    @property
    def bounds(self) -> dict[str, tuple[float, float]]:
        """The (low, high) of each coordinate."""
        return {interval.name: (interval.low, interval.high) for interval in self.intervals}

    @property
    def time(self) -> str | None:
        """The name of the time coordinate, or None."""
        return next((interval.name for interval in self.intervals if interval.is_time), None)

    @property
    def space(self) -> tuple[str, ...]:
        """The names of the coordinates other than time, in declared order."""
        return tuple(interval.name for interval in self.intervals if not interval.is_time)

    @property
    def faces(self) -> tuple[Face, ...]:
        """The low and the high side of each space coordinate."""
        return tuple(
            Face(interval.name, side, value)
            for interval in self.intervals
            if not interval.is_time
            for side, value in (("low", interval.low), ("high", interval.high))
        )

    def __mul__(self, other: Domain) -> Box:
        from pinn.geometry.box import Box

        if not isinstance(other, Domain):
            return NotImplemented
        return Box(*self.intervals, *other.intervals)

    def face(self, text: str) -> Face:
        """Return the face a text such as "x=-1" names.

        The number may be an expression ("x=pi/2"). Raises ValueError, listing the faces there are,
        for a text of another form, an unknown coordinate or a number that is not a bound.
        """
        from pinn.expressions import constant

        known = ", ".join(map(str, self.faces)) or "none: this domain has no space coordinate"
        if not isinstance(text, str) or text.count("=") != 1:
            raise ValueError(f'expected a face such as "x=-1", got {text!r}; faces: {known}')
        name, number = (part.strip() for part in text.split("="))
        value = constant(number)
        for face in self.faces:
            low, high = self.bounds[face.coordinate]
            # "x=0.3333333333" should find a bound of 1/3; two bounds are never this close.
            if face.coordinate == name and abs(face.value - value) <= 1e-9 * (high - low):
                return face
        raise ValueError(f"no face {text!r} in this domain; faces: {known}")

    def sample_interior(
        self, n: int, sampler: UnitSampler, rng: np.random.Generator
    ) -> np.ndarray:
        """Return points inside the domain: (n, d), or fewer rows from a sampler of grids."""
        return self._sample(n, sampler, rng, fixed={})

    def sample_initial(self, n: int, sampler: UnitSampler, rng: np.random.Generator) -> np.ndarray:
        """Return points at the start of time, (n, d); one point where time is all there is.

        Raises ValueError for a domain without a time coordinate.
        """
        if self.time is None:
            names = ", ".join(self.coordinates)
            raise ValueError(
                f"this domain has no time coordinate, only {names}; make one with pinn.Time"
            )
        return self._sample(n, sampler, rng, fixed={self.time: self.bounds[self.time][0]})

    def sample_face(
        self, face: Face, n: int, sampler: UnitSampler, rng: np.random.Generator
    ) -> np.ndarray:
        """Return points on one face, (n, d); one point where the face is a single point."""
        return self._sample(n, sampler, rng, fixed={face.coordinate: face.value})

    def sample_faces(
        self,
        faces: tuple[Face, ...],
        n: int,
        sampler: UnitSampler,
        rng: np.random.Generator,
    ) -> np.ndarray:
        """Return n points shared among faces by their size, at least one each: (n, d)."""
        sizes = np.array([self._face_size(face) for face in faces])
        # Rounding the running total keeps the sum at n whatever the single shares round to.
        edges = np.rint(np.cumsum(sizes) / sizes.sum() * n).astype(int)
        counts = np.maximum(np.diff(edges, prepend=0), 1)
        return np.concatenate(
            [
                self.sample_face(face, int(count), sampler, rng)
                for face, count in zip(faces, counts, strict=True)
            ]
        )

    def _face_size(self, face: Face) -> float:
        others = [i for i in self.intervals if i.name != face.coordinate]
        return float(np.prod([i.high - i.low for i in others]))

    def _sample(
        self,
        n: int,
        sampler: UnitSampler,
        rng: np.random.Generator,
        fixed: dict[str, float],
    ) -> np.ndarray:
        free = [i for i in self.intervals if i.name not in fixed]
        unit = sampler(n, len(free), rng) if free else np.empty((1, 0))
        points = np.empty((len(unit), len(self.intervals)))
        columns = iter(unit.T)
        for j, interval in enumerate(self.intervals):
            if interval.name in fixed:
                points[:, j] = fixed[interval.name]
            else:
                low, high = interval.low, interval.high
                # Rounding may carry low + (high - low) * u past high by one unit in the last place.
                points[:, j] = np.clip(low + (high - low) * next(columns), low, high)
        return points
