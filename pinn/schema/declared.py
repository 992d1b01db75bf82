"""Declared classes: their fields are checked by their annotations, read from files and written."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, dataclass_transform, overload

from pinn.checks import nearest
from pinn.schema import kinds
from pinn.schema.errors import (
    DeclarationError,
    DeclarationTypeError,
    Mistake,
    Mistakes,
    Path,
    refuse,
    refuse_class,
    refuse_kind,
    shown,
)
from pinn.schema.family import Family
from pinn.schema.kinds import NAME, Kind, listed, refuse_node, split_hint
from pinn.schema.reader import INVALID, Reader
from pinn.schema.tree import Mapping as MappingNode
from pinn.schema.tree import Node, Scalar
from pinn.schema.tree import Sequence as SequenceNode

REQUIRED: Any = type("Required", (), {"__repr__": lambda self: "REQUIRED"})()

_FIELDS = "__declared_fields__"

_Class = TypeVar("_Class", bound=type)


@dataclass(frozen=True)
class Field:
    """One thing that a class takes: its kind, and its default (REQUIRED where it must be given).

    key: how a file calls it, where that is not the argument's name.
    """

    kind: Kind
    default: Any = REQUIRED


@overload
def declared(cls: _Class, /) -> _Class: ...


@overload
def declared(
    *, owner: str = "", eq: bool = True, repr: bool = True, kw_only: bool = False
) -> Callable[[_Class], _Class]: ...


@dataclass_transform(frozen_default=True, field_specifiers=(dataclasses.field,))
def declared(cls: type | None = None, *, owner: str = "", **options: Any) -> Any:
    """Make a frozen dataclass whose constructor checks every field by its annotation.

    A value that a field cannot take is a DeclarationError that names the field; numbers become
    plain int and float, lists tuples, mappings dicts. The class's own __post_init__ runs after the
    checks, and may raise DeclarationError (pinn.schema.errors.refuse) with the field as its path.
    Instances copy and pickle by their fields. owner: what messages
    call the class, its name where left out. options: as of dataclasses.dataclass.
    """
    if cls is None:
        return lambda decorated: declared(decorated, owner=owner, **options)
    found = getattr(cls, "__post_init__", None)
    own = getattr(found, "__wrapped__", found)  # a declared base has its own inside ours

    def __post_init__(self: Any) -> None:
        mistakes = Mistakes()
        for name, entry in fields_of(type(self)).items():
            with mistakes.under(name):
                object.__setattr__(self, name, entry.kind.check(getattr(self, name)))
        called = owner or type(self).__name__.lower()
        mistakes.end(called)
        if own is not None:
            try:
                own(self)
            except DeclarationError as error:
                raise type(error)(error.mistakes, called) from None

    def __reduce__(self: Any) -> tuple[Any, ...]:
        made = {f.name: getattr(self, f.name) for f in dataclasses.fields(self) if f.init}
        return functools.partial(type(self), **made), ()

    __post_init__.__wrapped__ = own
    cls.__post_init__ = __post_init__
    cls.__reduce__ = __reduce__
    made = dataclass(frozen=True, **options)(cls)
    if "__init__" in vars(made):
        made.__init__ = _naming_arguments(made.__init__, owner)
    return made


def _naming_arguments(init: Callable[..., None], owner: str) -> Callable[..., None]:
    """Return a constructor that says which arguments there are, for one that there is not."""
    parameters = inspect.signature(init).parameters.values()
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return init
    names = tuple(parameter.name for parameter in parameters)[1:]
    known = frozenset(names)

    @functools.wraps(init)
    def __init__(self: Any, /, *arguments: Any, **named: Any) -> None:
        if not known.issuperset(named):
            raise DeclarationTypeError(
                [
                    Mistake((name,), f"unknown argument; expected {listed(names)}"
                            f"{nearest(name, names)}")
                    for name in named
                    if name not in known
                ],
                owner or type(self).__name__.lower(),
            )
        init(self, *arguments, **named)

    return __init__


def fields_of(cls: Callable[..., object]) -> dict[str, Field]:
    """Return what a class (or function) takes, by argument: kinds by its annotations, and defaults.

    Raises TypeError for an annotation that no kind stands for.
    """
    known = getattr(cls, "__dict__", {}).get(_FIELDS)
    if known is not None:
        return known
    is_class = inspect.isclass(cls)
    own_init = is_class and "__init__" in vars(cls) and "__dataclass_fields__" not in vars(cls)
    by_fields = dataclasses.is_dataclass(cls) and not own_init
    hinted = cls if by_fields else cls.__init__ if is_class else cls
    hints = typing.get_type_hints(hinted, include_extras=True)
    found = {}
    for name, parameter in inspect.signature(cls).parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue  # another way to write what a named argument says
        default = parameter.default
        if by_fields:
            default = _dataclass_default(cls, name)
        kind = kind_of(hints.get(name), f"{cls.__name__}.{name}")
        found[name] = Field(kind, REQUIRED if default is parameter.empty else default)
    if is_class:
        setattr(cls, _FIELDS, found)
    return found


def _dataclass_default(cls: Any, name: str) -> Any:
    (field,) = [field for field in dataclasses.fields(cls) if field.name == name]
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    missing = field.default is dataclasses.MISSING
    return inspect.Parameter.empty if missing else field.default


def kind_of(hint: Any, where: str = "value") -> Kind:
    """Return the kind that stands for an annotation; TypeError, naming `where`, for none."""
    simple: dict[Any, Kind] = {
        bool: kinds.Flag(), int: kinds.Integer(), float: kinds.Number(), str: kinds.Text(),
    }  # fmt: skip
    if isinstance(hint, type) and hint in simple:
        return simple[hint]
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        told = [extra for extra in arguments[1:] if isinstance(extra, Kind)]
        return told[0] if told else kind_of(arguments[0], where)
    if origin is Literal and all(isinstance(option, str) for option in arguments):
        return kinds.Choice(arguments)
    if origin in (types.UnionType, typing.Union):
        members = [argument for argument in arguments if argument is not type(None)]
        if float in members and int in members:
            members.remove(int)  # a whole number is a number
        if len(members) == 1:
            kind = kind_of(members[0], where)
            return kinds.Optional(kind) if type(None) in arguments else kind
    if origin in (tuple, list, Sequence, Iterable):
        items = [a for a in arguments if a is not Ellipsis]
        if len({str(item) for item in items}) == 1:
            fixed = origin is tuple and Ellipsis not in arguments
            kind = kind_of(items[0], where)
            count = f"a list of {len(items)} values" if fixed else "a list"
            named = f"{count}, each {kind.what}"
            return kinds.Items(kind, named, len(items) if fixed else None)
    if origin in (dict, Mapping) and arguments[0] in (str, kinds.NAME):
        return kinds.Names(kind_of(arguments[1], where))
    if isinstance(hint, type):
        family = hint.__dict__.get("family")
        if isinstance(family, Family):
            return Member(family)
        if "__declared_fields__" in hint.__dict__ or dataclasses.is_dataclass(hint):
            return Record(hint)
    raise TypeError(f"{where}: no kind of value stands for the annotation {hint!r}")


@dataclass(frozen=True)
class Record(Kind):
    """An object of one class; in a file a mapping with the class's arguments as keys."""

    cls: Any

    @property
    def what(self) -> str:
        return f"a mapping with keys out of {listed(fields_of(self.cls))}"

    @property
    def made(self) -> str:
        return f"pinn.{self.cls.__name__}(...)"

    def check(self, value: Any) -> Any:
        if not isinstance(value, self.cls):
            if isinstance(value, type) and issubclass(value, self.cls):
                refuse_class(self.made, value)
            refuse_kind(self.made, value)
        return value

    def read(self, node: Node, path: Path, reader: Reader) -> Any:
        values = read_fields(fields_of(self.cls), node, path, reader)
        return INVALID if values is INVALID else built(self.cls, values, path, reader)

    def dump(self, value: Any) -> dict[str, Any]:
        return dump(value)


