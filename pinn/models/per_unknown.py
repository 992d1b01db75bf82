"""A network for each unknown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Annotated

import numpy as np

import autograd as T
from pinn.checks import nearest
from pinn.geometry import Shape
from pinn.models.joined import Joined
from pinn.models.mlp import MLP
from pinn.models.model import (
    MODELS,
    AnyModel,
    Facts,
    Model,
    ModelKind,
    build_module,
    check_part,
    parameter_count,
    settled_model,
)
from pinn.schema import declared
from pinn.schema.errors import at, refuse
from pinn.schema.kinds import Names

_NETWORKS = Names(ModelKind(MODELS), "a mapping from unknowns to models such as {p: mlp}")


@declared
class PerUnknown(Model):
    """A network for each unknown; every other model is one network whose outputs are the unknowns.

    each: the model of an unknown that has none in networks. networks: unknown -> its model.
    Raises DeclarationError, once it is used, for a name in networks that is no unknown.
    """

    each: AnyModel = MLP()
    networks: Annotated[Mapping[str, AnyModel], _NETWORKS] = field(default_factory=dict)

    def check(self, domain: Shape, unknowns: Sequence[str]) -> None:
        """Raise DeclarationError, with the key, for what does not go with a problem."""
        for name in self.networks:
            if name not in unknowns:
                refuse(
                    f"expected some of the unknowns {', '.join(unknowns)}, got {name!r}"
                    f"{nearest(name, unknowns)}",
                    "networks",
                    name,
                )
        for name in unknowns:
            with at(*(("networks", name) if name in self.networks else ("each",))):
                check_part(self._model(name), domain, [name])

    def settled(self, domain: Shape, unknowns: Sequence[str], facts: Facts) -> PerUnknown:
        """Return the networks with what they take from a problem written out."""
        networks = dict(self.networks)
        for name in unknowns:
            with at(*(("networks", name) if name in networks else ("each",))):
                model = settled_model(self._model(name), domain, [name], facts)
            if model is not self._model(name):
                networks[name] = model
        return replace(self, networks=networks)

    def parameter_count(self, domain: Shape, unknowns: Sequence[str]) -> int | None:
        """Return how many numbers the networks have together; None where one does not tell."""
        counts = [parameter_count(self._model(name), domain, [name]) for name in unknowns]
        return None if None in counts else sum(counts)

    def build(
        self,
        domain: Shape,
        unknowns: Sequence[str],
        rng: np.random.Generator,
        dtype: T.dtype,
        device: str = "cpu",
    ) -> T.nn.Module:
        """Return the networks side by side, (n, coordinates) -> (n, unknowns).

        The parameters of the network of u are under "network_u.". Each has random numbers of its
        own: another network elsewhere leaves them as they are.
        """
        self.check(domain, unknowns)
        streams = rng.spawn(len(unknowns))
        return Joined({
            name: build_module(self._model(name), domain, [name], stream, dtype, device)
            for name, stream in zip(unknowns, streams, strict=True)
        })  # fmt: skip

    def _model(self, unknown: str) -> AnyModel:
        return self.networks.get(unknown, self.each)
