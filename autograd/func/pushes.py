"""Derivatives in a direction, by forward mode."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..forward import Dual
from ..levels import next_level
from ..ops.registry import REGISTRY
from ..tensor import Tensor
from .gradients import answered
from .trees import leaves_as, leaves_of, mapped, rebuilt


def jvp(
    func: Callable,
    primals: tuple,
    tangents: tuple,
    *,
    strict: bool = False,
    has_aux: bool = False,
) -> tuple:
    """Return `func(*primals)` and its derivative in the direction `tangents`, in one forward sweep.

    primals, tangents  tuples of tensors, or of tuples, lists and dicts of them; both alike.
    strict             raise RuntimeError where an output does not depend on the primals, which
                       gives zeros otherwise.
    has_aux            `func` returns a pair, the second of which is not differentiated; it comes
                       third.
    Raises RuntimeError for tangents of other shapes, TypeError for arguments that are no tuples.
    """
    for what, given in (("primals", primals), ("tangents", tangents)):
        if not isinstance(given, tuple) or not given:
            raise TypeError(
                f"jvp: {what} must be a tuple of one entry an argument, got "
                f"{type(given).__name__}; write (x,) for one"
            )
    directions = leaves_as(primals, tangents)
    if directions is None:
        raise RuntimeError(
            f"jvp: tangents must be nested as the primals are, got {len(leaves_of(tangents))} "
            f"tensors for {len(leaves_of(primals))}"
        )
    outputs, slopes, aux = pushed("jvp", func, primals, directions, has_aux, strict)
    return (outputs, slopes, aux) if has_aux else (outputs, slopes)


def pushed(
    name: str,
    func: Callable,
    primals: tuple,
    tangents: Sequence,
    has_aux: bool,
    strict: bool = False,
) -> tuple[Any, Any, Any]:
    """Return the outputs of a function, their derivatives, and what else it returned.

    tangents  one for each leaf of the primals.
    """
    level = next_level()
    duals = []
    for position, (x, t) in enumerate(zip(leaves_of(primals), tangents, strict=True)):
        if not isinstance(x, Tensor) or not isinstance(t, Tensor):
            raise TypeError(
                f"{name}: primals and tangents must be Tensors, got {type(x).__name__} and "
                f"{type(t).__name__}; make them with autograd.tensor(...)"
            )
        if t.shape != x.shape:
            raise RuntimeError(
                f"{name}: tangent {position} has shape {list(t.shape)}, its primal has "
                f"{list(x.shape)}; they must agree"
            )
        duals.append(Dual(x, t, level))
    outputs, aux = answered(name, func(*rebuilt(primals, duals)), has_aux)

    def primal_of(x: Any) -> Any:
        return x.primal if isinstance(x, Dual) and x.level == level else x

    def tangent_of(x: Tensor) -> Tensor:
        if isinstance(x, Dual) and x.level == level:
            return x.tangent
        if strict:
            raise RuntimeError(
                f"{name}: an output does not depend on the primals, which strict=True does not "
                "allow; pass strict=False for zeros"
            )
        return REGISTRY["zeros_like"](x)

    return mapped(primal_of, outputs), mapped(tangent_of, outputs), mapped(primal_of, aux)
