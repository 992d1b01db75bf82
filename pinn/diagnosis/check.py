"""What a run would be made of, found out without training."""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from pinn.diagnosis.adapted.superposed import without_branch
from pinn.diagnosis.advice import advice
from pinn.diagnosis.few_points import few_points
from pinn.diagnosis.missed import unmet_sources
from pinn.diagnosis.posed.preflight import preflight
from pinn.diagnosis.posed.statement import statement_of
from pinn.models import Windows
from pinn.models.in_words import in_words
from pinn.objective import Evaluation, Objective
from pinn.objective.block import Block
from pinn.optimizers import Stage
from pinn.training.course import Decision
from pinn.training.experiment import Experiment
from pinn.training.plan import Scale
from pinn.training.unused import unused_constants

# The slopes of all rows take this many times as long as the gradient (burgers.yaml: 2.75).
_OF_JACOBIAN = 2.5
# A step is timed so often, and for so long, at most.
_RUNS, _SECONDS = 3, 1.0
# What two evaluations of one row may differ by, relative to the largest: rounding, in the dtype.
_ROUNDING = 1e3


@dataclass(frozen=True)
class BlockCheck:
    """One block of the loss at the start of training.

    derivatives: what it asks the network for. rms: the root of the mean square of its residual,
    without the weight, which the loss multiplies its square by.
    after: the block that is evaluated together with it, at the same points, and has the cost of
    both; "" for none. memory_bytes: of the arenas that a step works in. flops: of a step. seconds:
    of a step, by the share of its operations.
    """

    name: str
    what: str
    points: int
    rows: int
    derivatives: tuple[str, ...]
    dtype: str
    rms: float
    weight: float
    after: str
    memory_bytes: int
    flops: int
    seconds: float


@dataclass(frozen=True)
class StageCheck:
    """One stage of training: its limits, and the bytes that it works in (None: not known).

    step_seconds: of a step, about and at least: evaluations as they were timed, and what is done
    with matrices as many operations as a product of some takes.
    """

    name: str
    steps: int
    seconds: float | None
    memory_bytes: int | None
    step_seconds: float


