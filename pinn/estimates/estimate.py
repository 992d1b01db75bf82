"""How far a trained solution is from the true one: R'(u) e = -R(u), solved at fresh points.

The error e = u* - u of a field u with the residual R(u) solves, to first order, R'(u) e = -R(u). It
is looked for among what the trained network can move by and some hundred random waves beside it
(extension.py), inside of the formulas that hold hard conditions, with unknown coefficients and
fields moving along, by least squares at points that training never saw (linearised.py). Whether
that is the error is not taken on trust: the residual of u + e itself, without linearisation, is
computed at rows and points that took no part. What it leaves of the residual of u chooses the
ridge, says whether to go on (simplified Newton steps, which take up what is not linear), and in the
end whether to believe it. See docs/decisions/0035-error-estimates.md.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import autograd as T
from pinn.equations.leaves import Derivative, derivatives_in
from pinn.estimates.affordable import Foreseen
from pinn.estimates.corrected import Corrected
from pinn.estimates.correction import AS_GOOD, Correction, Witness, plausible
from pinn.estimates.differences import Differences, differences, rms
from pinn.estimates.error_field import ErrorField
from pinn.estimates.extension import Extension
from pinn.estimates.linearised import Linearised, Ridge
from pinn.estimates.record import (
    EXPLAINED,
    NOT_COMPARED,
    ErrorEstimate,
    left_out,
    made_of_a_part,
    partly_of_no_solution,
)
from pinn.estimates.second_features import by_second_features
from pinn.estimates.second_solution import not_solved_after, second_solution
from pinn.estimates.significance import APART, is_distinct, most_distinct, neighbours
from pinn.estimates.unseen import (
    at_most,
    is_large,
    not_determined,
    possible_errors,
    slopes_of_outputs,
    undetermined,
)
from pinn.evaluation import Evaluation
from pinn.evaluation.test_grid import test_points
from pinn.models import Windows
from pinn.objective import Objective
from pinn.problem import Problem
from pinn.problem.belonging import region_of
from pinn.residuals import Measured, Residual, judged
from pinn.sampling import Points, stream
from pinn.training.experiment import Experiment
from pinn.training.judging.fitted import Fitted, fitted_in
from pinn.training.judging.fresh import fresh_points, without_peaks
from pinn.training.judging.rounding import rounding_of_blocks
from pinn.training.judging.trial import Budget
from pinn.training.points.collocation import Collocation
from pinn.training.resources import one_blas_thread

# Waves of all outputs together, at least of each, and the most numbers of networks that move.
_WAVES, _FEWEST, _MOVING = 400, 100, 900
# Rows for each number that moves, and points of a block at most.
_ROWS, _MOST_POINTS = 2.3, 3500
# What a correction may leave of the residual: so little that no better one is looked for; so much
# that it is not believed.
_GOOD, _BAD = 0.02, EXPLAINED
# A further Newton step leaves at most this share of what the one before has left.
_PROGRESS, _STEPS = 0.9, 3
# A tenth of a correction changes the residual by a tenth of what the whole does, but for this part:
# beyond it, and with much of the residual left, its linearised equation is no equation of it.
_LITTLE, _BENT, _STRETCHED = 0.1, 0.1, 100.0
# Up to here it is linear, and what a ridge has taken away is all that tells two of them apart.
_STRAIGHT = 0.01
# A residual of this share of the terms of an equation is no small one.
_FAR = 0.01
# What the work takes is measured at one of so many parts of the points.
_PARTS = 12
# Places at which they are compared, about.
_COMPARED = 4096
# A residual this many times its rounding errors is mostly these; so many times, and it is as small
# as any solver makes it: more digits of it mean nothing.
_AT_FLOOR, _NEAR_FLOOR = 2.0, 1000.0
# Beyond this share of the noise of data, their residual is more than noise.
_NOISE = 2.0
# A residual this many times larger on fresh points is a fit of points; so many times, and what the
# solution does between them is no small correction of it.
_OVERFIT, _FAR_OVERFIT = 3.0, 10.0
# Errors of so small a share of a field are those of rounding in it and in its residual, which hides
# how large they are.
_ROUNDED = 1e-13
# From this share of a limit in time on there is no room for what takes two fifths as long as the
# rest.
_LATE = 0.7


def error_estimate(
    experiment: Experiment,
    objective: Objective,
    theta: np.ndarray,
    scaled: Mapping[str, float] | None = None,
    seconds: float | None = None,
    sizes: Mapping[str, float] | None = None,
) -> ErrorEstimate:
    """Return an estimate of the error of a run's solution, without a reference.

    objective: the run's, with the points of training, whose ranks and threads share the work. It is
    left at theta. scaled: how far each equation and condition is from holding, beside the size of
    its terms (pinn.diagnosis.scaled_residuals), as far as that is known. seconds: what it may take,
    as far as that can be foreseen. Where it would take longer it is made at fewer points, of fewer
    functions, and says so; where these would be too few there is none, and a doubt says how long
    it takes. None for as long as it takes: a second or a few for small networks. sizes: natural
    ones of unknowns (pinn.diagnosis.natural_sizes), of which errors are a share where an unknown
    vanishes; without them the error of such a one is all of it. Equal arguments give equal bits,
    but where `seconds` takes a part of it away.
    """
    began = time.perf_counter()
    budget = Budget(seconds, experiment.ranks.clock, experiment.ranks.clock())
    experiment, objective = _in_float64(experiment, objective)
    sizes = sizes or {}
    with one_blas_thread(), np.errstate(all="ignore"):
        found = second_solution(experiment, objective, theta, budget, sizes)
        if found is None:
            found = by_second_features(experiment, objective, theta, budget, sizes)
        model = experiment.model
        if found is None and isinstance(model, Windows) and model.until is not None:
            found = ErrorEstimate(doubts=(not_solved_after(model, experiment.problem.domain),))
        elif found is None:
            found = _Estimation(experiment, objective, theta, scaled or {}, budget, sizes).result()
        objective.parameters.load(theta)
    beside = _beside_modes(experiment.problem) if found.relative_l2 else ()
    seconds = time.perf_counter() - began
    return dataclasses.replace(found, remarks=(*found.remarks, *beside), seconds=seconds)


def _beside_modes(problem: Problem) -> Iterator[str]:
    """Yield what is no part of the estimate where functions come in by some modes of them."""
    for name, one in problem.functions.items():
        yield (
            f"the error is that for {name} made of its {len(one.names)} modes; what these leave "
            f"out comes on top: about {one.left_out:.1e} of a function of the space, and of one of "
            f'your own the second result of problem.functions["{name}"].coefficients(...)'
        )


class _Estimation:
    """The estimate of one solution."""

    def __init__(
        self,
        experiment: Experiment,
        objective: Objective,
        theta: np.ndarray,
        scaled: Mapping[str, float],
        budget: Budget,
        sizes: Mapping[str, float],
    ) -> None:
        self._experiment = experiment
        self._scaled, self._sizes = scaled, sizes
        self._budget = budget
        self._trained = objective
        # What the error is judged by: neither the points nor the nodes that training has fitted.
        self._judged = objective.with_finer_sums()
        self._theta = theta
        self._extend(1.0)
        self._foreseen = self._foresee() if budget.limit is not None else None
        self._share = 1.0
        if self._foreseen is not None:
            self._share = self._foreseen.share(budget.limit - budget.spent)
        if self._share == 0:
            return
        if self._share < 1:
            self._extend(self._share)
        self._fresh = self._points("judge", self._count // 2)
        self._before = self._judged.residuals(theta, self._fresh)
        self._fitted = self._points("fit", self._count, adaptive=True)

    def _extend(self, share: float) -> None:
        """Take a share of the functions that the error is looked for in, and of the points."""
        problem = self._experiment.problem
        waves = max(_FEWEST, _WAVES // len(problem.outputs))
        self._extension = Extension(self._experiment, self._theta, max(1, round(share * waves)))
        self._columns = self._moving(share)
        equations = max(1, len(problem.equations))
        self._count = min(_MOST_POINTS, int(_ROWS * len(self._columns) / equations))

    def _foresee(self) -> Foreseen:
        """Measure a small part of the work."""
        sample, others = (self._points(name, self._count, parts=_PARTS) for name in "ab")
        measured = self._objective(self._extension.parameters, sample)
        linear = getattr(self._experiment.model, "linear", False)
        present = Evaluation(self._experiment, self._extension.parameters)
        places = _some(test_points(self._experiment.problem.domain, self._experiment.problem.walls))
        return Foreseen.by(
            measured, others, self._columns, lambda: present.at(places), _PARTS, not linear,
            self._experiment.ranks.clock, self._budget.limit - self._budget.spent,
        )  # fmt: skip

    # ---- points

    def _points(
        self, name: str, count: int, adaptive: bool = False, parts: int = 1
    ) -> dict[str, Points]:
        """Return points of every block from a stream apart, more of them where residuals are large.

        Data are what they are. parts: a count of one of so many parts of them.
        """
        run = self._experiment
        seed = int(stream(run.seed, "error estimate", name).integers(2**31))
        even = dataclasses.replace(
            run.sampling, interior=max(1, count // parts),
            boundary=max(200, count // 8) // parts, initial=max(100, count // 12) // parts,
            method="latin-hypercube", redraw=None, adaptive=None, density=None, candidates=None,
            added=None, most=None, batch=None, blocks={},
        )  # fmt: skip
        points = Collocation(run.problem, even, seed).draw()
        if not adaptive:
            return points
        closer = dataclasses.replace(even, adaptive="rad", rad_power=1.0, rad_floor=1.0)
        return Collocation(run.problem, closer, seed).draw(
            1, lambda at: self._judged.residuals(self._theta, at), points
        )

    def _row_weights(self, found: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Return one over the density of the points of equations, about 1 on average, by block.

        Sums over points that lie closer where the residual is large are then means over the domain.
        """
        groups: dict[int, list[str]] = {}
        whole = {one.name for one in self._experiment.problem.residuals if one.whole}
        for name in self._experiment.problem.equations:
            if name not in whole:
                groups.setdefault(id(self._fitted[name]), []).append(name)
        weights = {}
        for names in groups.values():
            density = sum(
                1 + np.abs(found[name]) / max(float(np.abs(self._before[name]).mean()), 1e-300)
                for name in names
            )
            inverse = 1 / density
            weights.update(dict.fromkeys(names, inverse / inverse.mean()))
        return weights

    def _moving(self, share: float) -> np.ndarray:
        """Return the numbers of the extension that move: of large networks not all of their own.

        share: of those that would.
        """
        moves = np.ones(self._extension.parameters.size, dtype=bool)
        own = np.concatenate(list(self._extension.own.values()))
        rng = stream(self._experiment.seed, "error estimate", "moving")
        moves[rng.permutation(own)[round(share * min(_MOVING, len(own))) :]] = False
        return np.flatnonzero(moves)

    # ---- the correction

    def result(self) -> ErrorEstimate:
        if self._share == 0:
            said = left_out(self._foreseen.seconds, self._budget.limit)
            return ErrorEstimate(doubts=(said,), share=0.0)
        found = self._estimated()
        if self._share < 1:
            told = made_of_a_part(self._share, self._foreseen.seconds)
            found = dataclasses.replace(found, remarks=(told, *found.remarks))
        return found

    def _estimated(self) -> ErrorEstimate:
        # of the points that the loss is told at, so that each block has one such number
        apart = self._judged.residuals(self._theta, fresh_points(self._experiment))
        fresh = {name: rms(rows) for name, rows in apart.items()}
        present = self._trained.residuals(self._theta)
        trained = {name: rms(rows) for name, rows in present.items()}
        spread = {name: float(np.sqrt(np.mean(without_peaks(r)))) for name, r in apart.items()}
        fits = dict(self._overfits(fresh, trained, spread))
        self._fits_points = [said for said, ratio in fits.items() if ratio > _FAR_OVERFIT]
        remarks = tuple(said for said in fits if said not in self._fits_points)
        plain = ErrorEstimate(fresh=fresh, trained=trained, remarks=remarks, share=self._share)
        if not all(np.isfinite(rows).all() for rows in (*apart.values(), *self._before.values())):
            return dataclasses.replace(plain, doubts=("the residual is not finite everywhere",))
        linear = self._objective(self._extension.parameters, self._fitted)
        self._weights = self._row_weights(linear.residuals(self._extension.theta))
        linear.set_weights({}, self._weights)
        problem = Linearised(linear, self._columns, self._extension.own.values())
        if not problem.rows.any():
            return dataclasses.replace(plain, doubts=("the residual vanishes everywhere",))
        if not problem.is_finite:
            return dataclasses.replace(plain, doubts=("the slopes of the residual overflow",))
        corrected = Corrected(self._extension)
        self._nonlinear = self._objective(corrected.parameters, self._fitted)
        self._nonlinear.set_weights({}, self._weights)
        self._corrected = corrected
        best, others = self._search(problem)
        return self._measured(plain, problem, best, others, self._possible(problem))

    def _places_of_outputs(self) -> dict[str, np.ndarray]:
        """Return where each output is looked at, (n, d)."""
        stated, found = self._experiment.problem, {}
        places = test_points(stated.domain, stated.walls)
        for name in stated.outputs:
            region = region_of(stated, name, stated.domain.coordinates)
            found[name] = places if region is None else places[region(places)]
        return found

    def _possible(self, problem: Linearised) -> dict[str, float]:
        parameters, own = self._extension.parameters, self._places_of_outputs()
        parameters.load(self._extension.theta)

        def found() -> dict[str, float]:
            rng = stream(self._experiment.seed, "error estimate", "possible")
            return possible_errors(problem, parameters, own, self._sizes, rng)

        possible = found()
        if self._judged is not self._trained and any(map(is_large, possible.values())):
            # An error that the nodes of sums do not resolve is seen by others: those of training.
            other = self._objective(parameters, self._fitted, self._trained.problem)
            other.set_weights({}, self._weights)
            problem.hold_back(other)
            possible = found()
        return possible

    def _objective(
        self, parameters: Any, points: Mapping[str, Points], problem: Problem | None = None
    ) -> Objective:
        run = self._experiment
        return Objective(
            problem or self._judged.problem, parameters, points, dtype=run.dtype, device=run.device,
            derivatives=run.derivatives, threads=self._trained.threads,
            executor="numpy" if run.device == "cpu" else "auto", ranks=self._trained.ranks,
        )  # fmt: skip

    def _search(self, problem: Linearised) -> tuple[Correction, list[Correction]]:
        """Return the best correction, and those of one linear solution each."""
        tried = []
        for solver in problem.solvers():
            tried.append(self._judged_by(problem, solver, solver(problem.rows)))
            if tried[-1].left <= _GOOD:
                break
        least = min(one.left for one in tried)
        # Of those about as good the one of the least ridge, since a ridge makes errors smaller.
        best = [one for one in tried if one.left <= AS_GOOD * least][-1]
        # What is not linear may mislead the first step of a small ridge, and not those after it.
        for start in dict.fromkeys([best, tried[-1]]):
            one = start
            for _ in range(_STEPS):
                if one.left <= _GOOD or not np.isfinite(one.left):
                    break
                direction = one.direction + one.solver(one.after)
                further = self._judged_by(problem, one.solver, direction)
                if further.left > _PROGRESS * one.left:
                    break
                one = further
            if one.left < best.left:
                best = one
        return best, tried

    def _judged_by(self, problem: Linearised, solver: Ridge, direction: np.ndarray) -> Correction:
        """Return a direction with what it leaves of the rows."""
        judging = problem.held & ~self._noisy()
        self._corrected.move(direction)
        rows = self._nonlinear.weighted_rows(self._corrected.theta) * problem.scale
        held = Witness(problem.rows[judging], rows[judging])
        return Correction(solver, direction, held, rows)

    def _of_fewer_waves(self, problem: Linearised, best: Correction) -> Correction:
        """Return the correction of the ridge of the best one with every other wave alone."""
        left_out = [
            places.reshape(-1, self._extension.waves[name].count)[:, ::2].ravel()
            for name, places in self._extension.heights.items()
        ]
        among = np.flatnonzero(~np.isin(self._columns, np.concatenate(left_out)))
        solver = problem.solver(best.solver.ridge, among)
        return self._judged_by(problem, solver, solver(problem.rows))

    def _chances(
        self, problem: Linearised, corrections: Iterable[Correction]
    ) -> dict[Correction, float]:
        """Return what share of each correction chance in the rows has made, of the worst output."""
        parameters = self._extension.parameters
        parameters.load(self._extension.theta)
        rng = stream(self._experiment.seed, "error estimate", "chance")
        outputs = slopes_of_outputs(
            problem, parameters, self._places_of_outputs(), self._sizes, rng
        )
        slopes, found = [one for _, one in outputs], {}
        for one in corrections:
            p = problem.moved(one.direction)
            sizes = [max(float(np.linalg.norm(each @ p)), 1e-300) for each in slopes]
            scatter = one.solver.scatter(slopes, one.after) if slopes else []
            shares = np.nan_to_num(np.divide(scatter, sizes), nan=np.inf)
            found[one] = float(shares.max(initial=0.0)) if slopes else np.inf
        return found

    # ---- what is said of it

    def _measured(
        self,
        plain: ErrorEstimate,
        linearised: Linearised,
        best: Correction,
        tried: list[Correction],
        possible: Mapping[str, float],
    ) -> ErrorEstimate:
        problem = self._experiment.problem
        places = test_points(problem.domain, problem.walls)
        present = Evaluation(self._experiment, self._extension.parameters)
        better = Evaluation(self._experiment, self._corrected.parameters)
        values = present.at(places)
        part = {name: _some(value) for name, value in values.items()}
        spread = self._spread(better, part, _some(places), best, plausible(tried, best))

        def remains_of(one: Correction) -> _Remains:
            self._corrected.move(one.direction)
            some = _some(places)
            return self._remains(
                one, lambda: self._larger(part, better.at(some), some, possible)
            )

        remains = remains_of(best)
        is_late = self._budget.is_spent(_LATE)
        if remains.share >= _BAD and not is_late:
            least, corrections = best, [best, *(one for one in tried if one is not best)]
            chance = self._chances(linearised, corrections)
            best = most_distinct(corrections, chance)
            if best is not least:
                remains = remains_of(best)
            # what is not linear may hide from small ridges what large ones find
            others = tried if remains.bend > _STRAIGHT else neighbours(best, tried, chance)
            others = [*others, self._of_fewer_waves(linearised, best)]
            within = self._spread(better, part, _some(places), best, others)
            spread = spread if best is least else within
            self._corrected.move(best.direction)
            settled = within[0] <= APART and is_distinct(chance[best]) and np.isfinite(remains.bend)
            remains = dataclasses.replace(remains, settled=bool(settled))
        moved = better.at(places)
        apart = differences(problem, places, values, moved, self._sizes)
        if not remains.is_explained:
            apart = apart.without_far(values)
        self._raise_to_conditions(apart)
        hidden = tuple(name for name, error in apart.relative.items() if error < _ROUNDED)
        if remains.near_rounding and len(hidden) == len(apart.relative):
            doubts, remarks = tuple(_noise_doubts(remains)), (_near_rounding(hidden),)
        else:
            doubts = tuple(self._doubts(remains, spread))
            doubts += tuple(partly_of_no_solution(apart.relative))
            fits = self._fits_points if remains.only_rounding else ()
            remarks = (*plain.remarks, *fits, *remains.remarks())
            if hidden and not remains.only_rounding:
                apart = apart.no_less(hidden, _ROUNDED, values)
                remarks = (*remarks, _hidden_by_rounding(hidden))
        relative = apart.relative
        loose = dict(undetermined(possible, relative))
        doubts += tuple(not_determined(*one) for one in loose.items())
        if doubts and not (loose or remains.noisy):
            remarks = (*remarks, *at_most(possible, relative, remains.is_explained))
        if remains.is_explained:
            remarks = (*remarks, *apart.collapsed)
        if is_late and not remains.is_explained:
            remarks = (*remarks, NOT_COMPARED)
        remarks = (*remarks, *apart.vanishing)
        return dataclasses.replace(
            plain, relative_l2=relative, maximum=apart.maximum, where=apart.where,
            unexplained=remains.share, possible=dict(possible), doubts=doubts,
            remarks=remarks, error=ErrorField(better, present),
        )  # fmt: skip

    def _raise_to_conditions(self, apart: Differences) -> None:
        """Let no maximum be less than what conditions see: there the residual is the error."""
        names = self._experiment.problem.domain.coordinates
        for residual in self._experiment.problem.residuals:
            unknown = _given_in(residual)
            if unknown not in apart.maximum or residual.name not in self._fresh:
                continue
            off = np.abs(self._before[residual.name])
            worst = int(off.argmax())
            if not off[worst] <= apart.maximum[unknown]:  # one that is not told is nan
                place = self._fresh[residual.name].coordinates[worst]
                apart.maximum[unknown] = float(off[worst])
                apart.where[unknown] = dict(zip(names, place.tolist(), strict=True))

    def _spread(
        self,
        better: Evaluation,
        values: Mapping[str, np.ndarray],
        places: np.ndarray,
        best: Correction,
        others: list[Correction],
    ) -> tuple[float, str]:
        """Return by how much the errors of some corrections differ at most, and of which name."""
        asked = _asked_for(self._experiment.problem)
        sizes = []
        for one in {id(one): one for one in (best, *others)}.values():
            self._corrected.move(one.direction)
            moved = better.at(places, asked)
            sizes.append([rms(moved[name] - values[name]) for name in asked])
        least, most = np.min(sizes, axis=0), np.max(sizes, axis=0)
        apart = np.divide(most, least, out=np.ones(len(asked)), where=least > 0)
        return float(apart.max()), asked[int(apart.argmax())]

    def _larger(
        self,
        present: Mapping[str, np.ndarray],
        moved: Mapping[str, np.ndarray],
        places: np.ndarray,
        possible: Mapping[str, float],
    ) -> float:
        """Return how many times as large as a correction errors may be, of the worst output.

        present, moved: the values at places, without it and with it. possible: relative L2 errors
        that leave the residual as small, by output.
        """
        apart = differences(self._experiment.problem, places, present, moved, self._sizes).relative
        pairs = ((error, apart.get(name, np.nan)) for name, error in possible.items())
        found = [min(error, 1.0) / one for error, one in pairs if one > 0]
        return float(np.clip(max(found, default=1.0), 1.0, _STRETCHED))

    def _remains(self, best: Correction, larger: Callable[[], float]) -> _Remains:
        """Return what a correction leaves of the residual; it is where the networks stand.

        larger: tells how many times as large as it errors may be with the residual as it is.
        """
        after = self._nonlinear.residuals(self._corrected.theta, self._fresh)
        rounding = rounding_of_blocks(self._nonlinear, self._corrected.theta, self._fresh)
        judged, shares, before, rest, at_floor, near, noisy = [], [], [], [], [], [], []
        for residual in self._experiment.problem.residuals:
            name, size = residual.name, rms(self._before[residual.name])
            if self._is_noise(residual):
                noisy.append(name)
            elif size > 0:
                judged.append(name)
                share = rms(after[name]) / size
                if rms(after[name]) <= _AT_FLOOR * rounding[name]:
                    at_floor.append(name)
                    share = 0.0
                if size <= _NEAR_FLOOR * rounding[name]:
                    near.append(name)
                shares.append(share)
                scale = 1 / (size * np.sqrt(len(after[name])))
                before.append(scale * self._before[name])
                rest.append(scale * after[name])
        only_rounding = bool(judged) and len(at_floor) == len(judged)
        near_rounding = not only_rounding and bool(judged) and len(near) == len(judged)
        share = rms(np.array(shares)) if shares else 0.0
        if not only_rounding and best.left > _GOOD:
            share = max(share, best.left)
        confirmed = only_rounding or bool(judged) and (
            best.held.confirms and Witness(np.concatenate(before), np.concatenate(rest)).confirms
        )
        bend = 0.0
        if share >= _BAD:
            # rounding bends a small one most, what is not linear a large one: as large as it may be
            bend = min(self._bend(best, judged, part) for part in (larger(), _STRETCHED))
        return _Remains(share, confirmed, only_rounding, near_rounding, bend, tuple(noisy))

    def _bend(self, best: Correction, names: Iterable[str], stretched: float) -> float:
        """Return how far what a correction changes in some blocks is from linear, as a share.

        stretched: how many times the correction is taken.
        """

        def changes(part: float) -> dict[str, np.ndarray]:
            self._corrected.move(part * stretched * best.direction)
            return self._nonlinear.residuals(self._corrected.theta, self._fresh)

        little, whole = changes(_LITTLE), changes(1.0)
        self._corrected.move(best.direction)
        bent, straight = [], []
        for name in names:
            before = self._before[name]
            line, size = (little[name] - before) / _LITTLE, rms(before)
            bent.append(rms(whole[name] - before - line) / size)
            straight.append(rms(line) / size)
        return float(np.linalg.norm(bent) / np.linalg.norm(straight))

    def _is_noise(self, residual: Residual) -> bool:
        """Return whether a residual is of data that are fitted as well as their noise allows."""
        noise = residual.source.noise
        if noise is None:
            return False
        return judged(residual, self._before[residual.name]).rms <= _NOISE * noise

    def _noisy(self) -> np.ndarray:
        """Return which rows are those of noise, (rows,)."""
        return np.concatenate([
            np.full(block.rows, self._is_noise(block.residual))
            for block in self._nonlinear.blocks
        ])

    def _doubts(
        self, remains: _Remains, spread: tuple[float, str]
    ) -> Iterator[str]:
        if not (remains.share < _BAD or remains.confirmed or remains.settled):
            part = max(0.0, 1 - remains.share)
            told = f"only {part:.0%}" if part > 0 else "none"
            yield f"it explains {told} of the residual: the true error may be larger"
        elif remains.share >= _BAD:
            yield from self._far(remains)
        if not remains.only_rounding:
            yield from self._fits_points
        yield from _noise_doubts(remains)
        factor, name = spread
        if factor > APART and not (remains.only_rounding or remains.settled):
            yield (
                f"errors of {name} that differ by a factor {factor:.2g} explain the residual about "
                "as well: the true one may be as much off"
            )

    def _far(self, remains: _Remains) -> Iterator[str]:
        """Yield what speaks against a correction that much of the residual is left besides."""
        part = max(0.0, 1 - remains.share)
        told = f"it explains {f'{part:.0%}' if part > 0 else 'none'} of the residual"
        left = {name: part for name, part in self._scaled.items() if part >= _FAR}
        if remains.bend > _BENT:
            yield (
                f"{told}, and is so large that the equations are not linear in it (by "
                f"{remains.bend:.0%}): the true error may be several times as large; train further"
            )
        elif left:
            shown = ", ".join(f"{part:.1%} of the terms of {name}" for name, part in left.items())
            yield f"{told}, which is {shown}: what is left may move the solution by any amount"

    def _overfits(
        self, fresh: Mapping[str, float], trained: Mapping[str, float], spread: Mapping[str, float]
    ) -> Iterator[tuple[str, float]]:
        """Yield a sentence for each block whose points or nodes are fitted, and by how much.

        spread: what is left of fresh without a few points, which a corner may account for.
        """
        finer = self._with_finer_sums()
        for residual in self._experiment.problem.residuals:
            name = residual.name
            if isinstance(residual.source, Measured) or not trained.get(name):
                continue
            ratio = spread[name] / trained[name]
            if ratio > _OVERFIT:
                by_nodes = finer.get(name, 0.0) > _OVERFIT * trained[name]
                told = _fits(name, fitted_in(residual, by_nodes), fresh[name] / trained[name])
                yield told, ratio

    def _with_finer_sums(self) -> dict[str, float]:
        """Return the residuals at the points of training with other nodes; none without sums."""
        if self._judged is self._trained:
            return {}
        found = self._judged.residuals(self._theta)
        return {name: rms(rows) for name, rows in found.items()}


