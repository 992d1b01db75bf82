"""Functions that a module calls before and after its forward."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

from ..graph import RemovableHandle


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
    try:
        for hook in tuple(module._forward_pre_hooks.values()):
            args, kwargs = _changed(hook, args, kwargs, hook(module, args, kwargs))
        output = module.forward(*args, **kwargs)
        while after:
            changed = after.pop(0)(module, args, kwargs, output)
            output = output if changed is None else changed
        return output
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
