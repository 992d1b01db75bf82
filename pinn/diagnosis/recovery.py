"""How well the data determine the coefficients of an inverse problem.

Where training has ended, noise e in the data moves the point of least loss. With J the Jacobian of
the trained problem's weighted rows in the network's parameters and in the coefficients c, the
network follows a change of c by as much as leaves the rows least changed; R = J_c - J_n X is what
is left, and I = R^T R is the Schur complement of the Gauss-Newton matrix. Then c moves by
-I^-1 R^T e, and

    covariance = I^-1 (sum over the data rows of variance * R_i R_i^T) I^-1.

Rows of equations and other conditions count with their weights in training, and have no noise. See
docs/decisions/0024-standard-errors.md. Seber and Wild, Nonlinear Regression (1989), chapter 2; the
sandwich is that of Huber, Proc. Fifth Berkeley Symp. 1 (1967) 221.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

import autograd as T
from pinn.diagnosis.elimination import Elimination
from pinn.diagnosis.posed.multiples import free_coefficients
from pinn.diagnosis.posed.statement import statement_of
from pinn.diagnosis.problem_warning import ProblemWarning, UnsolvedWarning
from pinn.objective import Block, Objective
from pinn.residuals import Judged, Measured, judged
from pinn.solution.recovery import UNLIKELY, DataFit, Recovery
from pinn.training.judging.noise import spreads
from pinn.training.resources import one_blas_thread

# Directions of the network below this share of the largest are not resolved.
_RANK = 1e-12
# A coefficient as near to its bound as this share of its reach stands there.
_AT_BOUND = 1e-6
# The part of a coefficient in a direction that nothing determines, to be named for it.
_INVOLVED = 0.1
# Outliers lie so many times further off than others do, are no more than this share of the rows,
# and make up so much of the sum of squares.
_FAR, _MOST_FAR, _MOST_OF_IT = 4.0, 0.05, 0.5
# Rows beside each other are off alike from this correlation on, and by chance below so many of its
# standard deviations without any.
_ALIKE, _BY_CHANCE = 0.5, 2.0
# Of normal numbers, in standard deviations.
_MEDIAN = 0.6745


@dataclass(frozen=True)
class Coefficient:
    """A coefficient at the end of training; unit: raw numbers a reach of the coefficient."""

    name: str
    value: float
    reach: float
    unit: float
    bound: str | None


@dataclass(frozen=True)
class Noisy:
    """A block of data: how many rows, those that are judged, what a row is scaled by."""

    block: Block
    rows: int
    judged: Judged
    noise: float
    told: bool
    scale: np.ndarray

    @property
    def variances(self) -> np.ndarray:
        """The variance of the noise in each weighted row."""
        return (self.noise * self.scale) ** 2


def recovery(
    objective: Objective, still: Collection[str] = ()
) -> tuple[Recovery, list[ProblemWarning]]:
    """Return what the data say of a trained problem's coefficients, and what there is to warn of.

    Data that do not fit are an UnsolvedWarning, a coefficient that they do not determine, or that
    was not trained, is none. still: those that were not, see `untrained`. The objective stands
    where training left it. Without data no more is said. Takes n P^2 operations for n rows and P
    trainable numbers, beyond elimination.MOST_DENSE of these some hundred gradients for each
    coefficient and each block of data.
    """
    told = [ProblemWarning(_not_trained(still))] if still else []
    data = [noisy(objective, block) for block in objective.blocks
            if isinstance(block.residual.source, Measured)]  # fmt: skip
    if not data:
        return Recovery(untrained=tuple(still)), told
    coefficients = [one for one in coefficients_of(objective) if one.name not in still]
    with one_blas_thread():
        found, said = _analysed(objective, data, coefficients)
    return replace(found, untrained=tuple(still)), [*told, *said]


def untrained(objective: Objective) -> tuple[str, ...]:
    """Return the coefficients that stand where they started, to the last bit.

    After no step these were not trained; after some, nothing may depend on them.
    """
    named = objective.parameters.named(objective.theta)
    return tuple(
        one.name for one in objective.problem.parameters
        if named[one.name] == objective.dtype.type(one.raw_initial)
    )  # fmt: skip


def _analysed(
    objective: Objective, data: list[Noisy], coefficients: list[Coefficient]
) -> tuple[Recovery, list[ProblemWarning]]:
    free = [one for one in coefficients if one.bound is None]
    noise = max(float(one.variances.mean()) for one in data)
    network = Elimination(objective, network_columns(objective), partial(ridge, objective, noise))
    follow, left = eliminated(objective, network, free)
    # of the rows themselves: their squares would lose what is below 1e-8 of the largest
    _, sizes, transposed = np.linalg.svd(np.vstack([left, follow]), full_matrices=False)
    values, vectors = sizes**2, transposed.T
    scale = max(network.norm, float(np.linalg.norm(sizes)))
    certain = values > max(noise, (_RANK * scale) ** 2)
    safe = np.where(certain, values, 1.0)
    fits, meat = {}, np.zeros((len(free), len(free)))
    for one in data:
        mine = network.rows_of(one.block, left)
        fitted = (mine @ vectors)[:, certain] / np.sqrt(safe[certain])
        fit = _fit(one, network.leverage(one.block) + float(np.sum(fitted**2)))
        fits[one.block.name] = fit
        meat += mine.T @ (mine * ((fit.sigma * one.scale) ** 2)[:, None])
    inner = vectors.T @ meat @ vectors / np.outer(safe, safe)
    inner[~certain] = inner[:, ~certain] = 0.0
    with np.errstate(divide="ignore"):
        inner[~certain, ~certain] = noise / values[~certain].clip(0.0)
    errors, correlations = _errors(free, vectors, inner)
    statement = statement_of(objective.problem)
    endless = free_coefficients(statement) & set(errors) if statement else ()
    found = Recovery({**errors, **dict.fromkeys(endless, np.inf)}, correlations, fits)
    return found, [
        *map(ProblemWarning, _undetermined(free, vectors[:, ~certain], found)),
        *map(ProblemWarning, _at_bounds(coefficients)),
        *map(ProblemWarning, _not_ended(network)),
        *map(UnsolvedWarning, _misfits(fits, data)),
    ]


def eliminated(
    objective: Objective, network: Elimination, free: list[Coefficient]
) -> tuple[np.ndarray, np.ndarray]:
    """Return D X, (size, coefficients), and R = J_c - J_n X, (rows, coefficients)."""
    follow = np.zeros((len(network.columns), len(free)))
    left = np.zeros((objective.rows, len(free)))
    for k, one in enumerate(free):
        direction = np.zeros(objective.size)
        direction[objective.layout[one.name].place] = one.unit
        x, left[:, k] = network.eliminated(direction)
        follow[:, k] = network.ridge * x
    return follow, left


# ---- the rows


def coefficients_of(objective: Objective) -> list[Coefficient]:
    named = objective.parameters.named(objective.theta)
    found = []
    for one in objective.problem.parameters:
        raw = T.tensor(float(named[one.name]), dtype=T.float64, requires_grad=True)
        value = one.value(raw)
        (slope,) = T.grad(value, [raw])
        reach = max(one.reach, 0.0 if one.lower is not None and one.upper is not None
                    else abs(value.item()))  # fmt: skip
        bound = None
        if slope.item() < _AT_BOUND * reach:
            near = [(abs(value.item() - b), f"{what} bound {b:g}")
                    for what, b in (("lower", one.lower), ("upper", one.upper)) if b is not None]
            bound = min(near)[1]
        unit = reach / slope.item() if bound is None else 0.0
        found.append(Coefficient(one.name, value.item(), reach, unit, bound))
    return found


def network_columns(objective: Objective) -> np.ndarray:
    """Return the places in theta of the networks' numbers, the unknowns' and the fields'."""
    return np.flatnonzero(objective.layout.networks)


