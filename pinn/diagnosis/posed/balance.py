"""Whether what flows through the boundary is what the equation makes inside."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np

from pinn.diagnosis.posed.statement import Stated, Statement
from pinn.equations.leaves import At, Derivative, parts_of
from pinn.equations.names import normal_name
from pinn.geometry import Face, Part
from pinn.residuals import (
    WEIGHT,
    Boundary,
    Interior,
    Nodes,
    Residual,
    narrow,
    space_of,
    usual_nodes,
)
from pinn.sampling import Points, Sampling, stream

# Above the error of the quadrature for smooth data on a box; on other shapes it is 1e-3.
_UNBALANCED = 1e-2
# An imbalance that is not so many times what twice the nodes change may be that of the quadrature,
# as of a profile with steps.
_SURE = 5.0
# Nodes miss what is in a smaller share of a part.
_NARROW = 0.05
_ROUNDING = 1e-9
# Times, or members of a family, that are looked at.
_TIMES = 5


class _Totals(NamedTuple):
    """What an equation makes inside, what flows out, and the sizes of both together, (times,)."""

    made: np.ndarray
    flow: np.ndarray
    size: np.ndarray

    @property
    def rest(self) -> np.ndarray:
        return self.made + self.flow


class _Unlike(NamedTuple):
    """Totals that do not balance: those furthest apart for their size, and when that is."""

    made: float
    flow: float
    when: str


def _unlike(statement: Statement, totals: Callable[[bool], _Totals]) -> _Unlike | None:
    """Return totals that do not balance; None where they do, or nodes do not tell.

    totals: by the nodes of an integral, and by twice as many of them.
    """
    few, many = totals(False), totals(True)
    rest = np.abs(many.rest)
    sure = (rest > _UNBALANCED * many.size) & (rest > _SURE * np.abs(many.rest - few.rest))
    if not sure.any():
        return None
    worst = int(np.argmax(np.where(sure, rest / np.where(many.size > 0, many.size, 1), 0.0)))
    domain = statement.problem.domain
    nodes = _nodes(statement, None, False)
    places = nodes.coordinates[:: len(nodes) // len(rest)]
    when = ", ".join(
        f"{name} = {value:.4g}"
        for name, value in zip(domain.coordinates, places[worst], strict=True)
        if name not in domain.space
    )
    return _Unlike(float(many.made[worst]), float(many.flow[worst]), f", at {when}" * bool(when))


def _is_everywhere(equation: Stated) -> bool:
    """Return whether an equation holds in the whole domain, which it is integrated over."""
    return isinstance(equation.residual.source, Interior)


def _is_seen(statement: Statement, stated: Iterable[Stated]) -> bool:
    """Return whether nodes meet all that is known in some residuals."""
    constants = statement.problem.constants
    return all(part.share > _NARROW for one in stated for part in narrow(one.residual, constants))


def unbalanced(statement: Statement) -> Iterator[str]:
    """Yield a sentence for each equation whose source does not leave through the boundary.

    Of c*laplacian(u) + f = 0 with dn(u) = g on all of the boundary, the integral of f over the
    domain and c times that of g over the boundary have to cancel (Gauss). A period counts as a
    boundary without a flux. In time that holds at each one. Nothing is said of other equations.
    """
    domain = statement.problem.domain
    if not domain.space:
        return
    for equation in statement.equations:
        factor = _laplacian_factor(statement, equation)
        if factor is None or not _is_everywhere(equation):
            continue
        unknown = equation.leaves[0].unknown
        if sum(unknown in {leaf.unknown for leaf in e.leaves} for e in statement.equations) > 1:
            continue
        slopes = {c.name: c for c in statement.conditions if _is_slope(statement, c, unknown)}
        closed = {part for c in statement.conditions for part in _period(statement, c, unknown)}
        through = [part for c in slopes.values() for part in c.residual.source.parts]
        given = closed | set(through)
        if given != set(domain.parts) or len(set(through)) < len(through):
            continue

        def totals(finer: bool, one=equation, through=slopes, factor=factor) -> _Totals:
            made, size = _integral(statement, one.residual, None, finer)
            flow = np.zeros(len(made))
            for condition in through.values():
                parts = condition.residual.source.parts
                value, other = _integral(statement, condition.residual, parts, finer)
                flow, size = flow - factor * value, size + abs(factor) * other
            return _Totals(made, flow, size)

        found = _unlike(statement, totals)
        if found is not None and _is_seen(statement, [equation, *slopes.values()]):
            names = ", ".join(slopes) or "the periods"
            yield (
                f"{equation.residual.what} and {names} contradict each other: integrated over the "
                f"domain, the equation asks for {-found.made / factor:.6g} as the integral of "
                f"dn({unknown}) over the boundary, and the conditions give "
                f"{found.flow / factor:.6g}{found.when}; no function can satisfy both"
            )


def unbalanced_flow(statement: Statement) -> Iterator[str]:
    """Yield a sentence for each divergence whose flow the conditions do not let come out.

    Of a*u_x + b*v_y + f = 0, with a and b constant, the integral of f over the domain and that of
    (a u, b v) along the normal over the boundary have to cancel (Gauss), as those of mass do.
    Looked at where conditions give the values of that flow on all of the boundary; in time that
    holds at each one.
    """
    domain = statement.problem.domain
    if len(domain.space) < 2:
        return
    for equation in statement.equations:
        factors = _divergence(statement, equation)
        if factors is None or not _is_everywhere(equation):
            continue
        giving: dict[str, Stated] = {}
        if any(_through(statement, part, factors, giving) is None for part in domain.parts):
            continue

        def totals(finer: bool, one=equation, factors=factors) -> _Totals:
            made, size = _integral(statement, one.residual, None, finer)
            through = [_through(statement, part, factors, {}, finer) for part in domain.parts]
            flows, sizes = zip(*through, strict=True)
            return _Totals(made, sum(flows), size + sum(sizes))

        found = _unlike(statement, totals)
        if found is not None and _is_seen(statement, [equation, *giving.values()]):
            yield (
                f"{equation.residual.what} and {', '.join(giving)} contradict each other: "
                "integrated over the domain, the equation asks for a flow of "
                f"{0.0 - found.made:.6g} out of the boundary, and the conditions give "
                f"{found.flow:.6g}{found.when}; no functions can satisfy all of them"
            )


def _divergence(statement: Statement, equation: Stated) -> dict[str, tuple[str, float]] | None:
    """Return unknown and factor by coordinate of an equation that is a divergence; else None."""
    space = statement.problem.domain.space
    if not equation.is_finite or equation.linear[0].coefficients:
        return None
    found = {}
    for leaf in equation.leaves:
        slopes = np.concatenate([state.slopes[leaf] for state in equation.linear])
        alone = isinstance(leaf, Derivative) and leaf.order == 1
        if not alone or np.ptp(slopes) > _ROUNDING * np.abs(slopes).max():
            return None
        found[leaf.coordinates[0]] = leaf.unknown, float(slopes[0])
    unknowns = {unknown for unknown, _ in found.values()}
    whole = found.keys() == set(space) and len(equation.leaves) == len(unknowns) == len(space)
    return found if whole else None


def _through(
    statement: Statement,
    part: Part,
    factors: dict[str, tuple[str, float]],
    giving: dict[str, Stated],
    finer: bool = False,
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the flow out of a part, and that of its size; None where no conditions give it.

    giving: takes the conditions by name. finer: with twice the nodes.
    """
    points = _nodes(statement, (part,), finer)
    flow = np.zeros(len(points))
    for name, (unknown, factor) in factors.items():
        normal = points.columns[normal_name(name)]
        if not normal.any():
            continue
        given = [c for c in statement.conditions if _gives(c, unknown, part)]
        if len(given) != 1:
            return None
        found = statement.linear(given[0].residual, Points(points.coordinates))
        if found is None or not found[0].is_finite:
            return None
        flow += factor * normal * -found[0].rest / found[0].slopes[Derivative(unknown)]
        giving[given[0].name] = given[0]
    return _sums(statement, points, flow)


