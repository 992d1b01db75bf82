"""Module: a function with parameters, made of other such functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, ParamSpec, Protocol, Self, TypeVar

import numpy as np

from .. import devices, dtypes, modes
from ..graph import RemovableHandle
from ..ops.registry import NoTaylorRule
from ..tensor import Tensor
from .buffer import Buffer
from .hooks import Hook, Hooks, called
from .parameter import Parameter

_Inputs = ParamSpec("_Inputs")
_Output = TypeVar("_Output", covariant=True)

TABLES = ("_parameters", "_buffers", "_modules")
EXTRA = "_extra_state"


class IncompatibleKeys(NamedTuple):
    """What `load_state_dict(strict=False)` did not find, and what it did not use."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def problems(self) -> list[str]:
        """Return what is to be said about them."""
        told = []
        if self.unexpected_keys:
            told.append(f"Unexpected key(s) in state_dict: {_quoted(self.unexpected_keys)}.")
        if self.missing_keys:
            told.append(f"Missing key(s) in state_dict: {_quoted(self.missing_keys)}.")
        return told

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        missing, unexpected = self
        return f"IncompatibleKeys(missing_keys={missing}, unexpected_keys={unexpected})"


class Computed(Protocol):
    """An attribute that is computed from others of a module whenever it is read."""

    def read(self, module: Module) -> Tensor: ...

    def assign(self, module: Module, value: Any) -> None: ...


class _Forward(Protocol[_Inputs, _Output]):
    """What has a `forward`: calling a module takes its arguments and gives its result."""

    _forward_pre_hooks: Any
    _forward_hooks: Any
    _backward_pre_hooks: Any
    _backward_hooks: Any

    def forward(self, *args: _Inputs.args, **kwargs: _Inputs.kwargs) -> _Output: ...


