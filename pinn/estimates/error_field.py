"""The estimated error as a function of the coordinates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pinn.evaluation import Evaluation


class ErrorField:
    """What the better solution u + e has less what the present one u has, of anything.

    Of a quantity q that is made of unknowns and coefficients it is q(u + e) - q(u), without a
    linearisation. Arguments are as of Evaluation.
    """

    def __init__(self, better: Evaluation, present: Evaluation) -> None:
        self._better, self._present = better, present

    def evaluate(
        self, coordinates: Mapping[str, Any], stacklevel: int | None = None
    ) -> dict[str, np.ndarray]:
        """Return the error of each unknown, field and quantity at points."""
        present = self._present.evaluate(coordinates, stacklevel and stacklevel + 1)
        better = self._better.evaluate(coordinates)
        return {name: better[name] - values for name, values in present.items()}

    def expressions(
        self,
        expressions: Sequence[str],
        coordinates: Mapping[str, Any],
        stacklevel: int | None = None,
    ) -> list[np.ndarray]:
        """Return the errors of several expressions at points."""
        present = self._present.expressions(expressions, coordinates, stacklevel and stacklevel + 1)
        better = self._better.expressions(expressions, coordinates)
        return [b - p for b, p in zip(better, present, strict=True)]
