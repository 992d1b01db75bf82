"""What keeps a log of a run in another tool: TensorBoard, Weights & Biases, MLflow."""

from __future__ import annotations

import copy
import importlib.util
import math
import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pinn.schema import Family
from pinn.schema.arrays import with_texts
from pinn.schema.declared import fields_of
from pinn.schema.errors import refuse, shown
from pinn.tracking.log import Log, Opening
from pinn.tracking.sender import Sender
from pinn.training.callbacks import Callback
from pinn.training.course import Decision
from pinn.training.experiment import Experiment
from pinn.training.records import StageInfo, StageReport, StepRecord

TRACKERS = Family("tracker", example="pinn.TensorBoard('logs')")

# Steps between two lines of a log, where nothing else is said.
_EVERY = 100
# Seconds that the end of a run waits for what is still to be sent.
_PATIENCE = 60.0


class Tracker(Callback):
    """A callback that logs a run with another tool, whatever becomes of that tool.

    every: steps between two lines of the log; 100, or output.log_every of a config, where it is
    None. The first step of a stage has a line as well, and the last. figures: whether the fields
    and the history are drawn into it at the end.

    A line has what one of metrics.jsonl has, by name: loss, losses/BLOCK, fresh_loss,
    rel_l2/UNKNOWN, lr, damping, weights/BLOCK, parameters/NAME, wall_s, stage. Stages, decisions
    and setbacks are sentences. At the end come the errors, their estimates (estimated_l2/UNKNOWN),
    and figures. The tool is called on a thread of its own; the first exception that it raises is
    told of once, as a RuntimeWarning, and ends the log but not the run. One tracker logs one run
    at a time. Raises ValueError where the tool is not installed.
    """

    family = TRACKERS
    package = ""
    """The package of the tool, and the extra that installs it."""

    every: int | None = None
    figures: bool = True

    _folder: Path | None = None
    _log_every: int = _EVERY
    _warn: Callable[[str], object] | None = None
    _waits: bool = True
    _sender: Sender | None = None
    _session: Any = None
    _step: int = 0
    _last: StepRecord | None = None
    _logged: int = -1
    _told: bool = True

    def __post_init__(self) -> None:
        if importlib.util.find_spec(self.package) is None:
            refuse(
                f"the package {self.package} is not installed; "
                f"pip install 'pinn[{self.package}]'"
            )

    @abstractmethod
    def open(self, opening: Opening) -> Log:
        """Open the log of a run; called on the thread that writes to it."""

    def within(
        self, folder: Path, log_every: int | None, warn: Callable[[str], object]
    ) -> Tracker:
        """Return it for a run directory, whose run goes on with its log where it is gone on with.

        log_every: for `every` where that is left open. warn: gets what would be a warning. The end
        of training does not wait until all is sent; `wait` does.
        """
        placed = copy.copy(self)
        placed._become(_folder=folder, _log_every=log_every or _EVERY, _warn=warn, _waits=False)
        return placed

    @property
    def where(self) -> str:
        """Where the log can be looked at; "" before it is open."""
        return "" if self._sender is None else self._sender.where

    def wait(self) -> None:
        """Wait until all is sent, a minute at most."""
        if self._sender is None:
            return
        try:
            whole = self._sender.wait(_PATIENCE)
        except KeyboardInterrupt:  # the run is over, and nothing but this is lost
            whole = False
        self._tell_trouble()
        if not whole:
            self._say(f"not all of the log was sent within {_PATIENCE:g} s; the rest is lost")
        self._become(_sender=None, _session=None, _last=None)

    # ---- on the way

    def on_start(self, session: Any) -> None:
        resume = session.resumed.resume
        experiment = session.experiment
        step = 0 if resume is None else resume.last.step
        opening = Opening(
            f"{experiment.problem.name}-{experiment.seed}", settings_of(experiment), step,
            self._folder,
        )
        self._become(
            _session=session, _sender=Sender(lambda: self.open(opening)), _step=step, _last=None,
            _logged=-1, _told=False,
        )

    def on_step(self, record: StepRecord) -> None:
        self._become(_last=record, _step=record.step)
        due = record.stage_step == 1 or record.step % (self.every or self._log_every) == 0
        if due and self._sender is not None:
            self._log(record)

    def on_stage_start(self, info: StageInfo) -> None:
        self._text(f"{info.name} begins" + (f": {info.why}" if info.why else ""))

    def on_decision(self, decision: Decision) -> None:
        self._text(str(decision))

    def on_setback(self, record: StepRecord) -> None:
        self._become(_last=record, _step=record.step)
        self._text(str(record.setbacks[-1]))

    def on_stage_end(self, report: StageReport) -> None:
        last = self._last
        if last is not None and self._logged != last.step and self._sender is not None:
            self._log(last)
        self._text(f"{report.name}: {report.message}")

    def _log(self, record: StepRecord) -> None:
        with self._guarded():
            line = {
                **record.as_dict(), "stage": record.stage_index, "draw": record.draw,
                "fresh_loss": self._session.fresh_loss(record),
                "rel_l2": self._session.errors(record).rel_l2,
            }
            self._become(_logged=record.step)
            self._send("numbers", record.step, numbers_of(line))

    def _text(self, sentence: str) -> None:
        self._send("text", self._step, sentence)

    # ---- at the end

    def on_failure(self, error: BaseException) -> None:
        if self._sender is not None:
            state = "interrupted" if isinstance(error, KeyboardInterrupt) else "failed"
            self._text(f"{type(error).__name__}: {error}")
            self._close({}, state)

    def on_end(self, solution: Any) -> None:
        report = solution.report
        self._text(f"stopped: {report.message}")
        for warning in report.warnings:
            self._text(f"warning: {warning}")
        if self.figures and report.steps:
            with self._guarded():
                for name, png in _figures(solution):
                    self._send("figure", self._step, name, png)
        estimate = report.error_estimate
        results = numbers_of({
            "loss": report.loss, "fresh_loss": report.fresh_loss, "rel_l2": report.rel_l2,
            "max_error": report.max_error, "estimated_l2": estimate.relative_l2,
            "estimated_max": estimate.maximum, "parameters": report.parameters,
            "standard_errors": report.recovery.standard_errors, "steps": report.steps,
            "wall_s": report.wall_seconds,
        })  # fmt: skip
        self._close(results, _STATES.get(str(report.stop_reason), "finished"))

    def _close(self, results: Mapping[str, float], state: str) -> None:
        self._send("close", results, state)
        self._sender.end()
        if self._waits:
            self.wait()

    # ---- what may fail

    def _send(self, method: str, *arguments: Any) -> None:
        if self._sender is not None:  # of training without pinn.solve there is no log
            self._sender.send(method, *arguments)
            self._tell_trouble()

    def _tell_trouble(self) -> None:
        trouble = self._sender.trouble
        if trouble is not None and not self._told:
            self._become(_told=True)
            words = " ".join(str(trouble).split())[:300] or "no reason given"
            self._say(f"{type(trouble).__name__}: {words}; the run goes on without this log")

    def _say(self, sentence: str) -> None:
        sentence = f"{type(self).__name__}: {sentence}"
        if self._warn is not None:
            self._warn(sentence)
        else:
            warnings.warn(sentence, RuntimeWarning, stacklevel=3)

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """Take what fails inside for trouble of the log, which ends it and not the run."""
        try:
            yield
        except Exception as error:
            self._sender.trouble = self._sender.trouble or error
            self._tell_trouble()

    def _become(self, **state: Any) -> None:
        """Set what belongs to a run: a tracker is its settings, which do not change, and a log."""
        for name, value in state.items():
            object.__setattr__(self, name, value)


