"""Several networks that give the columns of one set of values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import autograd as T
from pinn.equations.outputs import run_columns

_PREFIX = "network_"


class Joined(T.nn.Module):
    """Points (n, d) -> the outputs of several modules side by side, (n, sum of theirs).

    modules: name -> module; the parameters of the one called u are under "network_u.". inputs:
    name -> the numbers of the coordinates that a module takes, in its order; all of them where it
    is left out. A module that takes x alone has no derivatives in t, and costs none.
    """

    def __init__(
        self,
        modules: Mapping[str, T.nn.Module],
        inputs: Mapping[str, Sequence[int]] | None = None,
    ) -> None:
        super().__init__()
        inputs = inputs or {}
        self._taken = [inputs.get(name) for name in modules]
        for name, module in modules.items():
            # Not by the name alone: an unknown may be called as a method of modules is.
            self.add_module(f"{_PREFIX}{name}", module)

    def mapped(self, change: Callable[[T.nn.Module], T.nn.Module]) -> Joined:
        """Return the same with each module changed, or replaced."""
        names = [name.removeprefix(_PREFIX) for name, _ in self.named_children()]
        changed = dict(zip(names, map(change, self.children()), strict=True))
        return Joined(changed, {n: t for n, t in zip(names, self._taken, strict=True) if t})

    def forward(self, points: T.Tensor) -> T.Tensor:
        columns = [points[:, j : j + 1] for j in range(points.shape[1])]
        return T.cat(self.forward_columns(columns), dim=1)

    def forward_columns(self, columns: Sequence[T.Tensor]) -> list[T.Tensor]:
        """Return each module's outputs from a column (n, 1) for each coordinate."""
        return [
            piece
            for taken, module in zip(self._taken, self.children(), strict=True)
            for piece in run_columns(
                module, columns if taken is None else [columns[j] for j in taken]
            )
        ]
