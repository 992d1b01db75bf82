"""What the data say of the coefficients of an inverse problem, and how well they are fitted."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pinn.checks import equal_with_nan

# Nearer to a solution than this share of their sigma data are not, where there are so many of them.
_CAUTIOUS, _ENOUGH = 0.5, 10.0
UNLIKELY = 1e-3
"""Data that lie as far off, or further, with less than this probability do not fit."""
# Of standard errors where training did not solve the problem.
_NOT_YET = (
    "the standard errors are those of noise at a solution of the equations that fits the data, "
    "which this is not"
)
# By chance the worst of all blocks of data is as unlikely as that so often.
_SELDOM, _DOUBTED = 0.05, 0.01


@equal_with_nan
@dataclass(frozen=True)
class DataFit:
    """How far a solution is from a block of data, in units of their noise.

    rows       how many measurements there are
    sigma      the standard deviation of their noise: what was given (of several the mean in the
               sense of 1/sigma^2), else estimated from what is left of them
    freedom    rows less the numbers that were fitted to them (the trace of the hat matrix); of a
               robust fit of the rows within its threshold
    chi_square the sum of the squares of what is left, in units of sigma; about `freedom` where the
               noise is what was said
    probability  of a sum as large or larger if so; nan where sigma was estimated
    left_out   how many rows lie beyond the threshold of a robust fit, which leaves outliers aside
    outliers   how many of those lie further off than noise reaches
    """

    rows: int
    sigma: float
    freedom: float
    chi_square: float
    probability: float = math.nan
    left_out: int = 0
    outliers: int = 0

    @property
    def scatter(self) -> float:
        """How far the data lie from the solution in units of sigma; 1 is expected."""
        return math.sqrt(self.chi_square / self.freedom) if self.freedom > 0 else math.nan

    @property
    def off(self) -> str:
        """How far off the data lie, in words, with the numbers that a test of it takes."""
        return (
            f"{self.scatter:.2g} of their sigma from the solution, where 1 is expected (chi-square "
            f"{self.chi_square:.4g} for {self.freedom:.4g} degrees of freedom)"
        )

    @property
    def text(self) -> str:
        """It in words: "80 rows, 0.98 sigma from the solution"."""
        if math.isnan(self.probability):
            return f"{self.rows} rows, noise of about {self.sigma:.2g} by what is left of them"
        found = f"{self.rows} rows, {self.scatter:.2f} sigma from the solution"
        if self.scatter < _CAUTIOUS and self.freedom >= _ENOUGH:
            found += ", where 1 is expected: sigma seems too large, and standard errors with it"
        if self.probability < UNLIKELY:
            found += (
                f", where 1 is expected: standard errors are those of the sigma that was told, and "
                f"would be {self.scatter:.2g} times as large by this scatter"
            )
        elif self.probability < _SELDOM:
            found += (
                f", as far as noise brings {_share(self.probability)} of such data: see whether "
                "the equations are those of the measurement"
            )
        if self.left_out:
            found += f", but for {self.left_out} beyond the threshold of the robust fit"
        if self.outliers:
            found += f", {self.outliers} of them further off than noise reaches"
        return found


@equal_with_nan
@dataclass(frozen=True)
class Recovery:
    """Standard errors of the coefficients, their correlations, and the fit of each block of data.

    standard_errors: coefficient -> one standard deviation. A coefficient at its bound has none. Of
    one that nothing determines it is larger than the whole range of the coefficient. correlations:
    coefficient -> coefficient -> number in [-1, 1]. data: block -> DataFit. These are empty where
    there are no data; see pinn.diagnosis.recovery. untrained: the coefficients of a run without a
    step; they stand where they started, and have no standard errors.
    """

    standard_errors: dict[str, float] = field(default_factory=dict)
    correlations: dict[str, dict[str, float]] = field(default_factory=dict)
    data: dict[str, DataFit] = field(default_factory=dict)
    untrained: tuple[str, ...] = ()

    def doubt(self, unsolved: bool) -> str:
        """Return why the standard errors may be too small, a sentence; "" where nothing says so.

        unsolved: whether training did not solve the problem.
        """
        if not self.standard_errors:
            return ""
        if unsolved:
            return _NOT_YET
        told = {n: f.probability for n, f in self.data.items() if not math.isnan(f.probability)}
        worst = min(told, key=told.__getitem__, default="")
        if not told or len(told) * told[worst] >= _DOUBTED:
            return ""
        return (
            "the standard errors are those of noise alone, which brings the data of "
            f"{worst} as far off in {_share(told[worst])} of such fits: sigma is larger than was "
            "told, or what the equations lack has moved the coefficients by more than these say"
        )

    def text(self, parameters: Mapping[str, float], sure: bool = True) -> list[str]:
        """Return each coefficient with its standard error: "k = 0.301 ± 0.004".

        sure: whether the problem is solved, which the standard errors are those of.
        """
        return [f"{name} = {self.of(name, value, sure)}" for name, value in parameters.items()]

    def of(self, name: str, value: float, sure: bool = True) -> str:
        """Return the value of one coefficient so: "0.301 ± 0.004"."""
        if name in self.untrained:
            return f"{value:.6g} (not trained)"
        if name not in self.standard_errors:
            return f"{value:.6g}"
        doubt = "" if sure else ", not to be trusted"
        return f"{value:.6g} ± {self.standard_errors[name]:.2g}{doubt}"

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        data = {name: dict(vars(fit)) for name, fit in self.data.items()}
        return vars(self) | {"data": data, "untrained": list(self.untrained)}


def _share(probability: float) -> str:
    """Return a small probability in words: "4 in a thousand"."""
    if probability < UNLIKELY:
        return "fewer than one in a thousand"
    return f"{100 * probability:.0f} in a hundred" if probability >= 0.01 else (
        f"{1000 * probability:.0f} in a thousand"
    )
