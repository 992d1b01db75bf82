"""Random numbers: seeded generators with exact states, the same numbers on every device.

The numbers are drawn on the host (numpy's PCG64) and then moved, so a seed means the same values on
the CPU and on a GPU.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from . import devices
from .tensor import Tensor

__all__ = [
    "Generator",
    "default_generator",
    "fork_rng",
    "get_rng_state",
    "initial_seed",
    "manual_seed",
    "seed",
    "set_rng_state",
]

_STATE_BYTES = 16 + 16 + 1 + 4 + 8  # state, increment, has half a draw, that half, seed


class Generator:
    """A stream of random numbers that belongs to a device.

    A new one starts from a seed of the operating system; `manual_seed` makes it reproducible.
    """

    def __init__(self, device: Any = "cpu") -> None:
        self._device = devices.as_device(device)
        self._bits = np.random.PCG64()
        self.numpy = np.random.Generator(self._bits)
        self.seed()

    @property
    def device(self) -> devices.Device:
        """The device whose tensors are drawn by default."""
        return self._device

    def manual_seed(self, seed: int) -> Generator:
        """Start the stream of `seed` (any integer below 2^64; negative ones wrap around).

        Returns this generator.
        """
        value = seed.__index__()
        if not -(2**63) <= value < 2**64:
            raise RuntimeError(
                f"Overflow when unpacking long: a seed lies in [-2^63, 2^64), got {value}"
            )
        self._seed = value % 2**64
        self._bits.state = np.random.PCG64(self._seed).state
        return self

    def seed(self) -> int:
        """Start from a seed of the operating system, and return it."""
        self.manual_seed(secrets.randbits(63))
        return self._seed

    def initial_seed(self) -> int:
        """Return the seed the stream was started from."""
        return self._seed

    def get_state(self) -> Tensor:
        """Return the exact state as a uint8 tensor of 45 elements."""
        state = self._bits.state
        text = (
            state["state"]["state"].to_bytes(16, "little")
            + state["state"]["inc"].to_bytes(16, "little")
            + state["has_uint32"].to_bytes(1, "little")
            + state["uinteger"].to_bytes(4, "little")
            + self._seed.to_bytes(8, "little")
        )
        return Tensor(np.frombuffer(text, dtype=np.uint8).copy())

    def set_state(self, new_state: Tensor) -> Generator:
        """Continue from a state that `get_state` gave; ValueError for anything else."""
        if not isinstance(new_state, Tensor):
            raise TypeError(
                f"expected the uint8 Tensor that get_state() gave, got {type(new_state).__name__}"
            )
        if new_state.dtype != np.uint8 or tuple(new_state.shape) != (_STATE_BYTES,):
            raise ValueError(
                f"RNG state is wrong size: expected {_STATE_BYTES} elements of uint8 from "
                f"get_state(), got shape {list(new_state.shape)} of {new_state.dtype}"
            )
        text = bytes(new_state.detach().cpu().numpy())
        self._bits.state = {
            "bit_generator": "PCG64",
            "state": {
                "state": int.from_bytes(text[:16], "little"),
                "inc": int.from_bytes(text[16:32], "little"),
            },
            "has_uint32": text[32],
            "uinteger": int.from_bytes(text[33:37], "little"),
        }
        self._seed = int.from_bytes(text[37:45], "little")
        return self

    def clone_state(self) -> Generator:
        """Return another generator in the same state."""
        return Generator(self._device).set_state(self.get_state())

    def __repr__(self) -> str:
        return f"<Generator device={self._device} initial_seed={self._seed}>"


default_generator = Generator()


def manual_seed(seed: int) -> Generator:
    """Start the default stream of `seed`, and return its generator."""
    return default_generator.manual_seed(seed)


def seed() -> int:
    """Start the default stream from a seed of the operating system, and return it."""
    return default_generator.seed()


def initial_seed() -> int:
    """Return the seed the default stream was started from."""
    return default_generator.initial_seed()


def get_rng_state() -> Tensor:
    """Return the exact state of the default stream."""
    return default_generator.get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Continue the default stream from a state that `get_rng_state` gave."""
    default_generator.set_state(new_state)


@contextmanager
def fork_rng() -> Iterator[None]:
    """Inside the context draw as usual; afterwards the default stream is as it was before."""
    before = default_generator.get_state()
    try:
        yield
    finally:
        default_generator.set_state(before)