@dataclass(frozen=True)
class Check:
    """What a run would be made of, and what seems wrong with it; printed, it is a table.

    errors: what cannot work. warnings: what solve warns of. advice: what would be easier to train.
    memory_bytes: blocks, points, parameters and the largest stage together; flops and seconds are
    of one evaluation of the loss and its gradient, of which a step takes at least one. Bytes and
    operations are counted, seconds measured. chosen: whether stages are chosen on the way, so that
    they may be others than these, which are foreseen. continuation: the values that constants have
    in turn before their own, each with these stages. limit_seconds: of the whole run, None for no
    limit. decided: what of the run was left open, how it was chosen, and why. loss: weighted.
    """

    name: str
    unknowns: tuple[str, ...]
    bounds: Mapping[str, tuple[float, float]]
    functions: Mapping[str, str]
    constants: Mapping[str, float]
    model: str
    parameters: int
    coefficients: tuple[str, ...]
    hard: tuple[str, ...]
    sampling: str
    precision: str
    device: str
    engine: str
    derivatives: str
    threads: int
    blocks: tuple[BlockCheck, ...]
    chosen: bool
    continuation: Mapping[str, tuple[float, ...]]
    stages: tuple[StageCheck, ...]
    limit_seconds: float | None
    decided: tuple[str, ...]
    loss: float
    memory_bytes: int
    flops: int
    seconds: float
    errors: tuple[str, ...]
    warnings: tuple[str, ...]
    advice: tuple[str, ...]

    @property
    def works(self) -> bool:
        """Whether training can begin."""
        return not self.errors

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data, for JSON."""
        return asdict(self) | {"works": self.works}

    def __str__(self) -> str:
        from pinn.diagnosis.check_table import table

        return table(self)


def check_run(
    experiment: Experiment, objective: Objective, decided: Iterable[Decision] = ()
) -> Check:
    """Return what training would begin with; the objective is left at its theta.

    decided: what of the run was left open, and was chosen for it. The loss and its gradient are
    evaluated a few times at the start, as training would; nothing is trained, and nothing is
    written.
    """
    problem, model, theta = experiment.problem, experiment.model, objective.theta
    began, seconds = _timed(objective, theta)
    errors = [*_without_value(objective, began), *_mixed_rows(objective)]
    costs = objective.costs()
    flops = sum(cost.flops for _, cost in costs)
    foreseen = experiment.plan.foreseen(Scale.of(objective, experiment.seconds))
    stages = tuple(_stages(foreseen, objective, seconds))
    arenas = sum(cost.nbytes for _, cost in costs)
    held = max((stage.memory_bytes or 0 for stage in stages), default=0)
    item = np.dtype(experiment.precision).itemsize
    said = [
        *preflight(objective),
        *without_branch(experiment),
        *unused_constants(experiment),
        *experiment.check_stages(objective),
    ]
    return Check(
        name=problem.name,
        unknowns=problem.unknowns,
        bounds={
            name: pair for name, pair in problem.domain.bounds.items()
            if name not in problem.mode_names
        },
        functions={name: str(one) for name, one in problem.functions.items()},
        constants=dict(problem.constants),
        model=in_words(model),
        parameters=objective.size,
        coefficients=tuple(parameter.name for parameter in problem.parameters),
        hard=_hard_names(experiment),
        sampling=_sampling_text(experiment, foreseen),
        precision=experiment.precision,
        device=experiment.device,
        engine=experiment.engine,
        derivatives=experiment.derivatives,
        threads=max((cost.workers for _, cost in costs), default=1),
        blocks=tuple(_blocks(objective, experiment, began, costs, seconds)),
        chosen=experiment.plan.count is None,
        continuation=dict(experiment.continuation),
        stages=stages,
        limit_seconds=experiment.seconds,
        decided=tuple(map(str, decided)),
        loss=began.loss,
        memory_bytes=arenas + objective.point_bytes() + 2 * item * objective.size + held,
        flops=flops,
        seconds=seconds,
        errors=tuple(errors),
        warnings=tuple(said),
        advice=() if errors else tuple(_easier(experiment, objective, began)),
    )


def _easier(experiment: Experiment, objective: Objective, began: Evaluation) -> Iterator[str]:
    """Yield what would be easier to train, or with other points."""
    statement = statement_of(experiment.problem)
    if statement is not None:
        weights = experiment.weighting.initial
        losses = {name: weights.get(name, 1.0) * loss for name, loss in began.losses.items()}
        yield from advice(statement, experiment.model, losses)
    yield from few_points(objective, experiment.sampling)
    if not isinstance(experiment.model, Windows):  # these have points of their own
        yield from unmet_sources(objective)


def _timed(objective: Objective, theta: np.ndarray) -> tuple[Evaluation, float]:
    """Return the loss and gradient, and the seconds that they take once they are recorded."""
    found = objective.value_and_gradient(theta)
    took: list[float] = []
    while len(took) < _RUNS and sum(took) < _SECONDS:
        began = time.perf_counter()
        objective.value_and_gradient(theta)
        took.append(time.perf_counter() - began)
    return found, min(took)


def _without_value(objective: Objective, began: Evaluation) -> Iterator[str]:
    if not (math.isfinite(began.loss) and np.isfinite(began.gradient).all()):
        what = objective.not_finite(objective.theta) or "a weighted sum over the blocks overflows"
        yield f"training cannot begin: {what}"


def _mixed_rows(objective: Objective) -> Iterator[str]:
    """Name functions whose first row changes with the other points, which chunks would change."""
    for block in objective.blocks:
        if block.whole or not any(callable(term.source) for term in block.residual.terms):
            continue
        points = block.points[:3]
        if len(points) < 2:
            continue
        several, again, alone = (
            block.residual_at(part).detach().cpu().numpy().astype(np.float64)
            for part in (points, points, points[:1])
        )
        slack = _ROUNDING * np.finfo(objective.dtype).eps * np.abs(several).max()
        # A model with random numbers of its own has no row that stays the same.
        if abs(several[0] - again[0]) <= slack < abs(several[0] - alone[0]):
            yield (
                f"{block.what}: a row of its function depends on other points: "
                f"{several[0]:.6g} among {len(points)} points and {alone[0]:.6g} alone, at the "
                "same point; the points are split into chunks, so use no mean, sum or sort over "
                "them"
            )


def _blocks(
    objective: Objective,
    experiment: Experiment,
    began: Evaluation,
    costs: list[tuple[tuple[Block, ...], Any]],
    seconds: float,
) -> Iterator[BlockCheck]:
    first = {blocks[0].name: cost for blocks, cost in costs}
    leader = {block.name: blocks[0].name for blocks, _ in costs for block in blocks}
    flops = max(1, sum(cost.flops for _, cost in costs))
    for block in objective.blocks:
        cost = first.get(block.name)
        yield BlockCheck(
            name=block.name,
            what=block.what,
            points=len(block.points),
            rows=block.rows,
            derivatives=tuple(dict.fromkeys(map(str, block.asked()))),
            dtype=experiment.precision,
            rms=math.sqrt(began.losses[block.name]),
            weight=objective.weights[block.name],
            after="" if cost else leader[block.name],
            memory_bytes=cost.nbytes if cost else 0,
            flops=cost.flops if cost else 0,
            seconds=seconds * cost.flops / flops if cost else 0.0,
        )


def _stages(stages: Iterable[Stage], objective: Objective, seconds: float) -> Iterator[StageCheck]:
    """Yield what each stage takes; seconds: those of the loss and its gradient."""
    for stage in stages:
        each = seconds * (1 + _OF_JACOBIAN * stage.takes_jacobian)
        flops = stage.algebra_flops(objective)
        if flops and objective.on_device is None:  # of a device only evaluations are timed
            each += flops / _flops_a_second()
        yield StageCheck(
            stage.name, stage.steps, stage.seconds, stage.working_bytes(objective), each
        )


@functools.cache
def _flops_a_second() -> float:
    """Return how many operations a second a product of matrices takes here."""
    matrix = np.ones((768, 768))
    took = []
    for _ in range(3):
        began = time.perf_counter()
        np.matmul(matrix, matrix)
        took.append(time.perf_counter() - began)
    return 2 * len(matrix) ** 3 / min(took)


def _hard_names(experiment: Experiment) -> tuple[str, ...]:
    problem = experiment.problem
    pairs = zip(problem.conditions, problem.by_condition, strict=True)
    return tuple(one.name for condition, own in pairs if condition.hard for one in own)


def _sampling_text(experiment: Experiment, stages: Iterable[Stage]) -> str:
    sampling = experiment.sampling
    drawing = [stage for stage in stages if stage.redraw != "never"]
    redraw = "kept" if sampling.redraw is None or not drawing else None
    if sampling.redraw == "auto":
        redraw = redraw or "drawn anew when overfitted"
    if redraw is None:
        pairs = [(stage.redraw or sampling.redraw, stage.steps) for stage in drawing]
        within = dict.fromkeys(every for every, steps in pairs if every < steps)
        shown = ", then ".join(map(str, within))
        sooner = any(stage.redraw is not None for stage in drawing)
        if within:
            redraw = f"drawn anew every {shown} steps{', and when overfitted' * sooner}"
        else:
            redraw = "drawn anew when overfitted" if sooner else "kept"
    kept = f", {100 * sampling.keep:g} % of them kept" if sampling.keep else ""
    adaptive = "" if sampling.adaptive is None else f", by {sampling.adaptive}"
    batch = "" if sampling.batch is None else f", batches of {sampling.batch}"
    return f"{sampling.method}, {redraw}{kept}{adaptive}{batch}"
