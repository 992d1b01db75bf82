"""A run in the natural units of its problem, where those that it is stated in are far from them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from pinn.diagnosis.adapted.model_scale import (
    left_open,
    output_sizes,
    scales_given,
    scales_of,
    with_offset,
    with_scale,
)
from pinn.diagnosis.posed.poles import Beginning, beginnings
from pinn.diagnosis.posed.sizes import FAR, Size, block_sizes
from pinn.diagnosis.posed.statement import Statement, statement_of
from pinn.models import AutoModel
from pinn.objective.weighting import Fixed
from pinn.training.course import Decision
from pinn.training.experiment import Experiment

# An unknown that is FAR above or below one is scaled, and residuals that are so many times apart
# are weighed: of none of the problems of the accuracy suite and the shipped configs, which are
# stated in their natural units.
_APART = 1e3
# Where coefficients are to be found, an equation that counts little tells nothing of them.
_APART_TO_FIND = 300.0


def in_natural_units(
    experiment: Experiment, fixed_model: bool = False
) -> tuple[Experiment, tuple[Decision, ...]]:
    """Return a run whose outputs and losses are all about one, and what was decided for that.

    A network of which neither scale nor offset is given begins near the value that conditions give
    where an equation has none at zero, as 1/u, and else has its outputs scaled where conditions or
    equations state that an unknown is 20 times larger or smaller than one. Where the residuals of
    two blocks are a thousand times apart for unknowns of the stated sizes, as rho*cp*T_t - k*T_xx
    in SI units and T = 300 are, each block is weighed by the square of its size, so that what is
    minimised are shares of it. Both are powers of ten. Weights that are given, by number or by a
    scheme, stay as they are, and so does the loss where a target is given for it, and a network
    that is linear in what is trained but for one that a trial chooses. fixed_model: whether the
    numbers to start from belong to the model as it is. docs/decisions/0060.
    """
    statement = statement_of(experiment.problem)
    if statement is None:
        return experiment, ()
    decisions = []
    starts = {} if fixed_model else _starts(experiment, statement)
    if starts:
        model = with_offset(experiment.model, {name: one.value for name, one in starts.items()})
        experiment = replace(experiment, model=model)
        decisions.append(_begun(starts))
    given = scales_given(experiment.model, experiment.problem.unknowns)
    sizes = {} if fixed_model else _sizes_to_scale(experiment, statement)
    if sizes:
        values = {name: size.value for name, size in sizes.items()}
        model = with_scale(experiment.model, values)
        experiment = replace(experiment, model=model)
        decisions.append(_scaled(sizes, scales_of(model, experiment.problem.unknowns)))
    blocks = _blocks_to_weigh(experiment, statement, given)
    if blocks:
        weights = {name: 10.0 ** (-2 * round(math.log10(size))) for name, size in blocks.items()}
        experiment = replace(experiment, weighting=Fixed(weights))
        decisions.append(_weighed(blocks, weights))
    return experiment, tuple(decisions)


def _sizes_to_scale(experiment: Experiment, statement: Statement) -> dict[str, Size]:
    """Return the stated size of each unknown that is to be scaled."""
    model = experiment.model
    if getattr(model, "linear", False) and not isinstance(model, AutoModel):
        return {}
    is_open = left_open(model, experiment.problem.unknowns)
    return {
        name: size for name, size in output_sizes(statement).items()
        if name in is_open and not 1 / FAR < size.value < FAR
    }  # fmt: skip


def _starts(experiment: Experiment, statement: Statement) -> dict[str, Beginning]:
    """Return where to begin with each unknown that is not to begin at zero."""
    is_open = left_open(experiment.model, experiment.problem.unknowns)
    found = beginnings(statement) if is_open else {}
    return {name: one for name, one in found.items() if name in is_open}


def _blocks_to_weigh(
    experiment: Experiment, statement: Statement, given: Mapping[str, tuple[float, float]]
) -> dict[str, float]:
    """Return the size of the residual of each block where they are to be weighed by it.

    In time alone, without coefficients, only equations tell whether these are far apart: a start is
    one number, and is met to rounding. Those whose sizes change by orders of magnitude on the way
    are left alone: in some window of time the weights would put one below another's rounding.
    given: the sizes of unknowns that a model was given.
    """
    problem = experiment.problem
    finds = bool(problem.parameters or problem.fields)
    in_time_alone = problem.domain.coordinates == (problem.domain.time,)
    is_free = experiment.weighting == Fixed() and experiment.target is None
    if not is_free:
        return {}
    by_windows = in_time_alone and not finds
    sizes = block_sizes(statement, given, everywhere=by_windows) or {}
    far = sizes
    if by_windows:
        far = {name: size for name, size in sizes.items() if name in problem.equations}
    apart = max(far.values(), default=1.0) / min(far.values(), default=1.0)
    return sizes if apart > (_APART_TO_FIND if finds else _APART) else {}


def _begun(starts: Mapping[str, Beginning]) -> Decision:
    written = ", ".join(f"{name} {one.value:g}" for name, one in starts.items())
    why = ", ".join(
        f"at {name} = 0 the equation {one.equation!r} has no value, or no slope, and {one.by} "
        f"gives {one.value:.3g}"
        for name, one in starts.items()
    )
    return Decision(0, f"offset of outputs: {written}", why)


def _scaled(sizes: Mapping[str, Size], scales: Mapping[str, float]) -> Decision:
    written = ", ".join(f"{name} {scales[name]:g}" for name in sizes)
    why = ", ".join(f"{name} is about {one.value:.1g} ({one.by})" for name, one in sizes.items())
    return Decision(0, f"scale of outputs: {written}", why)


def _weighed(sizes: Mapping[str, float], weights: Mapping[str, float]) -> Decision:
    written = ", ".join(f"{name} {weight:.0e}" for name, weight in weights.items())
    small, large = min(sizes, key=sizes.__getitem__), max(sizes, key=sizes.__getitem__)
    return Decision(
        0, f"weights: {written}",
        f"as the problem is stated the residual of {large} is about {sizes[large]:.0e} large, and "
        f"that of {small} about {sizes[small]:.0e}; each has the weight 1/size^2",
    )  # fmt: skip
