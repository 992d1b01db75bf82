"""The history of a run, or of one leg of it: lines of its steps, so many at most however long."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Any

from pinn.training.records import StageReport, StepRecord

STRIDE = 10
"""Steps between two lines, besides the first and last step of each stage, while a run is short."""

MOST = 1000
"""Lines besides those: there are twice as many steps between two whenever there would be more."""


def stride_at(step: int) -> int:
    """Return how many steps are between two lines of a run that has come to a step."""
    stride = STRIDE
    while step > MOST * stride:
        stride *= 2
    return stride


def steps_between_lines(step: int) -> int:
    """Return how many steps are between two lines of a run's metrics, where nothing is asked for.

    A tenth of the steps so far or less, as 1, 2, 5, 10 ..., and a hundred at most: a run of few
    steps, each of which takes long, has some thirty lines as well.
    """
    every = 1
    for longer in (2, 5, 10, 20, 50, 100):
        if step >= 10 * longer:
            every = longer
    return every


class History:
    """The lines of the steps of a run, in the form of StepRecord.as_dict.

    Which steps have one depends on the steps taken and on the stages alone: a run that is gone on
    with has those of one that never stopped. lines: those of a run that is gone on with.
    """

    def __init__(self, lines: Iterable[Mapping[str, Any]] = ()) -> None:
        self.lines: list[dict[str, Any]] = [dict(line) for line in lines]

    def add(self, record: StepRecord, ended: Sequence[StageReport]) -> None:
        """Take a step, if it has a line; ended: the stages before the one that it is of."""
        if stride_at(record.step) > stride_at(record.step - 1):
            self.thin(record.step, ended)
        if _has_line(record):
            self.lines.append(record.as_dict())

    def close(self, record: StepRecord | None) -> None:
        """Take the last step of a stage, unless it is there."""
        if record is not None and (not self.lines or self.lines[-1]["step"] != record.step):
            self.lines.append(record.as_dict())

    def until(self, record: StepRecord) -> list[dict[str, Any]]:
        """Return the lines of a run that goes on after a step.

        The step's own may be there only because training ended at it.
        """
        last = record.step if _has_line(record) else record.step - 1
        return [line for line in self.lines if line["step"] <= last]

    def go_back(self, step: int) -> None:
        """Forget the steps after one."""
        self.lines = [line for line in self.lines if line["step"] <= step]

    def thin(self, step: int, ended: Sequence[StageReport]) -> None:
        """Leave the lines that a run has which has come to a step."""
        stride, last = stride_at(step), set(accumulate(report.steps for report in ended))
        kept = {1} | last | {step + 1 for step in last}
        self.lines = [
            line for line in self.lines if line["step"] % stride == 0 or line["step"] in kept
        ]


def _has_line(record: StepRecord) -> bool:
    """Whether a step has a line, wherever its stage ends."""
    return record.stage_step == 1 or record.step % stride_at(record.step) == 0
