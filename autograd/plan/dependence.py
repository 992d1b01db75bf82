"""How a recorded value depends on the points, as `over_points` reads it off two recordings."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Dependence:
    """How a value depends on the points.

    axis   the dimension that holds them; None for values without.
    inner  so many numbers of one point lie next to each other there, before those of the next:
           1 for (n,), k for what (n, k) is as (n k,).
    total  whether it is a sum over points, linear in what each of them adds.
    power  it is that divided by so high a power of their number.
    """

    axis: int | None = None
    inner: int = 0
    total: bool = False
    power: int = 0


FIXED = Dependence()
MEAN = Dependence(total=True, power=1)
