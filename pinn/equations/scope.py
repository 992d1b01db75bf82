"""The names that an equation may use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from pinn import expressions
from pinn.checks import nearest
from pinn.equations.fractional import Region
from pinn.equations.jumps import Crossed, choices
from pinn.equations.leaves import (
    Column,
    Constant,
    Coordinate,
    Derivative,
    ParameterRef,
    UnknownLeaf,
)
from pinn.equations.names import check_names, parse_name
from pinn.equations.resolve import Vector, resolve
from pinn.equations.tabulated import at_names
from pinn.expressions import CONSTANTS, Call, Expression, Number, nodes
from pinn.schema.errors import refuse
from pinn.tables import Table


@dataclass(frozen=True)
class Scope:
    """The names that a text or a function may use.

    coordinates are in domain order; space are those without time, which `laplacian`, `grad`, `div`
    and `dn` run over. columns: the names of what is attached to the points, such as a normal's
    components. inputs: of an unknown that depends on some coordinates only, these. tables: known
    functions by name. region: the domain, for what is 0 outside of it. definitions: names for
    resolved trees, such as a region's condition. held: the coordinates that have one value where
    this is asked for; a table without names is not over them. finer: whether sums over nodes
    have half as many again as is said, to see whether they have enough. crossed: the derivatives
    of what may jump that were taken so far.
    Raises ValueError for names that are not usable (see `check_names`).
    """

    unknowns: tuple[str, ...]
    coordinates: tuple[str, ...]
    space: tuple[str, ...]
    constants: Mapping[str, float]
    parameters: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    inputs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    tables: Mapping[str, Table] = field(default_factory=dict)
    region: Region | None = field(default=None, repr=False)
    definitions: Mapping[str, Expression] = field(default_factory=dict)
    functions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    held: tuple[str, ...] = ()
    finer: bool = False
    # Derivatives of what may jump, of all variants together.
    crossed: list[Crossed] = field(default_factory=list, repr=False, compare=False)
    # A function names the same things at every step; each is resolved once.
    _resolved: dict[str | Expression, Expression | Vector] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    _equations: dict[str, Expression] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    # Every condition asks for the same few variants.
    _variants: dict[Any, Scope] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_names(
            unknowns=self.unknowns,
            coordinates=self.coordinates,
            constants=self.constants,
            parameters=self.parameters,
            columns=self.columns,
            tables=self.tables,
            definitions=self.definitions,
        )

    def of_values(self, *, parameters: bool = True, held: tuple[str, ...] = ()) -> Scope:
        """Return the scope of a value: the same names without the unknowns."""
        known = self.parameters if parameters else ()
        return self._variant(unknowns=(), parameters=known, held=held)

    def with_columns(self, columns: tuple[str, ...]) -> Scope:
        """Return the same names with others attached to the points."""
        return self if columns == self.columns else self._variant(columns=columns)

    def _variant(self, **changes: tuple[str, ...]) -> Scope:
        key = tuple(changes.items())
        if key not in self._variants:
            there = {
                *changes.get("unknowns", self.unknowns),
                *changes.get("parameters", self.parameters),
                *changes.get("columns", self.columns),
            }
            kept = {
                name: tree
                for name, tree in self.definitions.items()
                if all(_name_of(node) in there for node in nodes(tree) if _name_of(node))
            }
            self._variants[key] = replace(self, **changes, definitions=kept)
        return self._variants[key]

    @cached_property
    def coordinate_number(self) -> Mapping[str, int]:
        """Coordinate -> its number in the domain's order."""
        return {name: number for number, name in enumerate(self.coordinates)}

    @property
    def names(self) -> tuple[str, ...]:
        """All declared names."""
        return (
            *self.unknowns, *self.coordinates, *self.constants, *self.parameters, *self.columns,
            *self.tables, *self.definitions,
        )  # fmt: skip

    def leaf(self, name: str) -> Expression | None:
        """Return what a name in a text stands for; None for one that means nothing."""
        if name in self._leaves:
            return self._leaves[name]
        if name in self.tables:
            return self.table(self.tables[name])
        found = parse_name(name, self.unknown_number, self.coordinate_number)
        if found is None or not set(found.coordinates) <= set(self.inputs_of(found.unknown)):
            return None
        return found

    def inputs_of(self, unknown: str) -> tuple[str, ...]:
        """Return the coordinates that an unknown depends on."""
        return self.inputs.get(unknown, self.coordinates)

    @cached_property
    def _leaves(self) -> dict[str, Expression]:
        return {
            **{name: Derivative(name) for name in self.unknowns},
            **{name: Column(name) for name in self.columns},
            **{name: ParameterRef(name) for name in self.parameters},
            **{name: Constant(name) for name in self.constants},
            **{name: Coordinate(name) for name in self.coordinates},
            **{name: Number(value) for name, value in CONSTANTS.items()},
            **self.definitions,
        }

    def table(self, table: Table) -> Expression:
        """Return a table at the names of its variables; ValueError where one means nothing."""
        return at_names(table, self._leaves, self.space, self.held)

    @cached_property
    def called(self) -> frozenset[str]:
        """The names that a text may call, besides the language's own functions."""
        return frozenset([*self.tables, *(n for n in self.functions if n in self.definitions)])

    @cached_property
    def unknown_number(self) -> Mapping[str, int]:
        """Unknown -> the column of a model's outputs that is its value."""
        return {name: number for number, name in enumerate(self.unknowns)}

    def check_unknown(self, name: object) -> None:
        """Raise DeclarationError, at the key "unknown", unless `name` is one."""
        if not isinstance(name, str) or name not in self.unknown_number:
            instead = self._of_derivative(name) or nearest(name, self.unknowns)
            refuse(
                f"expected one of the unknowns {', '.join(self.unknowns)}, got {name!r}{instead}",
                "unknown",
            )

    def _of_derivative(self, name: object) -> str:
        """Say how the value of a derivative is stated; "" for any other name."""
        numbers = {coordinate: k for k, coordinate in enumerate(self.coordinates)}
        found = parse_name(name, self.unknowns, numbers) if isinstance(name, str) else None
        if found is None:
            return ""
        times = set(self.coordinates) - set(self.space)
        first = len(found.coordinates) == 1 and set(found.coordinates) <= times
        rate = (
            f"at the start of time it is initial: {{unknown: {found.unknown}, value: ..., "
            f"order: 1}}, Initial({found.unknown!r}, ..., order=1) in Python, elsewhere "
        ) * first
        return (
            f"; of a derivative: {rate}operator: {{expression: {name} - (...), on: ...}}"
            f", Operator(\"{name} = ...\", on=...) in Python"
        )

    def resolve(self, expression: str | Expression) -> Expression:
        """Return the resolved tree of a text or of a parsed tree.

        Raises ExpressionError for what it cannot mean, and for a vector.
        """
        result = self.resolve_any(expression)
        if isinstance(result, Vector):
            tree = self.parse(expression)
            raise tree.error(
                f"the expression is a vector of {len(result)} components, but a scalar belongs "
                "here; use dot(...) or div(...), or write one equation a component"
            )
        return result

    def equation(self, text: str) -> Expression:
        """Return the resolved tree that an equation makes zero; errors are as of `resolve`."""
        if text not in self._equations:
            self._equations[text] = expressions.parse_equation(text, self.called)
        return self.resolve(self._equations[text])

    def note_derivative(self, operator: Call, operand: Expression, coordinate: str) -> None:
        """Note in `crossed` that a derivative is taken, where its operand may jump."""
        found = choices(operand)
        if found:
            self.crossed.append(Crossed(operator, operand, coordinate, found))

    def parse(self, expression: str | Expression) -> Expression:
        """Return the tree of a text, in which tables may be called."""
        if not isinstance(expression, str):
            return expression
        return expressions.parse(expression, self.called)

    def resolve_any(self, expression: str | Expression) -> Expression | Vector:
        """Return the resolved tree of a scalar, or the components of a vector."""
        if expression not in self._resolved:
            tree = self.parse(expression)
            self._resolved[expression] = resolve(tree, self)
        return self._resolved[expression]


def _name_of(node: Expression) -> str | None:
    """Return the unknown, parameter or column that a leaf belongs to; None for what always is."""
    if isinstance(node, UnknownLeaf):
        return node.unknown
    return node.name if isinstance(node, ParameterRef | Column) else None
