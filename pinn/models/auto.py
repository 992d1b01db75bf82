"""A network whose kind is chosen for the problem before training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, ClassVar, NoReturn

import autograd as T
from pinn.geometry import Shape
from pinn.models.mlp import MLP
from pinn.models.network import Network
from pinn.models.parts import Part
from pinn.models.random_features import RandomFeatures
from pinn.schema import declared


@declared
class AutoModel(Network):
    """The network that suits a problem, found by a short trial on its equations.

    Random features where a few hundred of them come near to satisfying the equations on points that
    they were not fitted to: they then go on to many digits within seconds. Otherwise an MLP, whose
    hidden layers learn where the solution changes. Equations in time alone go through windows of
    time before that, each as long as random features follow what happens in it; what they follow in
    no window gets four of an MLP. The trial takes a few seconds, sees no reference and gives the
    same for equal arguments; what it chose is the model of the solution. It is for a whole problem,
    and is refused as the model of a window, of one unknown or of a field.
    """

    by_trial: ClassVar[bool] = True

    def random_features(
        self, width: int, activation: str, steepness: tuple[float, float]
    ) -> RandomFeatures:
        """Return random features that see what this network sees."""
        return RandomFeatures(width, steepness, activation, **self._seen)

    def trained(self, depth: int) -> MLP:
        """Return a network of trained layers that sees what this network sees."""
        return MLP(depth=depth, factorization=self.factorization, **self._seen)

    def parameter_count(self, domain: Shape, unknowns: Sequence[str]) -> None:
        """Return None: it is not known before the trial."""
        return None

    def parts(self, inputs: int, outputs: int) -> NoReturn:
        raise RuntimeError(
            "auto: the network has not been chosen yet; pinn.solve does, and its solution has it"
        )

    def forward(self, parts: Mapping[str, Part], z: T.Tensor) -> NoReturn:
        self.parts(0, 0)

    @property
    def _seen(self) -> dict[str, Any]:
        names = [one.name for one in fields(Network) if one.name != "factorization"]
        return {name: getattr(self, name) for name in names}
