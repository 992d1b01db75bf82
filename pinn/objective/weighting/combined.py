"""Several schemes at once: the product of their weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

import numpy as np

from pinn.objective.weighting.view import View
from pinn.objective.weighting.weighting import (
    WEIGHTINGS,
    State,
    Weighting,
    Weights,
)
from pinn.problem.problem import Problem
from pinn.schema import declared
from pinn.schema.declared import Member
from pinn.schema.errors import at
from pinn.schema.kinds import Items

_SCHEMES = Items(Member(WEIGHTINGS), "a list of weightings", least=1)


@declared
class Combined(Weighting):
    """Several weightings in turn, whose weights are multiplied: causal rows and balanced blocks.

    schemes: each is updated in its own time, and sees the losses and gradients under the weights of
    rows that those before it chose. In a config file a list does: `weighting: [causal, grad_norm]`.
    """

    schemes: Annotated[Sequence[Weighting], _SCHEMES]

    @property
    def every(self) -> int | None:
        """Steps between two updates of the scheme that has the most of them."""
        return min((one.every for one in self.schemes if one.every is not None), default=None)

    @property
    def per_row(self) -> bool:
        return any(one.per_row for one in self.schemes)

    def check(self, problem: Problem) -> None:
        for number, one in enumerate(self.schemes):
            with at(str(number)):
                one.check(problem)

    @property
    def initial(self) -> Mapping[str, float]:
        return _product([Weights(one.initial) for one in self.schemes]).blocks

    def is_due(self, step: int, new_points: bool = False, hold: int = 1) -> bool:
        return any(one.is_due(step, new_points, hold) for one in self.schemes)

    def update(self, view: View, weights: Weights, state: State) -> tuple[Weights, State]:
        """Return the product of what each scheme returns now, or returned last."""
        chosen: list[Weights] = []
        memory: dict[str, np.ndarray] = {}
        for number, one in enumerate(self.schemes):
            prefix = f"{number}/"
            own = _under(prefix, state)
            last = _last(own, one, view.names)
            if one.is_due(view.step, view.new_points, view.hold):
                if number:
                    so_far = _product(chosen)
                    view.objective.set_weights(weights.blocks, so_far.rows)
                    view = view.again()
                last, inner = one.update(view, last, _under("s/", own))
                own = {f"s/{name}": array for name, array in inner.items()}
                own |= {f"b/{name}": np.array(w) for name, w in last.blocks.items()}
                own |= {f"r/{name}": array for name, array in last.rows.items()}
            chosen.append(last)
            memory |= {prefix + name: array for name, array in own.items()}
        return _product(chosen), memory

    def outcome(self, view: View, state: State) -> list[tuple[str, str]]:
        """Return what became of the weights of each."""
        return [
            told for number, one in enumerate(self.schemes)
            for told in one.outcome(view, _under(f"{number}/s/", state))
        ]  # fmt: skip


def _under(prefix: str, state: State) -> dict[str, np.ndarray]:
    return {k.removeprefix(prefix): a for k, a in state.items() if k.startswith(prefix)}


def _last(own: State, scheme: Weighting, names: list[str]) -> Weights:
    """Return the weights that a scheme chose last; at first those that it begins with."""
    if not own:
        return Weights({name: scheme.initial.get(name, 1.0) for name in names})
    blocks = {k[2:]: float(a) for k, a in own.items() if k.startswith("b/")}
    return Weights(blocks, {k[2:]: a for k, a in own.items() if k.startswith("r/")})


def _product(chosen: list[Weights]) -> Weights:
    """Return weights multiplied: 1 where one leaves a block or rows out."""
    blocks: dict[str, float] = {}
    rows: dict[str, np.ndarray] = {}
    for weights in chosen:
        for name, weight in weights.blocks.items():
            blocks[name] = blocks.get(name, 1.0) * weight
        for name, own in weights.rows.items():
            rows[name] = rows[name] * own if name in rows else own
    return Weights(blocks, rows)
