"""Functions of tensors that are recorded once and replayed, with gradients of any order."""

from __future__ import annotations

import functools
import gc
import inspect
import math
import threading
import warnings
import weakref
from collections.abc import Callable, Collection, Hashable, Iterable
from dataclasses import dataclass, field
from types import FunctionType, MethodType
from typing import Any

from .. import dtypes, modes
from ..devices import CPU
from ..nn.module import Module
from ..ops.matrices.linalg import LinAlgError
from ..tensor import Tensor
from .forms import (
    PLAIN,
    Frozen,
    Itself,
    Read,
    Same,
    Unfit,
    differ_in_floats,
    frozen,
    places_again,
    put_together,
    taken_apart,
)  # fmt: skip
from .reading import OF_ANY, OwnAttributes, Surroundings, own_attributes
from .recorded import OfTensors, Recorded, keep
from .surroundings import compiled_of, surroundings
from .symbolic import NotAsTensors
from .trace import NumberMatters, TraceError, is_made_while_recording


def compile(  # noqa: A001 - the field's name
    fn: Callable | None = None,
    *,
    points: str | Iterable[str] | None = (),
    threads: int | None = None,
    executor: str = "auto",
    mode: str | None = None,
    fullgraph: bool = True,
    dynamic: bool | None = None,
) -> Any:
    """Return `fn`, a function of tensors, as one that is recorded at its first call and replayed.

    fn        any function, with `grad` inside or not: a loss, a gradient, a residual. It takes
              tensors and lists, tuples (named ones too) and dicts of them, and returns the same. It
              is recorded once for each value of its other arguments and of the numbers and texts
              that it, and the functions, methods and layers that it calls, read from around
              themselves, also in lists, tuples and dicts and as attributes (`self.weight`, an
              argument's too): those that a text of theirs names, or all where it computes names
              (`getattr(self, name)`, `vars`, `astuple`); of a dict that is only asked for entries
              that are named (`weights["wall"]`) these. A float among the arguments that changes, a
              weight say, is read at each call from then on, as tensors are, where `fn` only adds,
              multiplies, divides and raises to powers with it; pass others that change often as
              tensors. Tensors, arrays and other objects count by which they are. What is written
              into a tensor is seen, and into an array of up to 256 KiB; into larger ones, or what
              is reached by `globals()[name]`, is not, nor is `id(x)` of an argument; the text of
              what is recorded (`print(x)`) has no values. What it does besides (it prints, or
              counts its calls) happens when it is recorded, up to three times, and not again.
    points    names of the arguments that have a row a point, equally many. Results are then
              computed in chunks of points that fit the caches, on all cores; each has to be a row
              a point, a sum or a mean over them, or no matter of points.
    threads   that replay chunks; None takes one a core, or as many as `set_num_threads` says.
    executor  "numpy", "numba", "llvm", or "auto": the best that is installed.
    mode, fullgraph, dynamic  PyTorch's hints, which change nothing: a function is recorded whole.

    The result belongs to the graph as that of `fn` does: `backward` and `grad` give gradients in
    the arguments and in the leaves that `fn` reads (the parameters of a network), and those can be
    differentiated again. It is recorded anew for other shapes, dtypes, `requires_grad`, grad mode
    and training mode. Without `points`, and for few of them, its numbers are those of `fn` to
    rounding; more are summed chunk by chunk, in an order that no number of threads changes.
    A decorator as well: `@compile` or `@compile(points="x")`.
    Warns (RuntimeWarning) where it is recorded again and again for other numbers, of tensors and
    numbers that it writes into attributes, lists and dicts, where they stay as they are, and of
    arrays, lists and dicts that it reads which are too long to be looked through at each call, and
    of a clock that it asks. Raises TraceError, also where `fn` catches it, for what a recording
    cannot hold (a branch on a value, random numbers, what comes next of an iterator, writing into
    tensors of others, another thing at each call, other numbers at the first call than later, a
    factorisation that fails and is caught), MixesPoints (a ValueError) where a result cannot be
    computed in chunks, and TypeError for arrays, sets and the like among the arguments.
    """
    if fn is None:
        return functools.partial(compile, points=points, threads=threads, executor=executor)
    return Compiled(fn, points, threads, executor)


