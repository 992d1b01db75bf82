"""What goes wrong with files."""

from __future__ import annotations

from pathlib import Path


class DamagedFile(OSError):
    """A file is there but cannot be read as what it should be."""


def sentence_of(error: OSError) -> str:
    """Return what an OSError says, without its number."""
    return error.strerror or str(error)


def disk_error(path: Path, error: OSError, advice: str, verb: str = "write") -> OSError:
    """Return an OSError of the same kind whose text names the path and says what to do."""
    message = f"cannot {verb} {path}: {sentence_of(error)}; {advice}"
    return OSError(message) if error.errno is None else OSError(error.errno, message)