@dataclass(frozen=True)
class Member(Kind):
    """An object of one class of a family: `adam: {steps: 100}`, or `adam` for its defaults."""

    family: Family

    @property
    def what(self) -> str:
        return f"one {self.family.noun} out of {listed(self.family)}"

    @property
    def made(self) -> str:
        return self.family.example

    def check(self, value: Any) -> Any:
        return self.family.check(value)

    def read(self, node: Node, path: Path, reader: Reader) -> Any:
        place = node.place
        if isinstance(node, Scalar) and not node.is_null:
            node = MappingNode({node.text: MappingNode({}, place)}, place, {node.text: place})
        if not isinstance(node, MappingNode) or len(node.entries) != 1:
            return refuse_node(self, node, path, reader)
        ((name, body),) = node.entries.items()
        return self.read_member(name, body, node, path, reader)

    def read_member(
        self, name: str, body: Node, node: MappingNode, path: Path, reader: Reader
    ) -> Any:
        """Return the member of a name from the mapping of its settings."""
        below = (*path, name)
        reader.note(below, node.key_places[name])
        if name not in self.family:
            hint = "; import the module that adds it before the file is loaded"
            message = self.family.unknown(name)
            return reader.complain(below, message + hint * reader.stored)
        reader.note(path, node.place, tag=name)
        for other in body.entries if isinstance(body, MappingNode) else ():
            if other in self.family and other not in fields_of(self.family[name]):
                message = (
                    f"this {self.family.noun} is {name}, and {other} is another one; in place of "
                    f"{name} write {{{other}: {{...}}}}, on the command line "
                    f"--set '{'.'.join(path)}={{{other}: {{...}}}}'"
                )
                return reader.complain((*below, other), message, body.key_places[other])
        return Record(self.family[name]).read(body, below, reader)

    def dump(self, value: Any) -> dict[str, Any]:
        return {self.family.name_of(value): dump(value)}


