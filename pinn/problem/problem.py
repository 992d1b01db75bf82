"""A differential equation with its domain, conditions and constants: what is to be solved."""

from __future__ import annotations

import dataclasses
import functools
import operator
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np

from pinn.checks import nearest
from pinn.conditions.condition import CONDITIONS, Condition
from pinn.conditions.hard import Ansatz
from pinn.equations.fractional import Chord
from pinn.equations.functions import NUMPY_FUNCTIONS
from pinn.equations.leaves import Coordinate, derivatives_in
from pinn.equations.names import check_names
from pinn.equations.namespace import Namespace
from pinn.equations.scope import Scope
from pinn.equations.term import Term
from pinn.equations.values import Values
from pinn.expressions import Expression, nodes
from pinn.functions import Expansion, FunctionSpace, Mode
from pinn.geometry import AnyDomain, Family, Shape, apart
from pinn.problem import references
from pinn.problem.block_names import told_apart
from pinn.problem.bounds import Bounds
from pinn.problem.constants import ConstantKind, computed_from, evaluate_constants
from pinn.problem.equation import Equation, EquationKind
from pinn.problem.field import Field
from pinn.problem.layers import checked, in_layers
from pinn.problem.parameter import Parameter
from pinn.problem.regions import RegionKind, define
from pinn.problem.singularity import Singularity, near_singularities
from pinn.problem.units import UNIT, check_units
from pinn.problem.vectors import vectors_of
from pinn.residuals import Residual
from pinn.sampling import Layers, Widths
from pinn.schema import declared
from pinn.schema.declared import Keyed, Member, Record, fields_of
from pinn.schema.errors import Mistakes, at, refuse
from pinn.schema.kinds import (
    NAME,
    Formula,
    Items,
    Names,
    Number,
    OneOrMore,
    Optional,
    Several,
    Text,
)
from pinn.tables import Table

if TYPE_CHECKING:
    import pinn

_TITLE = Text(
    "a name of letters, digits, _, - and .", re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,99}")
)
_UNKNOWNS = OneOrMore(NAME, "a list of names such as [u, v]", least=1)
_EQUATIONS = Names(
    EquationKind(),
    "a mapping from names to equations such as {heat: u_t = u_xx}",
    least=1,
)
_CONDITIONS = Items(
    Member(CONDITIONS), "a list of conditions such as [initial: {unknown: u, value: 0}]"
)
_CONSTANTS = Names(ConstantKind(), "a mapping from names to numbers")
_PARAMETERS = Keyed(
    Parameter,
    "a mapping from names to starting values or {initial, lower, upper, scale}",
    listed=("initial",),
)
_TABLES = Keyed(
    Table,
    "a mapping from names to files or {table, over, columns, method, outside}",
    key="value",
    listed=("table",),
)
_REGIONS = Names(RegionKind(), "a mapping from names to comparisons or shapes")
_PIECEWISE = Names(
    Names(Formula("a number or an expression"), "a mapping from regions to values"),
    "a mapping from names to values by region such as {k: {left: 1, elsewhere: 2}}",
)
_FIELDS = Keyed(Field, "a mapping from names to {coordinates, model, lower, upper, initial}")
_LAYERS = Names(
    Items(
        Optional(Several(Number(above=0.0), "a width or a list of widths")),
        "the widths of layers at both bounds, such as [null, 0.01]", length=2,
    ),
    "a mapping from coordinates to the widths of layers at both of their bounds",
)  # fmt: skip
_SINGULARITIES = Items(
    Record(Singularity), "a list of places such as [{at: {x: 0, y: 0}, reach: 0.2}]"
)
_UNITS = Names(UNIT, "a mapping from names to units such as {x: m, u: m/s}")
_FUNCTION_SPACES = Keyed(
    FunctionSpace, "a mapping from names to {over, length, periodic, mean, scale, modes}"
)
_FAMILIES = Keyed(
    Family, "a mapping from names to [low, high] or {low, high, spacing}", listed=("low", "high")
)