def ridge(objective: Objective, noise: float, norm: float) -> np.ndarray:
    """Return D: what holds each number of a network to its size."""
    own = spreads(objective, objective.theta)[network_columns(objective)]
    return np.maximum(_RANK * norm, np.sqrt(noise) / own)


def noisy(objective: Objective, block: Block) -> Noisy:
    residual = objective.residuals(objective.theta)[block.name].astype(np.float64)
    noise = block.residual.source.noise
    mine = judged(block.residual, residual)
    size = mine.rms if noise is None else noise
    scale = np.broadcast_to(block.row_scale(), residual.shape)
    return Noisy(block, len(residual), mine, size, noise is not None, scale)


def _fit(data: Noisy, leverage: float) -> DataFit:
    from scipy.special import gammaincc

    rows, mine = data.rows, data.judged
    freedom = max(rows - leverage, 0.0) * len(mine.rows) / rows
    squares = float(np.sum(mine.rows**2)) / mine.variance
    if not data.told:
        sigma = float(np.sqrt(squares / freedom)) if freedom else 0.0
        return DataFit(rows, sigma, freedom, freedom)
    chi_square = squares / data.noise**2
    # of rows that are cut off the squares vary less than those of normal ones, by 2
    less = 2 / mine.spread
    probability = (
        float(gammaincc(less * freedom / 2, less * chi_square / 2)) if freedom else np.nan
    )
    return DataFit(
        rows, data.noise, freedom, chi_square, probability, mine.left_out, mine.outliers
    )


# ---- what is said


def _errors(
    free: list[Coefficient], vectors: np.ndarray, inner: np.ndarray
) -> tuple[dict[str, float], dict[str, dict[str, float]]]:
    reaches = np.array([one.reach for one in free])
    weights = vectors**2
    with np.errstate(invalid="ignore"):
        diagonal = np.diag(inner)
        endless = np.isinf(diagonal)
        finite = np.where(endless[:, None] | endless, 0.0, inner)
        covariance = vectors @ finite @ vectors.T
        covariance = (covariance + covariance.T) / 2
        variances = np.diag(covariance).clip(0.0).copy()
        variances[(weights[:, endless] > _INVOLVED**2).any(axis=1)] = np.inf
        deviations = np.sqrt(variances)
        shares = np.outer(deviations, deviations)
        usable = np.isfinite(shares) & (shares > 0)
        correlations = np.divide(covariance, shares, out=np.zeros_like(shares), where=usable)
    np.fill_diagonal(correlations, 1.0)
    names = [one.name for one in free]
    errors = {n: float(d * r) for n, d, r in zip(names, deviations, reaches, strict=True)}
    clipped = np.clip(correlations, -1.0, 1.0).tolist()
    return errors, {n: dict(zip(names, row, strict=True)) for n, row in zip(names, clipped,
                                                                           strict=True)}


