"""What the tests of compiled tiles share: they need llvmlite and a processor that it serves."""

from __future__ import annotations

import pytest

from autograd.plan import chunks
from autograd.plan.lanes.host import host


@pytest.fixture(autouse=True)
def every_number_of_points(monkeypatch):
    """Compiled tiles for few points too; skipped where there are none."""
    if host() is None:
        pytest.skip("compiled tiles need llvmlite (the extra `jit`) and fused multiply-add")
    monkeypatch.setattr(chunks, "_FEW_POINTS", 1)
