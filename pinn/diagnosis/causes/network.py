"""A network that is too small for the solution."""

from __future__ import annotations

from collections.abc import Iterator

from pinn.diagnosis.changes import of_model
from pinn.diagnosis.examination import Examination
from pinn.diagnosis.finding import Finding
from pinn.models import Network

# What a trial may lower the loss by where the network is at its end.
_LOWER = 1.5
# A loss of which data have this share is their noise.
_OF_DATA = 0.5
# What a larger network brings is not known before it is trained; its loss falls by more than this.
_ORDERS = 1.0


def network(seen: Examination) -> Iterator[Finding]:
    """Tell of a loss that is as low on fresh points as on trained ones, and that nothing lowers.

    Only where nothing else was found that holds it back, and the loss is not that of data, which is
    noise where a larger network follows it.
    """
    model = seen.experiment.model
    caused = any(one.orders is not None for one in seen.found)
    if caused or seen.overfit or seen.is_good or not isinstance(model, Network):
        return
    if seen.of_data(seen.trained) > _OF_DATA * seen.total(seen.trained):
        return
    trial = seen.trial
    if trial.trained_after * _LOWER < trial.trained_before or not trial.steps:
        return
    width = getattr(model, "width", None)
    if width is None:
        return
    wider = [2 * one for one in width] if isinstance(width, tuple) else 2 * width
    size = seen.objective.size
    yield Finding(
        "network", "the network is too small",
        f"the loss is {seen.total(seen.trained):.2g} on trained points and "
        f"{seen.total(seen.fresh):.2g} on fresh ones, and {trial.steps} steps of "
        f"{trial.stage.name} lower it by a factor of "
        f"{trial.trained_before / max(trial.trained_after, 1e-300):.3g} only; there are {size} "
        "trainable numbers", (of_model(model, width=wider),), _ORDERS,
    )  # fmt: skip
