"""From a problem to its trained solution."""

from __future__ import annotations

import functools
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from autograd.launched import launched_number, launched_size
from autograd.mpi import Executor, ranks_of
from autograd.ranks import Ranks
from pinn.checks import argument_names_checked, arguments_of
from pinn.diagnosis import (
    Check,
    ProblemWarning,
    UnsolvedWarning,
    around_holes,
    at_corners,
    at_spots,
    by_functions,
    check_run,
    eased,
    follows_noise,
    in_layers,
    in_natural_units,
    jumps,
    lacks_conditions,
    lacks_inflow,
    missed,
    natural_sizes,
    outweighing_noise,
    overfitted,
    preflight,
    recovery,
    scaled_residuals,
    solved_by_zero,
    unsolved,
    untrained,
    weighed_by_errors,
    with_noise,
    without_branch,
    without_places,
)
from pinn.estimates import ErrorEstimate, error_estimate, not_determined, undetermined
from pinn.files import DamagedFile
from pinn.models import Windows
from pinn.objective import Objective
from pinn.objective.weighting import Weighting
from pinn.optimizers import STAGES, Stage, StopReason
from pinn.problem.problem import Problem
from pinn.sampling import Sampling
from pinn.schema.errors import at
from pinn.solution.accuracy import Errors, TestSet
from pinn.solution.recovery import Recovery
from pinn.solution.report import Report
from pinn.solution.resuming import Resumed, check_alike, resumed
from pinn.solution.solution import Solution
from pinn.training.callbacks import Relayed, check_callbacks, notify
from pinn.training.choosing import Chosen, is_timed, with_model
from pinn.training.continuation import Continued
from pinn.training.course import Decision
from pinn.training.experiment import Experiment
from pinn.training.judging.fresh import FreshLoss, fresh_points, judging_points
from pinn.training.legs import Legs
from pinn.training.loop import Training
from pinn.training.plan import Plan
from pinn.training.points.collocation import redrawing
from pinn.training.records import StepRecord, TrainingResult
from pinn.training.resources import training_resources
from pinn.training.start import load_start
from pinn.training.unused import unused_constants
from pinn.training.windows.marching import March, can_be_windowed
from pinn.training.windows.road import SOLVED_UP_TO

# Operations of a run, below which its error is estimated only when asked for: training took about
# as long as the estimate does. A step takes one for each number of each row, one that takes their
# slopes so many times as there are numbers.
_WORTH = 1e8

# An estimate takes no more than this part of the limit in time, and may take so many seconds.
_ESTIMATED, _LEAST_SECONDS = 0.5, 5.0

# A residual of this share of its terms fits no points only, however much smaller it is there.
_EXACT = 1e-9
# Of what `check` chooses by the clock.
_TIMED = Decision(
    0, "by the clock", "a run tries again, and the time that its steps take then may lead it to "
    "another number of features, or another model; a model that is written down is the same"
)  # fmt: skip
# What may be the matter where an unknown is not determined.
_LOOSE = (
    "look for a condition that is missing, a motion that is free, an eigenvalue, or a front that "
    "may lie elsewhere as well"
)
_NO_INFLOW = (
    "a condition is missing where information enters the domain, as was told before training: "
    "other values there leave the residual as small"
)
_LACKING = (
    "conditions or equations are missing, as was told before training: other solutions leave the "
    "residual as small"
)
_ACROSS_JUMPS = (
    "an equation has derivatives across a jump, as was told before training: what is missing there "
    "no residual at points can see"
)
_UNSEEN = (
    "a part of the problem is where no point of training is, as the warning says: neither training "
    "nor the estimate knows what it does"
)
# From so many windows of time on the end of a run is looked at without recording a program.
_MANY_WINDOWS = 4
# Who ends a run in the middle knows that it has not solved the problem.
_CUT_SHORT = (StopReason.INTERRUPTED, StopReason.DIVERGED)


