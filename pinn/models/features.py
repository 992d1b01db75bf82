"""Functions of the coordinates that a network is given, as texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import autograd as T
from pinn.equations.functions import TENSOR_FUNCTIONS
from pinn.equations.leaves import Constant, Coordinate
from pinn.equations.resolve import evaluate_resolved
from pinn.equations.scope import Scope
from pinn.equations.values import Values
from pinn.expressions import Expression, Number, Unary, fold, nodes
from pinn.geometry import Shape
from pinn.models.spaced import as_given
from pinn.schema.errors import at


class Features:
    """Trees of coordinates as a function of columns (n, 1), a column for each tree.

    A coordinate alone is scaled from its bounds to [-1, 1], another tree is taken as it is. The
    values of logarithmic families come in evened out (see Spaced).

    scaling: coordinate -> the factor and the shift that do so.
    """

    def __init__(self, domain: Shape, trees: Sequence[Expression]) -> None:
        self._trees = tuple(trees)
        self._logarithmic = [one for one in domain.families if one.spacing == "log"]
        self.scaling = {
            name: (2 / (high - low), -(high + low) / (high - low))
            for name, (low, high) in domain.bounds.items()
        }

    def __len__(self) -> int:
        return len(self._trees)

    def __call__(self, columns: Sequence[T.Tensor]) -> list[T.Tensor]:
        """Return them; what is made of x alone has no derivatives in t to carry."""
        shown = dict(zip(self.scaling, columns, strict=True))
        meant = dict(shown)
        for family in self._logarithmic:  # an expression means the values themselves
            meant[family.name] = as_given(family, shown[family.name])
        values = Values(meant, {})

        def feature(tree: Expression) -> T.Tensor:
            if not isinstance(tree, Coordinate):
                return evaluate_resolved(tree, values, TENSOR_FUNCTIONS)
            factor, shift = self.scaling[tree.name]
            return shown[tree.name] * factor + shift

        return [feature(tree) for tree in self._trees]


def resolved(domain: Shape, texts: Sequence[str], key: str) -> tuple[Expression, ...]:
    """Return the trees of texts in the coordinates.

    Raises DeclarationError, with the key and the number, for a text that means nothing.
    """
    return _resolved(domain, texts, {}, key)


def with_numbers(
    domain: Shape, texts: Sequence[str], constants: Mapping[str, float], key: str
) -> tuple[str, ...]:
    """Return the texts with the constants of a problem as numbers.

    Raises DeclarationError, with the key and the number, for a text that means nothing.
    """
    written = []
    for text, tree in zip(texts, _resolved(domain, texts, constants, key), strict=True):
        has_constants = any(isinstance(node, Constant) for node in nodes(tree))
        written.append(str(_with_numbers(tree, constants)) if has_constants else text)
    return tuple(written)


def _resolved(
    domain: Shape, texts: Sequence[str], constants: Mapping[str, float], key: str
) -> tuple[Expression, ...]:
    scope = Scope((), domain.coordinates, domain.space, constants)
    trees = []
    for number, text in enumerate(texts):
        with at(key, number):
            trees.append(scope.resolve(text))
    return tuple(trees)


def _with_numbers(tree: Expression, constants: Mapping[str, float]) -> Expression:
    def combine(node: Expression, children: list[Expression]) -> Expression:
        if not isinstance(node, Constant):
            return node.with_children(children)
        value = float(constants[node.name])
        return Number(value) if value >= 0 else Unary("-", Number(-value))

    return fold(tree, combine)