def _not_trained(names: Collection[str]) -> str:
    return (
        f"not trained: {', '.join(names)} still {'have' if len(names) > 1 else 'has'} the value of "
        "the start, which no step has moved, and so no standard error"
    )


def _undetermined(
    free: list[Coefficient], directions: np.ndarray, found: Recovery
) -> Iterator[str]:
    for direction in directions.T:
        involved = [
            one for one, part in zip(free, direction, strict=True) if abs(part) > _INVOLVED
        ]
        names = ", ".join(repr(one.name) for one in involved)
        if len(involved) == 1:
            (one,) = involved
            yield (
                f"the data do not determine the parameter {names}: its standard error, "
                f"{found.standard_errors[one.name]:.2g}, is larger than its range, "
                f"{one.reach:.2g}; measure where it matters, or give it as a constant"
            )
        else:
            yield (
                f"the data do not tell the parameters {names} apart: they may change together, by "
                "more than their range, and the data stay as they are; measure something else, or "
                "give one of them as a constant"
            )


def _at_bounds(coefficients: list[Coefficient]) -> Iterator[str]:
    for one in coefficients:
        if one.bound is not None:
            yield (
                f"the parameter {one.name!r} stands at its {one.bound}, so it has no standard "
                "error; widen the bound if values beyond make sense"
            )


def _not_ended(network: Elimination) -> Iterator[str]:
    if not network.ended:
        yield (
            "the standard errors are lower bounds: with so large a network the iterations that "
            "they come from did not end; take a smaller network to be sure of them"
        )


def _misfits(fits: dict[str, DataFit], data: Sequence[Noisy]) -> Iterator[str]:
    """Name the data that lie further off than their noise; a sigma may well be a cautious one."""
    for one, (name, fit) in zip(data, fits.items(), strict=True):
        if fit.probability < UNLIKELY:
            yield (
                f"the data of {name} lie {fit.off}: "
                f"{_outlying(one) or _lacking(one) or _not_fitting(fit)}"
            )


def _outlying(data: Noisy) -> str | None:
    """Say that a few rows far off are most of a misfit, None where they are not."""
    block, rows = data.block, np.abs(data.judged.rows) / data.noise
    # one row far off moves the fit, and the others with it
    usual = max(1.0, float(np.median(rows)) / _MEDIAN)
    far = rows > _FAR * usual
    count, most = int(np.count_nonzero(far)), max(1, math.floor(_MOST_FAR * len(rows)))
    if block.residual.huber is not None or not 0 < count <= most:
        return None
    share = float(np.sum(rows[far] ** 2) / np.sum(rows**2))
    if share < _MOST_OF_IT:
        return None
    coordinates = block.residual.source.domain.coordinates
    place = block.points.coordinates[int(np.argmax(rows))]
    where = ", ".join(f"{n} = {v:.4g}" for n, v in zip(coordinates, place, strict=True))
    are = "is" if count == 1 else "are"
    return (
        f"{count} of {len(rows)} rows, {rows[far].min():.2g} sigma off or more, {are} {share:.0%} "
        f"of it, the worst {rows.max():.2g} sigma at {where}; where they are wrong, leave them "
        'out, or give the data robust="huber"'
    )


def _lacking(data: Noisy) -> str | None:
    """Say that rows beside each other are off alike, which noise is not; None where they are not.

    That is by the correlation of each row with the nearest one, lengths as shares of the domain's.
    """
    from scipy.spatial import KDTree

    rows, places = data.judged.rows, data.block.points.coordinates
    if len(rows) != len(places) or len(rows) < 3:
        return None
    bounds = np.array(list(data.block.residual.source.domain.bounds.values()))
    places = places / np.ptp(bounds, axis=1)
    _, nearest = KDTree(places).query(places, k=2)
    # of rows at one place either may come first
    other = np.where(nearest[:, 0] == np.arange(len(rows)), nearest[:, 1], nearest[:, 0])
    alike = float(np.sum(rows * rows[other]) / np.sum(rows**2))
    if alike < max(_ALIKE, _BY_CHANCE * math.sqrt(2 / len(rows))):
        return None
    return (
        "the equations may lack something that was measured, a term, a source or a coefficient "
        f"that varies: rows beside each other are off alike (correlation {alike:.2f}), as noise is "
        "not; see whether the equations are those of the measurement, else train longer"
    )


def _not_fitting(fit: DataFit) -> str:
    return (
        f"where the equations are those of the measurement, sigma is about {fit.scatter:.2g} times "
        "what was told; else they lack something that was measured, or training has not come far "
        "enough"
    )