@dataclass(frozen=True)
class _Prepared:
    """A run before its first step.

    asked: its declaration as it came, before its model was chosen. chosen: the same after it, why,
    and what it can begin from; spent: the seconds that this took. started: whether an older
    solution is gone on from. resumed: where the run goes on from. test: what it is compared with.
    fresh: the loss on points that it does not see. said: what seems wrong.
    """

    asked: Experiment
    chosen: Chosen
    spent: float
    started: bool
    resumed: Resumed
    objective: Objective
    test: TestSet
    fresh: FreshLoss
    said: Sequence[str]

    @property
    def experiment(self) -> Experiment:
        """The declaration that is trained."""
        return self.chosen.experiment

    @cached_property
    def looked_at(self) -> tuple[Experiment, Objective, FreshLoss]:
        """The declaration that is trained, and by what its end is looked at.

        All of many windows in time alone are one long program, which takes longer to record than
        the few looks at it do.
        """
        experiment, model = self.experiment, self.experiment.model
        domain = experiment.problem.domain
        alone = domain.coordinates == (domain.time,) and isinstance(model, Windows)
        if not alone or model.count < _MANY_WINDOWS:
            return experiment, self.objective, self.fresh
        objective = replace(experiment, engine="eager").objective()
        return experiment, objective, FreshLoss(objective, fresh_points(experiment))

    def solution(self, result: TrainingResult) -> Solution:
        """Return what training came to, without its errors."""
        unknown = Errors({}, {})
        report = Report.of(result, unknown, {})
        solution = Solution(self.experiment, result.theta, report, result.resume, self.asked)
        solution.report = Report.of(result, unknown, solution.parameters)
        return solution


class Session:
    """What a callback gets in `on_start`: the run's declaration, and its solution at any step.

    resumed: where the run goes on from (its `resume` is None where it begins).
    """

    def __init__(self, prepared: _Prepared, run: Training | Legs) -> None:
        self.experiment = prepared.experiment
        self.objective = prepared.objective
        self.resumed = prepared.resumed
        self._asked = prepared.asked
        self._test = prepared.test
        self._fresh = prepared.fresh
        self._run = run
        # What was computed of the last step that was asked for: several callbacks may ask.
        self._looked: tuple[StepRecord | None, dict[str, Any]] = (None, {})

    def solution(self, record: StepRecord) -> Solution:
        """Return the solution as it stands at a step, without its errors: a checkpoint.

        Training is not touched: the solution has a model of its own.
        """
        report = Report(
            stop_reason="running",
            message=f"not finished: step {record.step}",
            loss=record.loss,
            losses=dict(record.losses),
            wall_seconds=record.seconds,
            steps=record.step,
        )
        resume = self._run.standing() if record is self._run.last else None
        return Solution(self.experiment, record.theta, report, resume, self._asked)

    def errors(self, record: StepRecord) -> Errors:
        """Return the errors against the reference at a step, for display only."""
        solution = functools.cache(lambda: self.solution(record))  # none without a reference
        errors = self._test.errors
        return self._once(
            record, "errors", lambda: errors(lambda **at: solution().evaluate_anywhere(**at))
        )

    def fresh_loss(self, record: StepRecord) -> float:
        """Return the loss at a step on points that training never sees, for display only."""
        return self._once(record, "fresh_loss", lambda: self._fresh(record.theta))

    def _once(self, record: StepRecord, what: str, compute: Callable[[], Any]) -> Any:
        if self._looked[0] is not record:
            self._looked = record, {}
        known = self._looked[1]
        if what not in known:
            known[what] = compute()
        return known[what]


