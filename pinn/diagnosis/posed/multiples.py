"""Coefficients of which no data tell more than their ratios."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

import autograd as T
from pinn.diagnosis.posed.statement import Stated, Statement
from pinn.sampling import stream

# Of a central difference in the logarithm of a coefficient: its step, and what its slopes agree to.
_STEP, _ROUNDING = 1e-4, 1e-6
# The least part of a coefficient in a direction, to be named for it.
_INVOLVED = 1e-3
_STATES = 2


def multiples(statement: Statement) -> Iterator[str]:
    """Yield a sentence for each set of coefficients that may have powers of a number as factors."""
    for powers, involved in _free(statement):
        yield _said(powers, involved)


def free_coefficients(statement: Statement) -> set[str]:
    """Return the names of the coefficients of which no data tell more than ratios or products."""
    return {name for powers, _ in _free(statement) for name in powers}


def _free(statement: Statement) -> Iterator[tuple[dict[str, float], list[Stated]]]:
    """Yield the powers of coefficients that one number may come in, and the residuals with them.

    Where m, c and k are multiplied by 2, m u_tt + c u_t + k u is, whatever u is: it vanishes where
    it did, and where all of them are zero. Sought are exponents a such that each residual that has
    coefficients c_i, with l^a_i c_i in their place, is l^k times what it was. With slopes at random
    values of u, u_x ... that is sum_i a_i d(log r)/d(log c_i) = k, a linear system for a and the
    ks. Nothing is said of functions that only a network can run.
    """
    names = [one.name for one in statement.problem.parameters]
    involved = [
        one for one in (*statement.equations, *statement.conditions)
        if one.linear is None or one.linear[0].coefficients
    ]  # fmt: skip
    if not names or not involved or any(not one.is_finite for one in involved):
        return
    rows = []
    for number, stated in enumerate(involved):
        for slopes in _slopes(statement, stated, names):
            own = np.zeros((slopes.shape[0], len(involved)))
            own[:, number] = -1.0
            rows.append(np.hstack([slopes, own]))
    matrix = np.vstack(rows)
    matrix /= np.abs(matrix).max(axis=1, keepdims=True)
    used = np.flatnonzero(np.any(matrix[:, : len(names)], axis=0))  # others are idle
    columns = [*used, *range(len(names), matrix.shape[1])]
    _, sizes, directions = np.linalg.svd(matrix[:, columns])
    free = directions[np.count_nonzero(sizes > _ROUNDING * sizes[0]) :, : len(used)]
    for direction in _reduced(free):
        found = {names[k]: part for k, part in zip(used, direction, strict=True)
                 if abs(part) > _INVOLVED * np.abs(direction).max()}  # fmt: skip
        yield found, [one for one in involved if _coefficients(one) & set(found)]


def _reduced(directions: np.ndarray) -> np.ndarray:
    """Return directions, (n, coefficients), that span the same and have few coefficients each."""
    found = directions.copy()
    for row in range(len(found)):
        column = int(np.argmax(np.abs(found[row])))
        found[row] /= found[row, column]
        for other in range(len(found)):
            if other != row:
                found[other] -= found[other, column] * found[row]
    return found


def _coefficients(stated: Stated) -> frozenset[str]:
    return stated.linear[0].coefficients


def _slopes(statement: Statement, stated: Stated, names: list[str]) -> Iterator[np.ndarray]:
    """Yield d(log r)/d(log c), (n, names), at points where r is not next to zero."""
    rng = stream(0, "multiples")
    for state in range(_STATES):
        values = {}
        for one in statement.problem.parameters:
            raw = one.raw_initial + 0.3 * rng.standard_normal()
            values[one.name] = one.value(T.tensor(raw, dtype=T.float64)).item()
        middle = statement.value(stated, state, values)
        if middle is None or not np.isfinite(middle).all():
            continue
        away = np.abs(middle) > 1e-3 * np.abs(middle).max()
        slopes = np.zeros((np.count_nonzero(away), len(names)))
        for k, name in enumerate(names):
            if name in _coefficients(stated):
                ends = [_moved(statement, stated, state, values, name, sign) for sign in (1, -1)]
                slopes[:, k] = ((ends[0] - ends[1]) / (2 * _STEP) / middle)[away]
        if np.isfinite(slopes).all() and len(slopes):
            yield slopes


def _moved(
    statement: Statement,
    stated: Stated,
    state: int,
    values: Mapping[str, float],
    name: str,
    sign: int,
) -> np.ndarray:
    moved = {**values, name: values[name] * np.exp(sign * _STEP)}
    return statement.value(stated, state, moved)


def _said(powers: Mapping[str, float], involved: list[Stated]) -> str:
    named = ", ".join(map(repr, powers))
    where = " and ".join(one.residual.what for one in involved)
    hold = f"{where} {'hold' if len(involved) > 1 else 'holds'} as well"
    if len(powers) == 1:
        return f"no data tell the parameter {named}: {hold} with any other value; leave it out"
    if np.ptp(list(powers.values())) < _INVOLVED * max(map(abs, powers.values())):
        return (
            f"no data tell more than the ratios of the parameters {named}: {hold} where all of "
            "them are multiplied by one number, and where all are zero; give one as a constant"
        )
    return (
        f"no data tell the parameters {named} apart: {hold} where they change together, as the "
        "factors of a product do; give one as a constant"
    )
