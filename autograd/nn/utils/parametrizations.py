"""Parametrizations in use: weights by length and direction, of spectral norm 1, orthogonal."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from ... import devices, modes
from ...ops.creation.create import eye, randn
from ...ops.elementwise.piecewise import where
from ...ops.layout.join import cat
from ...ops.matrices.decompositions import householder_product
from ...ops.matrices.linalg import solve
from ...ops.matrices.matrix_exp import matrix_exp
from ...ops.matrices.qr import qr
from ...tensor import Tensor
from ..functional import normalize
from ..module import Module
from .parametrize import register_parametrization
from .spectral_norm import as_matrix, check_steps, divided, first_vectors, usual_dim
from .weight_norm import lengths, with_lengths

_Module = TypeVar("_Module", bound=Module)


class _WeightNorm(Module):
    """g v / |v| of the lengths g and the directions v of slices along `dim`."""

    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Tensor:
        return with_lengths(weight_g, weight_v, self.dim)

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        """Return the lengths of a weight, and the weight as its directions."""
        return lengths(weight, self.dim), weight


def weight_norm(module: _Module, name: str = "weight", dim: int | None = 0) -> _Module:
    """Replace a parameter by the lengths of its slices and their directions; return the module.

    dim  the dimension that the slices are along; None: one length of all.
    The lengths are parametrizations.name.original0, the directions original1 (Salimans and Kingma
    2016).  Raises ValueError where there is no such parameter.
    """
    return register_parametrization(module, name, _WeightNorm(dim), unsafe=True)


class _SpectralNorm(Module):
    """A weight divided by its largest singular value, which the power method follows.

    _u, _v  buffers, the singular vectors; none for a vector, which is divided by its length.
    """

    def __init__(
        self, weight: Tensor, steps: int, dim: int, eps: float, generator: Any = None
    ) -> None:
        super().__init__()
        check_steps(steps)
        self.dim = dim if dim >= 0 else dim + weight.ndim
        self.eps = eps
        self.n_power_iterations = steps
        if weight.ndim > 1:
            u, v = first_vectors(as_matrix(weight, self.dim), eps, 15, generator)
            self.register_buffer("_u", u)
            self.register_buffer("_v", v)

    def forward(self, weight: Tensor) -> Tensor:
        if weight.ndim == 1:
            return normalize(weight, dim=0, eps=self.eps)
        steps = self.n_power_iterations if self.training else 0
        return divided(weight, self._u, self._v, self.dim, self.eps, steps)

    def right_inverse(self, value: Tensor) -> Tensor:
        """Return `value`: what has this norm already is read as it is."""
        return value


def spectral_norm(
    module: _Module,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
    *,
    generator: Any = None,
) -> _Module:
    """Replace a parameter by itself divided by its largest singular value; return the module.

    n_power_iterations  steps of the power method whenever the parameter is read while training.
    eps                 the least norm that vectors are divided by.
    dim                 the dimension that makes rows; None: 0, of transposed convolutions 1.
    The parameter becomes parametrizations.name.original (Miyato et al. 2018).  Raises ValueError
    for no positive number of steps, and AttributeError where there is no such parameter.
    """
    weight = getattr(module, name).detach()
    dim = usual_dim(module) if dim is None else dim
    norm = _SpectralNorm(weight, n_power_iterations, dim, eps, generator)
    return register_parametrization(module, name, norm)


MAPS = ("matrix_exp", "cayley", "householder")


class _Orthogonal(Module):
    """Matrices with orthonormal columns, or rows where there are fewer of them.

    base  a buffer, the orthogonal matrices that a map's own are multiplied by; without it the map
          alone.
    """

    def __init__(self, weight: Tensor, map: str, has_base: bool) -> None:
        super().__init__()
        self.map = map
        self.shape = tuple(weight.shape)
        if has_base:
            self.register_buffer("base", None)
        self.has_base = has_base

    def forward(self, weight: Tensor) -> Tensor:
        is_wide = weight.shape[-2] < weight.shape[-1]
        tall = weight.mT if is_wide else weight
        found = _by_reflections(tall) if self.map == "householder" else self._rotated(tall)
        if self.has_base:
            found = self.base @ found
        return found.mT if is_wide else found

    def _rotated(self, tall: Tensor) -> Tensor:
        """Return the first columns of the map of what the lower triangle makes skew."""
        rows, columns = tall.shape[-2:]
        square = tall.tril()
        if rows > columns:
            square = cat([square, tall.new_zeros((*tall.shape[:-1], rows - columns))], -1)
        skew = square - square.mH
        if self.map == "matrix_exp":
            return matrix_exp(skew)[..., :columns]
        one = eye(rows, dtype=tall.dtype, device=tall.device)
        return solve(one - skew / 2, (one + skew / 2)[..., :columns])

    def right_inverse(self, value: Tensor) -> Tensor:
        """Return the weight of which `forward` is the orthogonal matrix next to `value`.

        Raises ValueError for another shape, NotImplementedError for maps other than householder
        without a base.
        """
        if tuple(value.shape) != self.shape:
            raise ValueError(
                f"orthogonal: expected a tensor of shape {list(self.shape)}, got "
                f"{list(value.shape)}"
            )
        is_wide = value.shape[-2] < value.shape[-1]
        tall = value.mT if is_wide else value
        if self.has_base:
            self.base = _completed(tall)
            first = -eye(*value.shape[-2:], dtype=value.dtype, device=value.device)
            return first.expand(value.shape).clone()  # what every map makes the identity
        if self.map != "householder":
            raise NotImplementedError(
                f"orthogonal: the map {self.map} cannot be assigned to with "
                "use_trivialization=False; use the householder map, or leave the base"
            )
        vectors = _reflections(tall)
        return vectors.mT if is_wide else vectors


def _by_reflections(tall: Tensor) -> Tensor:
    """Return the first columns of the reflections along vectors, times the signs on the diagonal.

    Vector k is column k below the diagonal, with 1 on it.
    """
    vectors = tall.tril(-1)
    lengths = 1 + (vectors * vectors).sum(-2)
    signs = where(tall.diagonal(dim1=-2, dim2=-1).detach() < 0, -1.0, 1.0).to(tall.dtype)
    return householder_product(vectors, 2 / lengths) * signs.unsqueeze(-2)


def _reflections(tall: Tensor) -> Tensor:
    """Return the vectors, with signs on the diagonal, by which `_by_reflections` gives `tall`."""
    host = devices.backend_of(tall._data).to_host(tall.detach()._data)
    left = np.array(host.reshape(-1, *host.shape[-2:]))
    found = np.zeros_like(left)
    for matrix, vectors in zip(left, found, strict=True):
        for k in range(matrix.shape[1]):
            column = matrix[k:, k]
            length = np.sqrt(column @ column)
            sign = -1.0 if column[0] > 0 else 1.0
            v = column.copy()
            v[0] -= sign * length  # of the sign that takes no digits away
            v /= v[0] if v[0] else 1
            v[0] = 1
            matrix[k:, k:] -= np.outer(v, 2 / (v @ v) * (v @ matrix[k:, k:]))
            vectors[k:, k] = v
            vectors[k, k] = sign
    return Tensor(devices.put(found.reshape(host.shape), tall.device))


def _completed(tall: Tensor) -> Tensor:
    """Return square orthogonal matrices that begin with the columns of `tall`, made orthonormal."""
    rows, columns = tall.shape[-2:]
    with modes.no_grad():
        own = tall.detach()
        if rows > columns:
            more = randn(*tall.shape[:-1], rows - columns, dtype=tall.dtype, device=tall.device)
            own = cat([own, more], -1)
        found, factors = qr(own)
        return found * factors.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)


def orthogonal(
    module: _Module,
    name: str = "weight",
    orthogonal_map: str | None = None,
    *,
    use_trivialization: bool = True,
) -> _Module:
    """Let a parameter be an orthogonal matrix, or have orthonormal columns or rows; return module.

    A weight (..., n, k) has orthonormal columns for n >= k, else rows; unitary where it is complex.

    orthogonal_map      "matrix_exp" or "cayley", of a skew matrix, or "householder", a product of
                        reflections; None: matrix_exp for square and complex weights, else
                        householder.
    use_trivialization  multiply by a buffer, `base`, which is what was assigned, so that training
                        begins, and each assignment ends, where the map is the identity.
    The parameter becomes parametrizations.name.original.  An assigned weight becomes the next
    orthogonal one by QR.  Raises ValueError for vectors, another map and reflections of complex
    weights.  Source: Lezcano Casado 2019, arXiv:1909.09501.
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(
            f"Module {type(module).__name__} has no parameter or buffer with name {name!r}"
        )
    if weight.ndim < 2:
        raise ValueError(
            f"orthogonal: expected a matrix or a batch of matrices, got {weight.ndim}D"
        )
    if orthogonal_map is None:
        is_square = weight.shape[-2] == weight.shape[-1]
        orthogonal_map = "matrix_exp" if is_square or weight.is_complex() else "householder"
    if orthogonal_map not in MAPS:
        raise ValueError(f"orthogonal_map has to be one of {MAPS}, got {orthogonal_map!r}")
    if orthogonal_map == "householder" and weight.is_complex():
        raise ValueError(
            "orthogonal: the householder map does not support complex tensors; use matrix_exp"
        )
    own = _Orthogonal(weight, orthogonal_map, use_trivialization)
    return register_parametrization(module, name, own)