class Module:
    """The base of all layers and networks; subclasses define `forward`.

    Assigning a Parameter or a Module to an attribute registers it under the attribute's name;
    `register_buffer` does the same for tensors that are no parameters.  A subclass that defines
    `__init__` calls `super().__init__()` first.
    """

    _forward_pre_hooks: Any = MappingProxyType({})  # a module that has hooks has its own
    _forward_hooks: Any = MappingProxyType({})
    _backward_pre_hooks: Any = MappingProxyType({})
    _backward_hooks: Any = MappingProxyType({})
    _computed: Mapping[str, Computed] = MappingProxyType({})
    _state_dict_pre_hooks: Any = MappingProxyType({})
    _state_dict_hooks: Any = MappingProxyType({})
    _load_state_dict_pre_hooks: Any = MappingProxyType({})
    _load_state_dict_post_hooks: Any = MappingProxyType({})
    # members of the state that modules of an older version in PyTorch's files lack
    _since: Mapping[str, int] = MappingProxyType({})

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
            if (
                self._forward_pre_hooks
                or self._forward_hooks
                or self._backward_hooks
                or self._backward_pre_hooks
            ):
                return called(self, args, kwargs)
            return self.forward(*args, **kwargs)
        except NoTaylorRule as error:
            error.layers.append(self)
            raise

    # ---- registration

    def __setattr__(self, name: str, value: Any) -> None:
        tables = self.__dict__
        if name in self._computed:
            self._computed[name].assign(self, value)
            return
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
        if isinstance(value, Buffer):
            tables.pop(name, None)
            self.register_buffer(name, value, value.persistent)
            return
        object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        for table in TABLES:
            found = self.__dict__.get(table)
            if found is not None and name in found:
                return found[name]
        if name in self._computed:
            return self._computed[name].read(self)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __delattr__(self, name: str) -> None:
        for table in TABLES:
            if name in self.__dict__.get(table, ()):
                del self.__dict__[table][name]
                self._transient.discard(name)
                return
        object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        members = (*self._parameters, *self._buffers, *self._modules, *self._computed)
        return sorted({*super().__dir__(), *members})

    def _compute(self, name: str, computed: Computed | None) -> None:
        """Let an attribute be computed whenever it is read, or (None) no longer."""
        known = self.__dict__.setdefault("_computed", {})
        if computed is None:
            del known[name]
        else:
            known[name] = computed

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

    def register_full_backward_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Let `hook(module, grad_output)` be called before each backward pass through the module.

        grad_output is a tuple, a gradient for each output.  What the hook returns, if it is not
        None, takes its place.  Returns what removes it.
        """
        return self._hooks("_backward_pre_hooks").add(Hook(hook, False), prepend)

    def register_full_backward_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Let `hook(module, grad_input, grad_output)` be called after each backward pass.

        Both are tuples: a gradient for each positional argument and for each output, None where
        none flows.  What the hook returns, if it is not None, takes the place of grad_input;
        RuntimeError for another number of gradients.  Returns what removes it.
        """
        return self._hooks("_backward_hooks").add(Hook(hook, False), prepend)

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Let `hook(module, prefix, keep_vars)` be called before `state_dict` reads the module."""
        return self._hooks("_state_dict_pre_hooks").add(Hook(hook, False), False)

    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Let `hook(module, state_dict, prefix, {})` change what `state_dict` gives, in place."""
        return self._hooks("_state_dict_hooks").add(Hook(hook, False), False)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Let a hook change what `load_state_dict` is given, in place, before it is looked at.

        It is called as hook(module, state_dict, prefix, {}, strict, missing_keys, unexpected_keys,
        error_msgs) with a copy of the dictionary; what it adds to the lists is reported.
        """
        return self._hooks("_load_state_dict_pre_hooks").add(Hook(hook, False), False)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Let `hook(module, incompatible_keys)` be called after `load_state_dict`.

        It may change the lists `incompatible_keys.missing_keys` and `.unexpected_keys`, in place,
        before they are reported.
        """
        return self._hooks("_load_state_dict_post_hooks").add(Hook(hook, False), False)

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

    def get_buffer(self, target: str) -> Tensor:
        """Return the buffer of a dotted name; AttributeError when there is none."""
        owner, _, name = target.rpartition(".")
        buffer = self.get_submodule(owner)._buffers.get(name)
        if buffer is None:
            names = [known for known, _ in self.named_buffers()]
            raise AttributeError(f"{type(self).__name__} has no buffer {target!r}; it has {names}")
        return buffer

    def set_submodule(self, target: str, module: Module, strict: bool = False) -> None:
        """Put a module in the place of the sub-module of a dotted name.

        strict  only where there is one already.
        ValueError for an empty name and for what is no module, AttributeError where the way there
        does not exist.
        """
        if not target:
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, Module):
            raise ValueError(f"set_submodule: {type(module).__name__} is not a Module")
        if strict:
            self.get_submodule(target)
        owner, _, name = target.rpartition(".")
        setattr(self.get_submodule(owner), name, module)

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

    def _convert(
        self, convert: Callable[[Any], Any], modules: Iterable[Module] | None = None
    ) -> Self:
        """Replace the arrays of parameters, their gradients and buffers; the objects stay."""
        for module in self.modules() if modules is None else modules:
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
                array = devices.cast(array, kind)
            return array if place is None else devices.put(array, place)

        return self._convert(convert)

    def _cast_floating(self, dtype: np.dtype) -> Self:
        return self._convert(
            lambda array: devices.cast(array, dtype) if array.dtype.kind == "f" else array
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

    def type(self, dst_type: Any) -> Self:
        """Give all parameters and buffers a dtype, in place, and return this module."""
        kind = dtypes.as_dtype(dst_type)
        return self._convert(lambda array: devices.cast(array, kind))

    def to_empty(self, *, device: Any, recurse: bool = True) -> Self:
        """Move to a device without the values, in place, and return this module.

        recurse  False: leave modules below as they are.
        """
        place = devices.as_device(device)
        below = None if recurse else {self}
        return self._convert(lambda array: devices.zeros(array.shape, array.dtype, place), below)

    # ---- saving and loading

    def _own_state(self) -> Iterator[tuple[str, Tensor]]:
        """Yield (name, tensor) for parameters and persistent buffers of this module alone."""
        for table in ("_parameters", "_buffers"):
            for name, member in self.__dict__[table].items():
                if member is not None and name not in self._transient:
                    yield name, member

    def _state_items(self) -> Iterator[tuple[str, Module, str]]:
        """Yield (dotted name, the module that owns it, its name there)."""
        for prefix, module in self.named_modules(remove_duplicate=False):
            for name, _ in module._own_state():
                yield (f"{prefix}.{name}" if prefix else name), module, name

    def get_extra_state(self) -> Any:
        """Return what `state_dict` is to hold besides tensors; a subclass that has some defines it.

        With it go `set_extra_state`, and the name "_extra_state" in the dictionary.
        """
        raise RuntimeError(
            f"{type(self).__name__}.get_extra_state: reached a function that each module with "
            "extra state defines, together with set_extra_state"
        )

    def set_extra_state(self, state: Any) -> None:
        """Take what `get_extra_state` gave; a subclass that has some defines it."""
        raise RuntimeError(
            f"{type(self).__name__}.set_extra_state: reached a function that each module with "
            "extra state defines, together with get_extra_state"
        )

    def _extra_states(self) -> dict[str, Module]:
        """Return the modules that have extra state, by the name of it in the dictionary."""
        return {
            (f"{prefix}.{EXTRA}" if prefix else EXTRA): module
            for prefix, module in self.named_modules(remove_duplicate=False)
            if type(module).get_extra_state is not Module.get_extra_state
        }

    def state_dict(
        self,
        *,
        destination: dict[str, Any] | None = None,
        prefix: str = "",
        keep_vars: bool = False,
    ) -> dict[str, Any]:
        """Return dotted name -> tensor for parameters and persistent buffers.

        The tensors are detached and share memory with the module: clone them (or copy.deepcopy
        the dictionary) to keep a snapshot.

        destination  a dictionary to add to.
        prefix       what all names begin with.
        keep_vars    give the tensors themselves.
        """
        found: dict[str, Any] = {} if destination is None else destination
        for hook in tuple(self._state_dict_pre_hooks.values()):
            hook.function(self, prefix, keep_vars)
        for name, tensor in self._own_state():
            found[prefix + name] = tensor if keep_vars else tensor.detach()
        if type(self).get_extra_state is not Module.get_extra_state:
            found[prefix + EXTRA] = self.get_extra_state()
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(
                    destination=found, prefix=f"{prefix}{name}.", keep_vars=keep_vars
                )
        for hook in tuple(self._state_dict_hooks.values()):
            if hook.function(self, found, prefix, {}) is not None:
                raise RuntimeError("state_dict post-hook must return None; change it in place")
        return found

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> IncompatibleKeys:
        """Copy values (tensors or arrays) into parameters and buffers, in place.

        assign  put the tensors themselves in the places of those there are, with their dtypes and
                devices.
        Returns (missing_keys, unexpected_keys).  RuntimeError that lists every missing and
        unexpected name (when strict) and every mismatch of shape; nothing is copied then, unless
        hooks are called after it.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"expected state_dict to be dict-like, got {type(state_dict).__name__}")
        keys = IncompatibleKeys([], [])
        problems: list[str] = []
        versions = getattr(state_dict, "_metadata", None) or {}
        state_dict = self._prepared(state_dict, strict, keys, problems)
        own = {name: (module, inner) for name, module, inner in self._state_items()}
        extra = self._extra_states()
        keys.missing_keys.extend(
            name for name in (*own, *extra)
            if name not in state_dict and not self._came_later(name, own, versions)
        )  # fmt: skip
        keys.unexpected_keys.extend(
            name for name in state_dict if name not in own and name not in extra
        )
        found = {name: state_dict[name] for name in own if name in state_dict}
        for name, value in found.items():
            module, inner = own[name]
            problems += _misfits(name, value, getattr(module, inner))
        after = [module for module in self.modules() if module._load_state_dict_post_hooks]
        if not after and strict:
            problems = keys.problems() + problems
        if not problems:
            for name, value in found.items():
                module, inner = own[name]
                if assign:
                    module._assign(inner, value)
                else:
                    write(getattr(module, inner), _array_of(value))
            for name, module in extra.items():
                if name in state_dict:
                    module.set_extra_state(state_dict[name])
            for module in reversed(after):
                for hook in tuple(module._load_state_dict_post_hooks.values()):
                    if hook.function(module, keys) is not None:
                        raise RuntimeError(
                            "Hooks registered with register_load_state_dict_post_hook are not "
                            "expected to return new values: change incompatible_keys in place"
                        )
            problems = keys.problems() if after and strict else []
        if problems:
            raise RuntimeError(
                f"Error(s) in loading state_dict for {type(self).__name__}:\n\t"
                + "\n\t".join(problems)
                + ("\nWhat fits was loaded" if after else "\nNothing was loaded")
                + "; build the module with the sizes it was saved with"
                + (", or pass strict=False to skip names." if strict else ".")
            )
        return keys

    @staticmethod
    def _came_later(name: str, own: Mapping[str, tuple], versions: Mapping[str, Any]) -> bool:
        """Return whether a saved module is so old, or so plain, that it may lack what has a name.

        versions  of the modules by their prefixes, as PyTorch keeps them beside the tensors.
        """
        if name not in own:
            return False
        module, inner = own[name]
        version = versions.get(name.removesuffix(inner).rstrip("."), {}).get("version")
        return inner in module._since and (version is None or version < module._since[inner])

    def _prepared(
        self, state_dict: Mapping[str, Any], strict: bool, keys: IncompatibleKeys, problems: list
    ) -> Mapping[str, Any]:
        """Return what is to be loaded as the hooks that come before leave it."""
        changed = state_dict
        for prefix, module in self.named_modules(remove_duplicate=False):
            for hook in tuple(module._load_state_dict_pre_hooks.values()):
                changed = dict(changed) if changed is state_dict else changed
                start = f"{prefix}." if prefix else ""
                hook.function(
                    module, changed, start, {}, strict, keys.missing_keys, keys.unexpected_keys,
                    problems,
                )  # fmt: skip
        return changed

    def _assign(self, name: str, value: Any) -> None:
        """Put a tensor in the place of a parameter or of a buffer."""
        old = getattr(self, name)
        value = value if isinstance(value, Tensor) else Tensor(_array_of(value))
        if isinstance(old, Parameter) and not isinstance(value, Parameter):
            value = Parameter(value, old.requires_grad)
        setattr(self, name, value)

    # ---- text

    def extra_repr(self) -> str:
        """Return the text between the parentheses of the module's line in `repr`."""
        return ""

    def __repr__(self) -> str:
        told = self.extra_repr()
        lines = [
            f"({name}): " + repr(module).replace("\n", "\n  ")
            for name, module in self._modules.items()
        ]
        if not lines:
            return f"{type(self).__name__}({told})"
        lines = [*([told.replace("\n", "\n  ")] if told else []), *lines]
        return f"{type(self).__name__}(\n  " + "\n  ".join(lines) + "\n)"


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


def _misfits(name: str, value: Any, own: Tensor) -> list[str]:
    """Return what is wrong with a value for a parameter or a buffer: nothing, or a sentence."""
    array = _array_of(value)
    if array is None:
        return [f"{name}: expected a Tensor or an array, got {type(value).__name__}."]
    if array.shape != own._data.shape:
        return [
            f"size mismatch for {name}: the state_dict has shape {list(array.shape)}, this module "
            f"has {list(own.shape)}."
        ]
    if array.dtype.kind == "c" and own._data.dtype.kind != "c":
        return [f"{name}: the state_dict has dtype {array.dtype}, this module {own.dtype}."]
    return []


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
