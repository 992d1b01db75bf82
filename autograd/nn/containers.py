"""Modules that hold modules or parameters, as lists and as dictionaries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Generic, Self, TypeVar, overload

from ..tensor import Tensor
from .module import Module
from .parameter import Parameter

_Member = TypeVar("_Member", Module, Parameter)


class _Holder(Module, Generic[_Member]):
    """What all containers share: members of one table, each under a name."""

    _table: str
    _kind: type

    def _adopt(self, value: Any) -> Any:
        """Return `value` as a member, or raise TypeError."""
        if not isinstance(value, self._kind):
            raise TypeError(
                f"{type(self).__name__} takes a {self._kind.__name__}, got {type(value).__name__}"
            )
        return value

    def _members(self) -> dict[str, Any]:
        return self.__dict__[self._table]

    def __len__(self) -> int:
        return len(self._members())


class _Numbered(_Holder[_Member]):
    """What the list-like containers share: members named "0", "1", ..."""

    def _renumber(self, members: list) -> None:
        table = self._members()
        table.clear()
        for position, member in enumerate(members):
            setattr(self, str(position), member)

    def _position(self, index: int) -> int:
        size = len(self)
        position = index.__index__()
        if not -size <= position < size:
            raise IndexError(
                f"index {position} is out of range for a {type(self).__name__} of {size}"
            )
        return position % size

    def __iter__(self) -> Iterator[_Member]:
        return iter(list(self._members().values()))

    @overload
    def __getitem__(self, index: int) -> _Member: ...

    @overload
    def __getitem__(self, index: slice) -> Self: ...

    def __getitem__(self, index: Any) -> Any:
        members = list(self._members().values())
        if isinstance(index, slice):
            return self._of(members[index])
        return members[self._position(index)]

    def __setitem__(self, index: int, value: Any) -> None:
        setattr(self, list(self._members())[self._position(index)], self._adopt(value))

    def __delitem__(self, index: int | slice) -> None:
        members = list(self)
        del members[index]
        self._renumber(members)

    def _of(self, members: list) -> Self:
        return type(self)(members)

    def append(self, value: Any) -> Self:
        """Add one member at the end, and return this container."""
        setattr(self, str(len(self)), self._adopt(value))
        return self

    def extend(self, values: Iterable) -> Self:
        """Add members at the end, and return this container."""
        for value in list(values):
            self.append(value)
        return self

    def insert(self, index: int, value: Any) -> Self:
        """Add one member before position `index`, and return this container."""
        members = list(self)
        members.insert(index, self._adopt(value))
        self._renumber(members)
        return self


class _Named(_Holder[_Member]):
    """What the dictionary-like containers share: members under names of their own."""

    def __getitem__(self, key: str) -> _Member:
        if key not in self._members():
            raise KeyError(f"{key!r}; this {type(self).__name__} has {list(self._members())}")
        return self._members()[key]

    def __setitem__(self, key: str, value: Any) -> None:
        raise NotImplementedError(f"{type(self).__name__} defines no __setitem__")

    def __delitem__(self, key: str) -> None:
        del self._members()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._members())

    def __contains__(self, key: str) -> bool:
        return key in self._members()

    def keys(self) -> Any:
        """Return the names."""
        return self._members().keys()

    def values(self) -> Any:
        """Return the members."""
        return self._members().values()

    def items(self) -> Any:
        """Return (name, member) pairs."""
        return self._members().items()

    def pop(self, key: str) -> _Member:
        """Remove a member and return it."""
        member = self[key]
        del self[key]
        return member

    def clear(self) -> None:
        """Remove all members."""
        self._members().clear()

    def update(self, members: Mapping[str, Any] | Iterable) -> None:
        """Add members from a dictionary or from (name, member) pairs, in their order."""
        for key, member in dict(members).items():
            self[key] = member


class _OfParameters:
    """What the containers of parameters share: tensors become Parameters when they are added."""

    _table: str = "_parameters"
    _kind: type = Parameter

    def _adopt(self, value: Any) -> Parameter:
        return value if isinstance(value, Parameter) else Parameter(value)

    def __repr__(self) -> str:
        lines = [
            f"  ({name}): {p.dtype} of shape {list(p.shape)}"
            for name, p in self.__dict__["_parameters"].items()
        ]
        return f"{type(self).__name__}(" + ("\n" + "\n".join(lines) + "\n)" if lines else ")")


class Sequential(_Numbered[Module]):
    """Modules called one after the other; each takes the output of the one before.

    Takes modules, or one dictionary of name -> module.
    """

    _table = "_modules"
    _kind = Module

    def __init__(self, *modules: Module | Mapping[str, Module]) -> None:
        super().__init__()
        if len(modules) == 1 and isinstance(modules[0], Mapping):
            for name, module in modules[0].items():
                self.add_module(name, module)
        else:
            for position, module in enumerate(modules):
                self.add_module(str(position), module)

    def _of(self, members: list) -> Sequential:
        return Sequential(*members)

    def forward(self, input: Tensor) -> Tensor:
        for module in self._modules.values():
            input = module(input)
        return input


class ModuleList(_Numbered[Module]):
    """A list whose members are registered modules; it has no forward of its own."""

    _table = "_modules"
    _kind = Module

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        self.extend(() if modules is None else modules)


class ModuleDict(_Named[Module]):
    """A dictionary whose values are registered modules; it has no forward of its own."""

    _table = "_modules"
    _kind = Module

    def __init__(self, modules: Mapping[str, Module] | Iterable | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)


class ParameterList(_OfParameters, _Numbered[Parameter]):
    """A list of registered parameters; tensors become Parameters when they are added."""

    def __init__(self, values: Iterable[Tensor] | None = None) -> None:
        super().__init__()
        self.extend(() if values is None else values)


class ParameterDict(_OfParameters, _Named[Parameter]):
    """A dictionary of registered parameters; tensors become Parameters when they are added.

    They are in the order in which they were added, those of a dictionary too.  TypeError for what
    is no Tensor; KeyError for a name that is empty, has a dot or is that of a method.
    """

    def __init__(self, parameters: Mapping[str, Tensor] | Iterable | None = None) -> None:
        super().__init__()
        if parameters is not None:
            self.update(parameters)

    def __setitem__(self, key: str, parameter: Tensor) -> None:
        self.register_parameter(key, self._adopt(parameter))

    def __reversed__(self) -> Iterator[str]:
        return reversed(self._parameters)

    def __or__(self, other: Mapping[str, Tensor] | ParameterDict) -> ParameterDict:
        both = self.copy()
        both.update(other)
        return both

    def __ror__(self, other: Mapping[str, Tensor] | ParameterDict) -> ParameterDict:
        both = ParameterDict(other)
        both.update(self)
        return both

    def __ior__(self, other: Mapping[str, Tensor] | ParameterDict) -> Self:
        self.update(other)
        return self

    def copy(self) -> ParameterDict:
        """Return another ParameterDict of the same parameters."""
        return ParameterDict(self._parameters)

    def get(self, key: str, default: Any = None) -> Any:
        """Return a parameter, or `default` where there is none of that name."""
        return self._parameters.get(key, default)

    def setdefault(self, key: str, default: Tensor) -> Parameter:
        """Return a parameter, which is made of `default` where there is none of that name."""
        if key not in self:
            self[key] = default
        return self[key]

    def popitem(self) -> tuple[str, Parameter]:
        """Remove the parameter that was added last, and return its name and itself."""
        return self._parameters.popitem()

    def fromkeys(self, keys: Iterable[str], default: Tensor) -> ParameterDict:
        """Return a ParameterDict with a parameter made of `default` under each name."""
        return ParameterDict((key, default) for key in keys)
