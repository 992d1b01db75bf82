"""The processor that programs are compiled for: its vectors, its registers, and the compiler."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from typing import Any


@dataclass(frozen=True)
class Host:
    """What the generated code is shaped by.

    vector_bytes  of one register.
    block         (rows, registers) of a product with weights that are summed at a time.
    sum_rows      rows of a sum over points that are summed at a time, times four columns.
    cpu, features  as LLVM names them.
    """

    vector_bytes: int
    block: tuple[int, int]
    sum_rows: int
    cpu: str
    features: str


def llvmlite_is_installed() -> bool:
    """Return whether llvmlite can be imported, without importing it."""
    return find_spec("llvmlite") is not None


_OLDEST_LLVM = 20


@lru_cache(maxsize=1)
def host() -> Host | None:
    """Return this machine's processor; None where it is none that code is generated for.

    Asked for are fused multiply-add in hardware and 64 bits (AVX2 with FMA, AVX-512, or NEON), and
    llvmlite with LLVM 20 or newer.
    """
    if not llvmlite_is_installed():
        return None
    from llvmlite import binding

    if binding.llvm_version_info[0] < _OLDEST_LLVM:
        return None
    features = binding.get_host_cpu_features()
    cpu = binding.get_host_cpu_name()
    names = features.flatten()
    if platform.machine() in ("x86_64", "AMD64"):
        if features.get("avx512f") and features.get("avx512vl") and features.get("avx512dq"):
            return Host(64, (4, 4), 4, cpu, names)
        if features.get("avx2") and features.get("fma"):
            return Host(32, (6, 2), 3, cpu, names)
        return None
    if platform.machine() in ("aarch64", "arm64"):
        return Host(16, (4, 4), 4, cpu, names)
    return None


def target_machine() -> Any:
    """Return a code generator of LLVM for the host, which an engine that gets it owns."""
    from llvmlite import binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    found = host()
    return binding.Target.from_default_triple().create_target_machine(
        cpu=found.cpu, features=found.features, opt=3, codemodel="jitdefault"
    )
