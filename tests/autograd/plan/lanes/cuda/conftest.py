"""What the tests of kernels share: the strict test device, which compiles them as host code."""

from __future__ import annotations

import pytest

from autograd.strict import strict_cuda
from autograd.strict.kernels import compiler


@pytest.fixture(autouse=True)
def every_number_of_points():
    """Nothing: kernels need no llvmlite, and take every number of points."""


@pytest.fixture
def gpu():
    """Device "cuda", played by the strict test device with kernels that run on the host."""
    if compiler() is None:
        pytest.skip("no C++ compiler")
    with strict_cuda(kernels=True) as backend:
        yield backend
