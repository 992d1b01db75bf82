"""Modules that hold modules or parameters: Sequential, ModuleList, ModuleDict, ParameterList."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Generic, Self, TypeVar, overload

from ..tensor import Tensor
from .module import Module
from .parameter import Parameter

_Member = TypeVar("_Member", Module, Parameter)


class _Numbered(Module, Generic[_Member]):
    """What the list-like containers share: members of one table, named "0", "1", ..."""

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

    def __len__(self) -> int:
        return len(self._members())

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


class ModuleDict(Module):
    """A dictionary whose values are registered modules; it has no forward of its own."""

    def __init__(self, modules: Mapping[str, Module] | Iterable | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Module:
        if key not in self._modules:
            raise KeyError(f"{key!r}; this ModuleDict has {list(self._modules)}")
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: str) -> bool:
        return key in self._modules

    def keys(self) -> Any:
        """Return the names."""
        return self._modules.keys()

    def values(self) -> Any:
        """Return the modules."""
        return self._modules.values()

    def items(self) -> Any:
        """Return (name, module) pairs."""
        return self._modules.items()

    def pop(self, key: str) -> Module:
        """Remove a module and return it."""
        module = self[key]
        del self[key]
        return module

    def clear(self) -> None:
        """Remove all modules."""
        self._modules.clear()

    def update(self, modules: Mapping[str, Module] | Iterable) -> None:
        """Add modules from a dictionary or from (name, module) pairs."""
        for key, module in dict(modules).items():
            self[key] = module


class ParameterList(_Numbered[Parameter]):
    """A list of registered parameters; tensors become Parameters when they are added."""

    _table = "_parameters"
    _kind = Parameter

    def __init__(self, values: Iterable[Tensor] | None = None) -> None:
        super().__init__()
        self.extend(() if values is None else values)

    def _adopt(self, value: Any) -> Parameter:
        return value if isinstance(value, Parameter) else Parameter(value)

    def __repr__(self) -> str:
        lines = [
            f"  ({name}): {p.dtype} of shape {list(p.shape)}"
            for name, p in self._parameters.items()
        ]
        return "ParameterList(" + ("\n" + "\n".join(lines) + "\n)" if lines else ")")