def _gives(condition: Stated, unknown: str, part: Part) -> bool:
    """Return whether a condition gives the value of an unknown, and that alone, on a part."""
    source = condition.residual.source
    if not isinstance(source, Boundary) or part not in source.parts or condition.residual.whole:
        return False
    return (
        condition.is_finite
        and condition.leaves == (Derivative(unknown),)
        and not condition.points.columns
        and not condition.linear[0].coefficients
        and bool(np.all(condition.linear[0].slopes[Derivative(unknown)]))
    )


def _laplacian_factor(statement: Statement, equation: Stated) -> float | None:
    """Return c of an equation c*laplacian(u) + f(x) = 0; None for another."""
    unknowns = {leaf.unknown for leaf in equation.leaves}
    if len(unknowns) != 1 or not equation.is_finite or equation.linear[0].coefficients:
        return None
    space = statement.problem.domain.space
    sums: dict[tuple[str, ...], np.ndarray] = {}
    for leaf in equation.leaves:
        slopes = np.concatenate([state.slopes[leaf] for state in equation.linear])
        for names, count in parts_of(leaf, space):
            sums[names] = sums.get(names, 0.0) + count * slopes
    factors = np.array([sums.pop((name, name), np.zeros(1))[0] for name in space])
    every = [np.zeros(1), *sums.values()]
    if any(np.any(one) for one in every) or not factors.all():
        return None
    varies = max(
        np.ptp(np.concatenate([state.slopes[leaf] for state in equation.linear]))
        for leaf in equation.leaves
    )
    spread = max(varies, float(np.ptp(factors)))
    return float(factors[0]) if spread <= _ROUNDING * np.abs(factors).max() else None


