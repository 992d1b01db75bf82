"""What a problem's text says to be fine: fast waves, and coefficients and sources in small places.

It is named where a problem does not seem to be solved.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from pinn.equations.jumps import is_of_place
from pinn.expressions import Call, Expression, abridge
from pinn.problem import Problem
from pinn.residuals import Narrow, narrow
from pinn.residuals.crossings import coordinates_of, parts_in, values_of
from pinn.sampling import stream

# Waves across the domain that networks follow without help.
_FEW = 5.0
# Points at which waves are counted, by steps of this share of the domain.
_POINTS, _STEP = 4096, 1e-7
# Of more waves, or places, than these only the first are named.
_TOLD = 4
# Characters of a wave that are shown.
_SHOWN = 60


def text_scales(problem: Problem) -> list[str]:
    """Return a sentence about the waves of a problem's text, and one about narrow parts in it.

    Waves are sin and cos of places, counted by how fast their arguments change across the domain;
    narrow parts those of pinn.residuals.narrow. Empty where there are none.
    """
    return [*_waves(problem), *_narrow_parts(problem)]


def _waves(problem: Problem) -> Iterator[str]:
    counts = {}
    drawn = {  # of the modes of functions, which have no text
        part.children[0] for one in problem.functions.values() for part in parts_in(one.tree)
        if isinstance(part, Call) and part.function in ("sin", "cos")
    }  # fmt: skip
    for residual in problem.residuals:
        for term in residual.terms:
            for part in parts_in(term.formula) if term.formula is not None else ():
                if isinstance(part, Call) and part.function in ("sin", "cos"):
                    (argument,) = part.children
                    if argument in counts or argument in drawn:
                        continue
                    if is_of_place(argument):
                        counts[argument] = residual.what, part, _count(problem, argument)
    fast = {one: found for one, found in counts.items() if max(found[2].values()) >= _FEW}
    if not fast:
        return
    told = sorted(fast.items(), key=lambda one: str(one[0]))[:_TOLD]
    shown = "; ".join(
        f"{_with_pi(part)} of {what} has " + " and ".join(
            f"{number:.2g} waves along {name}" for name, number in waves.items() if number >= _FEW
        )
        for _, (what, part, waves) in told
    )  # fmt: skip
    inputs = [f"{function}({_with_pi(one)})" for one, _ in told for function in ("sin", "cos")]
    features = ", ".join((*problem.domain.coordinates, *inputs))
    yield (
        f"the text has waves that are fast for a network: {shown}, across the domain; give them to "
        f"it as inputs: features [{features}] (pinn.AutoModel(features=[...]), or features: of the "
        "model in YAML)"
    )


def _with_pi(tree: Expression) -> str:
    """Return the text of a tree, abridged; a resolved one has the number for pi."""
    return abridge(str(tree).replace(str(math.pi), "pi"), _SHOWN)


def _count(problem: Problem, argument: Expression) -> dict[str, float]:
    """Return how many waves the sine of a function of the place has along each coordinate."""
    names, bounds = problem.domain.coordinates, problem.domain.bounds
    low, high = np.array(list(bounds.values())).T
    unit = stream(0, "text waves").uniform(_STEP, 1 - _STEP, (_POINTS, len(low)))
    points = low + (high - low) * unit
    found = {}
    for j, name in enumerate(names):
        if name not in coordinates_of(argument):
            found[name] = 0.0
            continue
        step = np.where(np.arange(len(low)) == j, _STEP * (high - low), 0.0)
        change = values_of(argument, names, points + step, problem.constants) - values_of(
            argument, names, points - step, problem.constants
        )
        usual = float(np.median(np.abs(change)))
        found[name] = usual / (2 * _STEP) / (2 * math.pi) if math.isfinite(usual) else 0.0
    return found


def _narrow_parts(problem: Problem) -> Iterator[str]:
    found: list[tuple[str, Narrow]] = []
    for residual in problem.residuals:
        parts = sorted(narrow(residual, problem.constants), key=lambda one: len(one.text))
        for part in parts:
            # What a derivative makes of a coefficient is where that is.
            if not any(what == residual.what and _overlap(part, other) for what, other in found):
                found.append((residual.what, part))
    if not found:
        return
    shown = "; ".join(
        f"{part.text} of {what} at {part.place(problem.domain.bounds)}"
        for what, part in found[:_TOLD]
    )
    remedy = "put points there (sampling.density)"
    if any(not part.added for _, part in found):
        remedy += (
            ", and of a coefficient under a derivative take the flux for an unknown of its own, as "
            "q = a*u_x with an equation for each, so that none is taken of the coefficient"
        )
    yield (
        f"the text changes in small places: {shown}; what is narrower than a network resolves is "
        f"not in its solution: {remedy}, or make it wider"
    )


def _overlap(one: Narrow, other: Narrow) -> bool:
    """Return whether the places of two parts have a point in common."""
    return bool(np.all((one.box[0] <= other.box[1]) & (other.box[0] <= one.box[1])))
