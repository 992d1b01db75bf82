"""A function of one example as one of many: `vmap`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..batching.batched import Batched, is_batched_at, under_way, unwrapped
from ..ops.registry import REGISTRY
from ..tensor import Tensor
from .trees import leaves_of, mapped, rebuilt, spread

RANDOMNESS = ("error", "different", "same")


def vmap(
    func: Callable,
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable:
    """Return the function that does for many examples, at once, what `func` does for one.

    in_dims     the dimension of the arguments along which examples lie, counted from the end where
                it is negative; None for what is the same for all.  One for all arguments, or a
                tuple of one for each, nested as they are.
    out_dims    where examples lie in the results: one for all, or nested as they are; None for what
                is the same for all and is returned as it is (ValueError where it is not).
    randomness  what random numbers drawn inside do: "error" (RuntimeError), "different" for each
                example, or the "same" for all.
    chunk_size  how many examples are done at once; None: all.
    Arguments and results are tensors, or tuples, lists and dicts of them; keyword arguments are the
    same for all examples.  Maps may be nested, and gradients go through them.  `func` is run once:
    what it is given has the shape of one example, and elements cannot be looked at (RuntimeError
    for `if x > 0`: use `where`).  Raises ValueError for dimensions that do not fit the arguments.
    """
    if randomness not in RANDOMNESS:
        raise RuntimeError(f"vmap: randomness must be one of {RANDOMNESS}, got {randomness!r}")
    if chunk_size is not None and chunk_size < 1:
        raise ValueError(f"vmap: chunk_size must be None or at least 1, got {chunk_size}")

    @functools.wraps(func, updated=())
    def for_each(*args: Any, **kwargs: Any) -> Any:
        leaves = leaves_of(args)
        dims = _checked_dims(in_dims, args, leaves)
        size = _number_of_examples(leaves, dims)
        if chunk_size is None or chunk_size >= size:
            values = [_first(x, dim) for x, dim in zip(leaves, dims, strict=True)]
            return _moved(*_run(func, args, values, dims, kwargs, size, randomness, out_dims))
        parts = []
        for start in range(0, size, chunk_size):
            stop = min(start + chunk_size, size)
            values = [
                x if dim is None else _first(x, dim)[start:stop]
                for x, dim in zip(leaves, dims, strict=True)
            ]
            part, places = _run(
                func, args, values, dims, kwargs, stop - start, randomness, out_dims
            )
            parts.append(part)
        columns = zip(*map(leaves_of, parts), strict=True)
        whole = [
            column[0] if place is None else REGISTRY["cat"](*column, dim=0)
            for column, place in zip(columns, places, strict=True)
        ]
        return _moved(rebuilt(parts[0], whole), places)

    return for_each


def _checked_dims(in_dims: Any, args: tuple, leaves: list) -> list[int | None]:
    """Return the dimension of the examples of each leaf of the arguments, from the front."""
    if not args:
        raise ValueError("vmap: got no positional arguments, which would tell how many examples")
    given = list(in_dims) if isinstance(in_dims, (tuple, list)) else in_dims
    dims = spread(given, list(args), "vmap: in_dims")
    found: list[int | None] = []
    for x, dim in zip(leaves, dims, strict=True):
        if dim is None:
            found.append(None)
            continue
        if isinstance(dim, bool) or not isinstance(dim, int):
            raise ValueError(f"vmap: in_dims must be ints or None, got {dim!r}")
        if not isinstance(x, Tensor):
            raise ValueError(
                f"vmap: got in_dim={dim} for a {type(x).__name__}, which has no dimensions; give "
                "None for it in in_dims, or make a tensor of it"
            )
        if not -x.ndim <= dim < x.ndim:
            raise ValueError(
                f"vmap: got in_dim={dim} for a tensor of {x.ndim} dimensions (shape "
                f"{list(x.shape)}); expected -{x.ndim} <= in_dim < {x.ndim}, or None where it is "
                "the same for all examples"
            )
        found.append(dim % x.ndim)
    if all(dim is None for dim in found):
        raise ValueError(
            "vmap: in_dims is None for every argument; at least one must have examples"
        )
    return found


def _number_of_examples(leaves: list, dims: list) -> int:
    sizes = [x.shape[dim] for x, dim in zip(leaves, dims, strict=True) if dim is not None]
    if len(set(sizes)) > 1:
        raise ValueError(
            "vmap: all tensors must have as many examples, got sizes "
            f"{sizes} of the mapped dimensions; check in_dims"
        )
    return sizes[0]


def _first(x: Any, dim: int | None) -> Any:
    """Return a tensor with the examples first.

    One that does not require grad is detached: what is asked of it inside, by `requires_grad_()`,
    is not asked of the caller's.
    """
    if dim is None:
        return x
    if not x.requires_grad and not (x.__dispatch__ is not None and x.in_sweep):
        x = x.detach()
    if dim == 0:
        return x
    axes = (dim, *(k for k in range(x.ndim) if k != dim))
    return REGISTRY["permute"](x, axes=axes)


def _run(
    func: Callable,
    args: tuple,
    values: list,
    dims: list,
    kwargs: dict,
    size: int,
    randomness: str,
    out_dims: Any,
) -> tuple[Any, list]:
    """Return the results of `func` with the examples first, and where each leaf has to have them.

    One that has to have none, None, is the same for all examples.
    """
    with under_way(size, randomness) as level:
        given = [
            value if dim is None else Batched(value, level)
            for value, dim in zip(values, dims, strict=True)
        ]
        results = func(*rebuilt(args, given), **kwargs)

    places = spread(out_dims, results, "vmap: out_dims")
    remaining = iter(places)

    def values_of(result: Any) -> Tensor:
        place = next(remaining)
        if not isinstance(result, Tensor):
            raise ValueError(
                f"vmap: the function must return tensors only, got a {type(result).__name__}; "
                "return it another way, or make a tensor of it"
            )
        if place is not None:
            return unwrapped(result, level, size)
        if is_batched_at(result, level):
            raise ValueError(
                f"vmap: got out_dim=None for a result of shape {list(result.shape)} that has one "
                "value an example; give the dimension that its examples shall have"
            )
        return result

    return mapped(values_of, results), places


def _moved(results: Any, dims: list) -> Any:
    """Return results whose examples are first with these where they are asked for."""
    leaves = leaves_of(results)
    moved = []
    for x, dim in zip(leaves, dims, strict=True):
        if dim is None:
            moved.append(x)
            continue
        if isinstance(dim, bool) or not isinstance(dim, int):
            raise ValueError(f"vmap: out_dims must be ints or None, got {dim!r}")
        if not -x.ndim <= dim < x.ndim:
            raise ValueError(
                f"vmap: got out_dim={dim} for a result of {x.ndim} dimensions, that of the "
                f"examples among them; expected -{x.ndim} <= out_dim < {x.ndim}"
            )
        place = dim % x.ndim
        axes = (*range(1, place + 1), 0, *range(place + 1, x.ndim))
        moved.append(REGISTRY["permute"](x, axes=axes) if place else x)
    return rebuilt(results, moved)
