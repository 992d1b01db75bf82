"""Equations and conditions that contradict each other, or have no value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np

from pinn.diagnosis.posed.balance import unbalanced, unbalanced_flow
from pinn.diagnosis.posed.linear import Linear
from pinn.diagnosis.posed.periods import period_order
from pinn.diagnosis.posed.planes import Plane
from pinn.diagnosis.posed.statement import Stated, Statement
from pinn.equations.leaves import Derivative
from pinn.sampling import Points

# Above rounding, relative to the sizes of what is compared.
_ROUNDING = 1e-9
# Values that were cut off, as of a soliton far away, are no contradiction below this; in a corner,
# as of a bell that has not quite ended at a wall, below that share of all values given.
_DISAGREE, _IN_A_CORNER = 1e-6, 1e-3
# Pieces of a plane touch whose points are no farther apart than so much of it; so many points are
# looked at from one to the other.
_TOUCHING, _ACROSS = 0.1, 9


@dataclass(frozen=True)
class Contradiction:
    """Residuals that cannot vanish together, in a sentence.

    names: theirs, the one that holds at fewer places last. same_places: whether they hold at the
    same places there, so that one of them is wrong.
    """

    text: str
    names: tuple[str, str]
    same_places: bool


def contradictions(statement: Statement) -> list[str]:
    """Return a sentence for each pair of residuals that cannot both vanish, and so on.

    Pairs at the same points whose slopes are multiples of each other and whose values are not; and
    pairs of conditions on one unknown whose values differ where their planes meet, or at the ends
    of a period. An initial
    condition whose value changes with time, though time does not there. A source inside that does
    not leave through a boundary where all slopes are given, or all of a flow, as that of mass.
    """
    return [
        *(found.text for found in contradicting(statement)),
        *_held_coordinates(statement),
        *unbalanced(statement),
        *unbalanced_flow(statement),
    ]


def contradicting(statement: Statement) -> list[Contradiction]:
    """Return the pairs of residuals that cannot both vanish."""
    return [*_opposed(statement), *_disagreeing(statement), *_unlike_at_ends(statement)]


def _opposed(statement: Statement) -> Iterator[Contradiction]:
    everything = [*statement.equations, *statement.conditions]
    for one, other in combinations(everything, 2):
        if one.residual.source != other.residual.source or not (one.is_finite and other.is_finite):
            continue
        if one.residual.whole or other.residual.whole:
            continue  # a row is made of many points
        if not one.leaves or set(one.leaves) != set(other.leaves):
            continue
        gap = _gap(one, other)
        if gap is not None:
            text = (
                f"{one.residual.what} and {other.residual.what} contradict each other: their left "
                f"sides are multiples of each other and their right sides differ, by {gap:.4g}; "
                "no function can satisfy both"
            )
            yield Contradiction(text, (one.name, other.name), True)


def _gap(one: Stated, other: Stated) -> float | None:
    """Return how far residuals stay apart that are multiples of each other, at most; else None."""
    factors, gaps = [], []
    for a, b in zip(one.linear, other.linear, strict=True):
        slopes = np.array([a.slopes[leaf] for leaf in one.leaves])
        others = np.array([b.slopes[leaf] for leaf in one.leaves])
        squares = np.einsum("ij,ij->j", others, others)
        if not squares.all():
            return None
        factor = np.einsum("ij,ij->j", slopes, others) / squares
        if np.abs(slopes - factor * others).max() > _ROUNDING * np.abs(slopes).max():
            return None
        factors.append(factor)
        gaps.append(a.value - factor * b.value)
        sizes = [slope * a.leaves[leaf] for leaf, slope in zip(one.leaves, slopes, strict=True)]
        rounding = _ROUNDING * max(np.abs(sizes).max(), np.abs(a.value).max())
    # Of multiples by a factor that the unknowns change, each may vanish where the other does.
    if np.ptp(factors, axis=0).max() > _ROUNDING * np.abs(factors).max():
        return None
    if np.ptp(gaps, axis=0).max() > rounding:
        return None
    worst = float(np.abs(gaps[0]).max())
    return worst if worst > rounding else None


def _disagreeing(statement: Statement) -> Iterator[Contradiction]:
    hard = {c.name for c in statement.conditions} - {r.name for r in statement.problem.residuals}
    simple = [c for c in statement.conditions if c.is_finite and _is_value(c)]
    for one, other in combinations(simple, 2):
        if one.leaves != other.leaves or {one.name, other.name} <= hard:
            continue
        found = _difference(statement, one, other)
        if found is None:
            continue
        point, a, b, is_edge = found
        same = _same_places(one, other) and not is_edge
        least = 0.0 if same else _IN_A_CORNER * _range(c for c in simple if c.leaves == one.leaves)
        if abs(a - b) > least:
            unknown = one.leaves[0]
            text = (
                f"{one.name} and {other.name} disagree where they meet: at "
                f"{statement.place(point)} the first gives {unknown} = {a:.6g}, the second "
                f"{unknown} = {b:.6g}; no continuous function has both"
            )
            names = sorted((one, other), key=lambda stated: -len(stated.planes))
            yield Contradiction(text, (names[0].name, names[1].name), same)


def _range(conditions: Iterable[Stated]) -> float:
    """Return how far apart the values are that conditions u = g give, as far as they are known."""
    given = [_given(one, one.linear) for one in conditions]
    known = np.concatenate([np.zeros(0), *(values for values in given if values is not None)])
    return float(np.ptp(known)) if len(known) else 0.0


def _unlike_at_ends(statement: Statement) -> Iterator[Contradiction]:
    """Yield periods of an unknown with the conditions whose values do not repeat."""
    simple = [c for c in statement.conditions if c.is_finite and _is_value(c)]
    for period in statement.conditions:
        if not period.is_finite or len(period.planes) != 1 or period.residual.whole:
            continue
        coordinate = period.planes[0].coordinate
        if period_order(period, coordinate) != 0 or not _is_repeated(period):
            continue
        column = statement.coordinates.index(coordinate)
        bounds = statement.problem.domain.bounds[coordinate]
        for one in simple:
            across = {plane.coordinate for plane in one.planes}
            if one.leaves != period.leaves[:1] or one.points.columns or coordinate in across:
                continue
            ends = []
            for bound in bounds:
                array = one.points.coordinates.copy()
                array[:, column] = bound
                ends.append(_given(one, statement.linear(one.residual, Points(array))))
            if not one.planes or any(end is None for end in ends):
                continue
            gaps = np.abs(ends[0] - ends[1])
            worst = int(gaps.argmax())
            if not gaps[worst] > _IN_A_CORNER * _range([one]):
                continue
            unknown, (low, high) = one.leaves[0], bounds
            text = (
                f"{one.name} and {period.name} disagree: the second makes {unknown} the same at "
                f"{coordinate} = {low:g} and {high:g}, and the first gives it "
                f"{ends[0][worst]:.6g} and {ends[1][worst]:.6g} there; no continuous function has "
                "both"
            )
            yield Contradiction(text, (period.name, one.name), False)


def _is_repeated(period: Stated) -> bool:
    """Return whether a condition is u(here) - u(there) = 0, with no factor and no jump."""
    return all(
        not np.any(state.slopes[here] + state.slopes[there])
        and np.allclose(
            state.value, state.slopes[here] * (state.leaves[here] - state.leaves[there]), atol=1e-12
        )
        for here, there in [period.leaves]
        for state in period.linear
    )


def _same_places(one: Stated, other: Stated) -> bool:
    """Return whether two conditions hold on a face of a coordinate that is the same for both."""
    places = [{(p.coordinate, p.value) for p in stated.planes} for stated in (one, other)]
    return bool(places[0] & places[1])


def _is_value(stated: Stated) -> bool:
    """Return whether a condition is about the value of one unknown at its points."""
    if len(stated.leaves) != 1 or stated.residual.whole:
        return False
    (leaf,) = stated.leaves
    return isinstance(leaf, Derivative) and not leaf.order


def _meeting(statement: Statement, first: Plane, second: Plane) -> np.ndarray | None:
    """Return points where two planes meet, (m, d); None where they do not seem to."""
    if first.coordinate == second.coordinate:
        return _in_both(first.points, second.points) if first.value == second.value else None
    points = first.points.copy()
    for plane, other in ((first, second), (second, first)):
        column = plane.points[:, statement.coordinates.index(other.coordinate)]
        margin = 0.2 * np.ptp(column)
        if not column.min() - margin <= other.value <= column.max() + margin:
            return None
    points[:, statement.coordinates.index(second.coordinate)] = second.value
    return points


def _in_both(first: np.ndarray, second: np.ndarray) -> np.ndarray | None:
    """Return points of two pieces of one plane that lie where both are; None where there is none.

    That is where points of both are next to each other: a piece may have several parts.
    """
    low, high = _shared(first, second)
    near = np.concatenate([_beside(first, second), _beside(second, first)])
    return None if (low > high).any() or not len(near) else np.clip(near, low, high)


def _lying_on(one: Stated, other: Stated) -> list[np.ndarray]:
    """Return the points of a condition at some places that lie on planes of another."""
    if one.planes:
        return []
    found = []
    for plane in other.planes:
        low, high = plane.points.min(axis=0), plane.points.max(axis=0)
        points = one.points.coordinates
        on = _beside(points[((low <= points) & (points <= high)).all(axis=1)], plane.points)
        found += [on] if len(on) else []
    return found


def _beside(points: np.ndarray, piece: np.ndarray) -> np.ndarray:
    """Return those of some points that lie among the points of a piece of a plane."""
    if not len(points):
        return points
    apart = np.abs(points[:, None] - piece).max(axis=2).min(axis=1)
    return points[apart <= _spacing(piece)]


def _spacing(piece: np.ndarray) -> float:
    """Return how far points of a piece of a plane are apart, or a little more."""
    extents = np.ptp(piece, axis=0)
    return 2 * float(extents.max()) / len(piece) ** (1 / max(1, np.count_nonzero(extents)))


def _edge(first: Plane, second: Plane) -> np.ndarray | None:
    """Return points from one piece of a plane to another that it touches; None for all else."""
    if (first.coordinate, first.value) != (second.coordinate, second.value):
        return None
    low, high = _shared(first.points, second.points)
    whole = float(np.ptp(np.concatenate([first.points, second.points]), axis=0).max())
    near = min(_TOUCHING * whole, _spacing(first.points) + _spacing(second.points))
    apart = low > high
    if not apart.any() or (low - high > near).any():
        return None
    across = np.linspace(0, 1, _ACROSS)[:, None]
    return np.where(apart, high + across * (low - high), (low + high) / 2)


def _shared(first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the bounding box of what two sets of points share: low > high where it is nothing."""
    low = np.maximum(first.min(axis=0), second.min(axis=0))
    return low, np.minimum(first.max(axis=0), second.max(axis=0))


