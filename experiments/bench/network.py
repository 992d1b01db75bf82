"""The networks of the workloads, written once over whatever arrays an engine has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np


class Arrays(Protocol):
    """What an engine gives a network: its own arrays' functions."""

    def linear(self, x: Any, weight: Any, bias: Any) -> Any: ...  # x @ weight.T (+ bias)
    def tanh(self, x: Any) -> Any: ...
    def sin(self, x: Any) -> Any: ...
    def cos(self, x: Any) -> Any: ...
    def join(self, parts: list[Any]) -> Any: ...  # along the last dimension


@dataclass(frozen=True)
class Network:
    """`depth` hidden layers of `width` units with tanh, and a linear last layer.

    kind      "mlp", or "modified": random Fourier features and two gates (Wang, Teng and
              Perdikaris, SIAM J. Sci. Comput. 43, 2021, eqs. 43-47).
    features  number of random frequencies of the modified network.
    """

    kind: Literal["mlp", "modified"] = "mlp"
    width: int = 64
    depth: int = 4
    features: int = 0

    def layers(self, coordinates: int, unknowns: int) -> dict[str, tuple[int, int]]:
        """Return (inputs, outputs) of each trained matrix by name, in order."""
        first = 2 * self.features if self.kind == "modified" else coordinates
        sizes = [first, *[self.width] * self.depth, unknowns]
        found = {f"{k}": (a, b) for k, (a, b) in enumerate(zip(sizes[:-1], sizes[1:], strict=True))}
        if self.kind == "modified":
            found |= {"gate_u": (first, self.width), "gate_v": (first, self.width)}
        return found

    def wide_layers(self, coordinates: int, unknowns: int) -> list[tuple[int, int]]:
        """Return (inputs, outputs) of the layers that take all channels to `width` outputs."""
        skipped = {str(self.depth)} | ({"0"} if self.kind == "mlp" else set())
        return [s for n, s in self.layers(coordinates, unknowns).items() if n not in skipped]

    def initial(
        self, coordinates: int, unknowns: int, rng: np.random.Generator
    ) -> dict[str, np.ndarray]:
        """Return Glorot normal weights (outputs, inputs), and small biases, by name."""
        found = {}
        for name, (inputs, outputs) in self.layers(coordinates, unknowns).items():
            spread = np.sqrt(2 / (inputs + outputs))
            found[f"weight_{name}"] = spread * rng.standard_normal((outputs, inputs))
            found[f"bias_{name}"] = 0.1 * rng.standard_normal(outputs)
        return found

    def frozen(self, coordinates: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Return the arrays that are not trained: the random frequencies."""
        if self.kind == "mlp":
            return {}
        return {"frequencies": rng.standard_normal((self.features, coordinates))}

    def __call__(self, given: Mapping[str, Any], points: Any, arrays: Arrays) -> Any:
        """Map points (n, d) to (n, unknowns); `given`: parameters and frozen arrays by name."""

        def layer(name: str, x: Any) -> Any:
            return arrays.linear(x, given[f"weight_{name}"], given[f"bias_{name}"])

        x = points
        if self.kind == "mlp":
            for k in range(self.depth):
                x = arrays.tanh(layer(str(k), x))
            return layer(str(self.depth), x)
        phase = arrays.linear(points, given["frequencies"], None)
        x = arrays.join([arrays.cos(phase), arrays.sin(phase)])
        u, v = arrays.tanh(layer("gate_u", x)), arrays.tanh(layer("gate_v", x))
        difference = u - v
        for k in range(self.depth):
            x = v + arrays.tanh(layer(str(k), x)) * difference  # z u + (1 - z) v
        return layer(str(self.depth), x)
