"""Which names the texts of a declaration use."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from pinn.checks import NAME


def names_used(stated: Any) -> set[str] | None:
    """Return the names in all texts of a declaration; None where a function may use any.

    stated: texts, mappings and sequences of them, and declared objects. An object of a class that
    is not pinn's counts as a function.
    """
    texts = list(texts_in(stated))
    return None if None in texts else {name for text in texts for name in NAME.findall(text)}


def texts_in(value: Any) -> Iterator[str | None]:
    """Yield the texts in a declaration, None for a function."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from texts_in(one)
    elif isinstance(value, Sequence):
        for one in value:
            yield from texts_in(one)
    elif dataclasses.is_dataclass(value):
        if type(value).__module__.partition(".")[0] != "pinn":
            yield None
        for one in dataclasses.fields(value):
            yield from texts_in(getattr(value, one.name))
    elif isinstance(value, Callable):
        yield None
