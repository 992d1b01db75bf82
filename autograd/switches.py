"""Switches that scripts set at their head: how exact products are, and whether runs repeat."""

from __future__ import annotations

import warnings

_PRECISIONS = ("highest", "high", "medium")
_precision = "highest"
_deterministic = _only_warns = False


def set_float32_matmul_precision(precision: str, /) -> None:
    """Permit products of float32 to be computed with fewer bits: "highest", "high" or "medium".

    It changes nothing: all products here have the bits of float32, which the others permit too.
    Raises ValueError for other names.
    """
    global _precision
    if precision not in _PRECISIONS:
        raise ValueError(
            f"set_float32_matmul_precision: expected one of {_PRECISIONS}, got {precision!r}"
        )
    _precision = precision


def get_float32_matmul_precision() -> str:
    """Return what `set_float32_matmul_precision` was given last, "highest" at first."""
    return _precision


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Refuse what may give other bits in another run: on a GPU, sums at positions that repeat.

    On the host runs repeat in any case.  With `warn_only` there is a UserWarning instead of a
    RuntimeError.
    """
    global _deterministic, _only_warns
    _deterministic, _only_warns = bool(mode), bool(mode) and bool(warn_only)


def are_deterministic_algorithms_enabled() -> bool:
    """Return whether `use_deterministic_algorithms` is on."""
    return _deterministic


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Return whether `use_deterministic_algorithms` is on and only warns."""
    return _only_warns


def refuse_chance(what: str) -> None:
    """Raise RuntimeError, or warn, for what has no fixed order, where that was asked for."""
    if not _deterministic:
        return
    message = (
        f"{what} on a GPU goes in no fixed order, and use_deterministic_algorithms(True) was set; "
        "do it on the host, or pass warn_only=True"
    )
    if not _only_warns:
        raise RuntimeError(message)
    warnings.warn(message, UserWarning, stacklevel=2)
