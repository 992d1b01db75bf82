"""A network of residual blocks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import autograd as T
from pinn.models.activations import ACTIVATIONS, Activation
from pinn.models.network import Network
from pinn.models.parts import Layer, Part
from pinn.schema import Count, Few, declared


@declared
class ResidualMLP(Network):
    """Blocks z + s(W2 s(W1 z + b1) + b2) of `width` units, `depth` of them, between linear layers.

    s: the activation. E and Yu, Commun. Math. Stat. 6, 2018 (the deep Ritz network); the first
    layer brings the inputs to the width. Weights start as those of MLP.
    """

    width: Count = 20
    depth: Few = 2
    activation: Activation = "tanh"

    def parts(self, inputs: int, outputs: int) -> dict[str, Part]:
        w = self.width
        blocks = {f"{k}{half}": Layer(w, w) for k in range(1, self.depth + 1) for half in "ab"}
        return {"0": Layer(inputs, w), **blocks, str(self.depth + 1): Layer(w, outputs)}

    def forward(self, parts: Mapping[str, Any], z: T.Tensor) -> T.Tensor:
        activation = ACTIVATIONS[self.activation]
        first, *blocks, last = parts.values()
        z = first(z)
        for inner, outer in zip(blocks[::2], blocks[1::2], strict=True):
            z = z + activation(outer(activation(inner(z))))
        return last(z)
