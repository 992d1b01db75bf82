"""The outputs of a module at coordinates given by columns.

A module maps points (n, d) to values (n, unknowns). It may say more by a method
`forward_columns(columns)`, which gets a column (n, 1) for each coordinate and returns the values
in pieces (n, k) whose columns, side by side, are those of `forward`. Derivatives are cheaper then:
what is made of x alone shows that it does not depend on t, and no piece carries another's
derivatives.
"""

from __future__ import annotations

from collections.abc import Sequence

import autograd as T


def run_columns(module: T.nn.Module, columns: Sequence[T.Tensor]) -> tuple[T.Tensor, ...]:
    """Return the outputs of a module in pieces (n, k), by `forward_columns` where it has one."""
    apart = getattr(module, "forward_columns", None)
    if apart is None:
        return (module(T.cat(list(columns), dim=1)),)
    outputs = apart(columns)
    return (outputs,) if isinstance(outputs, T.Tensor) else tuple(outputs)


def column(pieces: Sequence[T.Tensor], number: int) -> T.Tensor:
    """Return one column (n, 1) of the values that pieces (n, k) make up side by side."""
    piece, number = place(pieces, number)
    one = pieces[piece]
    return one if one.shape[1] == 1 else one[:, number : number + 1]


def place(pieces: Sequence[T.Tensor], number: int) -> tuple[int, int]:
    """Return the piece that has a column, and the column's number there."""
    for piece, one in enumerate(pieces):
        if number < one.shape[1]:
            return piece, number
        number -= one.shape[1]
    raise IndexError(f"the pieces have too few columns by {number + 1}")
