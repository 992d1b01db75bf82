"""What solvers that work on a Jacobian look at before training."""

from __future__ import annotations

import numpy as np

from pinn.optimizers.solver import LeastSquares

# The memory that the Jacobian and what is made of it may take.
_MOST_GIB = 4


def check_memory(name: str, function: LeastSquares, nbytes: int, beside: str) -> None:
    """Raise ValueError for a Jacobian that takes too many bytes with what is held beside it."""
    gib = nbytes / 2**30
    if gib > _MOST_GIB:
        raise ValueError(
            f"{name}: a Jacobian of {function.rows} rows for {function.size} trainable numbers "
            f"takes {gib:.1f} GiB with {beside}; expected at most {_MOST_GIB} GiB. Use fewer "
            "points or a smaller model, or lbfgs, which needs no Jacobian"
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
