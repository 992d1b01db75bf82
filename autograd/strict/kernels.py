"""Kernels of CUDA C, compiled as host code: what cupy's ElementwiseKernel and RawModule do."""

from __future__ import annotations

import ctypes
import hashlib
import math
import platform
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ..plan.executors.loop_cache import cache_folder, check_private, warn_of_folder, write
from . import cuda, graphs
from .array import Namespace, StrictArray
from .cuda import Cuda
from .emulation import LAUNCH, PRELUDE

_TYPES = {"float32": "float", "float64": "double"}
_DTYPES = {text: np.dtype(name) for name, text in _TYPES.items()}
_NUMBERS = {"int": np.int32, "long long": np.int64, "float": np.float32, "double": np.float64}
_KERNEL = re.compile(
    r'extern "C" __global__ void\s+(?:__launch_bounds__\([^)]*\)\s+)?(\w+)\(([^)]*)\)'
)
_STATIC, _MOST = 48 << 10, 99 << 10
_MOST_ASIDE = 65535  # blocks of a grid along y and z
_MOST_THREADS = 1024
TURNS = ("forward", "backward", "mixed")
"""In which order threads and blocks may take turns."""


def compiler() -> str | None:
    """Return the path of a C++ compiler; None where there is none."""
    return shutil.which("c++") or shutil.which("g++")


class KernelNamespace(Namespace):
    """The strict test device's functions, and kernels.

    turns: one of TURNS, in which order the threads and the blocks of each launch take turns.
    attributes: what the device is said to have, under cupy's names.
    """

    def __init__(self) -> None:
        super().__init__()
        self.turns = "forward"
        self.attributes = {"MaxSharedMemoryPerBlockOptin": _MOST, "MultiProcessorCount": 2}
        self.cuda = Cuda(self.attributes)

    def ElementwiseKernel(self, *arguments: str) -> HostElementwise:  # noqa: N802 - cupy's name
        """Return a kernel that does the same with each element."""
        return HostElementwise(*arguments)

    def RawModule(self, *, code: str, options: tuple[str, ...] = ()) -> HostModule:  # noqa: N802
        """Return the kernels of a text of CUDA C."""
        return HostModule(code, self)


def with_kernels() -> KernelNamespace:
    """Return numpy's functions with kernels; RuntimeError where there is no C++ compiler."""
    if compiler() is None:
        raise RuntimeError("kernels as host code need a C++ compiler: c++ or g++")
    return KernelNamespace()


class HostElementwise:
    """What `cupy.ElementwiseKernel` does with its text, compiled for the host.

    Parameters are references to the elements, as in cupy: an output that lies on an input is
    written where the input is read.
    """

    def __init__(self, in_params: str, out_params: str, operation: str, name: str) -> None:
        inputs = [p.split() for p in in_params.split(", ")]
        outputs = [p.split() for p in out_params.split(", ")]
        self.inputs, self.outputs = len(inputs), len(outputs)
        self.parameters = inputs + outputs
        self.dtype = outputs[0][0]
        self.name, self.loaded = name, False
        references = [
            f"const {_TYPES[t]} &{n} = (({_TYPES[t]} *)p[{k}])[i];"
            for k, (t, n) in enumerate(inputs)
        ] + [
            f"{_TYPES[t]} &{n} = (({_TYPES[t]} *)p[{k + self.inputs}])[i];"
            for k, (t, n) in enumerate(outputs)
        ]
        text = "\n".join(
            [
                "#include <cmath>",
                "using namespace std;",
                f'extern "C" void {name}(long count, void **p) {{',
                "for (long i = 0; i < count; ++i) {",
                *references,
                operation + ";",
                "} }",
                "",
            ]
        )
        self.function = getattr(_compiled(text), name)

    def __call__(self, *arguments: Any) -> None:
        taken = [a for a in arguments if isinstance(a, StrictArray)]
        for one in taken:
            cuda.check(one.index)
        for (kind, name), one in zip(self.parameters, arguments, strict=True):
            if isinstance(one, StrictArray) and one.dtype != kind:
                raise TypeError(f"kernel {self.name}: {name} takes {kind}, got {one.dtype}")
            if not isinstance(one, (StrictArray, bool, int, float, np.generic)):
                raise TypeError(f"kernel {self.name}: Unsupported type {type(one)} for {name}")
        numbers = [None if isinstance(a, StrictArray) else a for a in arguments]

        def call(arrays: list[np.ndarray]) -> None:
            left = iter(arrays)
            self._run([next(left) if number is None else number for number in numbers])

        graphs.launch(self.name, self.loaded, call, [a._host for a in taken])
        self.loaded = True

    def _run(self, given: Sequence[Any]) -> None:
        """Run it with arrays and numbers."""
        outputs = given[self.inputs :]
        shape = outputs[0].shape
        inputs = [
            np.ascontiguousarray(np.broadcast_to(np.asarray(one, self.dtype), shape))
            for one in given[: self.inputs]
        ]
        assert all(o.flags.c_contiguous and o.shape == shape for o in outputs)
        pointers = (ctypes.c_void_p * (self.inputs + self.outputs))(
            *(a.ctypes.data for a in (*inputs, *outputs))
        )
        self.function(ctypes.c_long(outputs[0].size), pointers)


