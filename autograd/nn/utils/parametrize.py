"""Tensors of a module that are computed from others whenever they are read."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from ... import modes
from ...tensor import Tensor
from ..containers import ModuleDict, ModuleList
from ..module import Module, write
from ..parameter import Parameter

_Module = TypeVar("_Module", bound=Module)


class _Cache(threading.local):
    """What was computed inside of `cached`, by module and name; None outside."""

    values: dict[tuple[Module, str], Tensor] | None = None
    depth = 0


_cache = _Cache()


@contextmanager
def cached() -> Iterator[None]:
    """Compute each parametrized tensor once inside, and give the same one at each reading."""
    if not _cache.depth:
        _cache.values = {}
    _cache.depth += 1
    try:
        yield
    finally:
        _cache.depth -= 1
        if not _cache.depth:
            _cache.values = None


class ParametrizationList(ModuleList):
    """Modules one after the other, from one or several original tensors to one that is read.

    original                   what the first one takes, a parameter or a buffer;
    original0, original1, ...  where its `right_inverse` gives several.
    """

    def __init__(self, modules: list[Module], original: Tensor) -> None:
        super().__init__(modules)
        with modes.no_grad():
            value: Any = original
            for module in reversed(modules):
                if hasattr(module, "right_inverse"):
                    with suppress(NotImplementedError):  # as without one, until it is assigned
                        value = module.right_inverse(value)
        self.is_tensor = isinstance(value, Tensor)
        self.ntensors = 1 if self.is_tensor else len(value)
        for name, one in zip(self._names(), (value,) if self.is_tensor else value, strict=True):
            if self.is_tensor and one.shape == original.shape and one.dtype == original.dtype:
                write(original, one._data)  # which optimizers know
                one = original
            elif isinstance(original, Parameter):
                one = Parameter(one.detach(), original.requires_grad)
            if isinstance(one, Parameter):
                self.register_parameter(name, one)
            else:
                self.register_buffer(name, one)

    def _names(self) -> list[str]:
        return ["original"] if self.is_tensor else [f"original{k}" for k in range(self.ntensors)]

    def originals(self) -> list[Tensor]:
        """Return the tensors that the first module takes."""
        return [getattr(self, name) for name in self._names()]

    def right_inverse(self, value: Tensor) -> None:
        """Set the original tensors, in place, so that `value` is read.

        Raises RuntimeError where a module has no `right_inverse`.
        """
        found: Any = value
        with modes.no_grad():
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(
                        f"parametrization {type(module).__name__} does not implement "
                        "right_inverse, so the tensor cannot be assigned to"
                    )
                found = module.right_inverse(found)
        for tensor, one in zip(
            self.originals(), (found,) if self.is_tensor else found, strict=True
        ):
            write(tensor, one._data)

    def forward(self) -> Tensor:
        first, *others = self
        value = first(*self.originals())
        for module in others:
            value = module(value)
        return value


class _Parametrized:
    """A tensor that the modules under `parametrizations` give."""

    def __init__(self, name: str) -> None:
        self.name = name

    def read(self, module: Module) -> Tensor:
        known, key = _cache.values, (module, self.name)
        if known is None:
            return module.parametrizations[self.name]()
        if key not in known:
            known[key] = module.parametrizations[self.name]()
        return known[key]

    def assign(self, module: Module, value: Any) -> None:
        module.parametrizations[self.name].right_inverse(value)


def register_parametrization(
    module: _Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> _Module:
    """Let `module.tensor_name` be `parametrization` of what it was; return the module.

    What it was becomes parametrizations.tensor_name.original, or what the parametrization's method
    `right_inverse` gives for it, if it has one; several tensors become original0, original1, ...
    A further parametrization is applied after those there are, to what they give: the tensor is
    another one from then on, and the originals stay.

    unsafe  allow another shape and dtype.
    Raises ValueError for these without it, and where there is no such tensor.
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        members = module.parametrizations[tensor_name]
        _check_same(getattr(module, tensor_name), parametrization, unsafe)
        members.append(parametrization)
        return module
    table: dict[str, Any] | None = next(
        (table for table in (module._parameters, module._buffers) if tensor_name in table), None
    )
    if table is None or table[tensor_name] is None:
        known = [name for name, _ in module.named_parameters(recurse=False)]
        raise ValueError(
            f"Module {type(module).__name__} does not have a parameter, a buffer, or a "
            f"parametrized element with name {tensor_name!r}; it has the parameters {known}"
        )
    original = table[tensor_name]
    before = original.detach().clone()
    members = ParametrizationList([parametrization], original)
    with modes.no_grad():
        try:
            _refuse_other(before, members(), unsafe)
        except ValueError:
            write(original, before._data)
            raise
    del table[tensor_name]
    if "parametrizations" not in module._modules:
        module.add_module("parametrizations", ModuleDict())
    module.parametrizations.add_module(tensor_name, members)
    module._compute(tensor_name, _Parametrized(tensor_name))
    return module


def _check_same(value: Tensor, parametrization: Module, unsafe: bool) -> None:
    with modes.no_grad():
        _refuse_other(value, parametrization(value), unsafe)


def _refuse_other(before: Tensor, after: Any, unsafe: bool) -> None:
    """Raise ValueError for what is no tensor, or of another shape or dtype without `unsafe`."""
    if not isinstance(after, Tensor):
        raise ValueError(
            f"A parametrization must return a tensor. Got {type(after).__name__}."
        )
    if not unsafe and (after.shape != before.shape or after.dtype != before.dtype):
        raise ValueError(
            "Registering a parametrization may not change the shape or the dtype of the tensor, "
            f"unless `unsafe` flag is enabled: {before.dtype} of shape {list(before.shape)} became "
            f"{after.dtype} of shape {list(after.shape)}"
        )


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Return whether a tensor of a module, or any without a name, is computed from others."""
    members = module._modules.get("parametrizations")
    if not isinstance(members, ModuleDict):
        return False
    return len(members) > 0 if tensor_name is None else tensor_name in members


def remove_parametrizations(
    module: _Module, tensor_name: str, leave_parametrized: bool = True
) -> _Module:
    """Make a parametrized tensor a parameter or a buffer again; return the module.

    leave_parametrized  with the values that are read; False: with those of the original.
    Raises ValueError where nothing is parametrized, and for False with several originals.
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(
            f"Module {type(module).__name__} does not have a parametrization on {tensor_name!r}"
        )
    members = module.parametrizations[tensor_name]
    if not leave_parametrized and not members.is_tensor:
        raise ValueError(
            "Cannot leave unparametrized (leave_parametrized=False) a tensor that is parametrized "
            "in terms of a sequence of tensors."
        )
    originals = members.originals()
    tensor = originals[0]
    if leave_parametrized:
        with modes.no_grad():
            value = getattr(module, tensor_name)
        if members.is_tensor and value.shape == tensor.shape and value.dtype == tensor.dtype:
            write(tensor, value._data)  # which optimizers know
        elif isinstance(tensor, Parameter):
            tensor = Parameter(value.detach(), tensor.requires_grad)
        else:
            tensor = value.detach()
    module._compute(tensor_name, None)
    del module.parametrizations[tensor_name]
    if not len(module.parametrizations):
        del module.parametrizations
    if isinstance(tensor, Parameter):
        module.register_parameter(tensor_name, tensor)
    else:
        module.register_buffer(tensor_name, tensor)
    return module
