"""What is said of the error of a solution, without a reference."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pinn.checks import equal_with_nan
from pinn.estimates.error_field import ErrorField
from pinn.estimates.noise_band import NoiseBand

# From this share of the solution on an estimated error says that there is none, not how far it is.
_NO_SOLUTION = 0.5
# What leaves less of the residual explains it: there is little in it of errors of another kind.
EXPLAINED = 1 / 3
NOT_COMPARED = (
    "the limit in time left no room to tell errors that the residual hardly sees from chance; "
    "solution.error_estimate() does"
)


def of_no_solution(relative: Mapping[str, float | None]) -> list[str]:
    """Return a sentence where estimated relative errors are as large as those of no solution.

    relative: by name; None where a file could not hold it.
    """
    far = [name for name, one in relative.items() if one is None or not one < _NO_SOLUTION]
    if not far:
        return []
    return [
        f"{', '.join(far)} {'have' if len(far) > 1 else 'has'} one of half the size or more, which "
        "is that of no solution, and the maximum is no bound"
    ]


def partly_of_no_solution(relative: Mapping[str, float]) -> list[str]:
    """Return the same where others are smaller: what is no solution takes these with it."""
    far = [name for name, one in relative.items() if of_no_solution({name: one})]
    return of_no_solution(relative) if len(far) < len(relative) else []


def is_doubted(relative: float | None, doubts: Sequence[str]) -> bool:
    """Whether an estimate is not to be trusted: for its doubts, or as it is of no solution.

    relative: the estimated relative L2 error; None where a file could not hold it.
    """
    return bool(reasons({"": relative}, doubts))


def reasons(relative: Mapping[str, float | None], doubts: Sequence[str]) -> list[str]:
    """Return why estimates are not to be trusted, a sentence each; relative: as of is_doubted."""
    return [*doubts, *(one for one in of_no_solution(relative) if one not in doubts)]


def shown(error: float | None, form: str) -> str:
    """Return an estimated error as text, in a form such as ".1e"."""
    return "not told" if error is None or math.isnan(error) else format(error, form)


def left_out(seconds: float, limit: float) -> str:
    """Return why there is no estimate where it would take longer than it may."""
    return (
        f"it takes about {seconds:.0f} s or more, and the limit in time allows it {limit:.3g}; "
        "solution.error_estimate() makes it"
    )


def made_of_a_part(share: float, seconds: float) -> str:
    """Return what is said of an estimate that a limit in time has cut; seconds: all of it take."""
    return (
        f"the limit in time left room for {share:.0%} of the estimate's points and functions; "
        f"solution.error_estimate() makes it of all, in about {seconds:.0f} s"
    )


@equal_with_nan
@dataclass(frozen=True)
class ErrorEstimate:
    """How far a solution seems to be from the true one; printed, a table.

    relative_l2  ||e|| / ||u + e|| over the domain by unknown, field and quantity that is made of
                 them: what a comparison with a reference would find as ||u - u*|| / ||u*||
    maximum      max |e|, by the same names; nan where it is not told, as e does not explain the
                 residual and is far beyond the size of the solution
    where        the place of that, by coordinate
    unexplained  |R(u + e)| / |R(u)| at points that took no part: what a solution with the estimated
                 error taken off leaves of the residual. Well below 1 the estimate is that of the
                 equations themselves
    possible     the largest relative L2 error by unknown that leaves the residual as small as it
                 is, to first order, among what the estimate was looked for in: where it is far
                 beyond the estimate, the equations and conditions hardly determine the unknown
    noise        how far noise in the data may have moved an unknown or field (relative L2 of one
                 standard error) where that is more than the equations tell: relative_l2 is that,
                 `error` is not
    band         the standard errors at the places that this was found at, None where it was not
    fresh        root mean square of each block's residual at points that training never saw
    trained      the same at the points of training
    share        of the points and functions of an estimate that it was made with: less than 1 where
                 a limit in time left no room for more, 0 where it left none for an estimate
    doubts       why the estimate is not to be trusted, a sentence each; that it is of the size of
                 no solution is another reason (`trusted`)
    remarks      what else was seen on the way, such as an overfit to the points
    seconds      that it took
    error        the error as a function of the coordinates; None of an estimate out of a file, and
                 where there is none

    With e the error, u + e is the better solution: e = u* - u. Of a quantity q(u) the error is
    q(u + e) - q(u).
    """

    relative_l2: dict[str, float] = field(default_factory=dict)
    maximum: dict[str, float] = field(default_factory=dict)
    where: dict[str, dict[str, float]] = field(default_factory=dict)
    unexplained: float = math.nan
    possible: dict[str, float] = field(default_factory=dict, metadata={"later": True})
    noise: dict[str, float] = field(default_factory=dict, metadata={"later": True})
    band: NoiseBand | None = field(
        default=None, compare=False, repr=False, metadata={"later": True}
    )
    fresh: dict[str, float] = field(default_factory=dict)
    trained: dict[str, float] = field(default_factory=dict)
    share: float = field(default=1.0, metadata={"later": True})
    doubts: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    seconds: float = field(default=math.nan, compare=False)
    error: ErrorField | None = field(
        default=None, compare=False, repr=False, metadata={"stored": False}
    )

    @property
    def up_to(self) -> dict[str, float]:
        """How large the errors of which an estimate is not to be trusted may be, by unknown.

        The larger errors of `possible`; those that are not told, and of estimates that are
        trusted, are left out.
        """
        found = {}
        for name, value in self.relative_l2.items():
            error = self.possible.get(name)
            is_known = error is not None and not math.isnan(error)
            is_larger = is_known and (value is None or not error <= value)
            if is_larger and is_doubted(value, self.doubts):
                found[name] = error
        return found

    @property
    def may_be(self) -> dict[str, str]:
        """The errors of `up_to` as text, beyond an unknown itself without a number.

        Where the estimate does not explain the residual, more is possible: of kinds that were not
        looked for.
        """
        is_bound = self.unexplained < EXPLAINED
        return {
            name: f"{error:.1e}{'' if is_bound else ' or more'}" if error < 1 else "all of it"
            for name, error in self.up_to.items()
        }

    @property
    def is_whole(self) -> bool:
        """Whether it is there, and all of it: no limit in time has left out a part."""
        return self.error is not None and self.share == 1 and NOT_COMPARED not in self.remarks

    @property
    def trusted(self) -> bool:
        """Whether there is an estimate, and nothing speaks against it: neither doubts nor size."""
        return bool(self.relative_l2) and not reasons(self.relative_l2, self.doubts)

    def moved_by_noise(
        self,
        noise: Mapping[str, float],
        maximum: Mapping[str, float],
        where: Mapping[str, dict[str, float]],
        solved: bool = False,
    ) -> ErrorEstimate:
        """Return the estimate with what noise has moved, by unknown or field, where that is more.

        noise: of the size of one standard error in relative L2. maximum, where: the largest
        standard error, and its place. solved: whether equations and conditions hold, and the data
        lie within their noise; what speaks against the estimate of the equations does not speak
        against one that is noise all over, as these were asked how far u is from what satisfies
        them, and noise does not show there.
        """
        raised = {n: share for n, share in noise.items() if share > self.relative_l2.get(n, 0.0)}
        # a maximum that is not told, nan, stays so
        larger = {n for n, value in maximum.items() if value > self.maximum.get(n, 0.0)}
        told = ", ".join(f"{name} by {share:.1e}" for name, share in raised.items())
        remark = (
            f"noise in the data may have moved {told} (relative L2, one standard error): the "
            "estimate is this, as the equations alone would tell a smaller one"
        )
        found = dataclasses.replace(
            self, noise=raised, relative_l2={**self.relative_l2, **raised},
            maximum={**self.maximum, **{name: maximum[name] for name in larger}},
            where={**self.where, **{name: where[name] for name in larger}},
            remarks=(*self.remarks, remark) if raised else self.remarks,
        )  # fmt: skip
        if solved and raised and raised.keys() >= found.relative_l2.keys():
            return dataclasses.replace(found, doubts=(), possible={}, remarks=(remark,))
        return found

    def evaluate(self, **coordinates: Any) -> dict[str, np.ndarray]:
        """Return the estimated error e = u* - u of each unknown, field and quantity at points.

        Coordinates as of `Solution.evaluate`. Raises ValueError for an estimate out of a file, and
        where there is none.
        """
        return self._field().evaluate(coordinates, stacklevel=2)

    def derivative(self, expression: str, **coordinates: Any) -> np.ndarray:
        """Return the estimated error of a derivative, or of any expression, at points.

        Of a coefficient, by its name alone, it is how far that moves with e.
        Arguments and errors as of `Solution.derivative`; ValueError as of `evaluate`.
        """
        return self._field().expressions([expression], coordinates, stacklevel=2)[0]

    def _field(self) -> ErrorField:
        if self.error is not None:
            return self.error
        if self.relative_l2:
            raise ValueError(
                "a file has the numbers of an error estimate, not the error itself; "
                "solution.error_estimate() computes it again"
            )
        if self.doubts:
            raise ValueError(f"there is no estimate of the error: {'; '.join(self.doubts)}")
        raise ValueError(
            "no estimate of the error was made; solution.error_estimate() makes one"
        )

    def text(self) -> list[str]:
        """Return a phrase for each unknown: "estimated error of u 2.1e-05"."""
        may_be = self.may_be
        return [
            f"estimated error of {name} {shown(value, '.1e')}"
            f"{', not to be trusted' if is_doubted(value, self.doubts) else ''}"
            f"{f': it may be {may_be[name]}' if name in may_be else ''}"
            for name, value in self.relative_l2.items()
        ]

    def __str__(self) -> str:
        lines, may_be = [], self.may_be
        if self.relative_l2:
            bound = f"{'may be':>17}" if may_be else ""
            lines.append(f"{'':12}{'relative L2':>14}{bound}{'maximum':>12}  at")
        for name, value in self.relative_l2.items():
            place = ", ".join(f"{n} = {v:.4g}" for n, v in self.where.get(name, {}).items())
            largest = shown(self.maximum[name], ".2e")
            told = shown(value, ".2e")
            bound = f"{may_be.get(name, ''):>17}" if may_be else ""
            lines.append(f"{name:12}{told:>14}{bound}{largest:>12}  {place}".rstrip())
        if not math.isnan(self.unexplained):
            part = "all of it" if self.unexplained >= 1 else f"{self.unexplained:.2g}"
            lines.append(f"unexplained part of the residual: {part}")
        for name, value in self.fresh.items():
            trained = self.trained.get(name, math.nan)
            lines.append(
                f"residual of {name}, root mean square: {value:.2e} on fresh points, "
                f"{trained:.2e} trained"
            )
        lines += [f"not to be trusted: {one}" for one in reasons(self.relative_l2, self.doubts)]
        lines += self.remarks
        return "\n".join(lines) or "no estimate of the error was made"

    def as_dict(self) -> dict[str, Any]:
        """Return the numbers and sentences as plain data, without the function."""
        stored = (one.name for one in dataclasses.fields(self) if one.metadata.get("stored", True))
        return {name: _plain(getattr(self, name)) for name in stored}


def _plain(value: Any) -> Any:
    if isinstance(value, NoiseBand):
        value = vars(value)
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    return list(value) if isinstance(value, tuple) else value
