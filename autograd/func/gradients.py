"""Gradients and products with Jacobians, as functions of the arguments."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

from .. import modes
from ..batching.batched import Batched, in_all_batches
from ..engine import pull
from ..forward import Dual
from ..graph import has_other_leaves
from ..ops.registry import REGISTRY, cast
from ..tensor import Tensor
from .trees import leaves_as, leaves_of, mapped, rebuilt


class Places:
    """The arguments of a function, some at places of their own in the graph.

    args    the arguments, with these in place.
    leaves  the tensors at places of their own: what is differentiated by.

    Nothing but what the function computes from them depends on these places: neither what it holds
    of the same tensors otherwise, nor tangents.  In a vmap each has one value an example.  Raises
    TypeError for what is no Tensor, IndexError for a position that was not passed.
    """

    def __init__(self, name: str, args: tuple, argnums: int | tuple[int, ...]) -> None:
        self._single = not isinstance(argnums, (tuple, list))
        asked = (argnums,) if self._single else tuple(argnums)
        self._numbers = [k + len(args) if k < 0 else k for k in asked]
        if not all(0 <= k < len(args) for k in self._numbers):
            raise IndexError(
                f"{name}: argnums={argnums} is out of range for {len(args)} positional arguments; "
                "pass what to differentiate by as a positional argument"
            )
        self.made: set[int] = set()
        self._given = args
        self.leaves: list[Tensor] = []
        for k in self._numbers:
            for x in leaves_of(args[k]):
                if not isinstance(x, Tensor):
                    raise TypeError(
                        f"{name}: argument {k} must be a Tensor, got {type(x).__name__}; "
                        "make one with autograd.tensor(...)"
                    )
                self.leaves.append(self._placed(in_all_batches(x)))
        self.args = self.with_leaves(self.leaves)

    def _placed(self, x: Tensor) -> Tensor:
        if isinstance(x, Dual):
            return Dual(self._placed(x.primal), x.tangent, x.level)
        if isinstance(x, Batched):
            return Batched(self._placed(x.value), x.level)
        if x.requires_grad and modes.is_grad_enabled():
            return REGISTRY["reshape"](x, shape=tuple(x.shape))
        leaf = x.detach().requires_grad_()
        self.made.add(id(leaf))
        return leaf

    def with_leaves(self, leaves: Iterable[Tensor]) -> tuple:
        """Return all arguments with other tensors in place of what is differentiated by."""
        args, remaining = list(self._given), iter(leaves)
        for k in self._numbers:
            args[k] = mapped(lambda _: next(remaining), args[k])
        return tuple(args)

    def nested(self, values: Iterable[Any]) -> Any:
        """Return one value for each of `leaves`, nested as the arguments are."""
        args = self.with_leaves(values)
        trees = tuple(args[k] for k in self._numbers)
        return trees[0] if self._single else trees

    def is_in_larger_graph(self, outputs: Iterable[Any]) -> bool:
        """Return whether an output depends on what requires grad besides, or may come to."""
        return any(not self._is_within(part) for x in outputs for part in _parts(x))

    def _is_within(self, x: Tensor) -> bool:
        return not has_other_leaves([x._edge()], self.made)

    def detached(self, x: Any) -> Any:
        """Return a result, detached where it depends on these places alone."""
        if isinstance(x, Dual):
            return Dual(self.detached(x.primal), self.detached(x.tangent), x.level)
        if isinstance(x, Batched):
            return Batched(self.detached(x.value), x.level)
        return x.detach() if isinstance(x, Tensor) and self._is_within(x) else x


def _parts(x: Any) -> list[Tensor]:
    """Return the tensors of no level that a tensor holds."""
    if isinstance(x, Dual):
        return _parts(x.primal) + _parts(x.tangent)
    if isinstance(x, Batched):
        return _parts(x.value)
    return [x] if isinstance(x, Tensor) else []


def answered(name: str, result: Any, has_aux: bool) -> tuple[Any, Any]:
    """Return the outputs of a function, which are tensors, and what else it returned."""
    aux = None
    if has_aux:
        if not isinstance(result, tuple) or len(result) != 2:
            raise TypeError(
                f"{name}: with has_aux=True the function must return a pair (output, aux), got "
                f"{type(result).__name__}"
            )
        result, aux = result
    for output in leaves_of(result):
        if not isinstance(output, Tensor):
            raise TypeError(
                f"{name}: an output of the function must be a Tensor, got "
                f"{type(output).__name__}; return what is none beside it, with has_aux=True"
            )
    return result, aux


def grad(
    func: Callable, argnums: int | tuple[int, ...] = 0, has_aux: bool = False
) -> Callable:
    """Return the function that gives the gradient of `func`, which gives one number, of shape ().

    argnums  the position of the argument to differentiate by, a tensor or tensors in tuples, lists
             and dicts: the gradient is nested as it is; a tuple of positions gives a tuple.
    has_aux  `func` returns a pair, the second of which is not differentiated: so does this.
    It may be taken again, for higher derivatives, and in `vmap` it gives one gradient an example.
    Raises RuntimeError for outputs of other shapes, TypeError where an argument or the output is no
    Tensor, IndexError for a position that was not passed.
    """

    @functools.wraps(func, updated=())
    def gradient(*args: Any, **kwargs: Any) -> Any:
        found, _, aux = _with_value("grad", func, args, kwargs, argnums, has_aux)
        return (found, aux) if has_aux else found

    return gradient


def grad_and_value(
    func: Callable, argnums: int | tuple[int, ...] = 0, has_aux: bool = False
) -> Callable:
    """Return the function that gives the pair of the gradient of `func`, as `grad`, and its value.

    With has_aux the second is a pair, of the value and of what `func` returned beside it.
    """

    @functools.wraps(func, updated=())
    def both(*args: Any, **kwargs: Any) -> Any:
        found, value, aux = _with_value("grad_and_value", func, args, kwargs, argnums, has_aux)
        return found, (value, aux) if has_aux else value

    return both


def _with_value(
    name: str, func: Callable, args: tuple, kwargs: dict, argnums: Any, has_aux: bool
) -> tuple[Any, Any, Any]:
    places = Places(name, args, argnums)
    with modes.enable_grad():
        value, aux = answered(name, func(*places.args, **kwargs), has_aux)
    if not isinstance(value, Tensor) or value.ndim:
        got = f"shape {list(value.shape)}" if isinstance(value, Tensor) else type(value).__name__
        raise RuntimeError(
            f"{name}: the function must return a tensor of shape [], got {got}; take its sum() or "
            "squeeze() it, or use vjp or jacrev"
        )
    if not value.is_floating_point():
        raise RuntimeError(
            f"{name}: the function must return a real floating point number, got {value.dtype}; "
            "convert with .double(), take .real or .abs() of complex numbers"
        )
    records = modes.is_grad_enabled() and places.is_in_larger_graph([value])
    one = REGISTRY["ones_like"](value)
    found = _pulled(places.leaves, [value], [one], records)
    gradients = places.nested(map(places.detached, found))
    return gradients, places.detached(value), mapped(places.detached, aux)


def _pulled(leaves: list, outputs: list, gradients: list, records: bool) -> list[Tensor]:
    """Return gradients for all of `leaves`, zeros where nothing depends on one."""
    found = pull(outputs, gradients, leaves, True, records)
    return [
        REGISTRY["zeros_like"](x) if g is None else g for g, x in zip(found, leaves, strict=True)
    ]


def vjp(func: Callable, *primals: Any, has_aux: bool = False) -> tuple:
    """Return `func(*primals)` and the function that gives gradients of it from those of its output.

    primals  tensors, or tuples, lists and dicts of them.
    has_aux  `func` returns a pair, the second of which is not differentiated; it comes third.
    The function takes a cotangent, nested as the output and of its shapes, and returns a tuple of
    gradients, nested as the primals.  It may be called again, and in `vmap`, and raises
    RuntimeError for a cotangent of other shapes.
    """
    if not primals:
        raise RuntimeError("vjp: expected at least one primal; pass what to differentiate by")
    places = Places("vjp", primals, tuple(range(len(primals))))
    with modes.enable_grad():
        outputs, aux = answered("vjp", func(*places.args), has_aux)
    leaves = leaves_of(outputs)
    is_larger = places.is_in_larger_graph(leaves)

    def pull_back(cotangents: Any) -> tuple:
        given = leaves_as(outputs, cotangents)
        if given is None or any(
            not isinstance(g, Tensor) or g.shape != x.shape
            for g, x in zip(given, leaves, strict=True)
        ):
            raise RuntimeError(
                f"vjp: expected a cotangent of the shapes of the output, {_shapes(outputs)}, got "
                f"{_shapes(cotangents)}"
            )
        given = [cast(g, x.dtype) for g, x in zip(given, leaves, strict=True)]
        records = modes.is_grad_enabled() and (is_larger or any(g.requires_grad for g in given))
        found = _pulled(places.leaves, leaves, given, records)
        return places.nested(map(places.detached, found))

    results = mapped(places.detached, outputs)
    return (results, pull_back, mapped(places.detached, aux)) if has_aux else (results, pull_back)


def _shapes(tree: Any) -> Any:
    return mapped(lambda x: list(x.shape) if isinstance(x, Tensor) else type(x).__name__, tree)


def linearize(func: Callable, *primals: Any) -> tuple[Any, Callable]:
    """Return `func(*primals)` and the function that gives its derivatives in directions.

    It takes a tangent for each primal, nested alike and of its shapes, and returns what `jvp` does
    for them; `func` is run once, however often it is called.  Tangents of other shapes are a
    RuntimeError.
    """
    if not primals:
        raise RuntimeError("linearize: expected at least one primal; pass what to differentiate by")
    places = Places("linearize", primals, tuple(range(len(primals))))
    with modes.enable_grad():
        outputs, _ = answered("linearize", func(*places.args), False)
        leaves = leaves_of(outputs)
        # gradients are linear in the weights of the outputs: what they are by them is the Jacobian
        weights = [REGISTRY["zeros_like"](in_all_batches(x)).requires_grad_() for x in leaves]
        pulled = _pulled(places.leaves, leaves, weights, True)

    def push_forward(*tangents: Any) -> Any:
        given = leaves_as(primals, tangents)
        if given is None or any(
            not isinstance(t, Tensor) or t.shape != x.shape
            for t, x in zip(given, places.leaves, strict=True)
        ):
            raise RuntimeError(
                f"linearize: expected tangents of the shapes of the primals, {_shapes(primals)}, "
                f"got {_shapes(tangents)}"
            )
        found = _pulled(weights, pulled, given, modes.is_grad_enabled())
        return rebuilt(outputs, [_without(weights, places, x) for x in found])

    return mapped(places.detached, outputs), push_forward


def _without(weights: list, places: Places, x: Tensor) -> Tensor:
    """Return a derivative, detached where it depends on nothing that the caller knows of."""
    places.made |= {id(part) for weight in weights for part in _parts(weight)}
    return places.detached(x)
