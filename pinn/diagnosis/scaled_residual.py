"""How well the equations and conditions hold after training, whatever their scale."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from pinn.diagnosis.adapted.layered import layers_of
from pinn.diagnosis.adapted.thin_layers import TOO_THIN, thinnest
from pinn.diagnosis.posed.linear import Leaf, Linear, is_local, linear
from pinn.diagnosis.text_scales import text_scales
from pinn.equations.leaves import At, Derivative, Laplacian, parts_of
from pinn.equations.values import ModelValues
from pinn.problem import Problem
from pinn.residuals import Interior, Measured, Residual, Source, judged
from pinn.sampling import Points, Sampling, stream
from pinn.solution.solution import Solution

LARGE = 0.04

# What is left of data of whose noise nothing is said may well be noise up to this share.
_NOISE = 0.3
# Noise that is told may bring sums of squares larger by so many of their standard deviations.
_DEVIATIONS = 3.0
# An unknown counts as varying by this share of its size at least.
_CONSTANT = 1e-2
# An unknown counts as making this share of each equation at least.
_LEAST_SHARE = 1e-3

# So many values from elsewhere are taken for an equation, but at so many points at least.
_ELSEWHERE, _FEWEST = 200_000, 50

_SAMPLING = Sampling(interior=1000, initial=400, boundary=400)


def scaled_residuals(solution: Solution) -> dict[str, float]:
    """Return how far each equation and soft condition is from holding: 0 is exactly, 1 not at all.

    Taken at fresh points, one set for all residuals of a source, and the same in any units of
    coordinates, unknowns and equation. With S the sum of the sizes of the terms at a point (for
    each leaf the leaf times the slope of r in it, and what is left, such as a source; a Laplacian
    counts as the derivatives that it is the sum of), an equation has the geometric mean of

        rms |r| / rms S, which tells of a layer that was not found, and
        rms (|r| / S), which tells of a field that died out, where everything is small.

    A condition has rms |r| over the size of its terms, with the rms of the unknown inside for the
    unknown: where u = 0 is asked for, u itself would be no measure. Nor is a derivative where it
    should vanish everywhere, as dn(u) does along a channel: it counts at least as that of half a
    wave across the domain as large as u varies inside, and so do the terms of an equation without a
    source. An unknown that should vanish everywhere, as the flow across a channel does, counts at
    least as so much as makes its terms a thousandth of every equation. Of data whose noise is known
    only what is beyond what such noise may bring counts. A sum of values from elsewhere, as an
    integral is, is one term. What cannot be told is left out: functions that need more than values,
    and conditions with values from elsewhere.
    """
    fields = _Fields(solution)
    with np.errstate(all="ignore"):
        found = {
            residual.name: (_of_equation if fields.is_equation(residual) else _of_condition)(
                fields, residual
            )
            for residual in solution.problem.residuals
        }
    return {name: share for name, share in found.items() if share is not None}


def term_sizes(solution: Solution) -> dict[str, float]:
    """Return the rms of the sizes of each residual's terms: what it would be, did it not hold.

    The terms, the points and what is left out are those of `scaled_residuals`, which looks at each
    point as well; this is what the loss is to be compared with.
    """
    fields = _Fields(solution)
    with np.errstate(all="ignore"):
        found = {
            residual.name: _size_of_terms(fields, residual)
            for residual in solution.problem.residuals
        }
    return {name: size for name, size in found.items() if size is not None}


def natural_sizes(solution: Solution) -> dict[str, float]:
    """Return the size with which each unknown counts in its equations as much as all else.

    The least of its equations: there a wave of this size, half of it across the domain, makes terms
    as large as those of the others at fresh points (those of `scaled_residuals`). For an unknown
    that should vanish, as the flow across a channel does, it is what an error of it is measured by.
    Left out are unknowns of which no equation tells one.
    """
    fields = _Fields(solution)
    with np.errstate(all="ignore"):
        sizes = {name: fields.natural(name) for name in solution.problem.outputs}
    return {name: size for name, size in sizes.items() if 0 < size < math.inf}


def unsolved(
    residuals: Mapping[str, float], windows: bool = False, problem: Problem | None = None
) -> str | None:
    """Return a sentence where some of the scaled residuals are large, else None.

    windows: whether the problem, which is looked at for layers and for what its text says to be
    fine (pinn.diagnosis.text_scales), can go through windows of time.
    Large is 0.04 and more. Of 56 runs on 14 problems, two seeds each, cut short or not
    (Lotka-Volterra and van der Pol to T = 10 and 20, advection with c = 5, 30 and 50, Burgers,
    heat, wave, Poisson, Helmholtz, convection-diffusion, oscillator), 37 ended with a relative
    error of 0.09 or more, and all but one of them (0.25) had it; none of the others, up to 0.051,
    did. It is a hint: a small error in phase, or in where a layer stands, leaves a small residual.
    What is left of data whose noise is not told counts for noise alone, up to 0.3.
    """
    large = {name: value for name, value in residuals.items() if not value < LARGE}
    untold = _of_untold_noise(problem) if problem is not None else set()
    if all(name in untold and value < _NOISE for name, value in large.items()):
        return None
    shown = ", ".join(f"{name} ({value:.2g})" for name, value in large.items())
    easier = "a continuation from easier constants"
    if problem is not None:
        easier = _for_layers(problem) or easier
    told = (
        "the problem does not seem to be solved: relative to the size of its terms, the residual "
        f"of {shown} is large, {LARGE:g} or more; more training, more points,"
        f"{' windows of time,' * windows} {easier} or other weights may help"
    )
    besides = text_scales(problem) if problem is not None else []
    if untold & large.keys():
        besides.insert(
            0, f"what is left of {', '.join(name for name in large if name in untold)} may be "
            "noise: say how large that is (sigma of pinn.Data), and only what is beyond it counts"
        )  # fmt: skip
    return ". Besides, ".join([told, *besides])


def _of_untold_noise(problem: Problem) -> set[str]:
    """Return the names of data of whose noise nothing is said."""
    return {
        one.name for one in problem.residuals
        if isinstance(one.source, Measured) and not one.source.told
    }  # fmt: skip


def _for_layers(problem: Problem) -> str | None:
    """Say what finds the thin layers of a problem, None where it has none."""
    thin = thinnest(problem)
    if thin is None or thin.width >= TOO_THIN:
        return None
    here = f"here they are {thin.width:.1g} of the domain"
    along_walls = {} if problem.layers else layers_of(problem)
    if along_walls:
        shown = {
            name: [side and (side[0] if len(side) == 1 else [*side]) for side in sides]
            for name, sides in along_walls.items()
        }
        return f"layers that the problem states ({here}: layers={shown})"
    if not thin.constant:
        here += "; write the small factor as a constant, and it is gone through by itself"
    return f"a continuation from thicker layers ({here})"


class _Fields:
    """The unknowns and derivatives of a solution at the points of each source.

    All that the residuals ask for at a source comes from one run of the network; what a function
    asks for is only known when it does.
    """

    def __init__(self, solution: Solution) -> None:
        self._solution = solution
        self._inside = Interior(solution.problem.domain)
        self._asked: dict[Source, dict[Leaf, None]] = {self._inside: {}}
        self._points: dict[Source, Points] = {}
        self._values: dict[Source, dict[Leaf, np.ndarray]] = {}
        for residual in solution.problem.residuals:
            elsewhere = not self.is_equation(residual)
            local = [leaf for leaf in residual.leaves or () if is_local(leaf, elsewhere)]
            leaves = [part for leaf in local for part, _ in self._parts(leaf)]
            self._asked.setdefault(residual.source, {}).update(dict.fromkeys(leaves))
            unknowns = [Derivative(leaf.unknown) for leaf in leaves]
            inside = unknowns if self.is_equation(residual) else [*leaves, *unknowns]
            self._asked[self._inside].update(dict.fromkeys(inside))
        for number, source in enumerate(self._asked):
            rng = stream(solution.experiment.seed, "scaled residual", str(number))
            self._points[source] = source.draw(_SAMPLING, rng)
            self._values[source] = {}

    def is_equation(self, residual: Residual) -> bool:
        return residual.name in self._solution.problem.equations

    @functools.cache  # noqa: B019 - one solution's, gone with it
    def linear(self, residual: Residual) -> Linear | None:
        """Return the residual of the solution at the points of its source."""
        found = self._linear(residual, self._points[residual.source])
        if found is None and self.is_equation(residual) and not residual.whole:
            found = self._linear_by_model(residual)
        return found if found is not None and found.is_finite else None

    def _linear(
        self, residual: Residual, points: Points, model: ModelValues | None = None
    ) -> Linear | None:
        return linear(
            residual, self._solution.problem.scope, points,
            lambda leaf, n: self._value(residual.source, leaf)[:n], self._solution.parameters,
            elsewhere=not self.is_equation(residual), model=model,
        )  # fmt: skip

    def _linear_by_model(self, residual: Residual) -> Linear | None:
        """Return an equation with values from elsewhere, at so many points as have few of them."""
        points = self._points[residual.source]
        one = points[:1]
        model = self._solution.model_values(one.coordinates)
        if self._linear(residual, one, model) is None:
            return None
        points = points[: max(_FEWEST, int(_ELSEWHERE / model.spread))]
        return self._linear(residual, points, self._solution.model_values(points.coordinates))

    def parts(
        self, residual: Residual, found: Linear
    ) -> dict[Leaf, tuple[np.ndarray, np.ndarray]]:
        """Return the slope of a residual in each unknown and single derivative, and its values."""
        parts: dict[Leaf, tuple[np.ndarray, np.ndarray]] = {}
        for leaf, slope in found.slopes.items():
            if not is_local(leaf, not self.is_equation(residual)):
                parts[leaf] = slope, found.leaves[leaf]
                continue
            for part, count in self._parts(leaf):
                values = self._value(residual.source, part)[: len(slope)]
                before, _ = parts.get(part, (0.0, values))
                parts[part] = before + count * slope, values
        # A function may name what it does not use: s.laplacian(s.u) names u.
        return {leaf: part for leaf, part in parts.items() if np.any(part[0])}

    def usual(self, leaf: Leaf) -> float:
        """Return the size of an unknown or a derivative inside the domain, see half_wave."""
        least = self._least(_at(leaf).unknown) * self._waves(leaf)
        return max(_rms(self._value(self._inside, leaf)), self.half_wave(leaf), least)

    def _least(self, unknown: str) -> float:
        """Return how large an unknown is that makes a thousandth of every equation it is in."""
        return _LEAST_SHARE * self.natural(unknown)

    @functools.cache  # noqa: B019 - one solution's, gone with it
    def natural(self, unknown: str) -> float:
        """Return how large an unknown is that makes as much as all else of one of its equations.

        0 where no equation tells.
        """
        bounds = []
        for residual in self._solution.problem.residuals:
            found = self.linear(residual) if self.is_equation(residual) else None
            if found is None:
                continue
            parts = self.parts(residual, found)
            own = {leaf: part for leaf, part in parts.items() if _at(leaf).unknown == unknown}
            slopes = sum(
                _rms(_over_nodes(np.abs(slope))) * self._waves(leaf)
                for leaf, (slope, _) in own.items()
            )
            if slopes:
                terms = [_over_nodes(slope * values) for slope, values in parts.values()]
                sizes = sum(map(np.abs, terms)) + np.abs(found.value - sum(terms))
                bounds.append(max(_rms(sizes), self.least_terms(parts)) / slopes)
        return min(bounds, default=0.0)

    def is_without_source(self, residual: Residual) -> bool:
        """Return whether an equation holds where all is zero."""
        points = self._points[residual.source][:_FEWEST]
        nothing = linear(
            residual, self._solution.problem.scope, points, lambda leaf, n: np.zeros(n),
            self._solution.parameters,
        )  # fmt: skip
        return nothing is not None and not np.any(nothing.value)

    def least_terms(self, parts: Mapping[Leaf, tuple[np.ndarray, np.ndarray]]) -> float:
        """Return the size of the largest term that is the derivative of half a wave."""
        return max(
            (_rms(_over_nodes(np.abs(slope))) * self.half_wave(leaf)
             for leaf, (slope, _) in parts.items()),
            default=0.0,
        )  # fmt: skip

    def half_wave(self, leaf: Leaf) -> float:
        """Return the size of a derivative of half a wave, as large as the unknown varies; 0 for u.

        Of a function of one coordinate the slope has at least this size (Poincare, Wirtinger).
        """
        at = _at(leaf)
        if not at.order:
            return 0.0
        unknown = self._value(self._inside, Derivative(at.unknown))
        return max(float(np.std(unknown)), _CONSTANT * _rms(unknown)) * self._waves(leaf)

    def _waves(self, leaf: Leaf) -> float:
        """Return what half a wave across the domain is multiplied by in a derivative."""
        bounds = self._solution.problem.domain.bounds
        names = _at(leaf).coordinates
        return math.prod(math.pi / (bounds[name][1] - bounds[name][0]) for name in names)

    def _parts(self, leaf: Leaf) -> Iterator[tuple[Leaf, float]]:
        """Yield the derivatives that a leaf is the sum of, each with its count."""
        bare = _at(leaf)
        if not isinstance(bare, Laplacian):
            yield leaf, 1.0
            return
        scope = self._solution.problem.scope
        for names, count in parts_of(bare, scope.space):
            if not set(names) <= set(scope.inputs_of(bare.unknown)):
                continue  # of a field that is none of it
            part = Derivative(bare.unknown, names)
            yield (replace(leaf, leaf=part) if isinstance(leaf, At) else part), count

    def _value(self, source: Source, leaf: Leaf) -> np.ndarray:
        parts = dict(self._parts(leaf))
        if leaf not in parts:
            total = np.zeros(len(self._points[source]))
            return sum((n * self._value(source, part) for part, n in parts.items()), total)
        known = self._values[source]
        if leaf not in known:
            leaves = dict.fromkeys([leaf, *self._asked[source]])
            names = self._solution.problem.domain.coordinates
            columns = zip(names, self._points[source].coordinates.T, strict=True)
            values = self._solution.derivatives(map(str, leaves), **dict(columns))
            known.update(zip(leaves, values, strict=True))
        return known[leaf]


def _of_equation(fields: _Fields, residual: Residual) -> float | None:
    found = fields.linear(residual)
    if found is None:
        return None
    sizes = _terms_of_equation(fields, residual, found)
    places = np.divide(np.abs(found.value), sizes, out=np.zeros_like(sizes), where=sizes > 0)
    return float(np.sqrt(_share(_rms(found.value), _rms(sizes)) * _rms(places)))


def _terms_of_equation(fields: _Fields, residual: Residual, found: Linear) -> np.ndarray:
    """Return the sum of the sizes of an equation's terms at each point, (n,)."""
    parts = fields.parts(residual, found)
    terms = [_over_nodes(slope * values) for slope, values in parts.values()]
    sizes = sum(map(np.abs, terms)) + np.abs(found.value - sum(terms))
    if fields.is_without_source(residual):
        sizes = sizes + max(0.0, fields.least_terms(parts) - _rms(sizes))
    return sizes


