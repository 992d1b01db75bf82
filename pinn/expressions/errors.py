"""The error that points at a place in a text, and what its messages are made of."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

ALIASES = {
    "ln": "log", "fabs": "abs", "Min": "min", "Max": "max",
    "minimum": "min", "maximum": "max", "laplace": "laplacian", "sgn": "sign",
    "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arctan2": "atan2",
    "Gamma": "gamma", "gammaln": "lgamma", "loggamma": "lgamma", "psi": "digamma",
}  # fmt: skip
TOO_LARGE = "is beyond the largest float64, about 1.8e308"


class ExpressionError(ValueError):
    """A text that is not a valid expression, or an expression that has no meaning or value.

    Attributes: ``message`` (one sentence), ``text`` (the whole text), ``position`` (0-based index
    of the place in the text). ``str()`` shows the message, the text (a window of it when it is
    long) and a caret under the place.
    """

    def __init__(self, message: str, text: str = "", position: int = 0) -> None:
        super().__init__(message, text, position)
        self.message = message
        self.text = text
        self.position = position

    def __str__(self) -> str:
        if not self.text.strip():
            return self.message
        first, last = max(0, self.position - 36), self.position + 36
        head = "..." if first else ""
        tail = "..." if last < len(self.text) else ""
        # One printable column a character, so that the caret stands under its place.
        window = "".join(
            " " if c in " \t\r\n" else c if c.isprintable() else "?"
            for c in self.text[first:last]
        )
        caret = " " * (len(head) + self.position - first) + "^"
        return f"{self.message}\n    {head}{window.rstrip()}{tail}\n    {caret}"


def abridge(text: str, limit: int = 40) -> str:
    """Shorten a text for use inside a message."""
    return text if len(text) <= limit else text[: limit - 3] + "..."


def suggest(name: str, existing: Iterable[str], kind: str = "names") -> str:
    """Say which name is nearest to `name` and which ones exist, as the tail of a message.

    Returns text such as ``"; did you mean 'nu'? The names here are nu, t, u, x"``.
    """
    existing = list(dict.fromkeys(existing))
    by_case = {other.lower(): other for other in existing}
    near = ALIASES.get(name)
    if near not in existing:
        near = by_case.get(name.lower())
    if near is None and len(name) <= 80:
        near = next(iter(difflib.get_close_matches(name, existing, n=1)), None)
    hint = f"; did you mean {near!r}?" if near else ";"
    if not existing:
        return f"{hint} there are no {kind} here"
    shown = ", ".join(existing[:40]) + (", ..." if len(existing) > 40 else "")
    return f"{hint} {'The' if near else 'the'} {kind} here are {shown}"