@argument_names_checked
def solve(
    problem: Problem,
    model: Any = None,
    sampling: Sampling | None = None,
    training: Iterable[Stage] | Plan | str | None = None,
    weighting: Weighting | Mapping[str, float] | Sequence[Any] | None = None,
    seed: int = 0,
    precision: str = "float64",
    device: str = "cpu",
    callbacks: Iterable[Any] = (),
    *,
    seconds: float | None = None,
    target: float | None = None,
    continuation: Mapping[str, Sequence[float]] | None = None,
    start: Solution | Mapping[str, np.ndarray] | np.ndarray | None = None,
    engine: str = "recorded",
    derivatives: str = "jets",
    threads: int | None = None,
    executor: Executor | None = None,
    error_bars: bool = True,
    resume: str | os.PathLike[str] | None = None,
) -> Solution:
    """Train a network to satisfy a problem, and return it with a report.

    model: such as pinn.MLP(), or "auto" (also where left out), which finds by a short trial whether
    random features will do, and takes an MLP elsewhere and where stages are given; with a solution
    to start from its model. sampling: pinn.Sampling(); training: a list of stages, or "auto" (also
    where left out), which chooses them on the way and says why, or a pinn.Plan of your own.
    weighting: block name -> weight in the loss, 1 where left out, or a pinn.Weighting that chooses
    them, or a list of these, whose weights are multiplied. A problem in units far from its own is
    scaled: without weights and a target, blocks whose residuals are a thousand times apart are
    weighed by their size, and networks whose scale is left out get one
    (pinn.diagnosis.in_natural_units); equations beside conditions that are trained are weighed by
    the errors that they stand for, unless one is given a weight
    (pinn.diagnosis.weighed_by_errors); and equations outweigh data whose sigma is told, by
    pinn.Discrepancy (pinn.diagnosis.outweighing_noise). The report says so. precision: "float64" or
    "float32".
    device: "cpu", "cuda", or one of several GPUs: "cuda:1". callbacks: functions of a step record,
    or objects with the methods of pinn.training.Callback; pinn.Progress() shows progress, and
    without it nothing is printed.

    seconds: limit of the wall time of all stages together, the choice of the model and the
    recording of the step's programs at the beginning included, and the checks of the problem before
    and of the solution after not; training ends where one more step would not fit. "auto" uses it
    up, unless the loss goes no lower before. target: the loss at which training ends: the weighted
    sum, on the present points and on others that training does not take. continuation: constant ->
    values that it has in turn before its own, {"Re": [10, 100]}: a problem too hard to begin with
    is trained by way of easier ones, each from where the last one ended (not where random features
    resolve it without). start: a solution of the same model (or its theta, as a vector or by name)
    to begin from. engine: "recorded" (traced once, replayed in chunks), or "eager" for debugging.
    derivatives: "jets" (one Taylor-mode sweep) or "nested" (reverse mode again and again, for
    models with operations that have no Taylor rule).
    threads: None takes all cores; the bits are the same for any number. executor: "ranks" shares
    the work over points out to the MPI ranks that run this program (mpiexec -n 4 python ...): each
    calls solve with the same arguments and gets the same solution, with the bits of one process;
    rank 0 alone calls the callbacks, and warns. "process", also where left out: this process trains
    by itself, which a warning doubts where it is left out among several ranks. error_bars: whether
    the error of the solution is estimated in the end (report.error_estimate, see pinn.estimates).
    That comes on top of `seconds`: two to five seconds for networks of a thousand numbers, ten to
    forty for 2000 random features, longer for integrals. A limit leaves it half as much again, and
    five seconds at least: where it would take longer it is made at fewer points, and where these
    would be too few it is left out; the report says so, and solution.error_estimate() makes it. It
    is left out of training that took less work too. resume: the
    checkpoint of a run that was cut short, to go on from, or its run directory. All other arguments
    have to be those of that run, but for limits (seconds, target, steps and seconds of stages),
    which may grow, and for `threads` and `executor`; the bits are those of a run that never
    stopped.

    Equal arguments give equal bits, but where a time limit ended a stage. report.decisions has what
    was decided on the way, and why. Ctrl-C stops training and returns what there is, with
    report.stop_reason "interrupted", as does a callback that returns True or raises StopIteration
    ("stopped by callback"); a loss that is not finite ends it as "diverged". Any other exception on
    the way has the solution so far as its attribute `solution`. The problem's reference takes no
    part in training: it is compared with once, at the end.

    What seems wrong with the problem is a pinn.ProblemWarning before training (see
    pinn.diagnosis.preflight), and a residual that stays large, or that is small at the points of
    training alone, a pinn.UnsolvedWarning after it. With
    data, report.recovery has the standard errors of coefficients and how well the data are fitted
    (pinn.diagnosis.recovery); a coefficient that they do not determine is a ProblemWarning, data
    that do not fit are an UnsolvedWarning. report.warnings has all of them.

    Raises TypeError or ValueError, naming the argument, before training begins.
    """
    callbacks = check_callbacks(callbacks)
    if executor == "ranks":
        ranks_of(executor)  # before anything is refused, which all of them then say once
    elif executor is None and launched_size() > 1 and launched_number() == 0:
        warnings.warn(_each_by_itself(), RuntimeWarning, stacklevel=3)
    asked = _experiment(
        problem, start, model, sampling=sampling, training=training, weighting=weighting, seed=seed,
        precision=precision, device=device, seconds=seconds, target=target,
        continuation=continuation, engine=engine, derivatives=derivatives, threads=threads,
        executor=executor, error_bars=error_bars,
    )  # fmt: skip
    ranks = asked.ranks
    if ranks.size > 1:
        callbacks = (Relayed(callbacks, ranks),)
    with ranks.together(), training_resources():
        if ranks.size > 1:
            check_alike(asked)
        prepared = _prepared(asked, start, resume, callbacks)
        for sentence in prepared.said:
            _warn(ranks, sentence, ProblemWarning)
        run = _training(prepared, callbacks)
        with _failure_told(callbacks):
            result = _trained(prepared, run, callbacks)
            with _handed_over(prepared, lambda _: result):
                solution, doubts = _judged(prepared, result, callbacks)
        notify(callbacks, "on_end", solution)
    for doubt in doubts:
        _warn(ranks, doubt)
    return solution