@dataclass(frozen=True)
class Keyed(Kind):
    """Objects of one class that carry their name; also a mapping from names to the rest.

    listed: the arguments that a list in the mapping stands for, in order; where it is one, a value
    alone stands for it, `parameters: {k: 0.1}`.
    """

    cls: Any
    named: str
    key: str = "name"
    listed: tuple[str, ...] = ()

    @property
    def what(self) -> str:
        return self.named

    def check(self, value: Any) -> tuple:
        if not isinstance(value, Mapping):
            made = f"a list of pinn.{self.cls.__name__}"
            return kinds.Items(Record(self.cls), made).check(value)
        mistakes, made = Mistakes(), []
        for name, body in value.items():
            with mistakes.under(name):
                made.append(self._made(name, body))
        mistakes.end()
        return tuple(made)

    def _made(self, name: str, body: Any) -> Any:
        """Return the object of a name from the rest of its arguments."""
        if isinstance(body, self.cls):
            if getattr(body, self.key) != name:
                refuse(f"expected one of this name, got {getattr(body, self.key)!r}")
            return body
        if len(self.listed) == 1 and not isinstance(body, Mapping):
            body = dict.fromkeys(self.listed, body)
        elif isinstance(body, list | tuple) and len(body) == len(self.listed):
            body = dict(zip(self.listed, body, strict=True))
        if not isinstance(body, Mapping):
            refuse_kind(f"a pinn.{self.cls.__name__}, or a mapping of its arguments", body)
        known = fields_of(self.cls)
        for key, entry in known.items() if known.keys() >= body.keys() else ():
            if entry.default is REQUIRED and key not in {self.key, *body}:
                refuse(f"missing; expected {entry.kind.what}", key)
        return self.cls(**{self.key: name, **body})

    def read(self, node: Node, path: Path, reader: Reader) -> Any:
        if isinstance(node, Scalar) and node.is_null:
            return ()
        if not isinstance(node, MappingNode):
            return refuse_node(self, node, path, reader)
        fields = {name: f for name, f in fields_of(self.cls).items() if name != self.key}
        made = []
        for name, body in node.entries.items():
            below = (*path, name)
            reader.note(below, node.key_places[name])
            if not NAME.pattern.fullmatch(name) and (hint := split_hint(node, name)):
                made.append(reader.complain(below, f"expected {NAME.what}, got {name!r}{hint}"))
                continue
            values = read_fields(fields, self._spelled(body), below, reader)
            if values is not INVALID:
                values = built(self.cls, {self.key: name, **values}, below, reader)
            made.append(values)
        return INVALID if any(one is INVALID for one in made) else tuple(made)

    def _spelled(self, node: Node) -> Node:
        """Return what stands for the arguments in `listed` as the mapping of them."""
        items = [node]
        if len(self.listed) > 1 and isinstance(node, SequenceNode):
            items = node.items
        elif not isinstance(node, Scalar) or node.is_null:
            return node
        if len(items) != len(self.listed):
            return node
        named = dict(zip(self.listed, items, strict=True))
        return MappingNode(named, node.place, {name: item.place for name, item in named.items()})

    def dump(self, value: Any) -> dict[str, Any]:
        return {
            getattr(one, self.key): {n: v for n, v in dump(one).items() if n != self.key}
            for one in value
        }


