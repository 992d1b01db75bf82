"""Runs for the workers of any executor: handed out, watched, and taken up when a worker is lost."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pinn.runs.claim import MARKER
from pinn.runs.processes import CannotBegin
from pinn.runs.run import Run
from pinn.training.callbacks import Callback
from pinn.training.records import StepRecord

# Between two looks at what became of the runs, and at whether a run is still wanted.
_LOOK_SECONDS, _WANTED_SECONDS = 0.05, 0.5
_WANTED = ".pinn-sweep-"

Tell = Callable[[str], object]


@dataclass(frozen=True)
class Job:
    """A run for a worker, in plain texts that any executor can send.

    directory: where the run goes, from `folder`, the working directory of whoever hands it out.
    config: the text of its config. threads: how many it may take where its config does not say,
    None for all cores. wanted: a file that is there as long as the run is wanted; a worker that
    does not find it ends the run with a checkpoint. attempt: how many workers had the run, this one
    included.
    """

    directory: str
    config: str
    folder: str
    threads: int | None = None
    wanted: str = ""
    attempt: int = 1

    @property
    def is_wanted(self) -> bool:
        """Whether whoever handed it out still waits for it."""
        return not self.wanted or os.path.exists(Path(self.folder, self.wanted))


@dataclass(frozen=True)
class Ended:
    """How a job ended.

    code: the exit code of its run; None where it was cut short and is to be gone on with: its
    worker was asked to end, or lost. said: a line or more about it.
    """

    code: int | None
    said: str


Work = Callable[[Job], Ended]
OnEnd = Callable[[Job, Ended], object]


class Wanted(Callback):
    """Ends training as Ctrl-C does, after a step, when its job is not wanted any more."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._looked = time.monotonic()

    def on_step(self, record: StepRecord) -> None:
        if time.monotonic() - self._looked < _WANTED_SECONDS:
            return
        self._looked = time.monotonic()
        if not self._job.is_wanted:
            raise KeyboardInterrupt


def run_jobs(
    jobs: Sequence[Job],
    work: Work,
    executor: Any = None,
    *,
    on_end: OnEnd,
    folder: str | Path,
    tries: int = 3,
    tell: Tell = lambda line: None,
) -> None:
    """Have all jobs done, and hand over how each ended when it does.

    executor: anything with `submit(function, argument)` that gives a future with `done`, `result`
    and `cancel`, such as every concurrent.futures.Executor; None does them here, one after the
    other. work: what does a job, importable where the workers are. on_end: gets a job and how it
    ended. folder: one that the workers see. A worker is lost when its future has an exception, for
    `work` raises none; its job is then submitted again, until so many workers have tried. tell:
    gets a line when a run begins, when it ends and when its worker is lost. Raises CannotBegin
    where no process of this machine begins.

    Ctrl-C ends every run after its step, with a checkpoint, waits for that and raises
    KeyboardInterrupt; a second one does not wait. A run that it cut short is not handed over.
    """
    if executor is None:
        _one_by_one(jobs, work, on_end, tell)
        return
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    descriptor, wanted = tempfile.mkstemp(prefix=_WANTED, dir=folder)
    os.close(descriptor)
    try:
        jobs = [replace(job, wanted=wanted) for job in jobs]
        _Watched(jobs, work, executor, on_end, tries, tell).until_all_ended()
    finally:
        Path(wanted).unlink(missing_ok=True)


def _one_by_one(jobs: Sequence[Job], work: Work, on_end: OnEnd, tell: Tell) -> None:
    for number, job in enumerate(jobs, 1):
        label = f"{job.directory} ({number} of {len(jobs)})"
        tell(f"{label}: {_begins(job)}")
        ended = work(job)
        tell(f"{label}: {ended.said}")
        if ended.code is None:
            raise KeyboardInterrupt
        on_end(job, ended)


class _Watched:
    """Jobs that are with the workers of an executor."""

    def __init__(
        self, jobs: Sequence[Job], work: Work, executor: Any, on_end: OnEnd, tries: int, tell: Tell
    ) -> None:
        self._jobs = list(jobs)
        self._work = work
        self._executor = executor
        self._on_end = on_end
        self._tries = tries
        self._tell = tell
        self._futures: dict[int, Any] = {}
        self._marks: dict[int, int | None] = {}  # of those that are not known to have begun
        self._stopping = False

    def until_all_ended(self) -> None:
        try:
            # submitit makes one array of what is submitted within this block.
            with getattr(self._executor, "batch", nullcontext)():
                for number in range(len(self._jobs)):
                    self._submit(number)
            self._watch()
        except KeyboardInterrupt:
            self._stop()
            self._watch()
            raise

    def _submit(self, number: int) -> None:
        job = self._jobs[number]
        self._marks[number] = _mark(job)
        try:
            self._futures[number] = self._executor.submit(self._work, job)
        except Exception as error:  # of whatever kind the executor has for it
            why = f"{type(error).__name__}: {error}"
            self._end(number, Ended(None, f"no worker is left to take the run ({why})"))

    def _watch(self) -> None:
        while True:
            for number in list(self._futures):
                self._look(number)
            if not self._futures:
                return
            time.sleep(_LOOK_SECONDS)

    def _look(self, number: int) -> None:
        """Tell what became of a run, and have it taken up by another worker when it is cut short.

        What is done is noted after it: Ctrl-C in between has it done again, and never left out.
        """
        job, future = self._jobs[number], self._futures[number]
        done = future.done()
        self._look_whether_begun(number)
        if not done:
            return
        why = ""
        try:
            ended = future.result()
        except Exception as error:  # as above: of another kind for every executor
            if isinstance(error, CannotBegin) and not self._stopping:
                raise
            ended, why = Ended(None, f"its worker was lost ({type(error).__name__})"), f": {error}"
        again = ended.code is None and not self._stopping and job.attempt < self._tries
        if again:
            self._told(number, f"{ended.said}; another takes the run up")
        elif ended.code is not None or self._stopping:
            self._end(number, ended)
        else:
            said = f"{ended.said}, as were all {job.attempt} that had it{why}"
            self._end(number, Ended(None, said))
        del self._futures[number]
        if again:
            self._jobs[number] = replace(job, attempt=job.attempt + 1)
            self._submit(number)

    def _look_whether_begun(self, number: int) -> None:
        job = self._jobs[number]
        if number in self._marks and _mark(job) != self._marks[number]:
            self._told(number, _begins(job))
            del self._marks[number]

    def _stop(self) -> None:
        """Have every run ended after its step, and those that have not begun not begin."""
        self._stopping = True
        Path(self._jobs[0].wanted).unlink(missing_ok=True)
        self._tell("every run ends after this step (Ctrl-C again: without waiting for that)")
        for number, future in self._futures.items():
            self._look_whether_begun(number)
            if number in self._marks:
                future.cancel()

    def _end(self, number: int, ended: Ended) -> None:
        job = self._jobs[number]
        if ended.code is not None or not self._stopping:
            self._on_end(job, ended)
        if not (self._stopping and self._marks.get(number, 0) == _mark(job)):
            self._told(number, ended.said)

    def _told(self, number: int, said: str) -> None:
        self._tell(f"{self._jobs[number].directory} ({number + 1} of {len(self._jobs)}): {said}")


def _mark(job: Job) -> int | None:
    """Return what changes when a run begins in its directory."""
    try:
        return os.stat(Path(job.directory, MARKER)).st_mtime_ns
    except OSError:
        return None


def _begins(job: Job) -> str:
    last = Run(job.directory).last_step()
    return "begins" if last is None else f"goes on from step {last.step}"