def _each_by_itself() -> str:
    return (
        f"each of the {launched_size()} processes that mpiexec has started trains a whole run by "
        'itself: pinn.solve(..., executor="ranks") shares one out to them; executor="process" says '
        "that this is meant"
    )


def _warn(ranks: Ranks, doubt: Warning | str, category: type[Warning] | None = None) -> None:
    """Warn the caller of `solve`, once for all ranks."""
    if ranks.number == 0:
        warnings.warn(doubt, category, stacklevel=4)


@argument_names_checked
@arguments_of(solve, without=["resume"])
def check(**arguments: Any) -> Check:
    """Return what a run would be made of, and what seems wrong with it, without training.

    The arguments are those of `solve`; of callbacks `on_choosing` is called alone. Printed, the
    result is a table of the blocks: points, rows, derivatives, size at the start, memory and time a
    step; pinn.diagnosis.Check has the numbers. What cannot be evaluated at all is among its
    `errors`.

    Raises what solve raises before training begins.
    """
    callbacks = check_callbacks(arguments.pop("callbacks"))
    experiment, start = _experiment(**arguments), arguments["start"]
    with training_resources():
        tell = functools.partial(notify, callbacks, "on_choosing")
        chosen, decided, _, interrupted = _chosen(experiment, start, tell)
        if interrupted:
            raise KeyboardInterrupt
        if is_timed(experiment, start is not None):
            decided = (*decided, _TIMED)
        objective, *_ = _begin(chosen, start)
        return check_run(chosen, objective, decided)


def _experiment(problem: Problem, start: Any, model: Any, **given: Any) -> Experiment:
    """Return the declaration of a run, with the model of the solution that is gone on from."""
    if model is None and isinstance(start, Solution):
        model = start.experiment.model
    given["model"] = model
    return Experiment(problem, **{k: v for k, v in given.items() if v is not None})


def _prepared(
    asked: Experiment,
    start: Solution | Mapping[str, np.ndarray] | np.ndarray | None,
    resume: str | os.PathLike[str] | None,
    callbacks: Sequence[Any],
) -> _Prepared:
    """Choose the model, and build what training begins with."""
    clock = asked.ranks.clock
    began, started = clock(), start is not None
    point = Resumed(asked)
    if resume is not None:
        point = resumed(resume, asked, _stated(asked, start).experiment)
    chosen = Chosen(point.experiment)
    if not point.resume:
        chosen = _chosen(asked, start, functools.partial(notify, callbacks, "on_choosing"))
    asked.ranks.meet()  # from now on rank 0 may write to where all have read
    spent = clock() - began
    objective, test, said = _begin(chosen.experiment, start if started else chosen.theta)
    fresh = FreshLoss(objective, fresh_points(chosen.experiment))
    said = [
        *preflight(objective), *without_branch(chosen.experiment), *unused_constants(asked), *said,
    ]  # fmt: skip
    spent = spent if chosen.decisions else 0.0
    return _Prepared(asked, chosen, spent, started, point, objective, test, fresh, said)


class _Stated(NamedTuple):
    """A run with what follows from what is stated, without a trial: units, layers, corners ...

    plainer: the run without what holes and corners have added to it, None where they have not.
    """

    experiment: Experiment
    decisions: tuple[Decision, ...]
    plainer: Experiment | None


def _stated(
    asked: Experiment, start: Solution | Mapping[str, np.ndarray] | np.ndarray | None
) -> _Stated:
    started = start.problem if isinstance(start, Solution) else None
    experiment, decisions = in_natural_units(asked, fixed_model=started is not None)
    experiment, weighed = outweighing_noise(experiment, asked)
    experiment, by_errors = weighed_by_errors(experiment)
    left_open = experiment
    experiment, layers = in_layers(experiment, started)
    experiment, spots = at_spots(experiment, left_open)
    experiment, holes = around_holes(experiment, left_open)
    experiment, corners = at_corners(experiment, left_open, started)
    experiment, linear = by_functions(experiment)
    plainer = without_places(experiment, left_open) if holes or corners else None
    decided = (*decisions, *weighed, *by_errors, *layers, *spots, *holes, *corners, *linear)
    return _Stated(experiment, decided, plainer)


