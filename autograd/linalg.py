"""Linear algebra under PyTorch's names: `autograd.linalg.solve` and so on."""

from .ops.linalg import (
    LinAlgError,
    cholesky,
    cross,
    det,
    inv,
    lstsq,
    pinv,
    slogdet,
    solve,
)
from .ops.matmul import matmul
from .ops.norm import linalg_norm as norm
from .ops.norm import matrix_norm, vector_norm
from .signature import publish

__all__ = [
    "LinAlgError",
    "cholesky",
    "cross",
    "det",
    "inv",
    "lstsq",
    "matmul",
    "matrix_norm",
    "norm",
    "pinv",
    "slogdet",
    "solve",
    "vector_norm",
]

publish(globals())