@declared(eq=False, repr=False)
class Problem:
    """A domain, unknowns on it, equations that hold inside and conditions at its edges.

    domain: a shape, or a product of shapes and Time. unknowns: names. equations: name -> text or
    function of the namespace, whose value is to be zero, or a pinn.Equation of it that holds on a
    part of the domain. conditions: of pinn.conditions. constants:
    name -> number or text such as "0.01/pi", which may use other constants. parameters: trainable
    coefficients, as a list or by name: {"k": 0.1} starts k at 0.1. fields, families and tables may
    be given by name as well, with the rest of their arguments.
    fields: unknown coefficients that depend on the place, each with a network of its own.
    families: constants that are inputs of the network, so that one training solves the problem for
    a range of each; they become coordinates of the domain that are neither space nor time.
    function_spaces: known functions that are inputs of the solution; the numbers that one has of
    its modes become families, and `functions` has what they are made of, by name.
    tables: known functions given by values, such as a coefficient field or a signal; a(x, y) in a
    text, and a alone at the coordinates that its variables are called by.
    regions: names for comparisons such as "x < 0 and y > 0" or for shapes, as in where(hole, 1, 2).
    piecewise: constants that differ by region, name -> {region: value, ..., elsewhere: value}; of
    overlapping regions the first one counts. A piecewise name that is made of unknowns, such as u
    in {u: {left: u1, elsewhere: u2}} or the flux in {flux: {elsewhere: -k*u_x}}, is one more
    quantity that solutions are evaluated, compared and drawn by.
    reference: None, the name of a shipped reference, a mapping unknown -> text, or a function of
    the namespace with numpy arrays (one array, or a dict by unknown); or a table: the name of a
    CSV or npz file with a column for each coordinate and one for each unknown that it has, or a
    mapping unknown -> pinn.Table or arrays (xs, ts, us), {table: file, columns: {u: velocity}} in a
    config. It is only compared with, never trained on; a table is compared with at its own points.
    units: name -> unit, of coordinates, unknowns, fields, families, constants and parameters; they
    are shown where these are, and nothing is converted. Coordinates of space with one and the same
    unit, or with none, are drawn to scale.
    layers: where the solution changes fast by walls, coordinate -> widths w at its low and its high
    bound, None for no layer: {"x": [None, 1e-3]} for exp((x - 1)/1e-3), [1e-4, 1e-2] in place of a
    width for two at one bound. A quarter of the points of a coordinate then lies in each of them,
    equations count there by the length over which things change, and networks see exp(-distance/w)
    beside the coordinates where they are given no features. Linear equations are looked at for such
    layers (docs/decisions/0063).
    singularities: places where the slopes of the solution are infinite, near which equations count
    less; corners that turn inward are found (docs/decisions/0075).

    `residuals` lists the blocks: one for each equation, under its name, and those of each condition
    that is not hard, under names such as initial_u, initial_u_t, dirichlet_u, dirichlet_u_x_low.
    Where a condition that could be given a name was given none and another one is called so, a
    number follows: operator_x_high, operator_x_high_2, in the order of the conditions.
    `ansatz` is the formula u = A + B*N that makes the hard ones hold, None where there are none;
    `field_ansatz` has those of fields, by name.

    Raises DeclarationError (a ValueError), naming the equation, condition or name, for all that
    does not fit together; DeclarationTypeError (a TypeError too) for an argument of another kind.
    """

    domain: AnyDomain
    unknowns: Annotated[Sequence[str], _UNKNOWNS]
    equations: Annotated[Mapping[str, str | Callable[[Namespace], Any] | Equation], _EQUATIONS]
    conditions: Annotated[Sequence[Condition], _CONDITIONS] = ()
    constants: Annotated[Mapping[str, float | str], _CONSTANTS] = field(default_factory=dict)
    parameters: Annotated[Sequence[Parameter] | Mapping[str, Any], _PARAMETERS] = ()
    fields: Annotated[Sequence[Field] | Mapping[str, Any], _FIELDS] = ()
    families: Annotated[Sequence[Family] | Mapping[str, Any], _FAMILIES] = ()
    function_spaces: Annotated[
        Sequence[FunctionSpace] | Mapping[str, Any], _FUNCTION_SPACES
    ] = ()
    tables: Annotated[Sequence[Table] | Mapping[str, Any], _TABLES] = ()
    regions: Annotated[Mapping[str, str | Shape], _REGIONS] = field(default_factory=dict)
    piecewise: Annotated[Mapping[str, Mapping[str, float | str]], _PIECEWISE] = field(
        default_factory=dict
    )
    reference: Annotated[Any, Optional(references.ReferenceKind())] = None
    units: Annotated[Mapping[str, str], _UNITS] = field(default_factory=dict)
    layers: Annotated[Widths, _LAYERS] = field(default_factory=dict)
    singularities: Annotated[Sequence[Singularity], _SINGULARITIES] = ()
    name: Annotated[str, _TITLE] = "problem"

    functions: ClassVar[Mapping[str, Expansion]]
    """What the functions of each space are made of: functions["v"].draw(seed)."""

    def __post_init__(self) -> None:
        with at("constants"):
            given = self.constants
            object.__setattr__(self, "constants", evaluate_constants(given))
            object.__setattr__(self, "computed_from", computed_from(given))
        self._join_families()
        self._make_functions()
        self._check_names()
        self._check_fields()
        check_units(self.units, self._named)
        self.scope  # noqa: B018 - regions that mean nothing are told of at their own keys
        self._check_residuals()
        self._check_blocks()
        self._check_reference()

    def __repr__(self) -> str:
        blocks = ", ".join(residual.name for residual in self.residuals)
        factors = [repr(one) for one in self.domain.factors if not isinstance(one, Mode)]
        factors += map(str, self.functions.values())
        where = " * ".join(factors)
        return f"<Problem {self.name!r}: {', '.join(self.unknowns)} on {where}; {blocks}>"

    def _repr_html_(self) -> str:
        """Return the equations, conditions and what else it is made of, as a notebook shows it."""
        from pinn.markup import element, shown_as
        from pinn.problem.statement import statement

        def made() -> str:
            return element("div", element("b", f"Problem {self.name}"), statement(self))

        return shown_as(made, self)

    @cached_property
    def scope(self) -> Scope:
        """The names that an equation may use."""
        scope = Scope(
            self.outputs,
            self.domain.coordinates,
            self.domain.space,
            self.constants,
            tuple(parameter.name for parameter in self.parameters),
            inputs={one.name: one.domain(self.domain).coordinates for one in self.fields},
            tables={table.value: table for table in self.tables},
            region=_InSpace(self.domain),
            finer=self._finer,
        )
        if self.functions:
            scope = dataclasses.replace(
                scope,
                definitions={name: one.tree for name, one in self.functions.items()},
                functions={one.name: tuple(one.over) for one in self.function_spaces},
            )
        if not self.regions and not self.piecewise:
            return scope
        definitions = define(scope, self.regions, self.piecewise)
        return dataclasses.replace(scope, definitions={**scope.definitions, **definitions})

    @property
    def outputs(self) -> tuple[str, ...]:
        """The names that networks have values for: the unknowns, then the fields."""
        return (*self.unknowns, *(one.name for one in self.fields))

    # Whether sums over nodes have more of them than the equations say.
    _finer = False

    @cached_property
    def with_finer_sums(self) -> Problem:
        """The problem with half as many nodes again in every sum over nodes of its blocks.

        Residuals that vanish for the nodes of training alone do not vanish there. Itself where no
        block has such a sum.
        """
        if not any(term.has_sums for residual in self.residuals for term in residual.terms):
            return self
        found = object.__new__(Problem)
        resolved = {k for k, v in vars(Problem).items() if isinstance(v, cached_property)}
        vars(found).update({k: v for k, v in vars(self).items() if k not in resolved}, _finer=True)
        return found

    @cached_property
    def quantities(self) -> Mapping[str, Expression]:
        """What is made of unknowns and fields, by the name of the piecewise value."""
        definitions = self.scope.definitions
        return {
            name: definitions[name] for name in self.piecewise
            if derivatives_in(definitions[name])
        }  # fmt: skip

    @property
    def solved(self) -> tuple[str, ...]:
        """The names that a solution has values for: unknowns, fields and what is made of them."""
        return (*self.outputs, *self.quantities)

    @cached_property
    def vectors(self) -> tuple[tuple[str, ...], ...]:
        """The unknowns that are components of one vector, in the order of the space coordinates.

        See pinn.problem.vectors for which those are.
        """
        return vectors_of(self.domain.space, self.unknowns, [
            residual.left.tree for residual in self.residuals if residual.name in self.equations
        ])  # fmt: skip

    def to_scale(self, names: Sequence[str]) -> bool:
        """Return whether coordinates are lengths: all of space, and in one unit or without any."""
        units = {self.units.get(name) for name in names}
        return set(names) <= set(self.domain.space) and len(units) == 1

    @cached_property
    def residuals(self) -> tuple[Residual, ...]:
        """What is to vanish: the blocks of the loss."""
        equations, by_condition = self._stated
        soft = [
            own for condition, own in zip(self.conditions, by_condition, strict=True)
            if not condition.hard
        ]  # fmt: skip
        return (*equations, *(residual for own in soft for residual in own))

    @property
    def by_condition(self) -> Sequence[tuple[Residual, ...]]:
        """What has to vanish for each condition, in their order, for hard ones too."""
        return self._stated[1]

    @cached_property
    def _stated(self) -> tuple[list[Residual], list[tuple[Residual, ...]]]:
        """The residuals of the equations, and those of each condition."""
        mistakes = Mistakes()
        found: list[Residual] = []
        made: list[Sequence[Residual]] = []
        for name, equation in self.equations.items():
            with mistakes.under("equations", name):
                found.append(self._equation_residual(name, equation))
        for i, condition in enumerate(self.conditions):
            with mistakes.under("conditions", i):
                made.append(condition.residuals(self.domain, self.scope))
        with mistakes.under("layers"):
            self.walls  # noqa: B018 - what means nothing is told of with the rest
        for i, place in enumerate(self.singularities):
            with mistakes.under("singularities", i):
                place.check(self.domain)
        mistakes.end()
        named = told_apart(self.conditions, made, self.equations)

        def near(residual: Residual) -> Residual:
            return near_singularities(residual, self.singularities, self.scope)

        return (
            [near(in_layers(one, self.walls, self.scope)) for one in found],
            [tuple(near(in_layers(one, self.walls)) for one in own) for own in named],
        )

    @cached_property
    def walls(self) -> Layers:
        """The layers, each with its wall."""
        return checked(self.layers, self.domain, self.conditions)

    @cached_property
    def ansatz(self) -> Ansatz | None:
        """The formula that makes the hard conditions hold; None where there are none."""
        with at("conditions"):
            fields = {one.name for one in self.fields}
            hard = [condition for condition, names in self._hard if not names <= fields]
            return self._ansatz(self.domain, self.unknowns, hard, self.scope)

    @cached_property
    def field_ansatz(self) -> Mapping[str, Ansatz]:
        """The formulas of the fields that have hard conditions, by name."""
        found = {}
        with at("conditions"):
            for one in self.fields:
                hard = [condition for condition, names in self._hard if one.name in names]
                own = one.domain(self.domain)
                if not hard:
                    continue
                for condition in hard:
                    try:
                        condition.exact(own)
                    except ValueError as error:
                        names = ", ".join(own.coordinates)
                        raise ValueError(
                            f"{condition.label(self.domain)!r} cannot be hard: the field "
                            f"{one.name!r} depends on {names} alone; {error}"
                        ) from None
                bounds = one.bounds if one.is_bounded else None
                scope = _projected(self.scope, own)
                found[one.name] = self._ansatz(own, [one.name], hard, scope, bounds)
        return found

    @cached_property
    def _hard(self) -> list[tuple[Condition, set[str]]]:
        """The hard conditions, and the unknowns and fields of each."""
        return [
            (condition, {exact.unknown for exact in condition.exact(self.domain)})
            for condition in self.conditions
            if condition.hard
        ]

    def _ansatz(
        self,
        domain: Shape,
        names: Sequence[str],
        conditions: Sequence[Condition],
        scope: Scope,
        bounds: Bounds | None = None,
    ) -> Ansatz | None:
        parameters = [parameter.name for parameter in self.parameters]
        return Ansatz.of(
            domain, names, conditions, self.constants, parameters, scope, bounds, self.walls
        )

    def with_fields(self, fields: Sequence[Field]) -> Problem:
        """Return the problem with its fields in another form."""
        return self._with(fields=tuple(fields))

    def with_layers(self, layers: Widths) -> Problem:
        """Return the problem with layers."""
        return self._with(layers=layers)

    def with_singularities(self, places: Sequence[Singularity]) -> Problem:
        """Return the problem with places where slopes are infinite."""
        return self._with(singularities=tuple(places))

    def _with(self, **changed: Any) -> Problem:
        found = dataclasses.replace(self, **changed)
        object.__setattr__(found, "computed_from", self.computed_from)  # numbers do not tell
        return found

    def check(self, **arguments: Any) -> pinn.Check:
        """Return what a run would be made of, without training; arguments as of pinn.check."""
        import pinn  # the front door: what checks a run stands above problems

        return pinn.check(self, **arguments)

    def exact(self, points: Mapping[str, np.ndarray]) -> dict[str, np.ndarray] | None:
        """Return the reference solution by unknown at points, or None where there is none.

        points: coordinate -> array, all of one shape, which the results have too. An unknown that
        the reference does not give is left out, and so is one that it gives as a table, which
        `reference_tables` has. Where a formula has no value the result is nan or inf, without a
        warning.
        """
        if self._reference_terms is None:
            return None
        with np.errstate(all="ignore"):
            return self._exact(points)

    @property
    def reference_tables(self) -> dict[str, Table]:
        """The unknowns whose reference is a table, which is known at its own points only."""
        given = self.reference if isinstance(self.reference, Mapping) else {}
        return {name: table for name, table in given.items() if isinstance(table, Table)}

    def _exact(self, points: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        if isinstance(self._reference_terms, references.Reference):
            return self._shipped(self._reference_terms, points)
        arrays = {name: np.asarray(points[name]) for name in self.domain.coordinates}
        shape = np.broadcast_shapes(*(array.shape for array in arrays.values()))
        values = Values(arrays, self.constants)
        if isinstance(self._reference_terms, Term):
            result = self._reference_terms.evaluate(values, NUMPY_FUNCTIONS)
            if not isinstance(result, Mapping):
                if len(self.unknowns) != 1:
                    raise ValueError(
                        "reference: the function of a problem with several unknowns must return "
                        f"a dict by unknown ({', '.join(self.unknowns)}), got "
                        f"{type(result).__name__}"
                    )
                result = {self.unknowns[0]: result}
            for unknown in result:
                with at("reference"):
                    _check_unknown(unknown, self.solved)
        else:
            result = {
                unknown: term.evaluate(values, NUMPY_FUNCTIONS)
                for unknown, term in self._reference_terms.items()
            }
        return {
            unknown: np.array(_at_points(f"reference of {unknown!r}", value, shape))
            for unknown, value in result.items()
        }

    def _shipped(
        self, reference: references.Reference, points: Mapping[str, np.ndarray]
    ) -> dict[str, np.ndarray]:
        """Return the values of a shipped reference, once for each value of its families."""
        varied = [f.name for f in self.families if f.name in reference.constants]
        if not varied:
            return reference.evaluate(dict(points), dict(self.constants))
        arrays = dict(zip(points, np.broadcast_arrays(*points.values()), strict=True))
        shape = arrays[varied[0]].shape
        flat = {name: np.ravel(array) for name, array in arrays.items()}
        values = np.stack([flat.pop(name) for name in varied], axis=1)
        found: dict[str, np.ndarray] = {}
        for row in np.unique(values, axis=0):
            here = np.flatnonzero((values == row).all(axis=1))
            constants = {**self.constants, **dict(zip(varied, row.tolist(), strict=True))}
            there = {name: array[here] for name, array in flat.items()}
            for unknown, part in reference.evaluate(there, constants).items():
                found.setdefault(unknown, np.empty(len(values)))[here] = part
        return {unknown: array.reshape(shape) for unknown, array in found.items()}

    def _join_families(self) -> None:
        """Make the families the last factors of the domain, wherever they were declared."""
        with at("domain"):
            domain, factors = apart(self.domain)
        given = [one for one in (*factors, *self.families) if not isinstance(one, Mode)]
        families = tuple(dict.fromkeys(given))
        object.__setattr__(self, "families", families)
        object.__setattr__(self, "functions", self._expansions(domain))
        inputs = (*families, *self._modes)
        if inputs:
            self._check_names(domain.coordinates)  # a product would tell less
            object.__setattr__(self, "domain", functools.reduce(operator.mul, inputs, domain))

    def _expansions(self, domain: Shape) -> dict[str, Expansion]:
        """Return what the functions of each space are made of, by its name."""
        mistakes, found = Mistakes(), {}
        for space in self.function_spaces:
            with mistakes.under("function_spaces", space.name):
                found[space.name] = Expansion(space, domain, self.constants)
        mistakes.end()
        return found

    def farthest_modes(
        self, names: Iterable[str], numbers: Mapping[str, float]
    ) -> dict[str, tuple[float, float]]:
        """Return the largest number of the modes of functions, and its bound, by name.

        numbers: of all modes, as `with_functions` has them.
        """
        return {
            name: (max(float(np.abs(numbers[mode]).max()) for mode in self.functions[name].names),
                   self.functions[name].families[0].high)
            for name in names
        }  # fmt: skip

    @property
    def mode_names(self) -> frozenset[str]:
        """The names of the numbers that functions have of their modes."""
        return frozenset(mode.name for mode in self._modes)

    @property
    def _modes(self) -> tuple[Mode, ...]:
        return tuple(mode for one in self.functions.values() for mode in one.families)

    def with_functions(
        self, coordinates: Mapping[str, Any], lists: bool = False
    ) -> tuple[dict[str, Any], dict[str, float]]:
        """Return coordinates with a function's modes in its place, and what these leave of it.

        coordinates: of a point, where `functions` has a name a function of that space (see
        Expansion.coefficients), or with `lists` a list of m: its numbers are then arrays
        (m, 1, ..., 1), with which others broadcast. The second: the relative L2 norm of the rest,
        by name, the largest one. Raises ValueError for lists of other lengths than the first, and
        for those that are not asked for.
        """
        found, left, lengths = {}, {}, {}
        axes = max((np.ndim(one) for n, one in coordinates.items() if n not in self.functions),
                   default=0)  # fmt: skip
        for name, given in coordinates.items():
            if name not in self.functions:
                found[name] = given
                continue
            twice = [mode for mode in self.functions[name].names if mode in coordinates]
            if twice:
                raise TypeError(f"{name} is given, and {twice[0]}, which is a number of it, again")
            several = self.functions[name].several(given)
            if several is None:
                numbers, left[name] = self.functions[name].coefficients(given)
            elif not lists:
                raise ValueError(f"{name}: expected one function here, got {len(several)}")
            else:
                lengths[name] = len(several)
                each, rests = zip(*map(self.functions[name].coefficients, several), strict=True)
                left[name] = max(rests)
                numbers = {
                    mode: np.reshape([one[mode] for one in each], (-1, *[1] * axes))
                    for mode in self.functions[name].names
                }
            found |= numbers
        if len(set(lengths.values())) > 1:
            shown = ", ".join(f"{count} of {name}" for name, count in lengths.items())
            raise ValueError(f"expected as many functions of each kind, got {shown}")
        return found, left

    def _make_functions(self) -> None:
        mistakes, tables = Mistakes(), []
        for table in self.tables:
            with mistakes.under("tables", table.value):
                tables.append(table.as_function())
        mistakes.end()
        object.__setattr__(self, "tables", tuple(tables))

    @property
    def _named(self) -> tuple[str, ...]:
        """The names that a unit may belong to."""
        coefficients = (*self.constants, *(one.name for one in self.parameters))
        return (*self.domain.coordinates, *self.outputs, *self.piecewise, *coefficients)

    def _check_names(self, coordinates: Sequence[str] | None = None) -> None:
        families = tuple(family.name for family in self.families)
        modes = tuple(mode.name for mode in self._modes)
        if coordinates is None:
            inputs = {*families, *modes}
            coordinates = [name for name in self.domain.coordinates if name not in inputs]
        groups = {
            "coordinates": ("domain", coordinates),
            "unknowns": ("unknowns", self.unknowns),
            "fields": ("fields", tuple(one.name for one in self.fields)),
            "families": ("families", families),
            "functions": ("function_spaces", tuple(self.functions)),
            "constants": ("constants", tuple(self.constants)),
            "parameters": ("parameters", tuple(p.name for p in self.parameters)),
            "tables": ("tables", tuple(table.value for table in self.tables)),
            "definitions": ("regions", (*self.regions, *self.piecewise)),
        }
        groups = {"modes": ("function_spaces", modes), **groups} if modes else groups
        try:
            check_names(**{group: names for group, (_, names) in groups.items()})
        except ValueError:
            # One name more each time: the first that does not fit is the one to tell of.
            mistakes = Mistakes()
            known: dict[str, list[str]] = {"unknowns": [], "coordinates": []}
            for group, (section, names) in groups.items():
                for i, name in enumerate(names):
                    known.setdefault(group, []).append(name)
                    with mistakes.under(section, i if section == "unknowns" else name):
                        check_names(**known)
                        continue
                    known[group].pop()
            mistakes.end()

    def _check_fields(self) -> None:
        mistakes = Mistakes()
        for one in self.fields:
            with mistakes.under("fields", one.name):
                if one.name == "model":
                    refuse("'model' is what the network of the unknowns is called; rename it")
            for name in one.coordinates:
                with mistakes.under("fields", one.name, "coordinates"):
                    if name not in self.domain.coordinates:
                        refuse(
                            f"expected some of the coordinates {', '.join(self.domain.coordinates)}"
                            f", got {name!r}{nearest(name, self.domain.coordinates)}"
                        )
        mistakes.end()

    def _equation_residual(self, name: str, given: Any) -> Residual:
        what = f"equation {name!r}"
        equation = Equation.of(given)
        with at(*["expression"] * (given is equation)):
            term = Term.of_equation(what, equation.expression, self.scope)
            if term.leaves == ():
                text = equation.expression
                refuse(
                    f"expected at least one of the unknowns {', '.join(self.outputs)} in it, "
                    f"got {(text if isinstance(text, str) else str(term.tree))!r}"
                )
        return Residual(name, what, term, equation.source(self.domain, self.scope))

    def _check_residuals(self) -> None:
        names = [residual.name for residual in self.residuals]
        repeated = sorted(name for name, count in Counter(names).items() if count > 1)
        if repeated:
            refuse(
                f"two equations or conditions are called {repeated[0]!r}, and each needs a name of "
                f"its own; {self._renaming(repeated[0])}",
                "conditions",
            )

    def _renaming(self, block: str) -> str:
        """Say how the conditions of a block get other names."""
        for condition, made in zip(self.conditions, self.by_condition, strict=True):
            if not condition.hard and block in [residual.name for residual in made]:
                takes = fields_of(type(condition))
                kind = type(condition).__name__
                if "name" in takes:
                    return f"give one of them another name: {kind}(..., name=\"other\")"
                if "on" in takes:
                    return (
                        f"say with `on` where each {kind} holds, as in on="
                        f"{str(self.domain.parts[0])!r}, or leave one out where they hold in one "
                        "place"
                    )
                return f"leave one {kind} out, or rename the equation of that name"
        return "rename one"

    def _check_blocks(self) -> None:
        asked = [residual.leaves for residual in self.residuals]
        if None not in asked:  # else only a run can tell what a function asks for
            used = {leaf.unknown for leaves in asked for leaf in leaves}
            for section, names in (("unknowns", self.unknowns), ("fields", self.outputs)):
                unused = [name for name in names if name not in used]
                if unused:
                    refuse(
                        f"{', '.join(unused)} appear in no equation and no condition (hard ones do "
                        "not count: they train nothing); leave them out",
                        section,
                    )
        # What cannot hold exactly is refused here.
        self.ansatz, self.field_ansatz  # noqa: B018

    def _check_reference(self) -> None:
        with at("reference"):
            made = references.with_tables(
                self.reference, self.solved, self.domain, self.scope.inputs_of
            )
            object.__setattr__(self, "reference", made)
            self._reference_terms  # noqa: B018 - as above

    @cached_property
    def _reference_terms(self) -> references.Reference | Term | dict[str, Term] | None:
        reference = self.reference
        if reference is None:
            return None
        if isinstance(reference, str):
            return references.get(reference, self.unknowns).fitting(
                self.solved,
                self.domain.coordinates,
                (*self.constants, *(family.name for family in self.families)),
            )
        scope = self.scope.of_values(parameters=False)
        if not isinstance(reference, Mapping):
            return Term("reference", reference, scope)
        mistakes, terms = Mistakes(), {}
        for unknown, source in reference.items():
            with mistakes.under(unknown):
                _check_unknown(unknown, self.solved)
                if isinstance(source, Table):
                    continue
                terms[unknown] = Term(f"reference of {unknown!r}", source, scope)
        mistakes.end()
        return terms


def _projected(scope: Scope, domain: Shape) -> Scope:
    """Return the names that a value may use on a domain of some of the coordinates."""

    def is_there(node: Expression) -> bool:
        return not isinstance(node, Coordinate) or node.name in domain.coordinates

    definitions = {
        name: tree for name, tree in scope.definitions.items() if all(map(is_there, nodes(tree)))
    }
    return dataclasses.replace(
        scope, coordinates=domain.coordinates, space=domain.space, definitions=definitions
    )


@dataclass(frozen=True)
class _InSpace:
    """A domain in the space coordinates alone."""

    domain: Shape

    def chord(self, direction: Mapping[str, Expression]) -> Chord | None:
        return self.domain.chord(direction)

    def inside_function(self) -> Expression:
        return self.domain.inside_function()

    def reach(self, direction: np.ndarray) -> float:
        parts = iter(direction)
        names = self.domain.coordinates
        space = set(self.domain.space)
        return self.domain.reach(np.array([next(parts) if n in space else 0.0 for n in names]))


def _check_unknown(name: str, unknowns: tuple[str, ...]) -> None:
    if name not in unknowns:
        refuse(
            f"expected one of the unknowns {', '.join(unknowns)}, got {name!r}"
            f"{nearest(name, unknowns)}"
        )


def _at_points(what: str, value: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Return a value of a reference at points of a shape; ValueError for one of another shape."""
    array = np.asarray(value, dtype=np.float64)
    try:
        return np.broadcast_to(array, shape)
    except ValueError as error:
        raise ValueError(
            f"{what}: expected one value a point, of shape {shape}, or a number, got shape "
            f"{array.shape}; make it of the namespace's values, such as s.x, which have that shape"
        ) from error
