"""Multi-scale Fourier feature networks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import autograd as T
from pinn.models.activations import ACTIVATIONS, Activation
from pinn.models.network import Network
from pinn.models.parts import Frequencies, Layer, Part
from pinn.schema import Count, Few, declared
from pinn.schema.kinds import Number, Several

_SCALES = Several(Number(above=0.0), "a number > 0 or a list of them")


@declared
class MultiScale(Network):
    """One network of `depth` hidden layers applied to random Fourier features of several scales.

    Each of the scales has features of its own, `count` cosines and as many sines (see
    FourierEmbedding); all of them go through the same hidden layers of `width` units, and the
    linear last layer sees what comes out of all. Wang, Wang and Perdikaris, CMAME 384, 2021 (the
    multi-scale architecture). Weights start as those of MLP.
    """

    scales: Annotated[float | Sequence[float], _SCALES] = (1.0, 10.0)
    count: Count = 16
    width: Count = 20
    depth: Few = 2
    activation: Activation = "tanh"

    def parts(self, inputs: int, outputs: int) -> dict[str, Part]:
        w = self.width
        features: dict[str, Part] = {
            f"_scale{k}": Frequencies(inputs, self.count, (scale,))
            for k, scale in enumerate(self.scales)
        }
        sizes = (2 * self.count, *(w,) * self.depth)
        hidden = [Layer(a, b) for a, b in zip(sizes[:-1], sizes[1:], strict=True)]
        layers = [*hidden, Layer(w * len(self.scales), outputs)]
        return {**features, **{str(number): layer for number, layer in enumerate(layers)}}

    def forward(self, parts: Mapping[str, Any], z: T.Tensor) -> T.Tensor:
        activation = ACTIVATIONS[self.activation]
        scales = len(self.scales)
        features = list(parts.values())[:scales]
        *hidden, last = list(parts.values())[scales:]
        found = []
        for waves in features:
            h = waves(z)
            for layer in hidden:
                h = activation(layer(h))
            found.append(h)
        return last(found[0] if scales == 1 else T.cat(found, dim=1))
