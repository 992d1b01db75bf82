"""The model of a problem, chosen by a short trial on its equations."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from pinn.geometry import Shape, apart
from pinn.geometry.densities import density_around
from pinn.geometry.holes import Hole
from pinn.models import (
    AutoModel,
    CornerEmbedding,
    DeepONet,
    InversionEmbedding,
    Windows,
    is_by_trial,
)
from pinn.objective.weighting import Fixed
from pinn.problem.singularity import Singularity
from pinn.sampling import Sampling
from pinn.schema.errors import DeclarationError
from pinn.training.auto import MOST_REDUCED
from pinn.training.course import Decision
from pinn.training.experiment import Experiment
from pinn.training.judging.fresh import judging_points
from pinn.training.judging.trial import AT_MOST, Budget, Tell, Trial, fitted
from pinn.training.plan import plan_of
from pinn.training.superposition import why_not_superposed
from pinn.training.windows.marching import can_be_windowed
from pinn.training.windows.pacing import along, near_start, paced, seen_along
from pinn.training.windows.road import counted

# Activations and ranges of steepness that are tried, from half a wave across the domain to some
# fifty, as waves where they are many: two from the middle first.
_KINDS = (
    ("tanh", (0.5, 4.0)), ("tanh", (2.0, 16.0)), ("tanh", (0.3, 2.0)), ("tanh", (1.0, 8.0)),
    ("sin", (4.0, 40.0)), ("sin", (20.0, 200.0)),
)  # fmt: skip
# Where both leave more than this share of the loss, or crept, the others are not tried.
_HOPELESS = 0.1
# Where one leaves so little, a residual of ten digits as the doctor is content with, the others are
# not tried either.
_DONE = 1e-20
# Features of all unknowns together in the trial, of each at least, and the points for each. Where
# that comes to more in all, a trial would take as long as a training. It takes no more points than
# that, however many training is given.
_FEW, _LEAST_FEW, _POINTS, _MOST_FEW = 600, 250, 4, 1500
# Features after it, and at most where there is a limit in time: training takes as long as it lets.
_MANY, _LEAST_MANY, _MOST_MANY = 2000, 500, 4000
# Points of a boundary condition for one inside, in a plane and in three coordinates, and half that
# for an initial one: features fit what few points along a wall show, and go their own way between.
_AT_WALLS = {2: 1 / 8, 3: 1 / 4}
# Along a line so large a share of these resolves as much.
_ON_A_LINE = 0.5
# Random features are taken where the loss on points apart falls to less than this share of what it
# is for a network that is zero. The smooth functions that they can follow go far below it.
_RESOLVED = 1e-6
# The same where the limit in time cut the trial short, and half of the features leave so many times
# as much: what they follow falls so as they grow in number, and layers have no time to get there.
_RESOLVED_IN_HASTE, _FALLS = 1e-3, 10
# The same for a part of each mode of a function, where trained layers for all of them, of as many
# numbers as can be trained well, leave more than that.
_RESOLVED_BY_MODES = 1e-4
# The same in time alone: what is left adds up, and windows of time leave next to nothing.
_RESOLVED_IN_TIME = 1e-18
# The share of a limit in time that the trial may take, and that a step with many features may take
# of what is left of it. From some hundreds on its seconds grow like this power of their number:
# reductions like the third, all else like the second. The share for the trial of half as many.
_SHARE, _POWER, _SHARE_OF_HALF = 0.3, 2.5, 0.6
# In more coordinates than these a ridge function sees too little of the domain.
FOLLOWED = 3
# From this limit in time on a fourth hidden layer, and more points, pay.
_LONG = 120.0
_LONG_POINTS = 8000

# In a window of time each unknown has so many features, of this kind: little happens there.
_IN_A_WINDOW, _KIND_IN_A_WINDOW = 50, ("tanh", (1.0, 8.0))
# Layers take fewer windows, and so many seconds to compile alone.
_WINDOWS_FROM = 20.0

_GIVEN = "the numbers to start from are given, and random features are solved for"

Kind = tuple[str, tuple[float, float]]
Open = AutoModel | DeepONet
"""A model whose networks are chosen by a trial: auto, or a DeepONet with such a trunk."""


class Chosen(NamedTuple):
    """An experiment whose model is settled, what was decided, and what it can begin from.

    interrupted: whether Ctrl-C ended the trial; layers that are not trained are then what there is.
    """

    experiment: Experiment
    decisions: tuple[Decision, ...] = ()
    theta: np.ndarray | None = None
    interrupted: bool = False


def with_model(
    experiment: Experiment,
    started: bool = False,
    tell: Tell = lambda sentence: None,
    plainer: Experiment | None = None,
) -> Chosen:
    """Return the experiment with the model that a trial finds, or as it is where one is given.

    started: whether the numbers that training begins with are given. tell: hears how far it is.
    plainer: the run without inputs that a solution may not need, and what goes with them, which is
    taken where it comes nearer in the first trial.
    """
    auto = experiment.model
    if not is_by_trial(auto):
        return Chosen(experiment)
    reason = _GIVEN if started else _not_tried(experiment, auto)
    if reason:
        return _trained(experiment, auto, reason)
    try:
        return _by_trial(experiment, auto, tell, plainer)
    except KeyboardInterrupt:
        chosen = _trained(experiment, auto, "the trial of random features was interrupted")
        return chosen._replace(interrupted=True)


def is_timed(experiment: Experiment, started: bool = False) -> bool:
    """Return whether the seconds that a trial takes have a say in what it chooses."""
    auto = experiment.model
    if experiment.seconds is None or started or not is_by_trial(auto):
        return False
    return not _not_tried(experiment, auto)


def _by_trial(
    experiment: Experiment, auto: Open, tell: Tell, plainer: Experiment | None = None
) -> Chosen:
    clock, few, late = experiment.ranks.clock, _few(experiment), False
    budget = Budget(experiment.seconds, clock, clock())
    in_time_alone = _may_have_windows(experiment)
    trials: dict[Kind, Trial] = {}
    seen, layered = (), experiment
    if plainer is not None:
        kind = _KINDS[0]
        own, other = (
            _tried(one, one.model, kind, few, budget) for one in (experiment, plainer)
        )
        trials[kind] = own
        if other.left < min(own.left, _HOPELESS):
            experiment, auto, trials[kind] = plainer, plainer.model, other
            seen = (_seen_alone(few, own, other, layered.model),)
    for kind in _KINDS:
        if kind not in trials:
            trials[kind] = _tried(experiment, auto, kind, few, budget)
        best, late = min(trials.values(), key=_left), budget.is_spent(_SHARE)
        tell(_said(few, trials[kind], late))
        first_two = len(trials) == 2
        if in_time_alone and (first_two or late) and not best.left < _RESOLVED_IN_TIME:
            chosen = _in_windows(experiment, auto, budget, tell, _said(few, best, late))
            if chosen is not None:
                return chosen
            late = budget.is_spent(_SHARE)
        hopeless = first_two and all(_is_hopeless(one) for one in trials.values())
        if trials[kind].left < _DONE or late or hopeless:
            break
    kind, best = min(trials.items(), key=lambda item: item[1].left)
    long = experiment.seconds is None or experiment.seconds >= _WINDOWS_FROM
    in_windows = in_time_alone and long and math.isfinite(best.left)
    by_modes_alone = isinstance(auto, DeepONet)
    tried, resolved = few, _RESOLVED_BY_MODES if by_modes_alone else _RESOLVED
    if late and by_modes_alone and not in_windows:  # layers would have no time to begin
        resolved = math.inf
    width = _many(experiment, budget, best.seconds)
    if not (best.left < resolved or _is_hopeless(best) or late or width == few):
        # What so many could not follow, more of them may.
        tried, best = width, _tried(experiment, auto, kind, width, budget, best.found)
        late = budget.is_spent(_SHARE)
    halved = ""
    if late and not in_windows and resolved <= best.left < _RESOLVED_IN_HASTE:
        half = _tried(experiment, auto, kind, few // 2, budget, share=_SHARE_OF_HALF)
        times = half.left / trials[kind].left
        halved = f"; half of {few} left {times:.2g} times as much as all" * (half.left < 1)
        if times > _FALLS and half.left < 1:  # of 1 there was no time to fit it
            resolved = _RESOLVED_IN_HASTE
    if best.left < resolved:
        width = _worth(experiment, budget, tried, best)
    said = _said(tried, best, late) + halved
    if not best.left < resolved:
        return _trained(layered, layered.model, said, in_windows)
    found = replace(
        experiment, model=auto.random_features(width, *kind), continuation={},
        sampling=_for_features(experiment, auto, width),
    )  # fmt: skip
    if experiment.continuation:
        said += "; what was to be gone through before is left out"
    for_each = f" for {by_modes(experiment)}" * by_modes_alone
    what = f"model: {width} random features{for_each}"
    return Chosen(found, (*seen, Decision(0, what, said)), _widened(found, best.found))


def _seen_alone(width: int, given: Trial, alone: Trial, model: AutoModel) -> Decision:
    """Return what is said where a network does without inputs that were given to it."""
    kinds = {InversionEmbedding: "holes", CornerEmbedding: "corners"}
    told = dict.fromkeys(kinds[type(one)] for one in model.embedding if type(one) in kinds)
    return Decision(
        0, f"inputs: without what tells of {' and '.join(told)}",
        f"a trial of {width} random features left {alone.left:.1g} of the loss without that, and "
        f"{given.left:.1g} with it",
    )  # fmt: skip


def _left(trial: Trial) -> float:
    return trial.left


def _is_hopeless(trial: Trial) -> bool:
    """Return whether neither more features nor others are worth a trial."""
    return trial.crept or trial.left > _HOPELESS


def _said(width: int, found: Trial, late: bool) -> str:
    return (
        f"a trial of {width} random features left {found.left:.1g} of the loss on points "
        f"that it had not seen{'; the limit in time cut it short' * late}"
    )


def _not_tried(experiment: Experiment, auto: Open) -> str:
    """Say why random features are not tried, "" where they are."""
    problem, plan = experiment.problem, plan_of(experiment.training)
    count = len(_followed(experiment).coordinates)
    features = auto.random_features(_few(experiment), *_KINDS[0])
    if not features.linear:
        return "what the network sees is trained as well"
    if plan.suited(features) is plan:
        return "stages of training are given, and random features have one of their own"
    if not isinstance(experiment.weighting, Fixed):
        return "random features take a step or two, and weights that change on the way take many"
    if experiment.collocation.batches:
        return "random features take all points at once"
    if problem.fields:
        return "fields have networks of their own, which are trained"
    if experiment.precision != "float64":
        return f"least squares of random features take more digits than {experiment.precision} has"
    if count > FOLLOWED:
        return f"random features cannot follow {count} coordinates"
    if isinstance(auto, DeepONet) and (reason := why_not_superposed(experiment)):
        return f"random features are solved for one family and mode at a time: {reason}"
    if _few(experiment) * len(problem.unknowns) > _MOST_FEW:
        return f"random features of {len(problem.unknowns)} unknowns are too many for a trial"
    return ""


def _followed(experiment: Experiment) -> Shape:
    """Return what features would have to follow: of what is linear in families, the point alone."""
    domain = experiment.problem.domain
    return apart(domain)[0] if isinstance(experiment.model, DeepONet) else domain


def by_modes(experiment: Experiment) -> str:
    """Return what a DeepONet without a branch has a network of the point for."""
    problem = experiment.problem
    of = [f"each mode of {name}" for name in problem.functions]
    return ", ".join([*of, *(one.name for one in problem.families)])


def _may_have_windows(experiment: Experiment) -> bool:
    """Return whether equations are in time alone, and can be solved one window after the other."""
    domain = experiment.problem.domain
    if domain.coordinates != (domain.time,) or experiment.continuation:
        return False
    return can_be_windowed(experiment.problem, experiment.sampling, experiment.weighting)


def _in_windows(
    experiment: Experiment, auto: Open, budget: Budget, tell: Tell, said: str
) -> Chosen | None:
    """Return the choice of random features in windows of time; None: they do not follow there."""
    if budget.is_spent(AT_MOST):
        return None
    width = min(_IN_A_WINDOW, _most(experiment))
    network = auto.random_features(width, *_KIND_IN_A_WINDOW)
    start = _with_points(experiment, _POINTS * width)

    def windows(breaks: Sequence[float], until: float | None) -> Windows:
        count = None if breaks else 1
        return Windows(count=count, model=network, breaks=breaks or None, until=until)

    try:
        found = paced(start, windows, budget, tell)
    except DeclarationError:  # a part of the problem is at no time of some window
        found = None
    if found is None:
        return None
    trained = found.experiment.model.trained
    where = ("each of " if trained > 1 else "") + counted(trained)
    what = f"model: {width} random features in {where}"
    why = f"{said}; windows of time leave at most {found.left:.1g} of what changes in them"
    decisions = (Decision(0, f"{what} of time", why), *([found.rest] if found.rest else []))
    return Chosen(found.experiment, decisions, found.theta)


def _trained(experiment: Experiment, auto: Open, why: str, in_windows: bool = False) -> Chosen:
    if isinstance(auto, DeepONet):
        model = _with_basis(auto.trained(depth=3), experiment)
        what = f"model: a network of the point for {by_modes(experiment)}"
        return Chosen(replace(experiment, model=model), (Decision(0, what, why),))
    long = experiment.seconds is not None and experiment.seconds >= _LONG
    model = layers = auto.trained(depth=2 if in_windows else 4 if long else 3)
    what = f"{layers.depth} trained hidden layers"
    if in_windows:
        model = Windows(model=layers)
        what += f" in each of {model.count} windows of time"
    found = replace(_with_points(experiment, _LONG_POINTS) if long else experiment, model=model)
    return Chosen(found, (Decision(0, f"model: {what}", why),))


def _with_basis(model: DeepONet, experiment: Experiment) -> DeepONet:
    """Return a model whose last hidden layer is as wide as there is room for.

    Its units are what the solutions for all families are sums of: twice as many as there are
    outputs, if Levenberg-Marquardt's method can still take all numbers.
    """
    domain, unknowns = experiment.inputs, experiment.problem.unknowns
    outputs = (1 + len(domain.families)) * len(unknowns)
    rows = experiment.sampling.interior
    most = MOST_REDUCED if rows is None else min(MOST_REDUCED, rows // 2)
    *hidden, last = model.trunk.widths
    for width in range(2 * outputs, last, -1):
        wider = replace(model, trunk=replace(model.trunk, width=(*hidden, width)))
        count = wider.parameter_count(domain, unknowns)
        if count is not None and count <= most:
            return wider
    return model


def _with_points(experiment: Experiment, interior: int) -> Experiment:
    """Return the experiment with so many points inside where their number was left out."""
    if experiment.sampling.interior is not None:
        return experiment
    return replace(experiment, sampling=replace(experiment.sampling, interior=interior))


def _for_features(experiment: Experiment, auto: Open, width: int) -> Sampling:
    """Return the points of so many features, and those of conditions to match, where left out.

    Half of them lie around holes and corners, where features see these.
    """
    given, domain = experiment.sampling, experiment.problem.domain
    coordinates, interior = len(domain.coordinates), given.interior or _POINTS * width
    at_walls = int(_AT_WALLS.get(coordinates, 0) * interior)
    density = given.density
    if density is None:
        density = density_around(_places(experiment, auto), domain.bounds)
    wanted, usual = {"boundary": at_walls, "initial": at_walls // 2}, given.resolved(coordinates)
    more = {
        kind: count for kind, count in wanted.items()
        if getattr(given, kind) is None and count > getattr(usual, kind)
    }  # fmt: skip
    return replace(given, interior=interior, density=density, **more)


def _places(experiment: Experiment, auto: Open) -> list[Hole | Singularity]:
    """Return the holes that a network knows of, and in a plane the corners.

    Along an edge, or in time, features take even points better.
    """
    network = auto.trunk if isinstance(auto, DeepONet) else auto
    seen, problem = {type(one) for one in network.embedding}, experiment.problem
    holes = problem.domain.holes if InversionEmbedding in seen else ()
    corners = CornerEmbedding in seen and len(problem.domain.coordinates) == 2
    return [*holes, *(problem.singularities if corners else ())]


def _few(experiment: Experiment) -> int:
    few = max(_FEW // len(experiment.problem.unknowns), _LEAST_FEW)
    return min(int(few * _share_of_features(experiment)), _most(experiment))


def _share_of_features(experiment: Experiment) -> float:
    """Return the share of features that resolves as much as all of them in a plane."""
    return _ON_A_LINE if len(_followed(experiment).coordinates) == 1 else 1.0


def _most(experiment: Experiment) -> int:
    """Return how many features there are at most: two points for each, where these are given."""
    interior = experiment.sampling.interior
    return sys.maxsize if interior is None else max(1, interior // 2)


def _many(experiment: Experiment, budget: Budget, seconds: float) -> int:
    """Return how many features come after a trial of few whose steps took so long."""
    few = _few(experiment)
    return max(few, min(_of_each(experiment, _MANY), _in_time(few, budget, seconds)))


def _worth(experiment: Experiment, budget: Budget, tried: int, found: Trial) -> int:
    """Return how many features are trained after a trial of so many has resolved the solution.

    As many as there are without a limit in time; with one no more than it lets, and more where more
    digits are to be had: these grow like the number of features along each coordinate.
    """
    many = _of_each(experiment, _MANY)
    if budget.limit is None:
        return max(tried, many)
    most, count = _of_each(experiment, _MOST_MANY), len(_followed(experiment).coordinates)
    digits = max(1.0, -math.log10(max(found.left, _DONE)))
    wanted = int(tried * (-math.log10(_DONE) / digits) ** count)
    wanted = min(max(many, wanted), most, _in_time(tried, budget, found.seconds))
    return max(tried, wanted)


def _of_each(experiment: Experiment, many: int) -> int:
    """Return how many features each unknown has of so many in all, as the points allow."""
    many = int(many * _share_of_features(experiment)) // len(experiment.problem.unknowns)
    return min(max(many, _LEAST_MANY), _most(experiment))


def _in_time(tried: int, budget: Budget, seconds: float) -> int:
    """Return how many features a step may have, where one of so many took so many seconds."""
    if budget.limit is None:
        return sys.maxsize
    share = _SHARE * max(0.0, budget.limit - budget.spent)
    return int(tried * (share / seconds) ** (1 / _POWER))


def _tried(
    experiment: Experiment,
    auto: Open,
    kind: Kind,
    width: int,
    budget: Budget,
    found: Mapping[str, np.ndarray] | None = None,
    share: float = _SHARE,
) -> Trial:
    """Fit so many random features of a kind; found: what fewer of them were, to begin from.

    share: of the budget, after which no step begins.
    """
    sampling = _for_features(experiment, auto, width)
    tried = replace(
        experiment, model=auto.random_features(width, *kind),
        sampling=replace(sampling, interior=min(sampling.interior, _POINTS * width)),
    )  # fmt: skip
    objective = tried.objective()
    start = objective.theta if found is None else _widened(tried, found)
    judging, domain = judging_points(tried), tried.problem.domain
    if domain.coordinates != (domain.time,):
        return fitted(objective, judging, start, budget, share)
    times = domain.bounds[domain.time]
    judging = near_start(tried.problem, judging, times)
    trial = fitted(objective, judging, start, budget, share)
    return seen_along(trial, objective, along(tried.problem, times))


def _widened(experiment: Experiment, found: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return the start of more features: what fewer were found to be, nothing of the others."""
    parameters = experiment.initial_parameters()
    theta = np.zeros(parameters.size)
    for name, array in parameters.named(theta).items():
        array[tuple(slice(length) for length in found[name].shape)] = found[name]
    return theta
