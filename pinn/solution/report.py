"""What training leaves to say about a solution."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pinn.optimizers import StopReason
from pinn.solution.accuracy import Errors
from pinn.training.records import StageReport, TrainingResult


@dataclass(frozen=True)
class Report:
    """What training reports.

    stop_reason: why the last stage ended, a StopReason, which compares equal to its text; message
    says it in a sentence, and `stages` has both for each stage. loss is the weighted sum, losses
    the mean squares by block. rel_l2 and max_error by unknown are empty where there is no
    reference; see pinn.solution.accuracy. parameters are the trained coefficients. history holds
    thinned step records. fresh_loss is the loss on points that training never saw, nan where it is
    not known: much larger than loss, it says that the points are fitted and not the equations.
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
            fresh_loss=result.fresh_loss,
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the report as plain data."""
        stages = [vars(stage) | {"reason": str(stage.reason)} for stage in self.stages]
        return vars(self) | {"stop_reason": str(self.stop_reason), "stages": stages}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Report:
        """Return the report that `as_dict` gave; a number that JSON could not hold is nan."""
        stages = tuple(
            StageReport(
                **{
                    **stage,
                    "reason": StopReason(stage["reason"]),
                    "loss": _number(stage["loss"]),
                    "fresh_loss": _number(stage["fresh_loss"]),
                }
            )
            for stage in data["stages"]
        )
        numbers = {
            name: {key: _number(value) for key, value in data[name].items()}
            for name in ("losses", "rel_l2", "max_error", "parameters")
        }
        losses = {name: _number(data[name]) for name in ("loss", "fresh_loss")}
        return cls(**{**data, **numbers, **losses, "stages": stages})

    def __str__(self) -> str:
        return self.summary()

    def summary(self) -> str:
        """Return one line: why it stopped, the loss, the time, and the errors where known."""
        fresh = "" if math.isnan(self.fresh_loss) else f" ({self.fresh_loss:.3e} on fresh points)"
        parts = [
            f"stopped: {self.stop_reason}",
            f"loss {self.loss:.3e}{fresh}",
            f"{self.steps} steps in {self.wall_seconds:.1f} s",
            *(f"{name} = {value:.6g}" for name, value in self.parameters.items()),
            *(
                f"relative L2 error of {name} {value:.2e} (max {self.max_error[name]:.2e})"
                for name, value in self.rel_l2.items()
            ),
        ]
        return "; ".join(parts)


def _number(value: float | None) -> float:
    return math.nan if value is None else value
