"""The meaning of names in an equation: unknowns, their derivatives, coordinates and coefficients.

`resolve` turns a parsed tree into one whose leaves are typed, with every `diff`, `grad`, `div`,
`curl`, `dot`, `vec`, `laplacian`, `dn` and `at` worked out symbolically. What is left to compute
are unknowns and their derivatives (`Derivative`, `Laplacian`), here or elsewhere (`At`), sums over
nodes (`Integral`), and the rest is arithmetic.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from autograd.jets.indices import chain_terms
from pinn.equations import chords
from pinn.equations.axes import (
    DEFAULT_NODES,
    MOST_NODES,
    Computed,
    Integral,
    Variable,
    integral_over,
    substituted,
)
from pinn.equations.calculus import Calculus
from pinn.equations.fractional import (
    DEFAULT_DIRECTIONS,
    DEFAULT_STEPS,
    MOST_DIRECTIONS,
    MOST_STEPS,
    Region,
    power_of_laplacian,
    riemann_liouville,
)
from pinn.equations.functions import fitted
from pinn.equations.leaves import (
    At,
    Column,
    Constant,
    Coordinate,
    Derivative,
    Laplacian,
    Supplied,
    in_domain_order,
)
from pinn.equations.names import MAX_ORDER, normal_name
from pinn.equations.tabulated import Tabulated
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
    nodes,
    suggest,
)
from pinn.expressions.conditions import as_number, typed

if TYPE_CHECKING:
    from pinn.equations.scope import Scope


class Vector(tuple[Expression, ...]):
    """The components of a vector."""


def resolve(expression: Expression, scope: Scope) -> Expression | Vector:
    """Give every name of an expression its meaning and work out its differential operators.

    The result's leaves are `Number`, `Coordinate`, `Constant`, `ParameterRef`, `Column`,
    `Derivative` and `Laplacian`; its nodes are `Unary`, `Binary`, `Call` of a function, `At`,
    `Integral` and `Nodes`.
    ``diff(e, x, 2, t)`` is the derivative of any subexpression, twice in x and once in t. At a kink
    of abs the derivative is 0; where min or max has a tie it is that of the first argument.
    ``at(e, x=1)`` is e with 1 for x, in the unknowns too. ``dn(e)`` is the derivative along the
    outward normal of a boundary, which counts as constant: dn(dn(u)) is the second one along it.
    ``integral(e, s, a, b)`` is by 20 Gauss-Legendre nodes, or as many as ``nodes=`` says; s is a
    name of its own or a coordinate, the limits are any expressions, its derivative is Leibniz's.
    ``fractional_laplacian(e, alpha)`` is (-laplacian)^(alpha/2) of what is 0 outside of the domain:
    on intervals, disks and balls by 20 nodes on each chord, or as many as ``nodes=`` says, in some
    ``directions=``; on other shapes, or where they are given, by 100 ``steps=`` of equal length;
    ``riemann_liouville(e, x, alpha)`` is the left plus the right derivative of order alpha.
    ``variation(f, u)`` is the sum of (-1)^k D^k (df / d(D^k u)) over the derivatives D^k u of order
    k that f has, 0 where the integral of f is stationary (Euler and Lagrange); a vector of unknowns
    gives a vector. ``natural(f, u)`` is the outward normal times df / d(grad u): 0 on a boundary
    that leaves u free. Of second derivatives along a line it is n (df/du_x - d/dx df/du_xx), and
    ``natural(f, u, 1)``, df/du_xx, is 0 where the slope is free.
    ``curl`` of a vector is a scalar in two dimensions and a vector in three; of a scalar in two
    dimensions it is vec(u_y, -u_x). ``abs2(u, v)`` is u**2 + v**2, of a vector too.

    Raises ExpressionError: an unknown name, a derivative of something that is not an unknown or in
    something that is not a coordinate, a vector where a scalar belongs or the reverse, or a
    derivative of order above 16 or too large to expand or to compute.
    """
    variables = _variables(expression, scope)
    result = fold(expression, _Resolver(scope, variables).combine)
    for part in result if isinstance(result, Vector) else (result,):
        _check_terms(part, scope)
    return result if isinstance(result, Vector) else as_number(result)


def _check_terms(resolved: Expression, scope: Scope) -> None:
    """Raise ExpressionError for a derivative in so many coordinates that nothing could compute it.

    The chain rule of order 9 in 9 coordinates has 21147 terms, that of order 16 in one has 231.
    """
    for node in nodes(resolved):
        leaf = node.leaf if isinstance(node, At) else node
        if not isinstance(leaf, Derivative | Laplacian) or leaf.order <= _ALWAYS_COMPUTED:
            continue
        if isinstance(leaf, Laplacian):  # the derivative in the most coordinates has the most terms
            names = [name for k in range(leaf.order // 2)
                     for name in 2 * (scope.space[k % len(scope.space)],)]  # fmt: skip
        else:
            names = leaf.coordinates
        try:
            chain_terms(tuple(sorted(map(scope.coordinate_number.__getitem__, names))))
        except ValueError as error:
            raise leaf.error(str(error)) from None


def _variables(expression: Expression, scope: Scope) -> frozenset[str]:
    """Return the names of the variables of integrals; ExpressionError for one outside of its own.

    Names that mean something else are none.
    """
    names = {
        node.arguments[1].name
        for node in nodes(expression)
        if isinstance(node, Call) and node.function == "integral"
        and isinstance(node.arguments[1], Name)
    }  # fmt: skip
    names = frozenset(name for name in names if scope.leaf(name) is None)
    pending: list[tuple[Expression, frozenset[str]]] = [(expression, frozenset())]
    while names and pending:
        node, inside = pending.pop()
        if isinstance(node, Name) and node.name in names - inside:
            raise node.error(f"{node.name!r} is the variable of an integral, and stands outside")
        integral = isinstance(node, Call) and node.function == "integral"
        own = {str(node.arguments[1])} if integral else set()
        pending += [
            (child, inside | own if i < 2 else inside) for i, child in enumerate(node.children)
        ]
    return names


def evaluate_resolved(
    resolved: Expression,
    values: Mapping[Expression, Any],
    functions: Mapping[str, Callable[..., Any]] = FLOAT_FUNCTIONS,
) -> Any:
    """Evaluate a resolved tree from the values of its typed leaves.

    Values, functions and errors are as in `pinn.expressions.evaluate`; the keys are leaves, such
    as ``Derivative("u", ("x",))`` or ``Coordinate("x")``. An `At` leaf is asked for as
    `values.at(leaf, values of its replacements)` where `values` has such a method.
    """

    def leaf(node: Expression, *replacements: Any) -> Any:
        if isinstance(node, At) and hasattr(values, "at"):
            return values.at(node, replacements)
        if isinstance(node, Computed):
            return node.value(values, replacements)
        if node in values:
            return values[node]
        raise node.error(
            f"no value was given for {node}{suggest(str(node), map(str, values), 'values')}"
        )

    return evaluate_leaves(resolved, leaf, fitted(functions, getattr(values, "dtype", None)))


_Value = Expression | Vector

# In whatever coordinates a derivative is of this order, its chain rule is short enough.
_ALWAYS_COMPUTED = 8

# du of du/dt, d2u of d2u/dx2.
_LEIBNIZ = re.compile(r"d([0-9]?)([A-Za-z][A-Za-z0-9_]*)")


def _arguments(names: Sequence[str]) -> str:
    """Return how many arguments there are, and their names."""
    count = "1 argument" if len(names) == 1 else f"{len(names)} arguments"
    return f"{count}, {', '.join(names)}"


def _as_diff(base: str, suffix: str) -> str:
    """Say how the derivative that v_xx means is written of what is no unknown."""
    return f"write diff({base}, {', '.join(suffix)}), which takes any expression"


class _Resolver:
    """Resolves one expression; its methods take the node they serve, for positions in errors."""

    def __init__(self, scope: Scope, variables: frozenset[str]) -> None:
        self.scope = scope
        self.variables = variables
        self.calculus = Calculus(scope)

    def combine(self, node: Expression, values: list[_Value]) -> _Value:
        if isinstance(node, Name):
            return self.name(node)
        if isinstance(node, Call) and node.function in OPERATORS:
            numbers = [v if isinstance(v, Vector) else as_number(v) for v in values]
            return getattr(self, node.function)(node, numbers)
        if isinstance(node, Call) and node.function in self.scope.tables:
            return self.table(node, values)
        if isinstance(node, Call) and node.function in self.scope.called:
            return self.function(node, values)
        if any(isinstance(value, Vector) for value in values):
            return self.vector_arithmetic(node, values)
        return typed(node.with_children(values))

    # Names

    def name(self, node: Name) -> Expression:
        try:
            leaf = self.scope.leaf(node.name)
        except ValueError as error:
            raise node.error(str(error)) from None
        if node.name in self.scope.definitions:
            return leaf
        if node.name in self.variables:
            return Variable(node.name, **algebra.origin(node))
        if leaf is None:
            raise self.unknown_name(node)
        return leaf.build(leaf.label, leaf.children, node.position, node.source)

    def unknown_name(self, node: Name) -> ExpressionError:
        name, scope = node.name, self.scope
        known = scope.names
        if name in map(normal_name, scope.space):
            return node.error(f"{name!r}: only the points of a boundary have a normal")
        base, _, suffix = name.rpartition("_")
        inputs = scope.inputs_of(base)
        known_letters = base in scope.unknown_number and set(suffix) <= set(scope.coordinates)
        if known_letters and not set(suffix) <= set(inputs):
            return node.error(
                f"{abridge(name)!r}: {base!r} depends on {', '.join(inputs)} alone, so this "
                "derivative of it is zero; leave it out"
            )
        spelled = self.spelled_out(name)
        if spelled is not None:
            return node.error(f"{abridge(name)!r}: {spelled}")
        if base in scope.unknown_number and suffix:
            for i, letter in enumerate(suffix):
                if letter not in scope.coordinate_number:
                    return node.error(
                        f"{abridge(name)!r}: {letter!r} is not a coordinate; the coordinates are "
                        + ", ".join(scope.coordinates),
                        len(base) + 1 + i,
                    )
            return node.error(
                f"a derivative of order {len(suffix)}; orders go up to {MAX_ORDER}", len(base) + 1
            )
        if base in known and suffix and all(letter in scope.coordinate_number for letter in suffix):
            return node.error(
                f"{name!r}: {base!r} is not an unknown, so it has no derivative by suffix; the "
                f"unknowns are {', '.join(scope.unknowns)} ({_as_diff(base, suffix)})"
            )
        letters = [x for x in scope.coordinates if len(x) == 1]
        derivatives = [f"{u}_{x}" for u in scope.unknowns[:8] for x in letters]
        leibniz = _LEIBNIZ.fullmatch(name)
        if leibniz and leibniz[2] in scope.unknown_number and letters:
            u, x = leibniz[2], letters[0]
            written = " and ".join(dict.fromkeys([f"{u}_{letters[-1]}", f"{u}_{x}{x}"]))
            return node.error(
                f"unknown name {abridge(name)!r}; derivatives are written {written}, or "
                f"diff({u}, {x}, 2), not as fractions such as d2{u}/d{x}2"
            )
        hint = suggest(name, [*known, *CONSTANTS, *derivatives[:8]])
        return node.error(f"unknown name {abridge(name)!r}{hint}")

    def spelled_out(self, name: str) -> str | None:
        """Say how the derivative that u_x_x, u_x1x1 or u_x1_t means is written; None for others."""
        longest_first = sorted(self.scope.coordinates, key=len, reverse=True)
        for end in (i for i, letter in enumerate(name[:200]) if letter == "_"):
            base, rest = name[:end], name[end:]
            names: list[str] = []
            while rest and base in self.scope.unknown_number and len(names) < MAX_ORDER:
                rest = rest.removeprefix("_")
                found = next((x for x in longest_first if rest.startswith(x)), None)
                if found is None:
                    break
                names.append(found)
                rest = rest.removeprefix(found)
            if names and not rest:
                if all(len(x) == 1 for x in names):
                    return f"a derivative has one underscore; write {base}_{''.join(names)}"
                ordered = in_domain_order(names, self.scope.coordinate_number)
                steps = [(x, len(list(same))) for x, same in groupby(ordered)]
                listed = ", ".join(x if k == 1 else f"{x}, {k}" for x, k in steps)
                return (
                    "derivatives in coordinates with longer names are written "
                    f"diff({base}, {listed})"
                )
        return None

    def table(self, node: Call, values: list[_Value]) -> Expression:
        table = self.scope.tables[node.function]
        if len(values) != len(table.over):
            raise node.error(
                f"{node.function} takes {_arguments(table.over)}; got {len(values)}"
            )
        arguments = tuple(self.scalar(node, value, i) for i, value in enumerate(values))
        return Tabulated(table, (0,) * len(arguments), arguments, **algebra.origin(node))

    def function(self, node: Call, values: list[_Value]) -> Expression:
        """Return a definition with other places for the coordinates that it is a function of."""
        over = self.scope.functions[node.function]
        if len(values) != len(over):
            raise node.error(
                f"{node.function} takes {_arguments(over)}; got {len(values)}"
            )
        places = [self.scalar(node, value, i) for i, value in enumerate(values)]
        tree = self.scope.definitions[node.function]
        return substituted(tree, dict(zip(map(Coordinate, over), places, strict=True)))

    # Operators: each takes the call and its resolved arguments

    def diff(self, node: Call, values: list[_Value]) -> _Value:
        if isinstance(values[0], Vector):
            return Vector(self.diff(node, [part, *values[1:]]) for part in values[0])
        result = values[0]
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
                    f"are {', '.join(self.scope.coordinates)}"
                )
        self.calculus.check_order(node, len(steps))
        for coordinate in in_domain_order(steps, self.scope.coordinate_number):
            result = self.calculus.derivative(node, result, coordinate)
        return result

    def laplacian(self, node: Call, values: list[_Value]) -> _Value:
        self.need_space(node)
        operand = values[0]
        if isinstance(operand, Vector):
            return Vector(self.laplacian(node, [part]) for part in operand)
        if isinstance(operand, Laplacian):
            self.calculus.check_order(node, 2 * operand.times + 2)
            return Laplacian(operand.unknown, operand.times + 1, **algebra.origin(node))
        if isinstance(operand, Derivative) and operand.order == 0 and self.sees_space(operand):
            return Laplacian(operand.unknown, **algebra.origin(node))
        total: Expression = algebra.ZERO
        for coordinate in self.scope.space:
            once = self.calculus.derivative(node, operand, coordinate)
            total = algebra.add(total, self.calculus.derivative(node, once, coordinate), node)
        return total

    def grad(self, node: Call, values: list[_Value]) -> Vector:
        self.need_space(node)
        operand = self.scalar(node, values[0], 0)
        return Vector(
            self.calculus.derivative(node, operand, coordinate) for coordinate in self.scope.space
        )

    def div(self, node: Call, values: list[_Value]) -> Expression:
        self.need_space(node)
        vector = self.vector(node, values[0], 0)
        if len(vector) != len(self.scope.space):
            raise node.arguments[0].error(
                "div takes a vector with one component for each of "
                f"{', '.join(self.scope.space)}; this one has {len(vector)}"
            )
        first = vector[0]
        if isinstance(first, Derivative) and vector == tuple(
            Derivative(first.unknown, (coordinate,)) for coordinate in self.scope.space
        ):
            # The gradient of an unknown: kept whole, as in laplacian(u).
            return Laplacian(first.unknown, **algebra.origin(node))
        total: Expression = algebra.ZERO
        for component, coordinate in zip(vector, self.scope.space, strict=True):
            total = algebra.add(total, self.calculus.derivative(node, component, coordinate), node)
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

    def curl(self, node: Call, values: list[_Value]) -> _Value:
        operand, space = values[0], self.scope.space
        count = len(operand) if isinstance(operand, Vector) else 0
        if (len(space), count) not in ((2, 0), (2, 2), (3, 3)):
            shape = f"a vector of {count}" if count else "a scalar"
            raise node.error(
                "curl takes a vector of 2 or a scalar in two space coordinates, and a vector of 3 "
                f"in three; got {shape} in {', '.join(space) or 'none'}"
            )

        def slope(part: Expression, coordinate: int) -> Expression:
            return self.calculus.derivative(node, part, space[coordinate])

        if not isinstance(operand, Vector):
            return Vector((slope(operand, 1), algebra.negate(slope(operand, 0), node)))
        if len(space) == 2:
            return algebra.subtract(slope(operand[1], 0), slope(operand[0], 1), node)
        return Vector(
            algebra.subtract(slope(operand[k], j), slope(operand[j], k), node)
            for j, k in ((1, 2), (2, 0), (0, 1))
        )

    def abs2(self, node: Call, values: list[_Value]) -> Expression:
        parts = [part for v in values for part in (v if isinstance(v, Vector) else (v,))]
        total: Expression = algebra.ZERO
        for part in parts:
            total = algebra.add(total, algebra.power(part, Number(2.0), node), node)
        return total

    def dn(self, node: Call, values: list[_Value]) -> Expression:
        operand = self.scalar(node, values[0], 0)
        names = self.need_normal(node)
        total: Expression = algebra.ZERO
        for name, coordinate in zip(names, self.scope.space, strict=True):
            slope = self.calculus.derivative(node, operand, coordinate, hold_columns=True)
            normal = Column(name, **algebra.origin(node))
            total = algebra.add(total, algebra.multiply(normal, slope, node), node)
        return total

    def variation(self, node: Call, values: list[_Value]) -> _Value:
        if isinstance(values[1], Vector):
            return Vector(self.variation(node, [values[0], part]) for part in values[1])
        density, calculus = values[0], self.calculus
        total: Expression = algebra.ZERO
        for leaf in self.leaves_of_density(node, values):
            term = calculus.partial(node, density, leaf)
            if isinstance(leaf, Laplacian):
                for _ in range(leaf.times):
                    term = self.laplacian(node, [term])
            else:
                for coordinate in leaf.coordinates:
                    term = calculus.derivative(node, term, coordinate)
            join = algebra.subtract if leaf.order % 2 else algebra.add
            total = join(total, term, node)
        if total is algebra.ZERO:
            raise node.error(
                f"the variation in {values[1]} is 0 whatever that is: what is integrated is a "
                "derivative of something, and its integral that of the boundary alone"
            )
        return self.within_inputs(node, values[1], total)

    def natural(self, node: Call, values: list[_Value]) -> Expression:
        _, *more = self.need_normal(node)
        number = self.natural_number(node, values)
        total: Expression = algebra.ZERO
        highest = 0
        for leaf in self.leaves_of_density(node, values):
            names = self.scope.space * leaf.order if isinstance(leaf, Laplacian) else (
                leaf.coordinates
            )
            across = [name for name in names if name in self.scope.space]
            highest = max(highest, len(across))
            if len(across) > 1 and more:
                raise node.error(
                    f"natural is for an energy with first derivatives in space; with {leaf} a free "
                    "boundary has two conditions, which depend on how it is curved: write them out"
                )
            if len(across) <= number:
                continue
            term = self.calculus.partial(node, values[0], leaf)
            others = [name for name in names if name not in self.scope.space]
            steps = [*across[number + 1 :], *others]
            for coordinate in steps:
                term = self.calculus.derivative(node, term, coordinate)
            for _ in range(number + 1):
                normal = Column(normal_name(across[0]), **algebra.origin(node))
                term = algebra.multiply(normal, term, node)
            join = algebra.subtract if len(steps) % 2 else algebra.add
            total = join(total, term, node)
        if highest <= number:
            raise node.error(
                f"natural: this energy has derivatives of order {highest} in space, so a free "
                f"boundary has {highest or 'no'} condition{'s' * (highest > 1)}"
            )
        return self.within_inputs(node, values[1], total)

    def within_inputs(self, node: Call, unknown: Derivative, found: Expression) -> Expression:
        """Return what has to be 0 for an unknown, which may depend on no more than that does.

        Of what depends on more it is the integral over the rest that has to be.
        """
        known = set(self.scope.inputs_of(unknown.unknown))
        for part in nodes(found):
            seen = (part.name,) if isinstance(part, Coordinate) else (
                self.scope.inputs_of(part.unknown) if isinstance(part, Derivative | Laplacian)
                else ()
            )  # fmt: skip
            if not known.issuperset(seen):
                raise node.error(
                    f"{unknown} depends on {', '.join(sorted(known))} alone, and {part} on more: "
                    "what has to be 0 is an integral over the rest, which this is not; let "
                    f"{unknown} depend on all, or write the integral out"
                )
        return found

    def natural_number(self, node: Call, values: list[_Value]) -> int:
        """Return which natural condition is meant: 0, or the number that is given."""
        number = algebra.literal(values[2]) if len(values) > 2 else 0.0
        if number not in range(MAX_ORDER):
            raise node.arguments[2].error(
                "natural takes an energy density, an unknown, and 1, 2, ... for what belongs to "
                "the first, second, ... derivative along the normal; got "
                f"{abridge(str(node.arguments[2]))}"
            )
        return int(number)

    def leaves_of_density(
        self, node: Call, values: list[_Value]
    ) -> list[Derivative | Laplacian]:
        """Return an unknown and its derivatives in what is integrated, in order of appearance."""
        density, unknown = self.scalar(node, values[0], 0), values[1]
        if not isinstance(unknown, Derivative) or unknown.order:
            raise node.arguments[1].error(
                f"{node.function} takes an energy density, then one of the unknowns "
                f"{', '.join(self.scope.unknowns)}; got {abridge(str(node.arguments[1]))}"
            )
        found = [
            leaf for leaf in nodes(density)
            if isinstance(leaf, Derivative | Laplacian) and leaf.unknown == unknown.unknown
        ]  # fmt: skip
        if not found:
            held = next((p for p in nodes(density) if isinstance(p, Supplied | Integral)), None)
            hint = {
                Supplied: "; compute it with s alone (s.sin for autograd.sin), or give text",
                Integral: " at a point; give what is integrated, without the integral",
            }.get(type(held), "")  # fmt: skip
            raise node.error(
                f"{node.function}: what is given does not depend on {unknown.unknown!r}{hint}"
            )
        return list(dict.fromkeys(found))

    def at(self, node: Call, values: list[_Value]) -> _Value:
        operand, *replacements = values
        replaced: dict[str, Expression] = {}
        for index, (keyword, value) in enumerate(zip(node.keywords, replacements, strict=True)):
            if keyword.name not in self.scope.coordinate_number:
                near = suggest(keyword.name, self.scope.coordinates, "coordinates")
                raise keyword.error(f"{abridge(keyword.name)!r} is not a coordinate{near}")
            replaced[keyword.name] = self.scalar(node, value, index + 1)
        if isinstance(operand, Vector):
            return Vector(self.calculus.elsewhere(node, part, replaced) for part in operand)
        return self.calculus.elsewhere(node, operand, replaced)

    def integral(self, node: Call, values: list[_Value]) -> _Value:
        integrand, variable = values[:2]
        lower, upper = (self.scalar(node, values[i], i) for i in (2, 3))
        count = self.many(self.named(node, values), "nodes", DEFAULT_NODES)
        if isinstance(integrand, Vector):
            return Vector(
                self.integral(node, [part, *values[1:]]) for part in integrand
            )
        if isinstance(variable, Coordinate):
            free = Variable(f"{variable.name} of the integral", **algebra.origin(node))
            integrand = self.calculus.elsewhere(node, integrand, {variable.name: free})
            variable = free
        elif not isinstance(variable, Variable):
            what = node.arguments[1]
            raise what.error(
                "an integral is over a coordinate or a name of its own, which means nothing else "
                f"here; got {abridge(str(what))}"
            )
        self.calculus.visit(node, len(nodes(integrand)))
        return integral_over(variable, integrand, lower, upper, count)

    def fractional_laplacian(self, node: Call, values: list[_Value]) -> Expression:
        self.need_space(node)
        operand, alpha = self.scalar(node, values[0], 0), self.order(node, values, 1)
        space = self.scope.space
        if len(space) > 3:
            raise node.error(
                f"fractional_laplacian is for one to three coordinates; there are {len(space)}"
            )
        named = self.named(node, values)

        def elsewhere(replaced: dict[str, Expression]) -> Expression:
            return self.calculus.elsewhere(node, operand, replaced)

        found = None
        if "steps" not in named:
            found = chords.power_along_chords(
                operand, alpha, space, self.region(node),
                self.many(named, "nodes", chords.DEFAULT_NODES),
                self.many(named, "directions", chords.DEFAULT_DIRECTIONS[len(space)]), elsewhere,
            )
        if found is not None:
            return found
        self.need_steps(node, named)
        return power_of_laplacian(
            operand, alpha, space, self.region(node), self.many(named, "steps", DEFAULT_STEPS),
            self.many(named, "directions", DEFAULT_DIRECTIONS[len(space)]), elsewhere,
        )

    def riemann_liouville(self, node: Call, values: list[_Value]) -> Expression:
        operand, coordinate = self.scalar(node, values[0], 0), values[1]
        alpha = self.order(node, values, 2)
        if not isinstance(coordinate, Coordinate) or coordinate.name not in self.scope.space:
            raise node.arguments[1].error(
                f"expected one of the space coordinates {', '.join(self.scope.space) or 'none'}, "
                f"got {abridge(str(node.arguments[1]))}"
            )
        named = self.named(node, values)

        def elsewhere(replaced: dict[str, Expression]) -> Expression:
            return self.calculus.elsewhere(node, operand, replaced)

        found = None
        if "steps" not in named:
            found = chords.riemann_liouville_along_chords(
                operand, alpha, coordinate.name, self.scope.space, self.region(node),
                self.many(named, "nodes", chords.DEFAULT_NODES), elsewhere,
            )
        if found is not None:
            return found
        self.need_steps(node, named)
        return riemann_liouville(
            operand, alpha, coordinate.name, self.scope.space, self.region(node),
            self.many(named, "steps", DEFAULT_STEPS), elsewhere,
        )

    def need_steps(self, node: Call, named: Mapping[str, int]) -> None:
        """Raise ExpressionError for nodes where there are no chords, or beside steps."""
        if "nodes" in named:
            also = "steps= is another way" if "steps" in named else (
                "nodes= lie on the chords of an interval, a disk or a ball, which this domain is "
                "not"
            )
            raise node.error(f"{node.function}: {also}; leave out nodes")

    def region(self, node: Call) -> Region:
        """Return what is known of the domain in space, for a sum that ends at its boundary."""
        if self.scope.region is None:
            raise node.error(f"{node.function} needs a domain, and none is known here")
        return self.scope.region

    def order(self, node: Call, values: list[_Value], index: int) -> Expression:
        """Return the order of a fractional derivative; ExpressionError unless it is in (0, 2]."""
        alpha = self.scalar(node, values[index], index)
        number = algebra.literal(alpha)
        if isinstance(alpha, Constant):
            number = self.scope.constants[alpha.name]
        if number is not None and not 0 < number <= 2:
            raise node.arguments[index].error(
                f"the order of {node.function} is above 0 and at most 2, got {number:g}"
            )
        return alpha

    def named(self, node: Call, values: list[_Value]) -> dict[str, int]:
        """Return the whole numbers that are given by name."""
        first = len(node.arguments) - len(node.keywords)
        most = {"nodes": MOST_NODES, "steps": MOST_STEPS, "directions": MOST_DIRECTIONS}
        return {
            keyword.name: self.whole(
                node.arguments[i], values[i], f"the number of {keyword.name}", most[keyword.name]
            )
            for i, keyword in enumerate(node.keywords, first)
        }

    def many(self, named: Mapping[str, int], name: str, default: int) -> int:
        """Return how many nodes, steps or directions a sum has: half as many again in finer ones.

        Not twice as many: every other step would be one of those that training sees.
        """
        count = named.get(name, default)
        return count + -(-count // 2) if self.scope.finer else count

    def whole(self, argument: Expression, value: _Value, what: str, most: int) -> int:
        """Return a whole number that is written as one."""
        number = algebra.literal(value) if isinstance(value, Expression) else None
        if number is None or number != math.floor(number) or not 1 <= number <= most:
            raise argument.error(
                f"{what} is a whole number from 1 to {most}, got {abridge(str(argument))}"
            )
        return int(number)

    def vec(self, node: Call, values: list[_Value]) -> Vector:
        return Vector(self.scalar(node, value, i) for i, value in enumerate(values))

    def vector_arithmetic(self, node: Expression, values: list[_Value]) -> Vector:
        """Sums of vectors, and products and quotients of a vector with a scalar."""
        if isinstance(node, Unary):
            return Vector(node.with_children([component]) for component in values[0])
        if isinstance(node, Binary):
            left, right = values
            both = isinstance(left, Vector) and isinstance(right, Vector)
            if both and node.operator in ("+", "-") and len(left) == len(right):
                pairs = list(zip(left, right, strict=True))
            elif not both and node.operator == "*" and isinstance(right, Vector):
                pairs = [(left, component) for component in right]
            elif not both and node.operator in ("*", "/") and isinstance(left, Vector):
                pairs = [(component, right) for component in left]
            else:
                shapes = " and ".join(
                    f"a vector of {len(value)}" if isinstance(value, Vector) else "a scalar"
                    for value in values
                )
                raise node.error(
                    f"'{node.operator}' has no meaning between {shapes}; use dot(a, b) for a "
                    "product of vectors"
                )
            return Vector(node.with_children(pair) for pair in pairs)
        raise node.error(f"{node.label[0]} takes scalars, got a vector; use dot(...) or div(...)")

    # Checks

    def scalar(self, node: Call, value: _Value, index: int) -> Expression:
        if isinstance(value, Vector):
            raise node.arguments[index].error(
                f"{node.function} takes a scalar here, got a vector of {len(value)} components"
            )
        return value

    def vector(self, node: Call, value: _Value, index: int) -> Vector:
        if not isinstance(value, Vector):
            raise node.arguments[index].error(
                f"{node.function} takes a vector here, such as grad(u) or vec(u, v); got a scalar"
            )
        return value

    def sees_space(self, leaf: Derivative) -> bool:
        return set(self.scope.space) <= set(self.scope.inputs_of(leaf.unknown))

    def need_normal(self, node: Call) -> list[str]:
        """Return the names of the outward normal's components."""
        self.need_space(node)
        names = [normal_name(coordinate) for coordinate in self.scope.space]
        if not set(names) <= set(self.scope.columns):
            raise node.error(
                f"{node.function} needs the outward normal, {' and '.join(names)}, which only the "
                "points of a boundary have; take the slopes themselves, such as "
                f"{' and '.join(f'{self.scope.unknowns[0]}_{c}' for c in self.scope.space)}"
            )
        return names

    def need_space(self, node: Call) -> None:
        if not self.scope.space:
            raise node.error(f"{node.function} needs a space coordinate; the domain has none")
