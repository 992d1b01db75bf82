"""Values of the names in an equation at a set of points."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import autograd as T
from pinn.equations.leaves import Column, Constant, Coordinate, ParameterRef
from pinn.equations.scope import Scope

_GIVEN = (Coordinate, Column, Constant, ParameterRef)


class Values(ABC):
    """Values of names at n points: `values[leaf]` for the typed leaves of an equation.

    A coordinate, an unknown or a derivative is a tensor of shape (n,), a parameter one of shape (),
    a constant a float. How unknowns and their derivatives come about is the subclass's matter.

    columns: one (n, 1) tensor for each coordinate. coefficients: parameter name -> tensor ().
    attached: name -> (n, 1) tensor, what else belongs to the points.
    """

    derivative_leaves: tuple[type, ...]  # the kinds of leaf that `derivative` takes

    def __init__(
        self,
        module: T.nn.Module,
        scope: Scope,
        columns: list[T.Tensor],
        coefficients: Mapping[str, T.Tensor],
        attached: Mapping[str, T.Tensor] | None = None,
    ) -> None:
        self.n = columns[0].shape[0]
        self._module = module
        self._scope = scope
        self._columns = dict(zip(scope.coordinates, columns, strict=True))
        self._coefficients = coefficients
        self._attached = attached or {}

    @abstractmethod
    def derivative(self, leaf: Any) -> T.Tensor:
        """Return an unknown or a derivative of one, shape (n,)."""

    def __contains__(self, leaf: Any) -> bool:
        return isinstance(leaf, (*self.derivative_leaves, *_GIVEN))

    def __getitem__(self, leaf: Any) -> Any:
        if isinstance(leaf, self.derivative_leaves):
            return self.derivative(leaf)
        if isinstance(leaf, Coordinate):
            return self._columns[leaf.name].reshape(-1)
        if isinstance(leaf, Column):
            return self._attached[leaf.name].reshape(-1)
        if isinstance(leaf, ParameterRef):
            return self._coefficients[leaf.name]
        if isinstance(leaf, Constant):
            return self._scope.constants[leaf.name]
        raise KeyError(leaf)
