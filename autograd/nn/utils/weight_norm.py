"""Weights as a length and a direction: w = g v / |v| (Salimans and Kingma 2016)."""

from __future__ import annotations

from typing import Any, TypeVar

from ...ops.matrices.norm import vector_norm
from ...tensor import Tensor
from ..module import Module, write
from ..parameter import Parameter

_Module = TypeVar("_Module", bound=Module)


def lengths(v: Tensor, dim: int | None) -> Tensor:
    """Return the norms of the slices of `v` along `dim`, with all dimensions; of all for None."""
    if dim is None or dim == -1:
        return vector_norm(v)
    return vector_norm(v, 2, tuple(k for k in range(v.ndim) if k != dim % v.ndim), True)


def with_lengths(g: Tensor, v: Tensor, dim: int | None) -> Tensor:
    """Return `v` with the slices along `dim` of lengths `g`."""
    return v * (g / lengths(v, dim))


class _WeightNorm:
    """A weight computed from name_g and name_v whenever it is read."""

    def __init__(self, name: str, dim: int | None) -> None:
        self.name, self.dim = name, dim

    def read(self, module: Module) -> Tensor:
        g, v = (getattr(module, f"{self.name}_{part}") for part in "gv")
        return with_lengths(g, v, self.dim)

    def assign(self, module: Module, value: Any) -> None:
        write(getattr(module, f"{self.name}_g"), lengths(value, self.dim)._data)
        write(getattr(module, f"{self.name}_v"), value._data)


def weight_norm(module: _Module, name: str = "weight", dim: int | None = 0) -> _Module:
    """Replace a parameter by the lengths of its slices and their directions; return the module.

    dim  the dimension that the slices are along; None: one length of all.
    The parameter becomes name_g, of size 1 in all other dimensions, and name_v, and is computed
    from both whenever it is read.  `parametrizations.weight_norm` does the same with other names.
    Raises RuntimeError for one that is there already, AttributeError where there is none.
    """
    if name in module._computed:
        raise RuntimeError(
            f"Cannot register two weight_norm hooks on the same parameter {name}: "
            f"{type(module).__name__} computes it already"
        )
    weight = module.get_parameter(name)
    del module._parameters[name]
    module.register_parameter(f"{name}_g", Parameter(lengths(weight.detach(), dim)))
    module.register_parameter(f"{name}_v", Parameter(weight.detach()))
    module._compute(name, _WeightNorm(name, dim))
    return module


def remove_weight_norm(module: _Module, name: str = "weight") -> _Module:
    """Make what `weight_norm` replaced a parameter again, as it is read; return the module.

    Raises ValueError where nothing was replaced.
    """
    if not isinstance(module._computed.get(name), _WeightNorm):
        raise ValueError(f"weight_norm of {name!r} not found in {module}")
    weight = Parameter(getattr(module, name).detach())
    module._compute(name, None)
    for part in "gv":
        delattr(module, f"{name}_{part}")
    module.register_parameter(name, weight)
    return module
