"""The exit code, and the message, that an error ends a command with."""

from __future__ import annotations

DONE, FAILED, USAGE, DIVERGED, DISK_OR_DEVICE, INTERRUPTED = 0, 1, 2, 3, 4, 130

# A config with a mistake in every line says enough with the first of them.
_MOST_COMPLAINTS = 20
_LONGEST_COMPLAINT = 2000


class Misuse(Exception):
    """A command was given something that it cannot work with."""


def verdict(error: Exception) -> tuple[int, str]:
    """Return the exit code and the message for an error that ends a command."""
    from autograd.devices import DeviceError
    from autograd.plan.executors import ExecutorError
    from autograd.ranks import RankFailed
    from pinn.config import ConfigError
    from pinn.files import sentence_of
    from pinn.runs import RunExists
    from pinn.runs.processes import CannotBegin

    if isinstance(error, ConfigError):
        return USAGE, _first_complaints(error)
    if isinstance(error, RunExists | Misuse | ExecutorError):
        return USAGE, str(error)
    if isinstance(error, DeviceError | RankFailed | CannotBegin):
        return DISK_OR_DEVICE, str(error)
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename is not None else ""
        return DISK_OR_DEVICE, f"{where}{sentence_of(error)}"
    if isinstance(error, MemoryError):
        remedy = "take fewer points (sampling.interior) or a smaller model"
        return DISK_OR_DEVICE, f"out of memory: {str(error) or 'no more is free'}; {remedy}"
    return FAILED, (
        f"unexpected {type(error).__name__}: {error}\n"
        "run again with PINN_DEBUG=1 for the traceback"
    )


def _first_complaints(error) -> str:
    complaints = [str(complaint) for complaint in error.complaints]
    shown = [
        text if len(text) <= _LONGEST_COMPLAINT else f"{text[:_LONGEST_COMPLAINT]} ..."
        for text in complaints[:_MOST_COMPLAINTS]
    ]
    if len(complaints) > _MOST_COMPLAINTS:
        shown.append(f"... and {len(complaints) - _MOST_COMPLAINTS} more")
    return "\n".join(shown)
