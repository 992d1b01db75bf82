"""Infinities and NaN are results like any other: numpy does not warn of them inside of operations.

`np.errstate` builds its setting anew at each use, which takes longer than a small operation.  The
setting lies in a context variable: it is found once, and set and reset by itself.
"""

from __future__ import annotations

from contextvars import ContextVar, copy_context
from typing import Any

import numpy as np


class _Errstate:
    """What stands for the variable where numpy keeps its setting elsewhere."""

    def set(self, value: Any) -> np.errstate:
        entered = np.errstate(all="ignore")
        entered.__enter__()
        return entered

    def reset(self, entered: np.errstate) -> None:
        entered.__exit__(None, None, None)


def _found() -> tuple[ContextVar | _Errstate, Any]:
    """Return the variable that `np.seterr` sets, and its value where all warnings are off."""
    context, before = copy_context(), copy_context()
    context.run(np.seterr, all="ignore")
    changed = [(v, x) for v, x in context.items() if v not in before or before[v] is not x]
    return changed[0] if len(changed) == 1 else (_Errstate(), None)


SETTING, QUIET = _found()
"""`before = SETTING.set(QUIET)` turns the warnings off, `SETTING.reset(before)` on again."""
