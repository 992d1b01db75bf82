"""Values of the names in an equation at a set of points."""

from __future__ import annotations

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
    and so on that were asked for, in order.
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
        self._module = module
        self._scope = scope
        self._columns = dict(zip(scope.coordinates, columns, strict=True))
        self._coefficients = coefficients
        self._plan = plan
        self._elsewhere: dict[Location, Self] = {}
        super().__init__(
            {name: column.reshape(-1) for name, column in self._columns.items()},
            scope.constants,
            coefficients,
            {name: column.reshape(-1) for name, column in (attached or {}).items()},
        )

    @abstractmethod
    def unknown(self, leaf: UnknownLeaf) -> T.Tensor:
        """Return an unknown or a derivative of one, shape (n,)."""

    def at(self, leaf: At, replacements: Sequence[Any]) -> T.Tensor:
        """Return an unknown or a derivative of one elsewhere, (n,), given the coordinates there.

        replacements: a number or a tensor of n numbers for each of leaf.names. The model is
        evaluated once for all leaves of a location. The result can be differentiated in
        everything that the coordinates there depend on.
        """
        self.asked[leaf] = None
        location = leaf.location
        if location not in self._elsewhere:
            moved = dict(zip(leaf.names, replacements, strict=True))
            self._elsewhere[location] = type(self)(
                self._module,
                self._scope,
                [
                    self._moved(name, moved.get(name, column))
                    for name, column in self._columns.items()
                ],
                self._coefficients,
                self._plan.at(location),
            )
        return self._elsewhere[location].unknown(leaf.leaf)

    def _moved(self, name: str, value: Any) -> T.Tensor:
        """Return a coordinate elsewhere as a column (n, 1) of its own.

        Its own, because derivatives there are partial ones: at(u_x, x=t) must not see that x is t,
        nor u_t that t is one of the points' own columns.
        """
        like = self._columns[name]
        if not isinstance(value, T.Tensor):
            column = T.full(tuple(like.shape), value, dtype=like.dtype, device=like.device)
            return column.requires_grad_()
        if tuple(value.shape) not in ((), (self.n,), (self.n, 1)):
            raise ValueError(
                f"at: expected a number or a tensor of shape ({self.n},), one number a point, for "
                f"the coordinate {name!r}, got shape {tuple(value.shape)}"
            )
        column = value.reshape(-1, 1).expand(self.n, 1).clone()
        return column if column.requires_grad else column.detach().requires_grad_()

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


def coordinate_columns(points: np.ndarray, dtype: T.dtype, device: str) -> list[T.Tensor]:
    """Return a leaf of shape (n, 1) that requires grad for each coordinate of points (n, d).

    Columns that are leaves of their own have well-defined gradients each; slices of one (n, d)
    tensor would be its children, on which the model does not depend.
    """
    return [
        T.tensor(points[:, j : j + 1], dtype=dtype, device=device, requires_grad=True)
        for j in range(points.shape[1])
    ]
