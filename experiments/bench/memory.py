"""Resident memory of a process, now and at its peak."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def _status(pid: int | str, name: str) -> int | None:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:  # another system, or the process has ended
        return None
    for line in lines:
        if line.startswith(name + ":"):
            return int(line.split()[1]) * 1024
    return None


def resident_bytes(pid: int | str = "self") -> int | None:
    """Return the bytes in memory now, or None where the system does not tell."""
    return _status(pid, "VmRSS")


def peak_bytes() -> int:
    """Return the largest resident memory of this process since it started."""
    peak = _status("self", "VmHWM")
    if peak is not None:
        return peak
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def available_bytes() -> int:
    """Return the memory that processes can still take; the machine's where it is not told."""
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass  # another system
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
