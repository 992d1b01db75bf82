"""How the results of a function depend on the points that it is given, read off its recording.

A function of points can be run chunk by chunk where each of its results is a row a point, or a sum
over them, such as a mean.  That is told from two recordings, with n points and with 2n: a dimension
that has grown holds the points, and a number that has halved was divided by how many there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, zip_longest
from typing import Any, NamedTuple

import numpy as np

from ..devices import CPU, put
from .number_of_points import BY_NUMBER, MixesPoints, agree, differing_attributes
from .passes.dead import remove_dead_code
from .program import CONSTANT, Argument, Instruction, Program, Value


class Result(NamedTuple):
    """What a result is: a row a point (joined), or a sum over them; that divided by n^power.

    A chunk of m of n points has to multiply its own by (m/n)^power.
    """

    joined: bool
    power: int


@dataclass(frozen=True)
class _Dependence:
    """How a value depends on the points.

    axis   the dimension that holds them; None for values without.
    total  whether it is a sum over points, linear in what each of them adds.
    power  it is that divided by so high a power of their number.
    """

    axis: int | None = None
    total: bool = False
    power: int = 0


_FIXED = _Dependence()
_MEAN = _Dependence(total=True, power=1)


def results_over_points(small: Program, large: Program, points: int) -> list[Result]:
    """Return what each output is.

    small, large: recordings of one function with n and with 2n points; the first `points` inputs
    have these in their first dimension.  What depends on no point is a mean of itself.
    Raises MixesPoints, with the operation, for what is neither a row a point nor a sum.
    """
    return _Reading(remove_dead_code(small), remove_dead_code(large), points).results()


class _Reading:
    def __init__(self, small: Program, large: Program, points: int) -> None:
        self.count = small.inputs[0].shape[0]
        self.small, self.large = small, large
        self.found: dict[Value, _Dependence] = {
            value: _Dependence(axis=0) for value in small.inputs[:points]
        }
        self.twin: dict[Value, Value] = {}  # of a value with n points, that with 2n

    def results(self) -> list[Result]:
        self._pair(self.small.inputs, self.large.inputs)
        instructions = zip_longest(self.small.instructions, self.large.instructions)
        for one, other in instructions:
            alike = one and other and one.op is other.op
            if not (alike and len(one.inputs) == len(other.inputs)):
                raise MixesPoints(BY_NUMBER)
            self._pair(one.inputs, other.inputs)
            self._pair(one.outputs, other.outputs)
            for output, found in zip(one.outputs, self._after(one, other), strict=True):
                self.found[output] = self._checked(one, output, found)
        self._pair(self.small.outputs, self.large.outputs)
        return [self._kind(k, value, self._of(value)) for k, value in enumerate(self.small.outputs)]

    def _pair(self, ones: Sequence[Argument], others: Sequence[Argument]) -> None:
        for one, other in zip(ones, others, strict=True):
            if isinstance(one, Value):
                self.twin[one] = other

    def _kind(self, number: int, value: Value, found: _Dependence) -> Result:
        if found.axis is not None:
            if found.axis or value.shape[0] != self.count:
                raise MixesPoints(
                    f"result {number} of shape {list(value.shape)} for {self.count} points is "
                    "neither a row a point, nor a sum or mean over them"
                )
            return Result(True, found.power)
        return Result(False, found.power + (not found.total))

    # ---- values

    def _of(self, argument: Argument) -> _Dependence:
        if not isinstance(argument, Value):
            return _FIXED
        found = self.found.get(argument)
        if found is None:
            found = self.found[argument] = self._of_constant(argument)
        return found

    def _of_constant(self, value: Value) -> _Dependence:
        """Return that of an input without points, or of a constant: it may be a row for each."""
        axis = self._grown(value)
        other = self.twin[value]
        if value.kind != CONSTANT:
            return _FIXED
        few, more = put(value.data, CPU), put(other.data, CPU)
        if axis is None:
            return replace(_FIXED, power=self._power(few, more, "a constant"))
        rows, fewer = np.moveaxis(more, axis, 0), np.moveaxis(few, axis, 0)
        if value.shape[axis] != self.count or (rows != rows[:1]).any() or (fewer != rows[0]).any():
            raise MixesPoints(
                f"a constant of shape {list(value.shape)} has another number for each of the "
                f"{self.count} points; make it an argument that is named as points"
            )
        return _Dependence(axis=axis)

    def _grown(self, value: Value) -> int | None:
        """Return the dimension that is twice as long with twice the points; None for none."""
        other = self.twin[value].shape
        grown = [k for k, (a, b) in enumerate(zip(value.shape, other, strict=False)) if a != b]
        if len(other) != len(value.shape) or len(grown) > 1:
            raise MixesPoints(
                f"an array of shape {list(value.shape)} for {self.count} points pairs each point "
                "with every other; (n, 1) beside (n,) does so too"
            )
        if not grown:
            return None
        (axis,) = grown
        if other[axis] != 2 * value.shape[axis] or value.shape[axis] % self.count:
            raise MixesPoints(
                f"an array of {value.shape[axis]} rows is made of {self.count} points that were "
                "recorded: some are left out, or added; compile it without points"
            )
        return axis

    def _power(self, one: Any, other: Any, what: str) -> int:
        """Return by which power of the number of points a number was divided."""
        one, other = np.asarray(one), np.asarray(other)
        if np.array_equal(one, other, equal_nan=one.dtype.kind in "fc"):
            return 0
        if one.dtype.kind in "iuf" and one.size == 1:
            ratio = float(one.reshape(-1)[0]) / (float(other.reshape(-1)[0]) or np.nan)
            for power in (-2, -1, 1, 2):
                if agree(ratio, 2.0**power):
                    return power
        raise MixesPoints(f"{what} depends on how many points there are")

    def _checked(self, instruction: Instruction, output: Value, found: _Dependence) -> _Dependence:
        """Return what an operation's rule says, where the shapes agree."""
        axis = self._grown(output)
        if found.axis is None and axis is None:
            return found
        if found.axis is not None and axis is not None:
            return replace(found, axis=axis)
        raise self._refusal(instruction)

    def _refusal(self, instruction: Instruction, what: str = "") -> MixesPoints:
        shapes = ", ".join(str(list(v.shape)) for v in instruction.values())
        return MixesPoints(
            f"operation '{instruction.op.name}' of shapes {shapes}, recorded with {self.count} "
            f"points, {what or 'lets points meet'}; do it with what the compiled function returns, "
            "or compile that without points"
        )

    # ---- operations

    def _after(self, one: Instruction, other: Instruction) -> Iterator[_Dependence]:
        """Return how each output depends on the points."""
        name, sources = one.op.name, [self._of(value) for value in one.values()]
        self._same_attributes(one, other)
        touched = [s for s in sources if s != _FIXED]
        numbers = [
            self._power(a, b, f"a number of operation '{name}'")
            for a, b in zip(one.inputs, other.inputs, strict=True)
            if not isinstance(a, Value) and a is not None
        ]
        if name in ("zeros_like", "ones_like", "new_full"):
            found = replace(_FIXED, axis=self._grown(one.outputs[0]))
        elif not touched and not any(numbers):
            found = replace(_FIXED, axis=self._grown(one.outputs[0]))
            if found.axis is not None and name != "expand":
                raise self._refusal(one, "makes rows of what has none")
        elif name in _RULES:
            found = _RULES[name](self, one, other)
        elif one.op.elementwise:
            found = self._elementwise(one, sources, numbers)
        elif name in _ROW_BY_ROW:
            found = self._row_by_row(one, sources)
        else:
            raise self._refusal(one)
        return chain.from_iterable([found] for _ in one.outputs)

    def _same_attributes(self, one: Instruction, other: Instruction) -> None:
        for key in differing_attributes(one, other):
            raise self._refusal(one, f"has a {key} that depends on how many points there are")

    def _elementwise(
        self, one: Instruction, sources: Sequence[_Dependence], numbers: Sequence[int]
    ) -> _Dependence:
        """A sum may be multiplied by numbers and added to sums; anything may happen to rows."""
        name = one.op.name
        self._aligned(one, sources)
        sources = self._read(one, sources)
        axis = next((0 for s in sources if s.axis is not None), None)
        total = any(s.total for s in sources)
        if total and axis is not None:
            raise self._refusal(one, "brings a sum over points back to each of them")
        if name in ("add", "sub"):
            literal = [v for v in one.inputs if not isinstance(v, Value) and v is not None]
            added = [power for power, v in zip(numbers, literal, strict=True) if v != 0]
            return self._added(one, sources, axis, total, added)
        powers = [s.power for s in sources] + list(numbers)
        rounds = one.outputs[0].dtype.kind not in "fc" and next(one.values()).dtype.kind in "fc"
        if name in _LINEAR and not (rounds and (total or any(powers))):
            return _Dependence(axis, total, powers[0])
        if name == "mul" and sum(s.total for s in sources) <= 1:
            return _Dependence(axis, total, sum(powers))
        if name == "div" and not self._of(one.inputs[1]).total:
            first = self._power_of(one, 0, sources, numbers)
            return _Dependence(axis, total, first - (sum(powers) - first))
        if total:
            raise self._refusal(one, "is not linear in a sum over points")
        if any(powers):
            raise self._refusal(one, "depends on how many points there are")
        return _Dependence(axis)

    def _read(self, one: Instruction, sources: Sequence[_Dependence]) -> list[_Dependence]:
        """Return the dependences of inputs; of those whose values are not read, the points'."""
        named = zip(one.op.inputs, one.inputs, strict=False)
        unread = [name in one.op.unread for name, v in named if isinstance(v, Value)]
        return [
            replace(s, power=0, total=False) if skip else s
            for s, skip in zip(sources, [*unread, *[False] * len(sources)], strict=False)
        ]

    def _power_of(
        self, one: Instruction, position: int, sources: Sequence, numbers: Sequence[int]
    ) -> int:
        if isinstance(one.inputs[position], Value):
            return self._of(one.inputs[position]).power
        return numbers[0]

    def _added(
        self,
        one: Instruction,
        sources: Sequence[_Dependence],
        axis: int | None,
        total: bool,
        numbers: Sequence[int],
    ) -> _Dependence:
        """Add what is of one power; a mean may be added to what depends on no point."""
        powers = {s.power for s in sources if s.total or not total} | set(() if total else numbers)
        if len(powers) > 1:
            raise self._refusal(one, "adds a sum over points to a mean, or to a number of them")
        (power,) = powers
        beside = [s for s in sources if total and not s.total]
        if total and (beside or numbers) and (power != 1 or any(s.power for s in beside)):
            raise self._refusal(
                one, "adds a sum over points to what is no sum: in chunks, each would add it"
            )
        return _Dependence(axis, total, power)

    def _aligned(self, one: Instruction, sources: Sequence[_Dependence]) -> None:
        """Refuse rows that lie in different dimensions of operands that are broadcast."""
        ends = {
            len(value.shape) - source.axis
            for value, source in zip(one.values(), sources, strict=True)
            if source.axis is not None
        }
        if len(ends) > 1:
            raise self._refusal(one)

    def _reduced(self, one: Instruction, other: Instruction) -> _Dependence:
        """sum, mean: over the points, or over other dimensions of rows or of a sum."""
        (source,) = (self._of(value) for value in one.values())
        if source.axis is None or source.axis not in one.attributes["axes"]:
            return source
        return _Dependence(total=True, power=source.power + (one.op.name == "mean"))

    def _summed_to(self, one: Instruction, other: Instruction) -> _Dependence:
        (source,) = (self._of(value) for value in one.values())
        if source.axis is None or self._grown(one.outputs[0]) is not None:
            return source
        return _Dependence(total=True, power=source.power)

    def _reshaped(self, one: Instruction, other: Instruction) -> _Dependence:
        """The points keep what lies before them, so that they stay next to each other."""
        (source,) = (self._of(value) for value in one.values())
        axis = self._grown(one.outputs[0])
        if source.axis is not None and axis is not None:
            (value,), output = one.values(), one.outputs[0]
            if np.prod(value.shape[: source.axis]) != np.prod(output.shape[:axis]):
                raise self._refusal(one, "moves the numbers of a point to another")
        return source

    def _expanded(self, one: Instruction, other: Instruction) -> _Dependence:
        (source,) = (self._of(value) for value in one.values())
        if source.total and self._grown(one.outputs[0]) is not None:
            raise self._refusal(one, "brings a sum over points back to each of them")
        if source.axis is None and self._grown(one.outputs[0]) is not None:
            return replace(source, axis=0)
        return source

    def _moved(self, one: Instruction, other: Instruction) -> _Dependence:
        (source,) = (self._of(value) for value in one.values())
        return source

    def _part(self, one: Instruction, other: Instruction) -> _Dependence:
        """Slices and their transposes: all of the points, or none of them.

        _grown has seen that an output with rows has them all, as steps are positive.
        """
        (source,) = (self._of(value) for value in one.values())
        if source.axis is not None and self._grown(one.outputs[0]) is None:
            raise self._refusal(one, "takes some of the points")
        pairs = zip(one.attributes["index"], other.attributes["index"], strict=True)
        for a, b in pairs:
            whole = source.axis is not None and isinstance(a, slice) and not a.start
            if a != b and not whole:
                raise self._refusal(one, "has an index that depends on how many points there are")
        return source

    def _joined(self, one: Instruction, other: Instruction) -> _Dependence:
        sources = {self._of(value) for value in one.values()}
        if sources == {_MEAN, _FIXED}:  # as where these are added
            return _MEAN
        if len(sources) > 1:
            raise self._refusal(one, "joins what depends on the points in different ways")
        (source,) = sources
        if source.axis is not None and one.op.name == "cat":
            if one.attributes["dim"] % len(one.outputs[0].shape) == source.axis:
                raise self._refusal(one, "joins points to points")
        return source

    def _taken_apart(self, one: Instruction, other: Instruction) -> _Dependence:
        (source,) = (self._of(value) for value in one.values())
        along = one.attributes["dim"] % len(next(one.values()).shape)
        if source.axis == along:
            raise self._refusal(one, "takes the points apart")
        return source

    def _row_by_row(self, one: Instruction, sources: Sequence[_Dependence]) -> _Dependence:
        """What goes along some dimensions, where none of them is the points'."""
        attributes = one.attributes
        along = attributes.get("axes", attributes.get("dim"))
        along = along if isinstance(along, tuple) else (along,)
        (source,), (value,) = sources, one.values()
        rows = source.axis is not None and None not in along
        if not rows or source.power or source.axis in [k % len(value.shape) for k in along]:
            raise self._refusal(one)
        return source

    def _looked_up(self, one: Instruction, other: Instruction) -> _Dependence:
        """Rows of a table, one or some for each point."""
        table, index = (self._of(value) for value in one.values())
        if table != _FIXED or index.axis is None:
            raise self._refusal(one)
        return index

    def _stacked(self, one: Instruction, other: Instruction) -> _Dependence:
        """What is done with each matrix of a stack, where the points are along it."""
        pairs = [(self._of(v), len(v.shape)) for v in one.values()]
        ends = {ndim - source.axis for source, ndim in pairs if source.axis is not None}
        are_stacks = all(ndim > 2 for _, ndim in pairs) and all(end > 2 for end in ends)
        if not are_stacks or len(ends) > 1 or any(s.power or s.total for s, _ in pairs):
            raise self._refusal(one)
        return _Dependence(axis=0)

    def _distances(self, one: Instruction, other: Instruction) -> _Dependence:
        """Distances of p rows to r others, and their derivatives: the points are one or the other.

        The derivatives are linear in their first input.
        """
        *terms, result = _LETTERS[one.op.name]
        first, *others = (self._of(value) for value in one.values())
        fixed = others if len(others) > 1 else [first, *others]
        if any(s.total or s.power for s in fixed):
            raise self._refusal(one, "is not linear in a sum over points")
        places: set[Any] = set()
        for value, source, term in zip(one.values(), (first, *others), terms, strict=True):
            if source.axis is not None:
                end = len(value.shape) - source.axis
                places.add(term[-end] if end <= len(term) else end)  # or a dimension of batches
        if len(places) > 1 or "m" in places or (places and first.total):
            raise self._refusal(one)
        if places and places <= {*"pr"} - {*result}:
            return _Dependence(total=True, power=first.power)
        return replace(first, axis=0) if places else first

    def _product(self, one: Instruction, other: Instruction) -> _Dependence:
        """A product of matrices: over the points where both have them there, or row by row."""
        left, right = one.inputs[:2]
        x, y = self._of(left), self._of(right)
        flipped = one.attributes.get("transpose_x"), one.attributes.get("transpose_y")
        over_x = len(left.shape) - (2 if flipped[0] and len(left.shape) > 1 else 1)
        backward = flipped[1] or one.op.name == "linear" or len(right.shape) == 1
        over_y = len(right.shape) - (1 if backward else 2)
        power = x.power + y.power
        if one.op.name == "linear" and len(one.inputs) > 2 and one.inputs[2] is not None:
            bias = self._of(one.inputs[2])
            if bias.axis is not None or bias.total or x.total or y.total or power or bias.power:
                raise self._refusal(one)
        if x.axis == over_x and y.axis == over_y and None not in (x.axis, y.axis):
            return _Dependence(total=True, power=power)
        if x.axis == over_x or y.axis == over_y:
            if (x.axis, y.axis) != (None, None):
                raise self._refusal(one)
        if x.total or y.total:
            if x.total and y.total or x.axis is not None or y.axis is not None:
                raise self._refusal(one, "is not linear in a sum over points")
            return _Dependence(total=True, power=power)
        if x.axis is not None and y.axis is not None:  # both in a dimension of batches
            if len(left.shape) - x.axis != len(right.shape) - y.axis:
                raise self._refusal(one)
        return _Dependence(axis=0, power=power)


