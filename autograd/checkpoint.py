"""Memory for time: drop what a function saves for its backward pass, and compute it again there.

The graph of the function stays; only the saved values are dropped.  When the first of them is
asked for, the function is run once more and its saved values take the places of the dropped ones,
in order.  So it makes no difference who asks: `backward()`, `grad()`, a second derivative.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from . import modes
from .levels import held
from .random import Generator, default_generator
from .saved import SavedTensor, saved_tensors_hooks
from .tensor import Tensor


def checkpoint(
    fn: Callable[..., Any],
    *args: Any,
    preserve_rng_state: bool = True,
    use_reentrant: bool = False,
    **kwargs: Any,
) -> Any:
    """Return `fn(*args, **kwargs)`, keeping none of the values that its backward pass needs.

    fn   deterministic: it is run again during the backward pass and has to save the same tensors.
         It may use parameters and tensors of its closure.  Nothing it reads may be changed in
         place before the backward pass (this is checked for tensors that it saves).
    preserve_rng_state  run it again with the random state of the first time: of the default
         generator and of those among the arguments.
    Raises RuntimeError in the backward pass when the second run saves other shapes, dtypes or
    another number of tensors than the first.  ValueError for `use_reentrant=True`, a form that
    does not work with `grad()`.  Method: Chen et al. 2016, arXiv:1604.06174.
    """
    if use_reentrant:
        raise ValueError(
            "checkpoint: use_reentrant=True is not supported, it cannot work with grad(); "
            "leave it out"
        )
    if not modes.is_grad_enabled() or modes.state.tracer is not None:
        return fn(*args, **kwargs)  # a recording keeps no values
    segment = _Segment(fn, args, kwargs, preserve_rng_state)
    with saved_tensors_hooks(segment.pack, _unpack):
        result = fn(*args, **kwargs)
    segment.close()
    return result


def checkpoint_sequential(
    functions: Any,
    segments: int,
    input: Any,
    use_reentrant: bool = False,
    *,
    preserve_rng_state: bool = True,
) -> Any:
    """Return what functions, one after the other, give of `input`, in segments of equal length.

    functions  a Sequential, or a sequence of functions of one argument.
    segments   each but the last, which takes what is left over too, is a `checkpoint` (the last is
               the first that the backward pass asks).
    Raises ValueError for no positive number of segments, or more than there are functions.
    """
    steps = list(functions.children()) if hasattr(functions, "children") else list(functions)
    if not 1 <= segments <= len(steps):
        raise ValueError(
            f"checkpoint_sequential: expected 1 to {len(steps)} segments, as there are functions, "
            f"got {segments}"
        )
    length = len(steps) // segments
    for start in range(0, length * (segments - 1), length):
        input = checkpoint(
            _one_after_the_other, steps[start : start + length], input,
            preserve_rng_state=preserve_rng_state, use_reentrant=use_reentrant,
        )  # fmt: skip
    return _one_after_the_other(steps[length * (segments - 1) :], input)


def _one_after_the_other(steps: Sequence[Callable[[Any], Any]], input: Any) -> Any:
    for step in steps:
        input = step(input)
    return input


class _Place:
    """Stands in a node where a saved value was: number `position` of its segment."""

    __slots__ = ("segment", "position", "__weakref__")

    def __init__(self, segment: _Segment, position: int) -> None:
        self.segment = segment
        self.position = position


def _unpack(place: _Place) -> Tensor:
    return place.segment.value(place)


class _Segment:
    """One checkpointed call: how to repeat it, and the values of its places while they are known.

    Values are held by place, weakly, so that a value goes when its node lets go of the place.
    """

    def __init__(self, fn: Callable, args: tuple, kwargs: dict, preserve: bool) -> None:
        self.fn = fn
        self.args = tuple(_keep(a) for a in args)
        self.kwargs = {name: _keep(a) for name, a in kwargs.items()}
        generators = [a for a in (*args, *kwargs.values()) if isinstance(a, Generator)]
        self.batches = modes.state.batches
        self.random = [(g, g.get_state()) for g in (default_generator, *generators) if preserve]
        self.places: list[weakref.ref[_Place]] = []
        self.expected: list[tuple] = []
        self.values: weakref.WeakKeyDictionary[_Place, Tensor] = weakref.WeakKeyDictionary()
        self.open = True
        self.lock = threading.RLock()

    def name(self) -> str:
        """Return what messages about a changed argument call this."""
        return f"checkpoint({getattr(self.fn, '__name__', type(self.fn).__name__)})"

    def pack(self, tensor: Tensor) -> _Place:
        place = _Place(self, len(self.places))
        self.places.append(weakref.ref(place))
        self.expected.append(_facts(tensor))
        # Until fn returns the value stays: a grad() inside fn asks for it at once.
        self.values[place] = tensor
        return place

    def close(self) -> None:
        """Drop the values: fn has returned."""
        self.open = False
        self.values.clear()

    def value(self, place: _Place) -> Tensor:
        with self.lock:
            if self.open:
                return self.values[place]
            if place not in self.values:
                self._recompute()
            return self.values.pop(place)

    def _recompute(self) -> None:
        """Run fn again and give each live place the value that is saved at its position."""
        position = 0

        def collect(tensor: Tensor) -> Tensor:
            nonlocal position
            if position < len(self.places):
                self._check(position, tensor)
                place = self.places[position]()
                if place is not None:
                    self.values[place] = tensor
            position += 1
            return tensor

        args = [self._restored(a) for a in self.args]
        kwargs = {name: self._restored(a) for name, a in self.kwargs.items()}
        now = [(generator, generator.get_state()) for generator, _ in self.random]
        batches, modes.state.batches = modes.state.batches, self.batches
        try:
            for generator, state in self.random:
                generator.set_state(state)
            with modes.enable_grad(), saved_tensors_hooks(collect, _itself):
                self.fn(*args, **kwargs)
        finally:
            modes.state.batches = batches
            for generator, state in now:
                generator.set_state(state)
        if position != len(self.places):
            raise RuntimeError(
                f"{self.name()}: A different number of tensors was saved during the original "
                f"forward and recomputation: {len(self.places)} and then {position}; the function "
                "must do the same both times"
            )

    def _check(self, position: int, tensor: Tensor) -> None:
        if self.expected[position] != _facts(tensor):
            before, now = (
                f"shape {list(shape)}, dtype {dtype}, device {device}"
                for shape, dtype, device in (self.expected[position], _facts(tensor))
            )
            raise RuntimeError(
                f"{self.name()}: Recomputed values for the following tensors have different "
                f"metadata than during the forward pass: saved tensor {position} had {before}, "
                f"now {now}; the function must do the same both times"
            )

    def _restored(self, kept: Any) -> Any:
        if isinstance(kept, _OfExamples):
            return kept.around(self._restored(kept.values))
        return kept.unpack(self) if isinstance(kept, SavedTensor) else kept


class _OfExamples(NamedTuple):
    """An argument that has one value an example of a vmap: all of them, and what is around them."""

    values: Any
    around: Callable[[Tensor], Tensor]


def _keep(argument: Any) -> Any:
    """Hold an argument as nodes do: checked for changes, and dropped by an outer checkpoint."""
    if isinstance(argument, Tensor):
        if argument.__dispatch__ is not None and not argument.in_sweep:
            return _OfExamples(_keep(held(argument)), argument.around)
        return SavedTensor(argument, argument._edge())
    return argument


def _facts(tensor: Tensor) -> tuple:
    return tuple(tensor.shape), tensor.dtype, tensor.device


def _itself(tensor: Tensor) -> Tensor:
    return tensor
