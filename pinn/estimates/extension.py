"""The functions in whose span the error of a trained network is looked for."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Iterable, Sequence

import numpy as np

import autograd as T
from pinn.equations.outputs import run_columns
from pinn.estimates.waves import Waves
from pinn.geometry import Shape
from pinn.models import Joined
from pinn.objective.flat_parameters import FlatParameters
from pinn.sampling import stream
from pinn.training.experiment import Experiment

# The step of a central difference in the numbers of a network, as a share of their size: what it
# leaves out is the square of that, and what rounding adds 1e-16 over it.
_STEP = 1e-6

_Around = Callable[[str, T.nn.Module, Shape], T.nn.Module]


class Extension:
    """The networks of a trained run, extended: each N becomes N + C waves, with C zero.

    Its derivatives in the numbers of N and in C, both at once, are the functions of a correction.
    `parameters` has all of these numbers, and the coefficients, as one vector; `theta` is where
    training has ended. What comes behind the networks, such as the formulas of hard conditions and
    the bounds of fields, holds for every correction as well. `own`: by network, the places of its
    numbers in the vector.

    waves: for each output of each network. names: of the random stream, under the run's seed.
    """

    def __init__(
        self, experiment: Experiment, theta: np.ndarray, waves: int, *names: str
    ) -> None:
        self._experiment = experiment
        self._networks: dict[str, T.nn.Module] = {}
        trained = self._built(lambda name, network, domain: self._networks.setdefault(name, network))
        trained.load(theta)
        self._places = {n: _places(trained, one.parameters()) for n, one in self._networks.items()}
        self._trained = np.array(theta)
        problem = experiment.problem
        sees = {one.name: len(one.coordinates) for one in problem.fields}
        dimensions = len(problem.domain.coordinates)
        extended: dict[str, _Extended] = {}

        def extend(name: str, network: T.nn.Module, domain: Shape) -> T.nn.Module:
            owner = name.partition(".")[0]
            made = Waves(
                self._networks[name], domain, sees.get(owner, dimensions), waves,
                stream(experiment.seed, "error estimate", *names, name), experiment.dtype,
                experiment.device,
            )  # fmt: skip
            extended[name] = _Extended(network, made, _width(self._networks[name], domain))
            return extended[name]

        self.parameters = self._built(extend)
        self.own = {
            name: _places(self.parameters, one.network.parameters())
            for name, one in extended.items()
        }
        self._heights = {
            name: _places(self.parameters, [one.heights]) for name, one in extended.items()
        }
        self._waves = {name: one.waves for name, one in extended.items()}
        self._coefficients = [
            (self.parameters.parts[one.name][0].start, trained.parts[one.name][0].start)
            for one in problem.parameters
        ]
        self.theta = np.zeros(self.parameters.size)
        for name, places in self.own.items():
            self.theta[places] = theta[self._places[name]]
        for new, old in self._coefficients:
            self.theta[new] = theta[old]
        self.parameters.load(self.theta)

    def _built(self, around: _Around) -> FlatParameters:
        def each(name: str, network: T.nn.Module, domain: Shape) -> T.nn.Module:
            if not isinstance(network, Joined):
                return around(name, network, domain)
            number = itertools.count()
            return network.mapped(lambda one: around(f"{name}.{next(number)}", one, domain))

        return self._experiment.initial_parameters(each)


class Corrected:
    """The networks of an extension moved along a direction: N + N' d + C waves.

    N' d is a central difference of two networks. `parameters.module` gives the values, and `theta`
    is the vector of the direction. The coefficients move as their raw numbers do.
    """

    def __init__(self, extension: Extension) -> None:
        self._extension = extension
        self._made: dict[str, _Corrected] = {}

        def correct(name: str, network: T.nn.Module, domain: Shape) -> T.nn.Module:
            waves, outputs = extension._waves[name], _width(network, domain)
            self._made[name] = _Corrected(network, waves, outputs)
            return self._made[name]

        self.parameters = extension._built(correct)
        self.theta = np.zeros(self.parameters.size)
        self.move(np.zeros(extension.parameters.size))

    def move(self, direction: np.ndarray) -> None:
        """Take another direction, (size,)."""
        extension, vector = self._extension, np.zeros(self.parameters.size)
        for name, made in self._made.items():
            own = extension._trained[extension._places[name]]
            along = direction[extension.own[name]]
            length, size = float(np.linalg.norm(along)), float(np.linalg.norm(own))
            step = _STEP * max(size, 1.0) / length if length > 0 else 1.0
            for network, numbers in (
                (made.network, own), (made.ahead, own + step * along),
                (made.behind, own - step * along),
            ):  # fmt: skip
                vector[_places(self.parameters, network.parameters())] = numbers
            vector[_places(self.parameters, [made.factor])] = 1 / (2 * step)
            heights = _places(self.parameters, [made.heights])
            vector[heights] = direction[extension._heights[name]]
        for one, (new, old) in zip(
            extension._experiment.problem.parameters, extension._coefficients, strict=True
        ):
            place = self.parameters.parts[one.name][0].start
            vector[place] = extension._trained[old] + direction[new]
        self.theta = vector
        self.parameters.load(vector)


class _Extended(T.nn.Module):
    """N + C waves, with C as its parameter `heights`, (outputs, waves)."""

    def __init__(self, network: T.nn.Module, waves: Waves, outputs: int) -> None:
        super().__init__()
        self.network = network
        self.waves = waves
        first = next(network.parameters())
        zeros = T.zeros(outputs, waves.count, dtype=first.dtype, device=first.device)
        self.heights = T.nn.Parameter(zeros)

    def forward(self, points: T.Tensor) -> T.Tensor:
        return self.forward_columns([points[:, j : j + 1] for j in range(points.shape[1])])

    def forward_columns(self, columns: Sequence[T.Tensor]) -> T.Tensor:
        waves = T.nn.functional.linear(self.waves(columns), self.heights)
        return _side_by_side(run_columns(self.network, columns)) + waves


class _Corrected(_Extended):
    """N + factor (N ahead - N behind) + C waves."""

    def __init__(self, network: T.nn.Module, waves: Waves, outputs: int) -> None:
        super().__init__(network, waves, outputs)
        self.ahead, self.behind = copy.deepcopy(network), copy.deepcopy(network)
        # a parameter, so that a recorded program reads it anew
        self.factor = T.nn.Parameter(T.zeros(1, dtype=self.heights.dtype, device=self.heights.device))

    def forward_columns(self, columns: Sequence[T.Tensor]) -> T.Tensor:
        ahead, behind = (
            _side_by_side(run_columns(one, columns)) for one in (self.ahead, self.behind)
        )
        return super().forward_columns(columns) + (ahead - behind) * self.factor


def _side_by_side(pieces: Sequence[T.Tensor]) -> T.Tensor:
    return pieces[0] if len(pieces) == 1 else T.cat(list(pieces), dim=1)


def _width(network: T.nn.Module, domain: Shape) -> int:
    """Return the number of outputs of a network."""
    like = next(network.parameters())
    middle = [[(low + high) / 2] for low, high in domain.bounds.values()]
    with T.no_grad():
        columns = [T.tensor([m], dtype=like.dtype, device=like.device) for m in middle]
        return sum(piece.shape[1] for piece in run_columns(network, columns))


def _places(parameters: FlatParameters, tensors: Iterable[T.Tensor]) -> np.ndarray:
    """Return where the numbers of some tensors stand in the vector, (numbers,)."""
    parts = {
        id(tensor): part
        for tensor, (part, _) in zip(parameters.tensors, parameters.parts.values(), strict=True)
    }
    found = [parts[id(tensor)] for tensor in tensors]
    return np.concatenate([np.zeros(0, int), *(np.arange(p.start, p.stop) for p in found)])
