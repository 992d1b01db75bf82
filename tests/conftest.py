"""What tests of all packages share."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autograd.devices import backend, cuda_is_available
from autograd.plan import chunks
from autograd.strict import strict_cuda
from autograd.strict.kernels import compiler

ROOT = Path(__file__).parents[1]
MPIEXEC = shutil.which("mpiexec", path=str(Path(sys.executable).parent)) or shutil.which("mpiexec")


@pytest.fixture(autouse=True)
def shared_however_short(monkeypatch):
    """Threads take part in short calls too: what tests compute is small."""
    monkeypatch.setattr(chunks, "_WORTH_THREADS", 0)


@pytest.fixture
def stand_in():
    """Device "cuda", played by the strict test device with kernels that run on the host.

    It counts what it is asked to do, poisons memory and has two devices.
    """
    if compiler() is None:
        pytest.skip("no C++ compiler")
    with strict_cuda(kernels=True) as device:
        yield device


@pytest.fixture(params=["stand-in", pytest.param("real", marks=pytest.mark.gpu)])
def gpu(request):
    """Device "cuda": the stand-in, and a real GPU where there is one."""
    if request.param == "stand-in":
        yield request.getfixturevalue("stand_in")
        return
    if not cuda_is_available():
        pytest.skip("no usable GPU")
    yield backend("cuda")


@pytest.fixture
def start_ranks():
    """A function that starts a Python program as so many ranks of MPI, ended with the test."""
    if MPIEXEC is None or importlib.util.find_spec("mpi4py") is None:
        pytest.skip("needs mpi4py and mpiexec")
    processes = []

    def start(count, *arguments, **options):
        paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
        ours = {"PYTHONPATH": os.pathsep.join(paths), "OPENBLAS_NUM_THREADS": "1"}
        process = subprocess.Popen(
            [MPIEXEC, "-n", str(count), sys.executable, *map(str, arguments)],
            env=os.environ | ours, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, **options,
        )  # fmt: skip
        processes.append(process)
        return process

    yield start
    for process in processes:
        process.kill()
        process.communicate()
