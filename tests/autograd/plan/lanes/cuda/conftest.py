"""What the tests of kernels share: the strict test device, which compiles them as host code."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def every_number_of_points():
    """Nothing: kernels need no llvmlite, and take every number of points."""
