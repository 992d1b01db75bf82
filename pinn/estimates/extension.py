"""The functions in whose span the error of a trained network is looked for."""

from __future__ import annotations

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

MODEL = "model"
"""The name of the network of all unknowns."""

Around = Callable[[str, T.nn.Module, Shape], T.nn.Module]
"""(name of a network, the network, the domain that it sees) -> what stands for it."""


class Extension:
    """The networks of a trained run, extended: each N becomes N + C waves, with C zero.

    Its derivatives in the numbers of N and in C, both at once, are the functions of a correction.
    `parameters` has all of these numbers, and the coefficients, as one vector; `theta` is where
    training has ended. What comes behind the networks, such as the formulas of hard conditions and
    the bounds of fields, holds for every correction as well.

    waves: for each output of each network. The other attributes are by network: `waves`, the
    places of its numbers in the trained vector (`trained_places`), and in `parameters` those of its
    numbers (`own`) and of C (`heights`).
    """

    def __init__(self, experiment: Experiment, theta: np.ndarray, waves: int) -> None:
        self.experiment = experiment
        self.trained = np.array(theta)
        networks: dict[str, T.nn.Module] = {}
        plain = self.built(lambda name, network, domain: networks.setdefault(name, network))
        plain.load(theta)
        self.trained_places = {n: places_of(plain, one.parameters()) for n, one in networks.items()}
        problem = experiment.problem
        sees = {one.name: len(one.coordinates) for one in problem.fields}
        self.waves: dict[str, Waves] = {}
        extended: dict[str, Extended] = {}

        def extend(name: str, network: T.nn.Module, domain: Shape) -> T.nn.Module:
            dimensions = sees.get(name.partition(".")[0], len(problem.domain.coordinates))
            self.waves[name] = Waves(
                networks[name], domain, dimensions, waves,
                stream(experiment.seed, "error estimate", name), experiment.dtype,
                experiment.device,
            )  # fmt: skip
            extended[name] = Extended(network, self.waves[name], width_of(network, domain))
            return extended[name]

        self.parameters = self.built(extend)
        self.own = {
            name: places_of(self.parameters, one.network.parameters())
            for name, one in extended.items()
        }
        self.heights = {n: places_of(self.parameters, [one.heights]) for n, one in extended.items()}
        self.theta = np.zeros(self.parameters.size)
        for name, places in self.own.items():
            self.theta[places] = self.trained[self.trained_places[name]]
        for new, old in self.coefficients(plain).values():
            self.theta[new] = self.trained[old]
        self.parameters.load(self.theta)

    def built(self, around: Around) -> FlatParameters:
        """Build the run's networks with something around each; those of several apart."""

        def each(name: str, network: T.nn.Module, domain: Shape) -> T.nn.Module:
            if not isinstance(network, Joined):
                return around(name, network, domain)
            number = itertools.count()
            return network.mapped(lambda one: around(f"{name}.{next(number)}", one, domain))

        return self.experiment.initial_parameters(each)

    def coefficients(self, parameters: FlatParameters) -> dict[str, tuple[int, int]]:
        """Return the places of each coefficient in `parameters` and in others built alike."""
        return {
            one.name: tuple(p.layout[one.name].place.start for p in (self.parameters, parameters))
            for one in self.experiment.problem.parameters
        }


class Extended(T.nn.Module):
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
        return side_by_side(run_columns(self.network, columns)) + waves


def side_by_side(pieces: Sequence[T.Tensor]) -> T.Tensor:
    """Return the outputs of a network, (n, outputs), from pieces of them."""
    return pieces[0] if len(pieces) == 1 else T.cat(list(pieces), dim=1)


def width_of(network: T.nn.Module, domain: Shape) -> int:
    """Return the number of outputs of a network."""
    like = next(network.parameters())
    middle = [[(low + high) / 2] for low, high in domain.bounds.values()]
    with T.no_grad():
        columns = [T.tensor([m], dtype=like.dtype, device=like.device) for m in middle]
        return sum(piece.shape[1] for piece in run_columns(network, columns))


def places_of(parameters: FlatParameters, tensors: Iterable[T.Tensor]) -> np.ndarray:
    """Return where the numbers of some tensors stand in the vector, (numbers,): of the trained."""
    parts = {
        id(tensor): part.place
        for tensor, part in zip(parameters.tensors, parameters.layout.parts, strict=True)
    }
    found = [parts[id(tensor)] for tensor in tensors if tensor.requires_grad]
    return np.concatenate([np.zeros(0, int), *(np.arange(p.start, p.stop) for p in found)])
