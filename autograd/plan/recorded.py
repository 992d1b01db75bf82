"""A function of tensors as it is recorded for each form of them, replayed and differentiated."""

from __future__ import annotations

import functools
import gc
import itertools
import math
import threading
import warnings
import weakref
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from operator import and_
from typing import Any, NamedTuple

import numpy as np

from .. import modes
from ..devices import CPU, copied, current, device_of, namespace_of, put, zeros
from ..engine import grad
from ..function import Function
from ..graph import leaves_behind, nodes_behind
from ..ops.registry import cast
from ..tensor import Tensor, writes_to
from .chunks import Chunked
from .collector import rarely_collected
from .facts import Answers, Fact
from .forms import Unfit, plain, put_together, taken_apart
from .moving import Moving
from .number_of_points import MixesPoints, check_chunk, check_repeats, difference
from .over_points import Result, results_over_points
from .program import Program
from .reading import own_attributes
from .symbolic import Arithmetic, NotAsTensors
from .trace import NumberMatters, TraceError, trace

_MOST = 64  # forms of arguments that are kept, the one used last the longest
_FEW = 5  # points of the recording by which results are told apart: no multiple of what is common
_MANY_NUMBERS = 16  # of points, each of which is tried
_MOST_TRACED = 1 << 14  # points, to see whether many are treated as few are
_OFTEN = 8  # recordings in a row for other shapes, when it is said
_SLIGHTLY = 2.0**-20  # a change of a number, by which what is made of it in other ways is told
_ROUNDED = 1024  # times the precision of a dtype, within which results count as the same
OfTensors = Callable[[list[Tensor], Tensor], Any]
"""What is recorded: of the arguments, and the share of all points that is among them."""


def keep(kept: dict, key: Hashable, value: Any) -> None:
    """Put a value last among those that are kept, and drop those that were not used for long."""
    kept.pop(key, None)
    kept[key] = value
    while len(kept) > _MOST:
        del kept[next(iter(kept))]


class Recorded:
    """A function of a list of tensors, recorded for each shape and dtype of them.

    It returns tensors, and lists, tuples and dicts of them with numbers and texts. points: the
    positions of the arguments that have a row a point. joined: whether each result has, and is
    otherwise to be added up over chunks, () without points; None where that is yet to be found.
    numbers: the positions of the arguments that the function is given as floats. called: the names
    of the arguments. around: tensors that it may ask for their shape, or read. moving: random
    generators and iterators that it reaches.
    """

    def __init__(
        self,
        fn: OfTensors,
        points: Sequence[int],
        name: str,
        threads: int | None,
        executor: str,
        joined: Sequence[bool] | None = None,
        numbers: Sequence[int] = (),
        called: Sequence[str] = (),
        around: Sequence[weakref.ref[Tensor]] = (),
        moving: Moving | None = None,
    ) -> None:
        self.moving = moving or Moving({})
        self.fn, self.points, self.name, self.joined = fn, tuple(points), name, joined
        self.numbers, self.called, self.around = tuple(numbers), tuple(called), around
        self.threads, self.executor = threads, executor
        self._plans: dict[Hashable, Plan] = {}
        self._lock = threading.Lock()
        # of which arguments it says itself that they require gradients, by their kinds
        self._asks_for: dict[Hashable, frozenset[int]] = {}
        self.recordings = 0  # that were made
        self._in_a_row = 0  # of them for forms that were not met before
        self._renewed = 0  # in a row

    def __call__(self, leaves: list[Tensor], numbers: Mapping[int, float] | None = None) -> Any:
        """Call it; numbers: what the arguments are that are floats. NotAsTensors may be raised."""
        self._check_lengths(leaves)
        kinds = tuple((t._data.ndim, t._data.dtype) for t in leaves)
        for k in self._asks_for.get(kinds, ()):
            leaves[k].requires_grad_()
        try:
            plan = self._plan_for(leaves)
        except _AsksForGradients as found:
            self._asks_for[kinds] = self._asks_for.get(kinds, frozenset()) | found.arguments
            for k in self._asks_for[kinds]:
                leaves[k].requires_grad_()
            plan = self._plan_for(leaves, found.first)
        if self.joined is None:  # products take gradients of what their seeds are no part of
            plan.check_apart(leaves)
        if numbers and not plan.arithmetic.holds(numbers):
            raise NotAsTensors
        outputs = _Replay.apply(plan, *leaves, *plan.parameters)
        for k in plan.retained:
            outputs[k].retain_grad()
        return put_together(plan.form, outputs)

    def _plan_for(self, leaves: list[Tensor], first: _Trace | None = None) -> Plan:
        """Return the recording for the form of these arguments.

        first: what was recorded of the same call before, if it was.
        """
        key = (modes.is_grad_enabled(), tuple(
            (t._data.shape[k in self.points :], t._data.dtype, type(t._data), t._requires_grad)
            for k, t in enumerate(leaves)
        ))  # fmt: skip
        with self._lock:
            plan = self._plans.get(key)
            is_current = plan is not None and plan.is_current(leaves)
            self._say_how_often(plan is None)
            self._say_how_often_renewed(plan is not None and not is_current)
            if not is_current:
                plan = Plan(self, leaves, first)
                self.recordings += 1
            keep(self._plans, key, plan)
        return plan

    def _say_how_often(self, is_new: bool) -> None:
        """Warn, once, where each call has arguments of other shapes."""
        told, self._in_a_row = self._in_a_row >= _OFTEN, self._in_a_row + is_new
        if told or self._in_a_row < _OFTEN:
            return
        warnings.warn(
            f"{self.name} was recorded {_OFTEN} times for other shapes of its arguments; a "
            "recording takes as long as many calls: name the arguments that have a row a point, "
            'compile(..., points="x"), and their number may change from call to call',
            RuntimeWarning, stacklevel=5,
        )  # fmt: skip

    def _say_how_often_renewed(self, is_renewed: bool) -> None:
        """Warn, once, where a tensor that is read has another `.grad`, say, at each call."""
        self._renewed = self._renewed + 1 if is_renewed else 0
        if self._renewed == _OFTEN:
            warnings.warn(
                f"{self.name} was recorded {_OFTEN} times in a row as what it asks of tensors "
                "besides their numbers (.grad, .requires_grad, .stride(), .shape) was another each "
                "time; a recording takes as long as many calls: pass a gradient that it reads as "
                "an argument",
                RuntimeWarning, stacklevel=5,
            )  # fmt: skip

    def _check_lengths(self, leaves: list[Tensor]) -> None:
        lengths = {k: leaves[k]._data.shape[:1] for k in self.points}
        if len(set(lengths.values())) > 1 or () in lengths.values():
            told = ", ".join(str(list(leaves[k].shape)) for k in self.points)
            raise ValueError(
                f"{self.name}: the arguments that are named as points have shapes {told}; each "
                "needs a row a point, equally many"
            )


