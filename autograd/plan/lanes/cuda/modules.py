"""Modules of CUDA C, of which a process has one for each text."""

from __future__ import annotations

from typing import Any

_modules: dict[tuple, Any] = {}
_kernels: dict[tuple, Any] = {}


def module_of(make: Any, text: str) -> Any:
    """Return the module of a text, one a process; the device's compiler runs at its first use.

    make  `RawModule` of the device's namespace.
    """
    key = (make, text)
    if key not in _modules:
        _modules[key] = make(code=text, options=("--std=c++17",))
    return _modules[key]


def kernel_of(make: Any, text: str, name: str) -> Any:
    """Return a kernel of the module of a text, one a process."""
    key = (make, text, name)
    if key not in _kernels:
        _kernels[key] = module_of(make, text).get_function(name)
    return _kernels[key]
