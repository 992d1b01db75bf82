"""Parts of a boundary: faces, sides with a name, and the pieces that an expression cuts out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from pinn.equations.functions import NUMPY_FUNCTIONS
from pinn.equations.leaves import Coordinate
from pinn.expressions import (
    CONSTANTS,
    Call,
    Expression,
    ExpressionError,
    Name,
    Number,
    evaluate,
    fold,
    nodes,
    parse,
)
from pinn.expressions.algebra import number, subtract

if TYPE_CHECKING:
    from pinn.geometry.shape import Shape


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
    """The points of a part at which a comparison of the coordinates holds, or several do.

    where: such as "x < 0.5" or "x > 0 and y < 1"; the normal's components are names in it too, as
    in "normal_y > 0".
    """

    label: str = field(init=False)
    part: Part
    where: str

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
        not one comparison or has other names in it.
        """
        n = len(next(iter(values.values())))
        holds = np.ones(n, bool)
        for tree in _comparisons(self.where):
            holds &= np.broadcast_to(evaluate(tree, values, NUMPY_FUNCTIONS), (n,)) == 1.0
        return holds

    def excesses(self, domain: Shape) -> list[Expression]:
        """Return a formula for each comparison, positive where it holds, negative elsewhere.

        Raises TypeError for a comparison of other names than the domain's coordinates.
        """
        return [self._excess(tree.arguments[0], domain) for tree in _comparisons(self.where)]

    def _excess(self, condition: Expression, domain: Shape) -> Expression:
        sides = []
        for side in condition.children:
            names = {node.name for node in nodes(side) if isinstance(node, Name)}
            if not names <= {*domain.coordinates, *CONSTANTS}:
                raise TypeError(
                    f"there is no formula that vanishes on {self.where}, which is of more than the "
                    f"coordinates {', '.join(domain.coordinates)}; name parts instead, or leave "
                    "out hard"
                )
            sides.append(fold(side, _resolved))
        low, high = sides if condition.operator in ("<", "<=") else reversed(sides)
        return subtract(high, low)


@dataclass(frozen=True)
class Level(Piece):
    """The points of a part at which a coordinate has a value, such as one side of a mesh.

    slack: how far off a computed point may be.
    """

    coordinate: str
    value: float
    slack: float

    @property
    def fixed(self) -> Mapping[str, float]:
        return {**self.part.fixed, self.coordinate: self.value}

    def holds(self, values: Mapping[str, np.ndarray]) -> np.ndarray:
        return np.abs(values[self.coordinate] - self.value) <= self.slack

    def excesses(self, domain: Shape) -> list[Expression]:
        raise TypeError(
            f"there is no formula that vanishes on {self.where} alone, which is no part of its own "
            f"of this {type(domain).__name__}; leave out hard"
        )


def _resolved(node: Expression, children: list[Expression]) -> Expression:
    if isinstance(node, Name):
        value = CONSTANTS.get(node.name)
        return Coordinate(node.name) if value is None else number(value)
    return node.with_children(children)


def is_comparison(text: str) -> bool:
    """Tell whether a text is meant as a comparison such as "x < 0.5"."""
    return "<" in text or ">" in text


def slug(text: str) -> str:
    """Return a comparison as a name: "x < 0.5" is x_lt_0_5."""
    for symbol, word in (("<", " lt "), (">", " gt "), ("-", " minus "), ("+", " plus ")):
        text = text.replace(symbol, word)
    return "_".join(re.findall(r"[A-Za-z0-9]+", text))


def _comparisons(text: str) -> list[Expression]:
    """Return the trees of where(..., 1, 0) of comparisons that are joined by `and`."""
    found, start = [], 0
    for joint in re.finditer(r"\band\b|$", text):
        try:
            found.append(_comparison(text[start : joint.start()]))
        except ExpressionError as error:
            raise ExpressionError(error.message, text, start + error.position) from error
        start = joint.end()
    return found


def _comparison(text: str) -> Expression:
    """Return the tree of where(text, 1, 0): comparisons stand nowhere else in the language."""
    before, after = "where(", ", 1, 0)"
    try:
        tree = parse(before + text + after)
    except ExpressionError as error:
        place = min(max(error.position - len(before), 0), len(text))
        raise ExpressionError(error.message, text, place) from error
    whole = isinstance(tree, Call) and tree.function == "where"
    if not whole or not all(isinstance(branch, Number) for branch in tree.arguments[1:]):
        raise ExpressionError("expected one comparison such as x < 0.5", text, 0)
    return tree
