"""A loss that is as low as float32 lets it be."""

from __future__ import annotations

from collections.abc import Iterator

from pinn.diagnosis.examination import Examination, orders
from pinn.diagnosis.finding import Change, Finding
from pinn.training.judging.verdicts import no_way_down


def precision(seen: Examination) -> Iterator[Finding]:
    """Tell of a loss in float32 that is rounding, or whose way down is hidden by it."""
    if seen.experiment.precision != "float32":
        return
    why = no_way_down(seen.objective, seen.theta)
    if why is None:
        return
    yield Finding(
        "precision", "float32 goes no lower", why.removesuffix("; float64 goes lower"),
        (Change("precision", "float64"),), orders(seen.rounding.loss, seen.floor),
    )  # fmt: skip
