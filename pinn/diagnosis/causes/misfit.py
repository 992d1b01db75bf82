"""Data that lie further off than their noise reaches, though training is at its end."""

from __future__ import annotations

from collections.abc import Iterator

from pinn.diagnosis.examination import Examination
from pinn.diagnosis.finding import Change, Finding
from pinn.solution.recovery import UNLIKELY

# A loss of which data have this share is that of their misfit.
_OF_DATA = 0.5


def misfit(seen: Examination) -> Iterator[Finding]:
    """Tell of data that do not fit, where most of the loss is theirs and no steps lower it.

    What equations and conditions leave is then what the data pull them to: nothing else is told.
    """
    fits = {
        name: fit for name, fit in seen.report.recovery.data.items() if fit.probability < UNLIKELY
    }
    if not fits or seen.of_data(seen.trained) < _OF_DATA * seen.total(seen.trained):
        return
    if not seen.is_stuck:
        return
    for name, fit in fits.items():
        (number,) = seen.condition_numbers([name])
        change = Change(
            f"problem.conditions.{number}.sigma", None,
            f"about {fit.scatter * fit.sigma:.2g} where the equations are those of the "
            "measurement; else add to these what was measured and they lack",
        )  # fmt: skip
        yield Finding(
            "misfit", "data that do not fit the equations",
            f"the {fit.rows} rows of {name} lie {fit.off}, and {seen.trial.steps} steps of "
            f"{seen.trial.stage.name} do not lower the loss",
            (change,), None, alone=True,
        )  # fmt: skip
