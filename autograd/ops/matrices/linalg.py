"""Dense linear algebra: systems, inverses, determinants, factorisations, least squares."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ... import dtypes
from ...devices import linalg_raises
from ...tensor import Tensor, method
from ..elementwise.arithmetic import conj_of, mul, neg, slope_of_line_op, sub
from ..elementwise.piecewise import where
from ..layout.arrange import diag_embed
from ..layout.shape import adjoint, checked_tensors, clone, normal_axis, reshape_op
from ..registry import REGISTRY, Op, cast, into, refuse_mixed
from .matmul import matmul_op

__all__ = [
    "LinAlgError",
    "cholesky",
    "cross",
    "det",
    "inv",
    "inverse",
    "logdet",
    "lstsq",
    "matrix_power",
    "multi_dot",
    "pinv",
    "pinverse",
    "slogdet",
    "solve",
    "trace",
]


class LinAlgError(RuntimeError):
    """A matrix was singular, or not positive definite."""


class SlogdetResult(NamedTuple):
    """The sign of a determinant (of modulus 1, or 0) and the logarithm of its modulus."""

    sign: Tensor
    logabsdet: Tensor


class LstsqResult(NamedTuple):
    """Least squares: the solution, its residual sums of squares, the rank, the singular values.

    `residuals` is empty unless there are more equations than unknowns.
    """

    solution: Tensor
    residuals: Tensor
    rank: Tensor
    singular_values: Tensor


def guarded(name: str, function: Callable, what: str, remedy: str) -> Callable:
    """Return `function` of an array namespace and arrays, with its failures told in our words."""

    def forward(xp: Any, *args: Any) -> Any:
        try:
            with linalg_raises(xp):
                return function(xp, *args)
        except np.linalg.LinAlgError as error:
            raise LinAlgError(f"linalg.{name}: {what} ({error}); {remedy}") from error

    return forward


def matrices(name: str, x: Tensor, square: bool = True) -> Tensor:
    """Return `x` in a floating point dtype; refuse what is not a batch of (square) matrices."""
    if x.ndim < 2:
        raise RuntimeError(
            f"linalg.{name}: The input tensor A must have at least 2 dimensions, got shape "
            f"{list(x.shape)}; add some with unsqueeze()"
        )
    rows, columns = x._data.shape[-2:]
    if square and rows != columns:
        raise RuntimeError(
            f"linalg.{name}: A must be batches of square matrices, but they are {rows} by "
            f"{columns} matrices; use linalg.lstsq or linalg.pinv for others"
        )
    return _floating(name, x)


def _floating(name: str, x: Tensor) -> Tensor:
    if x._data.dtype == dtypes.float16:
        raise RuntimeError(
            f"linalg.{name}: Low precision dtypes not supported. Got float16; convert with "
            ".to(autograd.float32) first"
        )
    return x if x._data.dtype.kind in "fc" else cast(x, dtypes.get_default_dtype())


# ---- systems and inverses

_SINGULAR = "the input matrix is singular"


def _solve(xp: Any, a: Any, b: Any) -> Any:
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a = xp.broadcast_to(a, (*batch, *a.shape[-2:]))
    return xp.linalg.solve(a, xp.broadcast_to(b, (*batch, *b.shape[-2:])))


_guarded_solve = guarded(
    "solve", _solve, f"The solver failed because {_SINGULAR}", "use linalg.lstsq or regularise it"
)


def _solve_gradients(g: Tensor, a: Tensor, out: Tensor, needed: tuple) -> tuple:
    """A X = B: dX = A^-1 (dB - dA X), so both gradients come from one solve with A^H."""
    for_b = solve_op(adjoint(a), g)
    return (neg(matmul_op(for_b, adjoint(out))) if needed[0] else None, for_b)


solve_op = Op(
    "linalg_solve",
    lambda xp, a, b, out=None: into(out, _guarded_solve(xp, a, b)),
    _solve_gradients,
    dtype="same",
    broadcasts=True,
    taylor="nested",
)

_guarded_inv = guarded(
    "inv",
    lambda xp, x: xp.linalg.inv(x),
    f"the inversion could not be completed because {_SINGULAR}",
    "use linalg.pinv",
)


def _inv_gradient(g: Tensor, out: Tensor) -> Tensor:
    inverse_h = adjoint(out)
    return neg(matmul_op(matmul_op(inverse_h, g), inverse_h))


inv_op = Op(
    "linalg_inv",
    lambda xp, x, out=None: into(out, _guarded_inv(xp, x)),
    {"x": _inv_gradient},
    dtype="float",
    taylor="nested",
)


def _pinv_gradient(g: Tensor, x: Tensor, out: Tensor) -> Tensor:
    """Golub and Pereyra 1973, eq. 4.12, transposed; right where the rank is constant.

    dP = -P dA P + P P^H dA^H (1 - A P) + (1 - P A) dA^H P^H P.
    """
    p_h, g_h = adjoint(out), adjoint(g)
    inside = matmul_op(matmul_op(p_h, g), p_h)
    rows = matmul_op(g_h, matmul_op(out, p_h))
    columns = matmul_op(matmul_op(p_h, out), g_h)
    off_range = rows - matmul_op(x, matmul_op(out, rows))
    off_row_space = columns - matmul_op(matmul_op(columns, out), x)
    return off_range + off_row_space - inside


def _cutoff(a: Any) -> float:
    """Return the singular values, relative to the largest, that count as zero by default."""
    return float(np.finfo(a.dtype).eps) * max(a.shape[-2:])


def _pinv(
    xp: Any,
    x: Any,
    out: Any = None,
    *,
    atol: Any = None,
    rtol: Any = None,
    hermitian: bool = False,
) -> Any:
    """Invert what is larger than `atol` and than `rtol` times the largest singular value."""
    if x.size == 0:
        return into(out, xp.zeros((*x.shape[:-2], x.shape[-1], x.shape[-2]), x.dtype))
    if hermitian:
        values, v = xp.linalg.eigh(x)
        u, sizes = v, xp.abs(values)
    else:
        u, values, vh = xp.linalg.svd(x, full_matrices=False)
        v, sizes = _hermitian(xp, vh), values
    if rtol is None:
        rtol = _cutoff(x) if atol is None else 0.0
    limit = xp.maximum(rtol * sizes.max(axis=-1, keepdims=True), 0.0 if atol is None else atol)
    kept = sizes > limit
    inverses = xp.where(kept, 1 / xp.where(kept, values, 1), 0).astype(values.dtype)
    return into(out, xp.matmul(v * inverses[..., None, :], _hermitian(xp, u)))


def _hermitian(xp: Any, x: Any) -> Any:
    return xp.conj(xp.swapaxes(x, -1, -2))


pinv_op = Op("linalg_pinv", _pinv, {"x": _pinv_gradient}, dtype="float", taylor="nested")


def is_vector(a: Tensor, b: Tensor) -> bool:
    """Return whether `b` is a (batch of) vectors, by PyTorch's rule."""
    return b.ndim == 1 or (a.ndim - 1 == b.ndim and b._data.shape == a._data.shape[:-1])


