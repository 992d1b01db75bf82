"""A known function that is an input of the solution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pinn.schema import Count, Name, Positive, declared
from pinn.schema.errors import refuse
from pinn.schema.kinds import NAME, Formula, Several

_OVER = Several(NAME, "a coordinate, or a list of coordinates such as [x, y]")


@declared
class FunctionSpace:
    """A known function that is an input: one training solves the problem for all of a kind.

    name: what equations, conditions and references call it: v at the point, v(x - t) elsewhere,
    diff(v, x) for a slope. over: the coordinates that it is a function of. Training draws it from a
    Gaussian random field with the covariance scale^2 exp(-|x - x'|^2 / (2 length^2)) around `mean`,
    a number or a text in these coordinates and constants; another one at every point. periodic:
    whether its values go on at the other end; |x - x'| is then the chord (L/pi) sin(pi |x - x'|/L).

    The network sees the numbers that a function has of the field's first modes (the series of
    Karhunen and Loeve): v = mean + scale (v1 psi_1(x) + v2 psi_2(x) + ...), where v1, v2, ... are
    normal numbers of deviation 1, families of the problem. modes: how many; where left out as many
    as leave out a millionth of the variance, a thousandth of a function's size.

    `solution.evaluate(x=xs, t=0.5, v=f)` gives the solution for a function: f(x) of arrays, a text
    such as "sin(pi*x)", arrays (xs, values), or what `problem.functions["v"].draw(seed)` drew.

    Raises ValueError for a coordinate that is repeated; as a part of a problem also for coordinates
    that are not the domain's, and for a length that takes more than 100 modes.
    """

    name: Name
    over: Annotated[str | Sequence[str], _OVER]
    length: Positive
    periodic: bool = False
    mean: Annotated[float | str, Formula("a number or an expression")] = 0.0
    scale: Positive = 1.0
    modes: Count | None = None

    def __post_init__(self) -> None:
        if len(set(self.over)) < len(self.over):
            refuse(f"expected each coordinate once, got {', '.join(self.over)}", "over")
