"""Initial values of parameters, written in place; none of this is recorded in the graph.

Each function takes the tensor to fill first, and a `generator` where it draws random numbers
(None: the default generator); it returns the tensor.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import devices, dtypes
from ..ops.creation.create import rand, randn
from ..ops.elementwise.smooth import erfinv
from ..tensor import Tensor
from .module import write

_GAINS = {
    "linear": 1.0,
    "identity": 1.0,
    "sigmoid": 1.0,
    "tanh": 5 / 3,
    "relu": math.sqrt(2),
    "selu": 3 / 4,
}


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """Return the factor that keeps the variance of activations through a nonlinearity.

    `param` is the negative slope of "leaky_relu" (0.01 by default).
    """
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        return math.sqrt(2 / (1 + slope**2))
    if nonlinearity not in _GAINS:
        known = [*_GAINS, "leaky_relu"]
        raise ValueError(f"unsupported nonlinearity {nonlinearity!r}; the known ones are {known}")
    return _GAINS[nonlinearity]


def fan_in_and_out(tensor: Tensor) -> tuple[int, int]:
    """Return the numbers of inputs and outputs of a weight of shape (outputs, inputs, ...).

    ValueError for fewer than two dimensions.
    """
    if tensor.ndim < 2:
        raise ValueError(
            "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions, got "
            f"shape {list(tensor.shape)}; use uniform_ or normal_ for vectors"
        )
    field = math.prod(tensor.shape[2:])
    return tensor.shape[1] * field, tensor.shape[0] * field


def _fill(tensor: Tensor, draw: Any, scale: float, shift: float, generator: Any) -> Tensor:
    values = draw(tensor.shape, dtype=tensor.dtype, device=tensor.device, generator=generator)
    array = values._data
    with devices.current(tensor.device):
        array *= scale
        array += shift
    write(tensor, array)
    return tensor


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Any = None) -> Tensor:
    """Fill with draws from the uniform distribution on [a, b)."""
    return _fill(tensor, rand, b - a, a, generator)


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> Tensor:
    """Fill with draws from the normal distribution."""
    return _fill(tensor, randn, std, mean, generator)


def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fill with one value."""
    write(tensor, np.asarray(val))
    return tensor


def zeros_(tensor: Tensor) -> Tensor:
    """Fill with 0."""
    return constant_(tensor, 0)


def ones_(tensor: Tensor) -> Tensor:
    """Fill with 1."""
    return constant_(tensor, 1)


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Fill from U(-a, a), a = gain sqrt(6 / (inputs + outputs)): Glorot and Bengio 2010."""
    bound = gain * math.sqrt(6 / sum(fan_in_and_out(tensor)))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Fill from N(0, gain^2 2 / (inputs + outputs)): Glorot and Bengio 2010."""
    return normal_(tensor, 0.0, gain * math.sqrt(2 / sum(fan_in_and_out(tensor))), generator)


def _kaiming_std(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float:
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"mode must be 'fan_in' or 'fan_out', got {mode!r}")
    fan = fan_in_and_out(tensor)[mode == "fan_out"]
    return calculate_gain(nonlinearity, a) / math.sqrt(fan) if fan else 0.0


def kaiming_uniform_(
    tensor: Tensor,
    a: float = 0.0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Any = None,
) -> Tensor:
    """Fill from U(-b, b), b = gain sqrt(3 / fan): He et al. 2015; `a` is the negative slope."""
    bound = math.sqrt(3) * _kaiming_std(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor,
    a: float = 0.0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Any = None,
) -> Tensor:
    """Fill from N(0, gain^2 / fan): He et al. 2015; `a` is the negative slope."""
    return normal_(tensor, 0.0, _kaiming_std(tensor, a, mode, nonlinearity), generator)


def trunc_normal_(
    tensor: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: Any = None,
) -> Tensor:
    """Fill with draws from the normal distribution, of which those in [a, b] alone are kept.

    ValueError for a > b and for std <= 0.
    """
    if a > b or std <= 0:
        raise ValueError(
            f"trunc_normal_: expected a <= b and std > 0, got a={a}, b={b} and std={std}"
        )
    below, above = (0.5 * math.erfc((mean - end) / (std * math.sqrt(2))) for end in (a, b))
    share = rand(tensor.shape, dtype=dtypes.float64, generator=generator) * (above - below) + below
    values = (erfinv(2 * share - 1) * (std * math.sqrt(2)) + mean).clamp(a, b)
    write(tensor, values._data)
    return tensor


def orthogonal_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Fill with `gain` times a matrix of orthonormal rows or columns: Saxe et al. 2014.

    Dimensions after the first count as one.  ValueError for fewer than two dimensions.
    """
    if tensor.ndim < 2:
        raise ValueError(
            "Only tensors with 2 or more dimensions are supported by orthogonal_, got shape "
            f"{list(tensor.shape)}"
        )
    if not tensor.numel():
        return tensor
    rows = tensor.shape[0]
    columns = tensor.numel() // rows
    kind = dtypes.complex128 if tensor.is_complex() else dtypes.float64
    draws = randn(max(rows, columns), min(rows, columns), dtype=kind, generator=generator)
    q, r = np.linalg.qr(draws._data)
    diagonal = np.diagonal(r)
    q = q * (diagonal / np.abs(diagonal))  # uniform over all of them: Mezzadri 2007
    write(tensor, gain * (q.T if rows < columns else q).reshape(tensor.shape))
    return tensor


def eye_(tensor: Tensor) -> Tensor:
    """Fill a matrix with ones on the diagonal and zeros elsewhere.

    ValueError for other dimensions than two.
    """
    if tensor.ndim != 2:
        raise ValueError(
            f"Only tensors with 2 dimensions are supported by eye_, got shape {list(tensor.shape)}"
        )
    write(tensor, np.eye(*tensor.shape))
    return tensor


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """Fill the kernels (o, c, ...) of a convolution so that it gives channel k on as channel k.

    groups  do so in each of these groups of outputs.
    ValueError for other than three to five dimensions, and groups that do not divide the outputs.
    """
    if not 3 <= tensor.ndim <= 5 or tensor.shape[0] % groups:
        raise ValueError(
            "Only tensors with 3, 4, or 5 dimensions are supported by dirac_, and dim 0 must be "
            f"divisible by groups, got shape {list(tensor.shape)} and groups={groups}"
        )
    values = np.zeros(tensor.shape)
    count = tensor.shape[0] // groups
    middle = tuple(size // 2 for size in tensor.shape[2:])
    for group in range(groups):
        for k in range(min(count, tensor.shape[1])):
            values[(group * count + k, k, *middle)] = 1
    write(tensor, values)
    return tensor


def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01, generator: Any = None) -> Tensor:
    """Fill a matrix from N(0, std^2), but with zeros at random in each column: Martens 2010.

    sparsity  the share of zeros, rounded up to whole rows.
    ValueError for other dimensions than two.
    """
    if tensor.ndim != 2:
        raise ValueError(
            "Only tensors with 2 dimensions are supported by sparse_, got shape "
            f"{list(tensor.shape)}"
        )
    rows, columns = tensor.shape
    normal_(tensor, 0.0, std, generator)
    ranks = rand(rows, columns, dtype=dtypes.float64, generator=generator)._data.argsort(axis=0)
    kept = np.ones((rows, columns))
    np.put_along_axis(kept, ranks[: math.ceil(sparsity * rows)], 0, axis=0)
    mask = devices.put(kept.astype(tensor.dtype), tensor.device)
    with devices.current(tensor.device):
        write(tensor, tensor._data * mask)
    return tensor
