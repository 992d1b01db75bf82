"""Equations and conditions that contradict each other."""

from __future__ import annotations

from collections.abc import Iterator

from pinn.diagnosis.examination import Examination, orders
from pinn.diagnosis.finding import Change, Finding
from pinn.diagnosis.posed.contradictions import contradicting


def contradiction(seen: Examination) -> Iterator[Finding]:
    """Tell of residuals that cannot vanish together.

    Where two of them hold at the same places one has to go, here the one that holds at fewer. Where
    they only meet, their values are for the reader to mend.
    """
    if seen.statement is None:
        return
    for found in contradicting(seen.statement):
        names = [name for name in found.names if name in seen.fresh]
        shown = ", ".join(f"{name} {seen.fresh[name]:.1e}" for name in names)
        evidence = f"{found.text}; their losses on fresh points: {shown}" if shown else found.text
        if found.same_places and len(names) == 2:
            out = names[-1]
            weights = {n: w for n, w in seen.weights.items() if w != 1}
            what = f"leaves {out} out; better correct what is wrong of the two, or remove it"
            changes = [Change("weighting", {**weights, out: 0}, what)]
        else:
            changes = [
                Change(f"problem.conditions.{number}.value", None, "make their values agree there")
                for number in seen.condition_numbers(found.names)
            ]
        loss = seen.total(seen.fresh)
        yield Finding(
            "contradiction", "conditions contradict each other", evidence, tuple(changes),
            orders(loss, seen.floor), alone=found.same_places,
        )  # fmt: skip
