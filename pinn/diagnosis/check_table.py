"""A check as a table for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from pinn.diagnosis.check import BlockCheck, Check, StageCheck

WIDTH = 80
_HEADINGS = ("block", "points", "rows", "asks for", "rms", "weight", "memory", "time")
_WEIGHT = 5  # the column that is left out where all are 1
_ASKS = 3  # the column that takes what is left, and several lines
_GAP = "  "
_LONGEST_NAME, _LEAST_NAME, _LEAST_ASKS = 24, 12, 12


def table(check: Check) -> str:
    """Return a check as text of at most 80 columns; only long names stand out."""
    return "\n".join([*_head(check), "", *_blocks(check), "", *_foot(check), *_said(check)])


def bytes_text(count: int) -> str:
    """Return a number of bytes in short: "812 B", "3.4 MB"."""
    size = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if size < 999.5 or unit == "GB":
            break
        size /= 1000
    return f"{size:.0f} {unit}" if unit == "B" or size >= 99.5 else f"{size:.2g} {unit}"


def seconds_text(seconds: float) -> str:
    """Return a duration in short: "12 us", "3.4 ms", "2 min", "1.5 h"."""
    if seconds >= 120:
        return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
    for unit, factor in (("us", 1e6), ("ms", 1e3)):
        if seconds * factor < 999.5:
            number = seconds * factor
            return f"{number:.0f} {unit}" if number >= 99.5 else f"{number:.2g} {unit}"
    return f"{seconds:.0f} s" if seconds >= 9.95 else f"{seconds:.2g} s"


def _head(check: Check) -> Iterator[str]:
    bounds = ", ".join(f"{n} in [{low:g}, {high:g}]" for n, (low, high) in check.bounds.items())
    where = ", ".join([bounds, *check.functions.values()])
    yield from _pair(check.name, f"{', '.join(check.unknowns)} on {where}")
    if check.constants:
        given = ", ".join(f"{name} = {value:.6g}" for name, value in check.constants.items())
        yield from _pair("constants", given)
    yield from _pair("model", f"{check.model}; {check.parameters} trainable numbers")
    if check.coefficients:
        yield from _pair("parameters", ", ".join(check.coefficients))
    if check.hard:
        yield from _pair("hard", ", ".join(check.hard))
    yield from _pair("points", check.sampling)
    for one in check.decided:
        yield from _pair("chosen", one)
    threads = f"{check.threads} thread{'s' * (check.threads > 1)}"
    yield from _pair(
        "computed", f"{check.precision} on {check.device}, {check.derivatives}, {check.engine}, "
        f"{threads}"
    )  # fmt: skip


def _blocks(check: Check) -> Iterator[str]:
    total = [
        "total", str(sum(block.points for block in check.blocks)),
        str(sum(block.rows for block in check.blocks)), "", "", "",
        bytes_text(sum(block.memory_bytes for block in check.blocks)), seconds_text(check.seconds),
    ]  # fmt: skip
    lines = [list(_HEADINGS), *map(_row, check.blocks), total]
    if all(block.weight == 1 for block in check.blocks):
        for line in lines:
            del line[_WEIGHT]
    heading, *rows, total = lines
    widths = [max(len(line[k]) for line in lines) for k in range(len(heading))]
    numbers = sum(widths) - widths[0] - widths[_ASKS] + len(_GAP) * (len(widths) - 1)
    widths[0] = min(widths[0], _LONGEST_NAME, max(_LEAST_NAME, WIDTH - numbers - _LEAST_ASKS))
    widths[_ASKS] = max(_LEAST_ASKS, min(widths[_ASKS], WIDTH - numbers - widths[0]))
    rule = "-" * (sum(widths) + len(_GAP) * (len(widths) - 1))
    yield from _line(heading, widths)
    yield rule
    for row in rows:
        yield from _line(row, widths)
    yield rule
    yield from _line(total, widths)


def _row(block: BlockCheck) -> list[str]:
    cost = [bytes_text(block.memory_bytes), seconds_text(block.seconds)]
    if block.after:  # in the numbers of the block before it
        cost = ["-", "-"]
    asks = ", ".join(block.derivatives)
    size = [str(block.points), str(block.rows)]
    return [block.name, *size, asks, f"{block.rms:.1e}", f"{block.weight:.3g}", *cost]


def _line(cells: Sequence[str], widths: Sequence[int]) -> Iterator[str]:
    """Yield the lines of a row: names and what is asked for to the left, numbers to the right."""
    parts = textwrap.wrap(cells[_ASKS], widths[_ASKS]) or [""]
    name = cells[0] if len(cells[0]) <= widths[0] else cells[0][: widths[0] - 3] + "..."
    for number, part in enumerate(parts):
        shown = [cell if number == 0 else "" for cell in (name, *cells[1:])]
        shown[_ASKS] = part
        yield _GAP.join(
            cell.ljust(width) if k in (0, _ASKS) else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(shown, widths, strict=True))
        ).rstrip()


def _foot(check: Check) -> Iterator[str]:
    yield from _pair("loss", f"{check.loss:.3e} at the start")
    yield from _pair(
        "a step", f"{seconds_text(check.seconds)} and {_flops_text(check.flops)} for the loss and "
        "its gradient"
    )  # fmt: skip
    yield from _pair(
        "memory", f"{bytes_text(check.memory_bytes)}, with points, parameters and the largest stage"
    )
    chosen = "chosen on the way, most likely " * check.chosen
    stages = ", ".join(_stage_text(stage, check.limit_seconds) for stage in check.stages)
    yield from _pair("training", chosen + stages)
    for name, values in check.continuation.items():
        shown = ", ".join(f"{value:g}" for value in values)
        yield from _pair("", f"by way of {name} = {shown}, then {check.constants[name]:g}")
    total = _total_text(check)
    if total:
        yield from _pair("", total)


def _stage_text(stage: StageCheck, limit: float | None) -> str:
    """Return a stage with its steps, or up to the limit of the run where that comes before them."""
    said = [f"{seconds_text(stage.step_seconds)} each or more"]
    if stage.memory_bytes is not None:
        said.insert(0, bytes_text(stage.memory_bytes))
    if stage.seconds is not None:
        said.append(f"{stage.seconds:g} s at most")
    steps = f"{stage.steps} steps"
    if limit is not None and stage.steps * stage.step_seconds > limit:
        steps = f"steps until the limit of {limit:g} s"
    return f"{stage.name} {steps} ({', '.join(said)})"


def _total_text(check: Check) -> str:
    """Return how long all stages take, never more than the limit; "" where stages have limits."""
    legs = 1 + max(map(len, check.continuation.values()), default=0)
    steps = legs * sum(stage.steps for stage in check.stages)
    seconds = legs * sum(stage.steps * stage.step_seconds for stage in check.stages)
    limit = check.limit_seconds
    if limit is not None and seconds > limit:
        return f"{limit:g} s in all, which is the limit"
    if any(stage.seconds is not None for stage in check.stages):
        return "" if limit is None else f"{limit:g} s in all at most"
    most = "" if limit is None else f", {limit:g} s at most"
    return f"{seconds_text(seconds)} or more for all {steps} steps{most}"


def _flops_text(count: int) -> str:
    for unit in ("flop", "kflop", "Mflop", "Gflop"):
        if count < 1000 or unit == "Gflop":
            break
        count /= 1000
    return f"{count:.3g} {unit}"


def _said(check: Check) -> Iterator[str]:
    for kind, sentences in (
        ("error", check.errors), ("warning", check.warnings), ("advice", check.advice)
    ):  # fmt: skip
        for sentence in sentences:
            yield ""
            yield from textwrap.wrap(
                f"{kind}: {sentence}", WIDTH, subsequent_indent="  ", break_on_hyphens=False
            )
    if not (check.errors or check.warnings or check.advice):
        yield ""
        yield "Nothing seems wrong."


def _pair(label: str, text: str) -> list[str]:
    indent = " " * 12
    head = f"{label:<10}  " if len(label) <= 10 else f"{label}  "
    return textwrap.wrap(
        head + text, WIDTH, subsequent_indent=indent, drop_whitespace=True, break_on_hyphens=False
    )
