"""Random features: a hidden layer that stays as it was drawn, and a last layer that is trained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Annotated, Any

import numpy as np

import autograd as T
from pinn.geometry import Shape
from pinn.models.activations import ACTIVATIONS, Activation
from pinn.models.inputs import InputPlan
from pinn.models.network import Network
from pinn.models.parts import Factorization, Layer, Maker, Part
from pinn.schema import Count, declared
from pinn.schema.errors import refuse
from pinn.schema.kinds import Items, Number

Steepness = Annotated[
    Sequence[float],
    Items(Number(above=0.0), "two numbers > 0, the least and the most, such as [0.5, 8]", least=2),
]


@declared
class RandomFeatures(Network):
    """A sum of `width` random ridge functions f(a.(z - c)), whose factors alone are trained.

    The network is linear in what is trained: a linear problem becomes linear least squares, which
    one step of pinn.GaussNewton solves, and a smooth solution in few dimensions then comes out to
    many digits within seconds. For fronts and in many dimensions take a network whose hidden layers
    are trained.

    c is uniform in the box [-1, 1]^d of the inputs, a uniform in [-s, s]^d, with an s for each
    feature between the two numbers of `steepness`, log-uniform. s is how fast the features change:
    about as many radians as the solution goes through from the middle of an input's range to its
    edge, and some less and more. The factors start at zero. With one seed the first features of a
    wider network are those of a narrower one, where a feature may depend on all inputs.

    interaction: the most inputs that one feature may depend on, None for all. Features are then
    shared out evenly among the sets of 1 ... `interaction` inputs. In many dimensions this is what
    a few thousand features can do: a sum of functions of one input, or of two, is found however
    many there are, and for what is no such sum the loss stays high.

    Where an embedding gives inputs about some places (InversionEmbedding, CornerEmbedding),
    features are shared out evenly among sets of inputs: those about no place, for each place those
    about it, and for each these and those: a solution is a sum of what each makes, or nearly.

    Raises ValueError for a number outside its range.

    Huang, Zhu and Siew, Neurocomputing 70 (2006) 489; Dwivedi and Srinivasan, Neurocomputing 391
    (2020) 96; Chen, Chi, E and Yang, J. Mach. Learn. 1 (2022) 268; few inputs: Hashemi, Schaeffer,
    Shi, Topcu, Tran and Ward, Appl. Comput. Harmon. Anal. 62 (2023) 310.
    """

    width: Count = 1500
    steepness: Steepness = (0.5, 8.0)
    activation: Activation = "tanh"
    interaction: Count | None = None

    @property
    def linear(self) -> bool:
        """Whether the network is linear in all that is trained: where no embedding is trained."""
        return not any(embedding.trainable for embedding in self.embeddings())

    def __post_init__(self) -> None:
        if len(self.steepness) != 2 or self.steepness[0] > self.steepness[1]:
            refuse(
                "expected two numbers, the least and the most, got "
                f"{', '.join(f'{one:g}' for one in self.steepness)}",
                "steepness",
            )

    def check(self, domain: Shape, unknowns: Sequence[str]) -> None:
        """Raise DeclarationError, with the key, for what does not go with a problem."""
        super().check(domain, unknowns)
        if self.factorization is not None:
            refuse("expected none: its network is linear in what is trained", "factorization")

    def parts(self, inputs: int, outputs: int) -> dict[str, Part]:
        return self._parts(inputs, outputs)

    def parts_for(self, plan: InputPlan, outputs: int) -> dict[str, Part]:
        everywhere, about = plan.places()
        if not about:
            return self.parts(plan.width, outputs)
        sets = (everywhere, *about, *([*everywhere, *one] for one in about))
        return self._parts(plan.width, outputs, tuple(map(tuple, sets)))

    def _parts(
        self, inputs: int, outputs: int, sets: tuple[tuple[int, ...], ...] = ()
    ) -> dict[str, Part]:
        layer = RandomLayer(inputs, self.width, self.steepness, self.interaction, sets)
        return {"features": layer, "": Layer(self.width, outputs, weight=_nothing)}

    def forward(self, parts: Mapping[str, Any], z: T.Tensor) -> T.Tensor:
        hidden, last = parts.values()
        return last(ACTIVATIONS[self.activation](hidden(z)))


def _nothing(rng: np.random.Generator, outputs: int, inputs: int) -> np.ndarray:
    return np.zeros((outputs, inputs))


@dataclass(frozen=True)
class RandomLayer(Part):
    """z -> a.(z - c) for each of `outputs` random a and c, none of them trained.

    interaction: the most components of an a that are not zero, None for all. sets: of inputs; the
    components of an a that are not zero are those of one set, the next feature has those of the
    next. All of them where left out, or where `interaction` says which.
    """

    inputs: int
    outputs: int
    steepness: tuple[float, float]
    interaction: int | None = None
    sets: tuple[tuple[int, ...], ...] = ()

    def count(self, factorization: Factorization | None) -> int:
        return 0

    def make(self, owner: T.nn.Module, name: str, maker: Maker) -> Any:
        low, high = np.log(self.steepness)
        # A row for each feature, so that more features begin with those that fewer are.
        drawn = maker.rng.random((self.outputs, 1 + 2 * self.inputs))
        steepness, slope, centre = np.split(drawn, [1, 1 + self.inputs], axis=1)
        weight = np.exp(low + (high - low) * steepness) * (2 * slope - 1)
        centre = 2 * centre - 1
        if self.interaction is not None and self.interaction < self.inputs:
            weight = np.where(self._seen(maker.rng, self.interaction), weight, 0.0)
        elif self.sets:
            weight = np.where(self._in_turn(), weight, 0.0)
        weight_array = maker.tensor(weight)
        bias_array = maker.tensor(-(weight * centre).sum(axis=1))
        owner.register_buffer(f"{name}_weight", weight_array)
        owner.register_buffer(f"{name}_bias", bias_array)
        return lambda z: T.nn.functional.linear(z, weight_array, bias_array)

    def _in_turn(self) -> np.ndarray:
        """Return which inputs each feature depends on, one set after the other."""
        sets = np.zeros((len(self.sets), self.inputs), bool)
        for row, numbers in zip(sets, self.sets, strict=True):
            row[list(numbers)] = True
        return sets[np.arange(self.outputs) % len(sets)]

    def _seen(self, rng: np.random.Generator, most: int) -> np.ndarray:
        """Draw which inputs each feature depends on, (outputs, inputs) of bools.

        Each set of inputs has as many features as another, or one more; where there are more sets
        than features, random ones have one.
        """
        seen = np.zeros((self.outputs, self.inputs), bool)
        sizes = range(1, most + 1)
        sets = np.array([comb(self.inputs, size) for size in sizes], float)
        if sets.sum() <= self.outputs:
            all_sets = [one for size in sizes for one in combinations(range(self.inputs), size)]
            for row, number in zip(seen, rng.permutation(self.outputs), strict=True):
                row[list(all_sets[number % len(all_sets)])] = True
            return seen
        drawn = rng.choice(sizes, self.outputs, p=sets / sets.sum())
        for row, size in zip(seen, drawn, strict=True):
            row[rng.choice(self.inputs, size, replace=False)] = True
        return seen
