"""The scale of a model's outputs: what it is of each unknown, and the setting of another."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pinn.diagnosis.changes import of_model
from pinn.diagnosis.finding import Change
from pinn.diagnosis.posed.sizes import Size, stated_sizes
from pinn.diagnosis.posed.statement import Statement
from pinn.models import Network, PerUnknown, Windows

# Before training only what is so many times larger or smaller than the network's values is told.
_FAR = 1e3
# So far from its offset, as a share of it, a network begins that is to stay away from zero.
_NEAR = 0.25
# From half of it on the next power of ten is taken.
_NEXT = 0.5


def scales_of(model: Any, unknowns: Sequence[str]) -> dict[str, float]:
    """Return how large the values of each unknown are that a model begins with, where it says so.

    Models of one's own, and a scale that is still to come from data, say nothing.
    """
    return {
        name: network.scale.get(name, 1.0)
        for name, network in _networks(model, unknowns)
        if network.scale != "data"
    }


def left_open(model: Any, unknowns: Sequence[str]) -> list[str]:
    """Return the unknowns of whose outputs a model says neither a scale nor an offset."""
    return [
        name for name, network in _networks(model, unknowns)
        if network.scale != "data" and name not in {**network.scale, **network.offset}
    ]  # fmt: skip


def _networks(model: Any, unknowns: Sequence[str]) -> Iterator[tuple[str, Network]]:
    """Yield the unknowns that a network has as outputs, each with it."""
    if isinstance(model, Windows):
        yield from _networks(model.model, unknowns)
    elif isinstance(model, PerUnknown):
        for name in unknowns:
            yield from _networks(model.networks.get(name, model.each), [name])
    elif isinstance(model, Network):
        yield from ((name, model) for name in unknowns)


def scales_given(model: Any, unknowns: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Return how large each unknown is whose scale or offset a model says, and what it changes by.

    Those of which nothing is said are left out.
    """
    is_open = left_open(model, unknowns)
    return {
        name: (max(scale, abs(network.offset.get(name, 0.0))), scale)
        for name, network in _networks(model, unknowns)
        if name not in is_open and network.scale != "data"
        for scale in [network.scale.get(name, 1.0)]
    }


def output_sizes(statement: Statement) -> dict[str, Size]:
    """Return how large the outputs of a network have to be, where that is told to be far from one.

    Where a condition holds exactly the network only adds what is beside it, which then is as large
    as the values vary.
    """
    sizes = stated_sizes(statement, of_outputs=True)
    return {name: size for name, size in sizes.items() if size.is_told}


def with_scale(model: Any, sizes: Mapping[str, float]) -> Any:
    """Return a model with outputs of such sizes, as powers of ten; others stay."""
    if isinstance(model, Windows):
        return replace(model, model=with_scale(model.model, sizes))
    if isinstance(model, PerUnknown):
        networks = {
            name: with_scale(model.networks.get(name, model.each), {name: size})
            for name, size in sizes.items()
        }
        return replace(model, networks={**model.networks, **networks})
    powers = {name: 10.0 ** math.floor(math.log10(size / _NEXT)) for name, size in sizes.items()}
    return replace(model, scale={**model.scale, **powers})


def with_offset(model: Any, values: Mapping[str, float]) -> Any:
    """Return a model whose outputs begin near such values, with one sign; others stay."""
    if isinstance(model, Windows):
        return replace(model, model=with_offset(model.model, values))
    if isinstance(model, PerUnknown):
        networks = {
            name: with_offset(model.networks.get(name, model.each), {name: value})
            for name, value in values.items()
        }
        return replace(model, networks={**model.networks, **networks})
    scales = {name: _NEAR * abs(value) for name, value in values.items()}
    return replace(
        model, offset={**model.offset, **values}, scale={**model.scale, **scales}
    )


def scaled(model: Any, sizes: Mapping[str, float]) -> Change:
    """Return the change of a model to that `with_scale`."""
    found = with_scale(model, sizes)
    own = {"scale": dict(found.scale)} if isinstance(found, Network) else {}
    return of_model(found, **own)


def scale_advice(statement: Statement, model: Any) -> Iterator[str]:
    """Yield a sentence on unknowns that are far from what a network begins with.

    None of a network that is linear in what is trained: its factors become as large as they must.
    """
    if getattr(model, "linear", False):
        return
    scales = scales_of(model, statement.problem.unknowns)
    far = {
        name: size for name, size in output_sizes(statement).items()
        if name in scales and not 1 / _FAR < size.value / scales[name] < _FAR
    }  # fmt: skip
    if not far:
        return
    told = ", ".join(f"{name} is about {one.value:.1g} ({one.by})" for name, one in far.items())
    change = scaled(model, {name: size.value for name, size in far.items()})
    begins = ", ".join(dict.fromkeys(f"{scales[name]:g}" for name in far))
    yield (
        f"{told}, where the network begins with values of about {begins}; scale its outputs: "
        f"--set {shlex.quote(str(change))}"
    )