def _is_slope(statement: Statement, condition: Stated, unknown: str) -> bool:
    """Return whether a condition is dn(u) = g on parts of the boundary."""
    source = condition.residual.source
    if not isinstance(source, Boundary) or not source.normals or not condition.is_finite:
        return False
    if condition.linear[0].coefficients:
        return False  # trained, so that it may come right
    space = statement.problem.domain.space
    asked = {Derivative(unknown, (name,)): normal_name(name) for name in space}
    if not condition.leaves or set(condition.leaves) - asked.keys():
        return False
    return all(
        np.array_equal(state.slopes.get(leaf, 0.0), condition.points.columns[name])
        or (leaf not in state.slopes and not np.any(condition.points.columns[name]))
        for state in condition.linear
        for leaf, name in asked.items()
    )


def _period(statement: Statement, condition: Stated, unknown: str) -> tuple[Part, ...]:
    """Return the two faces between which a condition makes the slope repeat."""
    domain = statement.problem.domain
    if not condition.is_finite or len(condition.leaves) != 2:
        return ()
    here, there = condition.leaves
    if not isinstance(there, At) or there.leaf != here or here.unknown != unknown:
        return ()
    (first, *_) = condition.linear
    faces = [p for p in domain.parts if isinstance(p, Face) and p.coordinate in there.names]
    repeats = isinstance(here, Derivative) and here.coordinates == there.names
    if not repeats or np.any(first.slopes[here] + first.slopes[there]):
        return ()
    return tuple(faces)


def _integral(
    statement: Statement, residual: Residual, parts: tuple[Part, ...] | None, finer: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return the integral of what a residual has besides its leaves, and that of its size."""
    points = _nodes(statement, parts, finer)
    columns = {name: points.columns[name] for name in points.columns if name != WEIGHT}
    (found, *_) = statement.linear(residual, Points(points.coordinates, columns))
    return _sums(statement, points, found.rest)


def _sums(
    statement: Statement, points: Points, values: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the sums of values at nodes by their weights, and of their sizes, (times,) each."""
    domain = statement.problem.domain
    times = 1 if domain.coordinates == domain.space else _TIMES
    weighted = (points.columns[WEIGHT] * values).reshape(times, -1)
    return weighted.sum(axis=1), np.abs(weighted).sum(axis=1)


def _nodes(statement: Statement, parts: tuple[Part, ...] | None, finer: bool) -> Points:
    """Return the nodes of an integral over a domain or parts of its boundary; finer: twice them."""
    domain = statement.problem.domain
    across = len(domain.space) - (parts is not None)
    count = 2 * usual_nodes(across) if finer and across else None
    if parts is not None:  # those of space alone, whose labels are theirs
        own = {part.label: part for part in space_of(domain).parts}
        parts = tuple(own[part.label] for part in parts)
    return Nodes(domain, parts, count, _TIMES).draw(Sampling(), stream(0, "balance"))
