"""The text of a tensor, as `repr` shows it."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import devices, dtypes

_PRECISION = 4


def tensor_text(tensor: Any) -> str:
    """Return `tensor(values, device=..., dtype=..., grad_fn=... | requires_grad=True)`.

    The device is shown when it is not the host, the dtype when Python values would not give it.
    """
    host = devices.backend_of(tensor._data).to_host(tensor._data)
    prefix = "tensor("
    if host.size == 0:
        body = "[]" if host.ndim == 1 else f"[], size={tuple(host.shape)}"
    else:
        body = _values(host, len(prefix))
    parts = [body]
    if tensor.device != devices.CPU:
        parts.append(f"device={str(tensor.device)!r}")
    usual = (dtypes.get_default_dtype(), dtypes.default_complex(), dtypes.int64, dtypes.bool_)
    if tensor.dtype not in usual:
        parts.append(f"dtype={tensor.dtype}")
    if tensor.grad_fn is not None:
        parts.append(f"grad_fn=<{tensor.grad_fn.name()}>")
    elif tensor.requires_grad:
        parts.append("requires_grad=True")
    return prefix + ", ".join(parts) + ")"


def _values(array: np.ndarray, indent: int) -> str:
    kind = array.dtype.kind
    formatter: dict[str, Any] = {}
    if kind == "f":
        formatter["float_kind"] = _float_format(array)
    elif kind == "c":
        real, imag = _float_format(array.real), _float_format(array.imag)
        formatter["complex_kind"] = lambda z: (
            f"{real(z.real)}{'-' if np.signbit(z.imag) else '+'}{imag(abs(z.imag))}j"
        )
    if array.ndim == 0:
        value = array[()]
        key = {"f": "float_kind", "c": "complex_kind"}.get(kind)
        return formatter[key](value) if key else str(value)
    text = np.array2string(array, separator=", ", formatter=formatter or None, threshold=1000)
    return text.replace("\n", "\n" + " " * indent)


def _float_format(values: np.ndarray) -> Any:
    """Return one format for all values: whole numbers as `6.`, others with 4 digits."""
    finite = np.abs(values[np.isfinite(values)].astype(np.float64)).ravel()
    nonzero = finite[finite > 0]
    if finite.size and np.all(finite == np.round(finite)) and finite.max() < 1e8:
        return lambda v: f"{v:.0f}." if np.isfinite(v) else str(v)
    if nonzero.size and (
        nonzero.max() >= 1e8 or nonzero.min() < 1e-4 or nonzero.max() / nonzero.min() > 1e3
    ):
        return lambda v: f"{v:.{_PRECISION}e}"
    return lambda v: f"{v:.{_PRECISION}f}" if np.isfinite(v) else str(v)
