"""Jacobians and Hessians as functions of the arguments."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

from .. import devices, modes
from ..batching.batched import Batched, is_batched_at, under_way, unwrapped
from ..engine import pull
from ..levels import next_level
from ..ops.registry import REGISTRY
from ..tensor import Tensor
from .gradients import Places, answered
from .pushes import pushed
from .trees import leaves_of, mapped, rebuilt
from .vmap import RANDOMNESS

_FEW = 4  # sweeps that are done one by one: each is over what lies together in memory


def jacrev(
    func: Callable,
    argnums: int | tuple[int, ...] = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
) -> Callable:
    """Return the function that gives the Jacobian of `func`, by reverse mode.

    argnums     the position of the argument to differentiate by, a tensor or tensors in tuples,
                lists and dicts: a tensor gives one of shape (*output.shape, *argument.shape),
                others are nested as the argument is; a tuple of positions gives a tuple.
    has_aux     `func` returns a pair, the second of which is not differentiated: so does this.
    chunk_size  how many elements of an output are differentiated at once; None: all.
    Outputs that are nested give this for each of them, nested alike.  Raises TypeError where an
    argument or an output is no Tensor, IndexError for a position that was not passed.
    """

    @functools.wraps(func, updated=())
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        places = Places("jacrev", args, argnums)
        with modes.enable_grad():
            outputs, aux = answered("jacrev", func(*places.args, **kwargs), has_aux)
        records = modes.is_grad_enabled() and places.is_in_larger_graph(leaves_of(outputs))

        def rows_of(output: Tensor) -> Any:
            found = _rows(output, places.leaves, records, chunk_size)
            return places.nested(map(places.detached, found))

        found = mapped(rows_of, outputs)
        return (found, mapped(places.detached, aux)) if has_aux else found

    return jacobian


def _rows(
    output: Tensor, inputs: list[Tensor], create_graph: bool, chunk_size: int | None
) -> list[Tensor]:
    """Return the Jacobian of an output by each input."""
    count = output.numel()
    if not output.requires_grad or not count:
        return [_zeros(x, (*output.shape, *x.shape)) for x in inputs]
    units = _units(output)
    if count <= _FEW and chunk_size is None:
        parts = [
            [_zeros(x, (1, *x.shape)) if g is None else g.unsqueeze(0) for g, x in _pairs(
                pull([output], [Tensor(units._data[k, ...])], inputs, True, create_graph), inputs
            )]
            for k in range(count)
        ]  # fmt: skip
    else:
        step = chunk_size or count
        parts = []
        for start in range(0, count, step):
            level, some = next_level(), Tensor(units._data[start : start + step])
            found = pull([output], [Batched(some, level)], inputs, True, create_graph)
            size = some.shape[0]
            parts.append([
                _zeros(x, (size, *x.shape)) if g is None else unwrapped(g, level, size)
                for g, x in _pairs(found, inputs)
            ])  # fmt: skip
    columns = zip(*parts, strict=True)
    whole = [c[0] if len(c) == 1 else REGISTRY["cat"](*c, dim=0) for c in columns]
    return [g.reshape((*output.shape, *x.shape)) for g, x in _pairs(whole, inputs)]


def _pairs(found: list, inputs: list[Tensor]) -> Any:
    return zip(found, inputs, strict=True)


def jacfwd(
    func: Callable,
    argnums: int | tuple[int, ...] = 0,
    has_aux: bool = False,
    *,
    chunk_size: int | None = None,
    randomness: str = "same",
) -> Callable:
    """Return the function that gives what `jacrev` does by forward mode.

    `func` is run once for each tensor that it is differentiated by, with a tangent for each of its
    elements.

    chunk_size  how many tangents are pushed at once, in one run each; None: all.
    randomness  what random numbers drawn inside do: "error" (RuntimeError), "different" for each
                tangent, or the "same" for all.
    """
    if randomness not in RANDOMNESS:
        raise RuntimeError(f"jacfwd: randomness must be one of {RANDOMNESS}, got {randomness!r}")
    if chunk_size is not None and chunk_size < 1:
        raise ValueError(f"jacfwd: chunk_size must be None or at least 1, got {chunk_size}")

    @functools.wraps(func, updated=())
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        places = Places("jacfwd", args, argnums)
        columns = []  # for each input, the outputs' leaves
        outputs = aux = None
        for position in range(len(places.leaves)):

            def of_input(x: Tensor, position: int = position) -> Any:
                leaves = list(places.leaves)
                leaves[position] = x
                return func(*places.with_leaves(leaves), **kwargs)

            outputs, slopes, aux = _columns(
                of_input, places.leaves[position], has_aux, chunk_size, randomness
            )
            columns.append(slopes)
        rows = [
            places.nested(map(places.detached, row)) for row in zip(*columns, strict=True)
        ]
        found = rebuilt(outputs, rows)
        return (found, mapped(places.detached, aux)) if has_aux else found

    return jacobian


def _columns(
    func: Callable, x: Tensor, has_aux: bool, chunk_size: int | None, randomness: str
) -> tuple[Any, list[Tensor], Any]:
    """Return the outputs, the Jacobian of each by x, and what else `func` returned."""
    units, count = _units(x), x.numel()
    step = chunk_size or max(count, 1)
    outputs = aux = None
    parts = []
    for start in range(0, max(count, 1), step):
        some = Tensor(units._data[start : start + step])
        outputs, columns, aux = _pushed_along(func, x, some, has_aux, randomness)
        parts.append(columns)
    found = []
    for columns in zip(*parts, strict=True):
        whole = columns[0] if len(columns) == 1 else REGISTRY["cat"](*columns, dim=-1)
        found.append(whole.reshape((*whole.shape[:-1], *x.shape)))
    return outputs, found, aux


def _pushed_along(
    func: Callable, x: Tensor, tangents: Tensor, has_aux: bool, randomness: str
) -> tuple[Any, list[Tensor], Any]:
    """Return the outputs, their slopes along each of the tangents (last), and what else came."""
    count = tangents._data.shape[0]
    with under_way(count, randomness) as level:
        along = Batched(tangents, level)
        outputs, slopes, aux = pushed("jacfwd", func, (x,), (along,), has_aux)

    def of_all(value: Any) -> Any:
        """Return what is the same for all tangents, where something made it for each."""
        if not is_batched_at(value, level):
            return value
        return REGISTRY["slice"](unwrapped(value, level, count), index=(0,))

    found = []
    for slope in leaves_of(slopes):
        columns = unwrapped(slope, level, count)
        axes = (*range(1, slope.ndim + 1), 0)
        found.append(REGISTRY["permute"](columns, axes=axes))
    return mapped(of_all, outputs), found, mapped(of_all, aux)


def hessian(func: Callable, argnums: int | tuple[int, ...] = 0) -> Callable:
    """Return the function that gives the second derivatives of `func`: `jacrev` taken twice.

    The result has shape (*output.shape, *argument.shape, *argument.shape); a tuple of `argnums`
    gives a tuple of tuples.
    """
    return jacrev(jacrev(func, argnums), argnums)


def _units(x: Tensor) -> Tensor:
    """Return the unit vectors of the space of `x`, shape (numel, *shape)."""
    count = math.prod(x.shape)
    with devices.current(x.device):
        rows = devices.namespace_of(x._data).eye(count, dtype=x.dtype)
    return Tensor(rows.reshape((count, *x.shape)))


def _zeros(like: Tensor, shape: tuple) -> Tensor:
    return REGISTRY["new_full"](like, shape=shape, value=0)
