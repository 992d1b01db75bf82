"""The multilayer perceptron."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

import autograd as T
from pinn.geometry import Shape
from pinn.models.model import Model
from pinn.schema import Count, declared

ACTIVATIONS = {
    "tanh": T.tanh,
    "sin": T.sin,
    "sigmoid": T.sigmoid,
    "silu": T.nn.functional.silu,
    "gelu": T.nn.functional.gelu,
    "softplus": T.nn.functional.softplus,
}


@declared
class MLP(Model):
    """A fully connected network: `depth` hidden layers of `width` units and a linear last layer.

    Only smooth activations: the second derivative of a piecewise linear network is zero.
    Raises ValueError for a count below one or an unknown activation.
    """

    width: Count = 20
    depth: Count = 3
    activation: Literal["tanh", "sin", "sigmoid", "silu", "gelu", "softplus"] = "tanh"

    def parameter_count(self, domain: Shape, unknowns: Sequence[str]) -> int:
        """Return how many numbers the network has, without building it."""
        inputs, outputs = len(domain.coordinates), len(unknowns)
        hidden = (inputs + 1 + (self.depth - 1) * (self.width + 1)) * self.width
        return hidden + (self.width + 1) * outputs

    def build(
        self,
        domain: Shape,
        unknowns: Sequence[str],
        rng: np.random.Generator,
        dtype: T.dtype,
        device: str = "cpu",
    ) -> T.nn.Module:
        """Return the network (n, coordinates) -> (n, unknowns), initialised from `rng`."""
        sizes = [len(domain.coordinates), *[self.width] * self.depth, len(unknowns)]
        bounds = np.array(list(domain.bounds.values()))
        return _Network(sizes, bounds, ACTIVATIONS[self.activation], rng, dtype, device)


class _Network(T.nn.Module):
    """Layers x -> activation(W x + b) over inputs scaled from their bounds to [-1, 1].

    Weights have shape (outputs, inputs) and are normal with variance 2 / (inputs + outputs), biases
    start at zero: Glorot and Bengio, AISTATS 2010, eq. 12 (as a normal distribution).
    """

    def __init__(self, sizes, bounds, activation, rng, dtype, device) -> None:
        super().__init__()
        low, high = bounds.T
        self._scale = T.tensor(2 / (high - low), dtype=dtype, device=device)
        self._shift = T.tensor(-(high + low) / (high - low), dtype=dtype, device=device)
        self._activation = activation
        self._layers = []
        for i, (inputs, outputs) in enumerate(zip(sizes[:-1], sizes[1:], strict=True)):
            spread = np.sqrt(2 / (inputs + outputs))
            weight = T.nn.Parameter(
                T.tensor(
                    spread * rng.standard_normal((outputs, inputs)), dtype=dtype, device=device
                )
            )
            bias = T.nn.Parameter(T.zeros(outputs, dtype=dtype, device=device))
            setattr(self, f"weight{i}", weight)
            setattr(self, f"bias{i}", bias)
            self._layers.append((weight, bias))

    def forward(self, points: T.Tensor) -> T.Tensor:
        linear = T.nn.functional.linear
        x = points * self._scale + self._shift
        for weight, bias in self._layers[:-1]:
            x = self._activation(linear(x, weight, bias))
        weight, bias = self._layers[-1]
        return linear(x, weight, bias)
