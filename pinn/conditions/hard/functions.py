"""The functions of hard conditions: their values at points, and whether they have derivatives.

The formula u = A + B*N is differentiated, and with it the functions in A. One that takes its values
out of the graph (detach, numpy) has values and no derivatives: an equation trained on it would be
met by something that is no solution.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

import autograd as T
from pinn.conditions.hard.points import columns_of, described, scattered
from pinn.conditions.hard.trees import Given
from pinn.equations.functions import TENSOR_FUNCTIONS
from pinn.equations.term import Term
from pinn.equations.values import Values
from pinn.geometry import Shape

# A central difference over this part of an interval is good to 1e-10 in rounding, and to 1e-3 in
# curvature up to ten thousand oscillations. At a kink a difference is no derivative: some points
# may be near one.
_STEP = 1e-6
_MARGIN = 1e-3
_MOST_KINKS = 0.02


class Functions:
    """The functions of hard conditions, by the label that stands for each in a tree."""

    def __init__(self, constants: Mapping[str, float]) -> None:
        self._constants = constants
        self._terms: dict[str, Term] = {}

    def add(self, name: str, term: Term) -> Given:
        """Return the leaf that stands for a function of the condition `name`."""
        label = name
        while label in self._terms:
            label += "'"
        self._terms[label] = term
        return Given(label)

    def value(self, leaf: Given, columns: Mapping[str, T.Tensor]) -> T.Tensor | float:
        """Return the value of a function: (n, 1), or a number.

        columns: coordinate -> (n, 1) tensor. Raises ValueError for a result of another shape.
        """
        like = next(iter(columns.values()))
        n = like.shape[0]
        fixed = dict(leaf.fixed)
        points = {
            name: T.full((n,), fixed[name], dtype=like.dtype, device=like.device)
            if name in fixed
            else column.reshape(-1)
            for name, column in columns.items()
        }
        term = self._terms[leaf.condition]
        value = term.evaluate(Values(points, self._constants), TENSOR_FUNCTIONS)
        if isinstance(value, int | float):
            return float(value)
        if not isinstance(value, T.Tensor) or tuple(value.shape) not in ((), (n,), (n, 1)):
            got = tuple(value.shape) if isinstance(value, T.Tensor) else type(value).__name__
            raise ValueError(
                f"{term.what}: expected a number or a tensor of shape ({n},), one number a point, "
                f"from the function, got {got}; compute it with the functions of the namespace "
                "(s.sin, s.exp, ...) or of autograd"
            )
        return value if value.ndim == 0 else value.reshape(-1, 1)

    def check_derivatives(self, leaf: Given, domain: Shape) -> None:
        """Compare the derivatives of a function with differences of its values.

        Raises ValueError, naming the condition and the coordinate, where they differ at more than
        the few points that may be near a kink, and where the function has no finite value.
        """
        points = scattered(domain, dict(leaf.fixed))
        free = [name for name in domain.coordinates if name not in dict(leaf.fixed)]
        values = self._array(leaf, domain, points)
        slopes = self._slopes(leaf, domain, points, free)
        bad = np.flatnonzero(~np.isfinite(values))
        if bad.size:
            raise ValueError(
                f"the value of {leaf.condition!r}, which is hard, is {values[bad[0]]} at "
                f"{described(domain, points[bad[0]])}; expected a finite number"
            )
        for name in free:
            self._compare(leaf, domain, points, name, slopes[name], np.abs(values).max())

    def _compare(
        self,
        leaf: Given,
        domain: Shape,
        points: np.ndarray,
        name: str,
        slopes: np.ndarray,
        size: float,
    ) -> None:
        j = domain.coordinates.index(name)
        low, high = domain.bounds[name]
        ahead, behind = points.copy(), points.copy()
        ahead[:, j] = np.minimum(points[:, j] + _STEP * (high - low), high)
        behind[:, j] = np.maximum(points[:, j] - _STEP * (high - low), low)
        rise = self._array(leaf, domain, ahead) - self._array(leaf, domain, behind)
        differences = rise / (ahead[:, j] - behind[:, j])
        rounding = 1e-6 * size / (high - low)
        scale = np.maximum(np.abs(differences), np.abs(slopes))
        wrong = ~(np.abs(differences - slopes) <= _MARGIN * scale + rounding)
        if wrong.mean() <= _MOST_KINKS:
            return
        worst = int(np.flatnonzero(wrong)[0])
        raise ValueError(
            f"{leaf.condition!r} cannot be hard: at {described(domain, points[worst])} the value "
            f"of its function changes with {name} at the rate {differences[worst]:.6g}, and "
            f"autograd finds the derivative {slopes[worst]:.6g}; compute it with the functions of "
            "the namespace (s.sin, s.exp, ...) or of autograd alone, without numpy, item() or "
            "detach(), give it as text, or leave out hard"
        )

    def _array(self, leaf: Given, domain: Shape, points: np.ndarray) -> np.ndarray:
        with T.no_grad():
            return plain(self.value(leaf, columns_of(domain, points)), len(points))

    def _slopes(
        self, leaf: Given, domain: Shape, points: np.ndarray, names: list[str]
    ) -> dict[str, np.ndarray]:
        columns = columns_of(domain, points)
        asked = [columns[name].requires_grad_() for name in names]
        try:
            value = self.value(leaf, columns)
        except (RuntimeError, TypeError) as error:
            raise ValueError(
                f"{leaf.condition!r} cannot be hard: its function does not work on coordinates "
                f"whose derivatives are asked for ({error}); compute it with the functions of the "
                "namespace (s.sin, s.exp, ...) or of autograd alone, give it as text, or leave "
                "out hard"
            ) from error
        found: list[T.Tensor | None] = [None] * len(names)
        if names and isinstance(value, T.Tensor) and value.requires_grad:
            found = list(T.grad(value.sum(), asked, allow_unused=True))
        n = len(points)
        return {
            name: np.zeros(n) if slope is None else plain(slope, n)
            for name, slope in zip(names, found, strict=True)
        }


def plain(value: T.Tensor | float, n: int) -> np.ndarray:
    """Return a value at n points, or a number, as an array (n,) of float64."""
    array = value.detach().cpu().numpy().reshape(-1) if isinstance(value, T.Tensor) else value
    return np.broadcast_to(np.asarray(array, dtype=np.float64), (n,))
