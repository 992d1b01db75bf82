"""What would make a problem easier to train, though nothing is wrong with it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from pinn.diagnosis.adapted.model_scale import scale_advice
from pinn.diagnosis.posed.homogeneous import homogeneous
from pinn.diagnosis.posed.missing import overdetermined
from pinn.diagnosis.posed.sizes import given_size
from pinn.diagnosis.posed.statement import Stated, Statement
from pinn.diagnosis.posed.surplus import surplus_that_may_agree
from pinn.equations.leaves import parts_of

# Sizes that are further apart than this are told of.
_APART = 1e6
# A width of the domain, or a value, that is so many times above or below one is due to its units.
_FAR = 1e3
# A block of less weight than this share of another is as good as left out.
_LEAST_WEIGHT = 1e-6
# A loss of less than this share of the largest is rounding: the network meets what it is of.
_ROUNDING = 1e-20


def advice(statement: Statement, model: Any, losses: Mapping[str, float]) -> list[str]:
    """Return a sentence for each thing that a network will find hard, and what helps.

    losses: of each block, weighted, at the start. Looked for are unknowns whose size is far from
    what the model begins with, terms of an equation and losses that are a million times apart,
    more conditions than an equation takes that may well agree, more equations than unknowns, and
    problems that zero solves.
    """
    return [
        *scale_advice(statement, model),
        *_terms_apart(statement),
        *_losses_apart(statement, losses),
        *surplus_that_may_agree(statement),
        *overdetermined(statement),
        *homogeneous(statement),
    ]


def _terms_apart(statement: Statement) -> Iterator[str]:
    for equation in statement.equations:
        if not equation.is_finite:
            continue
        sizes = {leaf: size for leaf, size in _coefficients(statement, equation).items() if size}
        if len(sizes) < 2 or max(sizes.values()) < _APART * min(sizes.values()):
            continue
        small, large = min(sizes, key=sizes.__getitem__), max(sizes, key=sizes.__getitem__)
        yield (
            f"in equation {equation.name!r} the coefficients of {large} and {small} are "
            f"{_factor(sizes[large] / sizes[small])} apart (about {sizes[large]:.1g} and "
            f"{sizes[small]:.1g}, with coordinates measured in widths of the domain): the smaller "
            f"term will not be seen; choose units in which both count: {_how(statement)}"
        )


def _coefficients(statement: Statement, equation: Stated) -> dict[object, float]:
    """Return the usual size of each leaf's slope, with coordinates in widths of the domain."""
    problem = statement.problem
    widths = {name: high - low for name, (low, high) in problem.domain.bounds.items()}
    found = {}
    for leaf in equation.leaves:
        slopes = np.concatenate([np.abs(state.slopes[leaf]) for state in equation.linear])
        names, _ = parts_of(leaf, problem.domain.space)[0]
        found[leaf] = float(np.median(slopes)) / math.prod(widths[name] for name in names)
    return found


def _losses_apart(statement: Statement, losses: Mapping[str, float]) -> Iterator[str]:
    finite = {name: loss for name, loss in losses.items() if math.isfinite(loss)}
    least = _ROUNDING * max(finite.values(), default=0.0)
    sizes = {name: loss for name, loss in finite.items() if loss > least}
    if len(sizes) > 1 and max(sizes.values()) >= _APART * min(sizes.values()):
        small, large = min(sizes, key=sizes.__getitem__), max(sizes, key=sizes.__getitem__)
        yield (
            f"at the start the loss of {large} ({sizes[large]:.1e}) and "
            f"that of {small} ({sizes[small]:.1e}) are {_factor(sizes[large] / sizes[small])} "
            f"apart; {_balanced(statement, small, large, sizes[small] / sizes[large])}"
        )


def _balanced(statement: Statement, small: str, large: str, ratio: float) -> str:
    """Return what brings the losses of two blocks together."""
    units = [
        f"{name} is {high - low:.2g} wide"
        for name, (low, high) in statement.problem.domain.bounds.items()
        if _is_far(high - low)
    ]
    for condition in statement.conditions:
        unknown = condition.residual.gives
        if unknown is not None and condition.is_finite:
            size = given_size(condition)
            if size and _is_far(size):
                units.append(f"{condition.name} gives {unknown} values of about {size:.1g}")
    if units:
        return (
            f"that comes from the units ({', '.join(units)}), so it is the network to scale and "
            "not the losses to weigh: let its scale and offset be those of the unknowns (scale: "
            f"data, or numbers), or {_how(statement)}"
        )
    weight = max(_LEAST_WEIGHT, 10.0 ** round(math.log10(ratio)))
    return (
        f"unless {small} merely holds from the start, divide the equation by its largest "
        f"coefficient, or set weighting: {{{large}: {weight:.0e}}}"
    )


def _is_far(size: float) -> bool:
    return not 1 / _FAR < size < _FAR


def _how(statement: Statement) -> str:
    units = ", ".join(
        f"{name} in units of {high - low:g}"
        for name, (low, high) in statement.problem.domain.bounds.items()
    )
    unknowns = ", ".join(statement.problem.unknowns)
    return (
        f"measure {units}, {unknowns} in units of the values to be expected, and divide each "
        "equation by its largest coefficient; the numbers that are left say which terms matter"
    )


def _factor(ratio: float) -> str:
    return f"a factor of 10^{math.floor(math.log10(ratio) + 1e-9)}"
