"""Hard conditions that make the field rough."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pinn.diagnosis.examination import Examination
from pinn.diagnosis.finding import Change, Finding

# So small a part of the points, and so much of the square of the residual that it may hold: of a
# smooth field it is a tenth.
_PART, _HELD = 0.01, 0.4


def hard_value(seen: Examination) -> Iterator[Finding]:
    """Tell of hard conditions whose formula A in u = A + B*N is rough by itself.

    Without a network (N = 0) the residual of an equation is then concentrated at a few points, as
    at a corner where values jump, and no network can take it away.
    """
    hard = [n for n, condition in enumerate(seen.problem.conditions) if condition.hard]
    if not hard:
        return
    bare = seen.theta.copy()
    for part in seen.objective.layout.parts:
        if part.name.startswith("model."):
            part.of(bare)[...] = 0.0
    alone = seen.objective.residuals(bare, seen.fresh_points)
    seen.objective.parameters.load(seen.theta)
    for residual in seen.equations:
        formula, trained = alone[residual.name], seen.residuals[residual.name]
        held = [_held(formula), _held(trained)]
        if residual.whole or min(held) < _HELD:
            continue
        yield Finding(
            "hard_value", "a hard condition makes the field rough",
            f"without the network a hundredth of the points hold {100 * held[0]:.2g} % of the "
            f"loss of {residual.name}, with it {100 * held[1]:.2g} %; the largest residual is "
            f"{np.abs(formula).max():.1g} and {np.abs(trained).max():.1g}",
            tuple(Change(f"problem.conditions.{n}.hard", False) for n in hard),
            2 + float(np.log10(held[1] / _PART)),
        )  # fmt: skip
        return


def _held(residual: np.ndarray) -> float:
    squares = np.sort(residual.astype(np.float64) ** 2)[::-1]
    total = squares.sum()
    return float(squares[: max(1, int(_PART * len(squares)))].sum() / total) if total else 0.0
