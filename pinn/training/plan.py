"""A plan of training: which stage comes next, and why."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pinn.objective import Objective
from pinn.optimizers import STAGES, Stage
from pinn.schema import Family
from pinn.schema.declared import Member
from pinn.schema.errors import Path, refuse_kind
from pinn.schema.kinds import Items, OneOrList
from pinn.schema.reader import Reader
from pinn.schema.tree import Mapping as MappingNode
from pinn.schema.tree import Node, Scalar
from pinn.training.course import Choice
from pinn.training.looks import Looks
from pinn.training.records import StageReport

PLANS = Family("training plan", example="'auto'")


@dataclass(frozen=True, kw_only=True)
class Scale:
    """How large a training is.

    size       number of trainable numbers
    rows       number of residual rows of all blocks
    precision  "float64" or "float32"
    seconds    the limit of the whole run, None for none
    """

    size: int
    rows: int
    precision: str
    seconds: float | None

    @classmethod
    def of(cls, objective: Objective, seconds: float | None = None) -> Scale:
        """Return that of an objective that is trained for so long."""
        return cls(
            size=objective.size, rows=objective.rows, precision=objective.dtype.name,
            seconds=seconds,
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Situation(Scale):
    """What a plan has to go by: the scale, and besides

    number   how many stages there were, the running one included
    steps    steps of all stages so far; stage_step: of the running one
    loss     on the present points, the weighted sum; nan before the first evaluation
    fresh_loss  the same on points that training never sees, at the end of the last stage
    stages   the reports of those that have ended
    history  thinned records of steps, as in a report
    looks    the losses that the run is judged by; weights: of the blocks, (B,)
    weighed_at  the step after which a weighting moved weights last, 0 where none did
    left     what is left of `seconds`, None for no limit

    Where there is no limit a plan must not look at times, so that equal runs have equal bits.
    """

    number: int
    steps: int
    stage_step: int
    loss: float
    fresh_loss: float
    stages: Sequence[StageReport]
    history: Sequence[Mapping[str, Any]]
    looks: Looks
    weights: np.ndarray
    left: float | None
    weighed_at: int = 0

    def fall(self, steps: float) -> float:
        """Return the logarithm by which the loss on fresh points fell over the last steps.

        See Looks.fall; infinite where that is not known yet.
        """
        return self.looks.fall(self.weights, int(self.steps - steps))

    def what_fell(self, steps: float) -> str:
        """Return the name of what `fall` tells of: no loss in the log where weights were moved."""
        moved = self.weighed_at > self.steps - steps
        return "the loss on fresh points" + ", by the weights of now all along," * moved


class Plan(ABC):
    """Chooses the stages of training while it runs; immutable, what it knows it is told.

    count: how many stages there will be, None where that turns out on the way.
    """

    family = PLANS
    count: int | None = None

    @abstractmethod
    def next(self, now: Situation) -> Choice:
        """Return the stage that comes next, or none where training is done, and why."""

    def enough(self, stage: Stage, now: Situation) -> str | None:
        """Say why the running stage has come to nothing more; None where it goes on.

        Asked at every look at the loss on fresh points. The stage then ends as "stalled".
        """
        return None

    def suited(self, model: Any) -> Plan:
        """Return the plan that is followed for a model: this one, or one made for its kind."""
        return self

    def again(self, number: int, stage: Stage, scale: Scale) -> Stage:
        """Return a stage that was chosen before, with the limits that it would have now.

        As it was, unless a plan knows better. number: from 0.
        """
        return stage

    @abstractmethod
    def foreseen(self, scale: Scale) -> tuple[Stage, ...]:
        """Return the stages that are run where nothing unforeseen happens."""


@dataclass(frozen=True)
class InTurn(Plan):
    """Stages that were chosen before: one after the other."""

    given: tuple[Stage, ...]

    @property
    def count(self) -> int:
        return len(self.given)

    def next(self, now: Situation) -> Choice:
        return Choice(self.given[now.number] if now.number < self.count else None)

    def again(self, number: int, stage: Stage, scale: Scale) -> Stage:
        return self.given[number]

    def foreseen(self, scale: Scale) -> tuple[Stage, ...]:
        return self.given


PLANS.base = Plan


@dataclass(frozen=True)
class PlanKind(Member):
    """A plan, or its name where its defaults will do."""

    @property
    def what(self) -> str:
        return ", ".join(self.family)

    def check(self, value: Any) -> Any:
        if isinstance(value, str) and value in self.family:
            return self.family[value]()
        if not isinstance(value, Plan):
            remedy = "put it in [ ]" if isinstance(value, Stage) else f"write [{STAGES.example}]"
            refuse_kind(f"{self.what} or a list of training stages", value, f"; {remedy}")
        return value

    def read(self, node: Node, path: Path, reader: Reader) -> Any:
        if isinstance(node, Scalar) and node.is_null:
            node = Scalar(next(iter(self.family)), node.place, quoted=True)
        name = node.text if isinstance(node, Scalar) else None
        if isinstance(node, MappingNode) and len(node.entries) == 1:
            (name,) = node.entries
        if name not in self.family:
            hint = "; put it in [ ]" if name in STAGES else ""
            message = f"expected {self.what} or a list of training stages, got {node}{hint}"
            return reader.complain(path, message, node.place)
        return super().read(node, path, reader)

    def dump(self, value: Any) -> Any:
        ((name, settings),) = super().dump(value).items()
        return {name: settings} if settings else name


TRAINING = OneOrList(PlanKind(PLANS), Items(Member(STAGES), "a list of training stages", least=1))
"""The kind of value that declares how a run is trained."""


def plan_of(training: Plan | Sequence[Stage]) -> Plan:
    """Return the plan that a run's `training` stands for."""
    return training if isinstance(training, Plan) else InTurn(tuple(training))
