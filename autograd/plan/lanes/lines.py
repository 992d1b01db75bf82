"""Lines of LLVM's language that make new names, and constants in it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


class Lines:
    """Appends lines to a text; each makes a name with the prefix and the next number."""

    def __init__(self, out: list[str], prefix: str) -> None:
        self.out = out
        self.prefix = prefix
        self.count = 0

    def new(self, text: str) -> str:
        """Append a line that gives something, and return the name of it."""
        self.count += 1
        name = f"%{self.prefix}{self.count}"
        self.out.append(f"  {name} = {text}")
        return name

    def add(self, what: str, x: str, y: str) -> str:
        """Append an operation on two operands."""
        return self.new(f"{what}{x}, {y}")

    def shuffle(self, real: str, lanes: int, x: str, y: str, places: Sequence[int]) -> str:
        """Append the choice of some numbers of two vectors, the second counted after the first."""
        indices = ", ".join(f"i32 {k}" for k in places)
        return self.new(
            f"shufflevector <{lanes} x {real}> {x}, <{lanes} x {real}> {y}, "
            f"<{len(places)} x i32> <{indices}>"
        )


def vector_constant(real: str, lanes: int, value: float) -> str:
    """Return a vector of one constant, exact: LLVM writes floats too by the bits of a double."""
    nearest = np.float64(np.float32(value) if real == "float" else value)
    return f"splat ({real} 0x{nearest.view(np.uint64):016X})"
