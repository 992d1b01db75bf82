"""A network inside the formula that makes the hard conditions hold."""

from __future__ import annotations

from collections.abc import Sequence

import autograd as T
from pinn.conditions.hard.ansatz import Ansatz


class HardModel(T.nn.Module):
    """Points (n, d) -> unknowns (n, unknowns): u = A + B*N, with N the output of `network`.

    network: a module (n, d) -> (n, unknowns). Its parameters are the model's, under "network.".
    """

    def __init__(self, network: T.nn.Module, ansatz: Ansatz) -> None:
        super().__init__()
        self.network = network
        self.ansatz = ansatz

    def forward(self, points: T.Tensor) -> T.Tensor:
        d = points.shape[1]
        return self._formulas(points, [points[:, j : j + 1] for j in range(d)])

    def forward_columns(self, columns: Sequence[T.Tensor]) -> T.Tensor:
        """Return the unknowns from a column (n, 1) for each coordinate.

        Derivatives are cheaper this way: A(x) then shows that it does not depend on t, which a
        column taken out of points (n, d) no longer does.
        """
        return self._formulas(T.cat(list(columns), dim=1), columns)

    def _formulas(self, points: T.Tensor, columns: Sequence[T.Tensor]) -> T.Tensor:
        ansatz = self.ansatz
        outputs = self.network(points)
        values = dict(zip(ansatz.domain.coordinates, columns, strict=True))
        count = len(ansatz.unknowns)
        networks = [outputs] if count == 1 else [outputs[:, j : j + 1] for j in range(count)]
        # One tree holds A, B and N: what they share, such as (1 - x), is computed once.
        unknowns = [
            ansatz.evaluate(tree, values, network)
            for tree, network in zip(ansatz.formulas.values(), networks, strict=True)
        ]
        return unknowns[0] if count == 1 else T.cat(unknowns, dim=1)
