"""What messages share: the nearest of some names."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def nearest(name: object, names: Iterable[str]) -> str:
    """Return "; did you mean 'x'?" for the name most like `name`, or "" where none is near."""
    close = difflib.get_close_matches(str(name), list(names), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""
