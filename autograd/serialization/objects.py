"""Objects as trees of JSON and a list of arrays, and back: no code is kept, and none is run.

None, booleans, texts, whole numbers of 64 bits, finite floats and lists are what JSON has for them.
Everything else is an object with one key, which names the kind: `{"tuple": [...]}`, `{"dict":
[[key, value], ...]}`, `{"tensor": 3}`.
"""

from __future__ import annotations

import base64
import math
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .. import devices, dtypes
from ..nn.module import Module
from ..nn.parameter import Parameter
from ..optim.lr_scheduler import LRScheduler
from ..optim.optimizer import Optimizer
from ..random import Generator
from ..tensor import Size, Tensor

MAPPINGS: dict[type, str] = {dict: "dict", OrderedDict: "ordered", Counter: "counter"}
SEQUENCES: dict[type, str] = {
    tuple: "tuple", set: "set", frozenset: "frozenset", Size: "size",
}  # fmt: skip
_BY_NAME = {name: kind for kind, name in (*MAPPINGS.items(), *SEQUENCES.items())}
_TENSORS = {"Tensor": Tensor, "Parameter": Parameter}
ARRAY_KINDS = "biufcU"


class Writer:
    """Takes objects apart.

    arrays   those met, each once however many tensors share it.
    tensors  what is known of each tensor: its array, class, device and whether it requires grad.
    """

    def __init__(self) -> None:
        self.arrays: list[np.ndarray] = []
        self.tensors: list[dict[str, Any]] = []
        self._numbers: dict[int, int] = {}  # of tensors and arrays, by their id
        self._kept: list[Any] = []  # what has an id in `_numbers`, or the id may be another's
        self._inside: set[int] = set()

    def tree(self, value: Any, place: str = "obj") -> Any:
        """Return `value` as a tree; TypeError for what has none, with its place."""
        kind = type(value)
        if value is None or kind in (bool, str):
            return value
        if kind is int:
            return value if -(2**63) <= value < 2**63 else {"int": hex(value)}
        if kind is float:
            return value if math.isfinite(value) else {"float": repr(value)}
        if kind is complex:
            return {"complex": [self.tree(value.real), self.tree(value.imag)]}
        if kind is bytes:
            return {"bytes": base64.b64encode(value).decode()}
        if kind in _TENSORS.values():
            return {"tensor": self._tensor(value)}
        if isinstance(value, (np.ndarray, np.generic)):
            return self._numpy(value, place)
        if isinstance(value, np.dtype):
            return {"dtype": dtypes.as_dtype(value).name}
        if kind is devices.Device:
            return {"device": str(value)}
        return self._container(value, place)

    def _container(self, value: Any, place: str) -> Any:
        kind = type(value)
        if kind is not list and kind not in MAPPINGS and kind not in SEQUENCES:
            raise _cannot(value, place)
        if id(value) in self._inside:
            raise ValueError(f"autograd.save: {place} holds itself; a file has an end")
        self._inside.add(id(value))
        if kind in MAPPINGS:
            tree: Any = {
                MAPPINGS[kind]: [
                    [self.tree(k, f"a key of {place}"), self.tree(v, f"{place}[{k!r}]")]
                    for k, v in value.items()
                ]
            }
        else:
            tree = [self.tree(v, f"{place}[{k}]") for k, v in enumerate(value)]
            tree = tree if kind is list else {SEQUENCES[kind]: tree}
        self._inside.discard(id(value))
        return tree

    def _tensor(self, tensor: Tensor) -> int:
        if id(tensor) not in self._numbers:
            number = self._array(tensor._data)
            self._enter(tensor, len(self.tensors))
            self.tensors.append(
                {
                    "array": number,
                    "class": type(tensor).__name__,
                    "device": str(tensor.device),
                    "requires_grad": tensor.requires_grad,
                }
            )
        return self._numbers[id(tensor)]

    def _array(self, array: Any) -> int:
        if id(array) not in self._numbers:
            self._enter(array, len(self.arrays))
            self.arrays.append(devices.backend_of(array).to_host(array))
        return self._numbers[id(array)]

    def _enter(self, thing: Any, number: int) -> None:
        self._numbers[id(thing)] = number
        self._kept.append(thing)

    def _numpy(self, value: Any, place: str) -> dict[str, int]:
        if value.dtype.kind not in ARRAY_KINDS:
            raise TypeError(
                f"autograd.save: {place} has dtype {value.dtype}; a file holds booleans, "
                "integers, real and complex numbers, and texts"
            )
        if isinstance(value, np.generic):
            return {"scalar": self._array(np.asarray(value))}
        return {"array": self._array(value)}


