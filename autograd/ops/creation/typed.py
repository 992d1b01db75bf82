"""PyTorch's older names for tensors of a dtype: constructors, and the dtype as a text."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import dtypes
from ...tensor import Tensor, method
from .create import empty, tensor

__all__ = [
    "BoolTensor",
    "ByteTensor",
    "DoubleTensor",
    "FloatTensor",
    "HalfTensor",
    "IntTensor",
    "LongTensor",
    "set_default_tensor_type",
]

_DTYPES = {
    "HalfTensor": dtypes.float16, "FloatTensor": dtypes.float32, "DoubleTensor": dtypes.float64,
    "ByteTensor": dtypes.uint8, "CharTensor": dtypes.int8, "ShortTensor": dtypes.int16,
    "IntTensor": dtypes.int32, "LongTensor": dtypes.int64, "BoolTensor": dtypes.bool_,
    "ComplexFloatTensor": dtypes.complex64, "ComplexDoubleTensor": dtypes.complex128,
}  # fmt: skip


class TypedTensor:
    """A constructor of tensors of one dtype: of sizes, or of sequences, arrays and tensors."""

    def __init__(self, name: str) -> None:
        self.__name__, self.dtype = name, _DTYPES[name]

    def __call__(self, *data: Any) -> Tensor:
        """Return a new tensor: of sizes with unspecified elements, else a copy of the data."""
        if not data or isinstance(data[0], (int, np.integer)):
            return empty(*(data or (0,)), dtype=self.dtype)
        return tensor(*data, dtype=self.dtype)

    def __repr__(self) -> str:
        return f"autograd.{self.__name__}"


HalfTensor, FloatTensor, DoubleTensor, ByteTensor, IntTensor, LongTensor, BoolTensor = map(
    TypedTensor,
    ("HalfTensor", "FloatTensor", "DoubleTensor", "ByteTensor", "IntTensor", "LongTensor",
     "BoolTensor"),
)  # fmt: skip


def set_default_tensor_type(t: Any) -> None:
    """Set the default dtype to that of a constructor, or of its name: `"torch.DoubleTensor"`.

    Raises TypeError for other types than those of floating point, and for those of a GPU: pass
    `device=` where tensors are made.
    """
    dtypes.set_default_dtype(_of_type(t))


def _of_type(t: Any) -> np.dtype:
    if isinstance(t, TypedTensor):
        return t.dtype
    name = str(t).rpartition(".")[2]
    if not isinstance(t, str) or name not in _DTYPES:
        return dtypes.as_dtype(t)
    if ".cuda." in t:
        raise TypeError(
            f"a type of a GPU ({t!r}) does not move tensors; pass device='cuda', or .to('cuda')"
        )
    return _DTYPES[name]


@method(name="type")
def _type(x: Tensor, dtype: Any = None, non_blocking: bool = False) -> Any:
    """Return the name of the tensor's type, "torch.DoubleTensor", or the tensor in another dtype.

    dtype: one, a constructor such as FloatTensor, or the name of one.
    """
    if dtype is not None:
        return x.to(dtype=_of_type(dtype))
    name = next(name for name, own in _DTYPES.items() if own == x.dtype)
    return f"torch.{'cuda.' * x.is_cuda}{name}"
