"""What is measured: a problem in a file, and what its solution is compared with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Protocol

import numpy as np

import pinn


@dataclass(frozen=True)
class Reference:
    """Values to compare with that do not come from a formula of the config.

    points: the coordinates, (n,) each. values: the unknowns (or fields) there, (n,) each.
    agreement: the relative L2 difference between two resolutions of the method. method: what
    computed them, in a few words.
    """

    points: Mapping[str, np.ndarray]
    values: Mapping[str, np.ndarray]
    agreement: float
    method: str


@dataclass(frozen=True)
class Computed:
    """A reference that is computed, and whose libraries are imported, when it is needed.

    module, name: of the function that computes it.
    """

    module: str
    name: str

    def __call__(self) -> Reference:
        return getattr(import_module(self.module), self.name)()


class Case(Protocol):
    """A row of a table that is measured by training.

    name: its own. file: a config, or a program with PROBLEM and solve(seconds, seed) in place of
    one. settings: what is laid over the config, such as "sampling.interior=500". reference: makes
    what to compare with where the config has no formula. up_to_constant: unknowns that are
    determined up to a constant and compared without their means. truth: the coefficients to be
    found.
    """

    name: str
    settings: tuple[str, ...] = ()
    reference: Callable[[], Reference] | None
    up_to_constant: tuple[str, ...]
    truth: Mapping[str, float]

    @property
    def file(self) -> Path: ...


def compare(case: Case, solution: pinn.Solution) -> tuple[dict[str, float], float | None, str]:
    """Return the relative errors by name, how well the reference is known, and what it is.

    Of unknowns and fields the relative L2 error, of coefficients the relative error.
    """
    agreement, method = None, "formula"
    if case.reference is None:
        errors = dict(solution.report.rel_l2)
        if case.up_to_constant:
            raise ValueError(f"{case.name}: a formula cannot be compared up to a constant yet")
    else:
        reference = case.reference()
        agreement, method = reference.agreement, reference.method
        found = solution.evaluate(**reference.points) if reference.values else {}
        errors = {
            name: relative_l2(found[name], values, name in case.up_to_constant)
            for name, values in reference.values.items()
        }
    for name, value in case.truth.items():
        errors[name] = abs(solution.parameters[name] - value) / abs(value)
    return errors, agreement, method


def relative_l2(found: np.ndarray, exact: np.ndarray, up_to_constant: bool = False) -> float:
    """Return |found - exact| / |exact|; up_to_constant: of both without their means."""
    found, exact = np.ravel(found), np.ravel(exact)
    if up_to_constant:
        found, exact = found - found.mean(), exact - exact.mean()
    return float(np.linalg.norm(found - exact) / np.linalg.norm(exact))


def disagreement(coarse: Mapping[str, np.ndarray], fine: Mapping[str, np.ndarray]) -> float:
    """Return the largest relative L2 difference of the unknowns in two resolutions."""
    return max(relative_l2(coarse[name], fine[name]) for name in fine)
