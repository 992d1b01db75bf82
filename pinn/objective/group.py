"""Blocks at the same points: one sweep gives what all of them ask for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import autograd as T
from pinn.equations.jets import JetPlan
from pinn.equations.nested import NestedPlan
from pinn.equations.values import ModelValues
from pinn.objective.block import Block
from pinn.objective.evaluator import Evaluator
from pinn.residuals import Residual
from pinn.sampling import Points

# Blocks whose forms are chosen one by one.
_TRIED_APART = 32


class Group:
    """Some blocks, evaluated together at points that they share.

    plan: how the derivatives of all of them are found. Printing it shows its channels. spread: the
    most points a point that the model is evaluated at, as for integrals.
    """

    def __init__(self, blocks: Sequence[Block], evaluator: Evaluator) -> None:
        self.blocks = tuple(blocks)
        self.key = tuple(block.name for block in blocks)
        self.whole = blocks[0].whole
        columns = [name for block in blocks for name in block.residual.source.columns]
        self.attached = tuple(dict.fromkeys(columns))
        self._evaluator = evaluator
        self.plan, self._residuals = _cheapest(blocks, evaluator)
        # an operation without a Taylor rule shows here
        probe = [T.Tensor(a) for a in evaluator.arrays(blocks[0].probe(), self.attached)]
        values, residuals = self._evaluated(probe)
        self.spread = values.spread
        for block, residual in zip(blocks, residuals, strict=True):
            block.check_trains(residual)

    def residuals(self, columns: Sequence[T.Tensor]) -> list[T.Tensor]:
        """Return each block's residual, (rows,), at points given by leaves, with their graph."""
        return self._evaluated(columns)[1]

    def _evaluated(self, columns: Sequence[T.Tensor]) -> tuple[ModelValues, list[T.Tensor]]:
        values = self._evaluator.values(columns, self.attached, self.plan)
        return values, [residual.evaluate(values) for residual in self._residuals]


@dataclass(frozen=True)
class Placed:
    """A group at points. arrays: (n, 1) on the device, coordinates and what is attached."""

    group: Group
    points: Points
    arrays: list[Any]

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks of the group."""
        return self.group.blocks

    def __getitem__(self, part: slice) -> Placed:
        return Placed(self.group, self.points[part], [array[part] for array in self.arrays])


def sharing(blocks_at: Iterable[tuple[Block, Points]]) -> list[tuple[list[Block], Points]]:
    """Put blocks together that have equal points, those of the points as a whole apart."""
    found: list[tuple[list[Block], Points]] = []
    for block, points in blocks_at:
        for blocks, others in found:
            if blocks[0].whole == block.whole and _equal(points, others):
                blocks.append(block)
                break
        else:
            found.append(([block], points))
    return found


def _equal(a: Points, b: Points) -> bool:
    if a is b:
        return True
    return (
        np.array_equal(a.coordinates, b.coordinates)
        and a.columns.keys() == b.columns.keys()
        and all(np.array_equal(column, b.columns[name]) for name, column in a.columns.items())
    )


def _cheapest(
    blocks: Sequence[Block], evaluator: Evaluator
) -> tuple[NestedPlan | JetPlan, list[Residual]]:
    """Return the plan with the fewest channels, and the residuals in the form that it is for.

    A sum of derivatives as one leaf may save a channel or cost one, and what it does depends on
    what the other blocks ask for: each block's is taken, or left, in turn, from both ends. Of very
    many blocks all are taken or none, which keeps the work linear.
    """
    forms: list[list[tuple[Residual, Sequence[Any]]]]
    forms = [[(block.residual, block.asked())] for block in blocks]
    plain = (0,) * len(blocks)
    if evaluator.derivatives == "jets":
        for own in forms:
            combined = own[0][0].combined(evaluator.dtype)
            if combined is not None:
                own.append((combined, combined.leaves))

    @cache
    def planned(choice: tuple[int, ...]) -> JetPlan | NestedPlan:
        taken = [form[k] for form, k in zip(forms, choice, strict=True)]
        return evaluator.plan(leaf for _, leaves in taken for leaf in leaves)

    def cost(choice: tuple[int, ...]) -> int:
        plan = planned(choice)
        return plan.channels.count if isinstance(plan, JetPlan) else 0

    best = plain
    for choice in (plain, tuple(len(form) - 1 for form in forms)):
        for k, form in enumerate(forms if len(forms) <= _TRIED_APART else ()):
            trials = [(*choice[:k], other, *choice[k + 1 :]) for other in range(len(form))]
            choice = min([choice, *trials], key=cost)
        best = min(best, choice, key=cost)
    return planned(best), [form[k][0] for form, k in zip(forms, best, strict=True)]
