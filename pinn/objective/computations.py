"""What is computed of a group of blocks at some points, as functions of columns.

Each returns the kinds of its results (autograd.plan.chunks) and a function of the columns of the
points, followed by further columns where it says so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import autograd as T
from autograd.plan.chunks import Kind
from pinn.objective.group import Group

Computation = tuple[list[Kind], Callable[[list[T.Tensor]], Sequence[T.Tensor]]]


class Computations:
    """Residuals and their derivatives in some tensors, the parameters.

    vector: (size,), a direction for `jvp`, `second_jvp` and `hvp`. seeds: one number a block, what
    the gradient of its sum of squares is multiplied by. given: what else may change. All are read
    anew by each run of a recorded program.
    """

    def __init__(
        self,
        parameters: Sequence[T.Tensor],
        vector: T.Tensor,
        seeds: T.Tensor,
        given: Sequence[T.Tensor] = (),
    ) -> None:
        self._parameters = list(parameters)
        self._vector = vector
        self._seeds = seeds
        self._given = list(given)

    @property
    def shared(self) -> list[T.Tensor]:
        """The tensors that computations read besides columns; what is given comes first."""
        return [*self._given, *self._parameters, self._vector, self._seeds]

    def residuals(self, group: Group) -> Computation:
        """Each block's residual (rows,)."""

        def run(columns: list[T.Tensor]) -> list[T.Tensor]:
            return [residual.detach() for residual in group.residuals(columns)]

        return ["rows"] * len(group.blocks), run

    def squares(self, group: Group) -> Computation:
        """Each block's sum of v*r^2; further columns: v of each block that has row weights."""

        def run(columns: list[T.Tensor]) -> list[T.Tensor]:
            return [total.detach() for total in self._totals(group, columns)]

        return ["sum"] * len(group.blocks), run

    def gradient(self, group: Group) -> Computation:
        """The same, and the gradient of the sum of seed * sum of v*r^2."""

        def run(columns: list[T.Tensor]) -> list[T.Tensor]:
            totals = self._totals(group, columns)
            slope = self._pulled(totals, self._seeds_of(group))
            return [*(total.detach() for total in totals), slope]

        return ["sum"] * (len(group.blocks) + 1), run

    def hvp(self, group: Group) -> Computation:
        """The Hessian of the sum of seed * sum of v*r^2 times the vector; columns as in `squares`.

        A sweep back through the gradient, counted as 2.7 gradients. Forward over reverse has as
        many products of matrices: each of the gradient's three becomes that and its tangent's two.
        """

        def run(columns: list[T.Tensor]) -> list[T.Tensor]:
            totals = self._totals(group, columns)
            slope = self._pulled(totals, self._seeds_of(group), create_graph=True)
            return [self._pulled([slope], [self._vector])]

        return ["sum"], run

    def gradients(self, group: Group) -> Computation:
        """The gradient of each block's sum of v*r^2; further columns as in `squares`."""

        def run(columns: list[T.Tensor]) -> list[T.Tensor]:
            return [self._pulled([total]) for total in self._totals(group, columns)]

        return ["sum"] * len(group.blocks), run

    def jacobian(self, group: Group) -> Computation:
        """Each block's residual, then each one's Jacobian; one further column: ones."""

        def run(columns: list[T.Tensor]) -> list[T.Tensor]:
            *columns, ones = columns
            residuals = group.residuals(columns)
            # a seed that is an input: were it a constant, its rows could be folded away
            seed = ones.reshape(-1)
            return [
                *(residual.detach() for residual in residuals),
                *(self._pulled([residual], [seed]) for residual in residuals),
            ]

        return ["rows"] * len(group.blocks) + ["per_row"] * len(group.blocks), run

    def vjp(self, group: Group) -> Computation:
        """J^T z of all blocks; further columns: each one's z."""

        def run(columns: list[T.Tensor]) -> list[T.Tensor]:
            first = len(columns) - len(group.blocks)
            residuals = group.residuals(columns[:first])
            return [self._pulled(residuals, [z.reshape(-1) for z in columns[first:]])]

        return ["sum"], run

    def jvp(self, group: Group) -> Computation:
        """Each block's J v, (rows,)."""

        def run(columns: list[T.Tensor]) -> list[T.Tensor]:
            return self._pushed(group.residuals(columns))

        return ["rows"] * len(group.blocks), run

    def second_jvp(self, group: Group) -> Computation:
        """Each block's second derivative along the vector, (rows,).

        What is left of the transposes is the sweep of a jet of second order in the parameters:
        five products of matrices in place of each of the residuals' own.
        """

        def run(columns: list[T.Tensor]) -> list[T.Tensor]:
            pushed = self._pushed(group.residuals(columns), create_graph=True)
            return self._pushed(pushed)

        return ["rows"] * len(group.blocks), run

    def _seeds_of(self, group: Group) -> list[T.Tensor]:
        return [self._seeds[block.number] for block in group.blocks]

    def _totals(self, group: Group, columns: list[T.Tensor]) -> list[T.Tensor]:
        weighted = [block for block in group.blocks if block.row_weights is not None]
        first = len(columns) - len(weighted)
        weights = dict(zip(weighted, columns[first:], strict=True))
        totals = []
        for block, residual in zip(group.blocks, group.residuals(columns[:first]), strict=True):
            squares = residual * residual
            if block in weights:
                squares = squares * weights[block].reshape(-1)
            totals.append(squares.sum())
        return totals

    def _pushed(
        self, outputs: Sequence[T.Tensor], create_graph: bool = False
    ) -> list[T.Tensor]:
        """Return the derivative of each output along the vector.

        The transpose of the transpose: J^T z is linear in z. An output that no parameter is left
        in, as the first derivative of rows that are linear in them, has none.
        """
        varying = [output for output in outputs if output.requires_grad]
        if not varying:
            return [T.zeros_like(output) for output in outputs]
        seeds = [T.zeros_like(output.detach()).requires_grad_() for output in varying]
        pulled = self._pulled(varying, seeds, create_graph=True)
        pushed = iter(
            T.grad(
                pulled, seeds, self._vector, retain_graph=True, create_graph=create_graph,
                materialize_grads=True,
            )
        )  # fmt: skip
        return [next(pushed) if out.requires_grad else T.zeros_like(out) for out in outputs]

    def _pulled(
        self,
        outputs: Sequence[T.Tensor],
        seeds: Sequence[T.Tensor] | None = None,
        create_graph: bool = False,
    ) -> T.Tensor:
        """Return the gradient of outputs in all parameters as one vector (size,)."""
        gradients = T.grad(
            outputs, self._parameters, seeds, retain_graph=True, create_graph=create_graph,
            materialize_grads=True,
        )
        return T.cat([gradient.reshape(-1) for gradient in gradients])