def _some(values: np.ndarray) -> np.ndarray:
    """Return what is at those of the places (n, ...) at which corrections are compared."""
    return values[:: max(1, len(values) // _COMPARED)]


def _fits(name: str, fitted: Fitted, ratio: float) -> str:
    """Return what is said of a block that is so many times larger where training did not look."""
    kind, setting = fitted.kind, fitted.setting
    where = {
        "points": "on fresh points than on those of training",
        "times": "at fresh times than at those of training",
        "nodes": "with other nodes in its sums and integrals than with those of training",
    }[kind]
    more = f"take more of them ({setting})" if setting else (
        "take more of them, or redraw them more often"
    )  # fmt: skip
    if fitted.singular:
        more = f"{fitted.remedy}it"
    return (
        f"the residual of {name} is {ratio:.2g} times larger {where}: {kind} are fitted, and not "
        f"the equation; {more}"
    )


def _in_float64(
    experiment: Experiment, objective: Objective
) -> tuple[Experiment, Objective]:
    """Return a run in float64, where rounding hides no residual; a module stays what it is."""
    if experiment.precision == "float64" or isinstance(experiment.model, T.nn.Module):
        return experiment, objective
    exact = dataclasses.replace(experiment, precision="float64")
    found = exact.objective()
    found.set_points({block.name: block.points for block in objective.blocks})
    return exact, found


def _asked_for(problem: Problem) -> list[str]:
    """Return the quantities, and the unknowns and fields that none of them is made of."""
    parts = {
        leaf.unknown for tree in problem.quantities.values() for leaf in derivatives_in(tree)
    }  # fmt: skip
    return [name for name in problem.solved if name not in parts]


@dataclass(frozen=True)
class _Remains:
    """What a correction leaves of the residual.

    share: |R(u + e)| / |R(u)|. confirmed: whether points that took no part ask for the correction.
    only_rounding: whether no more than rounding is left. near_rounding: whether more is left, but
    there was next to nothing but rounding before. bend: how far the residual is from linear in the
    correction, as a share; 0 where that was not asked. noisy: the blocks of data that are fitted as
    well as their noise allows. settled: whether other ridges, and half of the waves, find errors
    about as large, which chance in the rows has not made; asked where much of it is left.
    """

    share: float
    confirmed: bool
    only_rounding: bool
    near_rounding: bool
    bend: float
    noisy: tuple[str, ...]
    settled: bool = False

    @property
    def is_explained(self) -> bool:
        """Whether the correction explains the residual, so that nothing else is needed for it."""
        return self.only_rounding or self.share < _BAD

    def remarks(self):
        if self.only_rounding:
            yield (
                "only rounding is left of the residual of a solution without this error: the error "
                "may be as large again, and no smaller by more training"
            )
        elif self.share >= _BAD and (self.confirmed or self.settled):
            yield (
                f"{min(self.share, 1.0):.0%} of the residual is of a kind in which the error was "
                "not looked for: what that moves is not in the estimate"
            )


def _hidden_by_rounding(names: tuple[str, ...]) -> str:
    return (
        f"errors below {_ROUNDED:g} are hidden by rounding: that of {', '.join(names)} is told as "
        "so large, and may be less"
    )


def _near_rounding(names: tuple[str, ...]) -> str:
    return (
        f"the residual is next to its rounding errors, where errors below {_ROUNDED:g} cannot be "
        f"told apart: that of {', '.join(names)} may be as large, and no smaller by more training"
    )


def _noise_doubts(remains: _Remains) -> Iterator[str]:
    for name in remains.noisy:
        yield (
            f"{name} is fitted as well as its noise allows: the equations do not tell what the "
            "noise has moved; standard errors do, at points those of pinn.standard_errors"
        )


def _given_in(residual: Residual) -> str | None:
    """Return the unknown that a residual is the error of: of a condition that gives its value."""
    value, right = residual.left.tree, residual.right
    if not isinstance(value, Derivative) or value.order or right is None or right.leaves != ():
        return None
    return None if residual.whole or residual.source.noise is not None else value.unknown
