"""Rows in blocks of nearly equal height: as few blocks as there may be, the first a row taller.

Full blocks and a low one of what is left would take longer: few additions are under way in a low
block at once, and each waits for the one before.
"""

from __future__ import annotations


def found(most: int) -> str:
    """Return the lines that share %m rows out to %count blocks of at most `most` rows.

    The first %extra blocks have a row more than %low.
    """
    return f"""  %up = add i64 %m, {most - 1}
  %count = udiv i64 %up, {most}
  %low = udiv i64 %m, %count
  %all = mul i64 %low, %count
  %extra = sub i64 %m, %all"""


def rows(before: str) -> str:
    """Return the beginning of a loop over the blocks, `rows`: %height rows, from row %i.

    before  the label that it is entered from; `next` goes on with block %rn and row %in.
    """
    return f"""rows:
  %r = phi i64 [0, %{before}], [%rn, %next]
  %i = phi i64 [0, %{before}], [%in, %next]
  %tall = icmp slt i64 %r, %extra
  %one = zext i1 %tall to i64
  %height = add i64 %low, %one
  %rn = add i64 %r, 1
  %in = add i64 %i, %height"""
