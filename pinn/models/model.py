"""What a model is: a module, or a recipe that builds one for a problem."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

import autograd as T
from pinn.geometry import Shape
from pinn.schema.declared import Member
from pinn.schema.errors import Path, refuse, refuse_class, refuse_kind
from pinn.schema.family import Family
from pinn.schema.reader import Reader
from pinn.schema.tree import Mapping as MappingNode
from pinn.schema.tree import Node

MODELS = Family("model", example="pinn.MLP() or an autograd.nn.Module")

_NOT_SAVED = "not_saved"

Given = Callable[[str], np.ndarray]
"""Unknown -> the values that the conditions of a problem give to it, (k,); none where k is 0."""


@dataclass(frozen=True)
class Facts:
    """What a model may take from a problem: its constants, and the values that conditions give.

    time_order: how many of u, u_t, ... the initial conditions give to an unknown, at most.
    """

    constants: Mapping[str, float]
    given: Given
    time_order: int = 0


class Model(ABC):
    """A recipe for a network: its settings, and `build`, which makes the module for a problem."""

    family = MODELS

    @abstractmethod
    def build(
        self,
        domain: Shape,
        unknowns: Sequence[str],
        rng: np.random.Generator,
        dtype: T.dtype,
        device: str = "cpu",
    ) -> T.nn.Module:
        """Return the network (n, coordinates) -> (n, unknowns).

        domain: where the problem lives; its `coordinates` are the columns of the input, its
        `bounds` their ranges. rng: the only source of randomness, so that a seed gives the same
        network. dtype, device: of the parameters.
        """

    def parameter_count(self, domain: Shape, unknowns: Sequence[str]) -> int | None:
        """Return how many numbers the network has; None where only building it tells."""
        return None

    def check(self, domain: Shape, unknowns: Sequence[str]) -> None:
        """Raise DeclarationError, with the key, for what does not go with a problem."""
        return None  # anything goes

    def settled(self, domain: Shape, unknowns: Sequence[str], facts: Facts) -> Model:
        """Return the model with what it takes from a problem written out, as numbers.

        Raises DeclarationError, with the key, for what the problem does not have.
        """
        return self


MODELS.base = Model


@dataclass(frozen=True)
class NotSavedModel(Model):
    """Stands for a model in a solution file whose class the file cannot hold."""

    name: str

    def build(self, *args: Any, **kwargs: Any) -> T.nn.Module:
        raise RuntimeError(
            f"the model was a {self.name}, whose class a file cannot hold; "
            "give it to pinn.load(path, model=...)"
        )


@dataclass(frozen=True)
class ModelKind(Member):
    """A model of the table or its name, any object with `build`, or a module as it is."""

    def check(self, value: Any) -> Any:
        if isinstance(value, str) and value in self.family:
            return self.family[value]()
        is_class = isinstance(value, type)
        is_module = (issubclass if is_class else isinstance)(value, T.nn.Module)
        if is_module or callable(getattr(value, "build", None)):
            if is_class:
                refuse_class(f"a model such as {self.family.example}", value)
            return value
        refuse_kind(
            f"a model such as {self.family.example}, or an object with a method "
            "build(domain, unknowns, rng, dtype, device) that returns a module",
            value,
        )

    def read(self, node: Node, path: Path, reader: Reader) -> Any:
        if reader.stored and isinstance(node, MappingNode) and list(node.entries) == [_NOT_SAVED]:
            return NotSavedModel(str(getattr(node.entries[_NOT_SAVED], "text", "?")))
        return super().read(node, path, reader)

    def dump(self, value: Any) -> dict[str, Any]:
        if isinstance(value, NotSavedModel):
            return {_NOT_SAVED: value.name}
        if is_own(value):
            return {_NOT_SAVED: type(value).__name__}
        return super().dump(value)


def is_own(model: Any) -> bool:
    """Return whether a model is a module or of a class of the user's, which no file can hold."""
    return type(model) not in dict(MODELS.items()).values()


