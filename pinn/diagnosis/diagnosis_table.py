"""A diagnosis as a table for a terminal."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator

from pinn.diagnosis.diagnose import BlockState, Diagnosis
from pinn.diagnosis.finding import Change, Finding

WIDTH = 80
_HEADINGS = ("block", "weight", "trained", "fresh", "of terms", "gradient")
_LONGEST_NAME = 28


def table(found: Diagnosis) -> str:
    """Return a diagnosis as text of at most 80 columns; only long names and settings stand out."""
    return "\n".join([*_head(found), "", *_blocks(found), "", *_body(found)])


def _head(found: Diagnosis) -> Iterator[str]:
    yield f"{found.name}: {found.stopped}; {found.parameters} trainable numbers"
    yield (
        f"loss {found.trained:.2e} on trained points, {found.fresh:.2e} on fresh ones; "
        f"rounding leaves {found.floor:.0e}"
    )


def _blocks(found: Diagnosis) -> Iterator[str]:
    rows = [list(_HEADINGS), *map(_row, found.blocks)]
    widths = [max(len(row[k]) for row in rows) for k in range(len(_HEADINGS))]
    widths[0] = min(widths[0], _LONGEST_NAME)
    for number, row in enumerate(rows):
        name = row[0] if len(row[0]) <= widths[0] else row[0][: widths[0] - 3] + "..."
        cells = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        yield "  ".join([name.ljust(widths[0]), *cells]).rstrip()
        if not number:
            yield "-" * (sum(widths) + 2 * (len(widths) - 1))


def _row(block: BlockState) -> list[str]:
    share = "-" if math.isnan(block.share) else f"{block.share:.1e}"
    return [
        block.name, f"{block.weight:.3g}", f"{block.trained:.1e}", f"{block.fresh:.1e}", share,
        f"{block.gradient:.1e}",
    ]  # fmt: skip


def _body(found: Diagnosis) -> Iterator[str]:
    if not found.findings:
        yield from textwrap.wrap(f"nothing holds it back: {found.further}", WIDTH)
        return
    for number, one in enumerate(found.findings, start=1):
        if number > 1:
            yield ""
        yield from _finding(number, one)


def _finding(number: int, one: Finding) -> Iterator[str]:
    size = "" if one.orders is None else f", {one.orders:.1f} orders of the loss"
    yield f"{number}  {one.what} ({one.cause}{size})"
    for line in textwrap.wrap(one.evidence, WIDTH - 3):
        yield f"   {line}"
    for change in one.changes:
        yield f"   {_change(change)}"


def _change(change: Change) -> str:
    why = f"    # {change.what}" if change.what else ""
    if change.value is None:
        return f"> change {change.key}{why}"
    text = str(change)
    return f"> --set {_quoted(text)}{why}"


def _quoted(text: str) -> str:
    """Return a text as a shell takes it for one word."""
    return f"'{text}'" if any(sign in text for sign in " {}[],*") else text
