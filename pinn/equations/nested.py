"""The unknowns of a model at a set of points, and their derivatives by nested reverse mode."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import autograd as T
from pinn.equations.leaves import At, Derivative, Laplacian, Location, UnknownLeaf
from pinn.equations.outputs import place
from pinn.equations.scope import Scope
from pinn.equations.values import ModelValues


class NestedPlan:
    """Which derivatives a set of leaves takes, so that sweeps of reverse mode are shared.

    u_xx is the derivative of u_x, and one sweep from u_x gives all of its planned children: u_x and
    u_t come together, and u_x serves u_xx and u_xt.
    """

    def __init__(self, leaves: Iterable[UnknownLeaf], scope: Scope) -> None:
        self._scope = scope
        self._children: dict[Derivative, list[str]] = {}
        self._elsewhere: dict[Location, list[UnknownLeaf]] = {}
        for leaf in leaves:
            if isinstance(leaf, At):
                self._elsewhere.setdefault(leaf.location, []).append(leaf.leaf)
            elif isinstance(leaf, Laplacian):
                for coordinate in scope.space:
                    self._add(leaf.unknown, (coordinate, coordinate))
            else:
                self._add(leaf.unknown, leaf.coordinates)

    def _add(self, unknown: str, coordinates: tuple[str, ...]) -> None:
        for order, coordinate in enumerate(coordinates):
            children = self._children.setdefault(Derivative(unknown, coordinates[:order]), [])
            if coordinate not in children:
                children.append(coordinate)

    def children(self, parent: Derivative, coordinate: str) -> list[str]:
        """Return the coordinates to differentiate `parent` in, at one go, when one is needed."""
        planned = self._children.get(parent, [])
        return planned if coordinate in planned else [coordinate]

    def at(self, location: Location) -> NestedPlan:
        """Return the plan of what is asked for elsewhere."""
        return NestedPlan(self._elsewhere.get(location, ()), self._scope)


class NestedValues(ModelValues):
    """Values at n points, computed when they are asked for and kept; derivatives are nested.

    Derivatives are nested reverse mode, with a graph: they can be differentiated again, in the
    coordinates and in the parameters. The model must treat each point on its own (no batch
    statistics), else the sum trick behind them does not hold.

    columns: tensors that require grad. plan: a NestedPlan; what it does not have is computed too.
    """

    def __init__(
        self,
        module: T.nn.Module,
        scope: Scope,
        columns: Sequence[T.Tensor],
        coefficients: Mapping[str, T.Tensor],
        plan: NestedPlan,
        attached: Mapping[str, T.Tensor] | None = None,
    ) -> None:
        super().__init__(module, scope, columns, coefficients, plan, attached)
        self._pieces: tuple[T.Tensor, ...] = ()
        self._known: dict[Derivative | Laplacian, T.Tensor] = {}

    def unknown(self, leaf: Derivative | Laplacian) -> T.Tensor:
        """Return an unknown or a derivative of one."""
        if leaf not in self._known:
            if isinstance(leaf, Laplacian):
                self._known[leaf] = self._laplacian(leaf)
            elif not leaf.coordinates:
                self._pieces = self._pieces or self._run_model(list(self._columns.values()))
                piece, number = place(self._pieces, self._scope.unknown_number[leaf.unknown])
                self._known[leaf] = self._pieces[piece][:, number]
            else:
                *before, last = leaf.coordinates
                parent = Derivative(leaf.unknown, tuple(before))
                names = self._plan.children(parent, last)
                for name, value in zip(
                    names, self._gradients(self.unknown(parent), names), strict=True
                ):
                    child = Derivative(leaf.unknown, (*before, name))
                    self._known.setdefault(child, value)
        return self._known[leaf]

    def _gradients(self, value: T.Tensor, names: Iterable[str]) -> list[T.Tensor]:
        """Return the derivatives of a value (n,) in some coordinates, each (n,)."""
        columns = [self._columns[name] for name in names]
        if not value.requires_grad:
            return [T.zeros_like(value) for _ in columns]
        gradients = T.grad(
            value, columns, T.ones_like(value), create_graph=True, allow_unused=True
        )
        return [T.zeros_like(value) if g is None else g.reshape(-1) for g in gradients]

    def _laplacian(self, leaf: Laplacian) -> T.Tensor:
        space = self._scope.space
        if leaf.times == 1:
            seconds = [self.unknown(Derivative(leaf.unknown, (name, name))) for name in space]
        else:
            inner = self.unknown(Laplacian(leaf.unknown, leaf.times - 1))
            firsts = self._gradients(inner, space)
            seconds = [
                self._gradients(first, [name])[0]
                for name, first in zip(space, firsts, strict=True)
            ]
        total = seconds[0]
        for second in seconds[1:]:
            total = total + second
        return total
