"""Weights divided by their largest singular value (Miyato et al. 2018)."""

from __future__ import annotations

import math
from typing import Any, TypeVar

from ... import modes
from ...ops.creation.create import randn
from ...ops.matrices.matmul import dot, mv
from ...tensor import Tensor
from ..convolution import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from ..functional import normalize
from ..module import Module, write
from ..parameter import Parameter

_Module = TypeVar("_Module", bound=Module)


def usual_dim(module: Module) -> int:
    """Return the dimension of a module's weight that belongs to its outputs."""
    transposed = (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)
    return 1 if isinstance(module, transposed) else 0


def as_matrix(weight: Tensor, dim: int) -> Tensor:
    """Return a weight with `dim` as rows and all else as columns."""
    if dim:
        others = [k for k in range(weight.ndim) if k != dim]
        weight = weight.permute(dim, *others)
    return weight.reshape(weight.shape[0], math.prod(weight.shape[1:]))


def first_vectors(
    matrix: Tensor, eps: float, steps: int, generator: Any = None
) -> tuple[Tensor, Tensor]:
    """Return random unit vectors (rows,) and (columns,) after some steps of the power method."""
    how: dict[str, Any] = {"dtype": matrix.dtype, "device": matrix.device, "generator": generator}
    u, v = (normalize(randn(size, **how), dim=0, eps=eps) for size in matrix.shape)
    step_vectors(matrix.detach(), u, v, eps, steps)
    return u, v


def step_vectors(
    matrix: Tensor, u: Tensor, v: Tensor, eps: float, steps: int, u_first: bool = True
) -> None:
    """Move u and v, in place, towards the singular vectors of the largest singular value."""
    moves = [(u, matrix, v), (v, matrix.t(), u)]
    with modes.no_grad():
        for _ in range(steps):
            for moved, factor, other in moves if u_first else reversed(moves):
                moved.copy_(normalize(mv(factor, other), dim=0, eps=eps))


def divided(
    weight: Tensor, u: Tensor, v: Tensor, dim: int, eps: float, steps: int, u_first: bool = True
) -> Tensor:
    """Return a weight divided by u^T W v; u and v move by some steps before."""
    matrix = as_matrix(weight, dim)
    if steps:
        modes.refuse_write(
            "moving the vectors of a spectral norm",
            "Call eval() first, which leaves them as they are",
        )
        step_vectors(matrix.detach(), u, v, eps, steps, u_first)
    return weight / dot(u.clone(), mv(matrix, v.clone()))


class _SpectralNorm:
    """A weight computed from name_orig whenever it is read."""

    def __init__(self, name: str, dim: int, eps: float, steps: int) -> None:
        self.name, self.dim, self.eps, self.steps = name, dim, eps, steps

    def read(self, module: Module) -> Tensor:
        weight, u, v = (getattr(module, f"{self.name}_{part}") for part in ("orig", "u", "v"))
        steps = self.steps if module.training else 0
        return divided(weight, u, v, self.dim, self.eps, steps, u_first=False)

    def assign(self, module: Module, value: Any) -> None:
        write(getattr(module, f"{self.name}_orig"), value._data)


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
    The parameter becomes name_orig; name_u and name_v are buffers with the singular vectors.
    `parametrizations.spectral_norm` does the same with other names.
    Raises RuntimeError for one that is there already, ValueError for no positive number of steps,
    AttributeError where there is no such parameter.
    """
    if name in module._computed:
        raise RuntimeError(
            f"Cannot register two spectral_norm hooks on the same parameter {name}: "
            f"{type(module).__name__} computes it already"
        )
    check_steps(n_power_iterations)
    dim = usual_dim(module) if dim is None else dim
    weight = module.get_parameter(name)
    u, v = first_vectors(as_matrix(weight.detach(), dim), eps, 15, generator)
    del module._parameters[name]
    module.register_parameter(f"{name}_orig", weight)
    module.register_buffer(f"{name}_u", u)
    module.register_buffer(f"{name}_v", v)
    module._compute(name, _SpectralNorm(name, dim, eps, n_power_iterations))
    return module


def check_steps(steps: int) -> None:
    """Raise ValueError unless a number of steps is positive."""
    if steps <= 0:
        raise ValueError(
            f"Expected n_power_iterations to be positive, but got n_power_iterations={steps}"
        )


def remove_spectral_norm(module: _Module, name: str = "weight") -> _Module:
    """Make what `spectral_norm` replaced a parameter again, as it is read; return the module.

    Raises ValueError where nothing was replaced.
    """
    known = module._computed.get(name)
    if not isinstance(known, _SpectralNorm):
        raise ValueError(f"spectral_norm of {name!r} not found in {module}")
    weight, u, v = (getattr(module, f"{name}_{part}") for part in ("orig", "u", "v"))
    with modes.no_grad():
        value = divided(weight, u, v, known.dim, known.eps, 0)
    module._compute(name, None)
    for part in ("orig", "u", "v"):
        delattr(module, f"{name}_{part}")
    module.register_parameter(name, Parameter(value))
    return module
