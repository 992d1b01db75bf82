"""A model in a few words, as `check` and the first line of a run have it."""

from __future__ import annotations

from typing import Any

from pinn.models import MODELS
from pinn.schema import dump


def in_words(model: Any) -> str:
    """Return its name and its short settings: "mlp: width 20, depth 4, activation tanh".

    The type's name of a module that is no model of ours.
    """
    if type(model) not in dict(MODELS.items()).values():
        return type(model).__name__
    name, settings = MODELS.name_of(model), [
        f"{key} {value}" for key, value in dump(model).items() if _is_short(value)
    ]  # fmt: skip
    return f"{name}: {', '.join(settings)}" if settings else name


def _is_short(value: Any) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool)
