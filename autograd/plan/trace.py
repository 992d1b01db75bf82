"""Recording: run a function once and write down every operation it applies."""

from __future__ import annotations

import weakref
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from .. import devices, modes
from ..ops.matrices.linalg import LinAlgError
from ..ops.registry import Op
from ..saved import no_hooks
from ..tensor import Tensor
from .facts import Answers, Fact, answer
from .program import COMPUTED, CONSTANT, INPUT, Argument, Captured, Instruction, Program, Value
from .symbolic import Arithmetic, NotAsTensors

# The arguments of recordings, and what they have computed from their inputs, as far as it is still
# there: arrays by their ids.
_made: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()


# Of which kinds the errors are that operations raise for some numbers and not for others.
_OF_VALUES = (LinAlgError, np.linalg.LinAlgError, ArithmeticError)


def is_made_while_recording(value: Any) -> bool:
    """Return whether it is an argument of a recording, or a tensor that one has computed."""
    return isinstance(value, Tensor) and _made.get(id(value._data)) is value._data


def _owner(array: Any) -> Any:
    """Return the array whose memory an array is of."""
    while getattr(array, "base", None) is not None and hasattr(array.base, "dtype"):
        array = array.base
    return array


class TraceError(RuntimeError):
    """Something that a recorded program cannot hold was done while recording."""


class NumberMatters(TraceError):
    """A recording would hold for one value alone of some arguments: which, by their positions."""

    def __init__(self, arguments: Collection[int]) -> None:
        super().__init__("a number that changes from call to call was looked at while recording")
        self.arguments = frozenset(arguments)


