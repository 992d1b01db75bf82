"""A network for each window of time, exactly continued from one to the next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

import autograd as T
from pinn.equations.outputs import run_columns
from pinn.geometry import AS_TIME, Shape, during
from pinn.models.mlp import MLP
from pinn.models.model import (
    AnyModel,
    Facts,
    Model,
    build_module,
    check_part,
    parameter_count,
    settled_model,
)
from pinn.schema import Count, Few, declared
from pinn.schema.errors import at, refuse

# The time in which a window that takes over a slope as well lets go of what was before, as a share
# of its length.
_SHARE = 0.2


@declared
class Windows(Model):
    """A network for each of `count` equal windows of time, trained one after the other.

    For times that are long beside what happens in them: one network over all of them finds other
    solutions late that fit the equation and not the start, and has to be large. Each window starts
    from the end of the one before, exactly: with t_k where window k begins, s from 0 to 1 in it,

        N_k(x, t) = N_{k-1}(x, t_k) + s M_k(x, t)

    where order is 1. For order 2 the slope in time is taken over as well (see WindowedNetwork).
    Hard conditions are built around all of it, as around any network.

    model: the network M_k of a window. order: how many of u, u_t, ... go over from window to
    window; where left out, as many as the problem has initial conditions for an unknown. A window
    is trained with all points in it, all stages and an equal share of the time that is left.
    Raises DeclarationError, once it is used, for a problem without time.
    """

    count: Few = 4
    model: AnyModel = MLP()
    order: Count | None = None

    def __post_init__(self) -> None:
        if self.order is not None and self.order > 2:
            refuse(f"expected 1 or 2, got {self.order}", "order")

    @property
    def linear(self) -> bool:
        """Whether the network of a window is linear in all that is trained."""
        return getattr(self.model, "linear", False)

    def check(self, domain: Shape, unknowns: Sequence[str]) -> None:
        """Raise DeclarationError, with the key, for what does not go with a problem."""
        if domain.time is None:
            refuse(f"expected a problem with a time coordinate, got none; {AS_TIME}")
        with at("model"):
            if isinstance(self.model, Windows):
                refuse("expected a network that has no windows itself")
            check_part(self.model, domain, unknowns)

    def settled(self, domain: Shape, unknowns: Sequence[str], facts: Facts) -> Windows:
        """Return the model with what it takes from a problem written out."""
        order = self.order
        if order is None:
            order = min(max(facts.time_order, 1), 2)
        with at("model"):
            model = settled_model(self.model, domain, unknowns, facts)
        return replace(self, model=model, order=order)

    def parameter_count(self, domain: Shape, unknowns: Sequence[str]) -> int | None:
        """Return how many numbers the networks have together; None where they do not tell."""
        own = parameter_count(self.model, domain, unknowns)
        return None if own is None else self.count * own

    def edges(self, domain: Shape) -> np.ndarray:
        """Return where windows begin and end, (count + 1,)."""
        return np.linspace(*domain.bounds[domain.time], self.count + 1)

    def times(self, domain: Shape, number: int) -> tuple[float, float]:
        """Return from when to when window `number` is trained.

        Where a slope goes over the next window asks it a little beyond its end. Layers are still
        nearly what they were there; what is solved for may be anything where no point asks for the
        equation, and is trained that far.
        """
        edges = self.edges(domain)
        low, high = map(float, edges[number : number + 2])
        if self.linear and self.order == 2:
            high = min(high + _SHARE / 2 * (high - low), float(edges[-1]))
        return low, high

    def build(
        self,
        domain: Shape,
        unknowns: Sequence[str],
        rng: np.random.Generator,
        dtype: T.dtype,
        device: str = "cpu",
    ) -> T.nn.Module:
        """Return the network (n, coordinates) -> (n, unknowns); that of window k is "windowK."."""
        self.check(domain, unknowns)
        edges = tuple(map(float, self.edges(domain)))
        networks = [
            build_module(self.model, during(domain, *ends), unknowns, stream, dtype, device)
            for ends, stream in zip(
                zip(edges, edges[1:], strict=False), rng.spawn(self.count), strict=True
            )
        ]
        time = domain.coordinates.index(domain.time)
        return WindowedNetwork(networks, _Meeting(edges, time, self.order or 1))


@dataclass(frozen=True)
class _Meeting:
    """How windows meet: their edges, the number of the time coordinate, what goes over.

    N_k = N_{k-1}(x, h_k(t)) + B_k(t) M_k with e = t - t_k and L the window's length:

        order 1:  h = t_k,                      B = e / L
        order 2:  h = t_k + e q,                B = z^2 q,    z = e / (L / 5), q = 1 / (1 + z^2)

    h' is 1 at t_k, so value and slope go over; e q stays below L / 10, so the network before is
    hardly asked beyond its own times. No derivative of it is in the formula.
    """

    edges: tuple[float, ...]
    time: int
    order: int

    def before(self, number: int, t: T.Tensor) -> T.Tensor:
        """Return h_k."""
        start = self.edges[number]
        if self.order == 1:
            # A row a point, though all are alike: each has a row of the Jacobian.
            return t.detach() * 0.0 + start
        return start + (t - start) * self._fade(number, t)

    def own(self, number: int, t: T.Tensor) -> T.Tensor:
        """Return B_k."""
        start, end = self.edges[number : number + 2]
        if self.order == 1:
            return (t - start) * (1 / (end - start))
        z = self._scaled(number, t)
        return z * z * self._fade(number, t)

    def _scaled(self, number: int, t: T.Tensor) -> T.Tensor:
        start, end = self.edges[number : number + 2]
        return (t - start) * (1 / (_SHARE * (end - start)))

    def _fade(self, number: int, t: T.Tensor) -> T.Tensor:
        z = self._scaled(number, t)
        return 1 / (1 + z * z)


def _continued(
    networks: Sequence[T.nn.Module],
    meeting: _Meeting,
    number: int,
    columns: Sequence[T.Tensor],
) -> list[T.Tensor]:
    """Return N_k, (n, k) in pieces, from a column (n, 1) for each coordinate."""
    own = run_columns(networks[number], columns)
    if number == 0:
        return list(own)
    t = columns[meeting.time]
    earlier = list(columns)
    earlier[meeting.time] = meeting.before(number, t)
    start = _continued(networks, meeting, number - 1, earlier)
    factor = meeting.own(number, t)
    return [a + factor * b for a, b in zip(start, own, strict=True)]


class WindowedNetwork(T.nn.Module):
    """Points (n, d) -> outputs: those of the window that a point's time is in.

    networks: those of the windows, whose parameters are under "window0.", "window1." ...
    """

    def __init__(self, networks: Sequence[T.nn.Module], meeting: _Meeting) -> None:
        super().__init__()
        self._meeting = meeting
        self._count = len(networks)
        for number, network in enumerate(networks):
            self.add_module(f"window{number}", network)

    @property
    def networks(self) -> list[T.nn.Module]:
        """The networks of the windows, in order."""
        return [getattr(self, f"window{number}") for number in range(self._count)]

    def within(self, number: int, earlier: Sequence[T.nn.Module]) -> Window:
        """Return what a window has to train; earlier: the trained networks of those before."""
        return Window(earlier, self.networks[number], self._meeting)

    def forward(self, points: T.Tensor) -> T.Tensor:
        return _side_by_side(self, points)

    def forward_columns(self, columns: Sequence[T.Tensor]) -> list[T.Tensor]:
        """Return the outputs in pieces from a column (n, 1) for each coordinate."""
        networks, t = self.networks, columns[self._meeting.time]
        found = _continued(networks, self._meeting, 0, columns)
        for number in range(1, self._count):
            here = t >= self._meeting.edges[number]
            later = _continued(networks, self._meeting, number, columns)
            found = [T.where(here, b, a) for a, b in zip(found, later, strict=True)]
        return found


class Window(T.nn.Module):
    """The network of one window, continuing those before, at points in this window alone.

    Its own network is trained, under "network."; those before are not, and are no parts of it.
    """

    def __init__(
        self, earlier: Sequence[T.nn.Module], network: T.nn.Module, meeting: _Meeting
    ) -> None:
        super().__init__()
        self._earlier = tuple(earlier)
        self._meeting = meeting
        self.network = network

    def forward(self, points: T.Tensor) -> T.Tensor:
        return _side_by_side(self, points)

    def forward_columns(self, columns: Sequence[T.Tensor]) -> list[T.Tensor]:
        """Return the outputs in pieces from a column (n, 1) for each coordinate."""
        networks = [*self._earlier, self.network]
        return _continued(networks, self._meeting, len(self._earlier), columns)


def _side_by_side(module: WindowedNetwork | Window, points: T.Tensor) -> T.Tensor:
    return T.cat(module.forward_columns([points[:, j : j + 1] for j in range(points.shape[1])]), 1)
