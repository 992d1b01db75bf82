"""Runs of many configs: where each goes, which have ended, and all others done by workers."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pinn.cli.grid import Grid
from pinn.cli.train import ended_there
from pinn.cli.verdict import DONE, Misuse
from pinn.cli.worker import work

if TYPE_CHECKING:
    from pinn.config import Config, Override


def configs_in(
    grid: Grid, made: Callable[[list[Override]], Config], folder: str | Path | None
) -> dict[Path, Config]:
    """Return the config of each combination by the directory of its run.

    made: returns the config with some overrides. folder: runs/NAME-sweep where left out. Raises
    Misuse where two would go to one directory, and what `made` raises.
    """
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


def ended_before(
    runs: Mapping[Path, Config], tell: Callable[[str], object]
) -> dict[Path, int | None]:
    """Return, by directory, 0 for runs that have ended, which are told, and None for all others.

    Raises Misuse for one of another config and RunExists where something else is there or another
    process is training.
    """
    from pinn.files import DamagedFile

    codes: dict[Path, int | None] = {}
    for directory, config in runs.items():
        try:
            end = ended_there(config)
        except DamagedFile:  # whoever goes on with it says so
            end = None
        codes[directory] = None if end is None else DONE
        if end is not None:
            tell(f"{directory}: the run has ended: {end}")
    return codes


def train_there(
    runs: Mapping[Path, Config],
    codes: dict[Path, int | None],
    executor: Any,
    *,
    folder: Path,
    threads: int | None = None,
    tries: int = 3,
    tell: Callable[[str], object],
) -> dict[Path, str]:
    """Have the runs without an exit code done by workers, and put theirs into `codes`.

    Returns what was said of each whose exit code is not 0. What the rest is, and Ctrl-C, see
    pinn.runs.jobs.run_jobs. threads: of each run whose config does not say.
    """
    from pinn.runs.jobs import Job, run_jobs

    jobs = {
        directory: Job(str(directory), config.text(), os.getcwd(),
                       None if config.experiment.threads else threads)
        for directory, config in runs.items() if codes[directory] is None
    }  # fmt: skip
    if not jobs:
        return {}
    ended = run_jobs(list(jobs.values()), work, executor, folder=folder, tries=tries, tell=tell)
    found = dict(zip(jobs, ended, strict=True))
    codes.update((directory, one.code) for directory, one in found.items())
    return {directory: one.said for directory, one in found.items() if one.code != DONE}
