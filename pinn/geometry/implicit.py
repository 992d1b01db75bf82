"""Functions that vanish on a boundary, as trees of the language: the algebra of R-functions.

A function is normalised where it vanishes with slope one along the normal. Two that are stay so in

    conjunction  a + b - sqrt(a^2 + b^2)     positive where both are
    disjunction  a + b + sqrt(a^2 + b^2)     positive where one is
    joined       a b / (a + b)               of positive ones: vanishes where one does

(Rvachev's R_0 and, for the last, R-equivalence of order one; Shapiro, Semi-analytic geometry with
R-functions, Acta Numerica 16, 2007; Sukumar and Srivastava, Comput. Methods Appl. Mech. Engrg. 389,
2022, equations 8 to 18). They are smooth but for the points where both vanish: corners.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce

from pinn.equations.leaves import Coordinate
from pinn.expressions import Expression, Number, fold
from pinn.expressions.algebra import (
    ONE,
    add,
    apply,
    divide,
    multiply,
    negate,
    number,
    subtract,
    where,
)

# Of the size of a shape: in a corner sums of lengths vanish, and this keeps 0/0 away. Its square
# is a float32 as well.
_LEAST = 1e-15
# How far, as a share of the size, a computed point of a part may lie on the wrong side of it.
_ROUNDING = 1e-9


def balanced(
    join: Callable[[Expression, Expression, float], Expression],
    functions: Sequence[Expression],
    size: float,
) -> Expression:
    """Return all functions joined, in pairs and pairs of pairs.

    One after the other would be written out as a text of 3^n pieces: each has its operands twice.
    """
    while len(functions) > 1:
        pairs = [functions[i : i + 2] for i in range(0, len(functions), 2)]
        functions = [join(*pair, size) if len(pair) == 2 else pair[0] for pair in pairs]
    return functions[0]


def conjunction(a: Expression, b: Expression, size: float) -> Expression:
    """Return what is positive where a and b are, zero on the boundary of that."""
    return subtract(add(a, b), _length(a, b, size))


def disjunction(a: Expression, b: Expression, size: float) -> Expression:
    """Return what is positive where a or b is, zero on the boundary of that."""
    return add(add(a, b), _length(a, b, size))


def joined(functions: Sequence[Expression], size: float) -> Expression:
    """Return what vanishes where one of some functions does, all of them not negative."""
    return balanced(_equivalence, functions, size)


def _equivalence(a: Expression, b: Expression, size: float) -> Expression:
    return divide(multiply(a, b), add(add(a, b), number(_LEAST * size)))


def unsigned(function: Expression, size: float) -> Expression:
    """Return the size of a function, with its slope where it vanishes, up to rounding."""
    return where(">", function, number(-_ROUNDING * size), function, negate(function))


def trimmed(carrier: Expression, inside: Expression, size: float) -> Expression:
    """Return what vanishes where the carrier does and `inside` is not negative, there only.

    carrier: normalised, positive on one side of where it vanishes; the result is so there, and
    positive everywhere else. With s = sqrt(t^2 + (f^2 / size)^2) it is

        sqrt(f^2 + ((s - t) / 2)^2) = |f| sqrt(1 + (f^3 / (2 size^2 (s + t)))^2)

    (Sukumar and Srivastava, equation 14), the second form where t > 0, for it has derivatives where
    f = 0 as well, the first where it has not. Each is given an argument that suits it.
    """
    within = where(">", inside, Number(0), inside, ONE)
    beyond = where(">", inside, Number(0), number(-1.0), inside)
    square = multiply(carrier, carrier)
    near = multiply(
        unsigned(carrier, size),
        apply("sqrt", add(ONE, _squared(_near_ratio(carrier, square, within, size)))),
    )
    gap = multiply(number(0.5), subtract(_root(beyond, square, size), beyond))
    least = number((_LEAST * size) ** 2)
    far = apply("sqrt", add(add(square, multiply(gap, gap)), least))
    return where(">", inside, Number(0), near, far)


def difference_of(bounds: tuple[float, float], coordinate: str) -> Expression:
    """Return (x - low)(high - x) / (high - low)."""
    low, high = bounds
    x = Coordinate(coordinate)
    both = multiply(subtract(x, number(low)), subtract(number(high), x))
    return divide(both, number(high - low))


def linear(slopes: Sequence[float], offset: float, names: Sequence[str]) -> Expression:
    """Return slopes . x + offset."""
    terms = [
        multiply(number(slope), Coordinate(name))
        for slope, name in zip(slopes, names, strict=True)
    ]
    return add(reduce(add, terms), number(offset))


def square_distance(center: Sequence[float], names: Sequence[str]) -> Expression:
    """Return |x - center|^2."""
    offsets = [
        subtract(Coordinate(name), number(value))
        for name, value in zip(names, center, strict=True)
    ]
    return reduce(add, [multiply(offset, offset) for offset in offsets])


def replaced(tree: Expression, coordinates: Mapping[str, Expression]) -> Expression:
    """Return a tree with its coordinates replaced by expressions."""

    def combine(node: Expression, children: list[Expression]) -> Expression:
        if isinstance(node, Coordinate):
            return coordinates.get(node.name, node)
        return node.with_children(children)

    return fold(tree, combine)


def _length(a: Expression, b: Expression, size: float) -> Expression:
    least = number((_LEAST * size) ** 2)
    return apply("sqrt", add(add(multiply(a, a), multiply(b, b)), least))


def _squared(a: Expression) -> Expression:
    return multiply(a, a)


def _root(t: Expression, square: Expression, size: float) -> Expression:
    return _length(t, divide(square, number(size)), size)


def _near_ratio(
    carrier: Expression, square: Expression, t: Expression, size: float
) -> Expression:
    cube = multiply(carrier, square)
    return divide(cube, multiply(number(2 * size**2), add(_root(t, square, size), t)))
