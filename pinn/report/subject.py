"""What a report is about: a run directory as it stands now, or a solution alone."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pinn.files import DamagedFile, sentence_of
from pinn.optimizers import StopReason
from pinn.runs import Run
from pinn.runs.claim import FIGURES
from pinn.runs.forms import RECORD, wrong_key
from pinn.runs.overview import Overview
from pinn.solution.solution import Solution, load

# With more than this in pictures a page would be too large to send.
_MOST_PICTURE_BYTES = 900_000
_PNG_BEGIN = b"\x89PNG\r\n\x1a\n"


@dataclass(frozen=True)
class Subject:
    """What a report tells of.

    name       of the problem, or of the directory where no solution is there
    state      why training stopped; "running", "cut short"
    solution   None before the first checkpoint, and where it cannot be read, which `trouble` says
    records    the lines of the metrics
    config     the text of the resolved config, "" where there is none
    machine    what the run was computed with, by "machine", "versions" and more; empty: not known
    pictures   the PNG files of its figures, by name; None of those that the page has no room for
    directory  of the run, "" of a solution alone
    """

    name: str
    state: str
    solution: Solution | None = None
    records: Sequence[Mapping[str, Any]] = ()
    config: str = ""
    machine: Mapping[str, Any] = field(default_factory=dict)
    pictures: Mapping[str, bytes | None] = field(default_factory=dict)
    directory: str = ""
    trouble: str = ""

    @property
    def is_running(self) -> bool:
        """Whether training still goes on."""
        return self.state == "running"

    @property
    def standing(self) -> str:
        """Whether it can still change, in words."""
        if has_ended(self.state):
            return "The run has ended"
        return "The run was cut short" if self.state == "cut short" else "Following the run"

    @classmethod
    def of_solution(cls, solution: Solution) -> Subject:
        """Return a solution that is told of without the run that it may have come from."""
        report = solution.report
        # That of a file may be of anybody's making.
        records = [one for one in report.history if wrong_key(one, RECORD) is None]
        return cls(solution.problem.name, str(report.stop_reason), solution, records)

    @classmethod
    def of_run(cls, run: Run, solution: Solution | None = None, trouble: str = "") -> Subject:
        """Return a run as its files tell of it now.

        solution: what the run saved, see `read_solution`. Raises DamagedFile for metrics, a
        summary or a config that cannot be read, OSError from the disk.
        """
        summary = run.summary() if run.summary_path.exists() else {}
        facts = {key: summary[key] for key in _FACTS if key in summary}
        name = solution.problem.name if solution else run.directory.resolve().name
        try:
            config = run.config()
        except UnicodeDecodeError as error:
            raise DamagedFile(f"{run.config_path}: expected text in UTF-8") from error
        state = Overview.of(run.directory).state
        return cls(
            name, state, solution, run.metrics(_LINES), config, facts,
            _pictures(run.directory / FIGURES), str(run.directory), trouble,
        )  # fmt: skip


def has_ended(state: str) -> bool:
    """Return whether a run of a state has its results: the state is why training stopped."""
    return state in tuple(StopReason)


# Of the lines of metrics about so many are told of.
_LINES = 2000
_FACTS = ("seed", "precision", "device", "executor", "machine", "versions")


def saved_solution(run: Run) -> Path | None:
    """Return the file that holds the newest state of a run, None where none is there yet."""
    found = {}
    for path in (run.checkpoint_path, run.solution_path):
        with contextlib.suppress(FileNotFoundError):
            found[path] = path.stat().st_mtime_ns
    return max(reversed(found), key=lambda path: found[path]) if found else None


def read_solution(run: Run) -> tuple[Solution | None, str]:
    """Return the newest state of a run, on the CPU, or None and a sentence why there is none."""
    path = saved_solution(run)
    if path is None:
        return None, "No solution was saved yet: the first checkpoint brings one."
    try:
        return load(path, device="cpu"), ""
    except FileNotFoundError:
        return None, "No solution was saved yet: the first checkpoint brings one."
    except OSError as error:
        return None, f"The solution cannot be read: {sentence_of(error)}."
    except ValueError as error:  # a model of one's own
        return None, f"The solution cannot be shown: {error}."


def _pictures(folder: Path) -> dict[str, bytes | None]:
    """Return the figures of a run by name, None for those that the page has no room for."""
    if folder.is_symlink() or not folder.is_dir():
        return {}
    found: dict[str, bytes | None] = {}
    room = _MOST_PICTURE_BYTES
    for path in sorted(folder.iterdir()):
        if path.suffix != ".png" or path.is_symlink() or not path.is_file():
            continue
        size = path.stat().st_size
        data = path.read_bytes() if size <= room else None
        if data is None or data.startswith(_PNG_BEGIN):
            found[path.stem] = data
            room -= 0 if data is None else len(data)
    return found
