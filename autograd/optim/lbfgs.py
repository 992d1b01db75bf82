"""L-BFGS with PyTorch's closure interface."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from .. import devices, modes
from ..tensor import Tensor
from .optimizer import Optimizer
from .wolfe import Point, strong_wolfe

_Loss = TypeVar("_Loss")


class LBFGS(Optimizer):
    """Limited-memory BFGS on all parameters (real, on one device) as one vector.

    `step(closure)` runs up to `max_iter` iterations and `max_eval` evaluations (1.25 max_iter when
    None) and stops early when no gradient component exceeds `tolerance_grad`, or when neither the
    loss nor any parameter changes by more than `tolerance_change`.
    history_size    the number of pairs kept.
    line_search_fn  None (a step of `lr`), or "strong_wolfe".
    Source: Liu and Nocedal, Math. Programming 45 (1989), with the two-loop recursion of Nocedal
    and Wright, algorithm 7.4.
    """

    def __init__(
        self,
        params: Any,
        lr: float = 1.0,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        if line_search_fn not in (None, "strong_wolfe"):
            raise ValueError(
                f"LBFGS: line_search_fn must be None or 'strong_wolfe', got {line_search_fn!r}"
            )
        super().__init__(
            params,
            {
                "lr": lr,
                "max_iter": max_iter,
                "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
                "tolerance_grad": tolerance_grad,
                "tolerance_change": tolerance_change,
                "history_size": history_size,
                "line_search_fn": line_search_fn,
            },
        )

    def add_param_group(self, group: dict[str, Any]) -> None:
        """Set the one group; ValueError for a second one and for complex parameters."""
        if self.param_groups:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        super().add_param_group(group)
        if any(p.is_complex() for p in self._parameters()):
            self.param_groups.clear()
            raise ValueError("LBFGS takes real parameters; pass the real and imaginary parts")

    def step(self, closure: Callable[[], _Loss]) -> _Loss:  # type: ignore[override]
        """Run the iterations; return the loss before the first one.

        closure  clears the gradients, computes the loss, calls backward() and returns the loss; it
                 is called once an evaluation.
        """
        with devices.current(self.param_groups[0]["params"][0].device):
            return self._iterated(closure)

    def _iterated(self, closure: Callable[[], _Loss]) -> _Loss:
        group = self.param_groups[0]
        state = self.state.setdefault(group["params"][0], {"n_iter": 0, "func_evals": 0})
        first_loss, loss, grad = self._evaluate(closure)
        evaluations = 1
        state["func_evals"] += 1
        self.steps_taken += 1
        iteration = 0
        while _largest(grad) > group["tolerance_grad"] and iteration < group["max_iter"]:
            iteration += 1
            state["n_iter"] += 1
            direction = self._direction(state, grad, group["history_size"])
            slope = float(grad.dot(direction))
            length = group["lr"]
            if state["n_iter"] == 1:
                length *= min(1.0, 1.0 / float(abs(grad).sum()))
            state.update(d=Tensor(direction), t=length, prev_flat_grad=Tensor(grad))
            if slope > -group["tolerance_change"]:
                break
            last_loss = loss
            start = self._gather()
            if group["line_search_fn"] == "strong_wolfe":
                found = strong_wolfe(
                    lambda t, start=start, d=direction: self._probe(closure, start, t, d),
                    Point(0.0, loss, grad, slope),
                    length,
                    _largest(direction),
                    tolerance_change=group["tolerance_change"],
                    max_evaluations=group["max_eval"] - evaluations,
                )
                length, loss, grad = found.point.step, found.point.value, found.point.grad
                state["t"] = length
                self._place(start + length * direction)
                used = found.evaluations
            else:
                self._place(start + length * direction)
                used = 0
                if iteration < group["max_iter"]:  # nobody needs the value after the last one
                    _, loss, grad = self._evaluate(closure)
                    used = 1
            evaluations += used
            state["func_evals"] += used
            if (
                evaluations >= group["max_eval"]
                or _largest(direction) * length <= group["tolerance_change"]
                or abs(loss - last_loss) < group["tolerance_change"]
            ):
                break
        return first_loss

    def _direction(self, state: dict[str, Any], grad: Any, history_size: int) -> Any:
        """Take the last step into the memory, and return minus the approximate H^-1 grad."""
        if "d" not in state:
            state.update(old_dirs=[], old_stps=[], ro=[], H_diag=1.0)
            return -grad
        changes, steps, inverses = state["old_dirs"], state["old_stps"], state["ro"]
        change = grad - state["prev_flat_grad"]._data
        step = state["d"]._data * state["t"]
        curvature = float(change.dot(step))
        if curvature > 1e-10:
            if len(changes) >= history_size:
                del changes[0], steps[0], inverses[0]
            changes.append(Tensor(change))
            steps.append(Tensor(step))
            inverses.append(1.0 / curvature)
            state["H_diag"] = curvature / float(change.dot(change))
        direction = -grad
        weights = []
        for y, s, inverse in zip(changes[::-1], steps[::-1], inverses[::-1], strict=True):
            weights.append(float(s._data.dot(direction)) * inverse)
            direction -= weights[-1] * y._data
        direction *= state["H_diag"]
        for y, s, inverse in zip(changes, steps, inverses, strict=True):
            direction += (weights.pop() - float(y._data.dot(direction)) * inverse) * s._data
        return direction

    def _evaluate(self, closure: Callable[[], Any]) -> tuple[Any, float, Any]:
        """Return the closure's loss, its value, and the gradient as one vector."""
        with modes.enable_grad():
            loss = closure()
        pieces = []
        for parameter in self._parameters():
            xp = devices.namespace_of(parameter._data)
            grad = parameter._grad
            pieces.append(
                xp.zeros(parameter.numel(), parameter.dtype)
                if grad is None
                else grad._data.reshape(-1)
            )
        return loss, float(loss), xp.concatenate(pieces)

    def _probe(self, closure: Callable[[], Any], start: Any, step: float, direction: Any) -> Point:
        self._place(start + step * direction)
        _, value, grad = self._evaluate(closure)
        return Point(step, value, grad, float(grad.dot(direction)))

    def _gather(self) -> Any:
        arrays = [p._data.reshape(-1) for p in self._parameters()]
        return devices.namespace_of(arrays[0]).concatenate(arrays)

    def _place(self, vector: Any) -> None:
        """Write a vector into the parameters, in order."""
        modes.refuse_write("a step of an optimizer", "Record the loss and its gradient alone")
        first = 0
        for parameter in self._parameters():
            last = first + parameter.numel()
            parameter._data[...] = vector[first:last].reshape(parameter.shape)
            parameter._version[0] += 1
            first = last


def _largest(vector: Any) -> float:
    return float(abs(vector).max()) if vector.size else 0.0
