"""The points of every block: drawn once, drawn anew, and by what."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pinn.equations.functions import NUMPY_FUNCTIONS
from pinn.equations.term import Term
from pinn.equations.values import Values
from pinn.objective import Objective
from pinn.objective.block_weights import check_blocks
from pinn.problem import Problem
from pinn.residuals import Residual, Source, narrow
from pinn.sampling import (
    ADAPTIVE,
    BlockSampling,
    Density,
    Draw,
    Points,
    Sampling,
    stream,
    thinned,
)
from pinn.schema.errors import at, refuse
from pinn.training.points.redraw import Redraw, RedrawOverfit, grown_count

Residuals = Callable[[Mapping[str, Points]], Mapping[str, np.ndarray]]
"""(block name -> points) -> the residuals there, (n,), by name."""

# Points at least that a run is judged at.
_LEAST_FRESH = 200


@dataclass(frozen=True)
class _Place:
    """Some blocks with one source and equal settings, which share their points."""

    names: tuple[str, ...]
    source: Source
    settings: Sampling
    own: object = None


class Collocation:
    """Where the points of a problem's blocks are, for a sampling and a seed.

    Raises ValueError, naming the key of the sampling, for what does not fit the problem.
    """

    def __init__(self, problem: Problem, sampling: Sampling, seed: int) -> None:
        self._problem = problem
        self._seed = seed
        self._terms: dict[str, Term] = {}
        with at("sampling"):
            self._sampling = sampling.resolved(
                len(problem.domain.coordinates), bool(problem.functions)
            )
            with at("blocks"):
                check_blocks(problem, sampling.blocks)
                for residual in problem.residuals:
                    with at(residual.name):
                        self._check_block(residual)
            self._places = self._find_places()
            for place in self._places:
                if place.settings.density is not None:
                    with at("density"):
                        self._term(place.settings.density)

    @property
    def batches(self) -> dict[str, int]:
        """The points of a step of those blocks that do not take all of theirs, by name."""
        found = {n: p.settings.batch for p in self._places for n in p.names}
        whole = {residual.name for residual in self._problem.residuals if residual.whole}
        return {n: batch for n, batch in found.items() if batch is not None and n not in whole}

    @property
    def redraw(self) -> int | str | None:
        """The steps after which points are drawn anew, "auto", or None for never."""
        return self._sampling.redraw

    def draw(
        self,
        number: int = 0,
        residuals: Residuals | None = None,
        present: Mapping[str, Points] | None = None,
        grown: Mapping[str, int] | None = None,
    ) -> dict[str, Points]:
        """Return the points of every block of a draw counted from 0.

        Blocks with equal sources and settings get the same points. Each draw of each source has a
        stream of its own: the same number gives the same points. residuals: where sampling is
        adaptive, gives those at other points of some blocks; without it the points do not depend on
        the model. present: the points until now, the first draw's where left out; of these the
        share `keep` stays. grown: how often the numbers of points have grown, by block.
        """
        drawn = {}
        for place in self._places:
            first = place.names[0]
            there = self._there(place, number, (present or {}).get(first))
            kept, missing = self._kept(place, number, there, grown or {})
            rng = stream(self._seed, "points", first, str(number))
            if residuals is None or missing.settings.adaptive is None:
                points = self._by_method(missing, rng)
            else:
                points = self._adaptive(missing, residuals, there, rng)
            points = points if kept is None else Points.joined([kept, points])
            drawn.update(dict.fromkeys(place.names, points))
        return {residual.name: drawn[residual.name] for residual in self._problem.residuals}

    def fresh(self, name: str) -> dict[str, Points]:
        """Return uniform random points of every block, from a stream.

        As many as training has, and 200 at least: what happens between a few points is not seen at
        as many others. What is known to be in a place that so many hardly meet has some of its own;
        those that judge a run only in time alone, where windows can follow it.
        """
        found, whole = {}, {one.name for one in self._problem.residuals if one.whole}
        for place in self._places:
            for block in place.names:
                uniform = replace(place.settings, method="uniform")
                count = None if block in whole else place.source.count(uniform)
                if count is not None and count < _LEAST_FRESH:
                    uniform = place.settings.uniform(_LEAST_FRESH)
                found[block] = place.source.draw(uniform, stream(self._seed, name, block))
        hardly = name != "judging" or len(self._problem.domain.coordinates) == 1
        return {
            residual.name: self._with_narrow(residual, found[residual.name])
            if hardly else found[residual.name]
            for residual in self._problem.residuals
        }  # fmt: skip

    def _with_narrow(self, residual: Residual, points: Points) -> Points:
        """Return points, and others where known parts of a residual are that these hardly meet."""
        small = [
            Points(one.points) for one in narrow(residual, self._problem.constants)
            if not one.is_met_by(len(points))
        ]  # fmt: skip
        return Points.joined([points, *small]) if small else points

    # ---- how they are drawn

    def _there(self, place: _Place, number: int, present: Points | None) -> Points | None:
        """Return the points until a draw; None before the first one."""
        if number == 0 or present is not None:
            return present
        return self._by_method(place, stream(self._seed, "points", place.names[0], "0"))

    def _kept(
        self, place: _Place, number: int, there: Points | None, grown: Mapping[str, int]
    ) -> tuple[Points | None, _Place]:
        """Return the points that stay, None for none of them, and what is to be drawn beside them.

        Random ones stay: what is left is as typical of the points as these were. Those of largest
        residual would gather where it is large for good, as in a corner, and adaptive draws find
        them anyhow.
        """
        settings = place.settings
        count = None if place.own is not None else place.source.count(settings)
        if count is None or there is None:
            return None, place
        times = max(grown.get(name, 0) for name in place.names)
        if times:
            count = grown_count(count, times, settings.most)
        stay = min(round(settings.keep * count), len(there), count - 1)
        missing = replace(place, settings=settings.of_count(count - stay))
        if not stay:
            return None, missing
        rng = stream(self._seed, "kept", place.names[0], str(number))
        return there[np.sort(rng.permutation(len(there))[:stay])], missing

    def _by_method(self, place: _Place, rng: np.random.Generator) -> Points:
        settings = place.settings
        if place.own is not None:
            with at("sampling", "blocks", place.names[0], "points"):
                return place.source.own(place.own)
        if settings.density is None:
            return place.source.draw(settings, rng)
        return self._even(place, rng)(place.source.count(settings))

    def _even(self, place: _Place, rng: np.random.Generator) -> Callable[[int], Points]:
        """Return what gives random points, of the density that is asked for."""

        def uniform(n: int) -> Points:
            return place.source.draw(place.settings.uniform(n), rng)

        text = place.settings.density
        if text is None:
            return uniform
        return lambda n: thinned(uniform, n, self._density(text), rng)

    def _adaptive(
        self, place: _Place, residuals: Residuals, present: Points, rng: np.random.Generator
    ) -> Points:
        names, settings = place.names, place.settings

        def found(points: Points) -> Sequence[np.ndarray]:
            by_name = residuals(dict.fromkeys(names, points))
            return [by_name[name] for name in names]

        draw = Draw(
            count=place.source.count(settings),
            present=present,
            anew=lambda: self._by_method(place, rng),
            even=self._even(place, rng),
            residuals=found,
            sampling=settings,
            rng=rng,
        )
        return ADAPTIVE[settings.adaptive](draw)

    def _term(self, text: str) -> Term:
        if text not in self._terms:
            scope = self._problem.scope.of_values(parameters=False)
            self._terms[text] = Term("density", text, scope)
        return self._terms[text]

    def _density(self, text: str) -> Density:
        term, domain = self._term(text), self._problem.domain

        def density(points: Points) -> np.ndarray:
            columns = dict(zip(domain.coordinates, points.coordinates.T, strict=True))
            with np.errstate(all="ignore"):
                value = term.evaluate(Values(columns, self._problem.constants), NUMPY_FUNCTIONS)
            numbers = np.broadcast_to(np.asarray(value, dtype=np.float64), (len(points),))
            bad = np.flatnonzero(~(np.isfinite(numbers) & (numbers >= 0)))
            if bad.size:
                place = ", ".join(f"{n} = {column[bad[0]]:g}" for n, column in columns.items())
                raise ValueError(
                    f"sampling: density: expected {text!r} to be finite and not negative, got "
                    f"{numbers[bad[0]]:g} at {place}"
                )
            return numbers

        return density

    # ---- what belongs together, and what does not fit

    def _find_places(self) -> list[_Place]:
        found: list[_Place] = []
        for residual in self._problem.residuals:
            name, source = residual.name, residual.source
            own = self._sampling.blocks[name].points if name in self._sampling.blocks else None
            settings = self._settings(residual)
            for k, place in enumerate(found):
                if (place.source, place.settings, place.own) == (source, settings, own):
                    found[k] = _Place((*place.names, name), source, settings, own)
                    break
            else:
                found.append(_Place((name,), source, settings, own))
        return found

    def _settings(self, residual: Residual) -> Sampling:
        """Return the settings of a block, what is said of all equations only where it can be."""
        name, sampling = residual.name, self._sampling
        count = residual.source.count(sampling)
        own = sampling.blocks.get(name, BlockSampling())
        if count is None:
            batch = own.batch or sampling.batch
            return replace(sampling, adaptive=None, density=None, batch=batch, blocks={})
        given = residual.whole or own.points is not None
        return sampling.of_block(name, count, name in self._problem.equations and not given)

    def _check_block(self, residual: Residual) -> None:
        own = self._sampling.blocks.get(residual.name)
        if own is None:
            return
        fixed = residual.source.count(self._sampling) is None
        for key in ("count", "method", "adaptive", "density"):
            if fixed and getattr(own, key) is not None:
                refuse("expected nothing of it: where this block holds says its points", key)
        for key in ("adaptive", "batch"):
            if residual.whole and getattr(own, key) is not None:
                refuse(
                    "expected nothing of it: this block takes its points as a whole, as a mean "
                    "does, which only even points give", key,
                )  # fmt: skip


def redrawing(collocation: Collocation, objective: Objective) -> Redraw | RedrawOverfit | None:
    """Return what draws the points of an objective anew while it is trained; None for nothing."""

    def draw(number: int, grown: Mapping[str, int] | None = None) -> dict[str, Points]:
        present = {block.name: block.points for block in objective.blocks}
        return collocation.draw(
            number, lambda at: objective.residuals(objective.theta, at), present, grown
        )

    every = collocation.redraw
    if every is None:
        return None
    return RedrawOverfit(draw) if every == "auto" else Redraw(every, draw)