def _difference(
    statement: Statement, one: Stated, other: Stated
) -> tuple[np.ndarray, float, float, bool] | None:
    """Return the place where two conditions differ most, their values there, whether it is an edge.

    An edge is where two pieces of a plane touch.
    """
    pairs = list(product(one.planes, other.planes))
    meetings = [m for pair in pairs if (m := _meeting(statement, *pair)) is not None]
    meetings += _lying_on(one, other) + _lying_on(other, one)
    edges = [m for pair in pairs if (m := _edge(*pair)) is not None]
    if meetings:
        points = np.concatenate(meetings)
        found = _apart(statement, one, other, points)
        if found is not None and found[2].any():
            values, gaps, _ = found
            worst = int(np.abs(gaps).argmax())
            return points[worst], values[0][worst], values[1][worst], False
    for points in edges:
        # just where it is is not known: somewhere from one piece to the other
        found = _apart(statement, one, other, points)
        if found is not None and found[2].all() and len(set(np.sign(found[1]))) == 1:
            middle = len(points) // 2
            return points[middle], found[0][0][middle], found[0][1][middle], True
    return None


def _apart(
    statement: Statement, one: Stated, other: Stated, points: np.ndarray
) -> tuple[list[np.ndarray], np.ndarray, np.ndarray] | None:
    """Return what two conditions give at points, the differences, and which are no rounding."""
    if one.points.columns or other.points.columns:
        return None  # what is attached to points is known at those alone
    values, sizes = [], []
    for stated in (one, other):
        found = statement.linear(stated.residual, Points(points))
        given, usual = _given(stated, found), _given(stated, stated.linear)
        if given is None or usual is None:
            return None
        values.append(given)
        sizes.append(np.abs(usual).max())
    gaps = values[0] - values[1]
    return values, gaps, np.abs(gaps) > _DISAGREE * max(*sizes, np.abs(values).max())