@method
def solve(A: Tensor, B: Tensor, *, left: bool = True) -> Tensor:  # noqa: N803 - PyTorch's names
    """Return X with A X = B, or X A = B with `left=False`.

    Shapes: A (..., n, n), B (..., n, k), or (..., n) for vectors; leading dimensions broadcast.
    Raises LinAlgError where A is singular, RuntimeError for shapes that do not fit.
    """
    A, B = matrices("solve", A), _floating("solve", B)
    vector = is_vector(A, B)
    right = reshape_op(B, shape=(*B.shape, 1)) if vector else B
    side = -2 if left or vector else -1
    if right.ndim < 2 or right._data.shape[side] != A._data.shape[-1]:
        raise RuntimeError(
            f"linalg.solve: Incompatible shapes of A and B for the equation "
            f"{'AX = B' if left else 'XA = B'}: A {list(A.shape)}, B {list(B.shape)}; expected "
            f"dimension {side} of B to have size {A.shape[-1]}"
        )
    if vector and not left:
        raise RuntimeError(
            "linalg.solve: Vector broadcasting of the left hand side is not supported for "
            f"left=False (B has shape {list(B.shape)}); pass A.mT and left=True"
        )
    if left:
        result = solve_op(A, right)
        return reshape_op(result, shape=result._data.shape[:-1]) if vector else result
    return solve_op(A.mT, right.mT).mT