class Tracer:
    """What `apply` reports to while a function is recorded.

    Arrays are known by identity; all of them are kept alive until the recording ends, so that no
    identity is used twice.  An array that no recorded operation made is a constant, copied as it
    is; `program.captured` tells later whether its tensor has changed since.
    """

    def __init__(self) -> None:
        self.program = Program([], [], [])
        self.values: dict[int, Value] = {}
        self.kept: list[Any] = []
        self.varying: set[Value] = set()  # the inputs and what is computed from them
        self.read_anew: set[Value] = set()  # parameters, and what is computed from them alone
        self.made: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()  # of these
        self.asked: list[Tensor] = []  # in which gradients were taken
        self.asked_of: list[Tensor] = []  # and of what
        self.created: set[int] = set()  # arrays of numbers that were made here, by their ids
        self.shared: dict[int, Tensor] = {}  # by arrays that others have too, whose they are
        self.answers: dict[int, Answers] = {}  # by the ids of what stands for arguments
        self.facts: dict[tuple[int, str], Fact] = {}  # of tensors that were not made here
        self.failure: TraceError | None = None  # the first, whoever catches it
        # arguments that are numbers which may be others at a replay (symbolic.py): what they are in
        # this call, at which of them the function looks, what it computes of them, what stands for
        # them and the results
        self.numbers: dict[int, float] = {}
        self.looked_at: frozenset[int] = frozenset()
        self.arithmetic = Arithmetic()
        self.symbols: list[tuple[weakref.ref, frozenset[int]]] = []
        # tensors that were met, by whose memory they have
        self.holders: defaultdict[int, list[weakref.ref[Tensor]]] = defaultdict(list)

    def add_input(self, tensor: Tensor, name: str) -> None:
        """Declare a tensor as an input of the program."""
        if id(tensor._data) in self.values:
            raise TraceError(
                f"input {name!r} is the same array as another input; pass a copy, so that the two "
                "can differ at replay"
            )
        value = self.program.new_value(tensor._data.shape, tensor._data.dtype)
        value.kind, value.name = INPUT, name
        self._bind(tensor, value)
        self.varying.add(value)
        self.program.inputs.append(value)

    def _bind(self, tensor: Tensor, value: Value) -> None:
        self.values[id(tensor._data)] = value
        self.kept.append(tensor._data)
        self.holders[id(_owner(tensor._data))].append(weakref.ref(tensor))

    def remember(self, array: Any) -> None:
        """Hear of an argument of what is recorded, or of an array that was computed of them."""
        try:
            self.made[id(array)] = _made[id(array)] = array
        except TypeError:  # not all libraries' arrays can be referred to weakly
            pass

    def value_of(self, tensor: Tensor) -> Value:
        """Return the value of a tensor; an unknown one becomes a constant."""
        value = self.values.get(id(tensor._data))
        if value is None:
            value = self.program.new_constant(devices.copied(tensor._data))
            # numbers that were made here are made again, whatever becomes of their tensor
            is_new = id(tensor._data) in self.created
            of = Tensor(tensor._data) if is_new else self.shared.get(id(tensor._data), tensor)
            self.program.captured.append(Captured.of(of, value.data))
            self._bind(tensor, value)
            if of._requires_grad:
                self.read_anew.add(value)
        return value

    def record(self, op: Op, args: Sequence, attributes: dict, outputs: Sequence[Tensor]) -> None:
        """Write down one application."""
        inputs: tuple[Argument, ...] = tuple(
            self.value_of(a) if isinstance(a, Tensor) else a for a in args
        )
        varies = not self.varying.isdisjoint(inputs)
        is_anew = not varies and not self.read_anew.isdisjoint(inputs)
        if varies and op.shaped_by_values:
            self.refuse(f"{op.name}, a result whose shape depends on values,")
        results = []
        for tensor in outputs:
            if id(tensor._data) in self.values:
                # the operation gave its input back (a cast to the same dtype, a full slice)
                tensor._data = tensor._data.view()
            value = self.program.new_value(tensor._data.shape, tensor._data.dtype)
            self._bind(tensor, value)
            if varies:
                self.varying.add(value)
                self.remember(tensor._data)
            elif is_anew:
                self.read_anew.add(value)
            results.append(value)
        self.program.instructions.append(Instruction(op, inputs, dict(attributes), tuple(results)))

    def create(self, tensor: Tensor) -> None:
        """Hear of a tensor of given numbers, zeros say, that was made here."""
        self.created.add(id(tensor._data))
        self.kept.append(tensor._data)

    def share(self, tensor: Tensor) -> None:
        """Hear that another tensor has its array too, as `detach` gives it to one.

        Where that is read it is this one that the function reads: a parameter, say.
        """
        self.shared.setdefault(id(tensor._data), tensor)
        self.kept.append(tensor._data)

    def stand_in(self, tensor: Tensor, answers: Answers) -> None:
        """Hear that a tensor stands for an argument, which is what the function asks."""
        self.answers[id(tensor)] = answers
        self.kept.append(tensor)

    def answer(self, tensor: Tensor, what: str) -> Any:
        """Return what a tensor answers to something besides its numbers: `.grad`, say.

        That of what was made here is always the same; that of others may be another at a replay.
        """
        answers = self.answers.get(id(tensor))
        if answers is not None and what != ".requires_grad":  # as each recording has it
            return answers.to(what, tensor)
        if not self._is_new(tensor) and tensor.__dispatch__ is None:
            self.facts[id(tensor), what] = Fact.of(tensor, what)
        return answer(tensor, what)

    def _is_new(self, tensor: Tensor) -> bool:
        """Return whether a tensor was made here, or is an input."""
        value = self.values.get(id(tensor._data))
        return id(tensor._data) in self.created or (value is not None and value.kind != CONSTANT)

    def check_gradient(self, tensor: Tensor) -> None:
        """Refuse to set the gradient of an argument, or of a tensor that was not made here."""
        if id(tensor) in self.answers or not self._is_new(tensor):
            self.refuse_write("setting .grad", "Do that outside of it")

    def check_graph(self, tensor: Tensor) -> None:
        """Refuse to give the node of an argument, which has none here."""
        if not self.answer(tensor, ".is_leaf") and id(tensor) in self.answers:
            self.refuse("grad_fn of an argument")

    def may_replace(self, tensor: Tensor) -> bool:
        """Return whether a write into a tensor is an operation: its memory is nobody else's.

        It was made here, and nothing that was met and is still there shares its memory: no view,
        no base, and no `detach` of it.
        """
        array = tensor._data
        value = self.values.get(id(array))
        own = id(array) in self.created or (value is not None and value.kind == COMPUTED)
        holders = (reference() for reference in self.holders[id(_owner(array))])
        alone = all(one is None or one is tensor for one in holders)
        return own and alone and id(array) not in self.shared and tensor._view is None

    def varies(self, value: Any) -> bool:
        """Return whether it is a tensor that is an input, or computed from them."""
        return isinstance(value, Tensor) and self.values.get(id(value._data)) in self.varying

    def is_frozen(self, tensor: Tensor) -> bool:
        """Return whether a tensor has the same numbers at each replay, or it is recorded anew."""
        value = self.values.get(id(tensor._data))
        if value is None:
            return not self.shared.get(id(tensor._data), tensor)._requires_grad
        return value not in self.varying and value not in self.read_anew

    def look(self, tensor: Tensor, how: str) -> None:
        """Hear that numbers of a tensor are handed out; TraceError where a replay has others."""
        if not self.is_frozen(tensor):
            self.refuse(f"{how} of a Tensor")
        self.value_of(tensor)  # it is recorded again when these are written to

    def refuse_index(self, array: Any) -> None:
        """Raise TraceError for positions or a mask that are computed from the inputs."""
        if self.values.get(id(array)) in self.varying:
            self.refuse("an index computed from the inputs")

    def refuse(self, what: str) -> None:
        """Raise TraceError for a use of a value that a program cannot repeat."""
        self._fail(
            f"{what} inside a recorded step: the value would be frozen as it is now. Use tensor "
            "operations (where, clamp, gather) instead, or run it without a recording: without "
            "autograd.compile, and with `engine: eager` in a config of pinn"
        )

    def refuse_write(self, what: str, remedy: str) -> None:
        """Raise TraceError for something that happens once, while recording, and never again."""
        self._fail(
            f"{what} inside a recorded step would happen now and never at a replay. {remedy}, or "
            "run it without a recording: without autograd.compile, and with `engine: eager` in a "
            "config of pinn"
        )

    def fail_at(self, op: Op, error: Exception) -> None:
        """Hear that an operation has failed; a function that goes on then is not recorded."""
        if self.failure is None and isinstance(error, _OF_VALUES):
            self.failure = TraceError(
                f"{op.name} failed inside a recorded step ({error}), and the function caught that: "
                "whether it fails depends on numbers, and what it does then would be done at every "
                "replay. Make what does not fail (add to the diagonal), or run it without a "
                "recording: without autograd.compile, and with `engine: eager` in a config of pinn"
            )
            self.failure.__cause__ = error

    def _fail(self, told: str) -> None:
        error = TraceError(told)
        self.failure = self.failure or error  # the function, or numpy, may go on nevertheless
        raise error


