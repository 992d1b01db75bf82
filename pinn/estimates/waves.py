"""Random waves: the functions that corrections of a network are made of."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

import autograd as T
from pinn.equations.outputs import run_columns
from pinn.geometry import Shape

# Points at which it is seen how a network's inputs and outputs vary.
_PROBES = 256
# A share of the outputs' spread, below which two ends of a coordinate have the same values.
_SAME = 1e-9


class Waves(T.nn.Module):
    """A column (n, 1) for each coordinate -> cos(W z + b), (n, count), with nothing to train.

    z is what the network sees: where it has inputs of its own (features, embeddings), what these
    make of the points, so that the waves repeat, and are symmetric, where the network is. Else the
    coordinates, and of one at whose two ends the network has the same values cos and sin.

    W is even in the ball in which that many waves belong to a box of twice the width of z's, in so
    many dimensions: they are as short as their number can resolve. Random waves are those of Rahimi
    and Recht, NeurIPS 2007; the wider box is a Fourier extension, Boyd, J. Comput. Phys. 178 (2002)
    118.
    """

    def __init__(
        self,
        network: T.nn.Module,
        domain: Shape,
        dimensions: int,
        count: int,
        rng: np.random.Generator,
        dtype: T.dtype,
        device: str,
    ) -> None:
        super().__init__()
        self.count = count

        def tensor(numbers: np.ndarray) -> T.Tensor:
            return T.tensor(numbers, dtype=dtype, device=device)

        low, high = np.array(list(domain.bounds.values())).T
        places = low + rng.random((_PROBES, len(low))) * (high - low)
        # Not registered as a part: what its inputs train is the network's.
        self._inputs = (getattr(network, "inputs", None),)
        self._bounds = list(zip(low.tolist(), high.tolist(), strict=True))
        self._repeats = [False] * len(low)
        with T.no_grad():
            if self._inputs[0] is None:
                outputs = _outputs(network, places, tensor)
                for j, ends in enumerate(self._bounds):
                    sides = [places.copy() for _ in ends]
                    for side, end in zip(sides, ends, strict=True):
                        side[:, j] = end
                    first, last = (_outputs(network, side, tensor) for side in sides)
                    self._repeats[j] = np.abs(first - last).max() <= _SAME * outputs.std()
            seen = self._seen([tensor(column[:, None]) for column in places.T]).cpu().numpy()
        spread = math.sqrt(3) * seen.std(axis=0)
        spread[spread <= _SAME * np.abs(seen).max()] = 1.0  # a column that is constant
        ball = math.pi ** (dimensions / 2) / math.gamma(dimensions / 2 + 1)
        radius = math.pi / 2 * (count / ball) ** (1 / dimensions)
        shares = ((rng.permutation(count) + 0.5) / count)[:, None]
        directions = rng.standard_normal((count, seen.shape[1]))
        # Columns beyond the dimensions vary together: a direction has a part of its length in them.
        directions *= math.sqrt(max(1.0, seen.shape[1] / dimensions)) / np.linalg.norm(
            directions, axis=1, keepdims=True
        )
        self._numbers = tensor(radius * shares ** (1 / dimensions) * directions / spread)
        self._phases = tensor(2 * math.pi * rng.random(count))

    def forward(self, columns: Sequence[T.Tensor]) -> T.Tensor:
        return T.cos(T.nn.functional.linear(self._seen(columns), self._numbers, self._phases))

    def _seen(self, columns: Sequence[T.Tensor]) -> T.Tensor:
        (inputs,) = self._inputs
        if inputs is not None:
            return inputs.of_columns(columns)
        seen = []
        for column, (low, high), repeats in zip(columns, self._bounds, self._repeats, strict=True):
            if repeats:
                angle = (column - low) * (2 * math.pi / (high - low))
                seen += [T.cos(angle), T.sin(angle)]
            else:
                seen.append((column - (low + high) / 2) * (2 / (high - low)))
        return T.cat(seen, dim=1)


def _outputs(network: T.nn.Module, places: np.ndarray, tensor) -> np.ndarray:
    pieces = run_columns(network, [tensor(column[:, None]) for column in places.T])
    return np.concatenate([piece.cpu().numpy() for piece in pieces], axis=1)
