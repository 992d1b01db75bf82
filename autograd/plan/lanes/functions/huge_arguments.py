"""The remainder of huge numbers by pi/2: a branch that hardly any vector takes.

x is m 2**e with an integer m, and of 2/pi only those bits count that give neither multiples of 4
turns nor more than is needed: 192 of them, from a table (Payne and Hanek 1983; Muller, Elementary
Functions, section 11.4). The product's first two bits are the quadrant, the others the fraction of
it, of which at most some 61 are lost where x is close to a multiple of pi/2. One lane at a time.
"""

from __future__ import annotations

from . import coefficients as known
from .text import Function, Integer, Real

_BEFORE = 1  # words of zeros before 2/pi
_HALF_PI = known.HALF_PI["float64"][0], sum(known.HALF_PI["float64"][1:])


def reduce_huge(
    a: Real, reach: float, high: Real, low: Real, q: Integer
) -> tuple[Real, Real, Integer]:
    """Write the branch that replaces (high, low, q) in the lanes where a is beyond `reach`.

    a: not negative. In the end high + low is its remainder, NaN for infinity, and the last two bits
    of q the quadrant.
    """
    function = a.function
    vector, integers = function.vector, function.integers
    beside = f"{function.name}_huge"
    beyond = (a > reach).text
    before = function.block
    packed = function.write(f"bitcast {function.truths} {beyond} to i{function.lanes}")
    some = function.write(f"icmp ne i{function.lanes} {packed}, 0")
    result = f"{{ {vector}, {vector}, {integers} }}"
    rarely = '!prof !{!"branch_weights", i32 1, i32 1000}'
    function.lines.append(f"  br i1 {some}, label %huge, label %reduced, {rarely}")
    function.label("huge")
    call = function.write(
        f"call {result} @{beside}({vector} {a.text}, {vector} {high.text}, {vector} {low.text}, "
        f"{integers} {q.text})"
    )
    parts = [function.write(f"extractvalue {result} {call}, {k}") for k in range(3)]
    function.lines.append("  br label %reduced")
    function.label("reduced")
    merged = [
        function.write(f"phi {kind} [ {value.text}, %{before} ], [ {part}, %huge ]")
        for kind, value, part in zip((vector, vector, integers), (high, low, q), parts, strict=True)
    ]
    function.beside.append(_definition(function, beside, reach))
    return Real(function, merged[0]), Real(function, merged[1]), Integer(function, merged[2])


