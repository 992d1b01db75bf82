"""What the curves of both sides say of each other."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from experiments.versus_deepxde.curve import Curve, error_at, final, time_to

TIME, ERROR = 0.1, 0.01
"""Asked of us: this part of DeepXDE's time to its final error, and of its error at its end."""


@dataclass(frozen=True)
class Verdict:
    """DeepXDE's error at its end and the time of it; our time to that error, our error then.

    Infinite where there is none.
    """

    error: float
    seconds: float
    our_seconds: float
    our_error: float

    @classmethod
    def of(cls, theirs: Curve, ours: Curve) -> Verdict:
        seconds, error = final(theirs)
        return cls(error, seconds, time_to(ours, error), error_at(ours, seconds))

    @property
    def part_of_time(self) -> float:
        return self.our_seconds / self.seconds

    @property
    def part_of_error(self) -> float:
        return self.our_error / self.error if math.isfinite(self.error) else 0.0

    @property
    def is_sooner(self) -> bool:
        return self.part_of_time <= TIME

    @property
    def is_closer(self) -> bool:
        return self.part_of_error <= ERROR


def verdict(row: Mapping[str, Any]) -> Verdict | None:
    """Return that of a measured row; None where a side failed."""
    if any("failed" in row[side] for side in ("deepxde", "ours")):
        return None
    return Verdict.of(row["deepxde"]["curve"], row["ours"]["curve"])
