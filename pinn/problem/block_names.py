"""The names of the blocks that conditions give, each its own."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

from pinn.conditions.condition import Condition
from pinn.residuals import Residual
from pinn.schema.declared import fields_of


def told_apart(
    conditions: Sequence[Condition],
    residuals: Sequence[Sequence[Residual]],
    taken: Iterable[str],
) -> list[tuple[Residual, ...]]:
    """Return the residuals of each condition, with numbers after names that stand there already.

    residuals: those of each condition, in its order. taken: the names of the equations. Of names
    that are made of the place alone, such as operator_x_high, the second one is operator_x_high_2;
    a name that was given, and one that says all that the condition is about, such as initial_u,
    stays as it is.
    """
    pairs = list(zip(conditions, residuals, strict=True))
    used = {*taken}
    used.update(one.name for condition, own in pairs if not _may_change(condition) for one in own)
    found = []
    for condition, own in pairs:
        if _may_change(condition):
            own = [one.called(_free(one.name, used)) for one in own]
            used.update(one.name for one in own)
        found.append(tuple(own))
    return found


def _may_change(condition: Condition) -> bool:
    """Whether a condition could be given a name, and was not."""
    return "name" in fields_of(type(condition)) and getattr(condition, "name", None) is None


def _free(name: str, used: set[str]) -> str:
    numbered = (f"{name}_{number}" for number in itertools.count(2))
    return next(one for one in itertools.chain([name], numbered) if one not in used)
