"""The gate of the public functions: PyTorch's keywords, `out=`, and arguments of the wrong kind.

The functions of `ops` call one another as they are.  What users reach, in the namespaces and as
methods of Tensor, stands behind this gate.  It reads the function's own signature: parameter names
give the keywords, annotations say what each argument has to be.
"""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Callable, Mapping
from numbers import Complex, Real
from typing import Any

import numpy as np

from . import modes
from .devices import copied, overlaps_itself, write
from .tensor import Tensor

NUMPY_NAMES = {"dim": "axis", "keepdim": "keepdims"}
OPERATIONS = tuple(f"{__package__}.{name}" for name in ("ops.", "inplace", "nn."))
_WRONG = (TypeError, AttributeError, ValueError)
_EMPTY = inspect.Parameter.empty


def _is_tensor(value: Any) -> bool:
    return isinstance(value, Tensor)


def _is_index(value: Any) -> bool:
    if isinstance(value, (bool, np.bool_)):
        return False
    try:
        operator.index(value)
    except TypeError:
        return False
    return True


def _is_single(value: Any) -> bool:
    return _is_tensor(value) and value.numel() == 1


# What an argument annotated with this name may be; one annotated otherwise may be anything.
KINDS: dict[str, Callable[[Any], bool]] = {
    "Tensor": _is_tensor,
    "None": lambda value: value is None,
    "int": _is_index,
    "float": lambda value: isinstance(value, Real) or _is_single(value),
    "Number": lambda value: isinstance(value, (Complex, np.generic)),
    "bool": lambda value: isinstance(value, (bool, np.bool_)) or _is_single(value),
    "str": lambda value: isinstance(value, str),
    "Sequence[int]": lambda value: isinstance(value, (tuple, list)) and all(map(_is_index, value)),
    "Sequence[Tensor]": lambda value: (
        isinstance(value, (tuple, list)) and all(map(_is_tensor, value))
    ),
}


_IN_WORDS = {"Sequence[int]": "tuple of ints", "Sequence[Tensor]": "tuple of Tensors"}

# What a parameter of this name may be where its annotation says Any.
BY_NAME = {"dim": ("int", "Sequence[int]", "None")}


