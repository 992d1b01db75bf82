"""Parts of a boundary: faces, sides with a name, and the pieces that an expression cuts out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from pinn.equations.functions import NUMPY_FUNCTIONS
from pinn.equations.leaves import Coordinate
from pinn.expressions import (
    CONSTANTS,
    Binary,
    Call,
    Expression,
    Name,
    Unary,
    evaluate,
    fold,
    nodes,
    parse_condition,
)
from pinn.expressions.algebra import negate, number, subtract
from pinn.expressions.language import EQUALITY
from pinn.geometry.implicit import conjunction, disjunction

if TYPE_CHECKING:
    from pinn.geometry.shape import Shape


_JOINED = re.compile(r"\b(and|or|not)\b")


@dataclass(frozen=True)
class Part:
    """A part of a shape's boundary.

    label    what blocks are called by: "x_low", "hole"
    measure  its length, area ...; 1 for a single point
    owner    the name of the shape that it belongs to; `on` with this name takes all parts of it
    """

    label: str
    measure: float = field(default=1.0, kw_only=True)
    owner: str = field(default="", kw_only=True)

    @property
    def text(self) -> str:
        """What `on` calls it, such as "x=-1" or "hole"."""
        return self.label

    @property
    def fixed(self) -> Mapping[str, float]:
        """The coordinates that have one value everywhere on it."""
        return {}

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Face(Part):
    """The points where a coordinate equals `value`, its low or high bound; time has these too.

    side: "low" or "high", the way that its normal points. label: by default such as "x_low".
    """

    label: str = field(default="", kw_only=True)
    coordinate: str
    side: str
    value: float

    def __post_init__(self) -> None:
        if not self.label:
            object.__setattr__(self, "label", f"{self.coordinate}_{self.side}")

    @property
    def text(self) -> str:
        return f"{self.coordinate}={self.value:.12g}"

    @property
    def fixed(self) -> Mapping[str, float]:
        return {self.coordinate: self.value}


@dataclass(frozen=True)
class Piece(Part):
    """The points of a part at which a comparison of the coordinates holds.

    where: such as "x < 0.5", or several joined by and, or, not: "x > 0 and y < 1"; the normal's
    components are names in it too, as in "normal_y > 0". slack: how far off a computed point may be
    of an "x=0" in it.
    """

    label: str = field(init=False)
    part: Part
    where: str
    slack: float = field(default=0.0, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "label", self.part.label)
        object.__setattr__(self, "owner", self.part.owner)

    @property
    def text(self) -> str:
        return self.where

    @property
    def fixed(self) -> Mapping[str, float]:
        return self.part.fixed

    def holds(self, values: Mapping[str, np.ndarray]) -> np.ndarray:
        """Return where the comparison holds, bool (n,).

        values: coordinate or normal's component -> (n,). Raises ExpressionError for a text that is
        no comparison or has other names in it.
        """
        n = len(next(iter(values.values())))
        tree = fold(parse_condition(self.where, equality=True), self._within)
        found = evaluate(tree, values, NUMPY_FUNCTIONS)
        return np.broadcast_to(np.asarray(found, dtype=bool), (n,))

    def excess(self, domain: Shape) -> Expression:
        """Return a formula that is positive where the comparison holds, negative elsewhere.

        Raises TypeError for a comparison of other names than the domain's coordinates, and for
        "x=0" in it.
        """
        tree = parse_condition(self.where, equality=True)
        for node in filter(is_equality, nodes(tree)):
            raise TypeError(
                f"there is no formula that vanishes where {node} alone, which is no part of its "
                f"own of this {type(domain).__name__}; leave out hard"
            )
        names = {node.name for node in nodes(tree) if isinstance(node, Name)}
        if not names <= {*domain.coordinates, *CONSTANTS}:
            raise TypeError(
                f"there is no formula that vanishes on {self.where}, which is of more than the "
                f"coordinates {', '.join(domain.coordinates)}; name parts instead, or leave "
                "out hard"
            )
        return fold(tree, partial(_excess, size=domain.size))

    def _within(self, node: Expression, children: list[Expression]) -> Expression:
        """Return what "x=0" is of computed points; any other node as it is."""
        if not is_equality(node):
            return node.with_children(children)
        return Binary("<=", Call("abs", (subtract(*children),)), number(self.slack))


@dataclass(frozen=True)
class Level(Piece):
    """The points of a part at which a coordinate has a value, such as one side of a mesh."""

    coordinate: str
    value: float

    @property
    def fixed(self) -> Mapping[str, float]:
        return {**self.part.fixed, self.coordinate: self.value}


def _excess(node: Expression, children: list[Expression], size: float) -> Expression:
    """Return what is positive where a condition holds, or the value of a part of one."""
    if isinstance(node, Name):
        value = CONSTANTS.get(node.name)
        return Coordinate(node.name) if value is None else number(value)
    operator = node.operator if isinstance(node, Unary | Binary) else ""
    match operator, children:
        case "<" | "<=", [low, high]:
            return subtract(high, low)
        case ">" | ">=", [high, low]:
            return subtract(high, low)
        case "and", [one, other]:
            return conjunction(one, other, size)
        case "or", [one, other]:
            return disjunction(one, other, size)
        case "not", [one]:
            return negate(one)
    return node.with_children(children)


def is_equality(node: Expression) -> bool:
    """Tell whether a node is one such as "x=0"."""
    return isinstance(node, Binary) and node.operator == EQUALITY


def is_comparison(text: str) -> bool:
    """Tell whether a text is meant as a comparison: "x < 0.5", "x=0 and y < 1", "not hole"."""
    return "<" in text or ">" in text or bool(_JOINED.search(text))


def slug(text: str) -> str:
    """Return a comparison as a name: "x < 0.5" is x_lt_0_5."""
    for symbol, word in (("<", " lt "), (">", " gt "), ("-", " minus "), ("+", " plus ")):
        text = text.replace(symbol, word)
    return "_".join(re.findall(r"[A-Za-z0-9]+", text))
