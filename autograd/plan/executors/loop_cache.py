"""Compiled loops: one a source text and process, kept on disk between processes.

A generated module is written to a folder of the user's cache (AUTOGRAD_CACHE_DIR names another)
under the hash of its text, and numba keeps the machine code next to it.  Beside them lie the sums
of all that is run: a damaged bit would not fail, it would end the process.  What has not the sum
that it was written with is removed before anybody reads it, and compiled again.
"""

from __future__ import annotations

import hashlib
import importlib.abc
import importlib.util
import os
import stat
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType

_lock = threading.Lock()
_compiled: dict[str, Callable[[int], None]] = {}
_warned = False


def compiled(source: Callable[[bool], str]) -> Callable[[int], None]:
    """Return `run` of the module that `source(cached)` gives the text of, compiled.

    Warns once, and compiles in memory, where the cache folder cannot be used.
    """
    text = source(True)
    with _lock:
        if text not in _compiled:
            try:
                _compiled[text] = _from_folder(text)
            # numba reads its files with pickle: what a damaged one raises is open.  An error in
            # the loop itself comes again below.
            except Exception as error:
                warn_of_folder(error)
                _compiled[text] = _in_memory(source(False))
        return _compiled[text]


def warn_of_folder(error: Exception) -> None:
    """Warn, once a process, that the folder cannot be used."""
    global _warned
    if _warned:
        return
    _warned = True
    warnings.warn(
        f"the folder of compiled loops {str(cache_folder())!r} cannot be used "
        f"({type(error).__name__}: {error}); loops are compiled again in each "
        "process. Empty the folder, or set AUTOGRAD_CACHE_DIR to a writable one",
        RuntimeWarning,
        stacklevel=4,
    )


def cache_folder() -> Path:
    """Return the folder of compiled loops: AUTOGRAD_CACHE_DIR, or one in the user's cache."""
    chosen = os.environ.get("AUTOGRAD_CACHE_DIR")
    if chosen:
        return Path(chosen)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "autograd-loops"


def _from_folder(text: str) -> Callable[[int], None]:
    folder = cache_folder()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    check_private(folder)
    name = f"loop_{hashlib.sha256(text.encode()).hexdigest()[:24]}"
    path = folder / f"{name}.py"
    if not path.exists() or path.read_bytes() != text.encode():
        write(path, text.encode())
    # other versions of Python keep files of their own
    kept = folder / f"{name}.{sys.implementation.cache_tag}.sums"
    expected = kept.read_bytes().decode(errors="replace") if kept.exists() else ""
    if _sums(path) != expected:
        for file in _code_files(path):
            file.unlink(missing_ok=True)
    run = _imported(importlib.util.spec_from_file_location(name, path))
    found = _sums(path)
    if found != expected:
        write(kept, found.encode())
    return run


def _code_files(path: Path) -> list[Path]:
    """Return the files that this Python and numba keep of a module: bytecode, index and code."""
    folders = [path.parent / "__pycache__"]
    elsewhere = import_module("numba").config.CACHE_DIR  # NUMBA_CACHE_DIR
    if elsewhere:
        folders += sorted(p for p in Path(elsewhere).glob("*") if p.is_dir())
    tags = (f".{sys.implementation.cache_tag}.", f".py{sys.version_info[0]}{sys.version_info[1]}.")
    return [
        file
        for folder in folders
        for file in sorted(folder.glob(f"{path.stem}.*"))
        if any(tag in file.name for tag in tags)
        and ".tmp." not in file.name  # another process is writing it
    ]


def _sums(path: Path) -> str:
    """Return a line for each file that would be run: its sum and its name."""
    lines = []
    for file in _code_files(path):
        try:
            content = file.read_bytes()
        except FileNotFoundError:  # another process has found it damaged
            continue
        lines.append(f"{hashlib.sha256(content).hexdigest()} {file.name}\n")
    return "".join(lines)


def check_private(folder: Path) -> None:
    """Refuse a folder that others may write to: what lies there is run."""
    if os.name != "posix":
        return
    status = folder.stat()
    if status.st_uid != os.getuid() or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise PermissionError("other users may write to it")


def write(path: Path, content: bytes) -> None:
    """Write a file under a temporary name first, so that no other process sees a part of it."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.replace(temporary, path)
    except OSError:
        Path(temporary).unlink(missing_ok=True)
        raise


class _Text(importlib.abc.InspectLoader):
    """Loads a module from a string."""

    def __init__(self, text: str) -> None:
        self.text = text

    def get_source(self, fullname: str) -> str:
        return self.text


def _in_memory(text: str) -> Callable[[int], None]:
    name = f"loop_{hashlib.sha256(text.encode()).hexdigest()[:24]}"
    return _imported(importlib.util.spec_from_loader(name, _Text(text)))


def _imported(spec: importlib.machinery.ModuleSpec) -> Callable[[int], None]:
    module: ModuleType = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # numba finds the function again through its module
    spec.loader.exec_module(module)
    return module.run
