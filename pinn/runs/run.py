"""The run directory: what a training run leaves on disk, and how it is read back."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from pinn.files import DamagedFile, disk_error, read_npz, to_json, write_json, write_npz, write_text

_FILES = (
    "metrics.jsonl",
    "summary.json",
    "checkpoint.npz",
    "checkpoint.previous.npz",
    "solution.npz",
    "report.html",
    "config.yaml",  # last: while it is there, the directory is known as a run
)


_FIGURES = "figures"


class RunExists(FileExistsError):
    """The directory asked for already holds something."""


class Run:
    """One run directory; made by `Run.create` or `Run.open`.

    It holds config.yaml, metrics.jsonl, summary.json, checkpoint.npz, checkpoint.previous.npz,
    solution.npz and figures/. Every file but metrics.jsonl is replaced as a whole or not at all.
    All writing methods raise OSError, with the path in its message, when the disk refuses.
    """

    def __init__(self, directory: str | Path) -> None:
        self.directory = Path(directory)

    def __repr__(self) -> str:
        return f"Run({str(self.directory)!r})"

    # ---- opening

    @classmethod
    def check_free(cls, directory: str | Path, overwrite: bool = False) -> None:
        """Raise RunExists unless `create` would accept the directory; writes nothing."""
        directory = Path(directory)
        if not os.path.lexists(directory):
            return
        if not directory.is_dir():
            raise RunExists(f"{directory}: expected a directory for the run, but it is a file")
        present = {entry.name for entry in directory.iterdir()}
        if not present:
            return
        if not overwrite:
            raise RunExists(
                f"{directory}: already holds a run or other files; "
                "give --overwrite to replace the run, or another directory with --out"
            )
        strangers = sorted(present - {*_FILES, _FIGURES})
        if strangers and "config.yaml" not in present:
            raise RunExists(
                f"{directory}: --overwrite replaces runs only, and this is not a run "
                f"(no config.yaml, but {strangers[0]!r}); give another directory with --out"
            )

    @classmethod
    def create(cls, directory: str | Path, overwrite: bool = False) -> Run:
        """Make a run directory, with its parents; an empty one that exists is taken.

        overwrite: remove the files of the run that is there (and only those) first.
        Raises RunExists when the directory holds something, or is no run with `overwrite`.
        """
        cls.check_free(directory, overwrite)
        run = cls(directory)
        try:
            run.directory.mkdir(parents=True, exist_ok=True)
            if overwrite:
                run._clear()
        except OSError as error:
            advice = "check the folder above it and its permissions"
            raise disk_error(run.directory, error, advice) from error
        return run

    @classmethod
    def open(cls, directory: str | Path) -> Run:
        """Open a run that is there; FileNotFoundError when the directory holds none."""
        run = cls(directory)
        if not run.config_path.is_file():
            raise FileNotFoundError(
                f"{directory}: expected a run directory, but there is no config.yaml in it; "
                "give the directory that a training run wrote"
            )
        return run

    def _clear(self) -> None:
        for figure in (self.directory / _FIGURES).glob("*.png"):
            figure.unlink()
        for name in _FILES:
            # A killed writer leaves its temporary file behind.
            for leftover in self.directory.glob(f".{name}.*.tmp"):
                leftover.unlink()
            (self.directory / name).unlink(missing_ok=True)

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
        return self.directory / "checkpoint.npz"

    @property
    def previous_checkpoint_path(self) -> Path:
        return self.directory / "checkpoint.previous.npz"

    @property
    def solution_path(self) -> Path:
        return self.directory / "solution.npz"

    def figure_path(self, name: str) -> Path:
        """Return the path of a figure, figures/NAME.png, and make the folder it lies in."""
        folder = self.directory / _FIGURES
        try:
            folder.mkdir(exist_ok=True)
        except OSError as error:
            raise disk_error(folder, error, "check the run directory") from error
        return folder / f"{name}.png"

    # ---- config and summary

    def write_config(self, text: str) -> None:
        """Write the resolved config."""
        write_text(self.config_path, text)

    def config(self) -> str:
        """Return the text of the resolved config."""
        return self.config_path.read_text(encoding="utf-8")

    def write_summary(self, summary: Mapping[str, Any]) -> None:
        """Write the summary as JSON; nan and inf become null."""
        write_json(self.summary_path, summary)

    def summary(self) -> dict[str, Any]:
        """Return the summary; FileNotFoundError before there is one, DamagedFile for bad JSON."""
        text = self.summary_path.read_text(encoding="utf-8")
        try:
            return json.loads(text)
        except ValueError as error:
            raise DamagedFile(f"{self.summary_path}: expected JSON, but {error}") from error

    # ---- metrics

    def log(self, record: Mapping[str, Any]) -> None:
        """Append one line to metrics.jsonl; it reaches the file before this returns.

        A line that a crash cut short is removed first, so that it cannot run into this one.
        """
        line = (to_json(record) + "\n").encode("utf-8")
        try:
            with open(self.metrics_path, "ab+", buffering=0) as file:
                end = _end_of_last_line(file)
                file.truncate(end)
                try:
                    if file.write(line) != len(line):
                        raise OSError("the disk took only part of the line")
                except OSError:
                    file.truncate(end)
                    raise
        except OSError as error:
            raise disk_error(self.metrics_path, error, "check the free space") from error

    def metrics(self) -> list[dict[str, Any]]:
        """Return the logged records in order; none when nothing was logged.

        A last line without its line end was cut short by a crash and does not count. Raises
        DamagedFile, with the line's number, for any other line that is not a JSON object.
        """
        try:
            lines = self.metrics_path.read_bytes().split(b"\n")[:-1]
        except FileNotFoundError:
            return []
        records = []
        for number, line in enumerate(lines, start=1):
            try:
                record = json.loads(line)
            except ValueError as error:
                record = error
            if not isinstance(record, dict):
                raise DamagedFile(
                    f"{self.metrics_path}:{number}: expected one JSON object a line, got "
                    f"{line[:60].decode('utf-8', 'replace')!r}; remove or mend this line"
                )
            records.append(record)
        return records

    # ---- checkpoints

    def save_checkpoint(self, arrays: Mapping[str, Any]) -> None:
        """Write checkpoint.npz and keep the one before as checkpoint.previous.npz."""
        write_npz(self.checkpoint_path, arrays, keep_as=self.previous_checkpoint_path)

    def load_checkpoint(self) -> dict[str, np.ndarray]:
        """Read checkpoint.npz.

        Raises FileNotFoundError when there is none, and DamagedFile when it cannot be read; the
        message names checkpoint.previous.npz where that one exists, which is never taken silently.
        """
        remedy = "there is no earlier checkpoint: train again from the start"
        if self.previous_checkpoint_path.exists():
            remedy = (
                f"the checkpoint before it is kept in {self.previous_checkpoint_path}: "
                "copy that over it to go on from there"
            )
        return read_npz(self.checkpoint_path, remedy=remedy)


def _end_of_last_line(file: Any) -> int:
    """Return the offset after the last line end in a binary file."""
    end = file.seek(0, os.SEEK_END)
    while end > 0:
        start = max(0, end - 4096)
        file.seek(start)
        found = file.read(end - start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        end = start
    return 0
