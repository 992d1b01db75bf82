"""Runs of many configs: where each goes, which have ended, and all others done by workers."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pinn.cli.grid import Grid
from pinn.cli.train import End, ended_there
from pinn.cli.verdict import DONE, Misuse
from pinn.cli.worker import work

if TYPE_CHECKING:
    from pinn.config import Config, Override
    from pinn.runs.executors import Workers
    from pinn.runs.jobs import Ended, Job
    from pinn.runs.sweep import Sweep
    from pinn.training.experiment import Experiment


class GridRuns:
    """The runs of a grid, one for each combination, and how those ended that have.

    made: returns the config with some overrides. folder: of the runs, runs/NAME-sweep where left
    out. tell: gets a line for each that had ended before, with exit code 0. extend: whether those
    have not ended of which a limit is raised. Raises Misuse where two would go to one directory, or
    a run of another config is there, RunExists where something else is there or another process is
    training, and what `made` raises.
    """

    def __init__(
        self,
        grid: Grid,
        made: Callable[[list[Override]], Config],
        folder: str | os.PathLike[str] | None,
        tell: Callable[[str], object],
        extend: bool = False,
    ) -> None:
        self._grid = grid
        self.configs = _configs(grid, made, folder)
        """By directory."""
        _check_constants(grid, next(iter(self.configs.values())).experiment)
        self._before: dict[Path, End] = {}
        """How those had ended that stay as they are."""
        for directory, config in self.configs.items():
            end = _end_before(config)
            if end is not None and not (extend and end.raised):
                self._before[directory] = end
                tell(f"{directory}: the run has ended: {end.why}")
        self._codes = {one: DONE if one in self._before else None for one in self.configs}
        self._reasons = dict.fromkeys(self.configs, "")

    @property
    def left(self) -> dict[Path, Config]:
        """The configs of those that have not ended, by directory."""
        return {one: config for one, config in self.configs.items() if self._codes[one] is None}

    def other_limits(self, extend: str, anew: str) -> str | None:
        """Return what to say where runs had ended under other limits, and stay as they are.

        None where none had. extend, anew: what goes on with such a run, and what begins another.
        """
        others = [end for end in self._before.values() if end.other_limits]
        if not others:
            return None
        told = "; ".join(dict.fromkeys(end.other_limits for end in others))
        way_on = f"{extend} goes on with them, and " if any(end.raised for end in others) else ""
        return (
            f"{len(others)} of {len(self.configs)} runs had ended under other limits, and stay as "
            f"they are: {told}; {way_on}{anew} begins new ones"
        )

    def end(self, directory: Path, code: int | None, said: str) -> None:
        """Note the exit code of a run, and why it is that where it is not 0."""
        self._codes[directory] = code
        self._reasons[directory] = "" if code == DONE else said

    def train(self, workers: Workers, *, tries: int = 3, tell: Callable[[str], object]) -> None:
        """Have those that are left done by workers; Ctrl-C and all else as of run_jobs."""
        from pinn.runs.jobs import Job, run_jobs

        left = self.left
        if not left:
            return
        threads = workers.threads_of(len(left))
        jobs = [
            Job(str(directory), config.text(), os.getcwd(),
                None if config.experiment.threads else threads)
            for directory, config in left.items()
        ]  # fmt: skip

        def on_end(job: Job, ended: Ended) -> None:
            self.end(Path(job.directory), ended.code, ended.said)

        run_jobs(
            jobs, work, workers.executor, on_end=on_end, folder=next(iter(left)).parent,
            tries=tries, tell=tell,
        )  # fmt: skip

    @property
    def sweep(self) -> Sweep:
        """What became of them so far."""
        from pinn.runs.sweep import Sweep

        values = [texts for texts, _ in self._grid]
        return Sweep(
            self._grid.names, values, list(self.configs), list(self._codes.values()),
            list(self._reasons.values()),
        )  # fmt: skip


def _check_constants(grid: Grid, experiment: Experiment) -> None:
    """Raise Misuse for a constant that nothing uses: the runs would be the same one each time."""
    from pinn.training.unused import unused_constants

    unused = unused_constants(experiment)
    for key in grid.keys:
        sentence = next((
            one for one in unused if one.startswith(f"{key.removeprefix('problem.')} is used")
        ), None)  # fmt: skip
        if sentence is not None:
            raise Misuse(f"--grid {key}: {sentence}")


def _configs(
    grid: Grid,
    made: Callable[[list[Override]], Config],
    folder: str | os.PathLike[str] | None,
) -> dict[Path, Config]:
    """Return the config of each combination by the directory of its run."""
    found: dict[Path, Config] = {}
    for texts, overrides in grid:
        config = made(overrides)
        name = f"{config.experiment.problem.name}-sweep"
        directory = Path(folder or Path("runs", name)) / grid.directory_name(texts)
        if directory in found:
            raise Misuse(f"{directory}: two combinations would go there; give other values")
        output = replace(config.output, directory=str(directory))
        found[directory] = replace(config, output=output)
    return found


def _end_before(config: Config) -> End | None:
    """Return how a run had ended; None for all others."""
    from pinn.files import DamagedFile

    try:
        return ended_there(config)
    except DamagedFile:  # whoever goes on with it says so
        return None
