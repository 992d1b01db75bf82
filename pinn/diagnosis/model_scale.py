"""The scale of a model's outputs: what it is of each unknown, and the setting of another."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pinn.diagnosis.changes import of_model
from pinn.diagnosis.finding import Change
from pinn.diagnosis.sizes import stated_sizes
from pinn.diagnosis.statement import Statement
from pinn.models import Network, PerUnknown, Windows

# Before training only what is so many times larger or smaller than the network's values is told.
_FAR = 1e3


def scales_of(model: Any, unknowns: Sequence[str]) -> dict[str, float]:
    """Return how large the values of each unknown are that a model begins with, where it says so.

    Models of one's own, and a scale that is still to come from data, say nothing.
    """
    if isinstance(model, Windows):
        return scales_of(model.model, unknowns)
    if isinstance(model, PerUnknown):
        each = (scales_of(model.networks.get(name, model.each), [name]) for name in unknowns)
        return {name: scale for one in each for name, scale in one.items()}
    if not isinstance(model, Network) or model.scale == "data":
        return {}
    return {name: model.scale.get(name, 1.0) for name in unknowns}


def scaled(model: Any, sizes: Mapping[str, float]) -> Change:
    """Return the change of a model to outputs of such sizes, as powers of ten; others stay."""
    powers = {name: 10.0 ** round(math.log10(size)) for name, size in sizes.items()}
    return of_model(model, **_settings(model, powers))


def scale_advice(statement: Statement, model: Any) -> Iterator[str]:
    """Yield a sentence on unknowns that are far from what a network begins with.

    None of a network that is linear in what is trained: its factors become as large as they must.
    """
    if getattr(model, "linear", False):
        return
    scales = scales_of(model, statement.problem.unknowns)
    far = {
        name: size for name, size in stated_sizes(statement).items()
        if name in scales and not 1 / _FAR < size.value / scales[name] < _FAR
    }  # fmt: skip
    if not far:
        return
    told = ", ".join(f"{name} is about {value:.1g} ({by})" for name, (value, by) in far.items())
    change = scaled(model, {name: size.value for name, size in far.items()})
    begins = ", ".join(dict.fromkeys(f"{scales[name]:g}" for name in far))
    yield (
        f"{told}, where the network begins with values of about {begins}; scale its outputs: "
        f"--set {shlex.quote(str(change))}"
    )


def _settings(model: Any, powers: Mapping[str, float]) -> dict[str, Any]:
    """Return the settings of a model, plain data, that scale its outputs."""
    if isinstance(model, Windows):
        return {"model": of_model(model.model, **_settings(model.model, powers)).value}
    if isinstance(model, PerUnknown):
        networks = {**dict.fromkeys(powers, model.each), **model.networks}
        return {"networks": {
            name: of_model(one, **(
                _settings(one, {name: powers[name]}) if name in powers else {}
            )).value
            for name, one in networks.items()
        }}  # fmt: skip
    return {"scale": {**model.scale, **powers}}
