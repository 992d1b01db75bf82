"""Switches that PyTorch scripts set for libraries that are not here; they change nothing."""

from __future__ import annotations

from types import SimpleNamespace

cudnn = SimpleNamespace(enabled=False, benchmark=False, deterministic=True)
"""cuDNN is not used; every result is the same in each run of a machine."""
mps = SimpleNamespace(is_available=lambda: False, is_built=lambda: False)
"""Apple's GPUs are not used."""
