"""Sinusoidal representation networks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

import autograd as T
from pinn.models.network import Network
from pinn.models.parts import Layer, Part
from pinn.schema import Count, Few, Positive, declared


@declared
class Siren(Network):
    """A network of sines: layers sin(w (W z + b)), `depth` of `width` units, and a linear last one.

    w: first_frequency in the first layer, about as many radians as the inputs go through;
    frequency in the others. Weights are uniform: within 1/inputs in the first layer, within
    sqrt(6/inputs)/w in the others, biases within 1/sqrt(inputs). Sitzmann et al., NeurIPS 2020,
    section 3.2.
    """

    width: Count = 64
    depth: Few = 3
    first_frequency: Positive = 30.0
    frequency: Positive = 30.0

    def parts(self, inputs: int, outputs: int) -> dict[str, Part]:
        w = self.width
        layers = [Layer(inputs, w, _first, _bias, gain=self.first_frequency)]
        layers += [Layer(w, w, self._inner, _bias, gain=self.frequency)] * (self.depth - 1)
        layers.append(Layer(w, outputs, self._inner, _bias))
        return {str(number): layer for number, layer in enumerate(layers)}

    def forward(self, parts: Mapping[str, Any], z: T.Tensor) -> T.Tensor:
        *hidden, last = parts.values()
        for layer in hidden:
            z = T.sin(layer(z))
        return last(z)

    def _inner(self, rng: np.random.Generator, outputs: int, inputs: int) -> np.ndarray:
        bound = np.sqrt(6 / inputs) / self.frequency
        return rng.uniform(-bound, bound, (outputs, inputs))


def _first(rng: np.random.Generator, outputs: int, inputs: int) -> np.ndarray:
    return rng.uniform(-1 / inputs, 1 / inputs, (outputs, inputs))


def _bias(rng: np.random.Generator, outputs: int, inputs: int) -> np.ndarray:
    return rng.uniform(-1, 1, outputs) / np.sqrt(inputs)