@method
def inv(A: Tensor) -> Tensor:  # noqa: N803
    """Return the inverses of square matrices (..., n, n); prefer `solve` where it will do.

    Raises LinAlgError where A is singular.
    """
    return inv_op(matrices("inv", A))


@method
def inverse(input: Tensor) -> Tensor:
    """Return `linalg.inv(input)`."""
    return inv(input)


def pinv(
    A: Tensor,
    *,
    atol: Any = None,
    rtol: Any = None,
    hermitian: bool = False,  # noqa: N803
) -> Tensor:
    """Return the pseudo-inverses (..., n, m) of matrices (..., m, n).

    Singular values count as zero up to the larger of `atol` and of `rtol` times the largest one
    (numbers, or tensors of one a matrix).  By default atol is 0, and rtol is max(m, n) times the
    machine precision, or 0 where atol is given.  hermitian: eigenvalues are taken instead, of the
    lower triangle.
    The derivatives are those at constant rank, full or not: elsewhere there are none.
    """
    A = matrices("pinv", A, square=hermitian)
    return pinv_op(A, atol=_tolerance(atol), rtol=_tolerance(rtol), hermitian=hermitian)


def _tolerance(value: Any) -> Any:
    """Return a number, or one number a matrix as an array that broadcasts with the values."""
    if not isinstance(value, Tensor):
        return value
    return value.detach()._elements("a tolerance")[..., None]


@method
def pinverse(input: Tensor) -> Tensor:
    """Return `linalg.pinv(input)`."""
    return pinv(input)


# ---- determinants


def _cofactor(xp: Any, x: Any, det: Any, out: Any = None) -> Any:
    """Return det x^-T of x with the determinant `det`, right for singular x too.

    The factors of LU give it wherever no pivot is 0: how close to 0 the last ones are cancels.
    For the others it takes the singular value decomposition.
    """
    det, one = det[..., None, None], xp.eye(x.shape[-1], dtype=x.dtype)
    inverse = xp.linalg.inv(xp.where(det == 0, one, x))
    result = xp.swapaxes(inverse, -1, -2) * det
    finite = xp.isfinite(result).all(axis=(-2, -1), keepdims=True)
    singular = ((det == 0) | ~finite) & (det == det)
    if xp is np and not singular.any():  # to know as much of a GPU is a wait
        return into(out, result)
    decomposed = _cofactor_by_svd(xp, xp.where(singular, x, one))
    return into(out, xp.where(singular, decomposed, result))


def _cofactor_by_svd(xp: Any, x: Any) -> Any:
    u, s, vh = xp.linalg.svd(x)
    phase = xp.asarray(xp.multiply(xp.linalg.det(u), xp.linalg.det(vh)))
    one = xp.ones_like(s[..., :1])
    before = xp.cumprod(xp.concatenate([one, s[..., :-1]], axis=-1), axis=-1)
    after = xp.cumprod(xp.concatenate([one, s[..., :0:-1]], axis=-1), axis=-1)[..., ::-1]
    others = (before * after * phase[..., None])[..., None, :]
    return xp.matmul(xp.conj(u) * others, xp.conj(vh))


def _cofactor_gradient(g: Tensor, x: Tensor, out: Tensor) -> Tensor:
    """d(det X^-T) = C tr(X^-1 dX) - X^-T dX^T C, transposed."""
    inverse_h = adjoint(inv_op(x))
    conjugate = conj_of(out)
    total = mul(conjugate, g).sum((-2, -1), keepdim=True)
    return mul(total, inverse_h) - matmul_op(matmul_op(conjugate, g.mT), inverse_h)


cofactor_op = Op("cofactor", _cofactor, {"x": _cofactor_gradient}, dtype="float", taylor="nested")


def _as_matrix(g: Tensor) -> Tensor:
    """Return one number a matrix as (..., 1, 1), to be multiplied with the matrices."""
    return reshape_op(g, shape=(*g._data.shape, 1, 1))


det_op = Op(
    "linalg_det",
    lambda xp, x, out=None: into(out, xp.asarray(xp.linalg.det(x))),
    {"x": lambda g, x, out: mul(_as_matrix(g), conj_of(cofactor_op(x, out)))},
    dtype="float",
    taylor="nested",
)