def _definition(function: Function, name: str, reach: float) -> str:
    """Return the text of the function that goes through the lanes, and of its table."""
    form, lanes = function.form, function.lanes
    vector, integers, real, integer = function.vector, function.integers, form.real, form.integer
    result = f"{{ {vector}, {vector}, {integers} }}"
    table = [0] * _BEFORE + list(known.TWO_OVER_PI)
    words = ", ".join(f"i64 {word}" for word in table)
    wide = form.bits == 64
    limit = function.number(reach).text.removeprefix("splat (").removesuffix(")")
    return f"""@{name}_bits = private unnamed_addr constant [{len(table)} x i64] [{words}]
define internal {result} @{name}({vector} %a, {vector} %high, {vector} %low, {integers} %q) \
noinline cold nounwind {{
entry:
  br label %lane
lane:
  %i = phi i32 [ 0, %entry ], [ %after, %next ]
  %highs = phi {vector} [ %high, %entry ], [ %highs.next, %next ]
  %lows = phi {vector} [ %low, %entry ], [ %lows.next, %next ]
  %qs = phi {integers} [ %q, %entry ], [ %qs.next, %next ]
  %given = extractelement {vector} %a, i32 %i
  %beyond = fcmp ogt {real} %given, {limit.split()[1]}
  br i1 %beyond, label %one, label %next
one:
  %x = {"fadd double %given, 0.0" if wide else "fpext float %given to double"}
  %pattern = bitcast double %x to i64
  %exponent = lshr i64 %pattern, 52
  %fraction = and i64 %pattern, {(1 << 52) - 1}
  %m = or i64 %fraction, {1 << 52}
  %first = add i64 %exponent, {64 * _BEFORE - 1 - 1075}
  %bounded = call i64 @llvm.umin.i64(i64 %first, i64 {64 * (len(table) - 4)})
  %word = lshr i64 %bounded, 6
  %shift = and i64 %bounded, 63
  %p0 = getelementptr i64, ptr @{name}_bits, i64 %word
  %p1 = getelementptr i64, ptr %p0, i64 1
  %p2 = getelementptr i64, ptr %p0, i64 2
  %p3 = getelementptr i64, ptr %p0, i64 3
  %w0 = load i64, ptr %p0
  %w1 = load i64, ptr %p1
  %w2 = load i64, ptr %p2
  %w3 = load i64, ptr %p3
  %top = call i64 @llvm.fshl.i64(i64 %w0, i64 %w1, i64 %shift)
  %middle = call i64 @llvm.fshl.i64(i64 %w1, i64 %w2, i64 %shift)
  %bottom = call i64 @llvm.fshl.i64(i64 %w2, i64 %w3, i64 %shift)
  %m.long = zext i64 %m to i128
  %bottom.long = zext i64 %bottom to i128
  %middle.long = zext i64 %middle to i128
  %from.bottom = mul i128 %m.long, %bottom.long
  %carried = lshr i128 %from.bottom, 64
  %from.middle = mul i128 %m.long, %middle.long
  %from.top = mul i64 %m, %top
  %from.top.long = zext i64 %from.top to i128
  %from.top.shifted = shl i128 %from.top.long, 64
  %sum = add i128 %from.middle, %carried
  %turns = add i128 %sum, %from.top.shifted
  %rounded = add i128 %turns, {1 << 125}
  %quadrant = lshr i128 %rounded, 126
  %part = shl i128 %turns, 2
  %negative = ashr i128 %part, 127
  %flipped = xor i128 %part, %negative
  %size = sub i128 %flipped, %negative
  %zeros.long = call i128 @llvm.ctlz.i128(i128 %size, i1 false)
  %normal = shl i128 %size, %zeros.long
  %zeros = trunc i128 %zeros.long to i64
  %head.long = lshr i128 %normal, 75
  %head.integer = trunc i128 %head.long to i64
  %rest.long = lshr i128 %normal, 22
  %rest.trunc = trunc i128 %rest.long to i64
  %rest.integer = and i64 %rest.trunc, {(1 << 53) - 1}
  %head.whole = sitofp i64 %head.integer to double
  %rest.whole = sitofp i64 %rest.integer to double
  %head.exponent = sub i64 {1023 - 53}, %zeros
  %head.pattern = shl i64 %head.exponent, 52
  %head.power = bitcast i64 %head.pattern to double
  %rest.exponent = sub i64 {1023 - 106}, %zeros
  %rest.pattern = shl i64 %rest.exponent, 52
  %rest.power = bitcast i64 %rest.pattern to double
  %head = fmul double %head.whole, %head.power
  %rest = fmul double %rest.whole, %rest.power
  %product = fmul double %head, {_HALF_PI[0]!r}
  %minus = fneg double %product
  %e1 = call double @llvm.fma.f64(double %head, double {_HALF_PI[0]!r}, double %minus)
  %e2 = call double @llvm.fma.f64(double %head, double {_HALF_PI[1]!r}, double %e1)
  %e3 = call double @llvm.fma.f64(double %rest, double {_HALF_PI[0]!r}, double %e2)
  %nan.at.infinity = fsub double %x, %x
  %main = fadd double %product, %nan.at.infinity
  %is.negative = icmp ne i128 %negative, 0
  %main.minus = fneg double %main
  %e3.minus = fneg double %e3
  %main.signed = select i1 %is.negative, double %main.minus, double %main
  %e3.signed = select i1 %is.negative, double %e3.minus, double %e3
{_AS_DOUBLES if wide else _AS_FLOATS}
  %highs.one = insertelement {vector} %highs, {real} %result.high, i32 %i
  %lows.one = insertelement {vector} %lows, {real} %result.low, i32 %i
  %q.one = trunc i128 %quadrant to {integer}
  %qs.one = insertelement {integers} %qs, {integer} %q.one, i32 %i
  br label %next
next:
  %highs.next = phi {vector} [ %highs, %lane ], [ %highs.one, %one ]
  %lows.next = phi {vector} [ %lows, %lane ], [ %lows.one, %one ]
  %qs.next = phi {integers} [ %qs, %lane ], [ %qs.one, %one ]
  %after = add i32 %i, 1
  %more = icmp ult i32 %after, {lanes}
  br i1 %more, label %lane, label %done
done:
  %r0 = insertvalue {result} poison, {vector} %highs.next, 0
  %r1 = insertvalue {result} %r0, {vector} %lows.next, 1
  %r2 = insertvalue {result} %r1, {integers} %qs.next, 2
  ret {result} %r2
}}
"""


_AS_DOUBLES = """  %result.high = fadd double %main.signed, %e3.signed
  %taken = fsub double %main.signed, %result.high
  %result.low = fadd double %taken, %e3.signed"""
_AS_FLOATS = """  %both = fadd double %main.signed, %e3.signed
  %result.high = fptrunc double %both to float
  %back = fpext float %result.high to double
  %taken = fsub double %both, %back
  %result.low = fptrunc double %taken to float"""

SCALARS = (
    "declare i64 @llvm.umin.i64(i64, i64)",
    "declare i64 @llvm.fshl.i64(i64, i64, i64)",
    "declare i128 @llvm.ctlz.i128(i128, i1)",
    "declare double @llvm.fma.f64(double, double, double)",
)
"""The declarations that the branch needs."""
