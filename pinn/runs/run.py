"""The run directory: what a training run leaves on disk, and how it is read back."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from pinn.files import (
    DamagedFile,
    FileLock,
    disk_error,
    from_json,
    read_plain,
    write_json,
    write_npz,
    write_text,
)
from pinn.runs.claim import FIGURES, HISTORY, check_no_link, claim, reclaim
from pinn.runs.forms import SUMMARY, wrong_key
from pinn.runs.metrics import append_record, keep_records, read_records
from pinn.solution.checkpoint import CHECKPOINT, PREVIOUS_CHECKPOINT, read_checkpoint
from pinn.training.records import StepRecord

# Of a summary or a config, which are a few thousand long.
_MOST_BYTES = 2**23
# How training ends that may go on as it was.
_CUT_SHORT = ("interrupted", "failed", "stopped by callback")


class Run:
    """One run directory; made by `Run.create` for writing, or by `Run.open`.

    It holds config.yaml, metrics.jsonl, summary.json, checkpoint.npz, checkpoint.previous.npz,
    solution.npz and figures/. Every file but metrics.jsonl is replaced as a whole or not at all.
    All writing methods raise OSError, with the path in its message, when the disk refuses; none
    writes through a link.
    """

    def __init__(self, directory: str | Path) -> None:
        self.directory = Path(directory)
        self._lock: FileLock | None = None

    def __repr__(self) -> str:
        return f"Run({str(self.directory)!r})"

    @classmethod
    def create(cls, directory: str | Path, overwrite: bool = False) -> Run:
        """Make a run directory, with its parents, and lock it; an empty one that exists is taken.

        overwrite: remove the files of the run that is there (and only those) first. Raises
        RunExists when the directory holds something, when it is no run with `overwrite`, and when
        another run writes there. No other run can, until `release` or the end of the process.
        """
        lock = claim(directory, overwrite)
        run = cls(directory)
        run._lock = lock
        return run

    @classmethod
    def go_on(cls, directory: str | Path) -> Run:
        """Open a run that is there for writing, and lock it; its files stay.

        Raises RunExists where another run writes there, and where it is no run.
        """
        lock = reclaim(directory)
        run = cls(directory)
        run._lock = lock
        return run

    @classmethod
    def open(cls, directory: str | Path) -> Run:
        """Open a run that is there; FileNotFoundError when the directory holds none."""
        run = cls(directory)
        if not run.config_path.is_file():
            there = "no config.yaml in it" if run.directory.is_dir() else "no such directory"
            raise FileNotFoundError(
                f"{directory}: expected a run directory, but there is {there}; "
                "give the directory that a training run wrote"
            )
        return run

    def release(self) -> None:
        """Let other runs write in the directory; a second time it does nothing."""
        if self._lock is not None:
            self._lock.release()

    # ---- where things are

    @property
    def config_path(self) -> Path:
        return self.directory / "config.yaml"

    @property
    def metrics_path(self) -> Path:
        return self.directory / "metrics.jsonl"

    @property
    def summary_path(self) -> Path:
        return self.directory / "summary.json"

    @property
    def checkpoint_path(self) -> Path:
        return self.directory / CHECKPOINT

    @property
    def previous_checkpoint_path(self) -> Path:
        return self.directory / PREVIOUS_CHECKPOINT

    @property
    def solution_path(self) -> Path:
        return self.directory / "solution.npz"

    def figure_path(self, name: str, suffix: str = "png") -> Path:
        """Return the path of a figure, figures/NAME.SUFFIX, and make the folder it lies in."""
        folder = self.directory / FIGURES
        check_no_link(folder)
        try:
            folder.mkdir(exist_ok=True)
        except OSError as error:
            raise disk_error(folder, error, "check the run directory") from error
        return folder / f"{name}.{suffix}"

    # ---- config and summary

    def write_config(self, text: str) -> None:
        """Write the resolved config."""
        write_text(self.config_path, text)

    def config(self) -> str:
        """Return the text of the resolved config; DamagedFile for what is no text."""
        try:
            return read_plain(self.config_path, _MOST_BYTES).decode("utf-8")
        except UnicodeDecodeError as error:
            raise DamagedFile(
                f"{self.config_path}: expected a text in UTF-8, but {error}"
            ) from error

    def write_summary(self, summary: Mapping[str, Any]) -> None:
        """Write the summary as JSON; nan and inf become null."""
        write_json(self.summary_path, summary)

    def summary(self) -> dict[str, Any]:
        """Return the summary, whose values are of the form that `write_summary` gave them.

        Any of them may be missing. FileNotFoundError before there is one, DamagedFile for bad JSON
        and for values of another form.
        """
        try:
            summary = from_json(read_plain(self.summary_path, _MOST_BYTES))
        except ValueError as error:
            raise DamagedFile(f"{self.summary_path}: expected JSON, but {error}") from error
        if not isinstance(summary, dict):
            raise DamagedFile(f"{self.summary_path}: expected a JSON object")
        wrong = wrong_key(summary, SUMMARY)
        if wrong is not None:
            raise DamagedFile(
                f"{self.summary_path}: expected the summary of a run, but its {wrong!r} is "
                f"{summary.get(wrong)!r:.60}"
            )
        return summary

    def end(self) -> str | None:
        """Return why training ended by itself; None where it was cut short, or never ended.

        The figure of its history is the last that a run writes.
        """
        drawn = self.directory / FIGURES / f"{HISTORY}.png"
        if not (self.summary_path.exists() and drawn.exists()):
            return None
        summary = self.summary()
        if summary.get("stop_reason") in _CUT_SHORT:
            return None
        return str(summary.get("message"))

    # ---- metrics

    def log(self, record: Mapping[str, Any]) -> None:
        """Append one line to metrics.jsonl; it reaches the file before this returns."""
        append_record(self.metrics_path, record)

    def metrics(self, most: int | None = None) -> list[dict[str, Any]]:
        """Return the logged records in order; DamagedFile, with the line, for one that is none.

        most: about so many, spread evenly, besides the first and last of each stage; all where left
        out. A last line that a crash cut short does not count.
        """
        return read_records(self.metrics_path, most)

    def keep_metrics(self, count: int) -> None:
        """Leave so many of the first lines of metrics.jsonl, and remove those after them."""
        keep_records(self.metrics_path, count)

    # ---- checkpoints

    def save_checkpoint(self, arrays: Mapping[str, Any], keep: bool = True) -> None:
        """Write checkpoint.npz and, unless told not to, keep the one before.

        That is checkpoint.previous.npz then.
        """
        kept = self.previous_checkpoint_path if keep else None
        write_npz(self.checkpoint_path, arrays, keep_as=kept)

    def last_step(self) -> StepRecord | None:
        """Return the step that the newest checkpoint that can be read was written after.

        None where there is none, and before the first step.
        """
        for path in (self.checkpoint_path, self.previous_checkpoint_path):
            with suppress(FileNotFoundError, DamagedFile):
                resume = read_checkpoint(path).resume
                return resume and resume.last
        return None
