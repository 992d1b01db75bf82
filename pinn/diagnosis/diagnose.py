"""What holds a solution back, and which settings to change."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pinn.diagnosis import causes  # noqa: F401 - fills the table
from pinn.diagnosis.examination import Examination
from pinn.diagnosis.features import by_features
from pinn.diagnosis.finding import CAUSES, Finding
from pinn.solution.solution import Solution
from pinn.training.resources import training_resources

# Findings that stand for fewer orders of magnitude of the loss are not worth a line.
_LEAST = 0.2
# A residual that is so small a share of its terms holds nothing back: ten digits are there.
_DONE = 1e-10


@dataclass(frozen=True)
class BlockState:
    """One block at the end of training.

    trained, fresh: the mean square of its residual on the points trained on last, and on others.
    share: its residual over the size of its terms, nan where that is not known. gradient: the size
    of the gradient of its weighted loss.
    """

    name: str
    weight: float
    trained: float
    fresh: float
    share: float
    gradient: float


@dataclass(frozen=True)
class Diagnosis:
    """What holds a solution back, the most important first; printed, it is a table.

    findings: empty where nothing is wrong; `further` then says what would lower the error further.
    trained, fresh: the loss on the points trained on last, and on others. floor: what rounding
    leaves of it.
    """

    name: str
    stopped: str
    parameters: int
    trained: float
    fresh: float
    floor: float
    blocks: tuple[BlockState, ...]
    findings: tuple[Finding, ...]
    further: str

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data, for JSON."""
        return asdict(self) | {"findings": [found.as_dict() for found in self.findings]}

    def __str__(self) -> str:
        from pinn.diagnosis.diagnosis_table import table

        return table(self)


def doctor(
    solution: Solution, records: Sequence[Mapping[str, Any]] | None = None
) -> Diagnosis:
    """Say what holds a trained solution back, with the numbers that show it, and what to change.

    records: what was logged while it was trained, as of `Run.metrics()`; the report's history where
    left out. Looks at residuals on fresh points, by block and by place, at gradients, history and
    rounding, and tries a few steps of another solver; a second or a few. Where nothing holds it
    back it tries random features too, which takes some more. The solution stays as it is, its
    reference takes no part. The causes looked for are pinn.diagnosis.CAUSES. Raises TypeError for
    something that is no solution, RuntimeError where a file could not hold an equation that is a
    Python function.
    """
    if not isinstance(solution, Solution):
        raise TypeError(
            f"expected a pinn.Solution, got {type(solution).__name__}; pinn.load(path) reads a run "
            "directory or a saved solution"
        )
    seen = Examination(solution, records)
    with training_resources():
        _look(seen)
        shown = sorted(seen.found, key=lambda one: -math.inf if one.orders is None else -one.orders)
        report = solution.report
        return Diagnosis(
            name=seen.problem.name,
            stopped=f"{report.stop_reason} after {report.steps} steps",
            parameters=seen.objective.size,
            trained=seen.total(seen.trained),
            fresh=seen.total(seen.fresh),
            floor=seen.rounding.floor,
            blocks=tuple(
                BlockState(
                    name, seen.weights[name], seen.trained[name], fresh,
                    seen.shares.get(name, math.nan), seen.gradients[name],
                )
                for name, fresh in seen.fresh.items()
            ),
            findings=tuple(shown),
            further="" if shown else _further(seen),
        )  # fmt: skip


def _look(seen: Examination) -> None:
    """Go through the causes, as far as they can be told from each other."""
    for name, cause in CAUSES.items():
        # Of the problem, not of how it was solved.
        if name != "statement" and _is_done(seen):
            return
        seen.found += [one for one in cause(seen) if one.orders is None or one.orders >= _LEAST]
        if any(one.alone for one in seen.found):
            return


def _is_done(seen: Examination) -> bool:
    """Return whether every residual is next to nothing beside its terms."""
    shares = [seen.shares.get(name, math.nan) for name in seen.fresh]
    return all(share <= _DONE for share in shares)


def _further(seen: Examination) -> str:
    """Say what would lower the error of a solution that nothing holds back."""
    if _is_done(seen):
        largest = max(seen.shares[name] for name in seen.fresh)
        return f"no residual is more than {largest:.1g} of the size of its terms"
    if seen.rounding.is_all:
        return (
            f"rounding in {seen.experiment.precision} is all that is left of the loss; no setting "
            "lowers it"
        )
    features = by_features(seen)
    if features is not None:
        return features
    rows, numbers = seen.objective.rows, seen.numbers
    trial = seen.trial
    before, after = f"{trial.before:.2g}", f"{trial.after:.2g}"
    tried = f"({trial.steps} of {trial.stage.name} from here: {before} to {after} on fresh points)"
    wider = (
        f"a wider network with as many more points (there are {rows} rows for {numbers} trainable "
        "numbers)"
    )
    if float(after) >= float(before):
        return f"more steps do not lower it {tried}; what may is {wider}"
    return f"more steps lower it further {tried}, and after that {wider}"
