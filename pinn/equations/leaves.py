"""The typed leaves of an equation: coordinates, coefficients, unknowns and their derivatives."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from pinn.expressions import (
    RESERVED,
    Expression,
    nodes,
)

MAX_ORDER = 16


_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


@dataclass(frozen=True, eq=False, repr=False)
class Coordinate(Expression):
    """A coordinate of the domain, such as x or t."""

    name: str

    @property
    def label(self) -> tuple[str]:
        return (self.name,)


@dataclass(frozen=True, eq=False, repr=False)
class Constant(Expression):
    """A declared constant of the problem, such as nu."""

    name: str

    @property
    def label(self) -> tuple[str]:
        return (self.name,)


@dataclass(frozen=True, eq=False, repr=False)
class ParameterRef(Expression):
    """A trainable coefficient of an inverse problem."""

    name: str

    @property
    def label(self) -> tuple[str]:
        return (self.name,)


@dataclass(frozen=True, eq=False, repr=False)
class Column(Expression):
    """A number attached to each point, such as normal_x."""

    name: str

    @property
    def label(self) -> tuple[str]:
        return (self.name,)


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
    def label(self) -> tuple[str, int]:
        return (self.unknown, self.times)

    def text(self) -> str:
        return "laplacian(" * self.times + self.unknown + ")" * self.times


def parse_name(
    name: str, unknowns: Sequence[str], coordinates: Sequence[str]
) -> Derivative | None:
    """Read a name such as ``u``, ``u_xx`` or ``u_tx`` as an unknown or a derivative of one.

    The letters after the last underscore are one-letter coordinates, in any order; the result has
    them in the order of `coordinates`. Returns None for any other name; derivatives in coordinates
    with longer names are written ``diff(u, x1)``.
    """
    if name in unknowns:
        return Derivative(name)
    base, _, suffix = name.rpartition("_")
    if base not in unknowns or not 0 < len(suffix) <= MAX_ORDER:
        return None
    if any(letter not in coordinates for letter in suffix):
        return None
    return Derivative(base, in_domain_order(suffix, coordinates))


def in_domain_order(names: Iterable[str], coordinates: Sequence[str]) -> tuple[str, ...]:
    return tuple(sorted(names, key=list(coordinates).index))


def check_names(
    *,
    unknowns: Sequence[str],
    coordinates: Sequence[str],
    constants: Iterable[str] = (),
    parameters: Iterable[str] = (),
    columns: Iterable[str] = (),
) -> None:
    """Check that every declared name can be written in an equation and means one thing.

    Raises:
        ValueError: a name that is not a letter followed by letters, digits and underscores, is
            taken by the language (``pi``, ``sin``, ``diff`` ...), is declared twice, or reads as
            the derivative of an unknown.
    """
    kinds: dict[str, str] = {}
    groups = {
        "an unknown": unknowns,
        "a coordinate": coordinates,
        "a constant": constants,
        "a parameter": parameters,
        "a column of the points": columns,
    }
    for kind, names in groups.items():
        for name in names:
            if not isinstance(name, str) or not _NAME.fullmatch(name):
                raise ValueError(
                    f"the name of {kind} is a letter followed by letters, digits and "
                    f"underscores, got {name!r}"
                )
            if name in RESERVED:
                raise ValueError(
                    f"{name!r} cannot name {kind}: it is a word of the expression language; "
                    "choose another name"
                )
            if name in kinds:
                raise ValueError(
                    f"{name!r} is declared as {kinds[name]} and again as {kind}; rename one"
                )
            kinds[name] = kind
    for name, kind in kinds.items():
        others = [unknown for unknown in unknowns if unknown != name]
        reading = parse_name(name, others, coordinates)
        if reading is not None:
            raise ValueError(
                f"{name!r} cannot name {kind}: it reads as a derivative of the unknown "
                f"{reading.unknown!r}; rename it"
            )


def derivatives_in(resolved: Expression) -> tuple[Derivative | Laplacian, ...]:
    """Return the distinct `Derivative` and `Laplacian` leaves in order of first appearance."""
    return tuple(node for node in nodes(resolved) if isinstance(node, Derivative | Laplacian))
