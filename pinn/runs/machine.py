"""The machine and the versions that a run was made with."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from functools import cache
from importlib import metadata
from typing import Any

import numpy as np

import pinn
from autograd.plan.executors import default_executor

# One package, in a distribution for each version of CUDA and one that is compiled on the spot.
_CUPY = ("cupy-cuda13x", "cupy-cuda12x", "cupy")


def machine_and_versions(device: str = "cpu") -> dict[str, dict[str, Any]]:
    """Describe the machine and the versions, for a summary that others can compare with.

    device: that of the run.

    Returns {"machine": {cpu, cores, memory_gib, system}, "versions": {pinn, python, numpy, scipy,
    blas, numba, cupy}, "executor"}: numba and cupy are None where they are not installed, the
    executor is what replays recorded steps. `cores` are those that this process may use. There is
    no host name, user or path in it.
    """
    import scipy

    blas = np.show_config(mode="dicts").get("Build Dependencies", {}).get("blas", {})
    return {
        "machine": {
            "cpu": _cpu_model(),
            "cores": usable_cores(),
            "memory_gib": _memory_gib(),
            "system": f"{platform.system()} {platform.machine()}",
        },
        "versions": {
            "pinn": pinn.__version__,
            "python": platform.python_version(),
            "numpy": np.__version__,
            "scipy": scipy.__version__,
            "blas": f"{blas.get('name', 'unknown')} {blas.get('version', '')}".strip(),
            "numba": _version_of("numba"),
            "cupy": _version_of(*_CUPY),
        },
        "executor": default_executor() if device == "cpu" else "cuda",
    }


@cache
def blas_kernels() -> str:
    """Return which kernels the BLAS of numpy and scipy took for this processor."""
    import scipy.linalg  # noqa: F401 - loads its own
    from threadpoolctl import threadpool_info

    found = (one for one in threadpool_info() if one["user_api"] == "blas")
    return ", ".join(sorted({one.get("architecture", one["internal_api"]) for one in found}))


def _version_of(*distributions: str) -> str | None:
    """Return the version of the first of some distributions that is installed."""
    for distribution in distributions:
        try:
            return metadata.version(distribution)
        except metadata.PackageNotFoundError:
            continue
    return None


def _cpu_model() -> str:
    if sys.platform == "linux":
        try:
            with open("/proc/cpuinfo", encoding="utf-8") as file:
                for line in file:
                    key, _, value = line.partition(":")
                    if key.strip() == "model name":
                        return value.strip()
        except OSError:
            pass  # an unusual system; the general answer below will do
    elif sys.platform == "darwin":
        command = ["/usr/sbin/sysctl", "-n", "machdep.cpu.brand_string"]
        try:
            told = subprocess.run(command, capture_output=True, text=True, check=True)
            return told.stdout.strip()
        except (OSError, subprocess.CalledProcessError):
            pass  # as above
    return platform.processor() or platform.machine() or "unknown"


def usable_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _memory_gib() -> float | None:
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1)
    except (AttributeError, ValueError, OSError):
        return None  # not told by this system
