"""Derivatives of a function in its coordinates, all in one forward sweep."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext

from .. import modes
from ..ops.creation.create import ones, zeros_like
from ..tensor import Tensor
from .channels import Channels, Key, Sum, choose_channels
from .indices import Index
from .jet import Jet, nested_sweeps


def sweep(
    fn: Callable[..., Tensor | Sequence[Tensor]],
    coordinates: Sequence[Tensor],
    channels: Channels,
    directions: Sequence[Tensor] | None = None,
) -> list[dict[Key | tuple, Tensor]]:
    """Push `coordinates` through `fn` and return the value `()` and every channel of each output.

    coordinates  Tensors; coordinate i has derivative 1 in index `(i,)` and 0 in all others.
    directions   instead: for one tensor of coordinates (..., d), tensors that broadcast to its
                 shape; index `(r,)` is then the derivative along direction r.
    Each result has the shape of its output.  A channel that is zero everywhere is left out.  What
    `fn` computes in `no_grad` is a constant, as for reverse mode.
    Raises NoTaylorRule for an operation that cannot be pushed through, RuntimeError for a sweep
    inside another one.
    """
    if any(isinstance(x, Jet) for x in coordinates):
        raise nested_sweeps()
    if directions is None:
        seeds = [
            {(i,): ones(*(1,) * x.ndim, dtype=x.dtype, device=x.device)}
            if _carried(channels, i)
            else {}
            for i, x in enumerate(coordinates)
        ]
    else:
        seeds = [{(r,): d for r, d in enumerate(directions) if _carried(channels, r)}]
    for seed in seeds:
        for total in channels.sums:
            own = [weight * seed[index] for index, weight in total.terms if index in seed]
            if own:
                seed[total] = own[0] if len(own) == 1 else _added(own)
    for seed in seeds:
        for index in [key for key in seed if isinstance(key, tuple)]:
            if index not in channels.singles:
                del seed[index]
    jets = [Jet(x, seed, channels) for x, seed in zip(coordinates, seeds, strict=True)]
    with nullcontext() if modes.is_grad_enabled() else modes.forward_only():
        outputs = fn(*jets)
    return [
        _read(output, channels)
        for output in ((outputs,) if isinstance(outputs, Tensor) else outputs)
    ]


def _carried(channels: Channels, coordinate: int) -> bool:
    if (coordinate,) in channels.singles:
        return True
    return any(index == (coordinate,) for total in channels.sums for index, _ in total.terms)


def _added(parts: list[Tensor]) -> Tensor:
    total = parts[0]
    for one in parts[1:]:
        total = total + one
    return total


def _read(output: Tensor, channels: Channels) -> dict:
    if not isinstance(output, Jet):
        return {(): output}
    shape = output.value._data.shape
    found = {(): output.value}
    for key in channels.keys:
        if key in output.parts:
            one = output.parts[key]
            found[key] = one if one._data.shape == shape else one.expand(shape)
    return found


def partials(
    fn: Callable[..., Tensor],
    coordinates: Sequence[Tensor],
    indices: Iterable[Index] = (),
    sums: Sequence[Sum] = (),
) -> dict[Key, Tensor]:
    """Return the partial derivatives `indices` and the weighted sums of them, of one output.

    coordinates  Tensors of one shape (n, 1) or (n,); `fn` maps them to one Tensor of n rows that
                 treats each point by itself.
    Results are Tensors of the output's shape, zeros where a derivative vanishes.
    """
    indices = [tuple(sorted(index)) for index in indices]
    channels = choose_channels(indices, sums)
    (found,) = sweep(fn, coordinates, channels)
    value = found[()]
    results: dict[Key, Tensor] = {}
    for key in [*indices, *sums]:
        results[key] = read(found, key, value)
    return results


def read(found: dict, key: Key, value: Tensor) -> Tensor:
    """Return a derivative or a sum from the channels of a sweep; zeros where it vanishes."""
    if key in found:
        return found[key]
    if isinstance(key, Sum) and any(index in found for index, _ in key.terms):
        return _added([weight * found[index] for index, weight in key.terms if index in found])
    return zeros_like(value.detach())
