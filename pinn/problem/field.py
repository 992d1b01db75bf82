"""An unknown coefficient of an inverse problem that depends on the place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated

import numpy as np

import autograd as T
from pinn.conditions.hard import Ansatz, HardModel
from pinn.geometry import Shape, projection
from pinn.models import MLP, AnyModel, Spaced, build_module
from pinn.problem.bounds import Bounds
from pinn.schema import Name, Positive, declared
from pinn.schema.errors import refuse
from pinn.schema.kinds import NAME, OneOrMore

_COORDINATES = OneOrMore(NAME, "a list of coordinates such as [x, y]", least=1)


@declared
class Field:
    """An unknown coefficient that depends on the place: a network of its own, of some coordinates.

    coordinates: those that it depends on; its network sees no others, and its derivatives in them
    are zero. model: the network. Equations and conditions use the field as they use an unknown
    ("div(a*grad(u))", "a_x", pinn.Dirichlet("a", 1.0, on="x=0", hard=True));
    `solution.evaluate(x=xs)["a"]` needs its own coordinates alone.

    lower, upper: bounds that it stays strictly inside, by the maps of pinn.Parameter. scale: how
    far it may well be from where it starts (with two bounds they say that). initial: where it
    starts, about; the middle between two bounds, lower + 0.7 scale, upper - 0.7 scale or 0 where
    left out. A field with bounds and hard conditions starts as their values go on instead.

    Raises ValueError for a coordinate that is repeated, and unless lower < initial < upper.
    """

    name: Name
    coordinates: Annotated[Sequence[str], _COORDINATES]
    model: AnyModel = MLP()
    lower: float | None = None
    upper: float | None = None
    initial: float | None = None
    scale: Positive = 1.0

    def __post_init__(self) -> None:
        if len(set(self.coordinates)) < len(self.coordinates):
            refuse(f"expected each coordinate once, got {', '.join(self.coordinates)}",
                   "coordinates")
        bounds = self.bounds
        if None not in (self.lower, self.upper) and not self.lower < self.upper:
            refuse(f"{self.name!r}: expected lower < upper, got {self.lower} and {self.upper}")
        if self.initial is not None and not bounds.holds(self.initial):
            refuse(
                f"{self.name!r}: expected lower < initial < upper, strictly, got lower = "
                f"{self.lower}, initial = {self.initial}, upper = {self.upper}"
            )

    @property
    def bounds(self) -> Bounds:
        """The map from the network's outputs to values of the field."""
        return Bounds(self.lower, self.upper, self.scale)

    @property
    def is_bounded(self) -> bool:
        """Whether it has a lower or an upper bound."""
        return self.lower is not None or self.upper is not None

    def domain(self, domain: Shape) -> Shape:
        """Return where the field lives: its coordinates of the problem's domain, in their order."""
        return projection(domain, self.coordinates)

    def build(
        self,
        domain: Shape,
        rng: np.random.Generator,
        dtype: T.dtype,
        device: str,
        ansatz: Ansatz | None = None,
        around: Callable[[str, T.nn.Module, Shape], T.nn.Module] | None = None,
    ) -> T.nn.Module:
        """Return the network (n, its coordinates) -> (n, 1); domain: the problem's.

        ansatz: the formula that makes its hard conditions hold. around: what is put around the
        network itself, by the field's name, for the domain that it sees.
        """
        own = self.domain(domain) if ansatz is None else ansatz.inputs
        module = build_module(self.model, own, [self.name], rng, dtype, device)
        if around is not None:
            module = around(self.name, module, own)
        module = Spaced.around(module, own)
        bounds, bounded = self.bounds, self.is_bounded
        if ansatz is not None and bounded:
            # Bounds come last: what the formula adds to the network must not leave them.
            return _Bounded(HardModel(module, ansatz), bounds, 0.0)
        level = 0.0 if self.initial is None else bounds.raw(self.initial)
        if (bounds, level) != (Bounds(), 0.0):
            module = _Bounded(module, bounds, level)
        return module if ansatz is None else HardModel(module, ansatz)


class _Bounded(T.nn.Module):
    """A network whose outputs are raw numbers, from a level on, of values between bounds.

    Its parameters are this module's, under "network.".
    """

    def __init__(self, network: T.nn.Module, bounds: Bounds, level: float) -> None:
        super().__init__()
        self.network = network
        self._bounds = bounds
        self._level = level

    def forward(self, points: T.Tensor) -> T.Tensor:
        return self._bounds.value(self.network(points) + self._level)
