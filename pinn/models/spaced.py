"""What a network is shown of families with a logarithmic range."""

from __future__ import annotations

import math
from collections.abc import Sequence

import autograd as T
from pinn.equations.outputs import run_columns
from pinn.geometry import Family, Shape


class Spaced(T.nn.Module):
    """A network whose logarithmic families are evened out before it sees them.

    Such an input c becomes low + (high - low) log(c / low) / log(high / low): the same bounds, and
    decades of equal width. network: a module of points (n, d); its parameters are this module's,
    under "network.".
    """

    def __init__(self, network: T.nn.Module, domain: Shape) -> None:
        super().__init__()
        self.network = network
        families = {one.name: one for one in domain.families if one.spacing == "log"}
        self._families = [families.get(name) for name in domain.coordinates]

    @staticmethod
    def around(network: T.nn.Module, domain: Shape) -> T.nn.Module:
        """Return the network itself where no family is logarithmic."""
        logarithmic = any(one.spacing == "log" for one in domain.families)
        return Spaced(network, domain) if logarithmic else network

    def forward(self, points: T.Tensor) -> T.Tensor:
        columns = [points[:, j : j + 1] for j in range(points.shape[1])]
        return T.cat(self.forward_columns(columns), dim=1)

    def forward_columns(self, columns: Sequence[T.Tensor]) -> tuple[T.Tensor, ...]:
        """Return the network's outputs in pieces from a column (n, 1) for each coordinate."""
        return run_columns(self.network, list(map(_evened, self._families, columns)))


def as_given(family: Family, column: T.Tensor) -> T.Tensor:
    """Return the values of a logarithmic family from what a network is shown of them."""
    slope = (family.high - family.low) / math.log(family.high / family.low)
    return family.low * T.exp((column - family.low) * (1 / slope))


def _evened(family: Family | None, column: T.Tensor) -> T.Tensor:
    if family is None:
        return column
    slope = (family.high - family.low) / math.log(family.high / family.low)
    return family.low + slope * (T.log(column) - math.log(family.low))
