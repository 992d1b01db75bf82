"""Where numbers that are not finite come from: the block, point, derivative and operation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

import autograd as T
from autograd.plan import find_not_finite, trace
from pinn.equations.functions import TENSOR_FUNCTIONS
from pinn.equations.resolve import evaluate_resolved
from pinn.equations.term import Term
from pinn.expressions import Expression, Number, abridge, nodes
from pinn.objective.computations import Computation
from pinn.objective.flat_parameters import FlatParameters
from pinn.objective.group import Placed

# Parts of an equation that are tried one by one.
_MOST_PARTS = 200


def why_not_finite(
    placed: Placed, residual: np.ndarray, parameters: FlatParameters, names: Sequence[str]
) -> str:
    """Return a sentence about one block whose residual, (rows,), has numbers that are not finite.

    placed: the block alone at its points, whose coordinates have these names.
    """
    (block,) = placed.blocks
    bad = np.flatnonzero(~np.isfinite(residual))
    if block.whole:
        operation = _first_bad_operation(_residual(placed), placed.arrays, parameters)
        return (
            f"the residual of block {block.name!r} is not finite in {bad.size} of {block.rows} "
            f"rows{operation}"
        )
    first = placed[int(bad[0]) : int(bad[0]) + 1]
    operation = _first_bad_operation(_residual(first), first.arrays, parameters)
    return (
        f"the residual of block {block.name!r} is not finite at {bad.size} of {block.rows} points, "
        f"first at {_place(first, names)}{_first_bad_part(first)}{operation}"
    )


def why_gradient_not_finite(
    placed: Placed, gradients: Computation, parameters: FlatParameters, names: Sequence[str]
) -> str:
    """Return a sentence about one block whose residual is finite and whose gradient is not.

    gradients: what computes it. placed, names: as for why_not_finite.
    """
    (block,) = placed.blocks
    _, function = gradients

    def arrays(placed: Placed) -> list[Any]:
        if block.row_weights is None:
            return placed.arrays
        # Those of the rows are finite, and left out here.
        return [*placed.arrays, np.ones_like(placed.arrays[0])]

    def is_bad(placed: Placed) -> bool:
        with np.errstate(all="ignore"):
            (slope,) = function([T.Tensor(array) for array in arrays(placed)])
        return not np.isfinite(slope.detach().cpu().numpy()).all()

    what = f"the gradient of block {block.name!r} is not finite"
    if block.whole:
        return what + _first_bad_operation(gradients, arrays(placed), parameters)
    while len(placed.points) > 1:
        half = len(placed.points) // 2
        placed = placed[:half] if is_bad(placed[:half]) else placed[half:]
    if not is_bad(placed):
        return f"{what}: its sum over the points overflows"
    operation = _first_bad_operation(gradients, arrays(placed), parameters)
    return f"{what} at {_place(placed, names)}, where the residual is{operation}"


def _residual(placed: Placed) -> Computation:
    def run(columns: list[T.Tensor]) -> list[T.Tensor]:
        return [residual.detach() for residual in placed.group.residuals(columns)]

    return ["rows"], run


def _place(placed: Placed, names: Sequence[str]) -> str:
    point = placed.points.coordinates[0]
    return ", ".join(f"{name} = {v:.6g}" for name, v in zip(names, point, strict=True))


def _first_bad_part(placed: Placed) -> str:
    """Return which derivative is not finite at a point, or which part of the equation.

    placed: a block alone at one point. Of a function only the derivatives that it asks for are
    known.
    """
    (block,) = placed.blocks
    values = block.values_at(placed.points)
    known: dict[Expression, float] = {}
    parts = [part for term in block.residual.terms for part in _parts(term, block.asked())]
    with np.errstate(all="ignore"):
        for part in parts[:_MOST_PARTS]:
            number = _number(evaluate_resolved(part, values, TENSOR_FUNCTIONS))
            if number is None:
                continue
            if not math.isfinite(number):
                shown = [f"{c} = {known[c]:.6g}" for c in part.children if c in known]
                given = f" for {', '.join(dict.fromkeys(shown))}" if shown else ""
                return f": {abridge(str(part))} is {number:g} there{given}"
            if not isinstance(part, Number):
                known[part] = number
    return ""


def _parts(term: Term, asked: Sequence[Expression]) -> Sequence[Expression]:
    """Return what a term is made of, the innermost first."""
    return asked if term.tree is None else nodes(term.tree)


def _number(value: Any) -> float | None:
    """Return a value at one point; None for a truth value."""
    if isinstance(value, T.Tensor):
        value = value.detach().cpu().numpy().reshape(-1)[0]
    return None if isinstance(value, bool | np.bool_) else float(value)


def _first_bad_operation(
    computation: Computation, arrays: Sequence[Any], parameters: FlatParameters
) -> str:
    """Return which operation first gives a number that is not finite."""
    inputs = [*(T.Tensor(array.copy()) for array in arrays), *parameters.tensors]
    _, function = computation
    program, _ = trace(lambda *given: function(list(given[: len(arrays)])), inputs)
    found = find_not_finite(program, [tensor.detach().cpu().numpy() for tensor in inputs])
    return "" if found is None else f"; the first operation to give it is {found!r}"
