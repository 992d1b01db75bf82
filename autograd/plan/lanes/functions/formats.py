"""The two floating-point formats, as far as the functions' algorithms depend on them."""

from __future__ import annotations

import struct
from dataclasses import dataclass


@dataclass(frozen=True)
class Format:
    """A binary format of IEEE 754.

    dtype      numpy's name.
    real       LLVM's name.
    suffix     how LLVM's intrinsics name it.
    bits       of a number.
    fraction   bits of the fraction; numbers have one bit more, the leading one.
    bias       of the exponent.
    """

    dtype: str
    real: str
    suffix: str
    bits: int
    fraction: int
    bias: int

    @property
    def integer(self) -> str:
        """LLVM's name of the integers with as many bits."""
        return f"i{self.bits}"

    @property
    def sign(self) -> int:
        """The sign's bit."""
        return 1 << (self.bits - 1)

    @property
    def exponent(self) -> int:
        """The exponent's bits."""
        return ((1 << (self.bits - 1 - self.fraction)) - 1) << self.fraction

    @property
    def one(self) -> int:
        """The bits of the number 1."""
        return self.bias << self.fraction

    @property
    def magic(self) -> float:
        """A number m so large that x + m rounds x to an integer, which m + x holds in its bits.

        It is 1.5 times the power of two whose spacing is 1: the sum stays between that power and
        the next for |x| below a fourth of it. (Hacker's trick of old; Muller et al., Handbook of
        Floating-Point Arithmetic, 2018, section 9.)
        """
        return 1.5 * 2.0**self.fraction

    def round(self, value: float) -> float:
        """Return the number of this format that is nearest to a double."""
        return value if self.bits == 64 else struct.unpack("<f", struct.pack("<f", value))[0]

    def power(self, exponent: int) -> float:
        """Return two to an integer."""
        return 2.0**exponent


FORMATS = {
    "float64": Format("float64", "double", "f64", 64, 52, 1023),
    "float32": Format("float32", "float", "f32", 32, 23, 127),
}
