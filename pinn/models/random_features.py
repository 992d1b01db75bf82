"""Random features: a hidden layer that stays as it was drawn, and a last layer that is trained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

import autograd as T
from pinn.geometry import Shape
from pinn.models.activations import ACTIVATIONS, Activation
from pinn.models.network import Network
from pinn.models.parts import Factorization, Layer, Maker, Part
from pinn.schema import Count, declared
from pinn.schema.errors import refuse
from pinn.schema.kinds import Items, Number

Steepness = Annotated[
    tuple[float, float],
    Items(Number(above=0.0), "two numbers > 0, the least and the most, such as [0.5, 8]", least=2),
]


@declared
class RandomFeatures(Network):
    """A sum of `width` random ridge functions f(a.(z - c)), whose factors alone are trained.

    The network is linear in what is trained: a linear problem becomes linear least squares, which
    one step of pinn.GaussNewton solves, and a smooth solution in few dimensions then comes out to
    many digits within seconds. For fronts and in many dimensions take a network whose hidden layers
    are trained.

    c is uniform in the box [-1, 1]^d of the inputs, a uniform in [-s, s]^d, with an s for each
    feature between the two numbers of `steepness`, log-uniform. s is how fast the features change:
    about as many radians as the solution goes through from the middle of an input's range to its
    edge, and some less and more. The factors start at zero.

    Huang, Zhu and Siew, Neurocomputing 70 (2006) 489; Dwivedi and Srinivasan, Neurocomputing 391
    (2020) 96; Chen, Chi, E and Yang, J. Mach. Learn. 1 (2022) 268.
    """

    width: Count = 1500
    steepness: Steepness = (0.5, 8.0)
    activation: Activation = "tanh"

    linear: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if len(self.steepness) != 2 or self.steepness[0] > self.steepness[1]:
            refuse(
                "expected two numbers, the least and the most, got "
                f"{', '.join(f'{one:g}' for one in self.steepness)}",
                "steepness",
            )

    def check(self, domain: Shape, unknowns: Sequence[str]) -> None:
        """Raise DeclarationError, with the key, for what does not go with a problem."""
        super().check(domain, unknowns)
        if self.factorization is not None:
            refuse("expected none: its network is linear in what is trained", "factorization")

    def parts(self, inputs: int, outputs: int) -> dict[str, Part]:
        return {
            "features": RandomLayer(inputs, self.width, self.steepness),
            "": Layer(self.width, outputs, weight=_nothing),
        }

    def forward(self, parts: Mapping[str, Any], z: T.Tensor) -> T.Tensor:
        hidden, last = parts.values()
        return last(ACTIVATIONS[self.activation](hidden(z)))


def _nothing(rng: np.random.Generator, outputs: int, inputs: int) -> np.ndarray:
    return np.zeros((outputs, inputs))


@dataclass(frozen=True)
class RandomLayer(Part):
    """z -> a.(z - c) for each of `outputs` random a and c, none of them trained."""

    inputs: int
    outputs: int
    steepness: tuple[float, float]

    def count(self, factorization: Factorization | None) -> int:
        return 0

    def make(self, owner: T.nn.Module, name: str, maker: Maker) -> Any:
        low, high = np.log(self.steepness)
        steepness = np.exp(maker.rng.uniform(low, high, (self.outputs, 1)))
        weight = steepness * maker.rng.uniform(-1, 1, (self.outputs, self.inputs))
        centre = maker.rng.uniform(-1, 1, (self.outputs, self.inputs))
        weight_array = maker.tensor(weight)
        bias_array = maker.tensor(-(weight * centre).sum(axis=1))
        owner.register_buffer(f"{name}_weight", weight_array)
        owner.register_buffer(f"{name}_bias", bias_array)
        return lambda z: T.nn.functional.linear(z, weight_array, bias_array)
