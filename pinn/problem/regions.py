"""Named regions of a domain, and constants that differ from region to region."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pinn import expressions
from pinn.checks import nearest
from pinn.equations.scope import Scope
from pinn.expressions import Binary, Expression, algebra
from pinn.expressions.conditions import is_condition
from pinn.geometry import Shape
from pinn.geometry.declaration import DomainKind
from pinn.schema.errors import Mistakes, Path, refuse, refuse_kind
from pinn.schema.kinds import Kind, Text
from pinn.schema.reader import Reader
from pinn.schema.tree import Node, Scalar

ELSEWHERE = "elsewhere"


@dataclass(frozen=True)
class RegionKind(Kind):
    """Comparisons of the coordinates, or a shape."""

    what = "a comparison such as x < 0.5 and y > 0, or a shape such as {disk: {radius: 0.5}}"

    def check(self, value: Any) -> str | Shape:
        if isinstance(value, Shape):
            return value
        if isinstance(value, str):
            return Text(self.what).check(value)
        refuse_kind(self.what, value)

    def read(self, node: Node, path: Path, reader: Reader) -> Any:
        kind = Text(self.what) if isinstance(node, Scalar) else DomainKind()
        return kind.read(node, path, reader)

    def dump(self, value: Any) -> Any:
        return value if isinstance(value, str) else DomainKind().dump(value)


def condition_of(region: str | Shape, scope: Scope) -> Expression:
    """Return where a region is, as a condition; ValueError for what is none.

    region: a comparison, the name of a region in the scope, or a shape; a point on the boundary of
    a shape does not belong to it.
    """
    if isinstance(region, Shape):
        unknown = [name for name in region.space if name not in scope.space]
        if unknown or len(region.space) < len(region.coordinates):
            refuse(
                f"expected a shape of the space coordinates {', '.join(scope.space)}, got one of "
                f"{', '.join(region.coordinates)}"
            )
        return Binary(">", region.inside_function(), algebra.ZERO)
    named = scope.definitions.get(region.strip())
    if is_condition(named):
        return named
    number = scope.resolve(expressions.parse_condition(region, scope.called))
    return number.children[0]  # of where(condition, 1, 0)


def define(
    scope: Scope,
    regions: Mapping[str, str | Shape],
    piecewise: Mapping[str, Mapping[str, float | str]],
) -> dict[str, Expression]:
    """Return what the names of regions and of piecewise constants stand for.

    Where regions overlap the first one counts. Raises DeclarationError at the keys of `regions` and
    `piecewise`.
    """
    mistakes = Mistakes()
    found: dict[str, Expression] = {}
    for name, region in regions.items():
        with mistakes.under("regions", name):
            found[name] = condition_of(region, scope)
    mistakes.end()
    values: dict[str, Expression] = {}
    for name, pieces in piecewise.items():
        with mistakes.under("piecewise", name):
            values[name] = _pieces(scope, found, pieces)
    mistakes.end()
    return {**found, **values}


def _pieces(
    scope: Scope, regions: Mapping[str, Expression], pieces: Mapping[str, float | str]
) -> Expression:
    if ELSEWHERE not in pieces:
        refuse(f"expected a value for {ELSEWHERE!r} too: the points that no region has")
    for region in pieces:
        if region != ELSEWHERE and region not in regions:
            refuse(
                f"expected one of the regions {', '.join(regions) or 'none'}, got {region!r}"
                f"{nearest(region, regions)}",
                region,
            )
    trees = {
        region: scope.resolve(value) if isinstance(value, str)
        else algebra.number(expressions.constant(value))
        for region, value in pieces.items()
    }  # fmt: skip
    total = trees.pop(ELSEWHERE)
    for region, tree in reversed(trees.items()):
        total = algebra.choose(regions[region], tree, total)
    return total