def _given(stated: Stated, found: tuple[Linear, ...] | None) -> np.ndarray | None:
    """Return what a condition u = g gives u; None where it is of another form."""
    (leaf,) = stated.leaves
    if found is None or not all(one.is_finite and np.all(one.slopes[leaf]) for one in found):
        return None
    given = [one.leaves[leaf] - one.value / one.slopes[leaf] for one in found]
    # Other states are other unknowns and coefficients: g depends on neither.
    if np.ptp(given, axis=0).max() > 1e-12 + 1e-12 * np.abs(given).max():
        return None
    return given[0]


def _held_coordinates(statement: Statement) -> Iterator[str]:
    time = statement.problem.domain.time
    if time is None:
        return
    j = statement.coordinates.index(time)
    low, high = statement.problem.domain.bounds[time]
    for condition in statement.conditions:
        array = condition.points.coordinates
        if not condition.is_finite or condition.residual.whole or not np.all(array[:, j] == low):
            continue
        moved = array.copy()
        moved[:, j] = low + 0.37 * (high - low)
        found = statement.linear(
            condition.residual, Points(moved, condition.points.columns)
        )
        if found is None or np.array_equal(found[0].value, condition.linear[0].value):
            continue
        yield (
            f"the value of {condition.name} changes with {time}, but the condition holds at "
            f"{time} = {low:g} alone, where it is taken; write it without {time} if that is meant"
        )


