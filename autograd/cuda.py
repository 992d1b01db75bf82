"""What scripts ask of the GPU."""

from __future__ import annotations

from . import devices, random


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


def manual_seed(seed: int) -> None:
    """Seed all random numbers: those of a GPU are drawn as those of the host are."""
    random.manual_seed(seed)


manual_seed_all = manual_seed


def empty_cache() -> None:
    """Give memory that is kept for later, and that nothing uses, back to the GPU."""
    if is_available():
        devices.backend("cuda").xp.get_default_memory_pool().free_all_blocks()


def current_device() -> int:
    """Return the number of the GPU that kernels run on; RuntimeError without one."""
    if not is_available():
        raise RuntimeError("current_device: there is no usable GPU; see autograd.cuda.is_available")
    return int(devices.backend("cuda").xp.cuda.Device().id)