def trace(
    fn: Callable[..., Sequence[Tensor]], inputs: Sequence[Tensor], names: Sequence[str] = ()
) -> tuple[Program, list[Tensor]]:
    """Run `fn(*inputs)` once and return the program of it and its results.

    `fn` returns a sequence of Tensors.  Raises TraceError where it looks at values (`bool()`,
    `item()`, `numpy()`, a mask or several positions computed from the inputs), writes in place into
    what others read too, calls `backward()`, steps an optimizer, or draws random numbers;
    NumberMatters, one of these, where it looks at a number that stands for an argument; and
    NotAsTensors where Python's arithmetic has an error for such numbers.
    """
    if modes.state.tracer is not None:
        raise TraceError("a recording is going on in this thread already; recordings do not nest")
    tracer = Tracer()
    names = names or [f"x{k}" for k in range(len(inputs))]
    for tensor, name in zip(inputs, names, strict=True):
        tracer.add_input(tensor, name)
    modes.state.tracer = tracer
    try:
        with no_hooks():  # which are for what is saved at this call, and not at all replays
            results = list(fn(*inputs))
    except NotAsTensors:
        raise
    except Exception as error:
        if tracer.looked_at:  # it may be the error of what stands for the number
            raise NumberMatters(tracer.looked_at) from error
        raise
    finally:
        modes.state.tracer = None
    if tracer.failure is not None:
        raise tracer.failure
    if tracer.arithmetic.failed:
        raise NotAsTensors
    if tracer.looked_at:
        raise NumberMatters(tracer.looked_at)
    tracer.program.outputs = [tracer.value_of(r) for r in results]
    for value in tracer.program.outputs:
        if value.kind == COMPUTED and value.dtype == np.dtype(object):
            raise TraceError("an output is not a numeric array")
    return tracer.program, results