# What operations raise for some numbers and not for others.
_OF_VALUES = (LinAlgError, ArithmeticError, IndexError)
_OFTEN = 8  # recordings in a row for another value of the same, when it is said
_NAMED = 3  # of what is not seen
_MANY_DROPPED = 8  # recordings that were dropped, when their memory is asked for


@dataclass
class _Taken:
    """Arguments, taken apart.

    roots    by names, the function and the objects among them, which are looked through.
    leaves   their tensors, each once; points, which of these are points; numbers, which are floats
             that are read, and what these are. called, the arguments that they are of. places, by
             their ids, where in them tensors are.
    form     all else.
    """

    roots: dict[str, Any]
    leaves: list[Tensor] = field(default_factory=list)
    points: list[int] = field(default_factory=list)
    numbers: dict[int, float] = field(default_factory=dict)
    called: list[str] = field(default_factory=list)
    places: dict[int, int] = field(default_factory=dict)
    form: Any = None


class _Recordings:
    """Those of a function, or of one object's method, by arguments and surroundings.

    read  the names of arguments whose floats are read at each call.
    own   the names of what the function itself writes, which tells none of them from another.
    """

    def __init__(self) -> None:
        self.known: dict[tuple[Hashable, Surroundings], Recorded] = {}
        self.read: set[str] = set()
        self._just_read: set[str] = set()
        self._never_read: set[str] = set()
        self.own: frozenset[str] = frozenset()
        self.left: dict[str, Hashable] = {}  # by names, what a recording has changed it to
        self._around: dict[Hashable, Surroundings] = {}
        self._dropped = 0
        self._last: dict[str, Hashable] = {}  # arguments, and all else by other names
        self._last_around: dict[str, Hashable] = {}
        self._changed: list[str] = []
        self._in_a_row = 0

    def around(self, asked: Hashable, roots: dict[str, Any]) -> Surroundings:
        """Return what is read besides arguments; asked: their form, and the usual dtype."""
        found = surroundings(roots, self.own, self._around.get(asked))
        keep(self._around, asked, found)
        return found

    def drop_what_is_gone(self) -> None:
        """Forget recordings that read what is not there any more: none can be replayed again."""
        gone = [key for key in self.known if key[1].is_gone]
        for key in gone:
            del self.known[key]
        self._dropped += len(gone)
        if self._dropped >= _MANY_DROPPED:  # programs refer to each other, and hold large arrays
            self._dropped = 0
            gc.collect()

    def reads_more(self, arguments: dict[str, Hashable]) -> bool:
        """Return whether there are floats that are not read, and not those of the last recording.

        From now on they are.
        """
        differ = (
            name for name, form in arguments.items()
            if differ_in_floats(self._last.get(name), form)
        )  # fmt: skip
        new = set(differ) - self.read - self._never_read
        if new:
            self.read |= new
            self._just_read = new
        return bool(new)

    def reads_no_more(self, arguments: Collection[str]) -> None:
        """Let a recording hold for one value of what was to be read, as it cannot be.

        arguments: those at which the function looks, none where that is not known.
        """
        looked_at = self.read.intersection(arguments) or self._just_read & self.read or {*self.read}
        self.read -= looked_at
        self._never_read |= looked_at

    def leave_out(self, written: Iterable[str]) -> None:
        """Tell no recording from another by what has such names."""
        self.own |= frozenset(written)
        self._around.clear()

    def often(self, arguments: dict[str, Hashable], around: dict[str, Hashable]) -> str:
        """Return what a new recording is for another value of, once it was often; else ""."""
        last, new = self._last | self._last_around, arguments | around
        self._last, self._last_around = arguments, around
        changed = [name for name in new if last and new[name] != last.get(name)]
        self._in_a_row = self._in_a_row + 1 if changed and changed == self._changed else 1
        self._changed = changed
        return ", ".join(changed) if self._in_a_row == _OFTEN else ""


def _is_number(key: Hashable) -> bool:
    """Return whether what a place is told by is a number, and no truth value."""
    return isinstance(key, Frozen) and type(key.value) in (int, float)


