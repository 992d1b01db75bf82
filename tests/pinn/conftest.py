"""What the tests of the PDE layer share."""

from __future__ import annotations

import os

# Small networks train in a moment; compiling loops for each of them would take longer. The compiled
# loops have tests of their own (tests/autograd/plan).
os.environ.setdefault("AUTOGRAD_EXECUTOR", "numpy")


def pytest_configure(config) -> None:
    # Most tests train for a few steps, and solve nothing.
    config.addinivalue_line("filterwarnings", "ignore::pinn.UnsolvedWarning")
