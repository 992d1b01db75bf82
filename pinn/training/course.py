"""The course of a run: what was chosen and decided on the way, and by which losses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from pinn.optimizers import Stage
from pinn.training.looks import Looks


@dataclass(frozen=True)
class Choice:
    """The stage that a plan chose, None for the end of training, and a sentence why ("": given)."""

    stage: Stage | None
    why: str = ""


@dataclass(frozen=True)
class Decision:
    """What was decided while training ran, after which step (counted over all stages), and why."""

    step: int
    what: str
    why: str

    def __str__(self) -> str:
        return f"{self.what}: {self.why}"


@dataclass(frozen=True)
class Course:
    """All that a run has decided so far, and what it needs to decide on.

    choices: the stages so far, the running one included. looks: the losses that the run is judged
    by. drawn_at: the step after which the points were drawn last, weighed_at: that after which a
    weighting moved weights last. grown: how often the numbers of points have grown since the start,
    by block.
    """

    looks: Looks = field(repr=False)
    choices: tuple[Choice, ...] = ()
    decisions: tuple[Decision, ...] = ()
    drawn_at: int = 0
    grown: Mapping[str, int] = field(default_factory=dict)
    weighed_at: int = 0

    def chosen(self, choice: Choice) -> Course:
        """Return it with one more stage."""
        return replace(self, choices=(*self.choices, choice))

    def decided(self, decision: Decision) -> Course:
        """Return it with one more decision."""
        return replace(self, decisions=(*self.decisions, decision))

    def looked(self, looks: Looks) -> Course:
        """Return it with other looks."""
        return replace(self, looks=looks)

    def drawn(self, step: int) -> Course:
        """Return it with points that were drawn after a step."""
        return replace(self, drawn_at=step)

    def weighed(self, step: int) -> Course:
        """Return it with weights that were moved after a step."""
        return replace(self, weighed_at=step)

    def grew(self, blocks: tuple[str, ...]) -> Course:
        """Return it with more points of some blocks."""
        more = {name: self.grown.get(name, 0) + 1 for name in blocks}
        return replace(self, grown={**self.grown, **more})

    def with_stages(self, stages: Iterable[Stage]) -> Course:
        """Return it with the chosen stages replaced, in order."""
        pairs = zip(self.choices, stages, strict=True)
        return replace(self, choices=tuple(replace(one, stage=stage) for one, stage in pairs))

    def back_at(self, earlier: Course) -> Course:
        """Return an earlier one that training has gone back to; what was decided stays told."""
        return replace(earlier, decisions=self.decisions)
