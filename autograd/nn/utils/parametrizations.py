"""Parametrizations that are in use: weights by length and direction, or of spectral norm 1."""

from __future__ import annotations

from typing import Any, TypeVar

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
