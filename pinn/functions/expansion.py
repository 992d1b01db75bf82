"""A function space on a domain: its functions as sums of modes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, reduce
from pathlib import Path
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
from pinn.files import Columns
from pinn.functions.function_space import FunctionSpace
from pinn.functions.mode import Mode
from pinn.functions.modes import (
    Modes,
    chosen,
    modes_of,
    periodic_modes_of,
    spline_nodes,
    takes_too_many,
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
# Points that a cubic spline takes, and what their ends may be off by, as a share of the domain.
_FEWEST, _SLACK = 4, 1e-6

Given = Callable[..., Any] | str | float | Sequence[np.ndarray] | Path
"""A function of the coordinates: of arrays, a text, a number, arrays: where, and the values, or the
path of a file with these as columns."""


class Drawn:
    """A function that was drawn: drawn(xs) are its values at arrays of its coordinates.

    coefficients: name of a mode -> its number, as a problem's families take them.
    """

    def __init__(self, expansion: Expansion, coefficients: Mapping[str, float]) -> None:
        self._expansion = expansion
        self.coefficients = dict(coefficients)

    def is_of(self, expansion: Expansion) -> bool:
        """Return whether it was drawn from these functions, or from equal ones."""
        own = self._expansion
        return own is expansion or (own.space, own.bounds) == (expansion.space, expansion.bounds)

    def __call__(self, *places: Any) -> np.ndarray:
        return self._expansion.values(self.coefficients, *places)

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value:.3g}" for name, value in self.coefficients.items())
        return f"<function {self._expansion.space.name}: {shown}>"


class Expansion:
    """What the functions of a space are made of on a domain.

    constants: those that its mean may use. bounds: of each coordinate that they are functions of.
    Raises DeclarationError, with the key, as FunctionSpace says.
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
        self.bounds = tuple(bounds[name] for name in space.over)
        self._space = tuple(name for name in space.over if name in domain.space)
        for low, high in self.bounds:
            if takes_too_many(low, high, space.length):
                refuse(_too_short(f"more than {_MOST}"), "length")
        make = periodic_modes_of if space.periodic else modes_of
        self._along = [make(low, high, space.length) for low, high in self.bounds]
        self._numbers, self._roots = chosen(self._along, space.modes, _LEFT_OUT)
        if space.modes is None and len(self._numbers) > _MOST:
            refuse(_too_short(str(len(self._numbers))), "length")
        if space.modes is not None and len(self._numbers) < space.modes:
            refuse(
                f"expected {len(self._numbers)} at most: others vary by less than rounding",
                "modes",
            )
        self._scope = Scope((), space.over, self._space, constants)
        self._mean = Term(f"mean of {space.name!r}", space.mean, self._scope)

    def __str__(self) -> str:
        count = len(self._numbers)
        of = "1 mode" if count == 1 else f"{count} modes"
        return f"{self.space.name}({', '.join(self.space.over)}) of {of}"

    def __repr__(self) -> str:
        return f"<functions {self}>"

    @property
    def names(self) -> tuple[str, ...]:
        """What the numbers of the modes are called."""
        return tuple(f"{self.space.name}{k}" for k in range(1, len(self._numbers) + 1))

    @property
    def left_out(self) -> float:
        """What the modes leave out of a function of the space, as a share of its deviation."""
        variance = math.prod(float(one.weights.sum()) for one in self._along)
        return math.sqrt(max(0.0, 1 - float(np.sum(self._roots**2)) / variance))

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

        given: a function of arrays, a text or a number, arrays (xs, values), the path of a file
        with a column for each coordinate and one of values (pinn.Table), or what was drawn. The
        second is the relative L2 norm of the rest. Raises ValueError and TypeError for what is no
        function, or has values that are not finite.
        """
        if isinstance(given, Drawn) and given.is_of(self):
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

    def several(self, given: Any) -> Sequence[Given | Drawn] | None:
        """Return the functions of a list of them; None for what stands for one function."""
        if not isinstance(given, list | tuple) or not given:
            return None
        count = len(self.space.over) + 1

        def is_one(one: Any) -> bool:
            arrays = isinstance(one, list | tuple) and len(one) == count
            known = callable(one) or isinstance(one, str | Path)
            return known or (arrays and all(map(np.ndim, one)))

        return given if all(map(is_one, given)) else None

    def _random(self, seed: int, what: str) -> dict[str, float]:
        unit = stream(seed, f"{what} {self.space.name}").random((1, len(self._numbers)))
        normal = Mode("c", -_WITHIN, _WITHIN, spacing="normal").from_unit(unit)
        return dict(zip(self.names, normal[0].tolist(), strict=True))

    def _at_nodes(self, given: Given, nodes: Sequence[np.ndarray]) -> np.ndarray:
        name, over = self.space.name, ", ".join(self.space.over)
        if isinstance(given, str):
            return self._on_grid(Term(name, given, self._scope), nodes)
        if isinstance(given, Path):
            return self._of_file(given, nodes)
        if isinstance(given, tuple | list) and len(given) == len(nodes) + 1:
            if all(isinstance(one, np.ndarray | list | tuple) for one in given):
                return self._of_arrays([np.asarray(one) for one in given], nodes)
        if not callable(given) and not np.isscalar(given):
            raise TypeError(
                f"{name}: expected a function of {over}, a text such as \"sin(pi*{over[0]})\", "
                f"{len(nodes) + 1} arrays ({over}, values) or the pathlib.Path of a file of such "
                f"columns, got {type(given).__name__}"
            )
        try:
            found = np.asarray(given(*nodes) if callable(given) else given, dtype=np.float64)
        except TypeError as error:
            raise TypeError(
                f"{name}: it is called with an array for each of {over}, and takes none: {error}"
            ) from error
        if found.shape not in ((), nodes[0].shape):
            raise ValueError(
                f"{name}: expected {nodes[0].shape} values at arrays {over} of this shape, got "
                f"{found.shape}"
            )
        if not np.isfinite(found).all():
            raise ValueError(f"{name}: expected finite values, got {found[~np.isfinite(found)][0]}")
        return np.broadcast_to(found, nodes[0].shape)

    def _of_arrays(
        self, arrays: Sequence[np.ndarray], nodes: Sequence[np.ndarray]
    ) -> np.ndarray:
        """Return values at nodes by those at others."""
        name, over = self.space.name, self.space.over
        if len(over) == 1:
            arrays = [one.reshape(-1) for one in arrays]
        count = min(map(len, arrays))
        return self._of_table(dict(zip((*over, name), arrays, strict=True)), {}, count, nodes)

    def _of_file(self, path: Path, nodes: Sequence[np.ndarray]) -> np.ndarray:
        """Return values at nodes by the columns of a file."""
        name, over, columns = self.space.name, self.space.over, Columns(path=path)
        places = dict(zip(over, columns.names, strict=False)) if columns.by_position else {}
        others = [one for one in columns.names if one not in (places.values() if places else over)]
        if name not in others and len(others) != 1:
            columns.refuse(
                f"expected a column for each of {', '.join(over)}, and one of {name}; its columns "
                f"are {', '.join(columns.names)}"
            )
        called = name if name in others else others[0]
        count = len(columns.column(called))
        return self._of_table(path, {**places, name: called}, count, nodes)

    def _of_table(
        self, table: Mapping[str, np.ndarray] | Path, columns: Mapping[str, str], count: int,
        nodes: Sequence[np.ndarray],
    ) -> np.ndarray:  # fmt: skip
        """Return values at nodes by splines through given ones, by lines where these are few."""
        name, over = self.space.name, self.space.over
        table = Table(
            name, table, over=over, columns=columns, outside="extrapolate",
            method="spline" if count >= _FEWEST else "linear",
        )  # fmt: skip
        table = table.as_function()
        for one, (low, high) in zip(over, self.bounds, strict=True):
            least, most = table.bounds[one]
            slack = _SLACK * (high - low)
            if least > low + slack or most < high - slack:
                raise ValueError(
                    f"{name}: expected values all over {low:g} <= {one} <= {high:g}, got "
                    f"{one} from {least:g} to {most:g}"
                )
        return table.at(*nodes)

    def _on_grid(self, term: Term, nodes: Sequence[np.ndarray]) -> np.ndarray:
        columns = dict(zip(self.space.over, nodes, strict=True))
        found = term.evaluate(Values(columns, self._scope.constants), NUMPY_FUNCTIONS)
        return np.broadcast_to(np.asarray(found, dtype=np.float64), nodes[0].shape)

    def _mode_tree(self, j: int, k: int) -> Expression:
        """Return a mode of a coordinate as an expression of it."""
        one, (low, high), name = self._along[j], self.bounds[j], self.space.over[j]
        if one.waves is not None:
            return _wave(*one.waves[k], name, low, high)
        return _tabulated(f"{self.space.name}_{name}{k + 1}", name, one, k, low, high, self.space)


def _too_short(count: str) -> str:
    return (
        f"functions of this length have {count} modes that count, and networks see {_MOST} at "
        "most; expected a longer one, or how many: modes: 30"
    )


def _wave(count: int, cosine: bool, name: str, low: float, high: float) -> Expression:
    size = algebra.number(math.sqrt((2 if count else 1) / (high - low)))
    if not count:
        return size
    along = algebra.subtract(Coordinate(name), algebra.number(low))
    angle = algebra.multiply(algebra.number(2 * math.pi * count / (high - low)), along)
    return algebra.multiply(size, algebra.apply("cos" if cosine else "sin", angle))


class _Mode(Table):
    """A mode of one coordinate, by its values; messages are those of its function."""

    def _refuse_outside(self, xs: Sequence[np.ndarray], inside: Sequence[np.ndarray]) -> None:
        (name,), (x,), (within,) = self.over, xs, inside
        bad = np.flatnonzero(~within.reshape(-1))
        if bad.size:
            (low, high), function = self.bounds[name], self.value.rpartition("_")[0]
            raise ValueError(
                f"{function}: expected {name} in [{low:.6g}, {high:.6g}], where it is known, got "
                f"{x.reshape(-1)[bad[0]]:.6g}; hold its argument there, as in "
                f"{function}(max({low:g}, min({high:g}, ...))), or make it periodic"
            )


def _tabulated(
    called: str, name: str, modes: Modes, k: int, low: float, high: float, space: FunctionSpace
) -> Expression:
    nodes = spline_nodes(low, high, space.length)
    arrays = {name: nodes, called: modes.at(k, nodes, low, high)}
    table = _Mode(called, arrays, over=(name,), method="spline").as_function()
    return Tabulated(table, (0,), (Coordinate(name),))