def _slogdet_gradient(g: tuple, x: Tensor, out: tuple) -> Tensor:
    """d logabsdet = Re tr(X^-1 dX) and d sign = i sign Im tr(X^-1 dX)."""
    g_sign, g_log = g
    if x._data.dtype.kind == "c":
        g_log = sub(g_log, mul(mul(conj_of(g_sign), out[0]).imag, 1j))
    return mul(_as_matrix(g_log), adjoint(inv_op(x)))


def _slogdet(xp: Any, x: Any, out: Any = None) -> tuple:
    found = tuple(xp.asarray(part) for part in xp.linalg.slogdet(x))
    return found if out is None else tuple(map(into, out, found))


slogdet_op = Op(
    "linalg_slogdet",
    _slogdet,
    {"x": _slogdet_gradient},
    dtype="float",
    outputs=2,
    taylor="nested",
)


@method
def det(A: Tensor) -> Tensor:  # noqa: N803
    """Return the determinants (...) of square matrices (..., n, n).

    Up to 3 by 3 they are polynomials in the elements: every derivative exists.  Beyond, the first
    derivative is right for singular matrices too, higher ones need an inverse (LinAlgError).
    """
    A = matrices("det", A)
    size = A._data.shape[-1]
    if size == 1:
        return A[..., 0, 0]
    if size == 2:
        return A[..., 0, 0] * A[..., 1, 1] - A[..., 0, 1] * A[..., 1, 0]
    if size == 3:
        return (A[..., 0, :] * cross_op(A[..., 1, :], A[..., 2, :], axis=-1)).sum(-1)
    return det_op(A)


@method
def slogdet(A: Tensor) -> SlogdetResult:  # noqa: N803
    """Return (sign, logabsdet) of the determinants of square matrices (..., n, n).

    det = sign * exp(logabsdet) without overflow; a singular matrix gives (0, -inf).
    """
    return SlogdetResult(*slogdet_op(matrices("slogdet", A)))


@method
def logdet(input: Tensor) -> Tensor:
    """Return the logarithm of the determinant; NaN, without a gradient, where it is negative."""
    sign, logabsdet = slogdet(input)
    if sign.is_complex():
        return sign.log() + logabsdet
    return where(sign < 0, math.nan, logabsdet)


# ---- factorisations and least squares


def _cholesky(xp: Any, x: Any) -> Any:
    lower = xp.linalg.cholesky(x)
    # not all LAPACKs tell of a pivot that is NaN; to look for one on a GPU is another wait
    if xp is np and np.isnan(np.diagonal(lower, axis1=-2, axis2=-1)).any():
        raise np.linalg.LinAlgError("a pivot is NaN")
    return lower


_guarded_cholesky = guarded(
    "cholesky",
    _cholesky,
    "The factorization could not be completed because the input is not positive-definite",
    "add a multiple of the identity",
)


def _cholesky_gradient(g: Tensor, out: Tensor) -> Tensor:
    """dL = L Phi(L^-1 dA L^-H), transposed; Phi takes the lower half and half the diagonal.

    Murray 2016, arXiv:1602.07527, section 4.
    """
    lower_h = adjoint(out)
    inside = matmul_op(lower_h, g)
    twice_phi = inside.tril() + inside.tril(-1)
    found = solve_op(lower_h, adjoint(solve_op(lower_h, twice_phi)))
    return mul(found + adjoint(found), 0.25)


cholesky_op = Op(
    "linalg_cholesky",
    lambda xp, x, out=None: into(out, _guarded_cholesky(xp, x)),
    {"x": _cholesky_gradient},
    dtype="float",
    taylor="nested",
)


@method
def cholesky(A: Tensor, *, upper: bool = False) -> Tensor:  # noqa: N803
    """Return the lower L with A = L L^H (or the upper U with A = U^H U) of Hermitian (..., n, n).

    Only the lower triangle is read; the gradient is Hermitian, spread over both.
    Raises LinAlgError where A is not positive definite, or NaN.
    """
    lower = cholesky_op(matrices("cholesky", A))
    return adjoint(lower) if upper else lower