class _AsksForGradients(Exception):
    """A function calls `requires_grad_` of arguments, which it is to be recorded with.

    first: what was recorded until then.
    """

    def __init__(self, arguments: set[int], first: _Trace) -> None:
        self.arguments, self.first = arguments, first


class _Trace(NamedTuple):
    """A recording of a whole call: its program, its results and the form around them.

    outputs: the results, without what they were computed from. differentiable: which have a graph,
    retained: the numbers of those that keep their gradients. used: of each result, which arguments
    it has a gradient in. behind: the leaves that it has one in, by their ids.
    inner: the arguments in which it takes gradients itself. asked: all tensors in which it does.
    differentiated: the arguments of whose functions it takes gradients. facts: what it was told of
    tensors of others. made: its inputs and what was computed from them, arrays by their ids, as far
    as they are still there. arithmetic: what it computes of numbers alone.
    """

    program: Program
    outputs: list[Tensor]
    differentiable: list[bool]
    retained: list[int]
    form: Hashable
    used: list[tuple[bool, ...]]
    behind: list[set[int]]
    inner: tuple[int, ...]
    asked: list[Tensor]
    differentiated: frozenset[int]
    facts: list[Fact]
    made: Mapping[int, Any]
    arithmetic: Arithmetic

    def reads_of(self, earlier: _Trace) -> list:
        """Return the arrays of tensors that it reads and an earlier recording has made."""
        read = [captured.data for captured in self.program.captured]
        return [array for array in read if earlier.made.get(id(array)) is array]


def _check_kept(name: str, read: list) -> None:
    """Raise TraceError for numbers that a function finds where it has put them a call before."""
    if read:
        raise TraceError(
            f"{name} reads a tensor of shape {list(read[0].shape)} that it has computed and kept "
            "at the call before (a running average, a previous value): calls of a compiled "
            "function keep nothing. Return it, and give it to the next call as an argument"
        )


def _check_stand(name: str, before: Mapping[str, Hashable], now: Mapping[str, Hashable]) -> None:
    """Raise TraceError where a function draws random numbers, or goes on with an iterator."""
    moved = [one for one, stand in before.items() if now[one] != stand]
    if moved:
        raise TraceError(
            f"{name} takes what comes next of {', '.join(moved)}, which is another thing at each "
            "call and would be frozen as it was at the first. Take it outside of the function, and "
            "pass it as an argument"
        )


