"""Module: a function with parameters, made of other such functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, ParamSpec, Protocol, Self, TypeVar

import numpy as np

from .. import devices, dtypes, modes
from ..graph import RemovableHandle
from ..ops.registry import NoTaylorRule
from ..tensor import Tensor
from .hooks import Hook, Hooks, called
from .parameter import Parameter

_Inputs = ParamSpec("_Inputs")
_Output = TypeVar("_Output", covariant=True)

TABLES = ("_parameters", "_buffers", "_modules")


class IncompatibleKeys(NamedTuple):
    """What `load_state_dict(strict=False)` did not find, and what it did not use."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        missing, unexpected = self
        return f"IncompatibleKeys(missing_keys={missing}, unexpected_keys={unexpected})"


class _Forward(Protocol[_Inputs, _Output]):
    """What has a `forward`: calling a module takes its arguments and gives its result."""

    _forward_pre_hooks: Any
    _forward_hooks: Any

    def forward(self, *args: _Inputs.args, **kwargs: _Inputs.kwargs) -> _Output: ...


class Module:
    """The base of all layers and networks; subclasses define `forward`.

    Assigning a Parameter or a Module to an attribute registers it under the attribute's name;
    `register_buffer` does the same for tensors that are no parameters.  A subclass that defines
    `__init__` calls `super().__init__()` first.
    """

    _forward_pre_hooks: Any = MappingProxyType({})  # a module that has hooks has its own
    _forward_hooks: Any = MappingProxyType({})

    def __init__(self) -> None:
        self.__dict__["_parameters"] = {}
        self.__dict__["_buffers"] = {}
        self.__dict__["_modules"] = {}
        self.__dict__["_transient"] = set()  # names of buffers that state_dict() leaves out
        self.__dict__["training"] = True

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the output; every subclass defines it."""
        raise NotImplementedError(
            f'Module [{type(self).__name__}] is missing the required "forward" function; '
            "define forward(self, ...)"
        )

    def __call__(
        self: _Forward[_Inputs, _Output], *args: _Inputs.args, **kwargs: _Inputs.kwargs
    ) -> _Output:
        try:
            if self._forward_pre_hooks or self._forward_hooks:
                return called(self, args, kwargs)
            return self.forward(*args, **kwargs)
        except NoTaylorRule as error:
            error.layers.append(self)
            raise

    # ---- registration

    def __setattr__(self, name: str, value: Any) -> None:
        tables = self.__dict__
        if isinstance(value, (Parameter, Module)):
            kind = "_parameters" if isinstance(value, Parameter) else "_modules"
            self._check_initialised(name)
            for table in TABLES:
                if table != kind:  # within its own table a replaced member keeps its position
                    tables[table].pop(name, None)
            tables.pop(name, None)
            tables[kind][name] = value
            return
        for table, expected in (
            ("_parameters", "Parameter"),
            ("_modules", "Module"),
            ("_buffers", "Tensor"),
        ):
            if name in tables.get(table, ()):
                fits = value is None or (table == "_buffers" and isinstance(value, Tensor))
                if not fits:
                    raise TypeError(
                        f"cannot assign '{type(value).__name__}' to {name!r} of "
                        f"{type(self).__name__}: it is registered and takes a {expected} or None; "
                        f"to give it another role, `del module.{name}` first"
                    )
                tables[table][name] = value
                return
        object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        for table in TABLES:
            found = self.__dict__.get(table)
            if found is not None and name in found:
                return found[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __delattr__(self, name: str) -> None:
        for table in TABLES:
            if name in self.__dict__.get(table, ()):
                del self.__dict__[table][name]
                self._transient.discard(name)
                return
        object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._parameters, *self._buffers, *self._modules})

    def _check_initialised(self, name: str) -> None:
        if "_parameters" not in self.__dict__:
            raise AttributeError(
                f"cannot assign {name!r} before Module.__init__() call; "
                f"call super().__init__() at the start of {type(self).__name__}.__init__"
            )

    def _check_name(self, kind: str, name: str) -> None:
        self._check_initialised(name)
        if not isinstance(name, str):
            raise TypeError(f"a {kind} name must be a text, got {type(name).__name__}")
        if not name or "." in name:
            raise KeyError(f"{kind} name {name!r} must not be empty or contain '.'")
        if hasattr(self, name) and all(name not in self.__dict__[table] for table in TABLES):
            raise KeyError(f"attribute {name!r} of {type(self).__name__} already exists")

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Register a parameter, or None for one that is left out (as `bias=False` does)."""
        self._check_name("parameter", name)
        if param is None:
            self._parameters[name] = None
            return
        if not isinstance(param, Parameter):
            raise TypeError(
                f"cannot register {type(param).__name__} as parameter {name!r}; "
                "wrap it with nn.Parameter"
            )
        setattr(self, name, param)

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Register a tensor that moves with the module and is no parameter.

        A buffer that is not persistent is left out of `state_dict()`.
        """
        self._check_name("buffer", name)
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"cannot register {type(tensor).__name__} as buffer {name!r}; it takes a Tensor"
            )
        self._buffers[name] = tensor
        (self._transient.discard if persistent else self._transient.add)(name)

    def add_module(self, name: str, module: Module | None) -> None:
        """Register a sub-module under a name."""
        self._check_name("module", name)
        if module is None:
            self._modules[name] = None
            return
        if not isinstance(module, Module):
            raise TypeError(f"{type(module).__name__} is not a Module, so not sub-module {name!r}")
        setattr(self, name, module)

    register_module = add_module

    # ---- hooks

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Let `hook(module, args)` be called before each forward, and return what removes it.

        What it returns, if it is not None, takes the place of the arguments: a tuple of them, or
        one.

        prepend      call it before the other hooks, not after them.
        with_kwargs  call hook(module, args, kwargs), which returns None or (args, kwargs);
                     RuntimeError for anything else.
        """
        return self._hooks("_forward_pre_hooks").add(Hook(hook, with_kwargs), prepend)

    def register_forward_hook(
        self,
        hook: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> RemovableHandle:
        """Let `hook(module, args, output)` be called after each forward; return what removes it.

        What it returns, if it is not None, takes the place of the output.

        prepend      call it before the other hooks, not after them.
        with_kwargs  call hook(module, args, kwargs, output).
        always_call  call it after an error too, with the output that there is by then, or None.
        """
        return self._hooks("_forward_hooks").add(Hook(hook, with_kwargs, always_call), prepend)

    def _hooks(self, name: str) -> Hooks:
        self._check_initialised(name)
        return self.__dict__.setdefault(name, Hooks())

    # ---- walking

    def named_modules(
        self, memo: set | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """Yield (dotted name, module) for this module and all below it, each once."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                below = f"{prefix}.{name}" if prefix else name
                yield from module.named_modules(memo, below, remove_duplicate)

    def modules(self) -> Iterator[Module]:
        """Yield this module and all below it, each once."""
        for _, module in self.named_modules():
            yield module

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """Yield (name, module) for the direct sub-modules, each once."""
        seen = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def children(self) -> Iterator[Module]:
        """Yield the direct sub-modules, each once."""
        for _, module in self.named_children():
            yield module

    def _named_members(
        self, table: str, prefix: str, recurse: bool, remove_duplicate: bool
    ) -> Iterator[tuple[str, Any]]:
        seen = set()
        owners = (
            self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
            if recurse
            else [(prefix, self)]
        )
        for owner_name, owner in owners:
            for name, member in owner.__dict__[table].items():
                if member is None or (remove_duplicate and member in seen):
                    continue
                seen.add(member)
                yield (f"{owner_name}.{name}" if owner_name else name), member

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """Yield (dotted name, parameter); a parameter that is shared comes once."""
        return self._named_members("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """Yield the parameters, each once, in the order they were registered."""
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """Yield (dotted name, buffer)."""
        return self._named_members("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """Yield the buffers, each once."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def get_submodule(self, target: str) -> Module:
        """Return the sub-module of a dotted name; AttributeError when there is none."""
        module: Any = self
        for part in target.split(".") if target else ():
            module = module._modules.get(part)
            if module is None:
                names = [name for name, _ in self.named_modules() if name]
                raise AttributeError(
                    f"{type(self).__name__} has no sub-module {target!r}; it has {names}"
                )
        return module

    def get_parameter(self, target: str) -> Parameter:
        """Return the parameter of a dotted name; AttributeError when there is none."""
        owner, _, name = target.rpartition(".")
        parameter = self.get_submodule(owner)._parameters.get(name)
        if parameter is None:
            names = [known for known, _ in self.named_parameters()]
            raise AttributeError(
                f"{type(self).__name__} has no parameter {target!r}; it has {names}"
            )
        return parameter

    def apply(self, fn: Callable[[Module], Any]) -> Self:
        """Call `fn` on every module below and on this one, and return this one."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    # ---- modes and gradients

    def train(self, mode: bool = True) -> Self:
        """Set `training` here and below, and return this module; gradients are not affected."""
        if not isinstance(mode, bool):
            raise ValueError(f"train: the training mode is a bool, got {mode!r}")
        for module in self.modules():
            module.training = mode
        return self

    def eval(self) -> Self:
        """Leave the training mode here and below; the same as `train(False)`."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Freeze (False) or release (True) all parameters, and return this module."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drop the gradients of all parameters, or fill them with zeros in place."""
        modes.refuse_write("zero_grad()", "Call it outside of it")
        for parameter in self.parameters():
            clear_grad(parameter, set_to_none)

    # ---- device and dtype

    def _convert(self, convert: Callable[[Any], Any]) -> Self:
        """Replace the arrays of parameters, their gradients and buffers; the objects stay."""
        for module in self.modules():
            for parameter in module._parameters.values():
                if parameter is not None:
                    _replace_array(parameter, convert)
                    if parameter._grad is not None:
                        _replace_array(parameter._grad, convert)
            for buffer in module._buffers.values():
                if buffer is not None:
                    _replace_array(buffer, convert)
        return self

    def to(
        self, *args: Any, dtype: Any = None, device: Any = None, non_blocking: bool = False
    ) -> Self:
        """Move to a device and/or a floating point dtype, in place, and return this module.

        Takes a device, a dtype, both, or a tensor that has them; `non_blocking` changes nothing.
        Integer buffers keep their dtype.  Parameters keep identity and leafness.  TypeError for an
        integer dtype.
        """
        for arg in args:
            if isinstance(arg, Tensor):
                dtype, device = arg.dtype, arg.device
            elif isinstance(arg, devices.Device):
                device = arg
            elif isinstance(arg, str) and not _names_dtype(arg):
                device = arg
            else:
                dtype = arg
        place = None if device is None else devices.as_device(device)
        kind = None if dtype is None else dtypes.as_dtype(dtype)
        if kind is not None and not dtypes.is_differentiable(kind):
            raise TypeError(
                f"Module.to only accepts floating point or complex dtypes, got {kind}; "
                "convert an integer buffer by itself"
            )

        def convert(array: Any) -> Any:
            if kind is not None and dtypes.is_differentiable(array.dtype):
                array = array.astype(kind, copy=False)
            return array if place is None else devices.put(array, place)

        return self._convert(convert)

    def _cast_floating(self, dtype: np.dtype) -> Self:
        return self._convert(
            lambda array: array.astype(dtype, copy=False) if array.dtype.kind == "f" else array
        )

    def cpu(self) -> Self:
        """Move to host memory, in place, and return this module."""
        return self.to(device="cpu")

    def cuda(self, device: int | str | None = None) -> Self:
        """Move to the GPU, in place, and return this module; DeviceError where there is none."""
        if isinstance(device, int):
            device = f"cuda:{device}"
        return self.to(device=device or "cuda")

    def double(self) -> Self:
        """Make floating point parameters and buffers float64, in place."""
        return self._cast_floating(dtypes.float64)

    def float(self) -> Self:
        """Make floating point parameters and buffers float32, in place."""
        return self._cast_floating(dtypes.float32)

    def half(self) -> Self:
        """Make floating point parameters and buffers float16, in place."""
        return self._cast_floating(dtypes.float16)

    # ---- saving and loading

    def _state_items(self) -> Iterator[tuple[str, Tensor]]:
        for prefix, module in self.named_modules(remove_duplicate=False):
            start = f"{prefix}." if prefix else ""
            for name, parameter in module._parameters.items():
                if parameter is not None:
                    yield start + name, parameter
            for name, buffer in module._buffers.items():
                if buffer is not None and name not in module._transient:
                    yield start + name, buffer

    def state_dict(self) -> dict[str, Tensor]:
        """Return dotted name -> tensor for parameters and persistent buffers.

        The tensors are detached and share memory with the module: clone them (or copy.deepcopy
        the dictionary) to keep a snapshot.
        """
        return {name: tensor.detach() for name, tensor in self._state_items()}

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True
    ) -> IncompatibleKeys:
        """Copy values (tensors or arrays) into parameters and buffers, in place.

        Returns (missing_keys, unexpected_keys).  RuntimeError that lists every missing and
        unexpected name (when strict) and every mismatch of shape; nothing is copied then.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"expected state_dict to be dict-like, got {type(state_dict).__name__}")
        own = dict(self._state_items())
        missing = [name for name in own if name not in state_dict]
        unexpected = [name for name in state_dict if name not in own]
        problems = []
        if strict and unexpected:
            problems.append(f"Unexpected key(s) in state_dict: {_quoted(unexpected)}.")
        if strict and missing:
            problems.append(f"Missing key(s) in state_dict: {_quoted(missing)}.")
        arrays = {}
        for name, tensor in own.items():
            if name not in state_dict:
                continue
            array = arrays[name] = _array_of(state_dict[name])
            if array is None:
                problems.append(
                    f"{name}: expected a Tensor or an array, got {type(state_dict[name]).__name__}."
                )
            elif array.shape != tensor._data.shape:
                problems.append(
                    f"size mismatch for {name}: the state_dict has shape {list(array.shape)}, "
                    f"this module has {list(tensor.shape)}."
                )
            elif array.dtype.kind == "c" and tensor._data.dtype.kind != "c":
                problems.append(
                    f"{name}: the state_dict has dtype {array.dtype}, this module {tensor.dtype}."
                )
        if problems:
            raise RuntimeError(
                f"Error(s) in loading state_dict for {type(self).__name__}:\n\t"
                + "\n\t".join(problems)
                + "\nNothing was loaded; build the module with the sizes it was saved with"
                + (", or pass strict=False to skip names." if strict else ".")
            )
        for name, array in arrays.items():
            write(own[name], array)
        return IncompatibleKeys(missing, unexpected)

    # ---- text

    def extra_repr(self) -> str:
        """Return the text between the parentheses of the module's line in `repr`."""
        return ""

    def __repr__(self) -> str:
        lines = []
        for name, module in self._modules.items():
            lines.append(f"  ({name}): " + repr(module).replace("\n", "\n  "))
        head = f"{type(self).__name__}({self.extra_repr()}"
        return head + ("\n" + "\n".join(lines) + "\n)" if lines else ")")


def clear_grad(tensor: Tensor, set_to_none: bool) -> None:
    """Drop the gradient of `tensor`, or fill it with zeros in place (detached, as PyTorch does)."""
    grad = tensor._grad
    if grad is None:
        return
    if set_to_none:
        tensor._grad = None
    elif grad.grad_fn is not None or grad.requires_grad:
        with devices.current(grad.device):
            tensor._grad = Tensor(devices.namespace_of(grad._data).zeros_like(grad._data))
    else:
        devices.write(grad._data, 0)
        grad._version[0] += 1


def write(tensor: Tensor, array: Any) -> None:
    """Copy `array` (of any device and dtype that casts) into the memory of `tensor`."""
    modes.refuse_write("writing into a tensor", "Do it before")
    devices.write(tensor._data, devices.put(array, tensor.device))
    tensor._version[0] += 1


def _replace_array(tensor: Tensor, convert: Callable[[Any], Any]) -> None:
    array = convert(tensor._data)
    if array is not tensor._data:
        tensor._data = array
        tensor._version = [0]  # other memory: what was detached earlier goes its own way


def _array_of(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value._data
    if isinstance(value, np.generic):
        return np.asarray(value)
    return value if hasattr(value, "dtype") and hasattr(value, "shape") else None


def _names_dtype(text: str) -> bool:
    try:
        np.dtype(text)
    except TypeError:
        return False
    return True


def _quoted(names: list) -> str:
    return ", ".join(f'"{name}"' for name in names)
