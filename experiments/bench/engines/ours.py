"""Ours: jets, recorded in chunks and replayed, with numpy or with fused loops.

How a step is run is in two small classes with one interface: `_Recorded` calls the engine itself
with an executor of choice, `_Objective` is what training runs (pinn.Objective, as it comes).
"""

from __future__ import annotations

from typing import Any

import numpy as np

import autograd as T
from autograd.plan.chunks import Chunked
from autograd.tensor import Tensor
from experiments.bench.adam import Adam
from experiments.bench.engines import CannotRun
from experiments.bench.profiling import profile_executor
from experiments.bench.workloads import Workload
from pinn.equations.functions import TENSOR_FUNCTIONS
from pinn.equations.jets import JetPlan, JetValues
from pinn.equations.leaves import derivatives_in
from pinn.equations.resolve import evaluate_resolved
from pinn.geometry import Box, Interval, Time
from pinn.objective import Objective
from pinn.objective.flat_parameters import FlatParameters
from pinn.problem.problem import Problem


class _Arrays:
    """The network's functions over our tensors."""

    linear = staticmethod(T.nn.functional.linear)
    tanh = staticmethod(T.tanh)
    sin = staticmethod(T.sin)
    cos = staticmethod(T.cos)

    @staticmethod
    def join(parts: list[Tensor]) -> Tensor:
        return T.cat(parts, dim=1)


class _Recorded:
    """Loss and gradient of a workload at the parameters in `theta`, which may change in place.

    All residuals are joined by hand into one function with one sweep.
    """

    def __init__(self, workload: Workload, executor: str, seed: int, threads: int) -> None:
        initial = workload.parameters(seed)
        self.theta = np.concatenate([a.reshape(-1) for a in initial.values()])
        given: dict[str, Tensor] = {}
        start = 0
        for name, array in initial.items():
            view = self.theta[start : start + array.size].reshape(array.shape)
            given[name] = Tensor(view).requires_grad_()
            start += array.size
        self._shared = list(given.values())
        given |= {name: Tensor(array) for name, array in workload.frozen(seed).items()}
        points = workload.draw_points(seed)
        self._rows = [np.ascontiguousarray(column[:, None]) for column in points.T]
        self._count = len(points)
        self._gradient = np.empty_like(self.theta)
        self.trees = workload.trees(combined=True)
        leaves = [leaf for tree in self.trees for leaf in derivatives_in(tree)]
        scope = workload.scope
        self.plan = JetPlan(leaves, scope)

        def model(x: Tensor) -> Tensor:
            return workload.network(given, x, _Arrays)

        def block(columns: list[Tensor]) -> list[Tensor]:
            values = JetValues(model, scope, columns, {}, self.plan)
            residuals = [evaluate_resolved(t, values, TENSOR_FUNCTIONS) for t in self.trees]
            total = sum(((r * r).sum() for r in residuals[1:]), (residuals[0] ** 2).sum())
            return [total, *T.grad(total, self._shared, materialize_grads=True)]

        self.chunked = Chunked(
            block, self._shared, ["sum"] * (1 + len(self._shared)),
            threads=threads, executor=executor,
        )

    def __call__(self) -> tuple[float, np.ndarray]:
        """Return the loss and the gradient (a buffer that the next call writes over)."""
        total, *gradients = self.chunked(self._rows)
        np.concatenate([g.reshape(-1) for g in gradients], out=self._gradient)
        self._gradient /= self._count
        return float(total) / self._count, self._gradient

    def bound(self) -> tuple[Any, int]:
        """Return one executor, filled with points, and its number of rows; for profiling."""
        (program, *_), executor = next(iter(self.chunked._bound.items()))
        count = program.inputs[0].shape[0]
        for target, source in zip(executor.inputs, self._rows, strict=False):
            target[...] = source[:count]
        return executor, count


class _Module(T.nn.Module):
    def __init__(self, workload: Workload, seed: int) -> None:
        super().__init__()
        self._network = workload.network
        for name, array in workload.parameters(seed).items():
            setattr(self, name, T.nn.Parameter(T.tensor(array)))
        for name, array in workload.frozen(seed).items():
            self.register_buffer(name, T.tensor(array))

    def forward(self, points: Tensor) -> Tensor:
        given = dict(self.named_parameters()) | dict(self.named_buffers())
        return self._network(given, points, _Arrays)


def objective_of(
    workload: Workload, seed: int, threads: int | None = None, device: str = "cpu"
) -> Objective:
    """Return a workload as training has it: a block a residual, at the same points."""
    intervals = [
        (Time if name == workload.time else Interval)(name, -1.0, 1.0)
        for name in workload.coordinates
    ]
    problem = Problem(
        Box(*intervals),
        workload.unknowns,
        {f"residual{k}": text for k, text in enumerate(workload.residuals)},
        constants=workload.constants,
    )
    dtype = T.float64 if workload.dtype == "float64" else T.float32
    module = _Module(workload, seed).to(device)
    points = workload.draw_points(seed).astype(np.float64)
    return Objective(
        problem, FlatParameters(module, (), dtype, device),
        {residual.name: points for residual in problem.residuals},
        dtype=dtype, device=device, threads=threads,
    )  # fmt: skip


class _Objective:
    """The same by pinn.Objective, as it comes; theta is float64."""

    def __init__(self, workload: Workload, seed: int, threads: int) -> None:
        self._objective = objective_of(workload, seed, threads)
        self.theta = self._objective.theta
        (group,) = self._objective.groups
        self.plan = group.plan

    def __call__(self) -> tuple[float, np.ndarray]:
        """Return the loss and the gradient."""
        found = self._objective.value_and_gradient(self.theta)
        return found.loss, found.gradient


class _Step:
    def __init__(self, gradient: _Recorded | _Objective, workload: Workload) -> None:
        self._gradient = gradient
        self._adam = Adam(self._gradient.theta)
        self._points = workload.points

    def step(self) -> float:
        loss, gradient = self._gradient()
        self._adam.update(gradient)
        return loss

    def plan(self) -> str:
        """Return the channels that the sweep carries."""
        return str(self._gradient.plan)

    def first_moment(self) -> np.ndarray:
        return self._adam.first.astype(np.float64)

    def profile(self) -> dict[str, Any]:
        """Return where the time of one chunk goes, and what the plan is."""
        if not isinstance(self._gradient, _Recorded):
            raise CannotRun("the objective keeps its programs to itself; profile the executors")
        executor, rows = self._gradient.bound()
        found = profile_executor(executor, rows, self._points)
        found["channels"] = self.plan().splitlines()
        return found


def prepare(workload: Workload, way: str, seed: int, threads: int) -> _Step:
    """Return the step with the executor `way`, or by the "objective".

    Raises CannotRun for an executor that this build does not have.
    """
    if way == "objective":
        return _Step(_Objective(workload, seed, threads), workload)
    from autograd.plan.executors import make_executor
    from autograd.plan.lanes.host import host
    from autograd.plan.program import Program

    if way == "llvm":  # tiles do without numba, which takes a while to import
        if host() is None:
            raise CannotRun("tiles are not compiled for this processor")
        return _Step(_Recorded(workload, way, seed, threads), workload)
    try:
        make_executor(way, Program([], [], []))
    except (ValueError, ImportError) as error:
        raise CannotRun(f"this build has no executor {way!r}: {error}") from error
    return _Step(_Recorded(workload, way, seed, threads), workload)
