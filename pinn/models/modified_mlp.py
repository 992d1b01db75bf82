"""The network of Wang, Teng and Perdikaris."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import autograd as T
from pinn.models.activations import ACTIVATIONS, Activation
from pinn.models.network import Network
from pinn.models.parts import Layer, Part
from pinn.schema import Count, Few, declared


@declared
class ModifiedMLP(Network):
    """A network whose `depth` hidden layers mix two encodings U and V of the inputs.

    H = s(W z + b), then (1 - Z) U + Z V with Z = s(W H + b), again and again, element by element;
    s: the activation, U = s(W_u z + b_u), V = s(W_v z + b_v). Wang, Teng and Perdikaris, SIAM J.
    Sci. Comput. 43, 2021 (arXiv:2001.04536). Weights start as those of MLP.
    """

    width: Count = 20
    depth: Few = 3
    activation: Activation = "tanh"

    def parts(self, inputs: int, outputs: int) -> dict[str, Part]:
        w = self.width
        sizes = {"_u": inputs, "_v": inputs, "0": inputs}
        layers = {name: Layer(size, w) for name, size in sizes.items()}
        layers |= {str(k): Layer(w, w) for k in range(1, self.depth + 1)}
        return {**layers, str(self.depth + 1): Layer(w, outputs)}

    def forward(self, parts: Mapping[str, Any], z: T.Tensor) -> T.Tensor:
        activation = ACTIVATIONS[self.activation]
        to_u, to_v, first, *mixing, last = parts.values()
        u = activation(to_u(z))
        difference = activation(to_v(z)) - u
        z = activation(first(z))
        for layer in mixing:
            z = u + activation(layer(z)) * difference
        return last(z)
