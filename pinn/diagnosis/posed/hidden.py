"""Constraints whose derivatives determine an unknown: systems of a high index in time."""

from __future__ import annotations

from collections.abc import Iterator

from pinn.diagnosis.posed.orders import differentiations
from pinn.diagnosis.posed.statement import Statement
from pinn.diagnosis.posed.systems import systems_of
from pinn.expressions import Expression, abridge

# An equation that has to be differentiated so often makes a system that is hard to follow.
_OFTEN = 2


def hidden(statement: Statement) -> Iterator[str]:
    """Yield a sentence for each system in time alone with an equation that hides its derivatives.

    A pendulum's x**2 + y**2 = 1 says nothing of the force in its rod, which its second derivative
    in time determines: a system of index 3. Told are equations that have to be differentiated twice
    or more (pinn.diagnosis.posed.orders.differentiations).
    """
    domain = statement.problem.domain
    if domain.coordinates != (domain.time,):
        return
    for system in systems_of(statement):
        square = len(system.equations) == len(system.unknowns)
        if not square or not all(one.is_finite and one.leaves for one in system.equations):
            continue
        found = [one.linear[0].slopes for one in system.equations]
        if any(slope.ndim > 1 for one in found for slope in one.values()):
            continue  # a sum over nodes
        slopes = [{leaf: float(slope[0]) for leaf, slope in one.items()} for one in found]
        taken = differentiations(slopes, system.unknowns, str(domain.time), domain.space)
        if taken is None or max(taken.often) < _OFTEN:
            continue
        for one, often in zip(system.equations, taken.often, strict=True):
            if often >= _OFTEN:
                yield (
                    f"{one.residual.what} has to hold with its derivatives up to order {often} in "
                    f"{domain.time} for all unknowns of the {system.named} to be determined: a "
                    f"differential-algebraic system of index {taken.index}, which is followed with "
                    f"few digits and not for long; state it differentiated, diff("
                    f"{_text_of(one.residual.left.tree)}, {domain.time}, {often}) for it, with "
                    "values at the start that satisfy it and the derivatives before"
                )


def _text_of(tree: Expression | None) -> str:
    return "..." if tree is None else abridge(str(tree))
