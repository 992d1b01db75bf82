"""Sums over nodes that every point has: integrals by quadrature, and what they are made of.

A value at n points has shape (n,). A sum over m nodes has its terms in shape (m, n): the nodes lie
along an axis of their own, in front of the points. One sum inside another has the inner nodes along
the axis before the points (level 1), the outer ones before that (level 2), and so on; a value that
does not depend on the nodes of a level has length 1 there, or no such axis, and broadcasts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

import numpy as np

from pinn.expressions import Expression, fold, nodes

DEFAULT_NODES = 20
MOST_NODES = 1000


class Axes(Protocol):
    """Where values get their nodes: what `pinn.equations.values.Values` offers."""

    def along(self, level: int, numbers: np.ndarray) -> Any:
        """Return numbers along the axis of a level."""

    def summed(self, level: int, value: Any) -> Any:
        """Return the sum over the axis of a level."""

    def running_product(self, level: int, value: Any) -> Any:
        """Return the products of the first ones along the axis of a level."""


@dataclass(frozen=True, eq=False, repr=False)
class Variable(Expression):
    """The name of an integration variable, before its integral is known."""

    name: str

    @property
    def label(self) -> tuple[str]:
        return (self.name,)


class Computed(Expression):
    """What has a value of its own rule, made of those of its children and of the axes."""

    def value(self, axes: Axes, children: Sequence[Any]) -> Any:
        """Return the value, given those of the children."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False, repr=False)
class Nodes(Computed):
    """The nodes of a Gauss-Legendre rule between two limits, along the axis of their level."""

    level: int
    count: int
    lower: Expression
    upper: Expression

    @property
    def label(self) -> tuple[int, int]:
        return (self.level, self.count)

    @property
    def children(self) -> tuple[Expression, ...]:
        return (self.lower, self.upper)

    def pieces(self) -> list[str | Expression]:
        return [f"nodes{self.level}(", self.lower, ", ", self.upper, f", {self.count})"]

    def value(self, axes: Axes, children: Sequence[Any]) -> Any:
        lower, upper = children
        return lower + (upper - lower) * axes.along(self.level, gauss_legendre(self.count)[0])


@dataclass(frozen=True, eq=False, repr=False)
class Integral(Computed):
    """The integral between two limits of an integrand, in which its `variable` stands."""

    level: int
    count: int
    integrand: Expression
    lower: Expression
    upper: Expression

    @property
    def label(self) -> tuple[int, int]:
        return (self.level, self.count)

    @property
    def children(self) -> tuple[Expression, ...]:
        return (self.integrand, self.lower, self.upper)

    @property
    def variable(self) -> Nodes:
        """What the integrand is integrated over."""
        return Nodes(self.level, self.count, self.lower, self.upper)

    def pieces(self) -> list[str | Expression]:
        return [
            "integral(", self.integrand, f", nodes{self.level}, ", self.lower, ", ", self.upper,
            f", nodes={self.count})",
        ]  # fmt: skip

    def value(self, axes: Axes, children: Sequence[Any]) -> Any:
        integrand, lower, upper = children
        weights = axes.along(self.level, gauss_legendre(self.count)[1])
        return (upper - lower) * axes.summed(self.level, weights * integrand)


@dataclass(frozen=True, eq=False, repr=False)
class Axis(Computed):
    """Numbers along the axis of a level."""

    level: int
    numbers: tuple[float, ...]

    @classmethod
    def of(cls, level: int, numbers: Iterable[float]) -> Axis:
        """Return an axis from any numbers."""
        return cls(level, tuple(map(float, numbers)))

    @property
    def label(self) -> tuple[int, tuple[float, ...]]:
        return (self.level, self.numbers)

    def text(self) -> str:
        return f"axis{self.level}({len(self.numbers)})"

    def value(self, axes: Axes, children: Sequence[Any]) -> Any:
        return axes.along(self.level, np.array(self.numbers))


@dataclass(frozen=True, eq=False, repr=False)
class Sum(Computed):
    """The sum of terms over the axis of a level, which they have."""

    level: int
    terms: Expression

    @property
    def label(self) -> tuple[int]:
        return (self.level,)

    @property
    def children(self) -> tuple[Expression, ...]:
        return (self.terms,)

    def pieces(self) -> list[str | Expression]:
        return [f"sum{self.level}(", self.terms, ")"]

    def value(self, axes: Axes, children: Sequence[Any]) -> Any:
        return axes.summed(self.level, children[0])


def next_level(tree: Expression) -> int:
    """Return the first level that no sum in a tree is over."""
    return 1 + max((n.level for n in nodes(tree) if isinstance(n, Integral | Sum)), default=0)


@lru_cache(maxsize=64)
def gauss_legendre(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return nodes and weights of the Gauss-Legendre rule of so many nodes on [0, 1]."""
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return (nodes + 1) / 2, weights / 2


def integral_over(
    variable: Variable, integrand: Expression, lower: Expression, upper: Expression, count: int
) -> Integral:
    """Return the integral of an integrand in which a variable stands."""
    level = next_level(integrand)
    bound = Nodes(level, count, lower, upper)
    return Integral(level, count, substituted(integrand, {variable: bound}), lower, upper)


def substituted(tree: Expression, replaced: Mapping[Expression, Expression]) -> Expression:
    """Return a tree with some of its nodes replaced, wherever they stand."""

    def rule(part: Expression, children: list[Expression]) -> Expression:
        found = replaced.get(part)
        return part.with_children(children) if found is None else found

    return fold(tree, rule)
