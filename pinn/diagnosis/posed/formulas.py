"""Values and derivatives of the formulas that conditions give for unknowns, at any points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

import autograd as T
from pinn.diagnosis.posed.linear import Leaf
from pinn.diagnosis.posed.statement import Stated, Statement
from pinn.equations.functions import NUMPY_FUNCTIONS, TENSOR_FUNCTIONS
from pinn.equations.leaves import At, Derivative, parts_of
from pinn.equations.resolve import evaluate_resolved
from pinn.equations.term import Term
from pinn.equations.values import Values
from pinn.sampling import Points


def formula_of(condition: Stated) -> Term | None:
    """Return the right side of a condition u = g, or u_t = g, that asks for no coefficient."""
    residual = condition.residual
    is_formula = (
        condition.is_finite and isinstance(residual.left.tree, Derivative)
        and condition.leaves == (residual.left.tree,) and not residual.whole
        and residual.right is not None and residual.right.leaves == ()
        and not condition.linear[0].coefficients and not condition.points.columns
    )  # fmt: skip
    return residual.right if is_formula else None


class Formulas:
    """(leaf, n) -> its values at n points, of unknowns that are given by formulas.

    formulas: by unknown and order in `held`, a coordinate that derivatives are given in as well, as
    u_t is at the start; with held "" all derivatives are those of the formula of order 0.
    """

    def __init__(
        self,
        statement: Statement,
        formulas: Mapping[tuple[str, int], Term],
        points: Points,
        held: str = "",
    ) -> None:
        self._statement, self._formulas, self._held = statement, formulas, held
        self._places = points.coordinates

    def __call__(self, leaf: Leaf, n: int) -> np.ndarray:
        problem = self._statement.problem
        places = self._places.copy()
        if isinstance(leaf, At):
            constants = Values({}, problem.scope.constants)
            for name, replaced in leaf.location:
                number = evaluate_resolved(replaced, constants, NUMPY_FUNCTIONS)
                places[:, self._statement.coordinates.index(name)] = number
        total = np.zeros(n)
        for names, count in parts_of(leaf, problem.domain.space):
            term = self._formulas[leaf.unknown, names.count(self._held)]
            others = [name for name in names if name != self._held]
            total += count * self._differentiated(term, places, others)
        return total

    def _differentiated(
        self, term: Term, places: np.ndarray, names: Sequence[str]
    ) -> np.ndarray:
        """Return a derivative of a formula at places, (n,)."""
        columns = {
            name: T.tensor(column, requires_grad=True)
            for name, column in zip(self._statement.coordinates, places.T, strict=True)
        }
        with np.errstate(all="ignore"):
            values = Values(columns, self._statement.problem.scope.constants)
            found = term.evaluate(values, TENSOR_FUNCTIONS)
            for name in names:
                if not isinstance(found, T.Tensor) or not found.requires_grad:
                    return np.zeros(len(places))
                ones = T.ones_like(found)
                (found,) = T.grad(
                    found, [columns[name]], ones, create_graph=True, materialize_grads=True
                )
        number = found.detach().numpy() if isinstance(found, T.Tensor) else found
        return np.broadcast_to(number, (len(places),))
