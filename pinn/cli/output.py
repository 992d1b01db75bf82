"""Lines for people. Output that nobody can read must never end a training run, or lose one.

A terminal is closed, a pipe has no reader, a disk that keeps the log is full, a descriptor was
never open: in each case the stream goes quiet for the rest of the process.
"""

from __future__ import annotations

import os
import sys
from typing import Any, TextIO

from pinn.checks import printable

# Of a line that is told: whatever else a terminal would act on may come from somebody's file.
_KEPT = "\n\t"


class QuietStream:
    """A stream whose writing never fails; `stream` may be None, as sys.stderr is when closed."""

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def isatty(self) -> bool:
        """Whether it is a terminal; False for a stream that is closed."""
        try:
            return self._stream is not None and self._stream.isatty()
        except ValueError:
            return False

    def write(self, text: str) -> int:
        """Write a text, with escapes for what the stream's encoding lacks."""
        if self._stream is None:
            return len(text)
        try:
            return self._stream.write(text)
        except UnicodeEncodeError:
            encoding = self._stream.encoding
            return self.write(text.encode(encoding, "backslashreplace").decode(encoding))
        except (OSError, ValueError):  # ValueError: it is closed
            _abandon(self._stream)
            return len(text)

    def flush(self) -> None:
        """Hand on what was written."""
        if self._stream is None:
            return
        try:
            self._stream.flush()
        except (OSError, ValueError):
            _abandon(self._stream)


def shown(line: str) -> str:
    """Return a line as it is printed, with escapes for all but line ends and tabs."""
    return printable(line, _KEPT)


def say(line: str) -> None:
    """Print a line of results to stdout, with escapes for control characters."""
    print(shown(line), file=QuietStream(sys.stdout), flush=True)


def tell(line: str) -> None:
    """Print a line about what is going on to stderr, with escapes for control characters."""
    print(shown(line), file=QuietStream(sys.stderr), flush=True)


def flush_all() -> None:
    """Flush both streams, so that Python finds nothing to complain about when it exits."""
    QuietStream(sys.stdout).flush()
    QuietStream(sys.stderr).flush()


def hush() -> None:
    """Say nothing from now on in this process."""
    for stream in (sys.stdout, sys.stderr):
        flush_all()
        _abandon(stream)


def open_missing_streams() -> None:
    """Open the standard descriptors that the process was started without, and send them nowhere.

    Otherwise the next file that is opened takes the number, and what a library writes to stderr
    lands in it.
    """
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number, which is this one
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")


def _abandon(stream: TextIO) -> None:
    """Send the rest of a stream nowhere: what its buffer still holds can then be flushed."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
    except (OSError, ValueError):
        pass  # it has no descriptor
