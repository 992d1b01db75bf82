"""Values of the names in an equation at a set of points."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self

import numpy as np

import autograd as T
from pinn.equations.leaves import (
    At,
    Column,
    Constant,
    Coordinate,
    Location,
    ParameterRef,
    Supplied,
    UnknownLeaf,
)
from pinn.equations.outputs import run_columns
from pinn.equations.scope import Scope
from pinn.expressions import Expression


class Values(Mapping[Expression, Any]):
    """Values of names at some points: `values[leaf]` for the typed leaves of an equation.

    coordinates, constants, parameters, columns: name -> value, of whatever kind it is to be.
    """

    def __init__(
        self,
        coordinates: Mapping[str, Any],
        constants: Mapping[str, float],
        parameters: Mapping[str, Any] | None = None,
        columns: Mapping[str, Any] | None = None,
    ) -> None:
        self._by_name: dict[type[Expression], Mapping[str, Any]] = {
            Coordinate: coordinates,
            Constant: constants,
            ParameterRef: parameters or {},
            Column: columns or {},
        }
        self._supplied: dict[Supplied, Any] = {}
        points = [value for value in coordinates.values() if hasattr(value, "shape")]
        self._like = next((value for value in points if isinstance(value, T.Tensor)), None)
        self._shape = np.broadcast_shapes(*(tuple(value.shape) for value in points))

    @property
    def dtype(self) -> Any:
        """The precision of the points where they are tensors, else None."""
        return None if self._like is None else self._like.dtype

    def along(self, level: int, numbers: np.ndarray) -> Any:
        """Return numbers along the axis of a level, ready to broadcast with the points."""
        laid = numbers.reshape(-1, *[1] * (level - 1 + len(self._shape)))
        if self._like is None:
            return laid
        return T.tensor(laid, dtype=self._like.dtype, device=self._like.device)

    def summed(self, level: int, value: Any) -> Any:
        """Return the sum of a value over the axis of a level; of the points' shape where it ends.

        The axes of sums around this one stay.
        """
        ends = value.ndim - len(self._shape)
        if self._like is None:
            total = np.sum(value, axis=ends - level, keepdims=True)
        else:
            total = value.sum(dim=ends - level, keepdim=True)
        if math.prod(total.shape[:ends]) > 1:
            return total
        total = total.reshape(total.shape[ends:])
        if tuple(total.shape) == self._shape:
            return total
        return np.broadcast_to(total, self._shape) if self._like is None else total.expand(
            self._shape
        )

    def running_product(self, level: int, value: Any) -> Any:
        """Return the products of the first ones along the axis of a level."""
        axis = value.ndim - len(self._shape) - level
        if self._like is None:
            return np.cumprod(value, axis=axis)
        return value.cumprod(dim=axis)

    def supply(self, leaf: Supplied, value: Any) -> None:
        """Take the value of a leaf that stands for a value."""
        self._supplied[leaf] = value

    def __getitem__(self, leaf: Expression) -> Any:
        if isinstance(leaf, Supplied):
            return self._supplied[leaf]
        return self._by_name[type(leaf)][leaf.label[0]]

    def __contains__(self, leaf: object) -> bool:
        # Not by trying it out, as Mapping would: a value may be a run of the model.
        if isinstance(leaf, Supplied):
            return leaf in self._supplied
        return type(leaf) in self._by_name and leaf.label[0] in self._by_name[type(leaf)]

    def __iter__(self) -> Iterator[Expression]:
        return (kind(name) for kind, names in self._by_name.items() for name in names)

    def __len__(self) -> int:
        return sum(map(len, self._by_name.values()))


class ModelValues(Values):
    """Values at n points, where the unknowns are the outputs of a model.

    A coordinate, an unknown or a derivative is a tensor of shape (n,), a parameter one of shape (),
    a constant a float. How derivatives come about is the subclass's matter.

    columns: one (n, 1) tensor for each coordinate. coefficients: parameter name -> tensor ().
    plan: the leaves of unknowns that will be asked for, as the subclass wants them told. attached:
    name -> (n, 1) tensor, what else belongs to the points. `asked` lists the unknowns, derivatives
    and so on that were asked for, in order; `spread` is the most points a point that the model has
    been evaluated at, more than 1 for sums over nodes.
    """

    def __init__(
        self,
        module: T.nn.Module,
        scope: Scope,
        columns: Sequence[T.Tensor],
        coefficients: Mapping[str, T.Tensor],
        plan: Any,
        attached: Mapping[str, T.Tensor] | None = None,
    ) -> None:
        self.n = columns[0].shape[0]
        self.asked: dict[UnknownLeaf, None] = {}
        self.spread = 1.0
        self._module = module
        self._scope = scope
        self._columns = dict(zip(scope.coordinates, columns, strict=True))
        self._coefficients = coefficients
        self._plan = plan
        self._elsewhere: dict[Location, tuple[Self, tuple[int, ...]]] = {}
        self._axes: set[tuple[int, int]] = set()
        super().__init__(
            {name: column.reshape(-1) for name, column in self._columns.items()},
            scope.constants,
            coefficients,
            {name: column.reshape(-1) for name, column in (attached or {}).items()},
        )

    @property
    def like(self) -> T.Tensor:
        """A coordinate of the points, (n, 1): it has their precision and device."""
        return next(iter(self._columns.values()))

    @abstractmethod
    def unknown(self, leaf: UnknownLeaf) -> T.Tensor:
        """Return an unknown or a derivative of one, shape (n,)."""

    def at(self, leaf: At, replacements: Sequence[Any]) -> T.Tensor:
        """Return an unknown or a derivative of one elsewhere, given the coordinates there.

        replacements: a number or a tensor of n numbers for each of leaf.names; with nodes in front
        of the points inside a sum (pinn.equations.axes). The result has n numbers too, or a shape
        that broadcasts with the nodes. The model is evaluated once for all leaves of a location, at
        one point where it is the same for all. The result can be differentiated in everything that
        the coordinates there depend on.
        """
        self.asked[leaf] = None
        location = leaf.location
        if location not in self._elsewhere:
            self._elsewhere[location] = self._moved(leaf, replacements)
        there, shape = self._elsewhere[location]
        value = there.unknown(leaf.leaf)
        if len(shape) == 1:
            return value if shape == (self.n,) else value.expand(self.n)
        return value.reshape(shape)

    def along(self, level: int, numbers: np.ndarray) -> Any:
        self._axes.add((level, len(numbers)))
        return super().along(level, numbers)

    def _moved(self, leaf: At, replacements: Sequence[Any]) -> tuple[Self, tuple[int, ...]]:
        """Return the values at another place, and the shape of the points there."""
        moved = {
            name: self._checked(name, value)
            for name, value in zip(leaf.names, replacements, strict=True)
        }
        given = [moved.get(name, column.reshape(-1)) for name, column in self._columns.items()]
        shape = np.broadcast_shapes(
            (1,), *(tuple(value.shape) for value in given if isinstance(value, T.Tensor))
        )
        self.spread = max(self.spread, math.prod(shape) / max(1, self.n))
        columns = [_own_column(value, shape, self.like) for value in given]
        there = type(self)(
            self._module, self._scope, columns, self._coefficients, self._plan.at(leaf.location)
        )
        return there, shape

    def _checked(self, name: str, value: Any) -> Any:
        """Return what replaces a coordinate, its shape (..., n) or (..., 1); ValueError else."""
        if not isinstance(value, T.Tensor) or value.ndim == 0:
            return value
        *nodes, last = tuple(value.shape)
        levels = zip(range(len(nodes), 0, -1), nodes, strict=True)
        if last in (1, self.n) and all(m == 1 or (k, m) in self._axes for k, m in levels):
            return value
        if tuple(value.shape) == (self.n, 1):
            return value.reshape(-1)
        raise ValueError(
            f"at: expected a number or a tensor of shape ({self.n},), one number a point, for "
            f"the coordinate {name!r}, got shape {tuple(value.shape)}"
        )

    def __getitem__(self, leaf: Expression) -> Any:
        if isinstance(leaf, UnknownLeaf):
            self.asked[leaf] = None
            return self.unknown(leaf)
        return super().__getitem__(leaf)

    def __contains__(self, leaf: object) -> bool:
        return isinstance(leaf, UnknownLeaf) or super().__contains__(leaf)

    def _run_model(self, columns: Sequence[T.Tensor]) -> tuple[T.Tensor, ...]:
        """Return the model's outputs at coordinates given by columns, in pieces (n, k)."""
        pieces = run_columns(self._module, columns)
        expected = (self.n, len(self._scope.unknowns))
        shapes = [tuple(piece.shape) for piece in pieces]
        widths = [shape[1] for shape in shapes if len(shape) == 2 and shape[0] == self.n]
        if len(widths) < len(pieces) or sum(widths) != expected[1]:
            raise ValueError(
                f"the model maps {self.n} points to shape {', '.join(map(str, shapes))}; expected "
                f"{expected}, a column for each of {', '.join(self._scope.unknowns)}"
            )
        return pieces


def _own_column(value: Any, shape: tuple[int, ...], like: T.Tensor) -> T.Tensor:
    """Return a coordinate elsewhere as a column of its own, one row for each of the points there.

    Its own, because derivatives there are partial ones: at(u_x, x=t) must not see that x is t,
    nor u_t that t is one of the points' own columns.
    """
    count = math.prod(shape)
    if not isinstance(value, T.Tensor):
        return T.full((count, 1), value, dtype=like.dtype, device=like.device).requires_grad_()
    column = value.expand(shape).reshape(-1, 1).clone()
    return column if column.requires_grad else column.detach().requires_grad_()


def coordinate_columns(points: np.ndarray, dtype: T.dtype, device: str) -> list[T.Tensor]:
    """Return a leaf of shape (n, 1) that requires grad for each coordinate of points (n, d).

    Columns that are leaves of their own have well-defined gradients each; slices of one (n, d)
    tensor would be its children, on which the model does not depend.
    """
    return [
        T.tensor(points[:, j : j + 1], dtype=dtype, device=device, requires_grad=True)
        for j in range(points.shape[1])
    ]
