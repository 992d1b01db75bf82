"""What solvers that work on a Jacobian look at before training."""

from __future__ import annotations

import numpy as np

from autograd.devices import backend
from pinn.optimizers.least_squares.workspace import place_of
from pinn.optimizers.solver import LeastSquares

# The host's memory that the Jacobian and what is made of it may take.
_MOST_GIB = 4


def check_memory(name: str, function: LeastSquares, nbytes: int, beside: str) -> None:
    """Raise ValueError for a Jacobian that takes too many bytes with what is held beside it.

    On a device no more may be taken than is free there.
    """
    place = place_of(function)
    free = backend(place.type).free_memory(place.index)
    most, what = (_MOST_GIB << 30, "") if free is None else (free, f", what is free on {place}")
    if nbytes > most:
        raise ValueError(
            f"{name}: a Jacobian of {function.rows} rows for {function.size} trainable numbers "
            f"takes {nbytes / 2**30:.1f} GiB with {beside}; expected at most "
            f"{most / 2**30:.{0 if free is None else 1}f} GiB{what}. Use fewer points or a smaller "
            "model, or lbfgs, which needs no Jacobian"
        )


def doubt_few_rows(name: str, function: LeastSquares) -> list[str]:
    """Say where there are fewer rows than numbers: a step can then fit all of them."""
    if function.rows >= function.size:
        return []
    return [
        f"{name}: {function.rows} rows for {function.size} trainable numbers: a step can fit every "
        "row and leave the residual large between the points; use at least twice as many points "
        "as numbers, or a smaller model"
    ]


def doubt_precision(name: str, function: LeastSquares) -> list[str]:
    """Say what float32 rows cost."""
    if function.dtype == np.float64:
        return []
    return [
        f"{name}: in {np.dtype(function.dtype).name} the rows carry no more than 7 digits, and "
        "directions along which they change by less than that, as most of a network's do, are "
        'lost; use precision "float64"'
    ]
