"""Values of a function in LLVM's language, which write their instructions as Python computes them.

`x * x + 1.0` appends a product and a sum to the function's text. A number stands for a vector of
it. Nothing is rearranged: no fast-math flags, and a product and a sum are one operation only where
`fma` says so.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence

from .formats import FORMATS, Format

INTRINSICS = {
    "fma": 3, "sqrt": 1, "fabs": 1, "copysign": 2, "rint": 1, "floor": 1, "ceil": 1, "trunc": 1,
}  # fmt: skip
"""The intrinsics in use, each one instruction on machines with FMA, and how many arguments."""


class Function:
    """The text of a function on vectors of `lanes` numbers, while it is written.

    form  of all numbers that are computed with.
    ends  of its arguments and its result: single precision is short enough for some functions to be
          computed in doubles, where roundings do not count.
    """

    def __init__(self, form: Format, lanes: int, name: str, ends: Format | None = None) -> None:
        self.form = form
        self.ends = ends or form
        self.lanes = lanes
        self.name = name
        self.lines: list[str] = []
        self.beside: list[str] = []
        self.block = "entry"
        self._count = 0

    # ---- types and constants

    @property
    def vector(self) -> str:
        """The type of numbers."""
        return f"<{self.lanes} x {self.form.real}>"

    @property
    def integers(self) -> str:
        """The type of integers with as many bits."""
        return f"<{self.lanes} x {self.form.integer}>"

    @property
    def truths(self) -> str:
        """The type of truth values."""
        return f"<{self.lanes} x i1>"

    def number(self, value: float) -> Real:
        """Return a number everywhere; it is rounded to the format."""
        bits = struct.unpack("<Q", struct.pack("<d", self.form.round(value)))[0]
        return Real(self, f"splat ({self.form.real} 0x{bits:016X})")

    def argument(self, name: str) -> Real:
        """Return an argument as a number that is computed with."""
        text = f"%{name}"
        if self.spare:
            text = self.write(f"fpext {self._outside} {text} to {self.vector}")
        return Real(self, text)

    @property
    def spare(self) -> bool:
        """Whether it computes with more bits than it gives."""
        return self.ends is not self.form

    @property
    def _outside(self) -> str:
        return f"<{self.lanes} x {self.ends.real}>"

    def integer(self, value: int) -> Integer:
        """Return an integer everywhere."""
        return Integer(self, f"splat ({self.form.integer} {value})")

    # ---- instructions

    def write(self, instruction: str) -> str:
        """Append an instruction that gives something, and return the name of it."""
        self._count += 1
        name = f"%v{self._count}"
        self.lines.append(f"  {name} = {instruction}")
        return name

    def label(self, name: str) -> None:
        """Begin a block."""
        self.block = name
        self.lines.append(f"{name}:")

    def text(self, arguments: Sequence[str], result: Value, attributes: str) -> str:
        """Return the whole definition, with what stands beside it."""
        parameters = ", ".join(f"{self._outside} %{argument}" for argument in arguments)
        given = result.text
        if self.spare:
            given = self.write(f"fptrunc {self.vector} {given} to {self._outside}")
        return "\n".join([
            *self.beside,
            f"define internal {self._outside} @{self.name}({parameters}) {attributes} {{",
            "entry:", *self.lines, f"  ret {self._outside} {given}", "}", "",
        ])  # fmt: skip


class Value:
    """Something that the function has computed, one a lane."""

    __slots__ = ("function", "text")

    def __init__(self, function: Function, text: str) -> None:
        self.function = function
        self.text = text


class Nothing:
    """A number that is known to be too small to count; it writes nothing."""

    __slots__ = ()

    def __add__(self, other: Term) -> Term:
        return other

    __radd__ = __add__

    def __sub__(self, other: Term) -> Term:
        return -other

    def __rsub__(self, other: Term) -> Term:
        return other

    def __mul__(self, other: Term) -> Nothing:
        return self

    __rmul__ = __truediv__ = __mul__

    def __neg__(self) -> Nothing:
        return self


NOTHING = Nothing()


class Truth(Value):
    """Yes or no in each lane."""

    __slots__ = ()

    def __and__(self, other: Truth) -> Truth:
        return self._with("and", other.text)

    def __or__(self, other: Truth) -> Truth:
        return self._with("or", other.text)

    def _with(self, operation: str, other: str) -> Truth:
        function = self.function
        text = function.write(f"{operation} {function.truths} {self.text}, {other}")
        return Truth(function, text)


class Integer(Value):
    """The bits of a number, as an integer."""

    __slots__ = ()

    def _with(self, operation: str, other: Integer | int) -> Integer:
        function = self.function
        if isinstance(other, int):
            other = function.integer(other)
        return Integer(
            function, function.write(f"{operation} {function.integers} {self.text}, {other.text}")
        )

    def __add__(self, other: Integer | int) -> Integer:
        return self._with("add", other)

    def __sub__(self, other: Integer | int) -> Integer:
        return self._with("sub", other)

    def __rsub__(self, other: int) -> Integer:
        return self.function.integer(other) - self

    def __and__(self, other: Integer | int) -> Integer:
        return self._with("and", other)

    def __or__(self, other: Integer | int) -> Integer:
        return self._with("or", other)

    def __xor__(self, other: Integer | int) -> Integer:
        return self._with("xor", other)

    def __lshift__(self, count: int) -> Integer:
        return self._with("shl", count)

    def __rshift__(self, count: int) -> Integer:
        """Shift to the right; zeros come in from the left."""
        return self._with("lshr", count)

    def differs(self, other: int) -> Truth:
        """Return where this is not that integer."""
        function = self.function
        text = f"icmp ne {function.integers} {self.text}, {function.integer(other).text}"
        return Truth(function, function.write(text))

    def number(self) -> Real:
        """Return the number that has these bits."""
        function = self.function
        text = f"bitcast {function.integers} {self.text} to {function.vector}"
        return Real(function, function.write(text))


class Real(Value):
    """A number in each lane. Comparisons with NaN are false, save `!=`."""

    __slots__ = ()

    def _other(self, other: Real | float) -> Real:
        return other if isinstance(other, Real) else self.function.number(other)

    def _with(self, operation: str, other: Real | float) -> Real:
        if isinstance(other, Nothing):
            return NotImplemented
        function, other = self.function, self._other(other)
        return Real(
            function, function.write(f"{operation} {function.vector} {self.text}, {other.text}")
        )

    def _compare(self, relation: str, other: Real | float) -> Truth:
        function, other = self.function, self._other(other)
        text = f"fcmp {relation} {function.vector} {self.text}, {other.text}"
        return Truth(function, function.write(text))

    def __add__(self, other: Real | float) -> Real:
        return self._with("fadd", other)

    def __radd__(self, other: float) -> Real:
        return self._other(other) + self

    def __sub__(self, other: Real | float) -> Real:
        return self._with("fsub", other)

    def __rsub__(self, other: float) -> Real:
        return self._other(other) - self

    def __mul__(self, other: Real | float) -> Real:
        return self._with("fmul", other)

    def __rmul__(self, other: float) -> Real:
        return self._other(other) * self

    def __truediv__(self, other: Real | float) -> Real:
        return self._with("fdiv", other)

    def __rtruediv__(self, other: float) -> Real:
        return self._other(other) / self

    def __neg__(self) -> Real:
        function = self.function
        return Real(function, function.write(f"fneg {function.vector} {self.text}"))

    def __lt__(self, other: Real | float) -> Truth:
        return self._compare("olt", other)

    def __le__(self, other: Real | float) -> Truth:
        return self._compare("ole", other)

    def __gt__(self, other: Real | float) -> Truth:
        return self._compare("ogt", other)

    def __ge__(self, other: Real | float) -> Truth:
        return self._compare("oge", other)

    def equals(self, other: Real | float) -> Truth:
        """Return where this is that number."""
        return self._compare("oeq", other)

    def is_nan(self) -> Truth:
        """Return where this is no number."""
        return self._compare("uno", self)

    def bits(self) -> Integer:
        """Return the bits of the number."""
        function = self.function
        text = f"bitcast {function.vector} {self.text} to {function.integers}"
        return Integer(function, function.write(text))


Term = Real | Nothing | float


def choose(condition: Truth, x: Term, y: Term) -> Term:
    """Return x where the condition holds, and y elsewhere."""
    function = condition.function
    if x is NOTHING and y is NOTHING:
        return NOTHING
    x, y = (0.0 if v is NOTHING else v for v in (x, y))
    x, y = (v if isinstance(v, Real) else function.number(v) for v in (x, y))
    vector = function.vector
    text = f"select {function.truths} {condition.text}, {vector} {x.text}, {vector} {y.text}"
    return Real(function, function.write(text))


def _intrinsic(name: str) -> Callable[..., Real]:
    def call(*arguments: Real | float) -> Real:
        function = next(a.function for a in arguments if isinstance(a, Real))
        reals = [a if isinstance(a, Real) else function.number(a) for a in arguments]
        given = ", ".join(f"{function.vector} {a.text}" for a in reals)
        called = f"@llvm.{name}.v{function.lanes}{function.form.suffix}"
        return Real(function, function.write(f"call {function.vector} {called}({given})"))

    return call


_fused = _intrinsic("fma")


def fma(x: Term, y: Term, z: Term) -> Term:
    """Return x*y + z with one rounding."""
    if x is NOTHING or y is NOTHING:
        return z
    return x * y if z is NOTHING else _fused(x, y, z)


root = _intrinsic("sqrt")
"""The square root, correctly rounded."""
size = _intrinsic("fabs")
"""The number without its sign."""
with_sign = _intrinsic("copysign")
"""The size of the first with the sign of the second."""
to_integer = _intrinsic("rint")
"""The nearest integer, the even one of two."""
whole_below = _intrinsic("floor")
"""The next integer downwards."""
whole_above = _intrinsic("ceil")
"""The next integer upwards."""
whole_inside = _intrinsic("trunc")
"""The next integer towards 0."""


def smaller(x: Real, limit: Real | float) -> Real:
    """Return x where it is at most the limit or NaN, and the limit elsewhere."""
    return choose(x > limit, limit, x)


def larger(x: Real, limit: Real | float) -> Real:
    """Return x where it is at least the limit or NaN, and the limit elsewhere."""
    return choose(x < limit, limit, x)


def polynomial(z: Real, coefficients: Sequence[float]) -> Real | float:
    """Return c[0] + c[1] z + c[2] z**2 + ..., by Horner's rule."""
    value: Real | float = coefficients[-1]
    for coefficient in reversed(coefficients[:-1]):
        value = fma(value, z, coefficient)
    return value


def vector_intrinsics(dtype: str, lanes: int) -> set[str]:
    """Return the declarations of all intrinsics in use on such vectors."""
    form = FORMATS[dtype]
    vector = f"<{lanes} x {form.real}>"
    return {
        f"declare {vector} @llvm.{name}.v{lanes}{form.suffix}({', '.join([vector] * count)})"
        for name, count in INTRINSICS.items()
    }
