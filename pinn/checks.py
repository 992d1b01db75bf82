"""Arguments of functions, equal records, and what messages share: the name that was meant."""

from __future__ import annotations

import dataclasses
import difflib
import functools
import inspect
import itertools
import re
from collections.abc import Callable, Collection, Iterable
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

# A name of anything that an expression can mention.
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


# A name is looked for among so many others, and none that is longer: it takes time for each.
_MOST_COMPARED, _LONGEST_COMPARED = 1000, 200

# What other libraries call the things that have a name here, in small letters.
PEERS: dict[str, tuple[str, ...]] = {
    "circle": ("Disk", "disk"),
    "cuboid": ("Box",),
    "hypercube": ("Box",),
    "rectangle": ("Box",),
    "sphere": ("Ball", "ball"),
    "timedomain": ("Time",),
    "dirichletbc": ("Dirichlet", "dirichlet"),
    "neumannbc": ("Neumann", "neumann"),
    "robinbc": ("Robin", "robin"),
    "periodicbc": ("Periodic", "periodic"),
    "operatorbc": ("Operator", "operator"),
    "pointsetbc": ("Data", "data"),
    "ic": ("Initial", "initial"),
    "initialcondition": ("Initial", "initial"),
    "fnn": ("MLP", "mlp"),
    "feedforward": ("MLP", "mlp"),
    "fullyconnected": ("MLP", "mlp"),
    "layers": ("width", "depth"),
    "layer_sizes": ("width", "depth"),
    "hidden": ("width", "depth"),
    "hidden_size": ("width",),
    "hidden_layers": ("depth",),
    "num_layers": ("depth",),
    "num_neurons": ("width",),
    "lr": ("learning_rate",),
    "scheduler": ("schedule",),
    "precondition_frequency": ("every",),
    "max_precond_dim": ("longest",),
    "ns_steps": ("iterations",),
    "decay": ("schedule", "weight_decay"),
    "final_rate": ("schedule",),
    "betas": ("beta1", "beta2"),
    "epochs": ("steps",),
    "iterations": ("steps",),
    "max_iter": ("steps",),
    "num_domain": ("interior",),
    "num_boundary": ("boundary",),
    "num_initial": ("initial",),
    "gpu": ("cuda",),
}


def argument_names_checked(function: Callable[P, R]) -> Callable[P, R]:
    """Return a function that answers to a misspelled argument with the one that was meant.

    It is one frame more for the `stacklevel` of warnings.
    """
    names = list(inspect.signature(function).parameters)

    @functools.wraps(function)
    def checked(*args: P.args, **given: P.kwargs) -> R:
        for name in given:
            if name not in names:
                raise TypeError(
                    f"{function.__name__} has no argument {name!r}{nearest(name, names)}"
                )
        return function(*args, **given)

    return checked


def arguments_of(
    other: Callable[P, Any], without: Collection[str] = ()
) -> Callable[[Callable[..., R]], Callable[P, R]]:
    """Give a function the arguments of another, which is the one place where they are written.

    The function gets all of them by name, with the defaults of the other; what shows signatures
    shows them one by one. without: those of the other's that it has not (a type checker, which
    cannot take any out, lets them pass).
    """
    shared = inspect.signature(other)
    kept = [one for one in shared.parameters.values() if one.name not in without]

    def given_to(function: Callable[..., R]) -> Callable[P, R]:
        result = inspect.signature(function).return_annotation
        signature = shared.replace(parameters=kept, return_annotation=result)

        @functools.wraps(function)
        def called(*args: P.args, **given: P.kwargs) -> R:
            try:
                bound = signature.bind(*args, **given)
            except TypeError as error:
                raise TypeError(f"{function.__name__}(): {error}") from None
            bound.apply_defaults()
            return function(**bound.arguments)

        called.__signature__ = signature
        called.__annotations__ = {one.name: one.annotation for one in kept} | {"return": result}
        return called

    return given_to


def nearest(name: object, names: Iterable[str]) -> str:
    """Return "; did you mean 'x'?" for the name most like `name`, or "" where none is near."""
    names = list(itertools.islice(names, _MOST_COMPARED))
    if len(str(name)) > _LONGEST_COMPARED:
        return ""
    peers = [one for one in PEERS.get(str(name).lower(), ()) if one in names]
    if peers:
        return f"; did you mean {' and '.join(map(repr, peers))}?"
    close = difflib.get_close_matches(str(name), names, n=1)
    if not close:  # mlp for MLP
        close = [one for one in names if str(one).lower() == str(name).lower()][:1]
    return f"; did you mean {close[0]!r}?" if close else ""


def printable(text: str, kept: str = "") -> str:
    """Return a text with escapes for what a terminal would act on instead of showing it.

    That is all that is no letter, mark or blank: control characters and line ends, those that turn
    the direction of writing, halves of surrogates. kept: characters that stay as they are.
    """
    if text.isprintable():
        return text
    return "".join(
        c if c in kept or c.isprintable() else c.encode("unicode_escape").decode() for c in text
    )


def is_name(name: object) -> bool:
    """Return whether something is a text that can be a name: a letter, then letters, digits, _."""
    return isinstance(name, str) and NAME.fullmatch(name) is not None


def equal_with_nan(kind: type[R]) -> type[R]:
    """Make records of a dataclass equal where what they compare is, nan beside nan too.

    Python compared fields by identity first until 3.12, by value alone since.
    """
    names = [one.name for one in dataclasses.fields(kind) if one.compare]

    def equal(self: R, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(_are_equal(getattr(self, one), getattr(other, one)) for one in names)

    kind.__eq__ = equal
    return kind


def _are_equal(one: Any, other: Any) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_are_equal(one[k], other[k]) for k in one)
    if isinstance(one, list | tuple) and type(one) is type(other):
        return len(one) == len(other) and all(map(_are_equal, one, other))
    return bool(one == other) or bool(one != one and other != other)
