"""The engines by name: ours and the peers. Their modules are imported in workers only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Protocol

import numpy as np


class Step(Protocol):
    """A training step bound to a workload: `step` returns the loss before its update.

    An engine of a GPU has `steps` too.
    """

    def step(self) -> float: ...

    def steps(self, count: int) -> None:
        """Take several, and wait for the device once, at their end."""
        ...

    def first_moment(self) -> np.ndarray:
        """Return Adam's first moment as one float64 vector in the parameters' order."""
        ...


@dataclass(frozen=True)
class Engine:
    """An engine: where its code is, the ways it can take derivatives, the packages it needs.

    `module` has prepare(workload, way, seed, threads) -> Step, and may have configure(threads).
    """

    name: str
    module: str
    ways: tuple[str, ...]
    needs: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    peer: bool = False

    def missing(self) -> list[str]:
        """Return the packages that are not installed."""
        return [name for name in self.needs if find_spec(name) is None]


_HERE = "experiments.bench.engines"

ENGINES: dict[str, Engine] = {
    engine.name: engine
    for engine in (
        Engine("ours", f"{_HERE}.ours", ("numpy",)),
        Engine("ours-numba", f"{_HERE}.ours", ("numba",), ("numba",)),
        Engine("ours-llvm", f"{_HERE}.ours", ("llvm",), ("numba",)),
        Engine("objective", f"{_HERE}.ours", ("objective",)),
        Engine("torch", f"{_HERE}.pytorch", ("nested",), ("torch",), peer=True),
        Engine(
            "jax", f"{_HERE}.jax_", ("reverse", "forward", "hybrid", "jet", "jet-vmap"),
            ("jax", "optax"), (("JAX_PLATFORMS", "cpu"), ("JAX_ENABLE_X64", "1")), peer=True,
        ),
        Engine("products", f"{_HERE}.products", ("plain", "ours")),
    )
}
"""Ours by executor, "objective" as training runs it; "products" is the floor."""


LOOPS: dict[str, Engine] = {
    "torch": ENGINES["torch"],
    "loop": Engine(
        "loop", f"{_HERE}.loop", ("eager", "compiled", "compiled-numba", "compiled-llvm"),
        ("numba",),
    ),
}
"""Those of loops as research code writes them, in the same words for both."""


GPU: dict[str, Engine] = {
    engine.name: engine
    for engine in (
        Engine("ours-gpu", f"{_HERE}.bursts", ("bursts",), ("cupy",)),
        Engine(
            "jax-gpu", f"{_HERE}.jax_", ENGINES["jax"].ways, ("jax", "optax"),
            # Products of float32 as such; by default factors are rounded to eleven bits first.
            (("JAX_PLATFORMS", "cuda"), ("JAX_ENABLE_X64", "1"),
             ("JAX_DEFAULT_MATMUL_PRECISION", "highest"),
             ("XLA_PYTHON_CLIENT_PREALLOCATE", "false")), peer=True,
        ),
        Engine("torch-gpu", f"{_HERE}.pytorch_cuda", ("nested",), ("torch",), peer=True),
    )
}  # fmt: skip
"""Those of a GPU (experiments.gpu)."""


class CannotRun(Exception):
    """An engine cannot run a workload in a way; the text says why."""


def flat(arrays: Sequence[Any]) -> np.ndarray:
    """Return arrays joined as one float64 vector."""
    return np.concatenate([np.asarray(a, dtype=np.float64).reshape(-1) for a in arrays])
