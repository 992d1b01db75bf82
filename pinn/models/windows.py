"""A network for each window of time, exactly continued from one to the next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain

import numpy as np

import autograd as T
from autograd.jets import choose_channels, read, sweep
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
_SLOPE = choose_channels([(0,)])  # of a function of time alone


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

        Of order 2 the next window asks it a little beyond its end where there are other coordinates
        than time. Layers are still nearly what they were there; what is solved for may be anything
        where no point asks for the equation, and is trained that far.
        """
        edges = self.edges(domain)
        low, high = map(float, edges[number : number + 2])
        if self.linear and self.order == 2 and len(domain.coordinates) > 1:
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
        time, alone = domain.coordinates.index(domain.time), len(domain.coordinates) == 1
        return WindowedNetwork(networks, _Meeting(edges, time, self.order or 1, alone))


@dataclass(frozen=True)
class _Meeting:
    """How windows meet: their edges, the number of the time coordinate, what goes over.

    N_k = A_k + B_k(t) M_k with e = t - t_k and L the window's length:

        order 1:  A = N_{k-1}(x, t_k),                       B = e / L
        order 2:  A = N_{k-1}(t_k) + e q N_{k-1}'(t_k),      B = z^2 q,  z = e / (L / 5),
                  A = N_{k-1}(x, t_k + e q)  if there is x,  q = 1 / (1 + z^2)

    (e q)' is 1 at t_k, so value and slope go over. Where there are other coordinates the slope
    would be a derivative in the midst of those in x; e q stays below L / 10, so the network before
    is hardly asked beyond its own times.

    alone: whether there are no other coordinates.
    """

    edges: tuple[float, ...]
    time: int
    order: int
    alone: bool

    @property
    def at_edges(self) -> bool:
        """Whether a window is asked at its end alone by the next one."""
        return self.order == 1 or self.alone

    def edge(self, number: int, t: T.Tensor) -> T.Tensor:
        """Return t_k for each point, though all are alike: each has a row of the Jacobian."""
        return t.detach() * 0.0 + self.edges[number]

    def past(self, number: int, t: T.Tensor) -> T.Tensor:
        """Return e q."""
        return (t - self.edges[number]) * self._fade(number, t)

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


@dataclass(frozen=True)
class _Handed:
    """What goes over to a window: values, and slopes in time of order 2, in pieces (n, k)."""

    values: Sequence[T.Tensor]
    slopes: Sequence[T.Tensor] = ()


def _from(
    network: T.nn.Module,
    meeting: _Meeting,
    number: int,
    handed: _Handed | None,
    columns: Sequence[T.Tensor],
) -> list[T.Tensor]:
    """Return N_k, (n, k) in pieces, from what goes over to it; None: nothing, k = 0."""
    own = run_columns(network, columns)
    if handed is None:
        return list(own)
    t = columns[meeting.time]
    factor = meeting.own(number, t)
    found = [a + factor * b for a, b in zip(handed.values, own, strict=True)]
    if not handed.slopes:
        return found
    past = meeting.past(number, t)
    return [a + past * slope for a, slope in zip(found, handed.slopes, strict=True)]


def _each_handed(
    networks: Sequence[T.nn.Module], meeting: _Meeting, columns: Sequence[T.Tensor]
) -> Iterator[_Handed]:
    """Yield what goes over from each window, where that is of its end alone."""
    handed, time = None, meeting.time
    for number, network in enumerate(networks):
        end = list(columns)
        end[time] = meeting.edge(number + 1, columns[time])
        at_end = partial(_from, network, meeting, number, handed)
        if meeting.order == 1:
            handed = _Handed(at_end(end))
        else:
            found = sweep(lambda t, at_end=at_end: at_end([t]), end, _SLOPE)
            handed = _Handed(
                [one[()] for one in found], [read(one, (0,), one[()]) for one in found]
            )
        yield handed


def _continued(
    networks: Sequence[T.nn.Module],
    meeting: _Meeting,
    number: int,
    columns: Sequence[T.Tensor],
) -> list[T.Tensor]:
    """Return N_k of order 2 where there are other coordinates: the networks before are asked on."""
    if number == 0:
        return list(run_columns(networks[0], columns))
    t = columns[meeting.time]
    earlier = list(columns)
    earlier[meeting.time] = meeting.edges[number] + meeting.past(number, t)
    before = _Handed(_continued(networks, meeting, number - 1, earlier))
    return _from(networks[number], meeting, number, before, columns)


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
        found, *others = self._windows(columns)
        for number, later in enumerate(others, 1):
            here = columns[self._meeting.time] >= self._meeting.edges[number]
            found = [T.where(here, b, a) for a, b in zip(found, later, strict=True)]
        return found

    def _windows(self, columns: Sequence[T.Tensor]) -> Iterator[list[T.Tensor]]:
        """Yield the outputs of each window at all points."""
        networks, meeting = self.networks, self._meeting
        if not meeting.at_edges:
            for number in range(self._count):
                yield _continued(networks, meeting, number, columns)
            return
        handed = chain([None], _each_handed(networks[:-1], meeting, columns))
        for number, (network, taken) in enumerate(zip(networks, handed, strict=True)):
            yield _from(network, meeting, number, taken, columns)


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
        self._known: _Handed | None = None  # where it is the same at all points
        if meeting.alone and earlier:
            like = next(network.parameters())
            row = T.zeros((1, 1), dtype=like.dtype, device=like.device)
            with T.no_grad():
                self._known = self._handed([row])

    def forward(self, points: T.Tensor) -> T.Tensor:
        return _side_by_side(self, points)

    def forward_columns(self, columns: Sequence[T.Tensor]) -> list[T.Tensor]:
        """Return the outputs in pieces from a column (n, 1) for each coordinate."""
        number, meeting = len(self._earlier), self._meeting
        if not meeting.at_edges:
            return _continued([*self._earlier, self.network], meeting, number, columns)
        handed = self._known or self._handed(columns)
        return _from(self.network, meeting, number, handed, columns)

    def _handed(self, columns: Sequence[T.Tensor]) -> _Handed | None:
        """Return what goes over to this window; None to the first one."""
        return [None, *_each_handed(self._earlier, self._meeting, columns)][-1]


def _side_by_side(module: WindowedNetwork | Window, points: T.Tensor) -> T.Tensor:
    return T.cat(module.forward_columns([points[:, j : j + 1] for j in range(points.shape[1])]), 1)
