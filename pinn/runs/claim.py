"""Who may write in a directory: one training run at a time, and never over anybody else's files.

A run directory is known by a file that nothing else makes, MARKER: it is the first that a run
writes, it stays, and it is locked while a training run writes there. A directory is free when it is
missing, empty or holds nothing but that file and temporary ones (a run was killed early).
--overwrite clears a run directory of the files that a run writes, and leaves all others.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Collection, Iterator
from pathlib import Path

from pinn.figures.style import AUTHOR, FILM
from pinn.files import FileLock, disk_error, is_leftover, open_plain
from pinn.solution.checkpoint import CHECKPOINT, PREVIOUS_CHECKPOINT
from pinn.tracking import tensorboard
from pinn.tracking.log import memory_name

MARKER = ".pinn-run"
FIGURES = "figures"
HISTORY = "history"
REPORT = "report.html"
RUN_FILES = (
    "config.yaml",
    "metrics.jsonl",
    "summary.json",
    CHECKPOINT,
    PREVIOUS_CHECKPOINT,
    "solution.npz",
    memory_name("wandb"),
    memory_name("mlflow"),
    REPORT,
)
_FOLDERS = (FIGURES, tensorboard.FOLDER)

# Every figure says who drew it, near its front or its end: how, by the suffix of its name.
_DRAWN_BY = {
    ".png": b"tEXtSoftware\x00" + AUTHOR.encode("latin-1"),
    ".pdf": f"/Creator ({AUTHOR})".encode("latin-1"),
    ".svg": f"<dc:title>{AUTHOR}</dc:title>".encode("latin-1"),
    ".gif": b"!\xfe" + bytes([len(AUTHOR)]) + AUTHOR.encode("latin-1"),
    ".mp4": FILM.encode("latin-1"),
}
_READ = 4096


class RunExists(FileExistsError):
    """The directory asked for already holds something, or another run writes there."""


def check_free(directory: str | Path, overwrite: bool = False) -> None:
    """Raise RunExists unless `claim` would take the directory now; changes nothing."""
    directory = Path(directory)
    if not os.path.lexists(directory):
        return
    if not directory.is_dir():
        raise RunExists(f"{directory}: expected a directory for the run, but it is a file")
    marker = directory / MARKER
    if os.path.lexists(marker):
        _lock(directory).release()
    _check_contents(directory, overwrite)


def is_run(directory: str | Path) -> bool:
    """Whether a run is there that nobody is writing; changes nothing.

    False for a directory that is missing or empty. Raises RunExists where another run writes there,
    and where it holds anything but a run.
    """
    directory = Path(directory)
    if not os.path.lexists(directory / MARKER):
        check_free(directory)
        return False
    _lock(directory).release()
    return True


def claim(directory: str | Path, overwrite: bool = False) -> FileLock:
    """Make a directory, with its parents, that is locked for one run and empty of run files.

    overwrite: remove the files of the run that is there (and only those) first. Raises RunExists
    when the directory holds anything, when with `overwrite` it is no run or has links in place of a
    run's files, and when another run is writing there. OSError, naming the path, from the disk.
    """
    directory = Path(directory)
    check_free(directory, overwrite)
    advice = "check the folder above it and its permissions"
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise disk_error(directory, error, advice) from error
    lock = _lock(directory, _holder())
    try:
        # Once more: until the lock was ours, another run may have begun and ended here.
        _check_contents(directory, overwrite)
        for path in _written_by_a_run(directory):
            path.unlink(missing_ok=True)
    except RunExists:
        lock.release()
        raise
    except OSError as error:
        lock.release()
        raise disk_error(directory, error, advice) from error
    return lock


def reclaim(directory: str | Path) -> FileLock:
    """Lock the directory of a run that is there, to go on with it; nothing in it is changed.

    Raises RunExists where another run is writing there or it is no run, OSError, naming the path,
    from the disk.
    """
    directory = Path(directory)
    if not os.path.lexists(directory / MARKER):
        raise RunExists(
            f"{directory}: expected the directory of a run to go on with, and there is no {MARKER} "
            "in it; give that of the run with --out"
        )
    return _lock(directory, _holder())


def _holder() -> str:
    return f"process {os.getpid()} since {time.strftime('%Y-%m-%d %H:%M:%S')}\n"


def check_no_link(path: Path) -> None:
    """Raise OSError where a run would have to write through a link."""
    if path.is_symlink():
        raise FileExistsError(
            errno.EEXIST, f"{path} is a link, and a run writes through none; remove the link"
        )


def _lock(directory: Path, text: str | None = None) -> FileLock:
    marker = directory / MARKER
    try:
        return FileLock(marker, text)
    except BlockingIOError:
        holder = _text_of(marker)
        raise RunExists(
            f"{directory}: another training run is writing there"
            f"{f' ({holder})' if holder else ''}; wait until it ends, or give another directory "
            "with --out"
        ) from None
    except FileExistsError:
        raise RunExists(
            f"{marker}: expected the plain file that a run directory is known by, got a link or a "
            "folder; give another directory with --out"
        ) from None
    except OSError as error:
        raise disk_error(marker, error, "check its permissions and the free space") from error


def _text_of(marker: Path) -> str:
    try:
        with open_plain(marker) as file:
            return file.read(80).decode("utf-8", "replace").strip()
    except OSError:
        return ""  # gone, or not for us to read


def _check_contents(directory: Path, overwrite: bool) -> None:
    """Raise RunExists for files that a new run would have to share the directory with."""
    present = {entry.name for entry in directory.iterdir() if is_leftover(entry.name) is None}
    if not present - {MARKER}:
        return
    if not overwrite:
        go_on = "--resume to go on with it, " if _is_cut_short(directory, present) else ""
        raise RunExists(
            f"{directory}: already holds a run or other files; "
            f"give {go_on}--overwrite to replace the run, or another directory with --out"
        )
    if MARKER not in present:
        raise RunExists(
            f"{directory}: --overwrite replaces runs only, and this is not a run (it holds "
            f"{min(present)!r} and no {MARKER}); give another directory with --out"
        )
    for name in (*RUN_FILES, *_FOLDERS):
        path = directory / name
        expected = "a folder" if name in _FOLDERS else "a plain file"
        is_kind = stat.S_ISDIR if name in _FOLDERS else stat.S_ISREG
        if name in present and not is_kind(path.lstat().st_mode):
            raise RunExists(
                f"{path}: --overwrite replaces what a run wrote, and this is not {expected} that "
                "a run wrote but a link or something else; remove it, or give another directory "
                "with --out"
            )


def _is_cut_short(directory: Path, present: Collection[str]) -> bool:
    """Whether files are those of a run that has not ended, with a checkpoint to go on from."""
    from pinn.runs.run import Run

    if MARKER not in present or not {CHECKPOINT, PREVIOUS_CHECKPOINT} & set(present):
        return False
    try:
        return Run(directory).end() is None
    except OSError:
        return False


def _written_by_a_run(directory: Path) -> Iterator[Path]:
    """Give what runs wrote in a directory, temporary files of killed writers among it."""
    for path in list(directory.iterdir()):
        if path.name in RUN_FILES or is_leftover(path.name) in RUN_FILES:
            yield path
    figures = directory / FIGURES
    for path in list(figures.iterdir()) if figures.is_dir() else ():
        leftover = is_leftover(path.name)
        if leftover is not None and Path(leftover).suffix in _DRAWN_BY:
            yield path
        elif path.suffix in _DRAWN_BY and _is_our_figure(path):
            yield path
    events = directory / tensorboard.FOLDER
    for path in list(events.iterdir()) if events.is_dir() else ():
        if path.name.startswith(tensorboard.EVENTS) and stat.S_ISREG(path.lstat().st_mode):
            yield path


def _is_our_figure(path: Path) -> bool:
    if not stat.S_ISREG(path.lstat().st_mode):
        return False
    with open(path, "rb") as file:
        ends = file.read(_READ)
        size = file.seek(0, os.SEEK_END)
        file.seek(max(_READ, size - _READ))
        ends += file.read()
    return _DRAWN_BY[path.suffix] in ends
