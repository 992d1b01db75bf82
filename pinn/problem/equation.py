"""An equation, and the part of the domain that it holds in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from pinn.equations.functions import NUMPY_FUNCTIONS
from pinn.equations.namespace import Namespace
from pinn.equations.resolve import evaluate_resolved
from pinn.equations.scope import Scope
from pinn.equations.values import Values
from pinn.expressions import Expression
from pinn.geometry import Shape
from pinn.problem.regions import RegionKind, condition_of
from pinn.residuals import Interior, Source, Within
from pinn.schema import declared
from pinn.schema.declared import Record
from pinn.schema.errors import Path, at, refuse_kind
from pinn.schema.kinds import Formula, Optional
from pinn.schema.reader import Reader
from pinn.schema.tree import Mapping, Node

_TEXT = Formula("an equation such as u_t = u_xx", number=False)


@declared
class Equation:
    """An equation that holds on a part of the domain: expression = 0 there, with points there.

    expression: text, left = right too, or a function of the namespace, as without `on`. on: the
    name of a region, a comparison such as "x < 0.5 and y > 0", or a shape; None for the whole
    domain. Raises ValueError when the problem is made for a part that has no points.
    """

    expression: Annotated[str | Callable[[Namespace], Any], _TEXT]
    on: Annotated[str | Shape | None, Optional(RegionKind())] = None

    @classmethod
    def of(cls, given: Any) -> Equation:
        """Return an equation, made from its expression where that is all there is."""
        return given if isinstance(given, cls) else cls(given)

    def source(self, domain: Shape, scope: Scope) -> Source:
        """Return where it holds; scope: the names of the problem."""
        if self.on is None:
            return Interior(domain)
        with at("on"):
            values = scope.of_values(parameters=False)
            place = _Region(domain, values, condition_of(self.on, values), str(self.on))
            source = Within(domain, place)
            source.check()
            return source


@dataclass(frozen=True)
class _Region:
    """Tells which points are in a part of a domain; equal ones tell the same of all."""

    domain: Shape
    scope: Scope
    condition: Expression
    text: str

    def __call__(self, points: np.ndarray) -> np.ndarray:
        columns = dict(zip(self.domain.coordinates, points.T, strict=True))
        with np.errstate(all="ignore"):
            values = Values(columns, self.scope.constants)
            found = evaluate_resolved(self.condition, values, NUMPY_FUNCTIONS)
        return np.broadcast_to(np.asarray(found, dtype=bool), (len(points),))

    def __hash__(self) -> int:
        return hash((self.domain, self.condition))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Region):
            return NotImplemented
        return (self.domain, self.condition) == (other.domain, other.condition)

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class EquationKind(Record):
    """An equation, or its expression alone."""

    cls: Any = Equation

    @property
    def what(self) -> str:
        return f"{_TEXT.what}, or {super().what}"

    def check(self, value: Any) -> Any:
        if isinstance(value, Equation):
            return value
        if isinstance(value, type):
            return super().check(value)
        if not isinstance(value, str) and not callable(value):
            refuse_kind("text, a function or a pinn.Equation", value)
        return _TEXT.check(value)

    def read(self, node: Node, path: Path, reader: Reader) -> Any:
        kind = super() if isinstance(node, Mapping) else _TEXT
        return kind.read(node, path, reader)

    def dump(self, value: Any) -> Any:
        return super().dump(value) if isinstance(value, Equation) else _TEXT.dump(value)
