"""A network inside the formula that makes the hard conditions hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import autograd as T
from pinn.conditions.hard.ansatz import Ansatz
from pinn.conditions.hard.periods import Periods
from pinn.equations.outputs import column, run_columns


class HardModel(T.nn.Module):
    """Points (n, d) -> unknowns (n, unknowns): u = A + B*N, with N the output of `network`.

    network: a module (n, d) -> (n, unknowns), for the coordinates of `ansatz.inputs`. Its
    parameters are the model's, under "network.". Where slopes are held, N is taken at their faces
    too.
    """

    def __init__(self, network: T.nn.Module, ansatz: Ansatz) -> None:
        super().__init__()
        if ansatz.periodic:
            network = Periods(network, ansatz.domain, ansatz.periodic)
        self.network = network
        self.ansatz = ansatz

    def forward(self, points: T.Tensor) -> T.Tensor:
        unknowns = self.forward_columns([points[:, j : j + 1] for j in range(points.shape[1])])
        return unknowns[0] if len(unknowns) == 1 else T.cat(unknowns, dim=1)

    def forward_columns(self, columns: Sequence[T.Tensor]) -> list[T.Tensor]:
        """Return each unknown, (n, 1), from a column (n, 1) for each coordinate.

        Derivatives are cheaper this way: A(x) then shows that it does not depend on t, which a
        column taken out of points (n, d) no longer does.
        """
        ansatz = self.ansatz
        values = dict(zip(ansatz.domain.coordinates, columns, strict=True))
        outputs = {place: self._outputs(values, dict(place)) for place in ansatz.places}
        # One tree holds A, B and N: what they share, such as (1 - x), is computed once.
        return [
            ansatz.evaluate(
                tree, values, {place: column(o, number) for place, o in outputs.items()}
            )
            for number, tree in enumerate(ansatz.formulas.values())
        ]

    def _outputs(
        self, values: Mapping[str, T.Tensor], held: Mapping[str, float]
    ) -> tuple[T.Tensor, ...]:
        """Return the network's outputs where some coordinates are held at numbers."""
        return run_columns(self.network, [
            T.full(tuple(column.shape), held[name], dtype=column.dtype, device=column.device)
            if name in held else column
            for name, column in values.items()
        ])  # fmt: skip
