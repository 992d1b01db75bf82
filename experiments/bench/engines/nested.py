"""A training step as research code writes it: nested grad, each backward pass shared.

The same text for PyTorch and for our autograd, which has its functions under its names.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from experiments.bench.adam import BETA1, BETA2, EPSILON, LEARNING_RATE
from experiments.bench.engines import flat
from experiments.bench.leaves import derivative_tree, needed_leaves
from experiments.bench.workloads import Workload
from pinn.equations.leaves import Constant, Coordinate
from pinn.equations.resolve import evaluate_resolved

_NAMES = ("sin", "cos", "tan", "exp", "log", "sqrt", "tanh", "sinh", "cosh", "abs")


class NestedStep:
    """The step of a workload in a library, torch or autograd.

    recorded: makes of a function of the columns of points what is called in its place. device:
    where all tensors are.
    """

    def __init__(
        self,
        library: ModuleType,
        workload: Workload,
        seed: int,
        recorded: Callable[[Callable], Callable] = lambda loss: loss,
        device: str = "cpu",
    ) -> None:
        def tensor(array: np.ndarray) -> Any:
            return library.from_numpy(array).to(device)

        self._library, self._workload = library, workload
        self._functions = {name: getattr(library, name) for name in _NAMES}
        self._arrays = SimpleNamespace(
            linear=library.nn.functional.linear, tanh=library.tanh, sin=library.sin,
            cos=library.cos, join=lambda parts: library.cat(parts, dim=1),
        )  # fmt: skip
        self._given = {
            name: tensor(array.copy()).requires_grad_()
            for name, array in workload.parameters(seed).items()
        }
        self._parameters = list(self._given.values())
        self._given |= {n: tensor(a) for n, a in workload.frozen(seed).items()}
        self._columns = {
            name: tensor(np.ascontiguousarray(column[:, None])).requires_grad_()
            for name, column in zip(
                workload.coordinates, workload.draw_points(seed).T, strict=True
            )
        }
        self._wall = tensor(workload.draw_walls(seed)) if workload.walls else None
        self._trees = workload.trees()
        self._leaves = needed_leaves(self._trees)
        self._adam = library.optim.Adam(
            self._parameters, lr=LEARNING_RATE, betas=(BETA1, BETA2), eps=EPSILON, fused=True
        )
        self._loss = recorded(self._loss_of)

    def _loss_of(self, columns: list[Any]) -> Any:
        values = self._values(dict(zip(self._columns, columns, strict=True)))
        residuals = [evaluate_resolved(tree, values, self._functions) for tree in self._trees]
        inside = sum((r * r).mean() for r in residuals)
        return inside if self._wall is None else inside + self._at_wall()

    def _at_wall(self) -> Any:
        output = self._workload.network(self._given, self._wall, self._arrays)
        return (output * output).mean()

    def _values(self, columns: dict[str, Any]) -> dict[Any, Any]:
        points = self._library.cat(list(columns.values()), dim=1)
        output = self._workload.network(self._given, points, self._arrays)
        values: dict[Any, Any] = {
            **{Coordinate(name): column for name, column in columns.items()},
            **{Constant(name): value for name, value in self._workload.constants.items()},
        }
        space = self._workload.scope.space
        for k, unknown in enumerate(self._workload.unknowns):
            tree = derivative_tree(self._leaves, unknown, space)
            self._fill(tree, output[:, k : k + 1], values, columns)
        return values

    def _fill(
        self, tree: Any, value: Any, values: dict[Any, Any], columns: dict[str, Any]
    ) -> None:
        """Store the leaf of a tree's node and of all below it; one backward pass a node."""
        if tree.leaf is not None:
            values[tree.leaf] = value
        names = list(dict.fromkeys([*tree.children, *tree.laplacian_over]))
        if not names:
            return
        slopes = dict(zip(names, self._gradient(value, names, columns), strict=True))
        for name, child in tree.children.items():
            self._fill(child, slopes[name], values, columns)
        if tree.laplacian is not None:
            seconds = [
                self._gradient(slopes[name], [name], columns)[0] for name in tree.laplacian_over
            ]
            self._fill(tree.laplacian, sum(seconds[1:], seconds[0]), values, columns)

    def _gradient(
        self, value: Any, names: list[str], columns: dict[str, Any]
    ) -> tuple[Any, ...]:
        wanted = [columns[name] for name in names]
        return self._library.autograd.grad(value.sum(), wanted, create_graph=True)

    def step(self) -> float:
        """Return the loss, and take a step of Adam."""
        return self._begun().item()

    def steps(self, count: int) -> None:
        """Take several steps of Adam, and wait for the device at their end."""
        for _ in range(count):
            self._begun()
        self._parameters[0].detach().cpu()

    def _begun(self) -> Any:
        """Begin a step, and return its loss, which need not be there yet."""
        loss = self._loss(list(self._columns.values()))
        gradients = self._library.autograd.grad(loss, self._parameters, allow_unused=True)
        for parameter, gradient in zip(self._parameters, gradients, strict=True):
            parameter.grad = gradient
        self._adam.step()
        return loss

    def first_moment(self) -> np.ndarray:
        """Return Adam's first moment as one vector."""
        states = (self._adam.state.get(p, {}) for p in self._parameters)
        return flat([
            state["exp_avg"].cpu().numpy() if state else np.zeros(tuple(p.shape))
            for p, state in zip(self._parameters, states, strict=True)
        ])