class Compiled:
    """A function that is recorded at its first call; see `compile`."""

    def __init__(
        self, fn: Callable, points: str | Iterable[str] | None, threads: int | None, executor: str
    ) -> None:
        if not callable(fn):
            raise TypeError(f"compile: expected a function of tensors, got {type(fn).__name__}")
        functools.update_wrapper(self, fn, updated=())
        self.fn = fn
        self._signature = inspect.signature(fn.forward if isinstance(fn, Module) else fn)
        self._points = (points,) if isinstance(points, str) else () if points is None else points
        self._check_points()
        self._threads, self._executor = threads, executor
        innermost = inspect.unwrap(fn.func if isinstance(fn, functools.partial) else fn)
        module = getattr(innermost, "__module__", None) or ""
        compiled_of(module.partition(".")[0])
        is_object = not isinstance(fn, (FunctionType, MethodType, functools.partial))
        self._called = "self" if is_object else ""
        self._told: set[str] = set()  # what is not seen
        self._recorded = _Recordings()
        self._recorded_of: dict[int, _Recordings] = {}  # of objects, by their ids
        self._lock = threading.Lock()

    def _check_points(self) -> None:
        names = [p.name for p in self._signature.parameters.values()
                 if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]  # fmt: skip
        kind = type(self._points).__name__
        if not isinstance(self._points, Iterable):
            raise TypeError(f'compile: points expected names of arguments, such as "x", got {kind}')
        self._points = tuple(self._points)
        for name in self._points:
            if name not in names:
                raise ValueError(
                    f"compile: points names {name!r}, and the arguments of {self._name} are "
                    f"{', '.join(names) or 'none'}"
                )

    @property
    def _name(self) -> str:
        return getattr(self.fn, "__qualname__", None) or type(self.fn).__name__

    def __repr__(self) -> str:
        return f"compile({self._name})"

    def __getattr__(self, name: str) -> Any:
        """Return what the function has: `parameters()` of a network, for one."""
        if name == "fn" or name.startswith("__"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self.fn, name)

    def __reduce__(self) -> tuple:
        """Copy and pickle the function; what was recorded of it is not taken along."""
        return Compiled, (self.fn, self._points, self._threads, self._executor)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """Bind as a method does; each object has recordings of its own, which end with it."""
        return self if instance is None else functools.partial(self._call_on, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._replay(self._bound(args, kwargs), self._recorded)

    def _bound(self, args: tuple, kwargs: dict[str, Any]) -> inspect.BoundArguments:
        try:
            return self._signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{self._name}: {error}") from None

    def _call_on(self, instance: Any, *args: Any, **kwargs: Any) -> Any:
        given = self._bound((instance, *args), kwargs)
        with self._lock:
            recorded = self._recorded_of.get(id(instance))
            if recorded is None:
                ended = self._when_gone(instance)
                ended.atexit = False
                recorded = self._recorded_of[id(instance)] = _Recordings()
        return self._replay(given, recorded, instance)

    def _when_gone(self, instance: Any) -> weakref.finalize:
        try:
            return weakref.finalize(instance, self._recorded_of.pop, id(instance), None)
        except TypeError:
            raise TypeError(
                f"{self._name}: a {type(instance).__name__} cannot be referred to weakly, and its "
                'recordings could not end with it; add "__weakref__" to its __slots__, or compile '
                "a function that takes it as an argument"
            ) from None

    def _replay(
        self,
        given: inspect.BoundArguments,
        recorded: _Recordings,
        instance: Any = None,
    ) -> Any:
        """Call the function with arguments; instance: that among them which it is a method of."""
        if modes.state.tracer is not None or modes.state.batches:
            # a part of another recording, or of a vmap
            return self.fn(*given.args, **given.kwargs)
        taken = self._taken(given, recorded.read, instance)
        if any(t.__dispatch__ for t in taken.leaves):  # a part of a forward sweep
            return self.fn(*given.args, **given.kwargs)
        if taken.points and taken.leaves[taken.points[0]]._data.shape[:1] == (0,):
            return self._as_it_is(given)  # there is nothing to take shares of
        asked = taken.form, dtypes.get_default_dtype()
        with self._lock:
            around = recorded.around(asked, taken.roots)
            key = asked, around
            found = recorded.known.get(key)
            reads_more = found is None and recorded.reads_more(dict(taken.form[1]))
            if found is None and not reads_more:
                recorded.drop_what_is_gone()
                self._say_how_often(recorded, dict(taken.form[1]), around, instance)
                self._say_what_is_not_seen(around)
                found = Recorded(
                    self._of_tensors(taken.form), taken.points, self._name, self._threads,
                    self._executor, numbers=tuple(taken.numbers), called=taken.called,
                    around=around.tensors, moving=around.moving,
                )  # fmt: skip
            if found is not None:
                keep(recorded.known, key, found)
        if reads_more:
            return self._replay(given, recorded, instance)
        known = found.recordings
        try:
            result = found(taken.leaves, taken.numbers)
        except NotAsTensors:  # as the function itself will say, where it does not catch it
            pass
        except Exception as error:
            is_replay = found.recordings == known > 0 and not isinstance(error, TraceError)
            if is_replay and isinstance(error, _OF_VALUES):
                return self._as_it_is(given)
            if is_replay or not taken.numbers:
                raise
            looked_at = error.arguments if isinstance(error, NumberMatters) else ()
            with self._lock:
                recorded.reads_no_more({taken.called[k] for k in looked_at})
            return self._replay(given, recorded, instance)
        else:
            if found.recordings > known:
                written = self._leave_out_its_own(recorded, asked, around, taken.roots)
                self._say_what_is_written(written)
            return result
        return self._as_it_is(given)

    def _as_it_is(self, given: inspect.BoundArguments) -> Any:
        """Return what the function itself does; it may catch what an operation raises."""
        return self.fn(*given.args, **given.kwargs)

    def _taken(self, given: inspect.BoundArguments, read: Collection[str], instance: Any) -> _Taken:
        """Take arguments apart; read: the names of those whose numbers are read at each call."""
        taken = _Taken({self._called: self.fn})
        parts = []
        for name, value in given.arguments.items():
            first = len(taken.leaves)
            form = self._form_of(name, value, taken, name in read, instance)
            parts.append((name, form))
            taken.called += [name] * (len(taken.leaves) - first)
            for leaf in taken.leaves[first:]:
                own = None if leaf.__dict__.keys() <= OF_ANY else own_attributes(leaf)
                if own:
                    taken.roots[f"{name} ({len(taken.roots)})"] = OwnAttributes(own)
            if name in self._points:
                taken.points += [*range(first, len(taken.leaves)), *places_again(form)]
        taken.points = sorted(set(taken.points))
        taken.form = dict, tuple(parts)
        beside = next((t.device for t in taken.leaves if t.device != CPU), CPU)
        for k in taken.numbers:
            taken.leaves[k] = taken.leaves[k].to(beside)
        return taken

    def _say_how_often(
        self,
        recorded: _Recordings,
        arguments: dict[str, Hashable],
        around: Surroundings,
        instance: Any,
    ) -> None:
        """Warn, once in a row, where each recording differs from the one before in the same."""

        def others(named: Iterable[tuple[str, Hashable]]) -> dict[str, Hashable]:
            return {
                name: value for name, value in named
                if not (isinstance(value, Same) and value.value is instance is not None)
            }  # fmt: skip

        told = recorded.often(others(arguments.items()), others(around.named))
        if told:
            warnings.warn(
                f"{self._name} was recorded {_OFTEN} times in a row for another value of {told}; a "
                "recording takes as long as many calls: pass what changes as an argument, and a "
                "number as a tensor, autograd.tensor(number)",
                RuntimeWarning, stacklevel=4,
            )  # fmt: skip

    def _say_what_is_not_seen(self, around: Surroundings) -> None:
        """Warn, once, of what is too long to be looked into at each call."""
        self._say_what_time_it_is(around)
        new = [name for name in around.unseen if name not in self._told]
        self._told |= set(new)
        if not new:
            return
        more = len(new) - _NAMED
        named = ", ".join(new[:_NAMED]) + f" and {more} more" * (more > 0)
        one = len(new) == 1
        warnings.warn(
            f"{self._name} reads {named}, which {'is' if one else 'are'} too long to be looked at "
            f"in each call: what changes in {'it' if one else 'them'} is not seen; give it as an "
            "argument, or make a tensor of it",
            RuntimeWarning, stacklevel=4,
        )  # fmt: skip

    def _say_what_time_it_is(self, around: Surroundings) -> None:
        """Warn, once, of a clock that is asked."""
        new = [name for name in around.clocks if name not in self._told]
        self._told |= set(new)
        if new:
            warnings.warn(
                f"{self._name} asks {', '.join(new)} for the time, which happens while it is "
                "recorded and not at its calls; take the time outside of it, and pass it as an "
                "argument",
                RuntimeWarning, stacklevel=5,
            )  # fmt: skip

    def _say_what_is_written(self, names: list[str]) -> None:
        """Warn of tensors and numbers that the function writes somewhere."""
        if not names:
            return
        named = ", ".join(names[:_NAMED])
        more = len(names) - _NAMED
        warnings.warn(
            f"{self._name} writes {named}" + f" and {more} more" * (more > 0) + ": that happens "
            "while it is recorded and not at its calls, so what is there stays as it is now; "
            "return it as well, or write it outside of the function",
            RuntimeWarning, stacklevel=4,
        )  # fmt: skip

    def _leave_out_its_own(
        self, recorded: _Recordings, asked: Hashable, around: Surroundings, roots: dict[str, Any]
    ) -> list[str]:
        """Keep a recording under what there is after it, but for what each recording writes anew.

        That are tensors of the recording, numbers that it counts with, and what it has found as
        another recording left it: none of them tells recordings apart. What was made at the first
        call and then stays, a grid say, is followed. Return the names of the first two.
        """
        now = dict(surroundings(roots, recorded.own, around).named)
        changed = {name: old for name, old in around.named if now.get(name, old) != old}
        counted = [
            name for name, old in changed.items() if _is_number(old) and _is_number(now[name])
        ]  # fmt: skip
        kept = [
            name for name, value in now.items()
            if isinstance(value, Same) and is_made_while_recording(value.value)
        ]  # fmt: skip
        again = [name for name, old in changed.items() if recorded.left.get(name) == old]
        recorded.left |= {name: now[name] for name in changed if name in now}
        if changed or kept:
            with self._lock:
                found = recorded.known.pop((asked, around), None)
                recorded.leave_out({*kept, *counted, *again})
                if found is not None:
                    keep(recorded.known, (asked, recorded.around(asked, roots)), found)
        return [*kept, *counted]

    def _form_of(
        self, name: str, value: Any, taken: _Taken, is_read: bool, instance: Any
    ) -> Hashable:
        """Return the form of an argument; its tensors and objects go to what is taken."""
        roots, leaves = taken.roots, taken.leaves

        def freeze(part: Any) -> Frozen | Itself | Same | Read:
            if is_read and isinstance(part, float) and math.isfinite(part):
                taken.numbers[len(leaves)] = float(part)
                return Read(part)
            if not isinstance(part, PLAIN):
                roots[name if name not in roots else f"{name}[{len(roots)}]"] = part
            # recordings do not keep the object that they belong to
            return Same(part) if part is instance is not None else frozen(part)

        try:
            return taken_apart(value, leaves, taken.places, freeze)
        except Unfit as kind:
            raise TypeError(
                f"{self._name}: argument {name!r} is of type {kind}; a compiled function takes "
                "tensors, lists, tuples and dicts of them, numbers, texts and objects with "
                "attributes: autograd.tensor(...) makes a tensor of an array, dict(...) a dict"
            ) from None

    def _of_tensors(self, form: Hashable) -> OfTensors:
        """Return the function with arguments of a form, as one of the tensors in them."""
        fn, signature = self.fn, self._signature

        def of_tensors(leaves: list[Tensor], _: Tensor) -> Any:
            given = inspect.BoundArguments(signature, put_together(form, leaves))
            return fn(*given.args, **given.kwargs)

        return of_tensors