def _check_first(name: str, first: _Trace, later: _Trace) -> None:
    """Raise TraceError where a function returned something else at its first call than later."""
    if first is later:
        return
    if first.form != later.form or not _are_close(first, later, _to_rounding):
        raise TraceError(
            f"{name} returns other numbers at its first call than at the following ones: it writes "
            "something that it reads (a flag, a number, a reference that the first call keeps). "
            "Call it once as it is before it is compiled, or write that outside of it"
        )


def _differs(one: _Trace, other: _Trace) -> str | None:
    """Return None where two recordings of the same call are alike, else what differs first."""
    found = difference(one.program, other.program)
    return found or (None if one.form == other.form else "what it returns")


def _gives_the_same(one: _Trace, other: _Trace) -> bool:
    """Return whether two recordings have the same results and ways of gradients, to rounding."""
    return (
        (one.form, one.used, one.differentiable) == (other.form, other.used, other.differentiable)
        and list(map(len, one.behind)) == list(map(len, other.behind))
        and _are_close(one, other, _to_half_the_digits)
    )


def _to_half_the_digits(dtype: np.dtype) -> float:
    return math.sqrt(np.finfo(dtype).eps)


def _to_rounding(dtype: np.dtype) -> float:
    return _ROUNDED * float(np.finfo(dtype).eps)


def _are_close(one: _Trace, other: _Trace, allowed: Callable[[np.dtype], float]) -> bool:
    """Return whether the results of two recordings are close, as shares of the largest number."""
    pairs = zip(one.outputs, other.outputs, strict=False)
    return all(_is_close(x._data, y._data, allowed) for x, y in pairs)


def _is_close(one: Any, other: Any, allowed: Callable[[np.dtype], float]) -> bool:
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    x, y = put(one, CPU), put(other, CPU)
    if x.dtype.kind not in "fc":
        return np.array_equal(x, y)
    with np.errstate(all="ignore"):
        apart = allowed(x.dtype) * np.max(np.abs(y), initial=0.0, where=np.isfinite(y))
        return bool(((np.abs(x - y) <= apart) | (x == y) | ((x != x) & (y != y))).all())


