"""Functions made of functions: Jacobians as functions of their arguments, and modules as functions
of their parameters.

What they return can be differentiated where it depends on what requires grad, the arguments or
tensors from outside, and is detached where it does not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from . import functional, modes
from .graph import leaves_behind
from .nn.module import Module
from .tensor import Tensor

__all__ = ["functional_call", "hessian", "jacfwd", "jacrev"]


def jacrev(func: Callable, argnums: int | tuple[int, ...] = 0) -> Callable:
    """Return the function that gives the Jacobian of `func`, by reverse mode.

    argnums  the position of the Tensor to differentiate by: a result of shape (*output.shape,
             *argument.shape); a tuple of positions gives a tuple.
    A `func` that returns a tuple gives a tuple over its outputs.  Raises TypeError where an
    argument or an output is no Tensor, IndexError for a position that was not passed.
    """
    return _jacobian("jacrev", func, argnums, {"vectorize": False})


def jacfwd(func: Callable, argnums: int | tuple[int, ...] = 0) -> Callable:
    """Return the function that gives what `jacrev` does by forward mode: a sweep an input element.

    Reverse mode inside of `func` is not supported: take `jacrev` of `jacfwd`, or `hessian`.
    """
    return _jacobian("jacfwd", func, argnums, {"strategy": "forward-mode"})


def hessian(func: Callable, argnums: int | tuple[int, ...] = 0) -> Callable:
    """Return the function that gives the second derivatives of `func`: `jacrev` taken twice.

    The result has shape (*output.shape, *argument.shape, *argument.shape); a tuple of `argnums`
    gives a tuple of tuples.
    """
    return jacrev(jacrev(func, argnums), argnums)


def _jacobian(name: str, func: Callable, argnums: Any, options: dict[str, Any]) -> Callable:
    single = not isinstance(argnums, tuple)

    def derivative(*args: Any, **kwargs: Any) -> Any:
        numbers = [k + len(args) if k < 0 else k for k in ((argnums,) if single else argnums)]
        if not all(0 <= k < len(args) for k in numbers):
            raise IndexError(
                f"{name}: argnums={argnums} is out of range for {len(args)} positional arguments; "
                "pass what to differentiate by as a positional argument"
            )
        for k in numbers:
            if not isinstance(args[k], Tensor):
                raise TypeError(
                    f"{name}: argument {k} must be a Tensor, got {type(args[k]).__name__}; "
                    "make one with autograd.tensor(...)"
                )
        fresh = [x for x in (args[k] for k in numbers) if not x.requires_grad]
        made = {id(x): x.detach().requires_grad_() for x in fresh}
        points = tuple(made.get(id(args[k]), args[k]) for k in numbers)

        def of_points(*given: Tensor) -> Any:
            every = list(args)
            for k, x in zip(numbers, given, strict=True):
                every[k] = x
            return func(*every, **kwargs)

        found = functional.jacobian(
            of_points,
            points[0] if single else points,
            create_graph=modes.is_grad_enabled(),
            **options,
        )
        return _detached(found, list(made.values()))

    return derivative


def _detached(found: Any, made: list[Tensor]) -> Any:
    """Return results, nested in tuples, detached where they depend on the tensors `made` alone."""
    if isinstance(found, tuple):
        return tuple(_detached(one, made) for one in found)
    known = {id(x) for x in made}
    if all(id(leaf) in known for leaf in leaves_behind([found._edge()])):
        return found.detach()
    return found


def functional_call(
    module: Module,
    parameter_and_buffer_dicts: Mapping[str, Tensor] | Sequence[Mapping[str, Tensor]],
    args: Any = None,
    kwargs: Mapping[str, Any] | None = None,
) -> Any:
    """Return `module(*args, **kwargs)` with other tensors in place of parameters and buffers.

    parameter_and_buffer_dicts  tensors by dotted name, as of `named_parameters()`, or several such
                                dicts; names that are left out keep their own.
    args                        the arguments, a tuple, or the only one.
    Gradients flow to the tensors given; a parameter under several names is replaced under all.  The
    module is as it was afterwards; meanwhile other threads see the replacements.  Raises
    RuntimeError for names that the module does not have, TypeError for what is no Tensor.
    """
    dicts = parameter_and_buffer_dicts
    dicts = [dicts] if isinstance(dicts, Mapping) else dicts
    given = {name: value for one in dicts for name, value in one.items()}
    known = {
        name: tensor
        for table in ("_parameters", "_buffers")
        for name, tensor in module._named_members(table, "", True, remove_duplicate=False)
    }
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise RuntimeError(
            f"functional_call: {type(module).__name__} has no parameters or buffers {unknown}; it "
            f"has {list(known)}"
        )
    for name, value in given.items():
        if not isinstance(value, Tensor):
            raise TypeError(
                f"functional_call: {name!r} must be a Tensor, got {type(value).__name__}"
            )
    replaced = {id(known[name]): value for name, value in given.items()}
    tables = [t for m in module.modules() for t in (m._parameters, m._buffers)]
    before = [dict(table) for table in tables]
    if args is None:
        args = ()
    try:
        for table in tables:
            for name, own in table.items():
                table[name] = replaced.get(id(own), own)
        return module(*(args if isinstance(args, tuple) else (args,)), **(kwargs or {}))
    finally:
        for table, own in zip(tables, before, strict=True):
            table.update(own)
