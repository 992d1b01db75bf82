"""The meaning of names in an equation: unknowns, their derivatives, coordinates and coefficients.

`resolve` turns a parsed tree into one whose leaves are typed, with every `diff`, `grad`, `div`,
`dot`, `vec` and `laplacian` worked out symbolically. What is left to compute are derivatives of
unknowns (`Derivative`, `Laplacian`) and arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from pinn.equations.leaves import (
    MAX_ORDER,
    Column,
    Constant,
    Coordinate,
    Derivative,
    Laplacian,
    ParameterRef,
    check_names,
    in_domain_order,
    parse_name,
)
from pinn.expressions import (
    CONSTANTS,
    FLOAT_FUNCTIONS,
    OPERATORS,
    Binary,
    Call,
    Expression,
    ExpressionError,
    Name,
    Number,
    Unary,
    abridge,
    algebra,
    evaluate_leaves,
    fold,
    parse,
    suggest,
)

# Nodes that the symbolic rules may visit for one equation: under a second of work.
MAX_EXPANSION = 40_000


def resolve(
    expression: Expression | str,
    *,
    unknowns: Sequence[str],
    coordinates: Sequence[str],
    space: Sequence[str],
    constants: Iterable[str] = (),
    parameters: Iterable[str] = (),
    columns: Iterable[str] = (),
) -> Expression:
    """Give every name of an expression its meaning and work out its differential operators.

    `coordinates` are in domain order; `space` are those without time, which `laplacian`, `grad` and
    `div` run over. The result's leaves are `Number`, `Coordinate`, `Constant`, `ParameterRef`,
    `Derivative` and `Laplacian`; its nodes are `Unary`, `Binary` and `Call` of a function.
    ``diff(e, x, 2, t)`` is the derivative of any subexpression, twice in x and once in t. At a kink
    of abs the derivative is 0; where min or max has a tie it is that of the first argument.

    Raises:
        ExpressionError: an unknown name, a derivative of something that is not an unknown or in
            something that is not a coordinate, a vector where a scalar belongs or the reverse, or
            a derivative of order above 16 or too large to expand.
        ValueError: the declared names are not usable (see `check_names`).
    """
    constants, parameters, columns = tuple(constants), tuple(parameters), tuple(columns)
    check_names(
        unknowns=unknowns,
        coordinates=coordinates,
        constants=constants,
        parameters=parameters,
        columns=columns,
    )
    if isinstance(expression, str):
        expression = parse(expression)
    resolver = _Resolver(
        tuple(unknowns), tuple(coordinates), tuple(space), constants, parameters, columns
    )
    result = fold(expression, resolver.combine)
    if isinstance(result, _Vector):
        raise expression.error(
            f"the expression is a vector of {len(result)} components, but a scalar belongs here; "
            "use dot(...) or div(...), or write one equation a component"
        )
    return result


def evaluate_resolved(
    resolved: Expression,
    values: Mapping[Expression, Any],
    functions: Mapping[str, Callable[..., Any]] = FLOAT_FUNCTIONS,
) -> Any:
    """Evaluate a resolved tree from the values of its typed leaves.

    Values, functions and errors are as in `pinn.expressions.evaluate`; the keys are leaves, such
    as ``Derivative("u", ("x",))`` or ``Coordinate("x")``.
    """

    def leaf(node: Expression) -> Any:
        if node in values:
            return values[node]
        raise node.error(
            f"no value was given for {node}{suggest(str(node), map(str, values), 'values')}"
        )

    return evaluate_leaves(resolved, leaf, functions)


class _Vector(tuple[Expression, ...]):
    """The components of a vector, while operators are being worked out."""


_Value = Expression | _Vector


class _Resolver:
    """Resolves one expression; its methods take the node they serve, for positions in errors."""

    def __init__(
        self,
        unknowns: tuple[str, ...],
        coordinates: tuple[str, ...],
        space: tuple[str, ...],
        constants: tuple[str, ...],
        parameters: tuple[str, ...],
        columns: tuple[str, ...],
    ) -> None:
        self.unknowns = unknowns
        self.coordinates = coordinates
        self.space = space
        self.constants = constants
        self.parameters = parameters
        self.columns = columns
        self.visited = 0

    def combine(self, node: Expression, values: list[_Value]) -> _Value:
        if isinstance(node, Name):
            return self.name(node)
        if isinstance(node, Call) and node.function in OPERATORS:
            return getattr(self, node.function)(node, values)
        if any(isinstance(value, _Vector) for value in values):
            return self.vector_arithmetic(node, values)
        return node.with_children(values)

    # Names

    def name(self, node: Name) -> Expression:
        name, place = node.name, algebra.place(node)
        if name in CONSTANTS:
            return Number(CONSTANTS[name], **place)
        if name in self.coordinates:
            return Coordinate(name, **place)
        if name in self.constants:
            return Constant(name, **place)
        if name in self.parameters:
            return ParameterRef(name, **place)
        if name in self.columns:
            return Column(name, **place)
        reading = parse_name(name, self.unknowns, self.coordinates)
        if reading is not None:
            return Derivative(*reading.label, **place)
        raise self.unknown_name(node)

    def unknown_name(self, node: Name) -> ExpressionError:
        name = node.name
        known = [
            *self.unknowns, *self.coordinates, *self.constants, *self.parameters, *self.columns
        ]  # fmt: skip
        base, _, suffix = name.rpartition("_")
        if base in self.unknowns and suffix:
            if suffix in self.coordinates:
                return node.error(
                    f"{name!r}: coordinates with longer names are written diff({base}, {suffix})"
                )
            for i, letter in enumerate(suffix):
                if letter not in self.coordinates:
                    return node.error(
                        f"{abridge(name)!r}: {letter!r} is not a coordinate; the coordinates are "
                        + ", ".join(self.coordinates),
                        len(base) + 1 + i,
                    )
            return node.error(
                f"a derivative of order {len(suffix)}; orders go up to {MAX_ORDER}", len(base) + 1
            )
        if base in known and suffix and all(letter in self.coordinates for letter in suffix):
            return node.error(
                f"{name!r}: {base!r} is not an unknown, so it has no derivative by suffix; the "
                f"unknowns are {', '.join(self.unknowns)} (diff(...) takes any expression)"
            )
        derivatives = [f"{u}_{x}" for u in self.unknowns for x in self.coordinates if len(x) == 1]
        hint = suggest(name, [*known, *CONSTANTS, *derivatives[:8]])
        return node.error(f"unknown name {abridge(name)!r}{hint}")

    # Operators: each takes the call and its resolved arguments

    def diff(self, node: Call, values: list[_Value]) -> Expression:
        result = self.scalar(node, values[0], 0)
        steps: list[str] = []
        count_allowed = False
        for argument, value in zip(node.arguments[1:], values[1:], strict=True):
            if isinstance(value, Coordinate):
                steps.append(value.name)
                count_allowed = True
            elif isinstance(value, Number) and count_allowed:
                count = value.value
                if count != math.floor(count) or not 1 <= count <= MAX_ORDER:
                    raise argument.error(
                        f"the order of a derivative is a whole number from 1 to {MAX_ORDER}, "
                        f"got {value}"
                    )
                steps += [steps[-1]] * (int(count) - 1)
                count_allowed = False
            else:
                raise argument.error(
                    "diff takes an expression, then coordinates, each with an order if it is "
                    f"wanted, as in diff(u, x, 2); got {abridge(str(argument))}; the coordinates "
                    f"are {', '.join(self.coordinates)}"
                )
        self.check_order(node, len(steps))
        for coordinate in in_domain_order(steps, self.coordinates):
            result = self.derivative(node, result, coordinate)
        return result

    def laplacian(self, node: Call, values: list[_Value]) -> Expression:
        self.need_space(node)
        operand = self.scalar(node, values[0], 0)
        if isinstance(operand, Laplacian):
            self.check_order(node, 2 * operand.times + 2)
            return Laplacian(operand.unknown, operand.times + 1, **algebra.place(node))
        if isinstance(operand, Derivative) and operand.order == 0:
            return Laplacian(operand.unknown, **algebra.place(node))
        total: Expression = algebra.ZERO
        for coordinate in self.space:
            once = self.derivative(node, operand, coordinate)
            total = algebra.add(total, self.derivative(node, once, coordinate), node)
        return total

    def grad(self, node: Call, values: list[_Value]) -> _Vector:
        self.need_space(node)
        operand = self.scalar(node, values[0], 0)
        return _Vector(self.derivative(node, operand, coordinate) for coordinate in self.space)

    def div(self, node: Call, values: list[_Value]) -> Expression:
        self.need_space(node)
        vector = self.vector(node, values[0], 0)
        if len(vector) != len(self.space):
            raise node.arguments[0].error(
                f"div takes a vector with one component for each of {', '.join(self.space)}; this "
                f"one has {len(vector)}"
            )
        first = vector[0]
        if isinstance(first, Derivative) and vector == tuple(
            Derivative(first.unknown, (coordinate,)) for coordinate in self.space
        ):
            # The gradient of an unknown: kept whole, as in laplacian(u).
            return Laplacian(first.unknown, **algebra.place(node))
        total: Expression = algebra.ZERO
        for component, coordinate in zip(vector, self.space, strict=True):
            total = algebra.add(total, self.derivative(node, component, coordinate), node)
        return total

    def dot(self, node: Call, values: list[_Value]) -> Expression:
        left, right = self.vector(node, values[0], 0), self.vector(node, values[1], 1)
        if len(left) != len(right):
            raise node.error(
                f"dot takes vectors of equal length, got {len(left)} and {len(right)} components"
            )
        total: Expression = algebra.ZERO
        for a, b in zip(left, right, strict=True):
            total = algebra.add(total, algebra.multiply(a, b, node), node)
        return total

    def vec(self, node: Call, values: list[_Value]) -> _Vector:
        return _Vector(self.scalar(node, value, i) for i, value in enumerate(values))

    def vector_arithmetic(self, node: Expression, values: list[_Value]) -> _Vector:
        """Sums of vectors, and products and quotients of a vector with a scalar."""
        if isinstance(node, Unary):
            return _Vector(node.with_children([component]) for component in values[0])
        if isinstance(node, Binary):
            left, right = values
            both = isinstance(left, _Vector) and isinstance(right, _Vector)
            if both and node.operator in ("+", "-") and len(left) == len(right):
                pairs = list(zip(left, right, strict=True))
            elif not both and node.operator == "*" and isinstance(right, _Vector):
                pairs = [(left, component) for component in right]
            elif not both and node.operator in ("*", "/") and isinstance(left, _Vector):
                pairs = [(component, right) for component in left]
            else:
                shapes = " and ".join(
                    f"a vector of {len(value)}" if isinstance(value, _Vector) else "a scalar"
                    for value in values
                )
                raise node.error(
                    f"'{node.operator}' has no meaning between {shapes}; use dot(a, b) for a "
                    "product of vectors"
                )
            return _Vector(node.with_children(pair) for pair in pairs)
        raise node.error(f"{node.label[0]} takes scalars, got a vector; use dot(...) or div(...)")

    # Checks

    def scalar(self, node: Call, value: _Value, index: int) -> Expression:
        if isinstance(value, _Vector):
            raise node.arguments[index].error(
                f"{node.function} takes a scalar here, got a vector of {len(value)} components"
            )
        return value

    def vector(self, node: Call, value: _Value, index: int) -> _Vector:
        if not isinstance(value, _Vector):
            raise node.arguments[index].error(
                f"{node.function} takes a vector here, such as grad(u) or vec(u, v); got a scalar"
            )
        return value

    def need_space(self, node: Call) -> None:
        if not self.space:
            raise node.error(f"{node.function} needs a space coordinate; the domain has none")

    def check_order(self, node: Expression, order: int) -> None:
        if order > MAX_ORDER:
            raise node.error(f"a derivative of order {order}; orders go up to {MAX_ORDER}")

    # Calculus

    def derivative(self, node: Call, operand: Expression, coordinate: str) -> Expression:
        """Differentiate a resolved expression once, on behalf of the operator `node`."""

        def rule(part: Expression, inner: list[Expression]) -> Expression:
            self.visit(node)
            if isinstance(part, Derivative | Laplacian):
                return self.leaf_derivative(node, part, coordinate)
            if isinstance(part, Coordinate):
                return algebra.ONE if part.name == coordinate else algebra.ZERO
            if not part.children or all(value is algebra.ZERO for value in inner):
                return algebra.ZERO
            if isinstance(part, Unary):
                return inner[0] if part.operator == "+" else algebra.negate(inner[0], part)
            return algebra.RULES[part.label[0]](part, part.children, inner)

        return fold(operand, rule)

    def visit(self, node: Call) -> None:
        self.visited += 1
        if self.visited > MAX_EXPANSION:
            raise node.error(
                f"{node.function} expands to too many terms; introduce an unknown for a part of "
                "it, or lower the order"
            )

    def leaf_derivative(
        self, node: Call, leaf: Derivative | Laplacian, coordinate: str
    ) -> Expression:
        counts = {leaf.coordinates: 1} if isinstance(leaf, Derivative) else self.expand(node, leaf)
        total: Expression = algebra.ZERO
        for coordinates, count in counts.items():
            self.check_order(node, len(coordinates) + 1)
            ordered = in_domain_order((*coordinates, coordinate), self.coordinates)
            term = Derivative(leaf.unknown, ordered, position=leaf.position, source=leaf.source)
            times = algebra.number(count, leaf)
            total = algebra.add(total, algebra.multiply(times, term, leaf), leaf)
        return total

    def expand(self, node: Call, leaf: Laplacian) -> dict[tuple[str, ...], int]:
        """Write a power of the Laplacian as derivatives with their multiplicities."""
        counts: dict[tuple[str, ...], int] = {(): 1}
        for _ in range(leaf.times):
            following: dict[tuple[str, ...], int] = {}
            for coordinates, count in counts.items():
                for name in self.space:
                    self.visit(node)
                    key = in_domain_order((*coordinates, name, name), self.coordinates)
                    following[key] = following.get(key, 0) + count
            counts = following
        return counts
