"""What training leaves to say about a solution."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pinn.checks import equal_with_nan
from pinn.estimates import ErrorEstimate
from pinn.solution.accuracy import Errors
from pinn.solution.recovery import Recovery
from pinn.solution.report_text import report_text
from pinn.solution.restored import restored
from pinn.training.course import Decision
from pinn.training.records import Setback, StageReport, TrainingResult


@equal_with_nan
@dataclass(frozen=True)
class Report:
    """What training reports.

    stop_reason: why the last stage ended, a StopReason, which compares equal to its text; message
    says it in a sentence, and `stages` has both for each stage. loss is the weighted sum, losses
    the mean squares by block, of rows as they weigh. rel_l2 and max_error by unknown are empty
    where there is no reference; see pinn.solution.accuracy. parameters are the trained
    coefficients. history holds step records, so many of each leg at most (pinn.training.history).
    fresh_loss is the loss on points that training never saw, where all rows weigh 1; nan where it
    is not known. Much larger than loss, it says that the points are fitted and not the equations,
    unless a weighting weighs rows. residual is how far each equation and soft condition is from
    holding, by block, relative to the size of its terms (pinn.diagnosis.scaled_residuals);
    sizes is how large an unknown is that counts in its equations as much as all else
    (pinn.diagnosis.natural_sizes); error_estimate is how far the solution seems to be from the true
    one, found without a reference (pinn.estimates), and empty of runs that are cut short or take no
    longer than it would; recovery has the standard errors of the coefficients and the fit of the
    data; warnings are what was said before training and after it; unsolved is whether a
    pinn.UnsolvedWarning is among them, or training diverged. setbacks
    tell of numbers that were not finite, and of the steps to which training went back after them;
    decisions of the stages that were chosen on the way, of points that were drawn anew because they
    were overfitted, and why.
    """

    stop_reason: str
    message: str
    loss: float
    losses: dict[str, float]
    wall_seconds: float
    steps: int
    stages: tuple[StageReport, ...] = ()
    rel_l2: dict[str, float] = field(default_factory=dict)
    max_error: dict[str, float] = field(default_factory=dict)
    parameters: dict[str, float] = field(default_factory=dict)
    history: list[dict[str, Any]] = field(default_factory=list, repr=False)
    fresh_loss: float = math.nan
    residual: dict[str, float] = field(default_factory=dict)
    sizes: dict[str, float] = field(default_factory=dict, metadata={"later": True})
    error_estimate: ErrorEstimate = ErrorEstimate()
    recovery: Recovery = Recovery()
    warnings: tuple[str, ...] = ()
    unsolved: bool = field(default=False, metadata={"later": True})
    setbacks: tuple[Setback, ...] = ()
    decisions: tuple[Decision, ...] = ()

    @classmethod
    def of(
        cls, result: TrainingResult, errors: Errors, parameters: Mapping[str, float]
    ) -> Report:
        """Return the report of a training run."""
        return cls(
            stop_reason=result.reason,
            message=result.message,
            loss=result.loss,
            losses=result.losses,
            wall_seconds=result.seconds,
            steps=result.steps,
            stages=result.stages,
            rel_l2=errors.rel_l2,
            max_error=errors.max_error,
            parameters=dict(parameters),
            history=result.history,
            # beside a loss that has no value one on other points says nothing
            fresh_loss=result.fresh_loss if math.isfinite(result.loss) else math.nan,
            setbacks=result.setbacks,
            decisions=result.decisions,
        )

    @property
    def doubt_of_coefficients(self) -> str:
        """Why the standard errors are not to be trusted, a sentence; "" where they are."""
        return self.recovery.doubt(self.unsolved)

    def as_dict(self) -> dict[str, Any]:
        """Return the report as plain data."""
        stages = [vars(stage) | {"reason": str(stage.reason)} for stage in self.stages]
        return vars(self) | {
            "stop_reason": str(self.stop_reason),
            "stages": stages,
            "error_estimate": self.error_estimate.as_dict(),
            "recovery": self.recovery.as_dict(),
            "warnings": list(self.warnings),
            "setbacks": [vars(setback) for setback in self.setbacks],
            "decisions": [vars(decision) for decision in self.decisions],
        }

    @classmethod
    def from_dict(cls, data: Any) -> Report:
        """Return the report that `as_dict` gave; a number that JSON could not hold is nan.

        Raises ValueError, naming the place, for anything else.
        """
        report = restored(cls, data, "report")
        if report.rel_l2.keys() != report.max_error.keys():
            raise ValueError("report.max_error: expected the unknowns that report.rel_l2 has")
        return report

    def __str__(self) -> str:
        return report_text(self)

    def _repr_html_(self) -> str:
        """Return it as tables, as a notebook shows it."""
        from pinn.solution.notebook import report_html

        return report_html(self)

    def summary(self) -> str:
        """Return one line: why it stopped, the loss, the time, and the errors where known."""
        fresh = "" if math.isnan(self.fresh_loss) else f" ({self.fresh_loss:.3e} on fresh points)"
        steps = "1 step" if self.steps == 1 else f"{self.steps} steps"
        parts = [
            f"stopped: {self.stop_reason}",
            f"loss {self.loss:.3e}{fresh}",
            f"{steps} in {self.wall_seconds:.1f} s",
            *self.recovery.text(self.parameters, sure=not self.doubt_of_coefficients),
            *(
                f"relative L2 error of {name} {value:.2e} (max {self.max_error[name]:.2e})"
                for name, value in self.rel_l2.items()
            ),
            *self.error_estimate.text(),
        ]
        if self.setbacks:
            count = len(self.setbacks)
            parts.append(f"went back {'once' if count == 1 else f'{count} times'}")
        if self.warnings:
            count = len(self.warnings)
            parts.append("1 warning" if count == 1 else f"{count} warnings")
        return "; ".join(parts)
