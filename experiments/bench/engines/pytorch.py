"""PyTorch, eager: nested torch.autograd.grad, each backward pass shared by its derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from experiments.bench.adam import BETA1, BETA2, EPSILON, LEARNING_RATE
from experiments.bench.engines import flat
from experiments.bench.leaves import derivative_tree, needed_leaves
from experiments.bench.workloads import Workload
from pinn.equations.leaves import Constant, Coordinate
from pinn.equations.resolve import evaluate_resolved


def configure(threads: int) -> None:
    """Use all the cores given."""
    torch.set_num_threads(threads)


class _Arrays:
    linear = staticmethod(torch.nn.functional.linear)
    tanh, sin, cos = torch.tanh, torch.sin, torch.cos

    @staticmethod
    def join(parts: list[torch.Tensor]) -> torch.Tensor:
        return torch.cat(parts, dim=1)


_FUNCTIONS = {
    name: getattr(torch, name)
    for name in ("sin", "cos", "tan", "exp", "log", "sqrt", "tanh", "sinh", "cosh", "abs")
}


class _Step:
    def __init__(self, workload: Workload, seed: int) -> None:
        self._workload = workload
        self._given = {
            name: torch.from_numpy(array.copy()).requires_grad_()
            for name, array in workload.parameters(seed).items()
        }
        self._parameters = list(self._given.values())
        self._given |= {n: torch.from_numpy(a) for n, a in workload.frozen(seed).items()}
        self._columns = {
            name: torch.from_numpy(np.ascontiguousarray(column[:, None])).requires_grad_()
            for name, column in zip(
                workload.coordinates, workload.draw_points(seed).T, strict=True
            )
        }
        self._trees = workload.trees()
        self._leaves = needed_leaves(self._trees)
        self._adam = torch.optim.Adam(
            self._parameters, lr=LEARNING_RATE, betas=(BETA1, BETA2), eps=EPSILON, fused=True
        )

    def _values(self) -> dict[Any, Any]:
        points = torch.cat(list(self._columns.values()), dim=1)
        output = self._workload.network(self._given, points, _Arrays)
        values: dict[Any, Any] = {
            **{Coordinate(name): column for name, column in self._columns.items()},
            **{Constant(name): value for name, value in self._workload.constants.items()},
        }
        space = self._workload.scope.space
        for k, unknown in enumerate(self._workload.unknowns):
            tree = derivative_tree(self._leaves, unknown, space)
            self._fill(tree, output[:, k : k + 1], values)
        return values

    def _fill(self, tree: Any, value: torch.Tensor, values: dict[Any, Any]) -> None:
        """Store the leaf of a tree's node and of all below it; one backward pass a node."""
        if tree.leaf is not None:
            values[tree.leaf] = value
        names = list(dict.fromkeys([*tree.children, *tree.laplacian_over]))
        if not names:
            return
        slopes = dict(zip(names, self._gradient(value, names), strict=True))
        for name, child in tree.children.items():
            self._fill(child, slopes[name], values)
        if tree.laplacian is not None:
            seconds = [self._gradient(slopes[name], [name])[0] for name in tree.laplacian_over]
            self._fill(tree.laplacian, sum(seconds[1:], seconds[0]), values)

    def _gradient(self, value: torch.Tensor, names: list[str]) -> tuple[torch.Tensor, ...]:
        columns = [self._columns[name] for name in names]
        return torch.autograd.grad(value.sum(), columns, create_graph=True)

    def step(self) -> float:
        values = self._values()
        residuals = [evaluate_resolved(tree, values, _FUNCTIONS) for tree in self._trees]
        loss = sum((r * r).mean() for r in residuals)
        gradients = torch.autograd.grad(loss, self._parameters, allow_unused=True)
        for parameter, gradient in zip(self._parameters, gradients, strict=True):
            parameter.grad = gradient
        self._adam.step()
        return loss.item()

    def first_moment(self) -> np.ndarray:
        states = (self._adam.state.get(p, {}) for p in self._parameters)
        return flat([
            state["exp_avg"].numpy() if state else np.zeros(tuple(p.shape))
            for p, state in zip(self._parameters, states, strict=True)
        ])


def prepare(workload: Workload, way: str, seed: int, threads: int) -> _Step:
    """Return the step of a workload."""
    return _Step(workload, seed)
