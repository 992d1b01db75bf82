"""Whether two results are close: tensors, numbers, and what is nested of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from numbers import Number
from typing import Any

import numpy as np

from . import devices, dtypes
from .tensor import Tensor

_TOLERANCES = {  # relative and absolute, of the kinds of numbers that are rounded
    dtypes.float16: (1e-3, 1e-5),
    dtypes.float32: (1.3e-6, 1e-5),
    dtypes.float64: (1e-7, 1e-7),
    dtypes.complex64: (1.3e-6, 1e-5),
    dtypes.complex128: (1e-7, 1e-7),
}
_EXACT = (0.0, 0.0)


def assert_close(
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: str | Callable[[str], str] | None = None,
) -> None:
    """Raise AssertionError unless |actual - expected| <= atol + rtol |expected|, everywhere.

    actual, expected  tensors, arrays, numbers or None, or sequences and mappings of these, built
                  alike.  numpy's numbers count as those of Python.
    rtol, atol    both or neither: by default 1.3e-6 and 1e-5 for float32, 1e-7 and 1e-7 for
                  float64, 1e-3 and 1e-5 for float16, those of its parts for a complex dtype, and
                  for all others 0; where dtypes differ, the larger ones.
    equal_nan     NaN is close to NaN.  Infinities are close to themselves.
    check_device, check_dtype, check_stride  let these be compared as well as the shapes.
    allow_subclasses  False: types have to be the same, where the one may be a subclass else.
    check_layout  changes nothing: all tensors are strided.
    msg           the message instead, or a function of the message that returns it.
    Raises TypeError for what cannot be compared, ValueError for one tolerance alone.
    """
    if (rtol is None) != (atol is None):
        raise ValueError(
            "assert_close: rtol and atol must both be specified or both be unspecified, got "
            f"rtol={rtol} and atol={atol}"
        )
    given = None if rtol is None or atol is None else (rtol, atol)
    comparison = _Comparison(
        given, equal_nan, allow_subclasses, check_device, check_dtype, check_stride
    )
    failure = comparison.failure(actual, expected, "")
    if failure is None:
        return
    if msg is not None:
        failure = msg if isinstance(msg, str) else msg(failure)
    raise AssertionError(failure)


class _Comparison:
    """What is compared, and how closely."""

    def __init__(
        self,
        tolerances: tuple[float, float] | None,
        equal_nan: bool,
        allow_subclasses: bool,
        device: bool,
        dtype: bool,
        stride: bool,
    ) -> None:
        self.tolerances = tolerances
        self.equal_nan = equal_nan
        self.allow_subclasses = allow_subclasses
        self.device, self.dtype, self.stride = device, dtype, stride

    def failure(self, actual: Any, expected: Any, place: str) -> str | None:
        """Return what is to be said about a pair that is not close, None where it is."""
        if isinstance(actual, Mapping) and isinstance(expected, Mapping):
            return self._of_mappings(actual, expected, place)
        if _is_sequence(actual) and _is_sequence(expected):
            if len(actual) != len(expected):
                return _at(
                    f"The length of the sequences mismatch: {len(actual)} != {len(expected)}", place
                )
            pairs = enumerate(zip(actual, expected, strict=True))
            return self._first(((f"{place}[{k}]", *pair) for k, pair in pairs))
        if actual is None or expected is None:
            if actual is expected:
                return None
            return _at(f"None is close to None alone: expected {expected}, got {actual}.", place)
        if not self._are_of_a_kind(actual, expected):
            raise TypeError(
                f"assert_close: a {type(actual).__name__} and a {type(expected).__name__}"
                f"{' for item ' + place if place else ''} cannot be compared; give two tensors, "
                "two numbers, or sequences or mappings of them"
            )
        if isinstance(actual, (Tensor, np.ndarray)):
            return self._of_tensors(_tensor(actual), _tensor(expected), place)
        return self._of_numbers(actual, expected, place)

    def _are_of_a_kind(self, actual: Any, expected: Any) -> bool:
        kinds = (type(actual), type(expected))
        if kinds[0] is kinds[1]:
            return isinstance(actual, (Tensor, np.ndarray, Number, np.generic))
        numbers = (Number, np.generic)
        if isinstance(actual, numbers) and isinstance(expected, numbers):
            return isinstance(actual, (bool, np.bool_)) == isinstance(expected, (bool, np.bool_))
        tensors = isinstance(actual, Tensor) and isinstance(expected, Tensor)
        return tensors and self.allow_subclasses and (
            issubclass(kinds[0], kinds[1]) or issubclass(kinds[1], kinds[0])
        )

    def _first(self, pairs: Any) -> str | None:
        return next(
            (failure for place, *pair in pairs if (failure := self.failure(*pair, place))), None
        )

    def _of_mappings(self, actual: Mapping, expected: Mapping, place: str) -> str | None:
        missing = [key for key in expected if key not in actual]
        further = [key for key in actual if key not in expected]
        if missing or further:
            return _at(
                "The keys of the mappings do not match:\n"
                f"Missing keys in the actual mapping: {missing}\n"
                f"Additional keys in the actual mapping: {further}",
                place,
            )
        return self._first((f"{place}[{key!r}]", actual[key], expected[key]) for key in expected)

    def _of_tensors(self, actual: Tensor, expected: Tensor, place: str) -> str | None:
        facts = {"shape": (actual.shape, expected.shape)}
        if self.device:
            facts["device"] = (actual.device, expected.device)
        if self.dtype:
            facts["dtype"] = (actual.dtype, expected.dtype)
        if self.stride:
            facts["stride()"] = (actual.stride(), expected.stride())
        for name, (one, other) in facts.items():
            if one != other:
                return _at(
                    f"The values for attribute {name!r} do not match: {one} != {other}.", place
                )
        rtol, atol = self.tolerances or _tolerances(actual.dtype, expected.dtype)
        common = np.result_type(actual.dtype, expected.dtype)
        x, y = _host(actual, common), _host(expected, common)
        far = ~self._close(x, y, rtol, atol)
        if not far.any():
            return None
        what = "equal" if rtol == atol == 0 else "close"
        if x.ndim == 0:
            lines = [f"Scalars are not {what}!", "", f"Expected {y[()]} but got {x[()]}."]
            return _at("\n".join([*lines, *_differences(x, y, far, rtol, atol)]), place)
        count = int(far.sum())
        lines = [
            f"Tensor-likes are not {what}!",
            "",
            f"Mismatched elements: {count} / {far.size} ({count / far.size:.1%})",
            *_differences(x, y, far, rtol, atol),
        ]
        return _at("\n".join(lines), place)

    def _of_numbers(self, actual: Any, expected: Any, place: str) -> str | None:
        actual, expected = _plain(actual), _plain(expected)
        if self.dtype and type(actual) is not type(expected):
            return _at(
                f"The (d)types do not match: {type(actual)} != {type(expected)}.", place
            )
        x, y = np.asarray(actual), np.asarray(expected)
        rtol, atol = self.tolerances or _tolerances(x.dtype, y.dtype)
        far = ~self._close(x, y, rtol, atol)
        if not far.any():
            return None
        what = "equal" if rtol == atol == 0 else "close"
        lines = [f"Scalars are not {what}!", "", f"Expected {expected} but got {actual}."]
        return _at("\n".join([*lines, *_differences(x, y, far, rtol, atol)]), place)

    def _close(self, x: np.ndarray, y: np.ndarray, rtol: float, atol: float) -> np.ndarray:
        """Return where two arrays are close."""
        same = np.asarray(x == y)
        if self.equal_nan:
            same |= (x != x) & (y != y)
        if rtol or atol:
            with np.errstate(all="ignore"):
                near = np.abs(_wide(x) - _wide(y)) <= atol + rtol * np.abs(_wide(y))
                same |= near & np.isfinite(y)
        return same


def _is_sequence(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def _plain(number: Any) -> Any:
    """Return one of numpy's numbers as that of Python."""
    return number.item() if isinstance(number, np.generic) else number


