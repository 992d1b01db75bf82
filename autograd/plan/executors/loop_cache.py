"""Compiled loops: one a source text and process, kept on disk between processes.

A generated module is written to a folder of the user's cache (AUTOGRAD_CACHE_DIR names another)
under the hash of its text, and numba keeps the machine code next to it.
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
from pathlib import Path
from types import ModuleType

_lock = threading.Lock()
_compiled: dict[str, Callable[[int], None]] = {}
_warned = False


def compiled(source: Callable[[bool], str]) -> Callable[[int], None]:
    """Return `run` of the module that `source(cached)` gives the text of, compiled.

    Warns once, and compiles in memory, where the cache folder cannot be used.
    """
    global _warned
    text = source(True)
    with _lock:
        if text not in _compiled:
            try:
                _compiled[text] = _from_folder(text)
            # numba reads its files with pickle: what a damaged one raises is open.  An error in
            # the loop itself comes again below.
            except Exception as error:
                if not _warned:
                    warnings.warn(
                        f"the folder of compiled loops {str(cache_folder())!r} cannot be used "
                        f"({type(error).__name__}: {error}); loops are compiled again in each "
                        "process. Empty the folder, or set AUTOGRAD_CACHE_DIR to a writable one",
                        RuntimeWarning,
                        stacklevel=3,
                    )
                    _warned = True
                _compiled[text] = _in_memory(source(False))
        return _compiled[text]


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
    _check_private(folder)
    name = f"loop_{hashlib.sha256(text.encode()).hexdigest()[:24]}"
    path = folder / f"{name}.py"
    if not path.exists() or path.read_text() != text:
        _write(path, text)
    return _imported(importlib.util.spec_from_file_location(name, path))


def _check_private(folder: Path) -> None:
    """Refuse a folder that others may write to: what lies there is run."""
    if os.name != "posix":
        return
    status = folder.stat()
    if status.st_uid != os.getuid() or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise PermissionError("other users may write to it")


def _write(path: Path, text: str) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
    try:
        with os.fdopen(handle, "w") as file:
            file.write(text)
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
