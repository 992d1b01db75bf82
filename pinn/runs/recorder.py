"""What a training run writes to its directory on the way, and at the end."""

from __future__ import annotations

import dataclasses
import time
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from pinn.files import Reserve, sentence_of
from pinn.runs.claim import RunExists
from pinn.runs.machine import machine_and_versions
from pinn.runs.run import Run
from pinn.solution.checkpoint import METRICS_LINES, PREVIOUS_CHECKPOINT
from pinn.solution.report import Report
from pinn.solution.resuming import Resumed
from pinn.solution.solution import Solution
from pinn.solution.storage import experiment_json
from pinn.training.callbacks import Callback
from pinn.training.course import Decision
from pinn.training.history import steps_between_lines
from pinn.training.records import StageReport, StepRecord

# Kept free for the solution and the summary, besides the parameters and the problem's own text.
_HISTORY_BYTES = 2**17


class NotWritten(OSError):
    """Training is over, and some of its files could not be written."""


class Recorder(Callback):
    """Writes a run directory: the config at the start, metrics and checkpoints on the way.

    directory: must not hold a run yet, unless `overwrite`; it is made when training starts, so what
    `pinn.solve` refuses before leaves nothing behind. Training that goes on from a checkpoint of
    this directory (resume=) goes on in it: the metrics after that are written anew.
    config_text: the resolved config. log_every: steps between two lines of the metrics, where left
    out `steps_between_lines`; the first and last step of a stage have one as well, and training
    that ended before its first step has one of step 0. checkpoint_seconds: between two checkpoints,
    at least.
    warn: gets a sentence about the first line, and the first checkpoint, that the disk refuses;
    training goes on, and a RuntimeWarning is given where `warn` is left out. After training,
    `write_results` writes what the run ends with, for which room on the disk is kept from the
    start. As a context manager it lets the directory go.

    When training starts: raises RunExists for a directory that is taken, OSError, naming the path,
    when the disk refuses, TypeError for a problem or model that no file can hold.
    """

    def __init__(
        self,
        directory: str | Path,
        config_text: str,
        log_every: int | None = None,
        checkpoint_seconds: float = 60.0,
        overwrite: bool = False,
        warn: Callable[[str], object] | None = None,
    ) -> None:
        self.directory = Path(directory)
        self.run: Run | None = None
        self._config_text = config_text
        self._log_every = log_every
        self._checkpoint_seconds = checkpoint_seconds
        self._overwrite = overwrite
        self._warn = _warn if warn is None else warn
        self._session: Any = None
        self._last: StepRecord | None = None
        self._from: StepRecord | None = None  # where a run was gone on with
        # What was decided before the first step.
        self._early: list[str] = []
        self._logged = 0
        # Lines of metrics that there are, and that there were when the last step had been told.
        self._lines = 0
        self._lines_then = 0
        # Whether the newest checkpoint there is worth being kept as the one before.
        self._keeps = True
        self._lines_lost = 0
        self._checkpoints_lost = 0
        self._checkpoint_time = 0.0
        self._facts: dict[str, Any] = {}
        self._reserve: Reserve | None = None

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, *error: object) -> None:
        self._release_room()
        if self.run is not None:
            self.run.release()

    # ---- on the way

    def on_start(self, session: Any) -> None:
        # Whatever could fail at the end of training fails now.
        self._facts = machine_and_versions(session.experiment.device)
        declaration = experiment_json(session.experiment)
        self._session = session
        if session.resumed.resume is None:
            # A run that ended before its first step has nothing to lose.
            overwrite = self._overwrite or session.resumed.path is not None
            self.run = Run.create(self.directory, overwrite)
        else:
            self._go_on(session.resumed)
        size = _HISTORY_BYTES + 8 * session.objective.size + 4 * len(declaration)
        self._reserve = Reserve(self.run.solution_path, size)
        self.run.write_config(self._config_text)
        self._checkpoint_time = time.monotonic()

    def _go_on(self, resumed: Resumed) -> None:
        if resumed.lines is None or not resumed.path.parent.samefile(self.directory):
            raise RunExists(
                f"{resumed.path}: expected the checkpoint of the run in {self.directory}, which "
                "the metrics there belong to"
            )
        self.run = Run.go_on(self.directory)
        self._last = self._from = resumed.resume.last
        self._lines = self._lines_then = resumed.lines
        self._keeps = resumed.path.name != PREVIOUS_CHECKPOINT
        self.run.keep_metrics(self._lines)
        logged = self.run.metrics()
        self._logged = logged[-1]["step"] if logged else 0
        # It would say that the run has ended.
        self.run.summary_path.unlink(missing_ok=True)

    def on_step(self, record: StepRecord) -> None:
        self._last, self._lines_then = record, self._lines
        if self._has_line(record):
            self._log(record)
            self._lines_then = self._lines
        # One that explodes is of no use to go on from.
        due = time.monotonic() - self._checkpoint_time >= self._checkpoint_seconds
        if record.is_good and due:
            self._write_checkpoint(record)

    def on_setback(self, record: StepRecord) -> None:
        self._last = record
        self._log(record, {"setback": str(record.setbacks[-1])})
        self._lines_then = self._lines

    def on_decision(self, decision: Decision) -> None:
        if self._last is None:
            self._early.append(str(decision))
        else:
            self._log(self._last, {"decision": str(decision)})

    def on_stage_end(self, report: StageReport) -> None:
        if self._last is not None and self._logged != self._last.step:
            self._log(self._last)
            if self._has_line(self._last):  # a second Ctrl-C had come before it
                self._lines_then = self._lines

    def _has_line(self, record: StepRecord) -> bool:
        """Whether a step has a line of its own, wherever its stage ends."""
        every = self._log_every or steps_between_lines(record.step)
        return record.stage_step == 1 or record.step % every == 0

    def _log(self, record: StepRecord, more: Mapping[str, str] | None = None) -> None:
        fresh_loss = self._session.fresh_loss(record)
        line = {**record.as_dict(), "draw": record.draw, "fresh_loss": fresh_loss, **(more or {})}
        if self._early:  # decided before the first step, which is there to be told of
            line["decision"], self._early = "; ".join([*self._early, *(more or {}).values()]), []
        errors = self._session.errors(record).rel_l2
        self._logged = record.step
        self._append({**line, "rel_l2": errors} if errors else line)

    def _log_start(self, report: Report) -> None:
        """Write what training stood at where it ended before its first step."""
        line = {
            "step": 0,
            "stage": report.stages[0].name if report.stages else None,
            "wall_s": report.wall_seconds,
            "loss": report.loss,
            "losses": dict(report.losses),
            "lr": None,
            "draw": 0,
            "fresh_loss": report.fresh_loss,
        }
        self._append({**line, "rel_l2": report.rel_l2} if report.rel_l2 else line)

    def _append(self, line: Mapping[str, Any]) -> None:
        try:
            self.run.log(line)
            self._lines += 1
        except OSError as error:
            self._lines_lost += 1
            if self._lines_lost == 1:
                self._warn(f"{sentence_of(error)}; training goes on without such lines")

    def _write_checkpoint(self, record: StepRecord) -> None:
        self._checkpoint_time = time.monotonic()
        try:
            self._save_checkpoint(self._session.solution(record))
        except OSError as error:
            self._checkpoints_lost += 1
            if self._checkpoints_lost == 1:
                self._warn(f"{sentence_of(error)}; training goes on without this checkpoint")

    def _save_checkpoint(self, solution: Solution) -> None:
        last = solution.last
        if last is not None and not last.is_good and self.run.checkpoint_path.exists():
            return  # the one that is there leads to the same step
        lines = np.array(self._lines_then)
        self.run.save_checkpoint({**solution.checkpoint(), METRICS_LINES: lines}, self._keeps)
        self._keeps = True

    # ---- at the end

    def write_results(self, solution: Solution) -> None:
        """Write solution.npz, summary.json and checkpoint.npz, the small and precious first.

        Each is tried, whatever became of the others. Raises NotWritten, with a sentence about each
        file that is missing or incomplete and the names of those that are whole.
        """
        writers = {
            "solution.npz": lambda: solution.save(self.run.solution_path),
            "summary.json": lambda: self.run.write_summary(self._summary(solution)),
            "checkpoint.npz": lambda: self._save_checkpoint(solution),
        }
        saved, troubles = [], []
        self._release_room()
        if self._last is None:
            self._log_start(solution.report)
        for name, write in writers.items():
            try:
                write()
                saved.append(name)
            except OSError as error:
                troubles.append(sentence_of(error))
        if self._lines_lost:
            lines = "1 line" if self._lines_lost == 1 else f"{self._lines_lost} lines"
            troubles.append(f"{self.run.metrics_path}: {lines} could not be written")
        if troubles:
            whole = f"saved in {self.directory}: {', '.join(saved) or 'nothing'}"
            raise NotWritten("\n".join([*troubles, whole]))

    def write_reached(self, error: BaseException) -> bool:
        """Write the results as they stand at the last step, for training that an exception ended.

        Returns whether there was a step; before the first nothing is written, as the checkpoint of
        a run that is gone on with is there. Raises NotWritten.
        """
        if self._last is self._from:
            return False
        # pinn.solve leaves it there, history and stages included; not so for a second Ctrl-C.
        solution = getattr(error, "solution", None)
        if solution is None:
            reason = "interrupted" if isinstance(error, KeyboardInterrupt) else "failed"
            solution = self._session.solution(self._last)
            solution.report = dataclasses.replace(
                solution.report, stop_reason=reason, message=str(error) or reason
            )
        self.write_results(solution)
        return True

    def _release_room(self) -> None:
        if self._reserve is not None:
            self._reserve.release()

    def _summary(self, solution: Solution) -> dict[str, Any]:
        report = solution.report
        return {
            "name": solution.problem.name,
            "seed": solution.experiment.seed,
            "steps": report.steps,
            "wall_s": report.wall_seconds,
            "loss": report.loss,
            "losses": report.losses,
            "fresh_loss": report.fresh_loss,
            "rel_l2": report.rel_l2,
            "max_error": report.max_error,
            "parameters": report.parameters,
            "error_estimate": {
                name: value for name, value in report.error_estimate.as_dict().items()
                if name != "band"  # is in the solution
            } | {"trusted": report.error_estimate.trusted},
            "recovery": report.recovery.as_dict(),
            "residual": report.residual,
            "warnings": list(report.warnings),
            "unsolved": report.unsolved,
            "setbacks": [vars(s) | {"message": str(s)} for s in report.setbacks],
            "decisions": report.as_dict()["decisions"],
            "stop_reason": str(report.stop_reason),
            "message": report.message,
            "stages": report.as_dict()["stages"],
            "precision": solution.experiment.precision,
            "device": solution.experiment.device,
            **self._facts,
        }


def _warn(message: str) -> None:
    warnings.warn(message, RuntimeWarning, stacklevel=2)
