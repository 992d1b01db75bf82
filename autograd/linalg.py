"""Linear algebra under PyTorch's names: `autograd.linalg.solve` and so on."""

from .ops.matrices.decompositions import (
    cond,
    diagonal,
    householder_product,
    matrix_rank,
    solve_triangular,
    tensorinv,
    tensorsolve,
)
from .ops.matrices.eigen import eig, eigh, eigvals, eigvalsh
from .ops.matrices.linalg import (
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
from .ops.matrices.lu import lu, lu_factor, lu_solve
from .ops.matrices.matmul import matmul, vecdot
from .ops.matrices.matrix_exp import matrix_exp
from .ops.matrices.norm import linalg_norm as norm
from .ops.matrices.norm import matrix_norm, vector_norm
from .ops.matrices.qr import qr
from .ops.matrices.svd import svd, svdvals
from .ops.matrices.told_failures import cholesky_ex, inv_ex, solve_ex
from .ops.matrices.vander import linalg_vander as vander
from .signature import publish

__all__ = [
    "LinAlgError",
    "cholesky",
    "cholesky_ex",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "householder_product",
    "inv",
    "inv_ex",
    "lstsq",
    "lu",
    "lu_factor",
    "lu_solve",
    "matmul",
    "matrix_exp",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "multi_dot",
    "norm",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "solve_ex",
    "solve_triangular",
    "svd",
    "svdvals",
    "tensorinv",
    "tensorsolve",
    "vander",
    "vecdot",
    "vector_norm",
]

publish(globals())