def _chosen(
    asked: Experiment,
    start: Solution | Mapping[str, np.ndarray] | np.ndarray | None,
    tell: Callable[[str], Any] = lambda sentence: None,
) -> Chosen:
    """Return the run with what was left open: what its problem says of it, and the model."""
    stated = _stated(asked, start)
    chosen = with_model(stated.experiment, start is not None, tell, stated.plainer)
    if chosen.decisions and start is None and not chosen.interrupted:
        experiment, by_way = eased(chosen.experiment)
        chosen = chosen._replace(experiment=experiment, decisions=(*chosen.decisions, *by_way))
    return chosen._replace(decisions=(*stated.decisions, *chosen.decisions))


def _begin(
    experiment: Experiment, start: Solution | Mapping[str, np.ndarray] | np.ndarray | None
) -> tuple[Objective, TestSet, list[str]]:
    """Return the objective where training begins, the test points, and what stages say of it."""
    objective = experiment.objective()
    said = experiment.check_stages(objective)
    if start is not None:
        load_start(objective.parameters, start, experiment.problem)
    # Before training, so that a reference that fails does so at once.
    points = (block.points.coordinates for block in objective.blocks)
    with at("problem", "reference"):
        return objective, TestSet(experiment.problem, points), said


def _training(prepared: _Prepared, callbacks: Sequence[Any]) -> Training | Legs:
    """Return the training of the problem at once or, for windows and a continuation, in legs."""
    experiment, objective, point = prepared.experiment, prepared.objective, prepared.resumed
    begun = {
        "fresh": prepared.looked_at[2], "decisions": prepared.chosen.decisions,
        "spent": prepared.spent, "resume": point.resume,
    }  # fmt: skip
    in_windows = isinstance(experiment.model, Windows)
    try:
        if in_windows or experiment.continuation:
            legs = March if in_windows else Continued
            return legs(experiment, objective, callbacks, started=prepared.started, **begun)
        return Training(
            objective, experiment.plan, callbacks, redrawing(experiment.collocation, objective),
            seconds=experiment.seconds, target=experiment.target,
            apart=FreshLoss(objective, judging_points(experiment)), weighting=experiment.weighting,
            batches=experiment.batches, **begun,
        )  # fmt: skip
    except DamagedFile as error:
        raise DamagedFile(f"{point.path}: {error}") from error


def _trained(
    prepared: _Prepared, run: Training | Legs, callbacks: Sequence[Any]
) -> TrainingResult:
    """Train, unless Ctrl-C or a callback has ended it before it begins."""
    to_stop = notify(callbacks, "on_start", Session(prepared, run))
    for decision in prepared.chosen.decisions:
        to_stop = to_stop or notify(callbacks, "on_decision", decision)
    with _handed_over(prepared, run.fail):
        if prepared.chosen.interrupted:
            return run.interrupt()
        return run.run() if to_stop is None else run.stop(to_stop)


def _estimate(
    experiment: Experiment, objective: Objective, result: TrainingResult,
    scaled: Mapping[str, float], sizes: Mapping[str, float], announce: Callable[[], Any],
    unseen: bool, solved: bool,
) -> ErrorEstimate:
    """Estimate the error of what training left, unless that took less work than this would.

    scaled, sizes: residuals in units of their terms, and natural sizes of the unknowns. unseen:
    whether points of training miss something. solved: whether nothing that is stated seems not to
    hold.
    """
    slopes = {name for name, stage in STAGES.items() if stage.takes_jacobian}
    size, rows = objective.size, objective.rows
    work = sum(
        stage.steps * rows * size * (size if stage.name in slopes else 1)
        for stage in result.stages
    )
    if not experiment.error_bars or work < _WORTH:
        return ErrorEstimate()
    try:
        announce()
        allowed = None
        if experiment.seconds is not None:
            allowed = max(_LEAST_SECONDS, _ESTIMATED * experiment.seconds)
        found = error_estimate(experiment, objective, result.theta, scaled, allowed, sizes)
        if not isinstance(experiment.model, Windows):
            found = with_noise(found, objective, solved)
        if any(jumps(experiment.problem)):
            found = replace(found, doubts=(*found.doubts, _ACROSS_JUMPS))
        if unseen:
            found = replace(found, doubts=(*found.doubts, _UNSEEN))
        if lacks_inflow(objective):
            found = replace(found, doubts=(*found.doubts, _NO_INFLOW))
        elif lacks_conditions(objective):
            found = replace(found, doubts=(*found.doubts, _LACKING))
        return found
    except KeyboardInterrupt:  # the solution is there, and all that is missing is this
        objective.parameters.load(result.theta)
        return ErrorEstimate(doubts=("it was interrupted",))


