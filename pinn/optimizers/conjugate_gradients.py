"""Preconditioned conjugate gradients that stop where curvature is not positive."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograd.devices import namespace_of
from pinn.optimizers.nystrom import Product
from pinn.optimizers.quasi_newton.vectors import inner, norm

# Less curvature than this share of the largest that was met is what rounding makes of none.
LEAST_CURVATURE = 32 * np.finfo(np.float64).eps


@dataclass(frozen=True)
class Solved:
    """About the solution x of A x = b, and what is left, b - A x.

    products: how often A was multiplied by. convex: whether all curvature that was met is positive;
    if not, x is what there was by then, and after none the preconditioner's inverse times b.
    """

    x: Any
    rest: Any
    products: int
    convex: bool


def conjugate_gradients(
    product: Product, b: Any, precondition: Product, most: int, tolerance: float
) -> Solved:
    """Solve A x = b for a symmetric A known by its products, from x = 0, where b lies.

    precondition: about the inverse of A times a vector, symmetric and positive definite. Ends after
    `most` products, or where |b - A x| <= tolerance |b|. Each x has b'x > 0, and lowers the model
    x'Ax / 2 - b'x further than the ones before it.

    Nocedal and Wright, Numerical Optimization, 2nd ed., algorithms 5.3 and 7.1.
    """
    x, rest = namespace_of(b).zeros_like(b), b
    z = precondition(rest)
    p, (rz,) = z, inner((rest, z))
    enough, largest = tolerance * norm(b), 0.0
    for count in range(1, most + 1):
        image = product(p)
        curvature, square, most_of_it = _curvature(p, image)
        # |Ap| / |p| is what the largest eigenvalue is, or less
        largest = max(largest, most_of_it / square) if square else largest
        if not curvature > LEAST_CURVATURE * largest * square:
            if count == 1:
                x, rest = p, b - image
            return Solved(x, rest, count, False)
        alpha = rz / curvature
        x, rest = x + alpha * p, rest - alpha * image
        if norm(rest) <= enough:
            return Solved(x, rest, count, True)
        z = precondition(rest)
        before, (rz,) = rz, inner((rest, z))
        p = z + (rz / before) * p
    return Solved(x, rest, most, True)


def _curvature(p: Any, image: Any) -> tuple[float, float, float]:
    """Return p'Ap, p'p and |p| |Ap|; of a device in one copy."""
    if isinstance(p, np.ndarray):
        curvature, square, of_image = float(p @ image), float(p @ p), float(image @ image)
    else:
        curvature, square, of_image = inner((p, image), (p, p), (image, image))
    return curvature, square, math.sqrt(square) * math.sqrt(of_image)