def _tensor(value: Any) -> Tensor:
    return value.detach() if isinstance(value, Tensor) else Tensor(value)


def _host(tensor: Tensor, dtype: np.dtype) -> np.ndarray:
    return devices.backend_of(tensor._data).to_host(tensor._data).astype(dtype)


def _wide(x: np.ndarray) -> np.ndarray:
    """Return numbers of which differences neither overflow nor wrap around."""
    return x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)


def _tolerances(*kinds: np.dtype) -> tuple[float, float]:
    each = [_TOLERANCES.get(np.dtype(kind), _EXACT) for kind in kinds]
    return max(rtol for rtol, _ in each), max(atol for _, atol in each)


def _differences(
    x: np.ndarray, y: np.ndarray, far: np.ndarray, rtol: float, atol: float
) -> list[str]:
    """Return a line each on the greatest absolute and relative difference, and where it is."""
    with np.errstate(all="ignore"):
        size = np.abs(_wide(x) - _wide(y))
        share = size / np.abs(_wide(y))
    lines = []
    for name, values, allowed in (("absolute", size, atol), ("relative", share, rtol)):
        # NaN is as far as can be; what is close does not count, as infinities that are equal
        order = np.where(far, np.where(np.isnan(values), np.inf, values), -1.0)
        worst = np.unravel_index(int(order.argmax()), order.shape)
        limit = f" (up to {allowed} allowed)" if rtol or atol else ""
        found = values[worst]
        if x.ndim:
            at = tuple(int(k) for k in worst)
            lines.append(f"Greatest {name} difference: {found} at index {at}{limit}")
        else:
            lines.append(f"{name.capitalize()} difference: {found}{limit}")
    return lines


def _at(message: str, place: str) -> str:
    return f"{message}\n\nThe failure occurred for item {place}" if place else message
