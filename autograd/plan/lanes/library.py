"""Modules for the compiler: the functions that all tiles share, and each loop by itself.

A function is called through an entry, which takes its arguments from a table and from the context
of the lane that is run.
"""

from __future__ import annotations

from collections import Counter

from ..passes.clusters import Loop
from . import functions
from .copies import copies, give
from .lines import Lines
from .loops import Source, loop_text
from .per_point import gather, outer
from .products import product
from .shape import Shape
from .sums import contraction, row_sum

FIELDS = 8
POINTS, NUMBERS, CONSTANTS, RESULTS, ARENA, SUMS, START, VALID = range(FIELDS)
"""The fields of the context."""

ENTRIES = {
    "product": "iiniiaia", "contract": "iiittAs", "sum_rows": "iitAs", "gather": "iitAa",
    "outer": "iiittAa", "take": "vpia", "give": "vitAr", "blank": "vitA", "copy": "itAa",
}  # fmt: skip
"""The arguments of the library's functions: see `_entry`."""

_ATTRIBUTES = (
    'nounwind "min-legal-vector-width"="512" "prefer-vector-width"="512" "no-trapping-math"="true"'
)
"""Registers of 512 bits are not taken apart where the processor has them."""

_SPEC = {
    ("row", False): "a", ("row", True): "t", ("number", False): "n", ("number", True): "nt",
}  # fmt: skip


def library(shape: Shape) -> str:
    """Return the module of all functions but the loops, and of `work`, which goes through tiles.

    work(contexts, ends, lanes, next, arena, calls, n) takes lanes, the number `next`, until none
    is left; several threads may do so at once, each with an arena.  A lane goes from the start
    in its context to its end.  calls: n pairs of addresses, of an entry and of its table.
    """
    parts = [
        product(shape),
        contraction(shape),
        row_sum(shape),
        gather(shape),
        outer(shape),
        give(shape),
        copies(shape),
        *(_entry(shape, name, spec) for name, spec in ENTRIES.items()),
    ]
    declared = [
        f"declare {shape.vector} {shape.fma}({shape.vector}, {shape.vector}, {shape.vector})",
        "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)",
        "declare i64 @llvm.umax.i64(i64, i64)",
        "declare i64 @llvm.smin.i64(i64, i64)",
    ]
    return module([*declared, *parts, _RUN.replace("TILE", str(shape.tile))])


def loop_module(shape: Shape, loop: Loop, sources: tuple[Source, ...]) -> str:
    """Return the module of one loop, whose entry is `call_loop`."""
    declared = functions.declarations(str(shape.dtype), shape.wide)
    texts = [
        functions.function_text(op, str(shape.dtype), shape.wide, calls)
        for op, calls in Counter(step.op for step in loop.steps).items()
    ]
    spec = "iiAc" + "".join(_SPEC[source.kind, source.table] for source in sources)
    entry = _entry(shape, "loop", spec + "a" * len(loop.outputs))
    return module([*sorted(declared), *texts, loop_text(shape, "loop", loop, sources), entry])


def module(parts: list[str]) -> str:
    """Return a module of functions, with the attributes that they refer to."""
    return "\n".join([*parts, f"attributes #0 = {{ {_ATTRIBUTES} }}", ""])


def _entry(shape: Shape, name: str, spec: str) -> str:
    """Return `call_name(context, table)`, which reads the arguments of `name` and calls it.

    spec  a letter an argument.  From the table: i, a number; a, a place in the arena; t, an
          address; n, an array of numbers and a place in it; c and s, a place among the loops'
          numbers and the sums; p, an array of points, its width and a column; r, a result and
          its width.  From the context: A, the arena; v, how many of the tile's points there are.
    """
    real = shape.real
    out = [f"define void @call_{name}(ptr %context, ptr %table) #0 {{", "entry:"]
    lines = Lines(out, "e")
    read = 0

    def field(position: int, kind: str = "ptr") -> str:
        place = lines.new(f"getelementptr i64, ptr %context, i64 {position}")
        return lines.new(f"load {kind}, ptr {place}, align 8")

    def given(kind: str = "i64") -> str:
        nonlocal read
        place = lines.new(f"getelementptr i64, ptr %table, i64 {read}")
        read += 1
        return lines.new(f"load {kind}, ptr {place}, align 8")

    def element(base: str, offset: str) -> str:
        return lines.new(f"getelementptr {real}, ptr {base}, i64 {offset}")

    def array(position: int) -> str:
        place = lines.new(f"getelementptr ptr, ptr {field(position)}, i64 {given()}")
        return lines.new(f"load ptr, ptr {place}, align 8")

    def argument(letter: str) -> str:
        if letter == "i":
            return f"i64 {given()}"
        if letter == "v":
            return f"i64 {field(VALID, 'i64')}"
        if letter == "t":
            return f"ptr {given('ptr')}"
        if letter == "A":
            return f"ptr {field(ARENA)}"
        if letter in "acs":
            base = field({"a": ARENA, "c": CONSTANTS, "s": SUMS}[letter])
            return f"ptr {element(base, given())}"
        if letter == "n":
            base = array(NUMBERS)
            return f"ptr {element(base, given())}"
        base = array(POINTS if letter == "p" else RESULTS)
        over = lines.new(f"mul i64 {field(START, 'i64')}, {given()}")
        if letter == "p":
            over = lines.new(f"add i64 {over}, {given()}")
        return f"ptr {element(base, over)}"

    arguments = ", ".join([argument(letter) for letter in spec])
    out += [f"  call void @{name}({arguments})", "  ret void", "}", ""]
    return "\n".join(out)


_RUN = """
define void @work(ptr %contexts, ptr %ends, i64 %lanes, ptr %next, ptr %arena, ptr %calls,
                  i64 %n) #0 {
entry:
  br label %take
take:
  %lane = atomicrmw add ptr %next, i64 1 seq_cst
  %left = icmp slt i64 %lane, %lanes
  br i1 %left, label %run, label %done
run:
  %at = mul i64 %lane, 8
  %context = getelementptr i64, ptr %contexts, i64 %at
  %place = getelementptr ptr, ptr %context, i64 4
  store ptr %arena, ptr %place, align 8
  %e = getelementptr i64, ptr %ends, i64 %lane
  %to = load i64, ptr %e, align 8
  call void @run(ptr %context, ptr %calls, i64 %n, i64 %to)
  br label %take
done:
  ret void
}
define internal void @run(ptr %context, ptr %calls, i64 %n, i64 %to) #0 {
entry:
  %startp = getelementptr i64, ptr %context, i64 6
  %validp = getelementptr i64, ptr %context, i64 7
  %from = load i64, ptr %startp, align 8
  br label %tile
tile:
  %start = phi i64 [%from, %entry], [%stop, %turn]
  %stop = add i64 %start, TILE
  %short = icmp sgt i64 %stop, %to
  %end = select i1 %short, i64 %to, i64 %stop
  %valid = sub i64 %end, %start
  store i64 %start, ptr %startp, align 8
  store i64 %valid, ptr %validp, align 8
  br label %each
each:
  %k = phi i64 [0, %tile], [%next, %each]
  %two = mul i64 %k, 2
  %f = getelementptr ptr, ptr %calls, i64 %two
  %function = load ptr, ptr %f, align 8
  %t = getelementptr ptr, ptr %f, i64 1
  %table = load ptr, ptr %t, align 8
  call void %function(ptr %context, ptr %table)
  %next = add i64 %k, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %each, label %turn
turn:
  %again = icmp slt i64 %stop, %to
  br i1 %again, label %tile, label %done
done:
  ret void
}
"""
