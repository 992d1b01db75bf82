"""What a training run writes to its directory on the way, and at the end."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from pinn.runs.machine import machine_and_versions
from pinn.runs.run import Run
from pinn.solution.solution import Solution
from pinn.training.callbacks import Callback
from pinn.training.records import StageReport, StepRecord

CHECKPOINT_SECONDS = 60.0


class Recorder(Callback):
    """Writes a run directory: the config at the start, metrics and checkpoints on the way.

    directory: must not hold a run yet, unless `overwrite`; it is made when training starts, so what
    `pinn.solve` refuses before leaves nothing behind. config_text: the resolved config. log_every:
    steps between two lines of the metrics; the first and last step of a stage have one as well.
    After training, `write_results` writes what the run ends with.

    Raises OSError, naming the path, when the disk refuses; RunExists when training starts.
    """

    def __init__(
        self,
        directory: str | Path,
        config_text: str,
        log_every: int = 100,
        overwrite: bool = False,
    ) -> None:
        self.directory = Path(directory)
        self.run: Run | None = None
        self._config_text = config_text
        self._log_every = log_every
        self._overwrite = overwrite
        self._session: Any = None
        self._last: StepRecord | None = None
        self._logged = 0
        self._checkpoint_time = 0.0

    def on_start(self, session: Any) -> None:
        self._session = session
        self.run = Run.create(self.directory, self._overwrite)
        self.run.write_config(self._config_text)
        self._checkpoint_time = time.monotonic()

    def on_step(self, record: StepRecord) -> None:
        self._last = record
        if record.stage_step == 1 or record.step % self._log_every == 0:
            self._log(record)
        if time.monotonic() - self._checkpoint_time >= CHECKPOINT_SECONDS:
            self.write_checkpoint()

    def on_stage_end(self, report: StageReport) -> None:
        if self._last is not None and self._logged != self._last.step:
            self._log(self._last)

    def write_checkpoint(self) -> None:
        """Write a checkpoint of the last step; nothing before the first."""
        if self._last is not None:
            self.run.save_checkpoint(self._session.solution(self._last).checkpoint())
            self._checkpoint_time = time.monotonic()

    def write_results(self, solution: Solution) -> None:
        """Write checkpoint.npz, solution.npz and summary.json, in this order."""
        self.run.save_checkpoint(solution.checkpoint())
        solution.save(self.run.solution_path)
        report = solution.report
        self.run.write_summary(
            {
                "name": solution.problem.name,
                "seed": solution.setup.seed,
                "steps": report.steps,
                "wall_s": report.wall_seconds,
                "loss": report.loss,
                "losses": report.losses,
                "fresh_loss": report.fresh_loss,
                "rel_l2": report.rel_l2,
                "max_error": report.max_error,
                "parameters": report.parameters,
                "stop_reason": str(report.stop_reason),
                "message": report.message,
                "stages": report.as_dict()["stages"],
                "precision": solution.setup.precision,
                "device": solution.setup.device,
                **machine_and_versions(),
            }
        )

    def _log(self, record: StepRecord) -> None:
        line = {**record.as_dict(), "fresh_loss": self._session.fresh_loss(record)}
        errors = self._session.errors(record).rel_l2
        self.run.log({**line, "rel_l2": errors} if errors else line)
        self._logged = record.step


def write_figures(run: Run, solution: Solution) -> list[Path]:
    """Draw every unknown of a solution, and the history of the losses, into a run's figures/."""
    from pinn.runs.figures import render_figures

    fields = [solution.field_data(unknown) for unknown in solution.problem.unknowns]
    return render_figures(run, fields)
