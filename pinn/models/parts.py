"""What networks are made of: layers, numbers, fixed random matrices.

A network says which parts it has, by name; from that follow its parameters, how many there are, and
how they start.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

import autograd as T
from pinn.schema import NonNegative, declared

Draw = Callable[[np.random.Generator, int, int], np.ndarray]

# The n of Jagtap et al. 2020: the slope n*a starts at 1 and is learned n times faster than a.
SLOPE_FACTOR = 10.0


def glorot(rng: np.random.Generator, outputs: int, inputs: int) -> np.ndarray:
    """Draw a matrix (outputs, inputs): normal, variance 2 / (inputs + outputs).

    Glorot and Bengio, AISTATS 2010, eq. 12 (as a normal distribution).
    """
    return np.sqrt(2 / (inputs + outputs)) * rng.standard_normal((outputs, inputs))


def zeros(rng: np.random.Generator, outputs: int, inputs: int) -> np.ndarray:
    """Return the zeros of a bias, (outputs,)."""
    return np.zeros(outputs)


@declared
class Factorization:
    """Random weight factorisation: each matrix is trained as diag(exp(s)) V.

    s is normal with this mean and spread; V starts so that the matrix is what it would have been.
    Wang, Wang, Seidman and Perdikaris, arXiv:2210.01274, section 3.
    """

    mean: float = 1.0
    spread: NonNegative = 0.1


@dataclass(frozen=True)
class Maker:
    """What the arrays of a network are made with."""

    rng: np.random.Generator
    dtype: T.dtype
    device: str
    factorization: Factorization | None = None

    def tensor(self, values: Any) -> T.Tensor:
        """Return a tensor that is not trained."""
        return T.tensor(values, dtype=self.dtype, device=self.device)

    def parameter(self, values: Any) -> T.nn.Parameter:
        """Return one that is."""
        return T.nn.Parameter(self.tensor(values))


class Part(ABC):
    """A part of a network: what it takes to make it."""

    @abstractmethod
    def count(self, factorization: Factorization | None) -> int:
        """Return how many numbers are trained."""

    @abstractmethod
    def make(self, owner: T.nn.Module, name: str, maker: Maker) -> Any:
        """Register the parameters with a module, and return what the network works with."""


@dataclass(frozen=True)
class Layer(Part):
    """x -> W x + b, W of shape (outputs, inputs), under weightNAME and biasNAME.

    weight, bias: how they are drawn. slope: a factor of the result that is trained, one for the
    "layer" or each "neuron" (Jagtap, Kawaguchi and Karniadakis, Proc. R. Soc. A 476, 2020: n*a with
    n = 10), under slopeNAME. gain: a factor that is not.
    """

    inputs: int
    outputs: int
    weight: Draw = glorot
    bias: Draw = zeros
    slope: Literal["layer", "neuron"] | None = None
    gain: float = 1.0

    def count(self, factorization: Factorization | None) -> int:
        slopes = {None: 0, "layer": 1, "neuron": self.outputs}[self.slope]
        scales = self.outputs if factorization else 0
        return self.outputs * (self.inputs + 1) + slopes + scales

    def make(self, owner: T.nn.Module, name: str, maker: Maker) -> Dense:
        return Dense(self, owner, name, maker)


class Dense:
    """A layer with its parameters, which a module owns.

    Factors go into the matrix, which has no row for each point: they cost next to nothing.
    watched: a list that takes the input and the output of every call, while it is one.
    """

    def __init__(self, layer: Layer, owner: T.nn.Module, name: str, maker: Maker) -> None:
        weight = layer.weight(maker.rng, layer.outputs, layer.inputs)
        bias = layer.bias(maker.rng, layer.outputs, layer.inputs)
        self._gain = layer.gain
        self.watched: list[tuple[T.Tensor, T.Tensor]] | None = None
        self.log_scale: T.Tensor | None = None
        self.slope: T.Tensor | None = None
        factorization = maker.factorization
        if factorization is not None:
            s = maker.rng.normal(factorization.mean, factorization.spread, (layer.outputs, 1))
            weight = weight / np.exp(s)
            self.log_scale = maker.parameter(s)
            setattr(owner, f"log_scale{name}", self.log_scale)
        self.weight, self.bias = maker.parameter(weight), maker.parameter(bias)
        setattr(owner, f"weight{name}", self.weight)
        setattr(owner, f"bias{name}", self.bias)
        if layer.slope is not None:
            slopes = layer.outputs if layer.slope == "neuron" else 1
            self.slope = maker.parameter(np.full(slopes, 1 / SLOPE_FACTOR))
            setattr(owner, f"slope{name}", self.slope)

    def __call__(self, x: T.Tensor) -> T.Tensor:
        weight, bias = self.weight, self.bias
        if self.log_scale is not None:
            weight = weight * T.exp(self.log_scale)
        gain: Any = self._gain
        if self.slope is not None:
            gain = self.slope * (gain * SLOPE_FACTOR)
            weight, bias = weight * gain.reshape(-1, 1), bias * gain
        elif gain != 1:
            weight, bias = weight * gain, bias * gain
        result = T.nn.functional.linear(x, weight, bias)
        if self.watched is not None:
            self.watched.append((x, result))
        return result

    def set(self, weight: np.ndarray | float, bias: np.ndarray | float) -> None:
        """Write the W and b that the layer is to have, whatever its factors."""
        if self.slope is not None or self._gain != 1:
            raise ValueError("a layer with a slope or a gain cannot be set")
        matrix = np.broadcast_to(weight, tuple(self.weight.shape))
        if self.log_scale is not None:
            matrix = matrix / np.exp(self.log_scale.detach().cpu().numpy())
        with T.no_grad():
            for tensor, numbers in ((self.weight, matrix), (self.bias, bias)):
                values = np.broadcast_to(numbers, tuple(tensor.shape))
                tensor.copy_(T.tensor(values, dtype=tensor.dtype, device=tensor.device))


@dataclass(frozen=True)
class Scalar(Part):
    """One trained number, under its name."""

    start: float

    def count(self, factorization: Factorization | None) -> int:
        return 1

    def make(self, owner: T.nn.Module, name: str, maker: Maker) -> T.Tensor:
        parameter = maker.parameter(self.start)
        setattr(owner, name or "factor", parameter)
        return parameter


@dataclass(frozen=True)
class Frequencies(Part):
    """x -> [cos(pi B x), sin(pi B x)], B of normal numbers, `waves` rows for each scale.

    scales: standard deviations. trainable: whether B is trained. B is under frequenciesNAME.
    """

    inputs: int
    waves: int
    scales: tuple[float, ...]
    trainable: bool = False

    def count(self, factorization: Factorization | None) -> int:
        return self.inputs * self.waves * len(self.scales) if self.trainable else 0

    def make(
        self, owner: T.nn.Module, name: str, maker: Maker
    ) -> Callable[[T.Tensor], T.Tensor]:
        spread = np.pi * np.repeat(self.scales, self.waves)[:, None]
        drawn = spread * maker.rng.standard_normal((len(spread), self.inputs))
        if self.trainable:
            matrix: T.Tensor = maker.parameter(drawn)
            setattr(owner, f"frequencies{name}", matrix)
        else:
            matrix = maker.tensor(drawn)
            owner.register_buffer(f"frequencies{name}", matrix)
        return _Waves(matrix)


class _Waves:
    def __init__(self, matrix: T.Tensor) -> None:
        self._matrix = matrix

    def __call__(self, x: T.Tensor) -> T.Tensor:
        phases = T.nn.functional.linear(x, self._matrix)
        return T.cat([T.cos(phases), T.sin(phases)], dim=1)
