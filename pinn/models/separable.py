"""Separable networks."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np

import autograd as T
from pinn.geometry import Interval, Shape, Time
from pinn.models.mlp import MLP
from pinn.models.model import AnyModel, Model, build_module, check_part, parameter_count
from pinn.models.products import factor_names, run_joined, sums_of
from pinn.schema import Count, declared
from pinn.schema.errors import at


@declared
class Separable(Model):
    """A sum of `rank` products of functions of one coordinate each, for every unknown.

    u(x, y, ...) = sum_r f_r(x) g_r(y) ..., where the functions of a coordinate are the outputs of
    one network of it: `body`, any model. Each network carries the derivatives in its own
    coordinate alone, and training needs no grid of points. Cho et al., NeurIPS 2023, eq. 4 (SPINN).
    """

    body: AnyModel = MLP()
    rank: Count = 20

    def check(self, domain: Shape, unknowns: Sequence[str]) -> None:
        """Raise DeclarationError, with the key, for what does not go with a problem."""
        for shape in _axes(domain):
            with at("body"):
                check_part(self.body, shape, self._outputs(unknowns))

    def parameter_count(self, domain: Shape, unknowns: Sequence[str]) -> int | None:
        """Return how many numbers the networks have together; None where `body` does not tell."""
        names = self._outputs(unknowns)
        counts = [parameter_count(self.body, shape, names) for shape in _axes(domain)]
        return None if None in counts else sum(counts)

    def build(
        self,
        domain: Shape,
        unknowns: Sequence[str],
        rng: np.random.Generator,
        dtype: T.dtype,
        device: str = "cpu",
    ) -> T.nn.Module:
        """Return the network (n, coordinates) -> (n, unknowns), initialised from `rng`."""
        self.check(domain, unknowns)
        names = self._outputs(unknowns)
        axes = _axes(domain)
        bodies = [
            build_module(self.body, shape, names, stream, dtype, device)
            for shape, stream in zip(axes, rng.spawn(len(axes)), strict=True)
        ]
        return _Products(
            domain.coordinates, bodies, sums_of(len(unknowns), self.rank, dtype, device)
        )

    def _outputs(self, unknowns: Sequence[str]) -> list[str]:
        return factor_names(unknowns, self.rank)


class _Products(T.nn.Module):
    """Points (n, d) -> sums of products of the bodies' outputs, (n, unknowns).

    sums: see sums_of.
    """

    def __init__(
        self, names: Sequence[str], bodies: Sequence[T.nn.Module], sums: T.Tensor
    ) -> None:
        super().__init__()
        self.register_buffer("sums", sums, persistent=False)
        for name, body in zip(names, bodies, strict=True):
            self.add_module(f"network_{name}", body)

    def forward(self, points: T.Tensor) -> T.Tensor:
        return self.forward_columns([points[:, j : j + 1] for j in range(points.shape[1])])

    def forward_columns(self, columns: Sequence[T.Tensor]) -> T.Tensor:
        """Return the unknowns (n, unknowns) from a column (n, 1) for each coordinate."""
        factors = [
            run_joined(body, [column])
            for body, column in zip(self.children(), columns, strict=True)
        ]
        return T.nn.functional.linear(reduce(lambda a, b: a * b, factors), self.sums)


def _axes(domain: Shape) -> list[Shape]:
    """Return the bounds of each coordinate as a shape of it alone."""
    return [
        (Time if name == domain.time else Interval)(name, low, high)
        for name, (low, high) in domain.bounds.items()
    ]
