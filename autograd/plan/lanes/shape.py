"""The form that generated code takes: number type, registers, and points of a tile."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .host import Host


@dataclass(frozen=True)
class Shape:
    """What all generated functions of one library share.

    The values of a tile of `tile` points lie as rows of as many numbers, one row an element of the
    value; matrices of weights lie as they do elsewhere.
    """

    host: Host
    dtype: np.dtype
    tile: int

    @property
    def real(self) -> str:
        """The number type's name."""
        return {"float32": "float", "float64": "double"}[str(self.dtype)]

    @property
    def size(self) -> int:
        """Bytes of a number."""
        return self.dtype.itemsize

    @property
    def lanes(self) -> int:
        """How many numbers a register holds."""
        return self.host.vector_bytes // self.size

    @property
    def wide(self) -> int:
        """How many numbers a loop takes at a time."""
        return self.lanes * (2 if self.tile % (2 * self.lanes) == 0 else 1)

    @property
    def steps(self) -> int:
        """Registers of a row."""
        return self.tile // self.lanes

    @property
    def vector(self) -> str:
        """The type of a register."""
        return f"<{self.lanes} x {self.real}>"

    @property
    def fma(self) -> str:
        """The name of the fused multiply-add of registers."""
        return f"@llvm.fma.v{self.lanes}f{8 * self.size}"