_LETTERS = {
    "euclidean_distance": ("pm", "rm", "pr"),
    "pulled": ("pr", "pm", "rm", "pm"),
    "projected": ("pm", "pm", "rm", "pr"),
}
"""The last two dimensions of the inputs and of the output, as `_Reading._distances` reads them."""

_Rule = Callable[[_Reading, Instruction, Instruction], _Dependence]
_RULES: dict[str, _Rule] = {
    "sum": _Reading._reduced,
    "mean": _Reading._reduced,
    "sum_to": _Reading._summed_to,
    "reshape": _Reading._reshaped,
    "expand": _Reading._expanded,
    "permute": _Reading._moved,
    "slice": _Reading._part,
    "embed": _Reading._part,
    "cat": _Reading._joined,
    "stack": _Reading._joined,
    "index_select": _Reading._looked_up,
    "unbind": _Reading._taken_apart,
    "split": _Reading._taken_apart,
    "matmul": _Reading._product,
    "linear": _Reading._product,
} | dict.fromkeys(_LETTERS, _Reading._distances) | dict.fromkeys(
    ("linalg_solve", "linalg_inv", "linalg_det", "linalg_slogdet", "linalg_cholesky"),
    _Reading._stacked,
)
_LINEAR = frozenset({
    "neg", "to", "to_device", "clone", "real", "imag", "conj", "slope_of_line",
})  # fmt: skip
# What goes along the dimensions in `axes` or `dim`, and treats the others' places apart.
_ROW_BY_ROW = frozenset(
    {
        "var",
        "std",
        "prod",
        "amax",
        "amin",
        "argmax",
        "argmin",
        "vector_norm",
        "softmax",
        "log_softmax",
        "logsumexp",
        "cumsum",
        "cumprod",
        "flip",
        "all",
        "any",
        "count_nonzero",
    }
)