def unbounded(statement: Statement) -> list[str]:
    """Return a sentence for each condition on a value that is infinite on the domain's edge.

    Points of training lie inside, and see values that grow without end towards it. What has no
    value there, as sin(x)/x, may have a limit: nothing is said of it.
    """
    sentences = []
    domain = statement.problem.domain
    for one in statement.conditions:
        if not (one.is_finite and _is_value(one)) or one.points.columns:
            continue
        for j, bounds in enumerate(domain.bounds.values()):
            if not np.ptp(one.points.coordinates[:, j]):
                continue
            for bound in bounds:
                points = one.points.coordinates.copy()
                points[:, j] = bound
                points = points[domain.contains(points)]
                found = statement.linear(one.residual, Points(points)) if len(points) else None
                if found is not None and all(np.isinf(state.value).any() for state in found):
                    worst = points[int(np.isinf(found[0].value).argmax())]
                    sentences.append(
                        f"{one.residual.what} has an infinite value at {statement.place(worst)}, "
                        "on the edge of the domain, which no network has; begin beside it, or "
                        "look for what is bounded"
                    )
    return list(dict.fromkeys(sentences))


def not_finite(statement: Statement, training: Sequence[tuple[Stated, Points]]) -> list[str]:
    """Return a sentence for each residual that has no finite value at some of its points.

    training: residuals with the points that they are trained on. Told are points where the residual
    is not finite in any state, while it is in every state elsewhere: the point is to blame, not
    the values of the unknowns.
    """
    sentences = []
    for stated, points in training:
        found = statement.linear(stated.residual, points)
        if found is None:
            continue
        finite = np.array([np.isfinite(one.value) for one in found])
        bad = np.flatnonzero(~finite.any(axis=0))
        if bad.size and finite.all(axis=0).any():
            sentences.append(
                f"{stated.residual.what} is not finite at {bad.size} of its {len(points)} points, "
                f"first at {statement.place(points.coordinates[bad[0]])}"
            )
    return sentences
