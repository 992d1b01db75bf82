"""A network for each unknown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Annotated

import numpy as np

import autograd as T
from pinn.checks import nearest
from pinn.geometry import Shape
from pinn.models.joined import Joined
from pinn.models.mlp import MLP
from pinn.models.model import MODELS, AnyModel, Model, ModelKind, build_module, parameter_count
from pinn.schema import declared
from pinn.schema.kinds import Names

_NETWORKS = Names(ModelKind(MODELS), "a mapping from unknowns to models such as {p: mlp}")


@declared
class PerUnknown(Model):
    """A network for each unknown; every other model is one network whose outputs are the unknowns.

    each: the model of an unknown that has none in networks. networks: unknown -> its model.
    Building raises ValueError for a name in networks that is no unknown.
    """

    each: AnyModel = MLP()
    networks: Annotated[Mapping[str, AnyModel], _NETWORKS] = field(default_factory=dict)

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
        for name in self.networks:
            if name not in unknowns:
                raise ValueError(
                    f"model: networks: expected some of the unknowns {', '.join(unknowns)}, got "
                    f"{name!r}{nearest(name, unknowns)}"
                )
        streams = rng.spawn(len(unknowns))
        return Joined({
            name: build_module(self._model(name), domain, [name], stream, dtype, device)
            for name, stream in zip(unknowns, streams, strict=True)
        })  # fmt: skip

    def _model(self, unknown: str) -> AnyModel:
        return self.networks.get(unknown, self.each)
