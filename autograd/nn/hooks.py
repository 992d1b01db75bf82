"""Functions that a module calls before and after its forward, and on the way back through it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

from .. import devices
from ..function import Function
from ..graph import RemovableHandle
from ..tensor import Tensor


class Hook(NamedTuple):
    """A function, whether it is given the keywords too, and whether an error keeps it out."""

    function: Callable[..., Any]
    with_kwargs: bool
    always_call: bool = False

    def __call__(self, module: Any, args: tuple, kwargs: dict[str, Any], *output: Any) -> Any:
        given = (args, kwargs) if self.with_kwargs else (args,)
        return self.function(module, *given, *output)


class Hooks(dict[int, Hook]):
    """Hooks in the order in which they are called, each under a number of its own."""

    def __init__(self) -> None:
        super().__init__()
        self._added = 0

    def add(self, hook: Hook, prepend: bool) -> RemovableHandle:
        """Take in a hook as the last one, or as the first, and return what removes it."""
        key, others = self._added, dict(self)
        self._added += 1
        if prepend:
            self.clear()
        self[key] = hook
        if prepend:
            self.update(others)
        return RemovableHandle(self, key)

    def remove(self, key: int) -> None:
        """Let go of a hook, if it is still there."""
        self.pop(key, None)


def called(module: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    """Return the output of a module's forward, with its hooks called before and after it."""
    after, output = list(module._forward_hooks.values()), None
    way_back = WayBack(module) if module._backward_hooks or module._backward_pre_hooks else None
    try:
        for hook in tuple(module._forward_pre_hooks.values()):
            args, kwargs = _changed(hook, args, kwargs, hook(module, args, kwargs))
        if way_back is not None:
            args = way_back.entered(args)
        output = module.forward(*args, **kwargs)
        while after:
            changed = after.pop(0)(module, args, kwargs, output)
            output = output if changed is None else changed
        return output if way_back is None else way_back.left(output)
    except Exception:
        for hook in after:
            if hook.always_call:
                _call_despite_an_error(hook, module, args, kwargs, output)
        raise


def _changed(hook: Hook, args: tuple, kwargs: dict[str, Any], result: Any) -> tuple:
    """Return the arguments as a hook has left them."""
    if result is None:
        return args, kwargs
    if not hook.with_kwargs:
        return result if isinstance(result, tuple) else (result,), kwargs
    if not isinstance(result, tuple) or len(result) != 2:
        raise RuntimeError(
            "forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got "
            f"{result}"
        )
    return result


def _call_despite_an_error(hook: Hook, *given: Any) -> None:
    try:
        hook(*given)
    except Exception as error:
        warnings.warn(
            "module forward hook with always_call=True raised an exception that was silenced as "
            f"another error was raised in forward: {error}",
            UserWarning,
            stacklevel=4,
        )


# ---- on the way back


class _Gate(Function):
    """Gives tensors on as they are, and their gradients to `seen`, which may give others back."""

    @staticmethod
    def forward(ctx: Any, seen: Callable[[tuple], tuple], *tensors: Tensor) -> tuple:
        ctx.seen = seen
        ctx.set_materialize_grads(False)
        return tensors

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple:
        return None, *ctx.seen(grads)


class WayBack:
    """One call of a module: its gradients pass a gate behind its output and one before its inputs.

    Hooks are those that the module has at the call.
    """

    def __init__(self, module: Any) -> None:
        self._module = module
        self._before = tuple(module._backward_pre_hooks.values())
        self._after = tuple(module._backward_hooks.values())
        self._grad_output: tuple | None = None  # while the pass is within the module
        self._args: list[tuple | None] = []  # shape, dtype and device of the tensors among them
        self._places: list[int] = []  # of those that gradients flow to

    def entered(self, args: tuple) -> tuple:
        """Return the arguments behind a gate."""
        self._args = [
            (arg._data.shape, arg.dtype, arg.device) if isinstance(arg, Tensor) else None
            for arg in args
        ]
        if not self._after:
            return args
        args, self._places = self._gated(args, self._see_inputs)
        return args

    def left(self, output: Any) -> Any:
        """Return the output behind a gate; UserWarning for one that has no gradient."""
        many = output if isinstance(output, tuple) else (output,)
        if not all(isinstance(one, Tensor) for one in many):
            warnings.warn(
                "For backward hooks to be called, module output should be a Tensor or a tuple of "
                f"Tensors but received {type(output).__name__}",
                UserWarning,
                stacklevel=4,
            )
            return output
        self._outputs = len(many)
        many, self._left = self._gated(many, self._see_outputs)
        return many if isinstance(output, tuple) else many[0]

    @staticmethod
    def _gated(values: tuple, seen: Callable[[tuple], tuple]) -> tuple[tuple, list[int]]:
        """Return what gradients flow to behind a gate, all else as it is, and where they were.

        Jets are refused by the gate: no gradient flows to them that a hook could see.
        """
        places = [
            k for k, value in enumerate(values)
            if isinstance(value, Tensor) and (value.requires_grad or value.__dispatch__ is not None)
        ]  # fmt: skip
        result = list(values)
        if places:
            passed = _Gate.apply(seen, *(values[k] for k in places))
            for k, one in zip(places, passed, strict=True):
                result[k] = one
        return tuple(result), places

    @staticmethod
    def _spread(grads: tuple, places: list[int], count: int) -> tuple:
        """Return gradients in the places they belong to, None in all others."""
        by_place = dict(zip(places, grads, strict=True))
        return tuple(by_place.get(k) for k in range(count))

    def _see_outputs(self, grads: tuple) -> tuple:
        whole = self._spread(grads, self._left, self._outputs)
        for hook in self._before:
            changed = hook.function(self._module, whole)
            if changed is not None:
                whole = self._fitting(changed, self._outputs, "grad_output", "pre hook")
        self._grad_output = whole if self._places else None
        if self._after and not self._places:
            nothing = (None,) * len(self._args)
            for hook in self._after:
                changed = hook.function(self._module, nothing, whole)
                if changed is not None and not all(one is None for one in changed):
                    raise RuntimeError(
                        "Backward hook for Modules where no input requires gradient should always "
                        "return None or None for all gradients."
                    )
        return tuple(whole[k] for k in self._left)

    def _see_inputs(self, grads: tuple) -> tuple:
        if self._grad_output is None:  # a second derivative, which does not come by the output
            return grads
        count = len(self._args)
        whole = tuple(
            Tensor(devices.zeros(*meta)) if grad is None and meta is not None else grad
            for grad, meta in zip(self._spread(grads, self._places, count), self._args, strict=True)
        )
        for hook in self._after:
            changed = hook.function(self._module, whole, self._grad_output)
            if changed is not None:
                whole = self._fitting(changed, count, "grad_input", "hook")
        self._grad_output = None
        return tuple(whole[k] for k in self._places)

    @staticmethod
    def _fitting(changed: Any, count: int, what: str, kind: str) -> tuple:
        changed = changed if isinstance(changed, tuple) else (changed,)
        if len(changed) != count:
            raise RuntimeError(
                f"Backward {kind} returned an invalid number of {what}, got {len(changed)}, but "
                f"expected {count}"
            )
        return changed