def read_fields(fields: Mapping[str, Field], node: Node, path: Path, reader: Reader) -> Any:
    """Return the values of a mapping by field, defaults filled in; INVALID after complaints."""
    if isinstance(node, Scalar) and node.is_null:
        node = MappingNode({}, node.place)
    if not isinstance(node, MappingNode):
        what = f"a mapping with keys out of {listed(fields)}"
        return reader.complain(path, f"expected {what}, got {node}", node.place)
    values, valid = {}, True
    for key in node.entries:
        if key not in fields:
            hint = _other_place(key, fields) or _truth_hint(key, fields)
            hint = hint or nearest(key, fields) or split_hint(node, key)
            message = f"unknown key; valid keys: {listed(fields)}{hint}"
            reader.complain((*path, key), message, node.key_places[key])
            valid = False
    for key, entry in fields.items():
        below = (*path, key)
        if key in node.entries:
            reader.note(below, node.key_places[key])
            values[key] = entry.kind.read(node.entries[key], below, reader)
        elif entry.default is REQUIRED:
            message = f"missing; expected {entry.kind.what}"
            values[key] = reader.complain(below, message, node.place)
        else:
            values[key] = entry.default
        valid = valid and values[key] is not INVALID
    return values if valid else INVALID


def _truth_hint(key: str, fields: Mapping[str, Field]) -> str:
    """Say what a key was before a writer of YAML 1.1, such as PyYAML, took it for yes or no."""
    meant = {"true": "on", "false": "off"}.get(key.lower())
    return f"; PyYAML makes {key} of {meant}: write {meant!r} in quotes" if meant in fields else ""


def _other_place(key: str, fields: Mapping[str, Field]) -> str:
    """Say which of the records below some fields takes a key that stands beside them."""
    takes = [
        name for name, entry in fields.items()
        if isinstance(entry.kind, Record) and key in fields_of(entry.kind.cls)
    ]  # fmt: skip
    return f"; did you mean {' or '.join(f'{name}.{key}' for name in takes)}?" if takes else ""


def built(make: Callable[..., Any], values: Mapping[str, Any], path: Path, reader: Reader) -> Any:
    """Return make(**values); what it refuses is told at its key."""
    try:
        return make(**values)
    except DeclarationError as error:
        return reader.refuse(error, path)
    except (ValueError, TypeError) as error:  # a class that was declared elsewhere
        return reader.complain(path, str(error))


def dump(value: Any) -> dict[str, Any]:
    """Return an object by field, as plain data and arrays; the fields of its class read it back.

    `pinn.schema.arrays` makes texts of the arrays.
    """
    found = {}
    for name, entry in fields_of(type(value)).items():
        try:
            found[name] = entry.kind.dump(getattr(value, name))
        except AttributeError:
            raise TypeError(
                f"{type(value).__name__}: expected an attribute {name!r} for the argument of that "
                f"name, to write {shown(value)} to a file"
            ) from None
    return found
