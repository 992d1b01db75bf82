"""Modules as functions of their parameters, one or several of one kind at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..nn.module import Module
from ..ops.registry import REGISTRY
from ..tensor import Tensor


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


def stack_module_state(
    models: Sequence[Module],
) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """Return the parameters and the buffers of modules of one kind, by name, each stacked.

    The first dimension counts modules: with `vmap` over it, `functional_call` of one of them is an
    ensemble.  Parameters are new leaves that require grad where those of the modules do.  Raises
    RuntimeError for no modules, for others than of one class, for parameters that some alone have,
    and for those of which some alone require grad.
    """
    models = list(models)
    if not models:
        raise RuntimeError("stack_module_state: expected at least one module, got none")
    kinds = sorted({type(model).__name__ for model in models})
    if len(kinds) > 1 or any(type(model) is not type(models[0]) for model in models):
        raise RuntimeError(
            f"stack_module_state: expected modules of one class, got {kinds}; stack those of each "
            "class by themselves"
        )
    parameters = [dict(model.named_parameters()) for model in models]
    buffers = [dict(model.named_buffers()) for model in models]
    return _stacked(parameters), _stacked(buffers)


def _stacked(tables: list[dict[str, Tensor]]) -> dict[str, Tensor]:
    found = {}
    for name in dict.fromkeys(name for table in tables for name in table):
        given = [table.get(name) for table in tables]
        shapes = [None if x is None else list(x.shape) for x in given]
        if None in shapes or shapes.count(shapes[0]) < len(shapes):
            raise RuntimeError(
                f"stack_module_state: {name!r} must be in all modules, of one shape, got {shapes}"
            )
        if len({x.requires_grad for x in given}) > 1:
            raise RuntimeError(
                f"stack_module_state: {name!r} requires grad in some modules and not in others; "
                "call requires_grad_() alike on all"
            )
        whole = REGISTRY["stack"](*[x.detach() for x in given], dim=0)
        found[name] = whole.requires_grad_(given[0].requires_grad)
    return found
