"""Parts of a domain in which no equation holds, or fewer than the unknowns that they ask for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from pinn.diagnosis.posed.statement import Stated, Statement
from pinn.diagnosis.posed.systems import of_unknowns
from pinn.equations.jumps import is_of_place
from pinn.expressions import Call
from pinn.expressions.conditions import is_condition
from pinn.geometry.unit_cube import probes
from pinn.residuals import Measured, Within
from pinn.residuals.crossings import parts_in
from pinn.sampling import Points

_TRIED = 1 << 14
# A smaller share of the domain is the grain of the points, or a seam that is meant.
_SEAM = 0.01
# At so many of its points a part is asked for its unknowns.
_ASKED = 256
# What such functions make of unknowns may be zero for some of their values.
_CHOOSING = frozenset({"max", "min", "abs", "sign", "floor", "relu", "clip"})


def uncovered(statement: Statement) -> Iterator[str]:
    """Yield a sentence for each part of the domain that equations on parts of it leave open.

    Looked at are 16384 points that are spread evenly over the domain: which equations hold at each,
    and for which unknowns they ask there. One holds on its own part, and not where its text, as
    where(x < 0.5, u_xx + 1, 0), is zero whatever the unknowns are. Unknowns that each have an own
    part, as the media of a wall, are not missed in those of others. Nothing is said of places where
    the unknowns were measured.
    """
    parts = [
        one for one in statement.equations
        if isinstance(one.residual.source, Within) or _may_vanish(one)
    ]  # fmt: skip
    if not parts:
        return
    domain = statement.problem.domain
    points = domain.from_unit(probes(_TRIED, len(domain.coordinates)))
    points = points[~np.isnan(points).any(axis=1)]
    holds = np.array([_holds(statement, one, points) for one in statement.equations])
    # Points of the same kind have the same equations.
    kinds, which = np.unique(holds, axis=1, return_inverse=True)
    for number, kind in enumerate(kinds.T):
        here = [one for one, is_here in zip(statement.equations, kind, strict=True) if is_here]
        away = [one for one in parts if one not in here]
        there = points[np.ravel(which) == number]
        if not away or len(there) < _SEAM * len(points):
            continue
        asked = _asked(statement, here, there[:_ASKED])
        lacking = _lacking(statement, here, away, asked)
        if lacking and not _is_measured(statement, lacking, there):
            share = len(there) / len(points)
            yield _sentence(statement, here, away, lacking, there, share, len(asked))


def _may_vanish(equation: Stated) -> bool:
    """Return whether an equation's text chooses by the place alone, and may choose zero."""
    trees = [term.formula for term in equation.residual.terms]
    if None in trees or not equation.is_finite:
        return False
    parts = [part for tree in trees for part in parts_in(tree)]
    chosen = [part for part in parts if is_condition(part)]
    return (
        bool(chosen) and all(map(is_of_place, chosen))
        and not any(isinstance(one, Call) and one.function in _CHOOSING for one in parts)
    )  # fmt: skip


def _holds(statement: Statement, equation: Stated, points: np.ndarray) -> np.ndarray:
    """Return where an equation says something, (n,)."""
    source = equation.residual.source
    holds = source.region(points) if isinstance(source, Within) else np.ones(len(points), bool)
    if _may_vanish(equation):
        for state in statement.linear(equation.residual, Points(points)) or ():
            numbers = (state.value, *state.slopes.values())
            holds = holds & np.any([number != 0 for number in numbers], axis=0)
    return holds


def _asked(statement: Statement, here: Sequence[Stated], places: np.ndarray) -> set[str]:
    """Return the unknowns that equations ask for at places: not where(x < 0.5, u, 0) at x = 1."""
    asked = set()
    for one in here:
        found = statement.linear(one.residual, Points(places)) if one.is_finite else None
        for leaf in of_unknowns(statement, one):
            if found is None or any(np.any(state.slopes.get(leaf, 1.0)) for state in found):
                asked.add(leaf.unknown)
    return asked


def _lacking(
    statement: Statement, here: Sequence[Stated], away: Sequence[Stated], asked: set[str]
) -> tuple[str, ...]:
    """Return the unknowns that too few equations hold for, where some do; () where enough."""
    if any(one.linear is None for one in (*here, *away)):
        return () if here else statement.problem.unknowns
    if here and len(asked) <= len(here):
        return ()
    elsewhere = {leaf.unknown for one in away for leaf in of_unknowns(statement, one)}
    meant = asked & elsewhere if here else elsewhere
    return tuple(name for name in statement.problem.unknowns if name in meant)


def _is_measured(statement: Statement, unknowns: Sequence[str], there: np.ndarray) -> bool:
    """Return whether some of the unknowns were measured within the bounds of some points."""
    low, high = there.min(axis=0), there.max(axis=0)
    for one in statement.conditions:
        places = one.points.coordinates
        if (
            isinstance(one.residual.source, Measured)
            and {leaf.unknown for leaf in one.leaves} & set(unknowns)
            and bool(((low <= places) & (places <= high)).all(axis=1).any())
        ):
            return True
    return False


def _sentence(
    statement: Statement,
    here: Sequence[Stated],
    away: Sequence[Stated],
    lacking: Sequence[str],
    there: np.ndarray,
    share: float,
    asked: int,
) -> str:
    middle = there[np.square(there - there.mean(axis=0)).sum(axis=1).argmin()]
    named = zip(statement.coordinates, middle, strict=True)
    place = ", ".join(f"{name} = {value:.3g}" for name, value in named)
    held = f"no equation holds in about {100 * share:.0f} % of the domain, as at {place}"
    if here:
        names = ", ".join(repr(one.name) for one in here)
        held = (
            f"in about {100 * share:.0f} % of the domain, as at {place}, only {names} "
            f"{'hold' if len(here) > 1 else 'holds'}, fewer equations than the {asked} "
            "unknowns that are asked for there"
        )
    parts = "; ".join(f"equation {one.name!r} {_only_where(one)}" for one in away)
    unknowns = ", ".join(map(repr, lacking))
    return (
        f"{held} ({parts}), so that nothing determines {unknowns} there; let it hold everywhere "
        "(without `on`), add an equation for the rest, or take the rest out of the domain"
    )


def _only_where(equation: Stated) -> str:
    source = equation.residual.source
    if isinstance(source, Within):
        return f"holds on {source.region} alone"
    return "is 0 = 0 there, whatever the unknowns are"
