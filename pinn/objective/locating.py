"""Where a residual that is not finite comes from: its block, point and operation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import autograd as T
from autograd.plan import find_not_finite, trace
from pinn.objective.flat_parameters import FlatParameters
from pinn.objective.group import Placed


def why_not_finite(
    placed: Placed,
    residual: np.ndarray,
    parameters: FlatParameters,
    coordinates: Sequence[str],
) -> str:
    """Return a sentence about one block whose residual, (rows,), has numbers that are not finite.

    placed: the block alone at its points, which have these coordinates.
    """
    (block,) = placed.blocks
    bad = np.flatnonzero(~np.isfinite(residual))
    if block.whole:
        operation = _first_bad_operation(placed, parameters)
        return (
            f"the residual of block {block.name!r} is not finite in {bad.size} of {block.rows} "
            f"rows{operation}"
        )
    first = int(bad[0])
    point = placed.points.coordinates[first]
    place = ", ".join(f"{n} = {v:.6g}" for n, v in zip(coordinates, point, strict=True))
    operation = _first_bad_operation(placed[first : first + 1], parameters)
    return (
        f"the residual of block {block.name!r} is not finite at {bad.size} of {block.rows} points, "
        f"first at {place}{operation}"
    )


def _first_bad_operation(placed: Placed, parameters: FlatParameters) -> str:
    """Return which operation first gives a number that is not finite."""
    count = len(placed.arrays)
    inputs = [*(T.Tensor(array.copy()) for array in placed.arrays), *parameters.tensors]
    program, _ = trace(
        lambda *given: [r.detach() for r in placed.group.residuals(given[:count])], inputs
    )
    found = find_not_finite(program, [tensor.detach().cpu().numpy() for tensor in inputs])
    return "" if found is None else f"; the first operation to give it is {found!r}"
