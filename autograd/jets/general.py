"""The Taylor rule of any differentiable operation, by nested forward mode.

The derivative `index` of f(x(s)) at s = 0, for a path x that is a polynomial with the given parts,
is the mixed first derivative in one nilpotent variable a position of `index`: a nest of as many
forward sweeps.  It costs 2^order applications, and serves operations (solve, det, norm, ...) that
have no rule of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..forward import Dual
from ..levels import next_level
from ..ops.registry import Op, apply
from ..tensor import Tensor
from .indices import Index
from .jet import Jet, _full_part, channels_of, part, plus, scaled


def general_rule(op: Op, args: tuple, attributes: dict) -> Any:
    """Push jets through `op` by nested forward mode."""
    channels = channels_of(args)
    value = apply(op, *[part(a, ()) for a in args], **attributes)
    results = value if isinstance(value, tuple) else (value,)
    collected: list[dict] = [{} for _ in results]
    for index in channels.singles:
        _store(collected, index, _mixed(op, args, attributes, index, top=index))
    for total in channels.sums:
        sums: list[Any] = _first(op, args, attributes, total)
        for index, weight in total.terms:
            terms = _mixed(op, args, attributes, index, top=None)
            sums = [
                plus(s, None if t is None else scaled(weight, t))
                for s, t in zip(sums, terms, strict=True)
            ]
        _store(collected, total, sums)
    jets = tuple(
        Jet(v, p, channels) if v.dtype.kind in "fc" else v
        for v, p in zip(results, collected, strict=True)
    )
    return jets if isinstance(value, tuple) else jets[0]


def _store(collected: list[dict], key: Any, values: Sequence) -> None:
    for parts, value in zip(collected, values, strict=True):
        if value is not None:
            parts[key] = value


def _first(op: Op, args: tuple, attributes: dict, key: Any) -> list:
    """Return J applied to the parts of one channel, for each output."""
    level = next_level()
    inputs = []
    for argument in args:
        tangent = _full_part(argument, key) if isinstance(argument, Jet) else None
        value = part(argument, ())
        inputs.append(value if tangent is None else Dual(value, tangent, level))
    return _tangents(apply(op, *inputs, **attributes), [level])


def _mixed(op: Op, args: tuple, attributes: dict, index: Index, top: Index | None) -> list:
    """Return the derivative `index` of each output; with top None the part `index` counts as 0."""
    levels = sorted((next_level() for _ in index), reverse=True)  # outermost: the latest
    inputs = [_nest(a, index, levels, (), top) for a in args]
    return _tangents(apply(op, *inputs, **attributes), levels)


def _nest(argument: Any, index: Index, levels: list[int], taken: tuple, top: Index | None) -> Any:
    """Return the argument as a nest of duals, or None where all of it is zero."""
    if not isinstance(argument, Jet):
        return argument
    if not levels:
        sub = tuple(sorted(index[p] for p in taken))
        whole = len(taken) == len(index) and len(index) > 0
        return None if whole and top is None else _full_part(argument, sub)
    position = len(index) - len(levels)
    primal = _nest(argument, index, levels[1:], taken, top)
    tangent = _nest(argument, index, levels[1:], (*taken, position), top)
    if primal is None and tangent is None:
        return None
    if tangent is None:
        return primal
    if primal is None:
        primal = Tensor(argument._data * 0)
    return Dual(primal, tangent, levels[0])


def _tangents(outputs: Any, levels: list[int]) -> list:
    """Return the coefficient of the product of all nilpotents, for each output."""
    found = []
    for output in outputs if isinstance(outputs, tuple) else (outputs,):
        for level in levels:
            output = output.tangent if isinstance(output, Dual) and output.level == level else None
            if output is None:
                break
        found.append(output)
    return found
