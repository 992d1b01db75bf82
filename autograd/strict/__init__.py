"""A device for tests: numpy arrays behind a tag that refuse to mix with host arrays.

It behaves as a GPU array library does where that matters: results of reductions are 0-d arrays,
`numpy.asarray` refuses, an operation on a strict and a host array raises TypeError, a matrix that
has no factor is told of only where that was asked for, and what cupy has not is not there
(autograd/strict/missing.py).  With it the whole device code runs on a machine without a GPU; with a
C++ compiler, its kernels too.  What it was asked to do can be counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..devices import Backend, registered
from . import counts, graphs, missing
from .array import Namespace, StrictArray, _unwrap, launched
from .counts import Counts, counted
from .cuda import Cuda
from .linalg import Linalg, SciPyLinalg, linalg_raises

__all__ = ["Counts", "StrictArray", "counted", "strict_backend", "strict_cuda"]


def strict_backend(device_type: str = "cuda", kernels: bool = False, nccl: Any = None) -> Backend:
    """Return the strict test device under the name of another device type.

    kernels: it has `ElementwiseKernel` and `RawModule`, which compile CUDA C as host code
    (autograd/strict/kernels.py), and streams that capture graphs of them
    (autograd/strict/graphs.py); RuntimeError where there is no C++ compiler. nccl: what it has in
    place of NCCL (autograd/strict/nccl.py).
    """
    xp: Any = Namespace()
    xp.cuda = Cuda({})
    if kernels:
        from .kernels import with_kernels

        xp = with_kernels()
    xp.linalg = Linalg()
    return Backend(
        type=device_type,
        array_type=StrictArray,
        xp=xp,
        load_special=_special,
        from_host=_from_host,
        to_host=_to_host,
        index_of=lambda array: array.index,
        owner_of=_owner,
        scatter_add=_scatter_add,
        load_linalg=SciPyLinalg,
        linalg_raises=linalg_raises,
        load_nccl=lambda: nccl,
        current=lambda index: xp.cuda.Device(index or 0),
        use=lambda index: xp.cuda.Device(index or 0).use(),
        free_memory=lambda index: xp.free,
        count=xp.cuda.runtime.getDeviceCount,
    )


@contextmanager
def strict_cuda(kernels: bool = False, nccl: Any = None) -> Iterator[Backend]:
    """Let the strict test device stand for "cuda" inside the context; kernels, nccl: see above."""
    with registered(strict_backend("cuda", kernels, nccl)) as backend:
        yield backend


def _special() -> Any:
    import scipy.special

    return Namespace(scipy.special)


def _from_host(host: np.ndarray, index: int | None) -> StrictArray:
    graphs.refuse("a copy from the host")
    counts.upload(host.nbytes)
    return StrictArray(np.array(host), index or 0)


def _to_host(array: StrictArray) -> np.ndarray:
    graphs.refuse("a copy to the host")
    counts.download(array._host.nbytes)
    return np.array(array._host)


def _scatter_add(array: StrictArray, index: Any, values: Any) -> None:
    graphs.refuse("operation add.at")
    missing.check_added(array.dtype)
    launched([array, index, values])
    np.add.at(_unwrap(array), _unwrap(index), _unwrap(values))


def _owner(array: StrictArray) -> Any:
    return array._host if array._host.base is None else array._host.base
