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

_lock = threading.Lock()
_engines: dict[tuple[str, int], Any] = {}
_HASH_BYTES = 32

AS_WRITTEN = 0
"""The level of the library: the passes find nothing there, and take a quarter of a second."""


def address(text: str, function: str, level: int = 1) -> int:
    """Return the address of a function of a module's text, which is compiled.

    level: 1 has LLVM simplify the text; 0 takes it as it is written, with functions inlined.
    Warns once, and compiles in memory, where the cache folder cannot be used.
    """
    with _lock:
        key = text, level
        if key not in _engines:
            _engines[key] = _loaded(text, level)
        return _engines[key].get_function_address(function)


def _loaded(text: str, level: int) -> Any:
    from llvmlite import binding

    machine = target_machine()
    key = hashlib.sha256(
        "\0".join(
            [text, str(level), host().cpu, host().features, str(binding.llvm_version_info)]
        ).encode()
    ).hexdigest()[:32]
    code = _kept(key)
    engine = binding.create_mcjit_compiler(binding.parse_assembly(""), machine)
    if code is None:
        code = _compile(text, machine, level)
        _keep(key, code)
    engine.add_object_file(binding.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return engine


def _compile(text: str, machine: Any, level: int) -> bytes:
    """Return the object file of a text, whose vectors are written as they shall be."""
    from llvmlite import binding

    module = binding.parse_assembly(text)
    module.verify()
    tuning = binding.create_pipeline_tuning_options(speed_level=level)
    tuning.slp_vectorization = False
    tuning.loop_vectorization = False
    builder = binding.create_pass_builder(machine, tuning)
    builder.getModulePassManager().run(module, builder)
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
