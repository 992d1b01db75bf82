"""The text of a tensor, as `repr` shows it."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from . import devices, dtypes


class _Options:
    """How tensors are shown: changed by `set_printoptions`."""

    precision = 4
    threshold: float = 1000
    edgeitems = 3
    linewidth: int | None = None  # numpy's
    sci_mode: bool | None = None


_PROFILES: dict[str, dict[str, Any]] = {
    "default": {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": None},
    "short": {"precision": 2, "threshold": 1000, "edgeitems": 2, "linewidth": None},
    "full": {"precision": 4, "threshold": np.inf, "edgeitems": 3, "linewidth": None},
}
_options = _Options()


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Choose how the elements of tensors are shown; None leaves a choice as it is.

    precision  the digits after the point (4).
    threshold  the number of elements from which on the middle is left out (1000).
    edgeitems  how many are shown on each side of it, in each dimension (3).
    linewidth  the characters of a line (numpy's).
    profile    "default", "short" or "full" sets all of these, before the others.
    sci_mode   powers of ten: True always, False never; a call without it lets the values decide.
    Raises ValueError for another profile.
    """
    if profile is not None:
        if profile not in _PROFILES:
            raise ValueError(
                f"set_printoptions: profile must be one of {tuple(_PROFILES)}, got {profile!r}"
            )
        vars(_options).update(_PROFILES[profile])
    given = {
        "precision": precision, "threshold": threshold, "edgeitems": edgeitems,
        "linewidth": linewidth,
    }  # fmt: skip
    vars(_options).update({name: value for name, value in given.items() if value is not None})
    _options.sci_mode = sci_mode


def tensor_text(tensor: Any) -> str:
    """Return `tensor(values, device=..., dtype=..., grad_fn=... | requires_grad=True)`.

    The device is shown when it is not the host, the dtype when Python values would not give it.
    In place of values that a recording computes (`autograd.compile`) it says that there are none.
    """
    if not tensor._is_known():
        return (
            "tensor(<recorded: no values here, return it to see them>, "
            f"shape={list(tensor.shape)}, dtype={tensor.dtype})"
        )
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
    threshold = min(_options.threshold, sys.maxsize)
    text = np.array2string(
        array, separator=", ", formatter=formatter or None, threshold=int(threshold),
        edgeitems=_options.edgeitems, max_line_width=_options.linewidth,
    )  # fmt: skip
    return text.replace("\n", "\n" + " " * indent)


def _float_format(values: np.ndarray) -> Any:
    """Return one format for all values: whole numbers as `6.`, others with all digits chosen."""
    digits, powers = _options.precision, _options.sci_mode
    finite = np.abs(values[np.isfinite(values)].astype(np.float64)).ravel()
    nonzero = finite[finite > 0]
    is_whole = finite.size and np.all(finite == np.round(finite)) and finite.max() < 1e8
    if is_whole and not powers:
        return lambda v: f"{v:.0f}." if np.isfinite(v) else str(v)
    if powers is None and nonzero.size:
        powers = bool(
            nonzero.max() >= 1e8 or nonzero.min() < 1e-4 or nonzero.max() / nonzero.min() > 1e3
        )
    if powers:
        return lambda v: f"{v:.{digits}e}"
    return lambda v: f"{v:.{digits}f}" if np.isfinite(v) else str(v)