def _of_condition(fields: _Fields, residual: Residual) -> float | None:
    found = fields.linear(residual)
    if found is None:
        return None
    size = _terms_of_condition(fields, residual, found)
    return _share(_beyond_noise(residual, found.value), size)


def _terms_of_condition(fields: _Fields, residual: Residual, found: Linear) -> float:
    """Return the rms of the sizes of a condition's terms."""
    parts = fields.parts(residual, found)
    terms = sum(slope * values for slope, values in parts.values())
    usual = sum(
        _rms(_rows(residual, np.abs(slope))) * fields.usual(leaf)
        for leaf, (slope, _) in parts.items()
    )
    return usual + _rms(found.value - _rows(residual, terms))


def _size_of_terms(fields: _Fields, residual: Residual) -> float | None:
    found = fields.linear(residual)
    if found is None:
        return None
    if fields.is_equation(residual):
        return _rms(_terms_of_equation(fields, residual, found))
    return _terms_of_condition(fields, residual, found)


def _beyond_noise(residual: Residual, rows: np.ndarray) -> float:
    """Return the rms of rows but for what noise may bring: the square root of what is more."""
    mine = judged(residual, rows)
    brought = mine.most_of_noise(residual.source.noise or 0.0, _DEVIATIONS)
    return math.sqrt(max(mine.rms**2 - brought, 0.0))


def _at(leaf: Leaf) -> Derivative | Laplacian:
    return leaf.leaf if isinstance(leaf, At) else leaf


def _over_nodes(array: np.ndarray) -> np.ndarray:
    """Return the sum over the nodes of integrals, which come before the points; (n,)."""
    return array.reshape(-1, array.shape[-1]).sum(axis=0)


def _rows(residual: Residual, array: np.ndarray) -> np.ndarray:
    """Return the sums of what belongs to points over the points of each row."""
    return array if residual.nodes is None else array.reshape(-1, residual.nodes).sum(axis=1)


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _rms(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(np.square(values))))