TRACKERS.base = Tracker

# How training ends that is no end by itself.
_STATES = {"diverged": "failed", "failed": "failed", "interrupted": "interrupted"}


def numbers_of(line: Mapping[str, Any]) -> dict[str, float]:
    """Return the finite numbers of nested mappings by name: {"loss": 1.0, "losses/heat": 0.5}."""
    found: dict[str, float] = {}
    for name, value in line.items():
        if isinstance(value, Mapping):
            found |= {f"{name}/{inner}": one for inner, one in numbers_of(value).items()}
        elif isinstance(value, int | float) and math.isfinite(value) and name != "step":
            found[name] = float(value)
    return found


def settings_of(experiment: Experiment) -> dict[str, Any]:
    """Return the declaration of a run as plain data; what no file can hold as it is printed."""
    found = {}
    for name, entry in fields_of(Experiment).items():
        value = getattr(experiment, name)
        try:
            found[name] = with_texts(entry.kind.dump(value))
        except (TypeError, ValueError):  # a class of one's own
            found[name] = shown(value)
    return found


def _figures(solution: Any) -> Iterator[tuple[str, bytes]]:
    """Give the fields, as far as they can be drawn, and the history of training."""
    from pinn.figures.history import plot_history
    from pinn.figures.style import figure_png

    for name in solution.problem.solved:
        yield f"field_{name}", figure_png(solution.plot(name))
    if solution.report.history:
        yield "history", figure_png(plot_history(solution.report.history))
