"""A program that the tests start as ranks: matrices that they share out, as JSON on rank 0.

    algebra_program.py kernels|triangles|memory
"""

import hashlib
import json
import sys
import tracemalloc
from types import SimpleNamespace
from unittest import mock

import numpy as np
from mpi4py import MPI
from scipy.linalg import lapack

from autograd.mpi import world
from pinn.optimizers.least_squares.damped import DampedLeastSquares, damped_bytes
from pinn.optimizers.least_squares.host_algebra import HostAlgebra
from pinn.optimizers.least_squares.reduced import reduced
from pinn.optimizers.least_squares.workspace import Workspace

KERNELS = [(12, 40), (301, 400), (1503, 1600)]
TRIANGLES = [(2100, 40), (1500, 70), (2100, 70), (4200, 70)]
MEASURED = [(120, 300), (301, 400), (1503, 1600), (2600, 450)]

ranks, workspace = world(), Workspace()
algebra = HostAlgebra(1, workspace, ranks)


class Linear:
    """Rows r + J theta, whose Jacobian comes in pieces."""

    on_device, ranks = None, ranks

    def __init__(self, rows, jacobian):
        self._rows, self._jacobian = rows, jacobian
        self.rows, self.size = jacobian.shape

    def jacobian_chunks(self, theta, rows=1024):
        for k in range(0, self.rows, 700):
            ranks.meet()  # rows are computed together
            yield self._rows[k : k + 700], self._jacobian[k : k + 700]


def digest(*arrays):
    """A digest of some arrays."""
    return hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest()


def kernel(shape):
    """A digest of a kernel and a solution with it, its largest error, and the products taken."""
    jacobian = np.random.default_rng(shape[0]).standard_normal(shape)
    workspace.array("kernel", shape[0], shape[0]).fill(np.nan)
    with mock.patch.object(np, "matmul", wraps=np.matmul) as product:
        square = algebra.outer(jacobian)
    lower = np.tril(square._matrix)
    error = np.abs(lower - np.tril(jacobian @ jacobian.T)).max()
    square.factor(1e-3)
    return digest(lower, square.solve(jacobian[:, 0])), error, product.call_count


def triangle(shape):
    """The same of steps by a triangle, of rows as they come and of a matrix at hand."""
    rng = np.random.default_rng(shape[0])
    jacobian, rows = rng.standard_normal(shape), rng.standard_normal(shape[0])
    with mock.patch.object(lapack, "dgeqrt", wraps=lapack.dgeqrt) as reduction:
        coming = reduced(Linear(rows, jacobian), np.zeros(shape[1]))
    there = algebra.reduced(rows, jacobian)
    found = [coming.gradient, there.gradient]
    for one in (coming, there):
        found.append(one.damped(1e-9, np.ones(shape[1])).step)
    found.append(there.damped(1e-9, np.ones(shape[1])).minimiser(rows))
    expected = -np.linalg.lstsq(jacobian, rows)[0]
    error = max(np.abs(step - expected).max() for step in found[2:])
    return digest(*found), error, reduction.call_count


def memory(shape):
    """The most bytes that dampings by a factor and by the triangle take, and those said."""
    rng = np.random.default_rng(0)
    matrix, rows = rng.standard_normal(shape), rng.standard_normal(shape[0])
    tracemalloc.start()
    own = Workspace()
    jacobian = own.array("jacobian", *shape)
    jacobian[...] = matrix
    linear = DampedLeastSquares(rows, jacobian, 1, own, ranks)
    for damping in (1.0, 1e-30):
        linear.damped(damping).minimiser(rows)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    known = {"rows": shape[0], "size": shape[1], "on_device": None, "ranks": ranks}
    return most, damped_bytes(SimpleNamespace(**known))


KINDS = {
    "kernels": (kernel, KERNELS), "triangles": (triangle, TRIANGLES), "memory": (memory, MEASURED),
}  # fmt: skip

if __name__ == "__main__":
    kind, shapes = KINDS[sys.argv[1]]
    with ranks.together():
        found = MPI.COMM_WORLD.gather([kind(shape) for shape in shapes])
    if ranks.number == 0:
        print(json.dumps(found))