def _lstsq(xp: Any, a: Any, b: Any, out: Any = None, *, rcond: float | None) -> tuple:
    u, s, vh = xp.linalg.svd(a, full_matrices=False)
    if rcond is None:
        rcond = _cutoff(a)
    kept = s > rcond * s[..., :1]
    inverse_s = xp.where(kept, 1 / xp.where(kept, s, xp.ones_like(s)), xp.zeros_like(s))
    projected = xp.matmul(xp.conj(xp.swapaxes(u, -1, -2)), b) * inverse_s[..., None]
    solution = xp.matmul(xp.conj(xp.swapaxes(vh, -1, -2)), projected)
    found = (solution, xp.asarray(kept.sum(axis=-1)), s)
    return found if out is None else tuple(map(into, out, found))


def _lstsq_gradients(
    g: tuple, a: Tensor, b: Tensor, out: tuple, needed: tuple, rcond: float | None
) -> tuple:
    """X = A^+ B, by the derivative of the pseudo-inverse (see `_pinv_gradient`)."""
    gx, x = g[0], out[0]
    p = pinv_op(a, rtol=rcond)
    p_h = adjoint(p)
    for_b = matmul_op(p_h, gx)
    if not needed[0]:
        return None, for_b
    inside = matmul_op(for_b, adjoint(x))
    off_range = matmul_op(b - matmul_op(a, x), adjoint(matmul_op(p, for_b)))
    gx_h = adjoint(gx)
    off_row_space = matmul_op(matmul_op(p_h, x), gx_h - matmul_op(matmul_op(gx_h, p), a))
    return off_range + off_row_space - inside, for_b


lstsq_op = Op(
    "linalg_lstsq",
    _lstsq,
    _lstsq_gradients,
    dtype="same",
    broadcasts=True,
    outputs=3,
    taylor="nested",
)


def lstsq(A: Tensor, B: Tensor, rcond: float | None = None) -> LstsqResult:  # noqa: N803
    """Return the X of least norm that minimises ||A X - B||, with residuals, rank, singular values.

    Shapes: A (..., m, n), B (..., m, k) or (..., m) for vectors; X (..., n, k) or (..., n).
    Singular values below `rcond` times the largest (machine precision times max(m, n) by default)
    count as zero.  The derivatives of X are those at constant rank, full or not; rank and singular
    values carry none.
    """
    A, B = matrices("lstsq", A, square=False), _floating("lstsq", B)
    vector = is_vector(A, B)
    right = reshape_op(B, shape=(*B.shape, 1)) if vector else B
    if right.ndim < 2 or right._data.shape[-2] != A._data.shape[-2]:
        raise RuntimeError(
            f"linalg.lstsq: input.size(-2) should match other.size(-2), got A {list(A.shape)} and "
            f"B {list(B.shape)}; every equation needs a right-hand side"
        )
    solution, rank, singular_values = lstsq_op(A, right, rcond=rcond)
    rows, columns = A._data.shape[-2:]
    if rows > columns:
        difference = right - matmul_op(A, solution)
        residuals = (difference * conj_of(difference)).sum(-2)
        residuals = residuals.real if residuals.is_complex() else residuals
    else:
        residuals = solution.detach()[..., :0, 0].abs()
    if vector:
        solution = reshape_op(solution, shape=solution._data.shape[:-1])
    return LstsqResult(solution, residuals, rank, singular_values.detach())


# ---- powers and products of several matrices


@method
def matrix_power(A: Tensor, n: int) -> Tensor:  # noqa: N803
    """Return the n-th powers of the square matrices `A` (..., k, k), of their inverses for n < 0.

    Raises RuntimeError for other shapes and LinAlgError where an inverse does not exist.
    """
    matrices("matrix_power", A)
    if n < 0:
        return matrix_power(inv(A), -n)
    if n == 0:
        diagonal = A.diagonal(dim1=-2, dim2=-1)
        ones = REGISTRY["ones_like"](diagonal)  # with a place in the graph, and derivative 0
        return diag_embed(slope_of_line_op(ones, diagonal, scale=1))
    result, square = None, A
    while True:
        if n % 2:
            result = square if result is None else matmul_op(result, square)
        n //= 2
        if not n:
            return clone(result) if result is A else result
        square = matmul_op(square, square)


