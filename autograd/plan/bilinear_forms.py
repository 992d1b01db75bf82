"""How distances and convolutions depend on the points: forms that are linear in what they join."""

from __future__ import annotations

from dataclasses import replace

from .dependence import FIXED, Dependence
from .look_ups import Reading
from .program import Instruction

_LETTERS = {
    "euclidean_distance": ("pm", "rm", "pr"),
    "pulled": ("pr", "pm", "rm", "pm"),
    "projected": ("pm", "pm", "rm", "pr"),
}
"""The last two dimensions of the inputs and of the output, as `distances` reads them."""

DISTANCES = frozenset(_LETTERS)


def distances(reading: Reading, one: Instruction, other: Instruction) -> Dependence:
    """Distances of p rows to r others, and their derivatives: the points are one or the other.

    The derivatives are linear in their first input.
    """
    *terms, result = _LETTERS[one.op.name]
    first, *others = sources = [reading.of(value) for value in one.values()]
    fixed = others if len(others) > 1 else sources
    if any(s.total or s.power for s in fixed):
        raise reading.refusal(one, "is not linear in a sum over points")
    places: set[str | int] = set()
    for value, source, term in zip(one.values(), sources, terms, strict=True):
        if source.axis is not None:
            end = len(value.shape) - source.axis
            places.add(term[-end] if end <= len(term) else end)  # or a dimension of batches
    inner = {s.inner for s in sources if s.axis is not None}
    if max(len(places), len(inner)) > 1 or "m" in places or (places and first.total):
        raise reading.refusal(one)
    if not places:
        return first
    if places <= {*"pr"} - {*result}:
        return Dependence(total=True, power=first.power)
    return replace(first, axis=0, inner=inner.pop())


def convolved(reading: Reading, one: Instruction, other: Instruction) -> Dependence:
    """A convolution of each point's numbers with one kernel, or the sum that is its adjoint."""
    x, y = sources = [reading.of(value) for value in one.values()]
    if all(s.axis is None for s in sources):
        if x.total and y.total or FIXED not in (replace(s, total=False) for s in sources):
            raise reading.refusal(one, "is not linear in a sum over points")
        return Dependence(total=x.total or y.total, power=x.power + y.power)
    over_points = one.op.name == "conv_kernel"  # which sums over the first dimension
    others = [s for s in sources if s.axis != 0 or s.inner != 1]
    if others != ([] if over_points else [y]) or any(s.axis is not None or s.total for s in others):
        raise reading.refusal(one)
    power = x.power + y.power
    return Dependence(total=True, power=power) if over_points else Dependence(0, 1, power=power)
