"""A condition to add, as Python and as YAML have it."""

from __future__ import annotations

from typing import Any


def example(condition: str, unknown: str, **settings: Any) -> str:
    """Return how a condition of a class such as "Dirichlet" is written, its value left open.

    settings: others than the unknown and the value, texts and numbers.
    """
    given = "".join(f", {name}={value!r}" for name, value in settings.items())
    below = "".join(f", {name}: {value}" for name, value in settings.items())
    return (
        f"pinn.{condition}({unknown!r}, ...{given}) (in YAML {condition.lower()}: "
        f"{{unknown: {unknown}, value: ...{below}}})"
    )