class Signature:
    """What a public function takes: its parameters, their other names and their kinds."""

    def __init__(self, function: Callable, name: str) -> None:
        self.name = name
        self.signature = inspect.signature(function)
        self.parameters = list(self.signature.parameters.values())
        self.takes_out = "out" in self.signature.parameters
        self.public_names = self._public_names()
        self.aliases = self._aliases()
        self.tensors = tuple(
            position for position, p in enumerate(self.parameters) if p.annotation == "Tensor"
        )
        self.kinds = {p.name: self._kind(p) for p in self.parameters}

    def _public_names(self) -> dict[str, str]:
        """Return what PyTorch calls the tensors of a function: `input`, and `other` after it.

        Where x may be left out after y, they are the points of values, and keep their names.
        """
        tensors = [p for p in self.parameters if p.name in ("x", "y")]
        names = [p.name for p in tensors]
        if names == ["y", "x"] and tensors[1].default is None:
            return {}
        return dict(zip(names, ("input", "other"), strict=False))

    def _aliases(self) -> dict[str, str]:
        known = set(self.signature.parameters)
        aliases = {public: own for own, public in self.public_names.items()}
        if self.parameters and self.parameters[0].name in ("A", "start"):
            aliases["input"] = self.parameters[0].name
        aliases |= {alias: own for own, alias in NUMPY_NAMES.items() if own in known}
        return {alias: own for alias, own in aliases.items() if alias not in known}

    @staticmethod
    def _kind(parameter: inspect.Parameter) -> tuple[str, ...]:
        """Return the kinds an argument may be of; nothing where it may be anything."""
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            return ()
        if parameter.annotation == "Any":
            return BY_NAME.get(parameter.name, ())
        parts = tuple(part.strip() for part in str(parameter.annotation).split("|"))
        return parts if all(part in KINDS for part in parts) else ()

    def public(self) -> inspect.Signature:
        """Return the signature with PyTorch's names, for help() and type checkers."""
        taken = set(self.signature.parameters)
        return self.signature.replace(
            parameters=[
                p.replace(name=self.public_names[p.name])
                if self.public_names.get(p.name, p.name) not in taken
                else p
                for p in self.parameters
            ]
        )

    def keywords(self, args: tuple, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the keywords under the function's own names; TypeError for one given twice."""
        result: dict[str, Any] = {}
        positional = {p.name for p in self.parameters[: len(args)] if p.kind is not p.KEYWORD_ONLY}
        for name, value in given.items():
            own = self.aliases.get(name, name)
            if own in result or (name != own and own in positional):
                raise TypeError(f"{self.name}() got multiple values for argument {name!r}")
            result[own] = value
        for position in self.tensors:
            own = self.parameters[position].name
            if own in result and not _is_tensor(result[own]):
                raise self.wrong(position, result[own])
        return result

    def wrong(self, position: int, value: Any) -> TypeError:
        """Return the error about an argument of the wrong kind."""
        parameter = self.parameters[position]
        name = self.public_names.get(parameter.name, parameter.name)
        expected = " or ".join(_IN_WORDS.get(kind, kind) for kind in self.kinds[parameter.name])
        got = type(value).__name__
        if isinstance(value, (tuple, list)) and value:
            got += f" of {', '.join(sorted({type(item).__name__ for item in value}))}"
        remedy = "; make one with autograd.tensor(...)" if expected == "Tensor" else ""
        return TypeError(
            f"{self.name}(): argument {name!r} (position {position + 1}) must be {expected}, "
            f"not {got}{remedy}"
        )

    def find_wrong(self, args: tuple, kwargs: Mapping[str, Any]) -> TypeError | None:
        """Return the error about the first argument of the wrong kind, None where all fit."""
        for position, parameter in enumerate(self.parameters):
            kinds = self.kinds[parameter.name]
            if parameter.kind is parameter.VAR_POSITIONAL:
                args = ()
            value = args[position] if position < len(args) else kwargs.get(parameter.name, _EMPTY)
            if not kinds or value is _EMPTY or value is parameter.default:
                continue
            if not any(KINDS[kind](value) for kind in kinds):
                return self.wrong(position, value)
        return None


def gated(function: Callable, name: str, *, is_method: bool = False) -> Callable:
    """Return `function` behind the gate.

    Keywords may be PyTorch's (`input=`, `other=`) and numpy's (`axis=`, `keepdims=`); a function,
    not a method, takes `out=`.  Raises TypeError that names the argument of the wrong kind.
    """
    spec = Signature(function, name)
    tensors = spec.tensors[1:] if is_method and spec.tensors[:1] == (0,) else spec.tensors

    @functools.wraps(function)
    def gate(*args: Any, **kwargs: Any) -> Any:
        if kwargs:
            if "out" in kwargs and not spec.takes_out and not is_method:
                out = kwargs.pop("out")
                result = gate(*args, **kwargs)
                return result if out is None else write_out(name, result, out, (args, kwargs))
            kwargs = spec.keywords(args, kwargs)
        for position in tensors:
            if position < len(args) and not isinstance(args[position], Tensor):
                raise spec.wrong(position, args[position])
        try:
            return function(*args, **kwargs)
        except _WRONG as error:
            wrong = spec.find_wrong(args, kwargs)
            if wrong is None:
                raise
            raise wrong from error

    gate.__signature__ = spec.public()  # type: ignore[attr-defined]
    return gate


def _is_operation(value: Any) -> bool:
    return inspect.isfunction(value) and value.__module__.startswith(OPERATIONS)


def publish(namespace: dict[str, Any]) -> None:
    """Put the public operations of a module behind the gate; aliases stay one object."""
    module, gates = namespace["__name__"], {}
    for name in namespace.get("__all__") or list(namespace):
        function = namespace[name]
        if name.startswith("_") or not _is_operation(function):
            continue
        if function not in gates:
            own = function.__name__
            known = own if namespace.get(own) is function else name
            gates[function] = gate = gated(function, known)
            gate.__module__, gate.__name__, gate.__qualname__ = module, known, known
        namespace[name] = gates[function]


def publish_methods(names: list[str]) -> None:
    """Put the methods `names` of Tensor behind the gate."""
    for name in names:
        function = getattr(Tensor, name)
        if name.startswith("__") or not _is_operation(function):
            continue
        gate = gated(function, name, is_method=True)
        gate.__module__, gate.__name__ = Tensor.__module__, name
        gate.__qualname__ = f"Tensor.{name}"
        setattr(Tensor, name, gate)


# ---- out=


def write_out(name: str, result: Any, out: Any, inputs: tuple) -> Any:
    """Copy a result into `out`, a Tensor (or a tuple of them) without gradient; return `out`.

    Raises TypeError for anything else, RuntimeError where gradients would be lost, inside of vmap
    and of forward mode, where dtype, device or shape do not fit (an empty `out` takes any shape),
    and where `out` overlaps an input in part.
    """
    if not isinstance(result, tuple):
        _write_one(name, result, out, inputs)
        return out
    if not isinstance(out, (tuple, list)) or len(out) != len(result):
        raise TypeError(
            f"{name}(): argument 'out' must be a tuple of {len(result)} Tensors, not "
            f"{type(out).__name__}"
        )
    for one, target in zip(result, out, strict=True):
        _write_one(name, one, target, inputs)
    fields = getattr(result, "_fields", None)
    return tuple(out) if fields is None else type(result)(*out)


def _write_one(name: str, result: Any, out: Any, inputs: tuple) -> None:
    if not _is_tensor(out):
        raise TypeError(f"{name}(): argument 'out' must be Tensor, not {type(out).__name__}")
    if not _is_tensor(result) or any(result._version is t._version for t in _tensors(inputs)):
        raise TypeError(f"{name}() got an unexpected keyword argument 'out'; it returns a view")
    if modes.is_grad_enabled() and (result.requires_grad or out.requires_grad):
        raise RuntimeError(
            f"{name}(): functions with out=... do not support automatic differentiation, but one "
            "of the arguments requires grad; leave out= away, or work inside no_grad()"
        )
    if result.__dispatch__ is not None or out.__dispatch__ is not None:
        raise RuntimeError(
            f"{name}(): functions with out=... do not support vmap and forward-mode "
            "differentiation (jvp, jacfwd, hessian): what is written would be the values alone, or "
            "those of one example; leave out= away"
        )
    modes.refuse_write("writing to out=", "Use the returned tensor")
    if not np.can_cast(result.dtype, out.dtype, "same_kind"):
        raise RuntimeError(
            f"{name}(): result type {result.dtype} can't be cast to the desired output type "
            f"{out.dtype} of out"
        )
    if result.device != out.device:
        raise RuntimeError(
            f"{name}(): expected out to be on {result.device}, but it is on {out.device}"
        )
    if out.shape != result.shape and out.numel() == 0 and out._view is None:
        out._data = copied(result._data, out.dtype)
    else:
        _fill(name, result, out, inputs)
    out._version[0] += 1


def _fill(name: str, result: Any, out: Any, inputs: tuple) -> None:
    if out.shape != result.shape:
        raise RuntimeError(
            f"{name}(): out has shape {list(out.shape)}, but the result has {list(result.shape)}; "
            "pass an out of that shape, or an empty one"
        )
    if overlaps_itself(out._data):
        raise RuntimeError(
            f"{name}(): unsupported operation: more than one element of the written-to tensor "
            "refers to a single memory location; clone() out first"
        )
    for tensor in _tensors(inputs):
        if _overlap_in_part(tensor, out):
            raise RuntimeError(
                f"{name}(): unsupported operation: some elements of the input tensor and the "
                "written-to tensor refer to a single memory location; clone() one of them"
            )
    write(out._data, result._data)


def _overlap_in_part(tensor: Tensor, out: Tensor) -> bool:
    """Return whether two contiguous tensors share some memory, without being the same elements."""
    rows = tensor._data.flags.c_contiguous and out._data.flags.c_contiguous
    if not rows or tensor.device != out.device:
        return False
    start, out_start = tensor.data_ptr(), out.data_ptr()
    if start == out_start and tensor.shape == out.shape:
        return False
    return start < out_start + out.nbytes and out_start < start + tensor.nbytes


def _tensors(values: Any) -> list:
    if isinstance(values, Mapping):
        values = tuple(values.values())
    if isinstance(values, (tuple, list)):
        return [tensor for value in values for tensor in _tensors(value)]
    return [values] if _is_tensor(values) else []
