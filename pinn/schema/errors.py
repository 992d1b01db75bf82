"""The error of a declaration: every mistake with the path of keys that leads to it."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NoReturn

_SHOWN = 80

Path = tuple[str, ...]


def shown(value: object) -> str:
    """Return a value as it is shown in a message: its repr, cut where it is long."""
    try:
        text = repr(value)
    except ValueError:  # a whole number of more digits than Python writes
        return "a whole number of thousands of digits"
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."


@dataclass(frozen=True)
class Mistake:
    """One thing that is wrong: the keys that lead there, and a sentence."""

    path: Path
    message: str

    def __str__(self) -> str:
        return ": ".join([".".join(self.path), self.message] if self.path else [self.message])


class DeclarationError(ValueError):
    """What a declared class was given and cannot take; `mistakes` tells each with its path.

    owner: the class, for the text of an error that reaches a user of Python.
    """

    def __init__(self, mistakes: Iterable[Mistake], owner: str = "") -> None:
        self.mistakes = tuple(mistakes)
        self.owner = owner
        head = f"{owner}: " if owner else ""
        super().__init__("\n".join(f"{head}{mistake}" for mistake in self.mistakes))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.mistakes, self.owner)


class DeclarationTypeError(DeclarationError, TypeError):
    """A DeclarationError whose mistakes are values of another kind than is expected."""


def refuse(message: str, *path: str | int) -> NoReturn:
    """Raise DeclarationError with one mistake."""
    raise DeclarationError([Mistake(tuple(map(str, path)), message)])


def refuse_kind(expected: str, value: object, hint: str = "") -> NoReturn:
    """Raise DeclarationTypeError: what was expected, what came."""
    raise DeclarationTypeError([Mistake((), f"expected {expected}, got {shown(value)}{hint}")])


def refuse_class(expected: str, cls: type) -> NoReturn:
    """Raise DeclarationTypeError for a class where one of its objects was expected."""
    remedy = "" if inspect.isabstract(cls) else f"; write {_call(cls)}"
    message = f"expected {expected}, got the class {cls.__name__}{remedy}"
    raise DeclarationTypeError([Mistake((), message)])


def _call(cls: type) -> str:
    """Return how a class is called, "pinn.MLP()"; with ... where something has to be given."""
    package = "pinn." if cls.__module__.partition(".")[0] == "pinn" else ""
    try:
        arguments = inspect.signature(cls).parameters.values()
        needed = any(a.default is a.empty and a.kind < a.VAR_POSITIONAL for a in arguments)
    except (ValueError, TypeError):  # some classes that are compiled have no signature
        needed = True
    return f"{package}{cls.__name__}({'...' if needed else ''})"


@contextmanager
def at(*path: str | int) -> Iterator[None]:
    """Put a path before what the block refuses; a plain ValueError becomes a DeclarationError."""
    mistakes = Mistakes()
    with mistakes.under(*path):
        yield
    mistakes.end()


class Mistakes:
    """Collects what is wrong, so that one error tells all of it.

        mistakes = Mistakes()
        for name, text in equations.items():
            with mistakes.under("equations", name):
                resolve(text)
        mistakes.end()
    """

    def __init__(self) -> None:
        self._found: list[Mistake] = []
        self._kinds_only = True

    def __bool__(self) -> bool:
        return bool(self._found)

    def add(self, message: str, *path: str | int) -> None:
        """Note a mistake."""
        self._kinds_only = False
        self._found.append(Mistake(tuple(map(str, path)), message))

    @contextmanager
    def under(self, *path: str | int) -> Iterator[None]:
        """Note what the block refuses, with its path below this one; the block ends there."""
        keys = tuple(map(str, path))
        try:
            yield
        except DeclarationError as error:
            self._kinds_only &= isinstance(error, DeclarationTypeError)
            self._found += [Mistake((*keys, *m.path), m.message) for m in error.mistakes]
        except ValueError as error:  # such as an ExpressionError, whose text has a caret
            self.add(str(error), *keys)

    def end(self, owner: str = "") -> None:
        """Raise what was found; nothing where all is well."""
        if self._found:
            error = DeclarationTypeError if self._kinds_only else DeclarationError
            raise error(self._found, owner)
