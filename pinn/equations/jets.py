"""The unknowns of a model and their derivatives at a set of points, by one Taylor-mode sweep."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import autograd as T
from autograd.jets import Channels, Sum, choose_channels, read, sweep
from pinn.equations.leaves import At, Combination, Derivative, Laplacian, Location, UnknownLeaf
from pinn.equations.outputs import place
from pinn.equations.scope import Scope
from pinn.equations.values import ModelValues


class JetPlan:
    """The channels of a sweep that give a set of leaves, and where each leaf is read.

    leaves: what is asked for. Each location elsewhere has a sweep, and so a plan, of its own.
    Printing a plan shows its channels.
    """

    def __init__(self, leaves: Iterable[UnknownLeaf], scope: Scope) -> None:
        self._scope = scope
        self.leaves = tuple(dict.fromkeys(leaves))
        here = [leaf for leaf in self.leaves if not isinstance(leaf, At)]
        keys = [self.channel(leaf)[0] for leaf in here]
        self.channels: Channels = choose_channels(
            [key for key in keys if isinstance(key, tuple)],
            [key for key in keys if isinstance(key, Sum)],
        )
        elsewhere: dict[Location, list[UnknownLeaf]] = {}
        for leaf in self.leaves:
            if isinstance(leaf, At):
                elsewhere.setdefault(leaf.location, []).append(leaf.leaf)
        self._elsewhere = {place: JetPlan(asked, scope) for place, asked in elsewhere.items()}

    def channel(
        self, leaf: Derivative | Laplacian | Combination
    ) -> tuple[tuple[int, ...] | Sum, float]:
        """Return the channel that a leaf is read from, and the factor it is read with.

        A channel is a multi-index, or a sum of them whose last weight, that of the highest order,
        is 1: the factor of each layer's largest term is then none.
        """
        if isinstance(leaf, Derivative):
            return self._index(leaf.coordinates), 1.0
        terms = list(leaf.terms(self._scope.space))
        factor = terms[-1][1]
        return Sum(tuple((self._index(names), weight / factor) for names, weight in terms)), factor

    def at(self, location: Location) -> JetPlan:
        """Return the plan of what is asked for elsewhere."""
        return self._elsewhere.get(location) or JetPlan((), self._scope)

    def _index(self, names: Iterable[str]) -> tuple[int, ...]:
        return tuple(sorted(self._scope.coordinate_number[name] for name in names))

    def __str__(self) -> str:
        names = self._scope.coordinates

        def text(index: tuple[int, ...]) -> str:
            return "d" + "".join(names[k] for k in index)

        lines = [f"{self.channels.count} channels, order {self.channels.order}: value"]
        lines += [f"  {text(index)}" for index in self.channels.singles]
        for total in self.channels.sums:
            lines.append("  " + " + ".join(f"{w:g} {text(i)}" for i, w in total.terms))
        for location, plan in self._elsewhere.items():
            where = ", ".join(f"{name} = {replacement}" for name, replacement in location)
            lines.append(f"at {where}: " + str(plan).replace("\n", "\n  "))
        lines.append("for " + ", ".join(str(leaf) for leaf in self.leaves))
        return "\n".join(lines)


class JetValues(ModelValues):
    """Values at n points whose derivatives all come from one forward sweep, at the first use.

    plan: a JetPlan. Raises autograd.jets.NoTaylorRule for a model with an operation that has no
    Taylor rule, and KeyError for a derivative that was not planned.
    """

    def __init__(
        self,
        module: T.nn.Module,
        scope: Scope,
        columns: Sequence[T.Tensor],
        coefficients: Mapping[str, T.Tensor],
        plan: JetPlan,
        attached: Mapping[str, T.Tensor] | None = None,
    ) -> None:
        super().__init__(module, scope, columns, coefficients, plan, attached)
        self._found: list[dict[Any, T.Tensor]] = []

    def unknown(self, leaf: Derivative | Laplacian | Combination) -> T.Tensor:
        """Return a planned unknown, derivative or combination."""
        channel, factor = self._plan.channel(leaf)
        if not self._plan.channels.give(channel):
            raise KeyError(
                f"{leaf} was not planned: a function has to ask for the same names at each call"
            )
        if not self._found:
            columns = list(self._columns.values())
            self._found = sweep(
                lambda *columns: self._run_model(columns), columns, self._plan.channels
            )
        pieces = [found[()] for found in self._found]
        piece, number = place(pieces, self._scope.unknown_number[leaf.unknown])
        values = read(self._found[piece], channel, pieces[piece])
        value = values.reshape(-1) if values.shape[1] == 1 else values[:, number]
        return value if factor == 1 else value * factor
