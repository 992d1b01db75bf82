"""Linear algebra under PyTorch's names: `autograd.linalg.solve` and so on."""

from .ops.eigen import eigh, eigvalsh
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
from .ops.matrix_exp import matrix_exp
from .ops.norm import linalg_norm as norm
from .ops.norm import matrix_norm, vector_norm
from .ops.qr import qr
from .ops.svd import svd, svdvals
from .signature import publish

__all__ = [
    "LinAlgError",
    "cholesky",
    "cross",
    "det",
    "eigh",
    "eigvalsh",
    "inv",
    "lstsq",
    "matmul",
    "matrix_exp",
    "matrix_norm",
    "matrix_power",
    "multi_dot",
    "norm",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "vecdot",
    "vector_norm",
]

publish(globals())