class HostModule:
    """What `cupy.RawModule` does with its text, compiled for the host (emulation.py)."""

    def __init__(self, code: str, namespace: KernelNamespace) -> None:
        self.code = code
        self.loaded: set[str] = set()
        self.namespace = namespace
        self.parameters = {
            name: [part.strip() for part in arguments.split(",")]
            for name, arguments in _KERNEL.findall(code)
        }
        shared = "extern __shared__ __align__(16) R arena[];" in code
        parts = [PRELUDE, code]
        if shared:
            parts.append(f"__align__(16) R arena[{_MOST} / sizeof(R)];")
        for name, parameters in self.parameters.items():
            kinds = [re.sub(r"\w+$", "", p.replace("__restrict__", "")) for p in parameters]
            taken = ", ".join(f"*({kind} *)arguments[{k}]" for k, kind in enumerate(kinds))
            text = (
                LAUNCH
                if name == next(iter(self.parameters))
                else LAUNCH.replace("static void **arguments;", "")
            )
            text = text.replace("NAME", name).replace("ARGUMENTS", taken)
            fresh = "memset(arena, 0xFF, sizeof(arena));" if shared else ""
            parts.append(text.replace("FRESH", fresh))
        self.real = _DTYPES[re.search(r"typedef (float|double) R;", code)[1]]
        self.library = _compiled("\n".join(parts))

    def get_function(self, name: str) -> HostKernel:
        """Return a kernel by name."""
        return HostKernel(self, name)


