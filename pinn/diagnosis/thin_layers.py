"""Thin layers that small highest derivatives make, and the constant that makes them small."""

from __future__ import annotations

import dataclasses
import math
from typing import NamedTuple

import numpy as np

from pinn.diagnosis.orders import parts_of
from pinn.diagnosis.statement import Stated, Statement, statement_of
from pinn.equations.leaves import At
from pinn.problem import Problem

# How often the derivatives of highest order are taken larger to see how a layer follows them.
_FACTOR = 2.0
# A width that changes by less than this power of a constant is none of its making.
_LEAST_POWER = 0.25
TOO_THIN = 1 / 200
"""Thinner layers than this share of the domain are not found from the start of a network: the
residual is small too where the solution jumps elsewhere, or does not meet a condition."""


class Thin(NamedTuple):
    """The width of the thinnest layer of a problem, as a share of the domain, and its constant.

    The width is proportional to constant**power; "" and 0 where no constant makes it.
    """

    width: float
    constant: str
    power: float


def thinnest(problem: Problem) -> Thin | None:
    """Return the thinnest layer that a steady problem's terms of highest order make, or None.

    In a layer the terms of highest order, of size a_m, balance one of lower order, of size a_j:
    its width w has a_m / w^m = a_j / w^j. Sizes are slopes of the equations in the derivatives of
    their unknowns, in random states of size one. A term without a derivative that has the sign of
    waves makes none. O'Malley, Singular Perturbation Methods for Ordinary Differential Equations,
    Springer 1991, chapter 2.
    """
    if problem.domain.time is not None:
        return None
    width = _width(problem)
    if width is None or width >= 1:
        return None
    found = []
    for name, value in problem.constants.items():
        if any(name in needs for needs in problem.computed_from.values()):
            continue
        try:
            other = _width(_with_constant(problem, name, _FACTOR * value)) if value else None
        except ValueError:  # what the problem says has no value there, as acos(a)
            continue
        if other is not None:
            found.append(Thin(width, name, math.log(other / width) / math.log(_FACTOR)))
    best = max(found, key=lambda one: abs(one.power), default=None)
    return best if best is not None and abs(best.power) >= _LEAST_POWER else Thin(width, "", 0.0)


def _with_constant(problem: Problem, name: str, value: float) -> Problem:
    constants = {**problem.constants, name: value}
    return dataclasses.replace(problem, constants=constants, reference=None)


def _width(problem: Problem) -> float | None:
    """Return the width of the thinnest layer of all equations, None where none tells of any."""
    statement = statement_of(problem)
    if statement is None:
        return None
    widths = [_of_equation(statement, equation) for equation in statement.equations]
    return min((width for width in widths if width is not None), default=None)


def _of_equation(statement: Statement, equation: Stated) -> float | None:
    if not equation.is_finite:
        return None
    sizes, waves = _sizes(statement, equation)
    top = max(sizes, default=0)
    if top < 2 or not sizes[top]:
        return None
    ratios = {
        order: size / sizes[top] for order, size in sizes.items()
        if order < top and size and not (order == 0 and waves)
    }  # fmt: skip
    return min((ratio ** (-1 / (top - order)) for order, ratio in ratios.items()), default=None)


def _sizes(statement: Statement, equation: Stated) -> tuple[dict[int, float], bool]:
    """Return how large the terms of each order are where the domain has length one, and waves.

    Waves: whether the terms of no and of highest order have the signs of u'' + u somewhere.
    """
    domain = statement.problem.domain
    lengths = {name: float(np.ptp(domain.bounds[name])) for name in domain.coordinates}
    sizes: dict[int, float] = {}
    signed: dict[int, float] = {}
    for one in equation.linear:
        own: dict[int, np.ndarray] = {}
        for leaf, slopes in one.slopes.items():
            if isinstance(leaf, At):
                continue
            for names, count in parts_of(leaf, domain.space):
                scaled = count * slopes / math.prod(lengths[name] for name in names)
                own.setdefault(len(names), np.zeros(scaled.shape[-1:]))
                size = float(np.sqrt(np.mean(scaled**2)))
                sizes[len(names)] = max(sizes.get(len(names), 0.0), size)
                own[len(names)] = own[len(names)] + scaled
        for order, total in own.items():
            signed[order] = signed.get(order, 0.0) + float(np.mean(total))
    top = max(sizes, default=0)
    # of an even order 2k the symbol of a derivative is (-1)^k |xi|^2k
    waves = 0 in signed and top % 2 == 0 and signed[0] * signed[top] * (-1) ** (top // 2) < 0
    return sizes, bool(waves)
