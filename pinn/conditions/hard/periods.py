"""A network that is periodic in some coordinates, because it sees cos and sin of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce
from operator import mul

import autograd as T
from pinn.equations.outputs import run_columns
from pinn.geometry import Interval, Shape


class Periods(T.nn.Module):
    """Points (n, d) -> outputs of `network`, which gets cos and sin of 2 pi x / P for periodic x.

    P is the length of the coordinate's bounds. The network takes the coordinates of
    `with_periods(domain, periodic)`; its parameters are this module's, under "network.".
    """

    def __init__(self, network: T.nn.Module, domain: Shape, periodic: Sequence[str]) -> None:
        super().__init__()
        self.network = network
        self._rates = [
            2 * math.pi / (high - low) if name in periodic else None
            for name, (low, high) in domain.bounds.items()
        ]
        self._starts = [low for low, _ in domain.bounds.values()]

    def forward(self, points: T.Tensor) -> T.Tensor:
        pieces = self.forward_columns([points[:, j : j + 1] for j in range(points.shape[1])])
        return pieces[0] if len(pieces) == 1 else T.cat(list(pieces), dim=1)

    def forward_columns(self, columns: Sequence[T.Tensor]) -> tuple[T.Tensor, ...]:
        """Return the network's outputs in pieces from a column (n, 1) for each coordinate."""
        shown: list[T.Tensor] = []
        for column, rate, start in zip(columns, self._rates, self._starts, strict=True):
            if rate is None:
                shown.append(column)
                continue
            angle = (column - start) * rate
            shown += [T.cos(angle), T.sin(angle)]
        return run_columns(self.network, shown)


def with_periods(domain: Shape, periodic: Sequence[str]) -> Shape:
    """Return a domain with x_cos and x_sin, both in [-1, 1], in the place of each periodic x."""
    taken = set(domain.coordinates)
    factors: list[Shape] = []
    for factor in domain.factors:
        if not set(factor.coordinates) & set(periodic):
            factors.append(factor)
            continue
        for name, bounds in factor.bounds.items():
            if name not in periodic:
                factors.append(Interval(name, *bounds))
                continue
            for wave in ("cos", "sin"):
                new = f"{name}_{wave}"
                while new in taken:
                    new += "x"
                taken.add(new)
                factors.append(Interval(new, -1.0, 1.0))
    return reduce(mul, factors)
