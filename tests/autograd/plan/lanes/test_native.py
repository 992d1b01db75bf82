"""Machine code is kept between processes, and compiled again where what is kept is damaged."""

from __future__ import annotations

import os
import warnings

import pytest

from autograd.plan.executors import loop_cache
from autograd.plan.lanes import native

_TEXT = "define i64 @run(i64 %x) {\n  %y = add i64 %x, 41\n  ret i64 %y\n}\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("AUTOGRAD_CACHE_DIR", str(tmp_path / "kept"))
    monkeypatch.setattr(native, "_engines", {})
    monkeypatch.setattr(loop_cache, "_warned", False)
    return tmp_path / "kept"


def _call():
    import ctypes

    native._engines.clear()
    function = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)
    return function(native.address(_TEXT, "run"))(1)


def test_code_is_kept_and_found_again(folder, monkeypatch):
    assert _call() == 42
    (kept,) = folder.iterdir()
    content = kept.read_bytes()
    monkeypatch.setattr(native, "_compile", lambda *_: pytest.fail("compiled again"))
    assert _call() == 42
    assert kept.read_bytes() == content


@pytest.mark.parametrize("damage", ["a bit", "its end", "all of it"])
def test_damaged_code_is_compiled_again(folder, damage):
    assert _call() == 42
    (kept,) = folder.iterdir()
    whole = kept.read_bytes()
    spoilt = bytearray(whole)
    spoilt[len(whole) // 2] ^= 1
    kept.write_bytes({"a bit": bytes(spoilt), "its end": whole[:-8], "all of it": b""}[damage])
    assert _call() == 42
    assert kept.read_bytes() == whole


@pytest.mark.skipif(os.name != "posix", reason="permissions as POSIX has them")
def test_a_folder_that_others_may_write_to_is_not_used(folder):
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.warns(RuntimeWarning, match="folder of compiled loops .* other users may write"):
        assert _call() == 42
    assert not list(folder.iterdir())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert _call() == 42  # said once


def test_a_folder_that_cannot_be_made_is_said(tmp_path, folder, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("AUTOGRAD_CACHE_DIR", str(tmp_path / "file" / "kept"))
    with pytest.warns(RuntimeWarning, match="cannot be used"):
        assert _call() == 42
