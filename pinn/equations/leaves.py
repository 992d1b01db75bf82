"""The typed leaves of an equation: coordinates, coefficients, unknowns and their derivatives."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement, groupby

from pinn.expressions import Expression, nodes


@dataclass(frozen=True, eq=False, repr=False)
class _Named(Expression):
    """A leaf that is its name."""

    name: str

    @property
    def label(self) -> tuple[str]:
        return (self.name,)


class Coordinate(_Named):
    """A coordinate of the domain, such as x or t."""


class Constant(_Named):
    """A declared constant of the problem, such as nu."""


class ParameterRef(_Named):
    """A trainable coefficient of an inverse problem."""


class Column(_Named):
    """A number attached to each point, such as normal_x."""


@dataclass(frozen=True, eq=False, repr=False)
class Supplied(Expression):
    """A value that a function hands to an operator: the index-th of one evaluation of `owner`."""

    owner: int
    index: int

    @property
    def label(self) -> tuple[int, int]:
        return (self.owner, self.index)

    def text(self) -> str:
        return f"value {self.index}"


@dataclass(frozen=True, eq=False, repr=False)
class Derivative(Expression):
    """A partial derivative of an unknown; of order 0, the unknown itself.

    ``coordinates`` holds one name an order and is canonical when sorted in domain order, as
    `resolve` and `parse_name` make it: ``Derivative("u", ("x", "x", "t"))`` is u_xxt.
    """

    unknown: str
    coordinates: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "coordinates", tuple(self.coordinates))
        super().__post_init__()

    @property
    def order(self) -> int:
        return len(self.coordinates)

    @property
    def label(self) -> tuple[str, tuple[str, ...]]:
        return (self.unknown, self.coordinates)

    def text(self) -> str:
        if not self.coordinates:
            return self.unknown
        if all(len(name) == 1 for name in self.coordinates):
            return f"{self.unknown}_{''.join(self.coordinates)}"
        parts = [self.unknown]
        for name, group in groupby(self.coordinates):
            count = len(list(group))
            parts += [name, str(count)] if count > 1 else [name]
        return f"diff({', '.join(parts)})"


@dataclass(frozen=True, eq=False, repr=False)
class Laplacian(Expression):
    """The Laplacian of an unknown over the space coordinates, applied `times` times."""

    unknown: str
    times: int = 1

    @property
    def order(self) -> int:
        return 2 * self.times

    @property
    def label(self) -> tuple[str, int]:
        return (self.unknown, self.times)

    def text(self) -> str:
        return "laplacian(" * self.times + self.unknown + ")" * self.times

    def term_count(self, dimensions: int) -> int:
        """Return how many derivatives it is the sum of, in so many space coordinates."""
        return math.comb(dimensions + self.times - 1, self.times)

    def terms(self, space: Sequence[str]) -> Iterator[tuple[tuple[str, ...], float]]:
        """Yield the coordinates of each derivative that it is the sum of, with its multiplicity."""
        for names in combinations_with_replacement(space, self.times):
            count = math.factorial(self.times)
            for _, group in groupby(names):
                count //= math.factorial(len(list(group)))
            yield tuple(name for name in names for _ in range(2)), float(count)


Location = tuple[tuple[str, Expression], ...]
"""Coordinates and the expressions that replace them, in domain order."""


@dataclass(frozen=True, eq=False, repr=False)
class At(Expression):
    """An unknown or a derivative of one, elsewhere: the coordinates `names` are replaced.

    Its children are what replaces them. A derivative is taken first and evaluated there:
    ``at(u_x, x=2*x)`` is the slope of u at 2 x, not that of x -> u(2 x). Equal locations are equal
    tuples, so that they can share what is evaluated there.
    """

    leaf: Derivative | Laplacian
    names: tuple[str, ...]
    replacements: tuple[Expression, ...]

    @classmethod
    def moved(
        cls,
        leaf: Derivative | Laplacian,
        replaced: Mapping[str, Expression],
        order: Mapping[str, int],
    ) -> Expression:
        """Return a leaf with some coordinates replaced; itself where each is replaced by itself."""
        names = tuple(
            name
            for name in sorted(replaced, key=order.__getitem__)
            if replaced[name] != Coordinate(name)
        )
        if not names:
            return leaf
        replacements = tuple(replaced[name] for name in names)
        return cls(leaf, names, replacements, position=leaf.position, source=leaf.source)

    @property
    def unknown(self) -> str:
        return self.leaf.unknown

    @property
    def location(self) -> Location:
        return tuple(zip(self.names, self.replacements, strict=True))

    @property
    def label(self) -> tuple[Expression, tuple[str, ...]]:
        return (self.leaf, self.names)

    @property
    def children(self) -> tuple[Expression, ...]:
        return self.replacements

    def with_children(self, children: Sequence[Expression]) -> Expression:
        """Return the leaf with other replacements; without those that replace nothing."""
        if all(new is old for new, old in zip(children, self.replacements, strict=True)):
            return self
        order = {name: number for number, name in enumerate(self.names)}
        return At.moved(self.leaf, dict(zip(self.names, children, strict=True)), order)

    @classmethod
    def build(
        cls, label: Sequence, children: Sequence[Expression], position: int, source: str
    ) -> At:
        return cls(*label, tuple(children), position=position, source=source)

    def pieces(self) -> list[str | Expression]:
        pieces: list[str | Expression] = ["at(", self.leaf]
        for name, replacement in self.location:
            pieces += [f", {name}=", replacement]
        return [*pieces, ")"]


@dataclass(frozen=True, eq=False, repr=False)
class Combination(Expression):
    """A weighted sum of derivatives of one unknown: terms `(coordinates, weight)`."""

    unknown: str
    sum: tuple[tuple[tuple[str, ...], float], ...]

    @property
    def label(self) -> tuple:
        return (self.unknown, self.sum)

    def text(self) -> str:
        parts = [f"{weight:g}*{Derivative(self.unknown, names)}" for names, weight in self.sum]
        return "(" + " + ".join(parts) + ")"

    def terms(self, space: Sequence[str]) -> Iterator[tuple[tuple[str, ...], float]]:
        """Yield the coordinates of each derivative, with its weight."""
        yield from self.sum


UnknownLeaf = Derivative | Laplacian | At | Combination
"""What only a model has a value for."""


def parts_of(leaf: UnknownLeaf, space: Sequence[str]) -> Sequence[tuple[tuple[str, ...], float]]:
    """Return the coordinates of each derivative that a leaf is the sum of, with its count.

    A value on another plane is one of the same derivative.
    """
    if isinstance(leaf, At):
        return parts_of(leaf.leaf, space)
    if isinstance(leaf, Derivative):
        return ((leaf.coordinates, 1.0),)
    return tuple(leaf.terms(space))


def derivatives_in(resolved: Expression) -> tuple[UnknownLeaf, ...]:
    """Return the distinct unknowns, derivatives and sums of them, in order of first appearance."""
    return tuple(node for node in nodes(resolved) if isinstance(node, UnknownLeaf))


def in_domain_order(names: Iterable[str], order: Mapping[str, int]) -> tuple[str, ...]:
    """Return coordinates sorted by their numbers in `order`."""
    return tuple(sorted(names, key=order.__getitem__))
