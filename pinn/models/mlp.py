"""The multilayer perceptron."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import autograd as T
from pinn.models.activations import ACTIVATIONS, Activation
from pinn.models.network import Network
from pinn.models.parts import Layer, Part
from pinn.schema import Few, declared
from pinn.schema.errors import refuse
from pinn.schema.kinds import Integer, Items, OneOrList

Widths = Annotated[
    int | Sequence[int],
    OneOrList(Integer(low=1), Items(Integer(low=1), "a list of whole numbers >= 1", least=1)),
]


@declared
class MLP(Network):
    """A fully connected network: `depth` hidden layers of `width` units and a linear last layer.

    width may be a list, a number for each hidden layer; depth is then its length. Only smooth
    activations: the second derivative of a piecewise linear network is zero. adaptive: a slope
    inside of each activation is trained, one for the "layer" or each "neuron" (Jagtap, Kawaguchi
    and Karniadakis, Proc. R. Soc. A 476, 2020).
    Weights are normal with variance 2 / (inputs + outputs), biases start at zero: Glorot and
    Bengio, AISTATS 2010, eq. 12 (as a normal distribution).
    """

    width: Widths = 20
    depth: Few = 3
    activation: Activation = "tanh"
    adaptive: Literal["layer", "neuron"] | None = None

    def __post_init__(self) -> None:
        if isinstance(self.width, tuple):
            if self.depth not in (len(self.width), MLP.depth):
                refuse(
                    f"width has {len(self.width)} hidden layers, expected no other number, got "
                    f"{self.depth}",
                    "depth",
                )
            object.__setattr__(self, "depth", len(self.width))

    @property
    def widths(self) -> tuple[int, ...]:
        """The units of each hidden layer."""
        return self.width if isinstance(self.width, tuple) else (self.width,) * self.depth

    def parts(self, inputs: int, outputs: int) -> dict[str, Part]:
        sizes = (inputs, *self.widths)
        hidden = [
            Layer(a, b, slope=self.adaptive) for a, b in zip(sizes[:-1], sizes[1:], strict=True)
        ]
        layers = [*hidden, Layer(sizes[-1], outputs)]
        return {str(number): layer for number, layer in enumerate(layers)}

    def forward(self, parts: Mapping[str, Any], z: T.Tensor) -> T.Tensor:
        activation = ACTIVATIONS[self.activation]
        *hidden, last = parts.values()
        for layer in hidden:
            z = activation(layer(z))
        return last(z)
