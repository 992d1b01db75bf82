"""The numbers of a problem, given as numbers or as texts of numbers and of each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Any

from pinn import expressions
from pinn.schema.errors import Mistakes, Path, refuse_kind
from pinn.schema.kinds import Kind, Number, Text, refuse_node
from pinn.schema.reader import Reader
from pinn.schema.tree import Node, Scalar


@dataclass(frozen=True)
class ConstantKind(Kind):
    """A finite number, or a text such as 0.01/pi, which may name other constants."""

    what = "a number such as 1e-3 or 0.01/pi"

    def check(self, value: Any) -> float | str:
        if isinstance(value, str):
            return Text(self.what).check(value)
        try:
            return Number().check(value)
        except TypeError:
            refuse_kind("a number or text such as '0.01/pi'", value)

    def read(self, node: Node, path: Path, reader: Reader) -> Any:
        if not isinstance(node, Scalar) or node.is_null:
            return refuse_node(self, node, path, reader)
        return Text(self.what).read(node, path, reader)


def computed_from(given: Mapping[str, float | str]) -> dict[str, set[str]]:
    """Return the other constants that a text has, for each constant that has some."""
    found = {
        name: {node.name for node in expressions.nodes(expressions.parse(text))
               if isinstance(node, expressions.Name) and node.name in given}
        for name, text in given.items() if isinstance(text, str)
    }  # fmt: skip
    return {name: others for name, others in found.items() if others}


def evaluate_constants(given: Mapping[str, float | str]) -> dict[str, float]:
    """Return the constants as numbers, in the order given.

    A text may use other constants, in any order. Raises DeclarationError, at the name of the
    constant, for a text that is no number, a name that is not there and constants that need each
    other.
    """
    mistakes = Mistakes()
    trees: dict[str, expressions.Expression] = {}
    needs: dict[str, list[str]] = {}
    for name, value in given.items():
        if not isinstance(value, str):
            continue
        with mistakes.under(name):
            trees[name] = expressions.parse(value)
            nodes = expressions.nodes(trees[name])
            named = [node.name for node in nodes if isinstance(node, expressions.Name)]
            needs[name] = [other for other in named if other in given]
    mistakes.end()
    try:
        order = list(TopologicalSorter(needs).static_order())
    except CycleError as error:
        circle = error.args[1]
        names = " and ".join(sorted(set(circle)))
        mistakes.add(f"the constants {names} need each other", circle[0])
        mistakes.end()
    known = {name: value for name, value in given.items() if name not in trees}
    for name in order:
        if name in trees and all(other in known for other in needs[name]):
            with mistakes.under(name):
                known[name] = float(expressions.evaluate(trees[name], known))
    mistakes.end()
    return {name: known[name] for name in given}
