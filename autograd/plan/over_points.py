"""How the results of a function depend on the points that it is given, read off its recording.

A function of points can be run chunk by chunk where each of its results is a row a point, or a sum
over them, such as a mean.  That is told from two recordings, with n points and with 2n: a dimension
that has grown holds the points, and a number that has halved was divided by how many there are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, zip_longest
from typing import Any, NamedTuple

import numpy as np

from ..devices import CPU, put
from . import at_positions, bilinear_forms, look_ups
from .along import dimensions_along
from .dependence import FIXED, Dependence
from .number_of_points import BY_NUMBER, MixesPoints, agree, differing_attributes
from .passes.dead import remove_dead_code
from .program import CONSTANT, Argument, Instruction, Program, Value


class Result(NamedTuple):
    """What a result is: a row a point (joined), or a sum over them; that divided by n^power.

    A chunk of m of n points has to multiply its own by (m/n)^power.
    """

    joined: bool
    power: int


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
        self.found: dict[Value, Dependence] = {
            value: Dependence(axis=0, inner=1) for value in small.inputs[:points]
        }
        self.twin: dict[Value, Value] = {}  # of a value with n points, that with 2n
        self.zeros: set[Value] = set()

    def results(self) -> list[Result]:
        self._pair(self.small.inputs, self.large.inputs)
        instructions = zip_longest(self.small.instructions, self.large.instructions)
        for one, other in instructions:
            alike = one and other and one.op is other.op
            if not (alike and len(one.inputs) == len(other.inputs)):
                raise MixesPoints(BY_NUMBER)
            self._pair(one.inputs, other.inputs)
            if len(one.outputs) != len(other.outputs):
                raise self.refusal(one, "takes the points apart")
            self._pair(one.outputs, other.outputs)
            for output, found in zip(one.outputs, self._after(one, other), strict=True):
                self.found[output] = self._checked(one, output, found)
        self._pair(self.small.outputs, self.large.outputs)
        return [self._kind(k, value, self.of(value)) for k, value in enumerate(self.small.outputs)]

    def _pair(self, ones: Sequence[Argument], others: Sequence[Argument]) -> None:
        for one, other in zip(ones, others, strict=True):
            if isinstance(one, Value) != isinstance(other, Value):
                raise MixesPoints(BY_NUMBER)
            if isinstance(one, Value):
                known = self.twin.setdefault(one, other)
                if known is not other and one.kind != CONSTANT:
                    raise MixesPoints(BY_NUMBER)

    def _kind(self, number: int, value: Value, found: Dependence) -> Result:
        if found.axis is not None:
            if found.axis or value.shape[0] != self.count:
                raise MixesPoints(
                    f"result {number} of shape {list(value.shape)} for {self.count} points is "
                    "neither a row a point, nor a sum or mean over them"
                )
            return Result(True, found.power)
        return Result(False, found.power + (not found.total))

    # ---- values

    def of(self, argument: Argument) -> Dependence:
        if not isinstance(argument, Value):
            return FIXED
        found = self.found.get(argument)
        if found is None:
            found = self.found[argument] = self._of_constant(argument)
        return found

    def _of_constant(self, value: Value) -> Dependence:
        """Return that of an input without points, or of a constant: it may be a row for each."""
        axis = self.grown(value)
        other = self.twin[value]
        if value.kind != CONSTANT:
            return FIXED
        few, more = put(value.data, CPU), put(other.data, CPU)
        if axis is None:
            return replace(FIXED, power=self._power(few, more, "a constant"))
        rows, fewer = np.moveaxis(more, axis, 0), np.moveaxis(few, axis, 0)
        if value.shape[axis] != self.count or (rows != rows[:1]).any() or (fewer != rows[0]).any():
            raise MixesPoints(
                f"a constant of shape {list(value.shape)} has another number for each of the "
                f"{self.count} points; make it an argument that is named as points"
            )
        return Dependence(axis, value.shape[axis] // self.count)

    def is_zero(self, argument: Argument) -> bool:
        """Return whether an argument is known to be 0 everywhere."""
        if not isinstance(argument, Value):
            return argument == 0
        if argument.kind == CONSTANT and not put(argument.data, CPU).any():
            self.zeros.add(argument)
        return argument in self.zeros

    def grown(self, value: Value) -> int | None:
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

    def _checked(self, instruction: Instruction, output: Value, found: Dependence) -> Dependence:
        """Return what an operation's rule says, where the shapes agree."""
        axis = self.grown(output)
        if found.axis is None and axis is None:
            return found
        if found.axis is None or axis is None:
            raise self.refusal(instruction)
        inner = found.inner or output.shape[axis] // self.count
        if output.shape[axis] % (inner * self.count):
            raise self.refusal(instruction)
        return replace(found, axis=axis, inner=inner)

    def refusal(self, instruction: Instruction, what: str = "") -> MixesPoints:
        shapes = ", ".join(str(list(v.shape)) for v in instruction.values())
        return MixesPoints(
            f"operation '{instruction.op.name}' of shapes {shapes}, recorded with {self.count} "
            f"points, {what or 'lets points meet'}; do it with what the compiled function returns, "
            "or compile that without points"
        )

    # ---- operations

    def _after(self, one: Instruction, other: Instruction) -> Iterator[Dependence]:
        """Return how each output depends on the points."""
        name, sources = one.op.name, [self.of(value) for value in one.values()]
        self._same_attributes(one, other)
        touched = [s for s in sources if s != FIXED]
        numbers = [
            self._power(a, b, f"a number of operation '{name}'")
            for a, b in zip(one.inputs, other.inputs, strict=True)
            if not isinstance(a, Value) and a is not None
        ]
        if name in _ALIKE:
            found = replace(FIXED, axis=self.grown(one.outputs[0]))
        elif not touched and not any(numbers):
            found = replace(FIXED, axis=self.grown(one.outputs[0]))
            if found.axis is not None and name != "expand":
                raise self.refusal(one, "makes rows of what has none")
            if at_positions.depends_on_number(one, other):
                raise self.refusal(one, "has an index that depends on how many points there are")
        elif one.op.elementwise:
            found = self._elementwise(one, sources, numbers)
        elif any(numbers):
            raise self.refusal(one, "depends on how many points there are")
        else:
            rule = _RULES.get(name)
            found = rule(self, one, other) if rule else None
            if found is None:
                found = self._row_by_row(one)
        self._follow_zeros(one)
        return chain.from_iterable([found] for _ in one.outputs)

    def _follow_zeros(self, one: Instruction) -> None:
        is_new = one.op.name in _ALIKE and one.attributes.get("value", 0) == 0
        moves = one.op.linear and all(map(self.is_zero, one.inputs))
        if (is_new and one.op.name != "ones_like") or moves:
            self.zeros.update(one.outputs)

    def _same_attributes(self, one: Instruction, other: Instruction) -> None:
        for key in differing_attributes(one, other):
            raise self.refusal(one, f"has a {key} that depends on how many points there are")

    def _elementwise(
        self, one: Instruction, sources: Sequence[Dependence], numbers: Sequence[int]
    ) -> Dependence:
        """A sum may be multiplied by numbers and added to sums; anything may happen to rows."""
        name = one.op.name
        axis, inner = self._aligned(one, sources)
        sources = self._read(one, sources)
        total = any(s.total for s in sources)
        if total and axis is not None:
            raise self.refusal(one, "brings a sum over points back to each of them")
        if name in ("add", "sub"):
            literal = [v for v in one.inputs if not isinstance(v, Value) and v is not None]
            added = [power for power, v in zip(numbers, literal, strict=True) if v != 0]
            return replace(self._added(one, sources, axis, total, added), inner=inner)
        powers = [s.power for s in sources] + list(numbers)
        rounds = one.outputs[0].dtype.kind not in "fc" and next(one.values()).dtype.kind in "fc"
        if name in _LINEAR and not (rounds and (total or any(powers))):
            return Dependence(axis, inner, total, powers[0])
        if name == "mul" and sum(s.total for s in sources) <= 1:
            return Dependence(axis, inner, total, sum(powers))
        if name == "div" and not self.of(one.inputs[1]).total:
            first = self._power_of(one, 0, sources, numbers)
            return Dependence(axis, inner, total, first - (sum(powers) - first))
        if total:
            raise self.refusal(one, "is not linear in a sum over points")
        if any(powers):
            raise self.refusal(one, "depends on how many points there are")
        return Dependence(axis, inner)

    def _read(self, one: Instruction, sources: Sequence[Dependence]) -> list[Dependence]:
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
            return self.of(one.inputs[position]).power
        return numbers[0]

    def _added(
        self,
        one: Instruction,
        sources: Sequence[Dependence],
        axis: int | None,
        total: bool,
        numbers: Sequence[int],
    ) -> Dependence:
        """Add what is of one power; a mean may be added to what depends on no point."""
        powers = {s.power for s in sources if s.total or not total} | set(() if total else numbers)
        if len(powers) > 1:
            raise self.refusal(one, "adds a sum over points to a mean, or to a number of them")
        (power,) = powers
        beside = [s for s in sources if total and not s.total]
        if total and (beside or numbers) and (power != 1 or any(s.power for s in beside)):
            raise self.refusal(
                one, "adds a sum over points to what is no sum: in chunks, each would add it"
            )
        return Dependence(axis, total=total, power=power)

    def _aligned(
        self, one: Instruction, sources: Sequence[Dependence]
    ) -> tuple[int | None, int]:
        """Return where the rows of operands that are broadcast lie, counted from the end.

        None for no rows; the second is `inner`.  Refused are rows in different dimensions.
        """
        places = {
            (source.axis - len(value.shape), source.inner)
            for value, source in zip(one.values(), sources, strict=True)
            if source.axis is not None
        }
        if len(places) > 1:
            raise self.refusal(one)
        return next(iter(places), (None, 0))

    def _reduced(self, one: Instruction, other: Instruction) -> Dependence | None:
        """sum, mean: over the points, or over other dimensions of rows or of a sum."""
        (source,) = (self.of(value) for value in one.values())
        if source.axis is None or source.axis not in one.attributes["axes"]:
            return source if one.op.linear else None
        if source.power and not one.op.linear:
            raise self.refusal(one, "depends on how many points there are")
        return Dependence(total=True, power=source.power + (one.op.name == "mean"))

    def _summed_to(self, one: Instruction, other: Instruction) -> Dependence:
        (source,) = (self.of(value) for value in one.values())
        if source.axis is None or self.grown(one.outputs[0]) is not None:
            return source
        return Dependence(total=True, power=source.power)

    def _reshaped(self, one: Instruction, other: Instruction) -> Dependence:
        """What lies before the points and what lies after them stays there."""
        (source,) = (self.of(value) for value in one.values())
        axis = self.grown(one.outputs[0])
        if source.axis is None or axis is None:
            return source
        (value,), output = one.values(), one.outputs[0]
        if not output.size:
            return replace(source, inner=0)
        inner = source.inner * math.prod(value.shape[source.axis + 1 :])
        after = math.prod(output.shape[axis + 1 :])
        if inner % after or output.shape[axis] % (self.count * (inner // after)):
            raise self.refusal(one, "moves the numbers of a point to another")
        return replace(source, inner=inner // after)

    def _expanded(self, one: Instruction, other: Instruction) -> Dependence:
        (source,) = (self.of(value) for value in one.values())
        if source.total and self.grown(one.outputs[0]) is not None:
            raise self.refusal(one, "brings a sum over points back to each of them")
        if source.axis is None and self.grown(one.outputs[0]) is not None:
            return replace(source, axis=0)
        return source

    def _moved(self, one: Instruction, other: Instruction) -> Dependence:
        (source,) = (self.of(value) for value in one.values())
        return source

    def _joined(self, one: Instruction, other: Instruction) -> Dependence:
        source = look_ups.together(self, one, one.values())
        if source.axis is not None and one.op.name == "cat":
            if one.attributes["dim"] % len(one.outputs[0].shape) == source.axis:
                raise self.refusal(one, "joins points to points")
        return source

    def _taken_apart(self, one: Instruction, other: Instruction) -> Dependence:
        (source,) = (self.of(value) for value in one.values())
        along = one.attributes["dim"] % len(next(one.values()).shape)
        if source.axis == along:
            raise self.refusal(one, "takes the points apart")
        return source

    def _row_by_row(self, one: Instruction) -> Dependence:
        """What goes along some dimensions, where none of them is the points'."""
        sources = [self.of(value) for value in one.values()]
        (found, *others), along = sources, dimensions_along(one)
        is_linear = one.op.linear and not others
        if is_linear and found.axis is None:
            return found
        place, inner = self._aligned(one, sources)
        if place is None or along is None or place in along:
            raise self.refusal(one)
        if any(s.total for s in sources):
            raise self.refusal(one, "is not linear in a sum over points")
        if any(s.power for s in sources) and not is_linear:
            raise self.refusal(one, "depends on how many points there are")
        return Dependence(0, inner, power=found.power if is_linear else 0)

    def _product(self, one: Instruction, other: Instruction) -> Dependence:
        """A product of matrices: over the points where both have them there, or row by row."""
        left, right = one.inputs[:2]
        x, y = self.of(left), self.of(right)
        flipped = one.attributes.get("transpose_x"), one.attributes.get("transpose_y")
        over_x = len(left.shape) - (2 if flipped[0] and len(left.shape) > 1 else 1)
        backward = flipped[1] or one.op.name == "linear" or len(right.shape) == 1
        over_y = len(right.shape) - (1 if backward else 2)
        power = x.power + y.power
        if one.op.name == "linear" and len(one.inputs) > 2 and one.inputs[2] is not None:
            bias = self.of(one.inputs[2])
            if bias.axis is not None or bias.total or x.total or y.total or power or bias.power:
                raise self.refusal(one)
        inner = x.inner or y.inner
        if x.axis is not None and y.axis is not None and x.inner != y.inner:
            raise self.refusal(one)
        if x.axis == over_x and y.axis == over_y and None not in (x.axis, y.axis):
            return Dependence(total=True, power=power)
        if x.axis == over_x or y.axis == over_y:
            if (x.axis, y.axis) != (None, None):
                raise self.refusal(one)
        if x.total or y.total:
            if x.total and y.total or x.axis is not None or y.axis is not None:
                raise self.refusal(one, "is not linear in a sum over points")
            return Dependence(total=True, power=power)
        if x.axis is not None and y.axis is not None:  # both in a dimension of batches
            if len(left.shape) - x.axis != len(right.shape) - y.axis:
                raise self.refusal(one)
        return Dependence(0, inner, power=power)


_Rule = Callable[[_Reading, Instruction, Instruction], Dependence | None]
# None where an operation is to be treated as others that go along some dimensions (along.py)
_RULES: dict[str, _Rule] = {
    "sum": _Reading._reduced,
    "mean": _Reading._reduced,
    "count_nonzero": _Reading._reduced,
    "sum_to": _Reading._summed_to,
    "reshape": _Reading._reshaped,
    "expand": _Reading._expanded,
    "permute": _Reading._moved,
    "slice": at_positions.part,
    "index": at_positions.part,
    "embed": at_positions.embedded,
    "index_put": at_positions.put,
    "cat": _Reading._joined,
    "stack": _Reading._joined,
    "index_select": look_ups.selected,
    "index_add": look_ups.slices_added,
    "gather": look_ups.gathered,
    "scatter": look_ups.scattered,
    "scatter_add": look_ups.scattered,
    "scatter_multiply": look_ups.scattered,
    "searchsorted": look_ups.searched,
    "unbind": _Reading._taken_apart,
    "split": _Reading._taken_apart,
    "matmul": _Reading._product,
    "linear": _Reading._product,
} | dict.fromkeys(bilinear_forms.DISTANCES, bilinear_forms.distances) | dict.fromkeys(
    ("conv", "conv_input", "conv_kernel"), bilinear_forms.convolved
)
_LINEAR = frozenset({
    "neg", "to", "to_device", "clone", "real", "imag", "conj", "slope_of_line",
})  # fmt: skip
_ALIKE = frozenset({"zeros_like", "ones_like", "new_full"})
