"""A function space on a domain: its functions as sums of modes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, reduce
from typing import Any

import numpy as np

from pinn.checks import nearest
from pinn.equations.functions import NUMPY_FUNCTIONS
from pinn.equations.leaves import Coordinate
from pinn.equations.scope import Scope
from pinn.equations.tabulated import Tabulated
from pinn.equations.term import Term
from pinn.equations.values import Values
from pinn.expressions import Expression, algebra
from pinn.functions.function_space import FunctionSpace
from pinn.functions.mode import Mode
from pinn.functions.modes import (
    MOST_NODES,
    Modes,
    chosen,
    modes_of,
    periodic_modes_of,
    spline_nodes,
)
from pinn.geometry import Shape
from pinn.sampling import stream
from pinn.schema.errors import refuse
from pinn.tables import Table

# Deviations that a normal number is drawn within.
_WITHIN = 4.0
# Of the variance so much may be left out where the number of modes is.
_LEFT_OUT = 1e-6
_MOST = 100

Given = Callable[..., Any] | str | float | Sequence[np.ndarray]
"""A function of the coordinates: of arrays, a text, a number, or arrays: where, and the values."""


class Drawn:
    """A function that was drawn: drawn(xs) are its values at arrays of its coordinates.

    coefficients: name of a mode -> its number, as a problem's families take them.
    """

    def __init__(self, expansion: Expansion, coefficients: Mapping[str, float]) -> None:
        self._expansion = expansion
        self.coefficients = dict(coefficients)

    def __call__(self, *places: Any) -> np.ndarray:
        return self._expansion.values(self.coefficients, *places)

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value:.3g}" for name, value in self.coefficients.items())
        return f"<function {self._expansion.space.name}: {shown}>"


class Expansion:
    """What the functions of a space are made of on a domain.

    constants: those that its mean may use. Raises DeclarationError, with the key, as FunctionSpace
    says.
    """

    def __init__(self, space: FunctionSpace, domain: Shape, constants: Mapping[str, float]) -> None:
        self.space = space
        bounds = domain.bounds
        for name in space.over:
            if name not in bounds:
                refuse(
                    f"expected some of the coordinates {', '.join(bounds)}, got {name!r}"
                    f"{nearest(name, bounds)}",
                    "over",
                )
        self._bounds = [bounds[name] for name in space.over]
        self._space = tuple(name for name in space.over if name in domain.space)
        for low, high in self._bounds:
            if 8 * (high - low) > MOST_NODES * space.length:
                refuse(
                    f"expected {8 * (high - low) / MOST_NODES:.3g} or more, got {space.length:g}",
                    "length",
                )
        make = periodic_modes_of if space.periodic else modes_of
        self._along = [make(low, high, space.length) for low, high in self._bounds]
        self._numbers, self._roots = chosen(self._along, space.modes, _LEFT_OUT)
        if space.modes is None and len(self._numbers) > _MOST:
            refuse(
                f"functions of this length have {len(self._numbers)} modes that count, and "
                f"networks see {_MOST} at most; expected a longer one, or how many: modes: 30",
                "length",
            )
        if space.modes is not None and len(self._numbers) < space.modes:
            refuse(
                f"expected {len(self._numbers)} at most: others vary by less than rounding",
                "modes",
            )
        self._scope = Scope((), space.over, self._space, constants)
        self._mean = Term(f"mean of {space.name!r}", space.mean, self._scope)

    def __str__(self) -> str:
        return f"{self.space.name}({', '.join(self.space.over)}) of {len(self._numbers)} modes"

    def __repr__(self) -> str:
        return f"<functions {self}>"

    @property
    def names(self) -> tuple[str, ...]:
        """What the numbers of the modes are called."""
        return tuple(f"{self.space.name}{k}" for k in range(1, len(self._numbers) + 1))

    @cached_property
    def families(self) -> tuple[Mode, ...]:
        """The numbers of the modes, as factors of the domain."""
        return tuple(
            Mode(name, -_WITHIN, _WITHIN, spacing="normal", typical=value)
            for name, value in self._random(0, "shown").items()
        )

    @cached_property
    def tree(self) -> Expression:
        """The function at the point, in terms of coordinates and the numbers of the modes."""
        along = [
            [self._mode_tree(j, k) for k in range(1 + max(n[j] for n in self._numbers))]
            for j in range(len(self._along))
        ]
        terms = [self._mean.formula]
        for name, number, root in zip(self.names, self._numbers, self._roots, strict=True):
            shape = reduce(algebra.multiply, (along[j][k] for j, k in enumerate(number)))
            size = algebra.number(self.space.scale * root)
            terms.append(algebra.multiply(Coordinate(name), algebra.multiply(size, shape)))
        return reduce(algebra.add, terms)

    def draw(self, seed: int = 0) -> Drawn:
        """Return a function of the space, drawn at random as training draws them."""
        return Drawn(self, self._random(seed, "drawn"))

    def values(self, coefficients: Mapping[str, float], *places: Any) -> np.ndarray:
        """Return the function of some coefficients at arrays of its coordinates."""
        if len(places) != len(self.space.over):
            raise TypeError(
                f"{self.space.name} is a function of {', '.join(self.space.over)}, got "
                f"{len(places)} arrays"
            )
        arrays = [np.asarray(one, dtype=np.float64) for one in places]
        columns = dict(zip(self.space.over, np.broadcast_arrays(*arrays), strict=True))
        shape = next(iter(columns.values())).shape
        given = {name: np.asarray(value) for name, value in coefficients.items()}
        names = (*self.space.over, *self.names)
        scope = Scope((), names, self._space, self._scope.constants)
        term = Term(self.space.name, self.tree, scope)
        found = term.evaluate(Values({**columns, **given}, scope.constants), NUMPY_FUNCTIONS)
        return np.broadcast_to(np.asarray(found, dtype=np.float64), shape).copy()

    def coefficients(self, given: Given | Drawn) -> tuple[dict[str, float], float]:
        """Return the numbers of the modes that make a function, and what they leave of it.

        given: a function of arrays, a text or a number, arrays (xs, values), or what was drawn. The
        second is the relative L2 norm of the rest. Raises ValueError and TypeError for what is no
        function, or has values that are not finite.
        """
        if isinstance(given, Drawn):
            return dict(given.coefficients), 0.0
        nodes = np.meshgrid(*(one.nodes for one in self._along), indexing="ij")
        weights = reduce(np.multiply.outer, (one.weights for one in self._along))
        values = self._at_nodes(given, nodes)
        rest = values - self._on_grid(self._mean, nodes)
        found = {}
        for name, number, root in zip(self.names, self._numbers, self._roots, strict=True):
            shape = reduce(
                np.multiply.outer,
                (one.values[k] for one, k in zip(self._along, number, strict=True)),
            )
            part = float(np.sum(weights * rest * shape))
            found[name] = part / (self.space.scale * root)
            rest = rest - part * shape
        size = math.sqrt(float(np.sum(weights * values**2)))
        left = math.sqrt(float(np.sum(weights * rest**2)))
        return found, left / size if size else 0.0

    def _random(self, seed: int, what: str) -> dict[str, float]:
        unit = stream(seed, f"{what} {self.space.name}").random((1, len(self._numbers)))
        normal = Mode("c", -_WITHIN, _WITHIN, spacing="normal").from_unit(unit)
        return dict(zip(self.names, normal[0].tolist(), strict=True))

    def _at_nodes(self, given: Given, nodes: Sequence[np.ndarray]) -> np.ndarray:
        name, over = self.space.name, ", ".join(self.space.over)
        if isinstance(given, str):
            return self._on_grid(Term(name, given, self._scope), nodes)
        if isinstance(given, tuple | list) and len(given) == len(nodes) + 1:
            return Table.of_arrays(given).as_function().at(*nodes)
        if not callable(given) and not np.isscalar(given):
            raise TypeError(
                f"{name}: expected a function of {over}, a text such as \"sin(pi*{over[0]})\", or "
                f"{len(nodes) + 1} arrays ({over}, values), got {type(given).__name__}"
            )
        found = np.asarray(given(*nodes) if callable(given) else given, dtype=np.float64)
        if found.shape not in ((), nodes[0].shape):
            raise ValueError(
                f"{name}: expected {nodes[0].shape} values at arrays {over} of this shape, got "
                f"{found.shape}"
            )
        if not np.isfinite(found).all():
            raise ValueError(f"{name}: expected finite values, got {found[~np.isfinite(found)][0]}")
        return np.broadcast_to(found, nodes[0].shape)

    def _on_grid(self, term: Term, nodes: Sequence[np.ndarray]) -> np.ndarray:
        columns = dict(zip(self.space.over, nodes, strict=True))
        found = term.evaluate(Values(columns, self._scope.constants), NUMPY_FUNCTIONS)
        return np.broadcast_to(np.asarray(found, dtype=np.float64), nodes[0].shape)

    def _mode_tree(self, j: int, k: int) -> Expression:
        """Return a mode of a coordinate as an expression of it."""
        one, (low, high), name = self._along[j], self._bounds[j], self.space.over[j]
        if one.waves is not None:
            return _wave(*one.waves[k], name, low, high)
        return _tabulated(f"{self.space.name}_{name}{k + 1}", name, one, k, low, high, self.space)


def _wave(count: int, cosine: bool, name: str, low: float, high: float) -> Expression:
    size = algebra.number(math.sqrt((2 if count else 1) / (high - low)))
    if not count:
        return size
    along = algebra.subtract(Coordinate(name), algebra.number(low))
    angle = algebra.multiply(algebra.number(2 * math.pi * count / (high - low)), along)
    return algebra.multiply(size, algebra.apply("cos" if cosine else "sin", angle))


def _tabulated(
    called: str, name: str, modes: Modes, k: int, low: float, high: float, space: FunctionSpace
) -> Expression:
    nodes = spline_nodes(low, high, space.length)
    arrays = {name: nodes, called: modes.at(k, nodes, low, high)}
    table = Table(called, arrays, over=(name,), method="spline").as_function()
    return Tabulated(table, (0,), (Coordinate(name),))