def has_own(model: Any) -> bool:
    """Return whether a model is such, or has one as a part, as windows of a module have."""
    if is_own(model):
        return True
    values = vars(model).values()
    parts = [part for v in values for part in (v.values() if isinstance(v, Mapping) else (v,))]
    models = [p for p in parts if isinstance(p, T.nn.Module) or callable(getattr(p, "build", None))]
    return any(map(has_own, models))


AnyModel = Annotated[Any, ModelKind(MODELS)]
"""The annotation of an argument that takes a model."""


def build_module(
    model: Any,
    domain: Shape,
    unknowns: Sequence[str],
    rng: np.random.Generator,
    dtype: T.dtype,
    device: str,
) -> T.nn.Module:
    """Return the module of a model, ready to be trained; a module that was given is copied.

    Parameters that require no gradient stay as they are.  Raises TypeError where `build` returns
    something else, ValueError for a module without parameters to train, with some of another dtype
    than the run's, and with hooks, which nothing would call.
    """
    name = type(model).__name__
    given = isinstance(model, T.nn.Module)
    if given:
        module = copy.deepcopy(model).to(device)
    else:
        module = model.build(domain, unknowns, rng, dtype, device)
        if not isinstance(module, T.nn.Module):
            raise TypeError(
                f"model: expected an autograd.nn.Module from {name}.build(...), "
                f"got {type(module).__name__}"
            )
    parameters = list(module.named_parameters())
    if not any(parameter.requires_grad for _, parameter in parameters):
        raise ValueError(
            f"model: {name} has no parameters to train; register them as autograd.nn.Parameter"
        )
    own = model.named_parameters() if given else parameters
    hooked = [
        key
        for key, parameter in own
        for hooks in (parameter._hooks, parameter._after_accumulation)
        if hooks and hooks.hooks
    ]
    if hooked:
        raise ValueError(
            f"model: the parameter {hooked[0]!r} of {name} has a hook, which training does not "
            "call: it trains a copy, in steps of its own; remove the hook. requires_grad_(False) "
            "freezes a parameter"
        )
    for key, parameter in parameters:
        if parameter.dtype != dtype:
            raise ValueError(
                f"model: the parameter {key!r} of {name} is {_dtype(parameter.dtype)}, but the run "
                f"is {_dtype(dtype)}; make it so with module.to(autograd.{_dtype(dtype)}), or give "
                f"precision={_dtype(parameter.dtype)!r}"
            )
    return module


def parameter_count(model: Any, domain: Shape, unknowns: Sequence[str]) -> int | None:
    """Return how many numbers a model has to train, without building it; None where none tells."""
    if isinstance(model, T.nn.Module):
        return sum(one.numel() for one in model.parameters() if one.requires_grad)
    count = getattr(model, "parameter_count", None)
    return None if count is None else count(domain, unknowns)


def check_model(model: Any, domain: Shape, unknowns: Sequence[str]) -> None:
    """Raise DeclarationError, with the key, where a Model does not go with a problem."""
    if isinstance(model, Model):
        model.check(domain, unknowns)


def check_part(model: Any, domain: Shape, unknowns: Sequence[str]) -> None:
    """Check a model that is a part of another, or of a field: one that a trial chooses is none."""
    if is_by_trial(model):
        refuse("expected a model such as mlp: auto tries a whole problem, and no part of one")
    check_model(model, domain, unknowns)


def is_by_trial(model: Any) -> bool:
    """Return whether a trial on the whole problem is to choose a model, or a part of it."""
    return bool(getattr(model, "by_trial", False))


def settled_model(model: Any, domain: Shape, unknowns: Sequence[str], facts: Facts) -> Any:
    """Return a model with what it takes from a problem written out; other modules as they are."""
    return model.settled(domain, unknowns, facts) if isinstance(model, Model) else model


def _dtype(dtype: T.dtype) -> str:
    return str(dtype).rpartition(".")[2]
