"""Forward mode: tangents pushed through the registered operations, one direction at a time.

A `Dual` is a tensor with a tangent.  A linear operation is applied to the tangents; for every other
one the tangent is the transpose of its vjp, which is linear in the output gradient: with
`v(g) = J^H g`, differentiating `<v(g), t>` for g gives `J t`.  So every operation with a vjp has a
forward derivative, independent of the graph, and it can itself be differentiated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from . import modes
from .engine import pull
from .levels import Interpreted, Pull, Pushed, innermost, next_level
from .ops.registry import REGISTRY, Op, apply
from .tensor import Tensor


class Dual(Pushed, Interpreted):
    """A tensor `primal` with the tangent `tangent` of one forward sweep (its level)."""

    def __init__(self, primal: Tensor, tangent: Tensor, level: int) -> None:
        super().__init__(primal._data)
        self._requires_grad = primal._requires_grad
        self.primal = primal
        self.tangent = tangent
        self.level = level

    def _read(self) -> Tensor:
        return self.primal

    def interpret(self, op: Op, args: tuple, attributes: dict) -> Any:
        level = self.level
        primals = tuple(a.primal if _is_at(a, level) else a for a in args)
        tangents = tuple(a.tangent if _is_at(a, level) else None for a in args)
        outputs = apply(op, *primals, **attributes)
        if not op.differentiable:
            return outputs
        if op.linear:
            pushed = _push_linear(op, primals, tangents, attributes)
        else:
            pushed = _push_transposed(op, primals, tangents, attributes, outputs, level)
        if isinstance(outputs, tuple):
            return tuple(_dual(o, t, level) for o, t in zip(outputs, pushed, strict=True))
        return _dual(outputs, pushed, level)

    def pull(
        self, roots: Sequence, gradients: Sequence, wanted: Sequence, pull: Pull, retain: bool
    ) -> list:
        """Return gradients with their tangents, by the product rule.

        What is wanted must be where nothing but the values depends on it, no tangent: `Places` of
        func/gradients.py makes them.
        """
        level = self.level
        plain = [_primal(tensor, level) for tensor in wanted]
        given = [_split(g, level) for g in gradients]
        primals = pull([_primal(r, level) for r in roots], [g for g, _ in given], plain, True)
        pairs = list(zip(roots, given, strict=True))
        changed = [(_primal(r, level), t) for r, (_, t) in pairs if t is not None]
        changed += [(r.tangent, g) for r, (g, _) in pairs if _is_at(r, level)]
        tangents = pull([r for r, _ in changed], [g for _, g in changed], plain, retain)
        return [
            p if t is None else _joined(REGISTRY["zeros_like"](t) if p is None else p, t, level)
            for p, t in zip(primals, tangents, strict=True)
        ]

    def through(self, function: Callable, *tensors: Tensor) -> Any:
        level = self.level
        primals = function(*(_primal(x, level) for x in tensors))
        tangents = function(*(
            x.tangent if _is_at(x, level) else REGISTRY["zeros_like"](x) for x in tensors
        ))  # fmt: skip
        if not isinstance(primals, tuple):
            return Dual(primals, tangents, level)
        return tuple(
            None if p is None and t is None else Dual(_or_zeros(p, t), _or_zeros(t, p), level)
            for p, t in zip(primals, tangents, strict=True)
        )

    @staticmethod
    def __no_rule__(function: str, position: int) -> RuntimeError:
        return RuntimeError(
            f"{function}: input {position} is a Dual, and a custom Function has no forward "
            "derivative; write it in the library's operations, or use reverse mode "
            "(functional.jvp with strategy='reverse-mode')"
        )


def _dual(primal: Tensor, tangent: Tensor | None, level: int) -> Tensor:
    """Return a Dual; what has no tangent, or was cast to integers, as it is."""
    if tangent is None or not _real_or_complex(primal):
        return primal
    return Dual(primal, tangent, level)


def _split(tensor: Tensor, level: int) -> tuple[Tensor, Tensor | None]:
    """Return the value and the tangent of a sweep, in a tensor that may have larger levels."""
    if _is_at(tensor, level):
        return tensor.primal, tensor.tangent
    if isinstance(tensor, Interpreted) and tensor.level > level:
        return tensor.through(lambda x: _split(x, level), tensor)
    return tensor, None


def _joined(primal: Tensor, tangent: Tensor, level: int) -> Tensor:
    """Return the dual of a value and a tangent that may have larger levels, which are around it."""
    inner = innermost((primal, tangent))
    if inner is None or inner.level < level:
        return Dual(primal, tangent, level)
    return inner.through(lambda p, t: _joined(p, t, level), primal, tangent)


def _or_zeros(value: Tensor | None, like: Tensor | None) -> Tensor:
    return REGISTRY["zeros_like"](like) if value is None else value


def _is_at(value: Any, level: int) -> bool:
    return isinstance(value, Dual) and value.level == level


def _push_linear(op: Op, primals: tuple, tangents: tuple, attributes: dict) -> Any:
    inputs = []
    for primal, tangent in zip(primals, tangents, strict=True):
        if tangent is not None:
            inputs.append(tangent)
        elif isinstance(primal, Tensor):
            inputs.append(REGISTRY["zeros_like"](primal))
        else:
            inputs.append(None if primal is None else 0)
    return apply(op, *inputs, **attributes)


def _push_transposed(
    op: Op, primals: tuple, tangents: tuple, attributes: dict, outputs: Any, level: int
) -> Any:
    """Return the output tangent(s) by transposing the vjp of `op`."""
    outs = outputs if isinstance(outputs, tuple) else (outputs,)
    records = modes.is_grad_enabled()
    with modes.enable_grad():
        seeds = tuple(_seed(o, level) for o in outs if _real_or_complex(o))
        filled = iter(seeds)
        grads = [next(filled) if _real_or_complex(o) else None for o in outs]
        needed = tuple(t is not None for t in tangents)
        values = {**op.attributes, **attributes}

        def argument(name: str) -> Any:
            if name == "out":
                return outputs
            if name in op.attributes:
                return values[name]
            if op.variadic:
                return primals if name in op.inputs else tuple(_shape(p) for p in primals)
            if name.endswith("_columns"):
                return False
            if name.removesuffix("_place") in op.inputs:
                position = op.positions[name.removesuffix("_place")]
                return primals[position] if position < len(primals) else None
            return _shape(primals[op.positions[name.removesuffix("_shape")]])

        pulled = []
        seed = grads[0] if op.outputs == 1 else tuple(grads)
        known = {"g": seed, "needed": needed}
        for position, gradient in enumerate(op.pull_back(known, needed, argument)):
            if gradient is None or not needed[position]:
                continue
            primal = primals[position]
            gradient = op.fit(gradient, position, primal._data.shape, primal._data.dtype)
            if gradient.requires_grad:
                pulled.append((gradient, tangents[position]))
        if not pulled:
            pushed = tuple(REGISTRY["zeros_like"](s) for s in seeds)
        else:
            pushed = _transpose(pulled, seeds, records)
    remaining = iter(pushed)
    results = tuple(next(remaining) if _real_or_complex(o) else None for o in outs)
    return results if isinstance(outputs, tuple) else results[0]


def _seed(output: Tensor, level: int) -> Tensor:
    """Return a gradient of an output, for which what is linear in it is differentiated.

    Inside of another sweep, whose tangents may have examples where the values have none, it has one
    value an example.
    """
    from .batching.batched import in_all_batches  # which knows duals

    zeros = REGISTRY["zeros_like"](output)
    nested = output.__dispatch__ is not None and output.in_sweep
    return (in_all_batches(zeros, level) if nested else zeros).requires_grad_()


def _transpose(
    pulled: Sequence[tuple[Tensor, Tensor]], seeds: tuple[Tensor, ...], create_graph: bool
) -> tuple[Tensor, ...]:
    """Return the derivative of sum <v, t> over the pairs (v, t) for the seeds that v is linear in.

    Where v or t are duals of an enclosing sweep it has a tangent.
    """
    found = pull([v for v, _ in pulled], [t for _, t in pulled], seeds, True, create_graph)
    return tuple(
        REGISTRY["zeros_like"](s) if f is None else f for s, f in zip(seeds, found, strict=True)
    )


def _primal(value: Tensor, level: int) -> Tensor:
    return value.primal if _is_at(value, level) else value


def _real_or_complex(tensor: Tensor) -> bool:
    return tensor.dtype.kind in "fc"


def _shape(value: Any) -> tuple:
    return value._data.shape if isinstance(value, Tensor) else ()


def push(
    fn: Callable[..., Any], inputs: Sequence[Tensor], tangents: Sequence[Tensor | None]
) -> tuple[Any, Any]:
    """Return `fn(*inputs)` and its derivative in the direction `tangents`, in one forward sweep.

    tangents[i] has the shape of inputs[i], or is None for a constant input.  The results mirror
    what `fn` returns: a Tensor, or a tuple of them; a tangent is zero where nothing depends on the
    inputs.  Sweeps may be nested.  Raises ValueError for shapes that do not match.
    """
    level = next_level()
    duals = []
    for position, (primal, tangent) in enumerate(zip(inputs, tangents, strict=True)):
        if tangent is not None and tangent.shape != primal.shape:
            raise ValueError(
                f"tangent {position} has shape {list(tangent.shape)}, its input has "
                f"{list(primal.shape)}; they must agree"
            )
        duals.append(primal if tangent is None else Dual(primal, tangent, level))
    result = fn(*duals)
    many = isinstance(result, (tuple, list))
    outputs = [
        (o.primal, o.tangent) if _is_at(o, level) else (o, REGISTRY["zeros_like"](o))
        for o in (result if many else (result,))
    ]
    if not many:
        return outputs[0]
    return tuple(o for o, _ in outputs), tuple(t for _, t in outputs)
