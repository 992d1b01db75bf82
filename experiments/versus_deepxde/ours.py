"""Our side: train the config of a case, and look at the error on the way."""

from __future__ import annotations

import dataclasses
import time
import warnings
from typing import Any

import pinn
from experiments.case import Case
from experiments.measure import experiment as experiment_of
from experiments.measure import network
from experiments.versus_deepxde.curve import Stopwatch
from experiments.versus_deepxde.yardstick import Yardstick
from pinn.optimizers import StopReason
from pinn.training import Callback, StageReport, StepRecord

SECONDS = 60.0
"""The time of a config that says none of its own."""


class _Watch(Callback):
    """Looks at the error after steps, and keeps the time when training has ended."""

    def __init__(self, yardstick: Yardstick, watch: Stopwatch) -> None:
        self._yardstick, self._watch = yardstick, watch
        self._session: Any = None

    def on_start(self, session: Any) -> None:
        self._session = session

    def on_step(self, record: StepRecord) -> None:
        self._watch.look(lambda: self._error(self._session.solution(record)))

    def on_stage_end(self, report: StageReport) -> None:
        self.seconds = self._watch.seconds

    def on_end(self, solution: pinn.Solution) -> None:
        self._watch.curve.append((self.seconds, self._error(solution)))

    def _error(self, solution: pinn.Solution) -> float:
        return self._yardstick.error(
            lambda points: solution.evaluate_anywhere(**points), solution.parameters
        )


def run(case: Case, longest: float, seed: int, threads: int) -> dict[str, Any]:
    """Train a case's config for its own time, or `SECONDS`, or `longest` where that is less.

    Returns its figures. The clock runs from the call of pinn.solve, the checks of the problem and
    the recording of its programs included, to the end of training. The problem that is solved has
    no reference.
    """
    yardstick = Yardstick(case)
    experiment = experiment_of(case)
    seconds = min(experiment.seconds or SECONDS, longest)
    problem = dataclasses.replace(experiment.problem, reference=None)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        processor, watch = time.process_time(), Stopwatch()
        solution = pinn.solve(**experiment.arguments | {
            "problem": problem, "seed": seed, "seconds": seconds, "threads": threads,
            "callbacks": [_Watch(yardstick, watch)], "error_bars": False,
        })  # fmt: skip
    report = solution.report
    if report.stop_reason == StopReason.INTERRUPTED:
        raise KeyboardInterrupt
    ended, error = watch.curve[-1]
    return {
        "curve": watch.curve, "seconds": ended, "error": error, "limit_seconds": seconds,
        "cpu_seconds": time.process_time() - processor,
        "network": network(solution.experiment.model), "parameters": solution.theta.size,
        "stages": [vars(stage) | {"reason": str(stage.reason)} for stage in report.stages],
        "coefficients": dict(solution.parameters), "stop_reason": str(report.stop_reason),
        "loss": report.loss, "fresh_loss": report.fresh_loss, "steps": report.steps,
        "reference": yardstick.method, "reference_agreement": yardstick.agreement,
        "warnings": sorted({str(warning.message) for warning in caught}),
    }  # fmt: skip
