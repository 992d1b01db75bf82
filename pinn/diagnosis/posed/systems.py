"""Equations that share unknowns, with the conditions on them: what is counted and told together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pinn.diagnosis.posed.linear import Leaf
from pinn.diagnosis.posed.statement import Stated, Statement
from pinn.equations.leaves import parts_of


@dataclass(frozen=True)
class System:
    """Equations that share unknowns, and the conditions on them."""

    equations: tuple[Stated, ...]
    conditions: tuple[Stated, ...]
    unknowns: tuple[str, ...]

    @property
    def named(self) -> str:
        """The equations in words: "equation 'heat'", "equations 'a', 'b'"."""
        names = ", ".join(repr(one.name) for one in self.equations)
        return f"equation{'s' * (len(self.equations) > 1)} {names}"

    @property
    def takes(self) -> str:
        """The same with a verb: "equation 'heat' takes"."""
        return f"{self.named} take{'s' * (len(self.equations) == 1)}"


def systems_of(statement: Statement) -> Iterator[System]:
    """Yield equations with the unknowns that they share; conditions on unknowns of both join two.

    Such a condition, as that between two media, is one of all of them together.
    """
    groups: list[tuple[set[str], list[Stated]]] = []
    equations = [(one, [one]) for one in statement.equations]
    for stated, equation in [*equations, *((one, []) for one in statement.conditions)]:
        unknowns = {leaf.unknown for leaf in of_unknowns(statement, stated)}
        joined = [group for group in groups if group[0] & unknowns]
        groups = [group for group in groups if group not in joined]
        members = [member for group in joined for member in group[1]]
        groups.append((unknowns.union(*(group[0] for group in joined)), [*members, *equation]))
    for unknowns, members in groups:
        if not members:
            continue
        conditions = tuple(
            condition
            for condition in statement.conditions
            # One that cannot be read may say anything of anyone.
            if condition.linear is None or unknowns & {leaf.unknown for leaf in condition.leaves}
        )
        names = tuple(name for name in statement.problem.unknowns if name in unknowns)
        yield System(tuple(members), conditions, names)


def of_unknowns(statement: Statement, equation: Stated) -> list[Leaf]:
    """Return the leaves that are no fields: of a coefficient nothing is asked for."""
    return [leaf for leaf in equation.leaves if leaf.unknown in statement.problem.unknowns]


def order_in(statement: Statement, leaf: Leaf, coordinate: str) -> int:
    """Return how many times at most a leaf is differentiated by a coordinate."""
    parts = parts_of(leaf, statement.problem.domain.space)
    return max(names.count(coordinate) for names, _ in parts)
