"""Text for people: columns that are aligned, names that fit, durations."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence

from pinn.checks import printable

WIDTH = 80
"""Columns that what is printed keeps to."""

_PARTNERS = {")": "(", "]": "[", "}": "{"}
_GAP = "  "
_LABEL = 10


def aligned(rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """Return rows of cells as text, the first `left` columns flush left, others flush right."""
    # A cell may have come from anybody's file, and must not look like further rows.
    rows = [[printable(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]

    def line(cells: Sequence[str]) -> Iterator[str]:
        for number, (cell, width) in enumerate(zip(cells, widths, strict=True)):
            yield cell.ljust(width) if number < left else cell.rjust(width)

    return "\n".join(_GAP.join(line(cells)).rstrip() for cells in rows)


def split_outside(text: str) -> list[str]:
    """Return the parts of a text, apart by those commas that no brackets are around."""
    found, depth = [""], 0
    for letter in text:
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and not depth:
            found.append("")
        else:
            found[-1] += letter
    return found


def unbalanced(text: str) -> tuple[str, int] | None:
    """Return what is wrong with the brackets of a text, and where; None for nothing.

    Brackets in quotes are letters like others.
    """
    opened: list[int] = []
    quote = ""
    for place, letter in enumerate(text):
        if quote or letter in "'\"":
            quote = "" if letter == quote else quote or letter
        elif letter in _PARTNERS.values():
            opened.append(place)
        elif letter in _PARTNERS:
            if not opened:
                return f"this {letter!r} has no {_PARTNERS[letter]!r}", place
            if text[opened[-1]] != _PARTNERS[letter]:
                return f"this {text[opened[-1]]!r} is never closed", opened[-1]
            opened.pop()
    return (f"this {text[opened[-1]]!r} is never closed", opened[-1]) if opened else None


def sum_text(terms: Iterable[tuple[float, str]]) -> str:
    """Return a sum of multiples: "x - 2*y + 0.5"; the text of a term is "" for a number alone."""
    text = ""
    for factor, what in terms:
        size = f"{abs(factor):.4g}"
        shown = size if not what else what if size == "1" else f"{size}*{what}"
        sign = ("-" if factor < 0 else "") if not text else (" - " if factor < 0 else " + ")
        text += sign + shown
    return text


def labelled(label: str, text: str) -> str:
    """Return a text beside its label, in lines of WIDTH columns that begin below each other."""
    return textwrap.fill(
        text, WIDTH, initial_indent=f"{label:<{_LABEL}}{_GAP}",
        subsequent_indent=" " * (_LABEL + len(_GAP)), break_on_hyphens=False,
        break_long_words=False,
    )  # fmt: skip


def shortened(name: str, width: int) -> str:
    """Return a name of at most so many letters: of a longer one both ends, by which names differ.

    dirichlet_u_x_high in 12 letters is dirich..high.
    """
    if len(name) <= width:
        return name
    end = (width - 2) // 2
    return f"{name[: width - 2 - end]}..{name[len(name) - end :]}"


def clock(seconds: float) -> str:
    """Return a duration as on a clock: 0:07, 12:30, 1:02:03."""
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes}:{seconds:02d}"
