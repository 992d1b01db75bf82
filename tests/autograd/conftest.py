"""Fixtures of the tests of the tensor library: dtypes, devices, and switches put back."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import autograd
from autograd import devices, engine
from autograd.strict import strict_cuda


@pytest.fixture(params=["float32", "float64"])
def dtype(request: pytest.FixtureRequest) -> np.dtype:
    """Each of the two dtypes that every numeric row holds in."""
    return np.dtype(request.param)


@pytest.fixture(params=["strict", pytest.param("gpu", marks=pytest.mark.gpu)])
def cuda(request: pytest.FixtureRequest):
    """Device "cuda": the strict test device, and a real GPU where there is one."""
    if request.param == "gpu":
        if not devices.cuda_is_available():
            pytest.skip("no usable GPU")
        yield "cuda"
        return
    with strict_cuda():
        yield "cuda"


@pytest.fixture
def told(start_ranks):
    """A function that runs a program of mpi_programs.py, and returns what each rank found."""

    def told(count, name, *arguments):
        program = Path(__file__).with_name("mpi_programs.py")
        process = start_ranks(count, program, name, *arguments)
        out, err = process.communicate(timeout=240)
        assert process.returncode == 0, err
        return json.loads(out)

    return told


@pytest.fixture
def cycle_warning_given(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let backward(create_graph=True) be silent, as after its one warning a process."""
    monkeypatch.setattr(engine, "_warned_cycle", True)


@pytest.fixture(autouse=True)
def grad_mode_is_left_as_found():
    """Fail a test that leaves the grad mode or the default dtype changed."""
    yield
    assert autograd.is_grad_enabled()
    assert autograd.get_default_dtype() == np.float32
