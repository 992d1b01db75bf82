"""Grad mode and anomaly mode: thread-local switches as contexts, decorators and statements."""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable
from typing import Any, Self, TypeVar, overload

_Function = TypeVar("_Function", bound=Callable[..., Any])


_FORWARD = 0  # grad mode is off, and no `no_grad` has been met in the sweep of jets that goes on


class _State(threading.local):
    grad_enabled: Any = True
    inference = False
    anomaly = False
    tracer: Any = None  # what records operations in this thread (see plan/trace.py)
    task: Any = None  # the backward pass that runs in this thread (see engine.py)
    batches: tuple = ()  # the vmaps under way in this thread (see batching/batched.py)


state = _State()


def refuse_write(what: str, remedy: str) -> None:
    """Raise TraceError while this thread records, for what a replay would not do again."""
    if state.tracer is not None:
        state.tracer.refuse_write(what, remedy)


def is_grad_enabled() -> bool:
    """Return whether operations are recorded in this thread (True in a new thread)."""
    return state.grad_enabled


def is_inference_mode_enabled() -> bool:
    """Return whether this thread is inside of `inference_mode`."""
    return state.inference


def is_anomaly_enabled() -> bool:
    """Return whether anomaly mode is on in this thread."""
    return state.anomaly


class _Mode:
    """A thread-local switch used as a context manager or as a decorator.

    A decorated generator function re-enters the mode at each step and leaves it at each yield.
    """

    attribute = "grad_enabled"
    value: Any

    def __init__(self) -> None:
        self._previous: list[bool] = []

    def clone(self) -> _Mode:
        return type(self)()

    def __enter__(self) -> None:
        self._previous.append(getattr(state, self.attribute))
        setattr(state, self.attribute, self.value)

    def __exit__(self, *exc: object) -> None:
        setattr(state, self.attribute, self._previous.pop())

    def __call__(self, function: _Function) -> _Function:
        if inspect.isgeneratorfunction(function):
            return self._wrap_generator(function)

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            with self.clone():
                return function(*args, **kwargs)

        return wrapper

    def _wrap_generator(self, function: Callable) -> Callable:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            generator = function(*args, **kwargs)
            step: Callable = functools.partial(next, generator)
            try:
                while True:
                    try:
                        with self.clone():
                            value = step()
                    except StopIteration as stop:
                        return stop.value
                    try:
                        sent = yield value
                    except GeneratorExit:
                        raise
                    except BaseException as error:
                        step = functools.partial(generator.throw, error)
                    else:
                        step = functools.partial(generator.send, sent)
            finally:
                with self.clone():
                    generator.close()

        return wrapper


class _BareDecoratorMode(_Mode):
    """A mode that also works as `@mode` without parentheses."""

    @overload
    def __new__(cls, function: None = None) -> Self: ...

    @overload
    def __new__(cls, function: _Function) -> _Function: ...

    def __new__(cls, function: Callable | None = None) -> Any:
        mode = super().__new__(cls)
        if function is None:
            return mode
        mode.__init__()
        return mode(function)

    def __init__(self, function: Callable | None = None) -> None:
        super().__init__()


class no_grad(_BareDecoratorMode):  # noqa: N801 - the field's name
    """Record nothing inside: results are leaves that do not require gradients."""

    value = False


class enable_grad(_BareDecoratorMode):  # noqa: N801 - the field's name
    """Record inside, also within `no_grad`."""

    value = True


class forward_only(_Mode):  # noqa: N801 - as its neighbours
    """Record nothing inside, in a sweep of jets; `no_grad` inside is told from it.

    Derivatives go forward through it, and stop at what is computed in `no_grad`.  Its mode is one
    of its own, which `is_grad_enabled` gives, as false, and `set_grad_enabled` takes back.
    """

    value: Any = _FORWARD


def stops_derivatives() -> bool:
    """Return whether `no_grad` holds, in which a sweep of jets takes results for constants."""
    return not (state.grad_enabled or state.grad_enabled is _FORWARD)


class inference_mode(_Mode):  # noqa: N801 - the field's name
    """Record nothing inside, as `no_grad`; `mode=False` records inside, as `enable_grad`.

    PyTorch keeps no version counters for what is made inside, and refuses to record or to write
    with it afterwards.  Here results are ordinary leaves, as those of `no_grad`: what PyTorch
    refuses is allowed.  `enable_grad` inside records, which it does not in PyTorch.
    """

    @overload
    def __new__(cls, mode: bool = True) -> Self: ...

    @overload
    def __new__(cls, mode: _Function) -> _Function: ...

    def __new__(cls, mode: bool | Callable = True) -> Any:
        return cls()(mode) if callable(mode) else super().__new__(cls)

    def __init__(self, mode: bool | Callable = True) -> None:
        super().__init__()
        self.value = not mode
        self._outer: list[bool] = []

    def __enter__(self) -> None:
        super().__enter__()
        self._outer.append(state.inference)
        state.inference = not self.value

    def __exit__(self, *exc: object) -> None:
        super().__exit__(*exc)
        state.inference = self._outer.pop()

    def clone(self) -> inference_mode:
        return type(self)(not self.value)


class _SetMode(_Mode):
    """A switch to a given value: at once as a statement, and until the end as a context."""

    def __init__(self, mode: bool) -> None:
        super().__init__()
        self.value: Any = mode if mode is _FORWARD else bool(mode)
        self._before = getattr(state, self.attribute)
        setattr(state, self.attribute, self.value)

    def clone(self) -> _SetMode:
        return type(self)(self.value)

    def __call__(self, function: _Function) -> _Function:
        setattr(state, self.attribute, self._before)  # a decorator has no effect as a statement
        return super().__call__(function)

    def __enter__(self) -> None:
        self._previous.append(self._before)
        setattr(state, self.attribute, self.value)


class set_grad_enabled(_SetMode):  # noqa: N801 - the field's name
    """Record operations or not."""


class set_detect_anomaly(_SetMode):  # noqa: N801 - the field's name
    """Switch anomaly mode, which names the op and the user's line that made a NaN gradient."""

    attribute = "anomaly"


class detect_anomaly(_BareDecoratorMode):  # noqa: N801 - the field's name
    """Run with anomaly mode on: see `set_detect_anomaly`."""

    attribute = "anomaly"
    value = True
