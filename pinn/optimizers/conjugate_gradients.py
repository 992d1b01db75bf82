"""Preconditioned conjugate gradients that stop where curvature is not positive."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pinn.optimizers.nystrom import Product

# Along p less curvature than this share of |p| |Ap| may as well be none.
_LEAST_CURVATURE = np.finfo(np.float64).eps


@dataclass(frozen=True)
class Solved:
    """About the solution x of A x = b, and what is left, b - A x.

    products: how often A was multiplied by. convex: whether all curvature that was met is positive;
    if not, x is what there was by then, and after none the preconditioner's inverse times b.
    """

    x: np.ndarray
    rest: np.ndarray
    products: int
    convex: bool


def conjugate_gradients(
    product: Product, b: np.ndarray, precondition: Product, most: int, tolerance: float
) -> Solved:
    """Solve A x = b for a symmetric A known by its products, from x = 0.

    precondition: about the inverse of A times a vector, symmetric and positive definite. Ends after
    `most` products, or where |b - A x| <= tolerance |b|. Each x has b'x > 0, and lowers the model
    x'Ax / 2 - b'x further than the ones before it.

    Nocedal and Wright, Numerical Optimization, 2nd ed., algorithms 5.3 and 7.1.
    """
    x, rest = np.zeros_like(b), b
    z = precondition(rest)
    p, rz = z, float(rest @ z)
    enough = tolerance * float(np.linalg.norm(b))
    for count in range(1, most + 1):
        image = product(p)
        curvature = float(p @ image)
        if not curvature > _LEAST_CURVATURE * float(np.linalg.norm(p) * np.linalg.norm(image)):
            if count == 1:
                x, rest = p, b - image
            return Solved(x, rest, count, False)
        alpha = rz / curvature
        x, rest = x + alpha * p, rest - alpha * image
        if float(np.linalg.norm(rest)) <= enough:
            return Solved(x, rest, count, True)
        z = precondition(rest)
        before, rz = rz, float(rest @ z)
        p = z + (rz / before) * p
    return Solved(x, rest, most, True)
