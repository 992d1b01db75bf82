"""Physics-informed residual adaptive networks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import autograd as T
from pinn.models.activations import ACTIVATIONS, Activation
from pinn.models.embeddings import Embedding, FourierEmbedding
from pinn.models.network import Network
from pinn.models.parts import Layer, Part, Scalar
from pinn.schema import Count, Few, Positive, declared
from pinn.schema.errors import refuse


@declared
class PirateNet(Network):
    """`depth` blocks of three layers that start as the identity, over random Fourier features.

    A block maps z to a*h + (1 - a)*z with a trained number a that starts at 0, so that the network
    starts as a linear combination of its features. In it h = s(W3 y + b3) with two layers f =
    s(W z + b), f U + (1 - f) V before, U and V being encodings of the features; s: the activation.
    width: units, and features (an even number). frequency: the standard deviation of the random
    features (see FourierEmbedding), which come after the embeddings that are given.
    Training begins with the last layer of least squares for the values that soft conditions give.
    Wang, Li, Chen and Perdikaris, J. Mach. Learn. Res. 25, 2024 (arXiv:2402.00326), section 4.
    Weights start as those of MLP.
    """

    width: Count = 64
    depth: Few = 3
    activation: Activation = "tanh"
    frequency: Positive = 1.0

    fits_last_layer: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.width % 2:
            refuse(f"expected an even number, a cosine and a sine each, got {self.width}", "width")

    def embeddings(self) -> tuple[Embedding, ...]:
        return (*self.embedding, FourierEmbedding(self.width // 2, (self.frequency,)))

    def parts(self, inputs: int, outputs: int) -> dict[str, Part]:
        w = self.width
        layers: dict[str, Part] = {"_u": Layer(w, w), "_v": Layer(w, w)}
        for k in range(1, self.depth + 1):
            layers |= {f"{k}{part}": Layer(w, w) for part in "abc"}
            layers[f"alpha{k}"] = Scalar(0.0)
        return {**layers, "_last": Layer(w, outputs)}

    def forward(self, parts: Mapping[str, Any], z: T.Tensor) -> T.Tensor:
        activation = ACTIVATIONS[self.activation]
        to_u, to_v, *blocks, last = parts.values()
        v = activation(to_v(z))
        difference = activation(to_u(z)) - v
        for k in range(0, len(blocks), 4):
            first, second, third, alpha = blocks[k : k + 4]
            h = v + activation(first(z)) * difference
            h = v + activation(second(h)) * difference
            h = activation(third(h))
            z = z + alpha * (h - z)
        return last(z)
