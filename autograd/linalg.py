"""Linear algebra under PyTorch's names: `autograd.linalg.solve` and so on."""

from .ops.linalg import (
    LinAlgError,
    cholesky,
    cross,
    det,
    inv,
    lstsq,
    matrix_power,
    multi_dot,
    pinv,
    slogdet,
    solve,
)
from .ops.matmul import matmul, vecdot
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
    "matrix_power",
    "multi_dot",
    "norm",
    "pinv",
    "slogdet",
    "solve",
    "vecdot",
    "vector_norm",
]

publish(globals())