def multi_dot(tensors: Sequence[Tensor]) -> Tensor:
    """Return the product of two or more matrices, in the order that takes the fewest operations.

    The first may be a vector (a row) and the last one too (a column); their dimensions are dropped
    from the result.  Raises RuntimeError for shapes that do not fit.
    """
    given = checked_tensors(tensors, "multi_dot")
    if len(given) < 2:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {len(given)}")
    refuse_mixed("multi_dot", *given)
    ends = (0, len(given) - 1)
    for k, x in enumerate(given):
        if x.ndim != 2 and not (k in ends and x.ndim == 1):
            raise RuntimeError(
                f"multi_dot(): tensor {k} must be 2D{' or 1D' * (k in ends)} but got {x.ndim}D"
            )
    chain = list(given)
    if chain[0].ndim == 1:
        chain[0] = reshape_op(chain[0], shape=(1, -1))
    if chain[-1].ndim == 1:
        chain[-1] = reshape_op(chain[-1], shape=(-1, 1))
    for k, (left, right) in enumerate(zip(chain[:-1], chain[1:], strict=True)):
        if left.shape[1] != right.shape[0]:
            raise RuntimeError(
                f"multi_dot(): tensors {k} and {k + 1} with shapes {list(given[k].shape)} and "
                f"{list(given[k + 1].shape)} cannot be multiplied; transpose one of them"
            )
    product = _multiplied(chain)
    first, last = given[0].shape[:-1], given[-1].shape[1:]
    return reshape_op(product, shape=(*first, *last))


def _multiplied(chain: list[Tensor]) -> Tensor:
    """Return the product in the cheapest order: all splits of all parts, the shortest first."""
    sizes = [chain[0].shape[0], *(x.shape[1] for x in chain)]
    best: dict[tuple[int, int], tuple[int, int]] = {
        (k, k + 1): (0, k) for k in range(len(chain))
    }  # (first, end) of a part: what it costs, and where it is split
    for length in range(2, len(chain) + 1):
        for first in range(len(chain) - length + 1):
            end = first + length
            best[first, end] = min(
                (
                    best[first, split][0]
                    + best[split, end][0]
                    + sizes[first] * sizes[split] * sizes[end],
                    split,
                )
                for split in range(first + 1, end)
            )

    def part(first: int, end: int) -> Tensor:
        if end == first + 1:
            return chain[first]
        split = best[first, end][1]
        return matmul_op(part(first, split), part(split, end))

    return part(0, len(chain))


# ---- small ones


@method
def trace(input: Tensor) -> Tensor:
    """Return the sum of the diagonal of a matrix (n, m)."""
    if input.ndim != 2:
        raise RuntimeError(
            f"trace: expected a matrix, but got tensor with dim {input.ndim} (shape "
            f"{list(input.shape)}); use diagonal(dim1=-2, dim2=-1).sum(-1) for batches"
        )
    return input.diagonal().sum()


def _cross(xp: Any, x: Any, y: Any, out: Any = None, *, axis: int) -> Any:
    return into(out, xp.cross(x, y, axis=axis))


cross_op = Op(
    "cross",
    _cross,
    {
        "x": lambda g, y, axis: cross_op(conj_of(y), g, axis=axis),
        "y": lambda g, x, axis: cross_op(g, conj_of(x), axis=axis),
    },
    dtype="same",
    broadcasts=True,
    taylor="bilinear",
)


@method
def cross(input: Tensor, other: Tensor, dim: int = -1) -> Tensor:
    """Return the cross products of the vectors of size 3 along `dim`; other dimensions broadcast.

    Raises RuntimeError where `dim` does not have size 3.
    """
    rank = input.ndim
    if other.ndim != rank:
        raise RuntimeError(
            "linalg.cross: inputs must have the same number of dimensions, got shapes "
            f"{list(input.shape)} and {list(other.shape)}; unsqueeze one of them"
        )
    axis = normal_axis(dim, rank) - rank
    for tensor in (input, other):
        if tensor.ndim < -axis or tensor._data.shape[axis] != 3:
            raise RuntimeError(
                f"linalg.cross: inputs dimension {dim} must have length 3, got shapes "
                f"{list(input.shape)} and {list(other.shape)}; pass the right dim"
            )
    return cross_op(input, other, axis=axis)
