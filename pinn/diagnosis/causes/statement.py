"""A problem that does not say what it should."""

from __future__ import annotations

from collections.abc import Iterator

from pinn.diagnosis.examination import Examination
from pinn.diagnosis.finding import Finding
from pinn.diagnosis.posed.contradictions import contradicting
from pinn.diagnosis.posed.preflight import preflight


def statement(seen: Examination) -> Iterator[Finding]:
    """Tell of what is warned of before training: the loss may be as low as it likes.

    Conditions that are missing, unknowns that nothing determines, regions without points and so on;
    residuals that contradict each other have a cause of their own.
    """
    if seen.statement is None:
        return
    elsewhere = {found.text for found in contradicting(seen.statement)}
    for sentence in preflight(seen.objective):
        if sentence not in elsewhere:
            yield Finding("statement", "the problem as it is stated", sentence, (), None)
