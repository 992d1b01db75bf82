"""What gives another thing each time it is asked: random generators and iterators."""

from __future__ import annotations

import gc
import itertools
import operator
import random
import warnings
import weakref
from collections.abc import Callable, Hashable, Mapping
from types import GeneratorType
from typing import Any

import numpy as np

from .forms import PLAIN

_GENERATORS = (np.random.Generator, np.random.BitGenerator, np.random.RandomState, random.Random)


def moves(value: Any) -> bool:
    """Return whether it is a generator of random numbers, or an iterator of Python's."""
    if isinstance(value, _GENERATORS):
        return True
    kind = type(value)
    return kind.__module__ in ("builtins", "itertools") and hasattr(kind, "__next__")


class Moving:
    """Generators and iterators that a function reaches, by names, and those that all share."""

    def __init__(self, found: Mapping[str, Any]) -> None:
        self._found = {name: _held(value) for name, value in found.items()}

    def stand(self) -> dict[str, Hashable]:
        """Return, by names, how far each of them is."""
        shared = {
            "the module random": random.getstate(),
            "numpy.random": _told(np.random.get_state(legacy=False)),
        }
        return shared | {name: _stand(held()) for name, held in self._found.items()}


def _held(value: Any) -> Callable[[], Any]:
    """Return what gives a value, which it does not keep alive where there is a way not to."""
    try:
        return weakref.ref(value)
    except TypeError:
        return lambda: value


def _stand(value: Any) -> Hashable:
    """Return what tells how far something is; None where it does not say."""
    if isinstance(value, np.random.Generator):
        return _told(value.bit_generator.state)
    if isinstance(value, np.random.BitGenerator):
        return _told(value.state)
    if isinstance(value, np.random.RandomState):
        return _told(value.get_state(legacy=False))
    if isinstance(value, random.Random):
        return value.getstate()
    if isinstance(value, GeneratorType):
        frame = value.gi_frame
        held = {} if frame is None else frame.f_locals
        return frame and (frame.f_lasti, *((name, _place(one)) for name, one in held.items()))
    if isinstance(value, itertools.count):
        return repr(value)
    if isinstance(value, itertools.cycle):
        return _stand_of_cycle(value)
    return operator.length_hint(value, -1)


def _stand_of_cycle(value: itertools.cycle) -> Hashable:
    """Return how far a cycle is; another one each time where Python does not tell.

    Which is after its first turn, from Python 3.14 on.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            _, (within,), (saved, _) = value.__reduce__()
        except TypeError:
            held = [one for one in gc.get_referents(value) if not isinstance(one, type)]
            if len(held) != 2:  # the iterator is gone: it gives what it has saved
                return object()
            within, saved = held
    return operator.length_hint(within, -1), len(saved)


def _place(value: Any) -> Hashable:
    """Return what tells how far a variable of a function that gives one thing after another is."""
    if moves(value):
        return _stand(value)
    return value if isinstance(value, PLAIN) else id(value)


def _told(state: Any) -> Hashable:
    if isinstance(state, dict):
        return tuple((key, _told(part)) for key, part in state.items())
    return state.tobytes() if isinstance(state, np.ndarray) else state  # keys of a generator
