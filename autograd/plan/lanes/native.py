"""Machine code of a module's text: compiled once, kept on disk, checked before it is used.

An object file is kept in the folder of compiled loops (executors/loop_cache.py) under the hash of
the text, the processor and the compiler, with the hash of its own bytes in front: what has not the
hash that it was written with is compiled again.
"""

from __future__ import annotations

import hashlib
import threading
from pathlib import Path
from typing import Any

from ..executors.loop_cache import cache_folder, check_private, warn_of_folder, write
from .host import host, target_machine

Passes = tuple[str, ...]
AS_WRITTEN: Passes = ("always_inliner",)
"""LLVM's passes for the library: others find nothing there, and take a quarter of a second."""
OF_LOOPS: Passes = (
    "always_inliner", "instruction_combine", "simplify_cfg", "loop_rotate", "loop_unroll"
)  # fmt: skip
"""Those for loops: as fast ones as all passes of LLVM's first level, in a quarter of their time."""

_lock = threading.Lock()
_engines: dict[tuple[str, Passes], Any] = {}
_HASH_BYTES = 32


def address(text: str, function: str, passes: Passes = OF_LOOPS) -> int:
    """Return the address of a function of a module's text, which is compiled.

    Warns once, and compiles in memory, where the cache folder cannot be used.
    """
    with _lock:
        key = text, passes
        if key not in _engines:
            _engines[key] = _loaded(text, passes)
        return _engines[key].get_function_address(function)


def _loaded(text: str, passes: Passes) -> Any:
    from llvmlite import binding

    machine = target_machine()
    key = hashlib.sha256(
        "\0".join(
            [text, *passes, host().cpu, host().features, str(binding.llvm_version_info)]
        ).encode()
    ).hexdigest()[:32]
    code = _kept(key)
    engine = binding.create_mcjit_compiler(binding.parse_assembly(""), machine)
    if code is None:
        code = _compile(text, machine, passes)
        _keep(key, code)
    engine.add_object_file(binding.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return engine


def _compile(text: str, machine: Any, passes: Passes) -> bytes:
    """Return the object file of a text, whose vectors are written as they shall be."""
    from llvmlite import binding

    module = binding.parse_assembly(text)
    module.verify()
    manager = binding.create_new_module_pass_manager()
    for name in passes:
        getattr(manager, f"add_{name}_pass")()
    tuning = binding.create_pipeline_tuning_options(speed_level=1)
    manager.run(module, binding.create_pass_builder(machine, tuning))
    return machine.emit_object(module)


def _path(key: str) -> Path:
    return cache_folder() / f"tile_{key}.o"


def _kept(key: str) -> bytes | None:
    """Return the object file of a key, None where there is none or it is damaged."""
    try:
        check_private(cache_folder())
        content = _path(key).read_bytes()
    except OSError:
        return None
    code = content[_HASH_BYTES:]
    return code if hashlib.sha256(code).digest() == content[:_HASH_BYTES] else None


def _keep(key: str, code: bytes) -> None:
    try:
        folder = cache_folder()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        check_private(folder)
        write(_path(key), hashlib.sha256(code).digest() + code)
    except OSError as error:
        warn_of_folder(error)