def _judged(
    prepared: _Prepared, result: TrainingResult, callbacks: Sequence[Any]
) -> tuple[Solution, list[Warning]]:
    """Return the solution with its report, and what is to be warned of."""
    experiment, objective, fresh = prepared.looked_at
    solution = prepared.solution(result)
    residual, sizes = scaled_residuals(solution), natural_sizes(solution)
    whole = result.reason not in _CUT_SHORT
    hints, unseen = [], []
    if whole:
        before = fresh.losses(experiment.initial_parameters().theta)
        apart = fresh.losses(result.theta)
        stated = experiment.problem, experiment.sampling, experiment.weighting
        rest = _not_solved(experiment, result)
        hints = [rest or unsolved(residual, can_be_windowed(*stated), experiment.problem)]
        # Of sums that share is known with the nodes of training alone.
        large = any(residual.get(one.name, 1.0) > _EXACT for one in objective.blocks)
        unseen = [] if rest else list(missed(objective, result.theta, before))
        hints += unseen
        if (large or fresh.is_of_other_sums) and not rest and not unseen:
            spread = fresh.widespread(result.theta)
            hints.append(overfitted(objective, result.theta, apart, before, spread))
    recovered, doubts = _recovered(objective, result.steps, whole)
    estimate = ErrorEstimate()
    if whole:
        hints.append(follows_noise(experiment.problem, residual, recovered))
        estimate = _estimate(
            experiment, objective, result, residual, sizes,
            lambda: notify(callbacks, "on_estimate", solution), bool(unseen),
            not any(hints) and not any(isinstance(one, UnsolvedWarning) for one in doubts),
        )  # fmt: skip
        doubts += [
            ProblemWarning(f"{not_determined(*one)}; {_LOOSE}")
            for one in undetermined(estimate.possible, estimate.relative_l2)
        ]
    remarks = (*estimate.remarks, *solved_by_zero(experiment.problem))
    estimate = replace(estimate, remarks=remarks)
    found = [*(UnsolvedWarning(hint) for hint in hints if hint), *doubts]
    diverged = result.reason is StopReason.DIVERGED
    solution.report = replace(
        Report.of(
            result, prepared.test.errors(solution.evaluate_anywhere), solution.parameters
        ),
        residual=residual,
        sizes=sizes,
        error_estimate=estimate,
        recovery=recovered,
        warnings=(*prepared.said, *map(str, found)),
        unsolved=diverged or any(isinstance(one, UnsolvedWarning) for one in found),
    )
    if diverged:
        found.insert(0, UnsolvedWarning(f"training diverged: {result.message}"))
    return solution, found


def _not_solved(experiment: Experiment, result: TrainingResult) -> str | None:
    """Return a sentence on time that no window is trained for, None where there is none."""
    model, time = experiment.model, experiment.problem.domain.time
    if not isinstance(model, Windows) or model.until is None:
        return None
    told = (str(one) for one in result.decisions if one.what.startswith(SOLVED_UP_TO))
    return next(told, f"{SOLVED_UP_TO} {time} = {model.until:.6g}: what comes after is not solved")


def _recovered(
    objective: Objective, steps: int, whole: bool
) -> tuple[Recovery, list[ProblemWarning]]:
    """Return what is told of the coefficients; whole: whether training came to its own end."""
    still = () if steps else untrained(objective)
    return recovery(objective, still) if whole else (Recovery(untrained=still), [])


@contextmanager
def _failure_told(callbacks: Sequence[Any]) -> Iterator[None]:
    """Tell callbacks of an exception that passes through: they close what they hold open."""
    try:
        yield
    except BaseException as error:
        notify(callbacks, "on_failure", error)
        raise


@contextmanager
def _handed_over(
    prepared: _Prepared, reached: Callable[[Exception], TrainingResult]
) -> Iterator[None]:
    """Let an exception that passes through have the solution that training had reached."""
    try:
        yield
    except Exception as error:
        error.solution = solution = prepared.solution(reached(error))
        error.add_note(
            "what training had reached is the attribute `solution` of this exception: "
            f"{solution.report.steps} steps, loss {solution.report.loss:.3e}"
        )
        raise
