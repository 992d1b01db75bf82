"""Where elements lie, as expressions of the number of the element."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..patterns import two_steps


def index_text(
    places: np.ndarray, inner: int, element: str, table: Callable[[np.ndarray], str]
) -> str:
    """Return the place of an element as an expression of its number.

    places   of all elements, (outer * inner,).
    element  the name of the number.
    table    `(places) -> name` of an array of the kernel's text that holds uneven ones.
    """
    steps = two_steps(places, inner)
    if steps is None:
        return f"{table(places)}[{element}]"
    first, far, near = steps
    if far == near * inner:
        return f"{first} + {element} * {near}"
    if near == 0:
        return f"{first} + {element} / {inner} * {far}"
    return f"{first} + {element} / {inner} * {far} + {element} % {inner} * {near}"
