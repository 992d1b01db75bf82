"""The unknowns of a model and their derivatives at a set of points, by one Taylor-mode sweep."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import autograd as T
from autograd.jets import Channels, Sum, choose_channels, read, sweep
from pinn.equations.combine import Combination, laplacian_terms
from pinn.equations.leaves import Derivative, Laplacian
from pinn.equations.model_values import run_model
from pinn.equations.scope import Scope
from pinn.equations.values import Values

Leaf = Derivative | Laplacian | Combination


class JetPlan:
    """The channels of a sweep that give a set of leaves, and where each leaf is read.

    leaves: the derivatives that are asked for. Printing a plan shows its channels.
    """

    def __init__(self, leaves: Iterable[Leaf], scope: Scope) -> None:
        self._number = {name: k for k, name in enumerate(scope.coordinates)}
        self._space = scope.space
        self.leaves = tuple(dict.fromkeys(leaves))
        keys = [self.channel(leaf)[0] for leaf in self.leaves]
        self.channels: Channels = choose_channels(
            [key for key in keys if isinstance(key, tuple)],
            [key for key in keys if isinstance(key, Sum)],
        )

    def channel(self, leaf: Leaf) -> tuple[tuple[int, ...] | Sum, float]:
        """Return the channel that a leaf is read from, and the factor it is read with.

        A channel is a multi-index, or a sum of them whose last weight, that of the highest order,
        is 1: the factor of each layer's largest term is then none.
        """
        if isinstance(leaf, Derivative):
            return self._index(leaf.coordinates), 1.0
        terms = leaf.terms if isinstance(leaf, Combination) else laplacian_terms(leaf, self._space)
        factor = terms[-1][1]
        return Sum(tuple((self._index(names), weight / factor) for names, weight in terms)), factor

    def _index(self, names: Iterable[str]) -> tuple[int, ...]:
        return tuple(sorted(self._number[name] for name in names))

    def __str__(self) -> str:
        names = list(self._number)

        def text(index: tuple[int, ...]) -> str:
            return "d" + "".join(names[k] for k in index)

        lines = [f"{self.channels.count} channels, order {self.channels.order}: value"]
        lines += [f"  {text(index)}" for index in self.channels.singles]
        for total in self.channels.sums:
            lines.append("  " + " + ".join(f"{w:g} {text(i)}" for i, w in total.terms))
        lines.append("for " + ", ".join(str(leaf) for leaf in self.leaves))
        return "\n".join(lines)


class JetField(Values):
    """Values at n points whose derivatives all come from one forward sweep, at the first use.

    Raises autograd.jets.NoTaylorRule for a model with an operation that has no Taylor rule, and
    KeyError for a derivative that was not planned.
    """

    derivative_leaves = (Derivative, Laplacian, Combination)

    def __init__(
        self,
        module: T.nn.Module,
        scope: Scope,
        columns: list[T.Tensor],
        coefficients: Mapping[str, T.Tensor],
        plan: JetPlan,
        attached: Mapping[str, T.Tensor] | None = None,
    ) -> None:
        super().__init__(module, scope, columns, coefficients, attached)
        self._plan = plan
        self._found: dict[Any, T.Tensor] | None = None

    def derivative(self, leaf: Leaf) -> T.Tensor:
        """Return a planned unknown, derivative or combination."""
        channel, factor = self._plan.channel(leaf)
        if not self._plan.channels.give(channel):
            raise KeyError(
                f"{leaf} was not planned: a function has to ask for the same names at each call"
            )
        if self._found is None:
            self._found = self._sweep()
        value = self._column(read(self._found, channel, self._found[()]), leaf.unknown)
        return value if factor == 1 else value * factor

    def _column(self, values: T.Tensor, unknown: str) -> T.Tensor:
        if len(self._scope.unknowns) == 1:
            return values.reshape(-1)
        return values[:, self._scope.unknowns.index(unknown)]

    def _sweep(self) -> dict[Any, T.Tensor]:
        def model(*columns: T.Tensor) -> T.Tensor:
            return run_model(self._module, columns)

        (found,) = sweep(model, list(self._columns.values()), self._plan.channels)
        expected = (self.n, len(self._scope.unknowns))
        if tuple(found[()].shape) != expected:
            raise ValueError(
                f"the model maps {self.n} points to shape {tuple(found[()].shape)}; expected "
                f"{expected}, a column for each of {', '.join(self._scope.unknowns)}"
            )
        return found
