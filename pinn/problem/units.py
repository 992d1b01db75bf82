"""The units of a problem's names: told where these are shown, never converted."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from pinn.checks import nearest
from pinn.schema.errors import Mistakes, refuse
from pinn.schema.kinds import Text

# What formulas in a figure begin with, and control characters, are no part of a unit.
UNIT = Text(
    "a unit such as m/s, of up to 40 letters, digits and signs other than $ and \\",
    re.compile(r"[^$\\\x00-\x1f\x7f-\x9f\u2028\u2029]{1,40}"),
)


def check_units(units: Mapping[str, str], known: Sequence[str]) -> None:
    """Raise DeclarationError for a unit of a name that is not there."""
    mistakes = Mistakes()
    for name in units:
        with mistakes.under("units", name):
            if name not in known:
                refuse(
                    f"expected one of the names {', '.join(known)}, got {name!r}"
                    f"{nearest(name, known)}"
                )
    mistakes.end()