class Plan:
    """A function of tensors as it was recorded for one shape and dtype of each.

    form: that of what it returns. parameters: the leaves that require gradients and are read
    besides the arguments. differentiable: whether each result belongs to a graph. used: whether
    any result has a gradient in each argument and parameter: not where it is read without grad
    mode. retained: the results that are asked to keep their gradients. arithmetic: what it computes
    of numbers alone. Raises NumberMatters for arguments that are numbers and would be frozen, and
    NotAsTensors.
    """

    def __init__(
        self, recorded: Recorded, leaves: list[Tensor], first: _Trace | None = None
    ) -> None:
        self.recorded, self._first = recorded, first
        self.grad_mode = modes.is_grad_enabled()
        self._lock = threading.RLock()
        self._requires_grad = tuple(t._requires_grad for t in leaves)
        self._answers = [Answers(t) for t in leaves]
        self._own = [own_attributes(t) for t in leaves]
        self._points = recorded.points
        # what is no row a point is copied to a place that stays, so that programs stay bound
        self._places = {k: _place_for(t) for k, t in enumerate(leaves) if k not in self._points}
        self._count = _number_beside(leaves, 0.0)
        self._probes: tuple | None = None  # recordings with few points, which all others are like
        self._checked, self._numbers = 0, set[int]()  # up to so many points they are, and for these
        self._symbols: list[tuple[weakref.ref, frozenset[int]]] = []
        self._results = self._record(leaves)
        self._first = None
        asked = [k for k, answers in enumerate(self._answers) if answers.were_asked_for]
        self._asked = [(k, self._answers[k]) for k in asked]
        kinds = ["rows" if one.joined else "sum" for one in self._results]
        self._value = self._chunked(lambda rows: self._of_chunk(rows)[1], kinds)
        self._with_gradients: dict[tuple, Chunked] = {}
        self._pulled: dict[tuple, Recorded] = {}

    # ---- recording

    @rarely_collected()
    def _record(self, leaves: list[Tensor]) -> list[Result]:
        """Record at a few points, and tell from that what is read and what results are."""
        given = self.recorded.joined
        if not self._points:
            traced = self._trace(list(leaves)) if given is not None else self._settled(leaves)
            results = [Result(False, 0)] * len(traced.outputs)
        elif given is not None:
            traced = self._trace_few(leaves, _FEW)
            results = [Result(joined, 0) for joined in given]
        else:
            traced, results = self._settled_over_points(leaves)
        self.form, self.arithmetic = traced.form, traced.arithmetic
        kinds = [(t._data.shape, t._data.dtype.kind) for t in traced.outputs]
        self._is_number = kinds == [((), "f")]
        self._dtypes = [t._data.dtype for t in traced.outputs]
        self.differentiable, self.retained = traced.differentiable, traced.retained
        self._read(traced)
        return results

    def _read(self, traced: _Trace) -> None:
        """Keep what is read besides the arguments; TraceError for what has a graph."""
        tensors = [captured.tensor() for captured in traced.program.captured]
        known = [t for t in tensors if t is not None]
        self.parameters = [t for t in known if t._requires_grad]
        for tensor in self.parameters:
            if tensor._node is not None:
                raise TraceError(
                    f"{self.recorded.name} reads a tensor of shape {list(tensor.shape)} that was "
                    "computed outside of it and requires gradients; pass it as an argument, or "
                    "compute it inside"
                )
        asked = set(map(id, traced.asked))
        self._inner = traced.inner, [t for t in self.parameters if id(t) in asked]
        self._differentiated = traced.differentiated
        self._used = [
            (*used, *(id(t) in behind for t in self.parameters))
            for used, behind in zip(traced.used, traced.behind, strict=True)
        ]
        self.used = self.used_by([True] * len(self._used))
        # of what the program reads it is seen that the memory is another
        read = set(map(id, known))
        others = (t for t in (one() for one in self.recorded.around) if id(t) not in read)
        asked_for = [Fact.of(t, ".shape and .dtype") for t in others if t is not None]
        self._facts = traced.facts + asked_for
        self._flags = [(weakref.ref(t), t._requires_grad) for t in known]
        self.frozen = [weakref.ref(t) for t in known if not t._requires_grad]

    def used_by(self, chosen: Sequence[bool]) -> tuple[bool, ...]:
        """Return in which arguments and parameters some of the results have a gradient."""
        flags = zip(*itertools.compress(self._used, chosen), strict=True)
        nothing = (False,) * (len(self._requires_grad) + len(self.parameters))
        return tuple(map(any, flags)) or nothing

    def _check_many(self, tensors: Sequence[Tensor], points: int) -> None:
        """Check, of the first numbers of points and of more than ever, that they are as few are."""
        points = min(points, _MOST_TRACED)
        is_known = points in self._numbers or len(self._numbers) >= _MANY_NUMBERS
        if self._probes is None or (is_known and points <= self._checked):
            return
        self._numbers.add(points)
        self._checked = max(self._checked, 2 * points)
        leaves = list(tensors[: len(self._requires_grad)])
        traced = self._trace(_few_points(leaves, self._points, points))
        program = self._in_order(traced)
        try:
            check_chunk(*self._probes, program, points)
            self._check_form(self.form, traced.form)
        except MixesPoints:
            again = self._trace(_few_points(leaves, self._points, points))
            self._in_order(again)
            check_repeats(self.recorded.name, _differs(traced, again))
            # what is frozen may have been written to since
            self._probes, _ = self._probed(leaves)
            check_chunk(*self._probes, program, points)
            self._check_form(self.form, traced.form)

    def check_apart(self, leaves: Sequence[Tensor]) -> None:
        """Refuse arguments made of what gradients are taken in: here each stands for itself."""
        arguments, captured = self._inner
        targets = [leaves[k] for k in arguments] + captured
        for k in self._differentiated:
            argument = leaves[k]
            if not targets or argument._edge() is None:
                continue
            is_read = any(argument is t for t in captured)  # and is another leaf as an argument
            if argument._node is None and not is_read:
                continue
            behind = set(nodes_behind(argument._node.edges)) if argument._node is not None else ()
            edges = () if is_read else [t._edge() for t in targets]
            if is_read or any(edge[0] in behind for edge in edges if edge is not None):
                raise TraceError(
                    f"{self.recorded.name}: an argument of shape {list(argument.shape)} is a "
                    "tensor in which the function takes gradients itself, or computed from one, "
                    "and as an argument it would not depend on that any more. Compute it inside of "
                    "the function, or pass its detach() if it is to be a constant"
                )

    def _check_form(self, expected: Hashable, found: Hashable) -> None:
        if found != expected:
            raise MixesPoints(
                f"{self.recorded.name} returns other numbers, or another list or dict, for other "
                "numbers of points; a number that depends on them has to be a tensor"
            )

    def is_current(self, leaves: list[Tensor]) -> bool:
        """Return whether the tensors that are read still require gradients, or still do not.

        And whether they, and the arguments, are as they were in what else was asked of them.
        """
        return (
            self.is_told_the_same()
            and all(answers.are_those_of(leaves[k]) for k, answers in self._asked)
            and all(
                tensor is None or tensor._requires_grad == flag
                for tensor, flag in ((reference(), flag) for reference, flag in self._flags)
            )
        )

    def is_told_the_same(self) -> bool:
        """Return whether the tensors that it reads would answer as they did, of `.grad` say."""
        return all(fact.is_true() for fact in self._facts)

    def _trace(
        self, leaves: list[Tensor], call: list[Tensor] | None = None, plain: Collection[int] = ()
    ) -> _Trace:
        """Record.

        call: the arguments that there are, where `leaves` has other numbers. plain: those of the
        numbers that the function is given as floats.
        """
        numbers = {k: (call or leaves)[k].item() for k in self.recorded.numbers}
        inputs = [
            Tensor(copied(t._data), flag)
            for t, flag in zip(leaves, self._requires_grad, strict=True)
        ]
        forms, asked, inside, made, facts, arithmetic = [], [], set(), [], [], []

        def fn(*given: Tensor) -> list[Tensor]:
            tracer = modes.state.tracer
            tracer.numbers = numbers
            floats = {k: numbers[k] for k in plain}
            tensors, form = self._called(list(given), _number_beside(leaves, 1.0), floats)
            forms.append(form)
            asked.extend(tracer.asked)
            made.append(tracer.made)
            arithmetic.append(tracer.arithmetic)
            facts.extend(tracer.facts.values())
            self._symbols += tracer.symbols
            edges = [t._edge() for t in tracer.asked_of]
            inside.update(map(id, leaves_behind(edges)))
            return tensors

        with self._mode():
            program, outputs = trace(fn, inputs)
        pairs = enumerate(zip(inputs, self._requires_grad, strict=True))
        turned_on = {k for k, (t, flag) in pairs if t._requires_grad and not flag}
        behind = [set(map(id, leaves_behind([t._edge()]))) for t in outputs]
        targets = set(map(id, asked))
        traced = _Trace(
            program, [Tensor(t._data) for t in outputs], [t._requires_grad for t in outputs],
            [k for k, t in enumerate(outputs) if t._retains_grad],
            *forms, [tuple(id(t) in one for t in inputs) for one in behind], behind,
            tuple(k for k, t in enumerate(inputs) if id(t) in targets), asked,
            frozenset(k for k, t in enumerate(inputs) if id(t) in inside),
            [fact for fact in facts if fact.tensor() is not None], *made, *arithmetic,
        )  # fmt: skip
        if turned_on:
            raise _AsksForGradients(turned_on, traced)
        return traced

    def _settled(self, leaves: list[Tensor]) -> _Trace:
        """Record a function that may make something at its first call, and nothing after that."""
        name, stand = self.recorded.name, self.recorded.moving.stand
        first, stood = self._trace(list(leaves)), stand()
        found, now = self._trace(self._with_other_numbers(leaves), leaves), stand()
        if _differs(first, found) is not None or found.reads_of(first):
            second, found = found, self._trace(list(leaves))
            _check_kept(name, found.reads_of(second))
            check_repeats(name, _differs(second, found))
        else:
            found = first
        _check_first(name, self._first or first, found)
        _check_stand(name, stood, now)
        self._check_that_none_is_kept()
        self._check_floats(found, lambda plain: self._trace(list(leaves), plain=plain))
        return found

    def _check_floats(self, traced: _Trace, record: Callable[[Collection[int]], _Trace]) -> None:
        """Raise NumberMatters for what is another thing with floats, as their type is asked for.

        record: makes a recording of the same call in which some of the numbers are floats.
        """
        numbers = self.recorded.numbers
        if numbers and not _gives_the_same(traced, record(numbers)):
            others = numbers if len(numbers) > 1 else ()
            found = [k for k in others if not _gives_the_same(traced, record([k]))]
            raise NumberMatters(found or numbers)

    def _check_that_none_is_kept(self) -> None:
        """Raise NumberMatters for numbers that the function has put somewhere: not as symbols."""
        if any(reference() is not None for reference, _ in self._symbols):
            gc.collect()
        kept = [of for reference, of in self._symbols if reference() is not None]
        self._symbols.clear()
        if kept:
            raise NumberMatters(frozenset().union(*kept))

    def _with_other_numbers(self, leaves: list[Tensor]) -> list[Tensor]:
        """Return arguments with floats that are slightly others, which recordings do not tell."""
        found = list(leaves)
        for k in self.recorded.numbers:
            number = leaves[k].item()
            found[k] = _number_beside([leaves[k]], number + max(1.0, abs(number)) * _SLIGHTLY)
        return found

    def _settled_over_points(self, leaves: list[Tensor]) -> tuple[_Trace, list[Result]]:
        """Record such a function with few points, and tell what its results are of them."""
        name, stand = self.recorded.name, self.recorded.moving.stand
        first, stood = self._trace_few(leaves, _FEW), stand()
        second, now = self._trace_few(self._with_other_numbers(leaves), _FEW, leaves), stand()
        _check_kept(name, second.reads_of(first))  # it would be that of few points
        third = first
        if _differs(first, second) is not None:
            third = self._trace_few(leaves, _FEW)
            check_repeats(name, _differs(second, third))
        _check_first(name, self._first or first, third)
        _check_stand(name, stood, now)
        self._check_that_none_is_kept()
        self._check_floats(third, lambda plain: self._trace_few(leaves, _FEW, plain=plain))
        self._probes, _ = self._probed(leaves, second)
        return second, results_over_points(*self._probes, len(self._points))

    def _probed(
        self, leaves: list[Tensor], few: _Trace | None = None
    ) -> tuple[tuple[Program, Program], Hashable]:
        """Return recordings with few points and with twice as many, and the form of results."""
        few = few or self._trace_few(leaves, _FEW)
        more = self._trace_few(leaves, 2 * _FEW)
        self._check_form(few.form, more.form)
        return (self._in_order(few), self._in_order(more)), few.form

    def _in_order(self, traced: _Trace) -> Program:
        return _points_first(traced.program, sorted(self._points))

    def _trace_few(
        self,
        leaves: list[Tensor],
        count: int,
        call: list[Tensor] | None = None,
        plain: Collection[int] = (),
    ) -> _Trace:
        """Record with so many points; what is raised says so, as its shapes are of these.

        MixesPoints where an argument has as many rows as the points and is not named as these are.
        """
        try:
            return self._trace(_few_points(leaves, self._points, count), call, plain)
        except (TraceError, NotAsTensors):
            raise
        except Exception as error:
            unnamed = self._unnamed(leaves)
            if unnamed and isinstance(error, (RuntimeError, ValueError, IndexError)):
                points = dict.fromkeys(self.recorded.called[k] for k in self._points)
                named = ", ".join(f'"{one}"' for one in [*points, unnamed])
                raise MixesPoints(
                    f"{self.recorded.name}: argument {unnamed!r} has as many rows as the points "
                    f"have, {len(leaves[self._points[0]])}, and is not named as they are: compile "
                    f"with points=({named}) where it has a row a point. What is recorded first of "
                    f"all with {count} points has said: {error}"
                ) from error
            error.add_note(
                f"{self.recorded.name} was being recorded with {count} points, first of all: what "
                "else has a row a point has to be an argument that `points` names too, and what "
                "asks for a certain number of them (reshape to a grid, topk) cannot be computed "
                "in chunks: leave out `points` then"
            )
            raise

    def _unnamed(self, leaves: list[Tensor]) -> str | None:
        """Return the first argument that has a row a point and is not named as one that has."""
        rows = leaves[self._points[0]]._data.shape[:1]
        beside = (k for k in range(len(self.recorded.called)) if k not in self._points)
        alike = (self.recorded.called[k] for k in beside if leaves[k]._data.shape[:1] == rows)
        return next(alike, None)

    def _called(
        self, leaves: list[Tensor], share: Tensor, floats: Mapping[int, float] | None = None
    ) -> tuple[list[Tensor], Hashable]:
        """Return the tensors that the function returns, and the form around them.

        floats: the numbers among the arguments that are given as such.
        """
        tensors: list[Tensor] = []
        for leaf, answers, own in zip(leaves, self._answers, self._own, strict=True):
            modes.state.tracer.remember(leaf._data)
            modes.state.tracer.stand_in(leaf, answers)
            leaf.__dict__.update(own)
        try:
            given = [(floats or {}).get(k, leaf) for k, leaf in enumerate(leaves)]
            form = taken_apart(self.recorded.fn(given, share), tensors, {}, plain)
        except Unfit as kind:
            raise TypeError(
                f"{self.recorded.name} returned {kind}; a compiled function returns tensors, "
                "lists, tuples and dicts of them, numbers and None"
            ) from None
        return tensors, form

    def _mode(self) -> Any:
        return modes.enable_grad() if self.grad_mode else modes.no_grad()

    def _leaves(self, rows: list[Tensor]) -> list[Tensor]:
        """Return the arguments of a recording: its own rows, and the places of the others."""
        given = iter(rows)
        return [
            next(given).requires_grad_(flag) if k in self._points else self._places[k]
            for k, flag in enumerate(self._requires_grad)
        ]

    def _of_chunk(self, rows: list[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
        """Return the arguments and the results of a chunk, as they are joined or added up."""
        leaves = self._leaves(rows[: len(self._points)])
        with self._mode():
            points = len(rows[-1]._data) if self._points else self._count
            return leaves, self._parts(leaves, points / self._count)

    def _parts(self, leaves: list[Tensor], share: Tensor) -> list[Tensor]:
        """Return the results of a chunk that has such a share of the points."""
        tensors, _ = self._called(leaves, share)
        return [
            t * cast(share**one.power, np.float64 if t._data.dtype.kind in "iu" else t._data.dtype)
            if one.power else t
            for t, one in zip(tensors, self._results, strict=True)
        ]  # fmt: skip

    def _chunked(self, fn: Callable, kinds: list) -> Chunked:
        return Chunked(
            fn, [*self._places.values(), self._count, *self.parameters], kinds,
            threads=self.recorded.threads, whole=not self._points, executor=self.recorded.executor,
        )  # fmt: skip

    # ---- replaying

    def run(self, tensors: Sequence[Tensor], wanted: tuple[bool, ...]) -> tuple[list, list | None]:
        """Return the results as arrays, and their gradient in what is wanted, where there is one.

        Of a single number the gradient comes with it: it is what is asked for next.
        """
        single = self._is_number and all(self.differentiable) and any(wanted)
        with self._lock, current(self._count.device):
            rows = self._given(tensors)
            self._check_many(tensors, len(rows[0]))
            if not single:
                return list(map(_rounded, self._value(rows), self._dtypes)), None
            if wanted not in self._with_gradients:
                self._with_gradients[wanted] = self._chunked(
                    functools.partial(self._value_and_gradient, wanted),
                    ["sum", *self._gradient_kinds(wanted)],
                )
            value, *gradients = self._with_gradients[wanted](rows)
        following = iter(gradients)
        return [value], [next(following) if one else None for one in wanted]

    def _given(self, tensors: Sequence[Tensor]) -> list:
        for k, place in self._places.items():
            place._data[...] = tensors[k]._data
        if not self._points:
            return [self._count._data.reshape(1)]
        rows = [tensors[k]._data for k in self._points]
        count = len(rows[0])
        self._count._data[...] = count
        return [*rows, namespace_of(rows[0]).ones((count, 1), rows[0].dtype)]

    def _gradient_kinds(self, wanted: tuple[bool, ...]) -> list:
        return ["rows" if k in self._points else "sum" for k, one in enumerate(wanted) if one]

    def _value_and_gradient(self, wanted: tuple[bool, ...], rows: list[Tensor]) -> list[Tensor]:
        leaves, (value,) = self._of_chunk(rows)
        chosen = [t for t, one in zip([*leaves, *self.parameters], wanted, strict=True) if one]
        with _without_hooks(self.parameters):
            gradients = grad(value, chosen, materialize_grads=True)
        return [value.detach(), *gradients]

    def pulled(self, wanted: tuple[bool, ...]) -> Recorded:
        """Return the function of the arguments and a gradient of each result to their product."""
        if wanted not in self._pulled:
            self._pulled[wanted] = self._product(wanted)
        return self._pulled[wanted]

    def _product(self, wanted: tuple[bool, ...]) -> Recorded:
        count, recorded, parameters = len(self._requires_grad), self.recorded, self.parameters
        chosen = [k for k, one in enumerate(self.differentiable) if one]

        def product(given: list[Tensor], share: Tensor) -> list[Tensor]:
            leaves, seeds = given[:count], given[count:]
            further = modes.is_grad_enabled()
            with modes.enable_grad():
                results = self._parts(leaves, share)
            sources = zip([*leaves, *parameters], wanted, strict=True)
            with _without_hooks(parameters):
                return list(grad(
                    [results[k] for k in chosen], [t for t, one in sources if one], seeds,
                    create_graph=further, materialize_grads=True,
                ))  # fmt: skip

        points, joined = (), ()
        if self._points:
            seeds = [count + place for place, k in enumerate(chosen) if self._results[k].joined]
            points = [*self._points, *seeds]
            joined = [kind == "rows" for kind in self._gradient_kinds(wanted)]
        return Recorded(product, points, recorded.name, recorded.threads, recorded.executor, joined)


class _Replay(Function):
    """A call of a recorded function."""

    @staticmethod
    def forward(ctx: Any, plan: Plan, *tensors: Tensor) -> tuple[Tensor, ...]:
        wanted = tuple(map(and_, ctx.needs_input_grad[1:], plan.used))
        arrays, ctx.gradients = plan.run(tensors, wanted if plan.grad_mode else ())
        ctx.plan, ctx.wanted, ctx.written = plan, wanted, _written(tensors, plan)
        ctx.save_for_backward(*tensors)
        outputs = tuple(Tensor(array) for array in arrays)
        if len(outputs) > 1:  # which are asked for tells where there is a gradient
            ctx.set_materialize_grads(False)
        ctx.mark_non_differentiable(
            *(t for t, one in zip(outputs, plan.differentiable, strict=True) if not one)
        )
        return outputs

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        plan = ctx.plan
        if not any(ctx.wanted):
            return (None,) * (1 + len(ctx.wanted))
        if ctx.gradients is not None and not modes.is_grad_enabled():
            ctx.check_saved()
            (seed,) = grads
            one = type(seed._data) is np.ndarray and seed._data == 1  # as that of backward() is
            return (None, *(
                None if g is None else Tensor(g.copy()) if one else Tensor(g) * seed
                for g in ctx.gradients
            ))  # fmt: skip
        tensors = ctx.saved_tensors
        _check_unwritten(plan, *ctx.written)
        count = len(tensors) - len(plan.parameters)
        wanted = ctx.wanted
        if any(g is None for g in grads):  # of some results, zeros are none of their gradients
            wanted = tuple(map(and_, wanted, plan.used_by([g is not None for g in grads])))
            if not any(wanted):
                return (None,) * (1 + len(tensors))
            grads = [
                Tensor(zeros(*meta)) if g is None else g
                for g, meta in zip(grads, ctx._node().output_metas, strict=True)
            ]
        seeds = [g for g, one in zip(grads, plan.differentiable, strict=True) if one]
        products = iter(plan.pulled(wanted)([*tensors[:count], *seeds]))
        return (None, *(next(products) if one else None for one in wanted))


def _written(tensors: Sequence[Tensor], plan: Plan) -> tuple[list, list]:
    """Return how often tensors were written to, past the version check too, and parameters' memory.

    What a backward that computes values again needs as it was, frozen tensors as well.
    """
    frozen = (t for t in (reference() for reference in plan.frozen) if t is not None)
    counts = [(version, tuple(version)) for version in map(writes_to, (*tensors, *frozen))]
    return counts, [t._data for t in plan.parameters]


def _check_unwritten(plan: Plan, counts: list, memory: list) -> None:
    """Raise RuntimeError where values would be computed again from other numbers."""
    if not plan.is_told_the_same():
        raise RuntimeError(
            f"{plan.recorded.name}: .grad, .requires_grad or .shape of a tensor that it reads has "
            "changed since it was called, and this gradient computes its values again: it would "
            "be that of another function. Call backward first, or call the function again"
        )
    moved = any(t._data is not array for t, array in zip(plan.parameters, memory, strict=True))
    if moved or any(tuple(now) != then for now, then in counts):
        raise RuntimeError(
            f"{plan.recorded.name}: what it reads was written to, or changed through .data after "
            "it was called, and this gradient computes its values again: it would be that at other "
            "numbers. Call backward first, or call the function again"
        )


@contextmanager
def _without_hooks(leaves: Sequence[Tensor]) -> Iterator[None]:
    """Leave hooks to the graph that the result of a call belongs to."""
    hooks = [t._hooks for t in leaves]
    for t in leaves:
        t._hooks = None
    try:
        yield
    finally:
        for t, own in zip(leaves, hooks, strict=True):
            t._hooks = own


def _rounded(array: Any, dtype: Any) -> Any:
    """Return whole numbers that were added up from the chunks' shares of them."""
    if dtype.kind not in "iu" or array.dtype == dtype:
        return array
    return namespace_of(array).rint(array).astype(dtype)


def _place_for(tensor: Tensor) -> Tensor:
    return Tensor(copied(tensor._data), tensor._requires_grad)


def _number_beside(leaves: list[Tensor], value: float) -> Tensor:
    """Return a number on the device of some tensors."""
    if not leaves:
        return Tensor(np.full((), value))
    with current(leaves[0].device):
        return Tensor(namespace_of(leaves[0]._data).full((), value))


def _few_points(leaves: list[Tensor], rows: Sequence[int], count: int) -> list[Tensor]:
    """Return tensors with so many points, those there are over and over."""
    found = list(leaves)
    for k in rows:
        data = leaves[k]._data
        with current(device_of(data)):
            if len(data):
                found[k] = Tensor(data[put(np.arange(count) % len(data), device_of(data))])
            else:
                found[k] = Tensor(namespace_of(data).ones((count, *data.shape[1:]), data.dtype))
    return found


def _points_first(program: Any, rows: list[int]) -> Any:
    """Return a program whose inputs that are points come first."""
    points = [program.inputs[k] for k in rows]
    program.inputs = points + [v for k, v in enumerate(program.inputs) if k not in rows]
    return program
