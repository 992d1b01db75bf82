"""Several solutions of one problem: their mean, and how far they lie apart."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from pinn.files import from_json
from pinn.problem import Problem
from pinn.solution.accuracy import Errors, TestSet
from pinn.solution.solution import Solution, load
from pinn.solution.storage import short_json


class Ensemble:
    """Solutions of one problem that differ by chance, such as the seeds of their networks.

    Their mean is a better solution than most of them, and their spread, the standard deviation,
    says how much of each is chance: where the points and the loss do not hold the networks, they
    go different ways. What all of them have wrong alike is not in it, so it is no bound of the
    error (`Solution.error_estimate` estimates that).

    solutions: two or more. Raises ValueError for fewer, and for solutions of different problems.
    Source: Lakshminarayanan, Pritzel, Blundell, Simple and scalable predictive uncertainty
    estimation using deep ensembles (2017), section 2.4, with members that have no variance.
    """

    def __init__(self, solutions: Iterable[Solution]) -> None:
        self.solutions = tuple(solutions)
        if len(self.solutions) < 2:
            raise ValueError(
                f"Ensemble: expected two solutions or more, got {len(self.solutions)}; a spread is "
                "between them"
            )
        first, *others = (_declaration(solution) for solution in self.solutions)
        for number, other in enumerate(others, 1):
            different = [key for key in first if first[key] != other.get(key)]
            if different:
                raise ValueError(
                    f"Ensemble: solution {number} is of another problem than the first: its "
                    f"{' and '.join(different)} {'is' if len(different) == 1 else 'are'} another; "
                    "give solutions of one problem"
                )

    def __repr__(self) -> str:
        return f"<Ensemble of {len(self.solutions)} solutions of {self.problem.name!r}>"

    @classmethod
    def load(cls, folder: str | os.PathLike[str], device: str | None = "cpu") -> Ensemble:
        """Return that of all runs in a folder, such as a sweep over seeds leaves.

        Runs that diverged, or that have no solution yet, are left out. device: as of pinn.load.
        Raises FileNotFoundError where there is no such folder, ValueError where it is a run itself
        or fewer than two are left, and what pinn.load raises.
        """
        folder = Path(folder)
        if not folder.is_dir():
            raise FileNotFoundError(
                f"Ensemble.load: {folder}: no such folder; give the one that holds the runs"
            )
        if (folder / "solution.npz").exists() or (folder / "config.yaml").exists():
            raise ValueError(
                f"Ensemble.load: {folder} is a run, not a folder of runs; give the folder that "
                "it lies in, or read this one by pinn.load"
            )
        found = [load(path, device=device) for path in sorted(folder.glob("*/solution.npz"))]
        good = [solution for solution in found if solution.report.stop_reason != "diverged"]
        if len(good) < 2:
            raise ValueError(
                f"Ensemble.load: {folder}: expected two runs or more with a solution that did not "
                f"diverge, got {len(good)} (and {len(found) - len(good)} that diverged)"
            )
        return cls(good)

    @property
    def problem(self) -> Problem:
        """The problem that is solved."""
        return self.solutions[0].problem

    def members(self, **coordinates: Any) -> dict[str, np.ndarray]:
        """Return what every solution's `evaluate` does, each along a first axis: (members, ...)."""
        first, *others = self.solutions
        found = [first.evaluate(**coordinates)]  # it warns of points outside, which is enough
        found += [solution.evaluate_anywhere(**coordinates) for solution in others]
        return {name: np.stack([one[name] for one in found]) for name in found[0]}

    def evaluate(self, **coordinates: Any) -> dict[str, np.ndarray]:
        """Return the mean of every unknown and field at points; as `Solution.evaluate`."""
        found = self.members(**coordinates)
        return {name: np.asarray(values.mean(0)) for name, values in found.items()}

    def spread(self, **coordinates: Any) -> dict[str, np.ndarray]:
        """Return the standard deviation of every unknown and field at points, between solutions.

        It is that of a sample, with n - 1 below the sum. coordinates: as of `Solution.evaluate`.
        """
        found = self.members(**coordinates)
        return {name: np.asarray(values.std(0, ddof=1)) for name, values in found.items()}

    @property
    def parameters(self) -> dict[str, float]:
        """The mean of every trained coefficient by name."""
        return {name: float(values.mean()) for name, values in self._coefficients.items()}

    @property
    def parameter_spread(self) -> dict[str, float]:
        """The standard deviation of every trained coefficient by name, as of `spread`."""
        return {name: float(values.std(ddof=1)) for name, values in self._coefficients.items()}

    def errors(self) -> Errors:
        """Compare the mean with the problem's reference; as `Solution.errors`."""
        points = self.solutions[0].experiment.draw_points().values()
        test = TestSet(self.problem, (one.coordinates for one in points))
        return test.errors(self.evaluate)

    @property
    def _coefficients(self) -> dict[str, np.ndarray]:
        found = [solution.parameters for solution in self.solutions]
        return {name: np.array([one[name] for one in found]) for name in found[0]}


def _declaration(solution: Solution) -> dict[str, Any]:
    return from_json(short_json(solution.experiment)[0])["problem"]
