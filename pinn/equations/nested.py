"""The unknowns of a model at a set of points, and their derivatives in the coordinates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import autograd as T
from pinn.equations.leaves import Derivative, Laplacian
from pinn.equations.model_values import run_model
from pinn.equations.scope import Scope
from pinn.equations.values import Values


class Plan:
    """Which derivatives a set of leaves takes, so that sweeps of reverse mode are shared.

    u_xx is the derivative of u_x, and one sweep from u_x gives all of its planned children: u_x and
    u_t come together, and u_x serves u_xx and u_xt.
    """

    def __init__(self, leaves: Iterable[Derivative | Laplacian], space: tuple[str, ...]) -> None:
        self._children: dict[Derivative, list[str]] = {}
        for leaf in leaves:
            if isinstance(leaf, Laplacian):
                for coordinate in space:
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


class Field(Values):
    """Values at n points, computed when they are asked for and kept; derivatives are nested.

    Derivatives are nested reverse mode, with a graph: they can be differentiated again, in the
    coordinates and in the parameters. The model must treat each point on its own (no batch
    statistics), else the sum trick behind them does not hold.

    columns: leaves that require grad. `asked` lists the leaves that were asked for, in order.
    """

    derivative_leaves = (Derivative, Laplacian)

    def __init__(
        self,
        module: T.nn.Module,
        scope: Scope,
        columns: list[T.Tensor],
        coefficients: Mapping[str, T.Tensor],
        plan: Plan,
        attached: Mapping[str, T.Tensor] | None = None,
    ) -> None:
        super().__init__(module, scope, columns, coefficients, attached)
        self.asked: dict[Derivative | Laplacian, None] = {}
        self._plan = plan
        self._known: dict[Derivative | Laplacian, T.Tensor] = {}

    def derivative(self, leaf: Derivative | Laplacian) -> T.Tensor:
        """Return an unknown or a derivative of one, and note that it was asked for."""
        self.asked[leaf] = None
        return self._value(leaf)

    def _value(self, leaf: Derivative | Laplacian) -> T.Tensor:
        if leaf not in self._known:
            if isinstance(leaf, Laplacian):
                self._known[leaf] = self._laplacian(leaf)
            elif not leaf.coordinates:
                self._run_module()
            else:
                *before, last = leaf.coordinates
                parent = Derivative(leaf.unknown, tuple(before))
                names = self._plan.children(parent, last)
                for name, value in zip(
                    names, self._gradients(self._value(parent), names), strict=True
                ):
                    child = Derivative(leaf.unknown, (*before, name))
                    self._known.setdefault(child, value)
        return self._known[leaf]

    def _run_module(self) -> None:
        outputs = run_model(self._module, list(self._columns.values()))
        expected = (self.n, len(self._scope.unknowns))
        if tuple(outputs.shape) != expected:
            raise ValueError(
                f"the model maps {(self.n, len(self._columns))} points to shape "
                f"{tuple(outputs.shape)}; expected {expected}, a column for each of "
                f"{', '.join(self._scope.unknowns)}"
            )
        for j, unknown in enumerate(self._scope.unknowns):
            self._known[Derivative(unknown, ())] = outputs[:, j]

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
            seconds = [self._value(Derivative(leaf.unknown, (name, name))) for name in space]
        else:
            inner = self._value(Laplacian(leaf.unknown, leaf.times - 1))
            firsts = self._gradients(inner, space)
            seconds = [
                self._gradients(first, [name])[0]
                for name, first in zip(space, firsts, strict=True)
            ]
        total = seconds[0]
        for second in seconds[1:]:
            total = total + second
        return total
