"""What scripts ask of the GPU."""

from __future__ import annotations

from . import devices


def is_available() -> bool:
    """Return whether device "cuda" is usable: cupy is installed and a kernel runs."""
    return devices.cuda_is_available()


def device_count() -> int:
    """Return the number of usable GPUs."""
    if not is_available():
        return 0
    return int(devices.backend("cuda").xp.cuda.runtime.getDeviceCount())


def synchronize() -> None:
    """Wait until the GPU has done what was asked of it."""
    if is_available():
        devices.backend("cuda").xp.cuda.get_current_stream().synchronize()