def _cannot(value: Any, place: str) -> TypeError:
    """Return the error about what a file cannot hold."""
    name = type(value).__name__
    if isinstance(value, (Module, Optimizer, LRScheduler)):
        remedy = "save its state_dict(), and give that to load_state_dict() of one made anew"
    elif isinstance(value, type) or callable(value):
        remedy = "code is not saved; save the numbers that it uses"
    elif isinstance(value, Generator):
        remedy = "save its get_state()"
    elif isinstance(value, Mapping):
        remedy = "save dict(...) of it"
    elif isinstance(value, (list, tuple)):
        remedy = "save list(...) or tuple(...) of it"
    elif isinstance(value, Tensor):
        remedy = "save detach() of it"
    else:
        remedy = "save the numbers, texts and tensors that it is made from, in a dict"
    return TypeError(f"autograd.save: cannot save {place}, which is a {name}; {remedy}")


class Reader:
    """Puts objects together again.

    arrays    those of the file.
    tensors   what the file says of each tensor, as Writer does.
    located   `(array, device as text) -> array`, on the device where it is to be.
    Raises ValueError, LookupError or TypeError for trees that no Writer makes.
    """

    def __init__(
        self,
        arrays: list[np.ndarray],
        tensors: list[dict[str, Any]],
        located: Callable[[np.ndarray, str], Any],
    ) -> None:
        self._arrays = arrays
        self._tensors = tensors
        self._located = located
        self._made: dict[int, Tensor] = {}
        self._on_device: dict[tuple[int, str], Any] = {}

    def value(self, tree: Any) -> Any:
        """Return the object that a tree describes."""
        if isinstance(tree, list):
            return [self.value(item) for item in tree]
        if not isinstance(tree, dict):
            return tree
        ((kind, told),) = tree.items()
        if kind in _BY_NAME:
            return self._container(_BY_NAME[kind], told)
        return self._leaf(kind, told)

    def _container(self, kind: type, told: Any) -> Any:
        if kind not in MAPPINGS:
            return kind([self.value(item) for item in told])
        filled = kind()
        for key, item in told:
            filled[self.value(key)] = self.value(item)
        return filled

    def _leaf(self, kind: str, told: Any) -> Any:
        if kind == "tensor":
            return self._tensor(told)
        if kind == "array":
            return self._arrays[told]
        if kind == "scalar":
            return self._arrays[told][()]
        if kind == "complex":
            return complex(*(float(self.value(part)) for part in told))
        if kind == "device":
            return devices.Device(*_device_parts(told))
        readers: dict[str, Callable[[str], Any]] = {
            "int": lambda text: int(text, 16),
            "float": float,
            "bytes": lambda text: base64.b64decode(text, validate=True),
            "dtype": dtypes.as_dtype,
        }
        return readers[kind](told)

    def _tensor(self, number: int) -> Tensor:
        if number not in self._made:
            told = self._tensors[number]
            place = told["array"], str(told["device"])
            if place not in self._on_device:
                array = self._arrays[told["array"]]
                dtypes.as_dtype(array.dtype)
                self._on_device[place] = self._located(array, place[1])
            made = Tensor(self._on_device[place], bool(told["requires_grad"]))
            if _TENSORS[told["class"]] is Parameter:
                made = Parameter(made, bool(told["requires_grad"]))
            self._made[number] = made
        return self._made[number]


def _device_parts(text: str) -> tuple[str, int | None]:
    kind, _, number = text.partition(":")
    return kind, int(number) if number else None