class HostKernel:
    """What `cupy.RawKernel` does: launches of a kernel with arrays and numpy's numbers."""

    def __init__(self, module: HostModule, name: str) -> None:
        self.module = module
        self.parameters = module.parameters[name]
        self.name = name
        self.function = getattr(module.library, f"launch_{name}")
        self._allowed: dict[int, int] = {}  # bytes of shared memory, by device

    @property
    def max_dynamic_shared_size_bytes(self) -> int:
        """What a launch may take; set for the current device alone, where it is a kernel apart."""
        return self._allowed.get(cuda.current(), _STATIC)

    @max_dynamic_shared_size_bytes.setter
    def max_dynamic_shared_size_bytes(self, number: int) -> None:
        self._allowed[cuda.current()] = number

    def __call__(
        self, grid: tuple[int, ...], block: tuple[int, ...], arguments: Sequence[Any],
        *, shared_mem: int = 0,
    ) -> None:  # fmt: skip
        if shared_mem > min(self.max_dynamic_shared_size_bytes, _MOST):
            raise ValueError(
                f"kernel {self.name}: {shared_mem} bytes of shared memory, where "
                f"{self.max_dynamic_shared_size_bytes} are allowed and {_MOST} there"
            )
        for what, sizes in (("grid", grid), ("block", block)):
            if type(sizes) is not tuple or min(sizes, default=0) < 1:  # of 0 cupy makes 1
                raise TypeError(
                    f"kernel {self.name}: a {what} is a tuple of numbers above 0, got {sizes!r}"
                )
        if math.prod(block) > _MOST_THREADS:
            raise ValueError(
                f"kernel {self.name}: a block has {_MOST_THREADS} threads at most, got {block}"
            )
        if max(grid[1:], default=0) > _MOST_ASIDE:
            raise ValueError(
                f"kernel {self.name}: a grid has {_MOST_ASIDE} blocks at most along y and z, got "
                f"{grid}"
            )
        if len(arguments) != len(self.parameters):
            raise ValueError(
                f"kernel {self.name}: expected {len(self.parameters)} arguments, got "
                f"{len(arguments)}"
            )
        checked = [self._checked(*pair) for pair in zip(self.parameters, arguments, strict=True)]

        numbers = [None if one.ndim else one for one in checked]

        def call(arrays: list[np.ndarray]) -> None:
            left = iter(arrays)
            given = [next(left) if number is None else number for number in numbers]
            self._run(grid, block, given)

        loaded = self.module.loaded
        graphs.launch(self.name, self.name in loaded, call, [a for a in checked if a.ndim])
        loaded.add(self.name)

    def _run(
        self, grid: tuple[int, ...], block: tuple[int, ...], given: Sequence[np.ndarray]
    ) -> None:
        """Run it with arrays, and with numbers as arrays of no dimension."""
        kept = [
            ctypes.c_void_p(a.ctypes.data) if a.ndim else a.ctypes.data_as(ctypes.c_void_p)
            for a in given
        ]
        places = (ctypes.c_void_p * len(kept))(*(
            ctypes.addressof(one) if host.ndim else host.ctypes.data
            for one, host in zip(kept, given, strict=True)
        ))  # fmt: skip
        blocks = grid[0] * (grid[1] if len(grid) > 1 else 1)
        size = np.array([grid[0], blocks // grid[0], block[0]], np.int32)
        turns = np.concatenate([_order(self.module.namespace.turns, n) for n in (blocks, block[0])])
        if self.function(places, ctypes.c_void_p(size.ctypes.data),
                         ctypes.c_void_p(turns.ctypes.data)):  # fmt: skip
            raise RuntimeError(f"kernel {self.name}: threads of a block meet different barriers")

    def _checked(self, parameter: str, argument: Any) -> np.ndarray:
        """Return an argument as an array, of no dimension for a number; TypeError for others."""
        if "*" not in parameter:
            dtype = _NUMBERS[parameter.rpartition(" ")[0]]
            if type(argument) is not dtype:
                raise TypeError(
                    f"kernel {self.name}: {parameter} takes a {dtype.__name__}, got {argument!r}"
                )
            return np.array(argument)
        kind = parameter.replace("const ", "").partition("*")[0].strip()
        dtype = self.module.real if kind == "R" else np.dtype(_NUMBERS[kind])
        if not isinstance(argument, StrictArray) or argument.dtype != dtype:
            raise TypeError(f"kernel {self.name}: {parameter} takes a {dtype} array of the device")
        cuda.check(argument.index)
        if not argument._host.flags.c_contiguous:
            raise ValueError(f"kernel {self.name}: {parameter} takes an array that is dense")
        return argument._host.reshape(-1)


def _order(turns: str, count: int) -> np.ndarray:
    """Return the order in which some threads or blocks take turns."""
    if turns == "mixed":
        return np.random.default_rng(count).permutation(count).astype(np.int32)
    return np.arange(count, dtype=np.int32)[:: -1 if turns == "backward" else 1]


@cache
def _folder() -> tempfile.TemporaryDirectory:
    return tempfile.TemporaryDirectory(prefix="autograd-kernels-")


@cache
def _version() -> str:
    """Return what the compiler says of itself: another one compiles again."""
    told = subprocess.run([str(compiler()), "--version"], capture_output=True, text=True)
    return told.stdout + platform.machine()


@cache
def _compiled(text: str) -> ctypes.CDLL:
    """Return the library of a text of C++, kept beside the compiled loops, with the hash of it."""
    key = hashlib.sha256("\0".join([text, _version()]).encode()).hexdigest()[:24]
    kept = cache_folder() / f"kernel_{key}.so"
    if not _sound(kept):
        content = _compile(text, key)
        try:
            check_private(kept.parent)
            write(kept, content)
            write(kept.with_suffix(".sum"), _sum(content))
        except OSError as error:
            warn_of_folder(error)
            kept = Path(_folder().name) / kept.name
            kept.write_bytes(content)
    return ctypes.CDLL(str(kept))


def _sound(library: Path) -> bool:
    """Return whether a library is there, in a folder of one's own, and is what was written."""
    try:
        library.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        check_private(library.parent)
        return _sum(library.read_bytes()) == library.with_suffix(".sum").read_bytes()
    except OSError:
        return False


def _sum(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()


def _compile(text: str, key: str) -> bytes:
    path = Path(_folder().name) / f"{key}.cpp"
    path.write_text(text)
    library = path.with_suffix(".so")
    subprocess.run(
        [str(compiler()), "-std=c++17", "-O1", "-w", "-shared", "-fPIC", "-o", str(library),
         str(path)],
        check=True, timeout=300,
    )  # fmt: skip
    return library.read_bytes()
