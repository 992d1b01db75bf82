"""A residual as a function of its leaves: its value and slopes where u, u_x, u_xx are given."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import autograd as T
from pinn.equations.leaves import (
    At,
    Constant,
    Derivative,
    Laplacian,
    ParameterRef,
    UnknownLeaf,
)
from pinn.equations.scope import Scope
from pinn.equations.values import ModelValues, Values
from pinn.expressions import Binary, Number, Unary, nodes
from pinn.residuals import Residual
from pinn.sampling import Points

# What is left of the largest terms is rounding.
_ROUNDING = 1e-12

Leaf = Derivative | Laplacian | At
State = Callable[[Leaf, int], np.ndarray]
"""(leaf, n) -> its values at n points."""


@dataclass(frozen=True)
class Linear:
    """A residual at n points, with the leaves that it asked for and its slope in each.

    value      (n,)
    leaves     leaf -> (n,), the values that were given; (..., n) inside of sums, a row a node
    slopes     leaf -> (n,) or (..., n)

    coefficients: the names of the trainable coefficients that it asked for.
    """

    value: np.ndarray
    leaves: dict[Leaf, np.ndarray]
    slopes: dict[Leaf, np.ndarray]
    coefficients: frozenset[str]

    @property
    def rest(self) -> np.ndarray:
        """What it has besides its leaves, (n,); 0 where that is their rounding."""
        terms = [self.slopes[leaf] * self.leaves[leaf] for leaf in self.slopes]
        found = self.value - sum(terms)
        size = np.abs(self.value) + sum(map(np.abs, terms))
        return np.where(np.abs(found) > _ROUNDING * size, found, 0.0)

    @property
    def is_finite(self) -> bool:
        """Whether the value and all slopes are finite."""
        return all(np.isfinite(a).all() for a in (self.value, *self.slopes.values()))


def is_local(leaf: UnknownLeaf, elsewhere: bool) -> bool:
    """Return whether a leaf is one of those that `linear` gives slopes in.

    elsewhere: whether a value on a plane, at(u, x=1), is.
    """
    if not isinstance(leaf, At):
        return isinstance(leaf, Derivative | Laplacian)
    known = Number | Constant | Unary | Binary
    return elsewhere and all(
        isinstance(node, known) for replaced in leaf.replacements for node in nodes(replaced)
    )


class _NotLocal(Exception):
    """A leaf that is no value, nor a derivative, of an unknown at the point or a fixed place."""


class _LeafValues(Values):
    """`values[leaf]` for the leaves of an equation: independent tensors for the unknowns' ones."""

    def __init__(
        self,
        scope: Scope,
        points: Points,
        state: State,
        coefficients: Mapping[str, float],
        elsewhere: bool,
        model: ModelValues | None,
    ) -> None:
        self.n = len(points)
        self._elsewhere = elsewhere
        self._model = model
        self.found: dict[Leaf, T.Tensor] = {}
        self.coefficients: set[str] = set()
        self._state = state
        columns = dict(zip(scope.coordinates, points.coordinates.T, strict=True))
        super().__init__(
            {name: T.tensor(column) for name, column in columns.items()},
            scope.constants,
            {name: T.tensor(value, dtype=T.float64) for name, value in coefficients.items()},
            {name: T.tensor(column) for name, column in points.columns.items()},
        )

    def __contains__(self, leaf: Any) -> bool:
        return True

    def at(self, leaf: At, replacements: Sequence[Any]) -> Any:
        """Return a value on another plane, such as the other end of a period, or by the model.

        Raises _NotLocal without one: nothing is known of an unknown where the points themselves say
        the place, as in at(u, t=t - 1).
        """
        if is_local(leaf, self._elsewhere):
            return self._leaf(leaf)
        if self._model is None:
            raise _NotLocal
        if leaf not in self.found:
            places = [
                value.detach().to(self._model.like) if isinstance(value, T.Tensor) else value
                for value in replacements
            ]
            value = self._model.at(leaf, places).detach().to(dtype=T.float64, device="cpu")
            # a number a point, also where the place is the same for all
            value = value.expand(*value.shape[:-1], self.n).clone()
            self.found[leaf] = value.requires_grad_()
        return self.found[leaf]

    def along(self, level: int, numbers: np.ndarray) -> Any:
        if self._model is not None:
            self._model.along(level, numbers)
        return super().along(level, numbers)

    def __getitem__(self, leaf: Any) -> Any:
        if isinstance(leaf, ParameterRef):
            self.coefficients.add(leaf.name)
        if not isinstance(leaf, UnknownLeaf):
            return super().__getitem__(leaf)
        if not is_local(leaf, self._elsewhere):
            raise _NotLocal
        return self._leaf(leaf)

    def _leaf(self, leaf: Leaf) -> T.Tensor:
        if leaf not in self.found:
            values = np.asarray(self._state(leaf, self.n), dtype=np.float64)
            self.found[leaf] = T.tensor(values, requires_grad=True)
        return self.found[leaf]


def linear(
    residual: Residual,
    scope: Scope,
    points: Points,
    state: State,
    coefficients: Mapping[str, float],
    elsewhere: bool = False,
    model: ModelValues | None = None,
    sloped: bool = True,
) -> Linear | None:
    """Return a residual with its slopes at points, float64, where its leaves have given values.

    No network is run, but for `model`: what is asked for elsewhere, as in at(u, t=t - 1) and in
    integrals, if these are its points. None for a residual that takes values from elsewhere where
    there is none, and for a function that needs more than the values of its leaves: nothing is
    known about those. elsewhere: whether a value on a plane, at(u, x=1), is a leaf like others.
    sloped: without it there are no slopes.
    """
    values = _LeafValues(scope, points, state, coefficients, elsewhere, model)
    try:
        with np.errstate(all="ignore"), T.set_grad_enabled(sloped):
            result = residual.evaluate(values)
            leaves = list(values.found.values())
            slopes = []
            if result.requires_grad:
                ones = T.ones_like(result)
                slopes = T.grad(result, leaves, ones, materialize_grads=True)
    except _NotLocal:
        return None
    except Exception:
        if all(term.tree is not None or not callable(term.source) for term in residual.terms):
            raise
        # A function may differentiate by itself, or ask what only a network's values have; whether
        # it works is for training to say.
        return None
    return Linear(
        result.detach().numpy(),
        {leaf: tensor.detach().numpy() for leaf, tensor in values.found.items()},
        {leaf: s.detach().numpy() for leaf, s in zip(values.found, slopes, strict=False)},
        frozenset(values.coefficients),
    )
