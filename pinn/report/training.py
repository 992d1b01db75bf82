"""How training went: what was trained, its stages, and what was decided on the way."""

from __future__ import annotations

from collections.abc import Sequence

from pinn.markup import Html, element, facts, joined, table
from pinn.report.results import duration, short
from pinn.report.subject import Subject
from pinn.training.records import StageReport


def training(subject: Subject) -> Html | None:
    """Return the model, the stages, the decisions and the setbacks of a run."""
    if subject.solution is None:
        return None
    solution, report = subject.solution, subject.solution.report
    run = solution.experiment
    parts = [facts([
        ("model", f"{type(run.model).__name__}, {solution.theta.size} trainable numbers"),
        ("precision", f"{run.precision} on {run.device}"),
        ("seed", str(run.seed)),
    ])]  # fmt: skip
    if report.stages:
        parts += [element("h3", "Stages"), _stages(report.stages)]
    if report.decisions:
        parts.append(element("h3", "Decisions"))
        parts.append(table(
            ["after step", "what", "why"],
            [[str(one.step), one.what, one.why] for one in report.decisions],
        ))
    if report.setbacks:
        parts.append(element("h3", "Setbacks"))
        parts.append(table(
            ["back to step", "stage", "what happened"],
            [[str(one.step), one.stage, str(one)] for one in report.setbacks],
        ))
    return joined(parts)


def _stages(stages: Sequence[StageReport]) -> Html:
    chosen = any(one.chosen for one in stages)
    return table(
        ["stage", "why it ended", *(["why it was chosen"] if chosen else []), "steps", "time",
         "loss", "on fresh points"],
        [
            [one.name, one.message, *([one.chosen] if chosen else []), str(one.steps),
             duration(one.seconds), short(one.loss), short(one.fresh_loss)]
            for one in stages
        ],
        numbers=4,
    )  # fmt: skip
