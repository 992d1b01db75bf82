"""Places that values are read from again: whether what is there is what was there."""

from __future__ import annotations

import builtins
import functools
import sys
import weakref
from collections.abc import Callable, Hashable, Iterable, Mapping
from keyword import iskeyword
from numbers import Number
from typing import Any, NamedTuple

import numpy as np

from ..tensor import Tensor
from .forms import PLAIN, Frozen, Same
from .moving import Moving

_SHORT = 32  # entries of a dict up to which its keys are compared, not how many there are
SMALL = 1 << 18  # bytes of an array up to which its numbers are compared

Named = tuple[tuple[str, Hashable], ...]
"""What was found, each with the name that a reader of the function would give it."""

Roots = Mapping[str, Any]
"""Where the looking begins, by name: the function, and the objects that it is given."""


class Step(NamedTuple):
    """How further values are read from one that has been read: in what way, which, how many."""

    parent: int
    way: Way
    which: Any
    count: int


class Place(NamedTuple):
    """What was found in a place: its name, and what a value there is told from others by."""

    name: str
    kind: str  # of the expectation: "is", "ref", "array", "type", "code", "alias" or "any"
    expected: Any
    key: Hashable | None


class Text:
    """The text of a function of values v0, v1 ..., and what it takes from where it is made."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.constants: dict[str, Any] = {}

    def add(self, line: str) -> None:
        self.lines.append(line)

    def require(self, condition: str) -> None:
        """End with Changed where a condition does not hold."""
        self.lines.append(f"if not ({condition}): raise Changed")

    def constant(self, value: Any, name: str = "") -> str:
        """Return what a value is called in the text: a name, or itself."""
        if not name and type(value) in (str, int):
            return repr(value)
        name = name or f"c{len(self.constants)}"
        self.constants[name] = value
        return name

    def made(self, values: int) -> Callable[..., Callable]:
        """Return the function that takes the constants by name and returns that of the values."""
        taken = ", ".join(f"v{k}" for k in range(values))
        return _made("\n".join([
            f"def make({', '.join(self.constants)}):", f" def read({taken}):",
            *(f"  {line}" for line in self.lines), " return read",
        ]))  # fmt: skip


@functools.lru_cache(maxsize=1024)
def _made(text: str) -> Callable[..., Callable]:
    known = {"__builtins__": builtins, "Changed": Changed, "modules": sys.modules}
    exec(text, known)  # noqa: S102 - of names and numbers as they are found
    return known["make"]


Way = Callable[[Text, str, Any], str]
"""What writes how some further values (which) are read from a value of that name."""


class Surroundings:
    """Places that are read at each call, with what was found there; compared by its `named`.

    unseen: what is too long to be looked into. clocks: what is asked for the time. moving:
    what gives another thing each time (moving.py).
    """

    def __init__(
        self,
        steps: list[Step],
        places: list[Place],
        unseen: tuple[str, ...] = (),
        clocks: tuple[str, ...] = (),
        moving: Moving | None = None,
    ) -> None:
        self._steps, self._places, self.unseen, self.clocks = steps, places, unseen, clocks
        self.moving = moving or Moving({})
        self.named: Named = tuple((p.name, p.key) for p in places if p.key is not None)
        self._hash = hash(self.named)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Surroundings) and self.named == other.named)

    def again(self, roots: Roots) -> Surroundings | None:
        """Return what is there now, itself where nothing has changed; None: it has to be sought."""
        try:
            values = self._read(*roots.values())
        except (Changed, LookupError, AttributeError, TypeError, ValueError):
            return None
        if values is None:
            return self
        places = list(self._places)
        for k, (place, value) in enumerate(zip(self._places, values, strict=True)):
            if place.kind not in _LEAVES or _LEAVES[place.kind](place.expected, value):
                continue
            found = leaf(place.name, value)
            if found is None or found.kind != place.kind or own_attributes(value):
                return None  # an object, or a function: there may be other places in it
            places[k] = found
        return Surroundings(self._steps, places, self.unseen, self.clocks, self.moving)

    @property
    def tensors(self) -> list[weakref.ref[Tensor]]:
        """The tensors that were found."""
        found = [place.expected for place in self._places if place.kind == "ref"]
        return [reference for reference in found if isinstance(reference(), Tensor)]

    @property
    def is_gone(self) -> bool:
        """Whether some of it is not there any more: nothing will be like this again."""
        return any(_is_gone(place) for place in self._places)

    @functools.cached_property
    def _read(self) -> Callable[..., tuple | None]:
        """What reads all values, and returns them where a number, a text or a tensor is another.

        It ends with Changed where objects are not of the classes that they were, or functions not
        of the code. One function is generated for all places, as one call for each way into an
        object would take four times as long.
        """
        text, count = Text(), len(self._places) - sum(step.count for step in self._steps)
        roots = count
        for step in self._steps:
            if step.count:
                names = ", ".join(f"v{k}" for k in range(count, count + step.count))
                text.add(f"{names}, = {step.way(text, f'v{step.parent}', step.which)}")
            else:
                step.way(text, f"v{step.parent}", step.which)
            count += step.count
        alike, same = [], []
        for k, (_, kind, expected, _) in enumerate(self._places):
            if kind in _ALIKE:
                value = f"v{expected}" if kind == "alias" else text.constant(expected, f"x{k}")
                alike.append(_ALIKE[kind].format(f"v{k}", value))
            elif kind == "array":
                there = text.constant(expected[0].reference, f"x{k}")
                numbers = text.constant(expected[1], f"n{k}")
                same.append(f"v{k} is {there}() is not None and v{k}.tobytes() == {numbers}")
            elif kind in _LEAVES:
                there = "() is not None" * (kind == "ref")  # None may be in place of what is gone
                same.append(f"v{k} is {text.constant(expected, f'x{k}')}{there}")
        if alike:
            text.require(" and ".join(alike))
        text.add(f"if {' and '.join(same) or True}: return None")
        text.add(f"return {', '.join(f'v{k}' for k in range(count))},")
        return text.made(roots)(**text.constants)


# What an object, a function and one that was met before are told by, and how.
_ALIKE = {"type": "type({}) is {}", "code": "{}.__code__ is {}", "alias": "{} is {}"}


def _is_gone(place: Place) -> bool:
    if place.kind == "array":
        return place.expected[0].value is None
    return place.kind == "ref" and place.expected() is None


class Changed(Exception):
    """There are other places than there were."""


def _there(reference: Callable[[], Any]) -> Any:
    """Return what is referred to; where it is gone, what is found nowhere."""
    found = reference()
    return Changed if found is None else found


def _same_array(expected: tuple[Same, bytes], value: Any) -> bool:
    return value is _there(expected[0].reference) and value.tobytes() == expected[1]


# What numbers, texts, tensors and arrays are told by.
_LEAVES = {
    "is": lambda expected, value: value is expected,
    "ref": lambda expected, value: value is _there(expected),
    "array": _same_array,
}  # fmt: skip


def read(value: Any, way: Way, which: Any) -> tuple:
    """Return what is read from a value."""
    text = Text()
    text.add(f"return ({way(text, 'v0', which)})")
    return text.made(1)(**text.constants)(value)


# ---- ways from a value to further ones: each adds what there is to check to a text, and returns
# ---- the expressions of what is read, each with a comma


def attributes(text: Text, value: str, which: tuple[tuple[str, ...], int]) -> str:
    names, count = which
    text.add(f"held = {value}.__dict__")
    text.require(f"len(held) == {count}")
    return _of("held", names, text)


def members(text: Text, value: str, which: tuple[tuple, ...]) -> str:
    text.add(f"tables = {value}.__dict__")
    for k, (table, _, count) in enumerate(which):
        text.add(f"held{k} = tables[{table!r}]")
        text.require(f"len(held{k}) == {count}")
    return "".join(_of(f"held{k}", names, text) for k, (_, names, _) in enumerate(which))


def entries(text: Text, value: str, which: tuple[tuple, list | int]) -> str:
    keys, known = which
    outline = f"list({value})" if type(known) is list else f"len({value})"
    text.require(f"{outline} == {text.constant(known)}")
    return _of(value, keys, text)


def outline(holder: Mapping) -> list | int:
    """Return what tells that a dict has other entries than it had: their keys, or how many."""
    return list(holder) if len(holder) <= _SHORT else len(holder)


def items(text: Text, value: str, count: int) -> str:
    text.require(f"len({value}) == {count}")
    return f"*{value},"


def given(text: Text, value: str, names: tuple[str, ...]) -> str:
    return f"*{value}.args, {_of(f'{value}.keywords', names, text)}"


def of_module(text: Text, value: str, which: tuple[tuple[str, ...], tuple[str, ...]]) -> str:
    names, absent = which
    text.add(f"held = {value}.__globals__")
    if absent:
        text.require(f"held.keys().isdisjoint({text.constant(absent)})")
    return _of("held", names, text)


def imported(text: Text, value: str, names: tuple[str, ...]) -> str:
    return _of("modules", names, text)


def cells(text: Text, value: str, which: tuple[int, ...]) -> str:
    text.add(f"held = {value}.__closure__")
    return "".join(f"held[{k}].cell_contents, " for k in which)


def asked(text: Text, value: str, names: tuple[str, ...]) -> str:
    return "".join(
        f"{value}.{one}, " if one.isidentifier() and not iskeyword(one)
        else f"getattr({value}, {one!r}), " for one in names
    )  # fmt: skip


def of_classes(
    text: Text, value: str, which: tuple[tuple[tuple[type, str], ...], tuple[type, ...], int]
) -> str:
    pairs, bases, count = which
    classes = dict.fromkeys((*bases, *(kind for kind, _ in pairs)))
    held = {kind: text.constant(kind.__dict__) for kind in classes}
    text.require(f"{' + '.join(f'len({held[one]})' for one in bases)} == {count}")
    return "".join(f"{held[kind]}[{name!r}], " for kind, name in pairs)


def given_to(text: Text, value: str, which: tuple[tuple[str, ...], tuple[str, ...]]) -> str:
    names, absent = which
    text.add(f"held = {value}.__dict__")
    if absent:
        text.require(f"held.keys().isdisjoint({text.constant(absent)})")
    return _of("held", names, text)


def of_context(text: Text, value: str, _: None) -> str:
    return f"{value}.get({value}), "  # itself where it is not set


def _of(holder: str, keys: Iterable[Hashable], text: Text) -> str:
    return "".join(f"{holder}[{text.constant(key)}], " for key in keys)


# ---- attributes of tensors


class OwnAttributes:
    """The attributes that a user has given to an argument, looked through like an object."""

    def __init__(self, held: dict[str, Any]) -> None:
        vars(self).update(held)


def own_attributes(value: Any) -> dict[str, Any]:
    """Return the attributes that a user has given to a tensor; none of anything else."""
    if not isinstance(value, Tensor) or value.__dict__.keys() <= OF_ANY:
        return {}
    return {name: held for name, held in value.__dict__.items() if not hasattr(Tensor, name)
            and name not in OF_ANY}  # fmt: skip


# What tensors have of themselves.
OF_ANY = {"_version", "_data", *(name for name in vars(Tensor) if name[:1] == "_")}


# ---- places in which nothing else is found


def leaf(name: str, value: Any) -> Place | None:
    """Return the place of what has nothing in it to be looked into; None for anything else."""
    if isinstance(value, PLAIN):
        return Place(name, "is", value, Frozen(value))
    if isinstance(value, np.generic):
        return Place(name, "is", value, (type(value), Frozen(value.item())))
    if isinstance(value, np.ndarray) and value.nbytes <= SMALL and not value.dtype.hasobject:
        told = Same(value), value.tobytes()
        return Place(name, "array", told, (*told, value.shape, value.dtype))
    if isinstance(value, (Tensor, np.ndarray)):
        same = Same(value)
        return Place(name, "ref", same.reference, same)
    return None


def opaque(name: str, value: Any) -> Place:
    """Return the place of an object that is not looked into."""
    if not isinstance(value, Number):
        try:
            same = Same(value)
            return Place(name, "ref", same.reference, same)
        except TypeError:  # nothing can refer to it weakly
            pass
    try:
        hash(value)
    except TypeError:
        return Place(name, "type", type(value), type(value))
    return Place(name, "is", value, (type(value), Frozen(value)))
