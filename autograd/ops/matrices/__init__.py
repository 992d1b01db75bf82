"""Products, decompositions and functions of matrices; norms and distances."""

from . import (
    covariance,
    decompositions,
    distance,
    eigen,
    einsum,
    linalg,
    lu,
    matmul,
    matrix_exp,
    norm,
    older,
    qr,
    svd,
    told_failures,
    vander,
)

__all__ = [
    "covariance",
    "decompositions",
    "distance",
    "eigen",
    "einsum",
    "linalg",
    "lu",
    "matmul",
    "matrix_exp",
    "norm",
    "older",
    "qr",
    "svd",
    "told_failures",
    "vander",
]
