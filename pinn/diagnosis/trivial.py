"""Problems that nothing everywhere satisfies."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pinn.diagnosis.statement import Statement

# Of values such as sin(pi*x) at x = 1.
_ROUNDING = 1e-12


def trivial(statement: Statement) -> Iterator[str]:
    """Yield a sentence where unknowns that vanish everywhere leave nothing of any residual.

    Such are eigenvalue problems without a normalisation, and problems whose initial values and
    sources were left out. Nothing is said where a residual takes values from elsewhere, as
    integrals do, or is a function that only a network can run.
    """
    for one in (*statement.equations, *statement.conditions):
        left = None if one.linear is None else statement.at_zero(one)
        if left is None or not (np.abs(left) <= _ROUNDING).all():
            return
    zero = " = ".join((*statement.problem.unknowns, "0"))
    yield (
        f"{zero} everywhere satisfies all equations and conditions, and is what training finds; "
        "give a value or a source that is not zero or, for an eigenvalue problem, a normalisation "
        "such as a value at a point"
    )
