"""A network for each window of time, exactly continued from one to the next."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, pairwise
from typing import Annotated

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
from pinn.schema.kinds import Items, Number

Breaks = Annotated[
    Sequence[float], Items(Number(), "increasing times, such as [0.01, 0.1, 1]", least=1)
]

# The time in which a window that takes over a slope as well lets go of what was before, as a share
# of its length.
_SHARE = 0.2
_SLOPE = choose_channels([(0,)])  # of a function of time alone
# How many windows there are where neither their number nor their breaks are given.
_COUNT = 4


@declared
class Windows(Model):
    """A network for each of some windows of time, trained one after the other.

    For times that are long beside what happens in them: one network over all of them finds other
    solutions late that fit the equation and not the start, and has to be large. Each window starts
    from the end of the one before, exactly: with t_k where window k begins, s from 0 to 1 in it,

        N_k(x, t) = N_{k-1}(x, t_k) + s M_k(x, t)

    where order is 1. For order 2 the slope in time is taken over as well (see WindowedNetwork).
    Hard conditions are built around all of it, as around any network.

    count: how many windows of equal length, 4 where left out. breaks: the times where windows meet
    instead, increasing and within those of the problem, for windows that are short where much
    happens. model: the network M_k of a window. order: how many of u, u_t, ... go over from window
    to window; where left out, as many as the problem has initial conditions for an unknown. A
    window is trained with all points in it, all stages and an equal share of the time that is left.
    until: one of the breaks, up to which windows are trained; what comes after it is not solved,
    goes on from there as the networks were drawn, and is told to be doubted.
    Raises DeclarationError for breaks that do not increase or are another number of windows than
    `count`, for an `until` that is none of them and, once it is used, for a problem without time
    and breaks outside of it.
    """

    count: Few | None = None
    model: AnyModel = MLP()
    order: Count | None = None
    breaks: Breaks | None = None
    until: float | None = None

    def __post_init__(self) -> None:
        if self.order is not None and self.order > 2:
            refuse(f"expected 1 or 2, got {self.order}", "order")
        count = _COUNT
        if self.breaks is not None:
            count = len(self.breaks) + 1
            for before, after in pairwise(self.breaks):
                if not before < after:
                    refuse(
                        f"expected each time after the one before, got {after:g} after {before:g}",
                        "breaks",
                    )
        if self.until is not None and self.until not in (self.breaks or ()):
            refuse(f"expected one of the breaks, got {self.until:g}", "until")
        if self.count is None:
            object.__setattr__(self, "count", count)
        elif self.breaks is not None and self.count != count:
            refuse(
                f"expected {count}, one more than there are breaks, or nothing of it; "
                f"got {self.count}", "count",
            )  # fmt: skip

    @property
    def linear(self) -> bool:
        """Whether the network of a window is linear in all that is trained."""
        return getattr(self.model, "linear", False)

    def check(self, domain: Shape, unknowns: Sequence[str]) -> None:
        """Raise DeclarationError, with the key, for what does not go with a problem."""
        if domain.time is None:
            refuse(f"expected a problem with a time coordinate, got none; {AS_TIME}")
        low, high = domain.bounds[domain.time]
        for one in self.breaks or ():
            if not low < one < high:
                refuse(f"expected times between {low:g} and {high:g}, got {one:g}", "breaks")
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
        low, high = domain.bounds[domain.time]
        if self.breaks is not None:
            return np.array([low, *self.breaks, high], np.float64)
        return np.linspace(low, high, self.count + 1)

    @property
    def trained(self) -> int:
        """How many windows are trained, from the first one on."""
        return self.count if self.until is None else list(self.breaks).index(self.until) + 1

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
        built = self._networks(range(self.count), domain, unknowns, rng, dtype, device)
        return WindowedNetwork(list(built), self._meeting(domain))

    def in_window(self, number: int, earlier: Sequence[T.nn.Module]) -> InWindow:
        """Return the model of what a window has to train; earlier: the trained networks before."""
        return InWindow(self, number, tuple(earlier))

    def _networks(
        self,
        numbers: Iterable[int],
        domain: Shape,
        unknowns: Sequence[str],
        rng: np.random.Generator,
        dtype: T.dtype,
        device: str,
    ) -> Iterator[T.nn.Module]:
        """Yield the networks of some windows: each has a stream of its own."""
        edges, streams = self._meeting(domain).edges, rng.spawn(self.count)
        for number in numbers:
            own = during(domain, *edges[number : number + 2])
            yield build_module(self.model, own, unknowns, streams[number], dtype, device)

    def _meeting(self, domain: Shape) -> _Meeting:
        edges = tuple(map(float, self.edges(domain)))
        time, alone = domain.coordinates.index(domain.time), len(domain.coordinates) == 1
        return _Meeting(edges, time, self.order or 1, alone)


@dataclass(frozen=True)
class InWindow(Model):
    """The model of what one of some windows has to train: its network, after those before."""

    windows: Windows
    number: int
    earlier: tuple[T.nn.Module, ...]

    def build(
        self,
        domain: Shape,
        unknowns: Sequence[str],
        rng: np.random.Generator,
        dtype: T.dtype,
        device: str = "cpu",
    ) -> Window:
        """Return the window, whose own network is as that of all windows has it."""
        arguments = domain, unknowns, rng, dtype, device
        (own,) = self.windows._networks([self.number], *arguments)
        return Window(self.earlier, own, self.windows._meeting(domain))


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

    def times(self, number: int) -> _Times:
        """Return the times of window k."""
        start, end = self.edges[number : number + 2]
        return _Times(start, 1 / (end - start), 1 / (_SHARE * (end - start)))

    def own(self, times: _Times, t: T.Tensor) -> T.Tensor:
        """Return B_k."""
        if self.order == 1:
            return (t - times.start) * times.over_length
        z = (t - times.start) * times.over_share
        return z * z * times.fade(t)


@dataclass(frozen=True)
class _Times:
    """When a window begins, one over its length, and over L / 5: numbers, or tensors of them."""

    start: float | T.Tensor
    over_length: float | T.Tensor
    over_share: float | T.Tensor

    def fade(self, t: T.Tensor) -> T.Tensor:
        """Return q."""
        z = (t - self.start) * self.over_share
        return 1 / (1 + z * z)

    def past(self, t: T.Tensor) -> T.Tensor:
        """Return e q."""
        return (t - self.start) * self.fade(t)


@dataclass(frozen=True)
class _Handed:
    """What goes over to a window: values, and slopes in time of order 2, in pieces (n, k)."""

    values: Sequence[T.Tensor]
    slopes: Sequence[T.Tensor] = ()


def _from(
    network: T.nn.Module,
    meeting: _Meeting,
    times: _Times,
    handed: _Handed | None,
    columns: Sequence[T.Tensor],
) -> list[T.Tensor]:
    """Return N_k, (n, k) in pieces, from what goes over to it; None: nothing, k = 0."""
    own = run_columns(network, columns)
    if handed is None:
        return list(own)
    t = columns[meeting.time]
    factor = meeting.own(times, t)
    found = [a + factor * b for a, b in zip(handed.values, own, strict=True)]
    if not handed.slopes:
        return found
    past = times.past(t)
    return [a + past * slope for a, slope in zip(found, handed.slopes, strict=True)]


def _each_handed(
    networks: Sequence[T.nn.Module], meeting: _Meeting, columns: Sequence[T.Tensor]
) -> Iterator[_Handed]:
    """Yield what goes over from each window, where that is of its end alone."""
    handed, time = None, meeting.time
    for number, network in enumerate(networks):
        end = list(columns)
        end[time] = meeting.edge(number + 1, columns[time])
        at_end = partial(_from, network, meeting, meeting.times(number), handed)
        if meeting.order == 1:
            handed = _Handed(at_end(end))
        else:
            found = sweep(lambda t, at_end=at_end: at_end([t]), end, _SLOPE)
            handed = _Handed(
                [one[()] for one in found], [read(one, (0,), one[()]) for one in found]
            )
        yield handed


def _each_alone(
    networks: Sequence[T.nn.Module], meeting: _Meeting, columns: Sequence[T.Tensor]
) -> Iterator[_Handed]:
    """Yield the same in time alone: numbers that all points share, as training has had them.

    A product of many rows rounds otherwise than one of a single row, which factors of 1e6 would
    make a step of 1e-11 between windows. Only gradients are taken from a row for each point.
    """
    row = [T.zeros_like(next(networks[0].parameters()).detach().reshape(-1, 1)[:1])]
    if not T.is_grad_enabled():
        yield from _each_handed(networks, meeting, row)
        return
    with T.no_grad():
        shared = list(_each_handed(networks, meeting, row))
    for one, rows in zip(shared, _each_handed(networks, meeting, columns), strict=True):
        yield _Handed(
            [a + (b - b.detach()) for a, b in zip(one.values, rows.values, strict=True)],
            [a + (b - b.detach()) for a, b in zip(one.slopes, rows.slopes, strict=True)],
        )


def _continued(
    networks: Sequence[T.nn.Module],
    meeting: _Meeting,
    number: int,
    columns: Sequence[T.Tensor],
) -> list[T.Tensor]:
    """Return N_k of order 2 where there are other coordinates: the networks before are asked on."""
    if number == 0:
        return list(run_columns(networks[0], columns))
    times, earlier = meeting.times(number), list(columns)
    earlier[meeting.time] = times.start + times.past(columns[meeting.time])
    before = _Handed(_continued(networks, meeting, number - 1, earlier))
    return _from(networks[number], meeting, times, before, columns)


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
        each = _each_alone if meeting.alone else _each_handed
        handed = chain([None], each(networks[:-1], meeting, columns))
        for number, (network, taken) in enumerate(zip(networks, handed, strict=True)):
            yield _from(network, meeting, meeting.times(number), taken, columns)


class Window(T.nn.Module):
    """The network of one window, continuing those before, at points in this window alone.

    Its own network is trained, under "network."; those before are not, and are no parts of it.

    moves: whether it can become another window, in time alone: all that then differs, its times and
    what goes over to it as well, is in buffers. The first one can become the first one of others.
    """

    def __init__(
        self, earlier: Sequence[T.nn.Module], network: T.nn.Module, meeting: _Meeting
    ) -> None:
        super().__init__()
        self._earlier = tuple(earlier)
        self._meeting = meeting
        self.network = network
        # of this window itself, where this has become another one; no part of it
        self._drawn = (network,)
        self.moves = meeting.alone
        self._known: _Handed | None = None
        if not self.moves or not earlier:
            return
        like = next(network.parameters())
        row = T.zeros((1, 1), dtype=like.dtype, device=like.device)
        with T.no_grad():
            handed = self._handed([row])
        self._known = _Handed(
            self._kept("value", handed.values), self._kept("slope", handed.slopes)
        )
        times = meeting.times(len(earlier))
        names = ("start", "over_length", "over_share")
        numbers = [T.full_like(row, getattr(times, name)) for name in names]
        self._times = _Times(*self._kept("times", numbers))

    def _kept(self, name: str, tensors: Sequence[T.Tensor]) -> list[T.Tensor]:
        for number, tensor in enumerate(tensors):
            self.register_buffer(f"{name}{number}", tensor, persistent=False)
        return list(tensors)

    def can_become(self, other: Window) -> bool:
        """Return whether it moves, and as much goes over to another window as to this one."""
        return self.moves and bool(self._earlier) == bool(other._earlier)

    def become(self, other: Window) -> None:
        """Become another window, with the network as it was drawn for that."""
        self._earlier, self._meeting, self._drawn = other._earlier, other._meeting, other._drawn
        _copy(other.buffers(), self.buffers())
        _copy(other.parameters(), self.parameters())

    def trained(self) -> T.nn.Module:
        """Return the network of this window as it is now, not to be trained any more."""
        (drawn,) = self._drawn
        if drawn is not self.network:
            _copy(self.network.parameters(), drawn.parameters())
        return drawn.requires_grad_(False)

    def forward(self, points: T.Tensor) -> T.Tensor:
        return _side_by_side(self, points)

    def forward_columns(self, columns: Sequence[T.Tensor]) -> list[T.Tensor]:
        """Return the outputs in pieces from a column (n, 1) for each coordinate."""
        number, meeting = len(self._earlier), self._meeting
        if self._known is not None:
            return _from(self.network, meeting, self._times, self._known, columns)
        if not meeting.at_edges:
            return _continued([*self._earlier, self.network], meeting, number, columns)
        return _from(self.network, meeting, meeting.times(number), self._handed(columns), columns)

    def _handed(self, columns: Sequence[T.Tensor]) -> _Handed | None:
        """Return what goes over to this window; None to the first one."""
        return [None, *_each_handed(self._earlier, self._meeting, columns)][-1]


def _copy(tensors: Iterable[T.Tensor], into: Iterable[T.Tensor]) -> None:
    with T.no_grad():
        for there, tensor in zip(into, tensors, strict=True):
            there.copy_(tensor)


def _side_by_side(module: WindowedNetwork | Window, points: T.Tensor) -> T.Tensor:
    return T.cat(module.forward_columns([points[:, j : j + 1] for j in range(points.shape[1])]), 1)
