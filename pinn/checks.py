"""What messages share: the nearest of some names."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

# A name of anything that an expression can mention.
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


def nearest(name: object, names: Iterable[str]) -> str:
    """Return "; did you mean 'x'?" for the name most like `name`, or "" where none is near."""
    names = list(names)
    close = difflib.get_close_matches(str(name), names, n=1)
    if not close:  # mlp for MLP
        close = [one for one in names if str(one).lower() == str(name).lower()][:1]
    return f"; did you mean {close[0]!r}?" if close else ""


def is_name(name: object) -> bool:
    """Return whether something is a text that can be a name: a letter, then letters, digits, _."""
    return isinstance(name, str) and NAME.fullmatch(name) is not None
