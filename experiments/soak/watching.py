"""A process watched from outside: its memory and processor time, and what a reader finds."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from experiments.soak.reading import read_until_told

_EVERY = 1.0


class Watched(NamedTuple):
    """What was seen: at so many seconds, memory (MiB) and the processor's seconds that it took.

    And reads by kind of file, and invalid ones.
    """

    seconds: list[float]
    mib: list[float]
    processor: list[float]
    reads: dict[str, int]
    invalid: list[str]


def memory(pid: int) -> float | None:
    """Return the resident memory of a process in MiB; None when it has ended."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        if not Path("/proc/self/status").exists():
            raise OSError("the memory of a process is read from /proc, as Linux has it") from None
        return None
    for line in status.splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return None  # it has ended, and nobody has waited for it yet


def processor(pid: int) -> float:
    """Return the seconds that a process has had of the processor, 0 when it has ended."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    user, system = text.rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def watch(command: Sequence[str], directory: Path) -> Watched:
    """Run a command that writes in a directory, and read there until it ends.

    Raises RuntimeError, with what it said, where it fails; and where the reader does.
    """
    ours, theirs = multiprocessing.Pipe()
    spawning = multiprocessing.get_context("spawn")
    reader = spawning.Process(target=read_until_told, args=(directory, theirs), daemon=True)
    # Into a file: a pipe that nobody reads is full some day, and who writes to it then waits.
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen([sys.executable, *command], stderr=said)
        try:
            reader.start()
            theirs.close()  # of a reader that is gone nothing is waited for
            samples = _samples_until_the_end(process)
            ours.send("it has ended")
            reads, invalid = ours.recv()
        except (EOFError, ConnectionError) as error:
            raise RuntimeError("the reader failed before the training ended") from error
        finally:
            process.kill()
            process.wait()
            reader.terminate()
            reader.join()
        if process.returncode:
            said.seek(0)
            text = said.read().decode(errors="replace").strip()
            raise RuntimeError(f"the training failed with code {process.returncode}: {text}")
    return Watched(*samples, reads, invalid)


def _samples_until_the_end(process: subprocess.Popen[Any]) -> tuple[list[float], ...]:
    began, seconds, mib, taken = time.monotonic(), [], [], []
    while process.poll() is None:
        held, used = memory(process.pid), processor(process.pid)
        if held is not None:
            seconds.append(round(time.monotonic() - began, 2))
            mib.append(round(held, 2))
            taken.append(used)
        time.sleep(_EVERY)
    return seconds, mib, taken
