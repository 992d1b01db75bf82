"""Products with Jacobians and Hessians, and the matrices themselves, for functions of tensors.

`func` takes as many Tensors as there are `inputs` and returns a Tensor or a tuple of Tensors.
`inputs` and `v` are a Tensor or a tuple of them, and so are the results; a list stands for a tuple.
With `create_graph=True` the results can be differentiated; with `strict=True` an output that does
not depend on an input raises RuntimeError instead of giving zeros.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, overload

import numpy as np

from . import devices, modes
from .engine import grad
from .forward import push
from .ops.registry import REGISTRY
from .tensor import Tensor

_Inputs = TypeVar("_Inputs", bound=Tensor | tuple[Tensor, ...])
_Outputs = TypeVar("_Outputs", bound=Tensor | tuple[Tensor, ...])

STRATEGIES = ("reverse-mode", "forward-mode")


def vjp(
    func: Callable[..., _Outputs],
    inputs: _Inputs,
    v: Any = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[_Outputs, _Inputs]:
    """Return `func(*inputs)` and `v^T J`.

    v  has the shapes of the outputs; None where there is one output with one element (then 1).
    """
    with modes.enable_grad():
        single, inputs = _prepare("vjp", inputs, create_graph)
        single_output, outputs = _call("vjp", func, inputs)
        v = _direction("vjp", v, outputs, "output")
        products = _pull(outputs, inputs, v, create_graph, strict)
    return (
        _finish(outputs, single_output, create_graph),
        _finish(products, single, create_graph),
    )


def jvp(
    func: Callable[..., _Outputs],
    inputs: Tensor | tuple[Tensor, ...],
    v: Any = None,
    create_graph: bool = False,
    strict: bool = False,
    strategy: str = "reverse-mode",
) -> tuple[_Outputs, _Outputs]:
    """Return `func(*inputs)` and `J v`.

    v         has the shapes of the inputs; None where there is one input with one element.
    strategy  "reverse-mode" differentiates the vjp for its output gradients (the double-vjp
              trick); "forward-mode" pushes the tangents through in one sweep.
    """
    _check_strategy("jvp", strategy)
    with modes.enable_grad():
        single, inputs = _prepare("jvp", inputs, create_graph)
        v = _direction("jvp", v, inputs, "input")
        if strategy == "forward-mode":
            single_output, outputs, products = _push("jvp", func, inputs, v)
            if strict:
                _pull(outputs, inputs, tuple(map(_ones_like, outputs)), False, True, retain=True)
        else:
            single_output, outputs = _call("jvp", func, inputs)
            products = _transposed(outputs, inputs, v, create_graph, strict)
    return (
        _finish(outputs, single_output, create_graph),
        _finish(products, single_output, create_graph),
    )


@overload
def jacobian(
    func: Callable[..., Tensor],
    inputs: Tensor,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Tensor: ...


@overload
def jacobian(
    func: Callable,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any: ...


def jacobian(
    func: Callable,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """Return the Jacobian: a Tensor of shape (*output.shape, *input.shape).

    With several inputs a tuple of them, with several outputs a tuple over the outputs of what a
    single output would give.
    vectorize  hand all output gradients to one batched call of `grad` (reverse mode).
    strategy   "reverse-mode": one sweep an output element; "forward-mode": one an input element.
    """
    _check_strategy("jacobian", strategy)
    with modes.enable_grad():
        single, inputs = _prepare("jacobian", inputs, create_graph)
        if strategy == "forward-mode":
            single_output, table = _columns(func, inputs, strict)
        else:
            single_output, outputs = _call("jacobian", func, inputs)
            table = [
                _rows(outputs, k, inputs, create_graph, strict, vectorize)
                for k in range(len(outputs))
            ]
    return _nested(table, single_output, single, create_graph)


@overload
def hessian(
    func: Callable[..., Tensor],
    inputs: Tensor,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Tensor: ...


@overload
def hessian(
    func: Callable,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any: ...


def hessian(
    func: Callable,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """Return the second derivatives of a `func` with one output element.

    A Tensor of shape (*input.shape, *input.shape); with several inputs a tuple of tuples, block
    [i][j] of shape (*inputs[i].shape, *inputs[j].shape).
    outer_jacobian_strategy  "reverse-mode" differentiates the gradient, an element at a time (all
        in one batched call with `vectorize`); "forward-mode" pushes each unit vector v through
        `func` and takes the gradient of the directional derivative g . v.
    """
    _check_strategy("hessian", outer_jacobian_strategy)
    if outer_jacobian_strategy == "forward-mode":
        return _hessian_by_directions(func, inputs, create_graph, strict)
    single = isinstance(inputs, Tensor)

    def gradient(*points: Tensor) -> Any:
        _, outputs = _call("hessian", func, points)
        _one_element("hessian", outputs)
        gradients = _pull(outputs, points, (None,), True, strict)
        return gradients[0] if single else gradients

    return jacobian(gradient, inputs, create_graph, strict, vectorize)


def vhp(
    func: Callable[..., Tensor],
    inputs: _Inputs,
    v: Any = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Tensor, _Inputs]:
    """Return `func(*inputs)`, which has one element, and `v^T H`.

    v  has the shapes of the inputs; None where there is one input with one element.
    """
    return _hessian_product("vhp", func, inputs, v, create_graph, strict)


def hvp(
    func: Callable[..., Tensor],
    inputs: _Inputs,
    v: Any = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Tensor, _Inputs]:
    """Return `func(*inputs)`, which has one element, and `H v`, the gradient of (g . v).

    v  has the shapes of the inputs; None where there is one input with one element.  Second
    derivatives are symmetric, so this is `vhp`; it costs about two gradients.
    """
    return _hessian_product("hvp", func, inputs, v, create_graph, strict)


def elementwise_derivative(y: Tensor, x: Tensor, create_graph: bool = False) -> Tensor:
    """Return dy_i/dx_i by one reverse sweep of `y.sum()`, after checking that this is what it is.

    y, x  of the same shape, where y_i may depend on x_i alone; or x of shape (n, ...) and y of
          shape (n,) or (n, 1), where row i of y may depend on row i of x alone.  Returns a Tensor
          of x's shape.
    Raises RuntimeError where an element of y depends on other elements of x as well (a softmax,
    a mean over the batch): found by two more sweeps with random weights, which a diagonal Jacobian
    only scales.  Dependence below the square root of the machine precision, relative to the
    largest derivative, is not seen.
    """
    rowwise = x.ndim > 0 and y.shape in ((x.shape[0],), (x.shape[0], 1))
    if y.shape != x.shape and not rowwise:
        raise ValueError(
            f"elementwise_derivative: y has shape {list(y.shape)}, x has {list(x.shape)}; y needs "
            f"the shape of x, or one element for each row of x"
        )
    (plain,) = grad(y, x, _ones_like(y), retain_graph=True, create_graph=create_graph)
    if y.numel() > 1:
        with devices.current(y.device):
            _check_diagonal(y, x, plain.detach(), create_graph)
    return plain


def _check_diagonal(y: Tensor, x: Tensor, plain: Tensor, retain_graph: bool) -> None:
    rng = np.random.default_rng(1)
    xp = devices.namespace_of(plain._data)
    for probe in range(2):
        signs = rng.choice([-1.0, 1.0], y.shape) * rng.uniform(0.5, 1.5, y.shape)
        weights = devices.put(signs.astype(y.dtype), y.device)
        retain = retain_graph or probe == 0
        (weighted,) = grad(y, x, Tensor(weights), retain_graph=retain)
        spread = weights
        if y.shape != x.shape:
            spread = weights.reshape((x.shape[0],) + (1,) * (x.ndim - 1))
        difference = xp.abs(weighted._data - spread * plain._data)
        scale = max(float(xp.abs(weighted._data).max()), float(xp.abs(plain._data).max()))
        tolerance = float(np.sqrt(np.finfo(x.dtype).eps)) * scale
        if not bool((difference <= tolerance).all()):
            worst = tuple(int(k) for k in np.unravel_index(int(difference.argmax()), x.shape))
            raise RuntimeError(
                "elementwise_derivative: grad of y.sum() is not the elementwise derivative, "
                f"because y_i depends on more than x_i (seen at element {list(worst)} of x, shape "
                f"{list(x.shape)}); use functional.jacobian for the full matrix, or differentiate "
                "the elements of y one by one"
            )


# ---- steps that the functions above share


def _as_tensors(name: str, values: Any, what: str) -> tuple[bool, tuple[Tensor, ...]]:
    """Return whether a bare Tensor was given, and the values as a tuple."""
    single = isinstance(values, Tensor)
    many = (values,) if single else tuple(values) if isinstance(values, (tuple, list)) else None
    if many is None:
        raise TypeError(
            f"{name}: {what} must be a Tensor or a tuple of Tensors, got {type(values).__name__}"
        )
    for position, value in enumerate(many):
        if not isinstance(value, Tensor):
            raise TypeError(
                f"{name}: {what} {position} must be a Tensor, got {type(value).__name__}"
            )
    return single, many


def _prepare(name: str, inputs: Any, create_graph: bool) -> tuple[bool, tuple[Tensor, ...]]:
    """Return tensors to differentiate for: tied to the caller's graph only with create_graph."""
    single, many = _as_tensors(name, inputs, "inputs")
    return single, tuple(
        REGISTRY["reshape"](x, shape=tuple(x.shape))
        if create_graph and x.requires_grad
        else x.detach().requires_grad_()
        for x in many
    )


def _call(name: str, func: Callable, inputs: tuple) -> tuple[bool, tuple[Tensor, ...]]:
    return _as_tensors(name, func(*inputs), "outputs of the user-provided function")


def _direction(name: str, v: Any, like: tuple, what: str) -> tuple[Tensor, ...]:
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise RuntimeError(
                f"{name}: the vector v can only be None if there is one {what} and it has one "
                f"element, got shapes {[list(t.shape) for t in like]}; pass v"
            )
        return (_ones_like(like[0]),)
    _, many = _as_tensors(name, v, "v")
    if len(many) != len(like):
        raise RuntimeError(f"{name}: got {len(many)} tensors in v for {len(like)} {what}s")
    for position, (direction, tensor) in enumerate(zip(many, like, strict=True)):
        if direction.shape != tensor.shape:
            raise RuntimeError(
                f"{name}: v[{position}] has shape {list(direction.shape)}, {what} {position} has "
                f"{list(tensor.shape)}; they must agree"
            )
    return many


def _pull(
    outputs: tuple,
    inputs: tuple,
    v: tuple,
    create_graph: bool,
    strict: bool,
    retain: bool | None = None,
) -> tuple[Tensor, ...]:
    """Return v^T J for each input; zeros, or an error when strict, where there is no dependence."""
    if any(tensor.__dispatch__ is not None and tensor.in_sweep for tensor in (*outputs, *inputs)):
        raise RuntimeError(
            "reverse mode inside a forward-mode sweep is not supported; use "
            "strategy='reverse-mode' for the outer derivative"
        )
    pairs = []
    for position, (output, direction) in enumerate(zip(outputs, v, strict=True)):
        if output.requires_grad:
            pairs.append((output, direction))
        elif strict:
            raise RuntimeError(
                f"Output {position} of the user-provided function does not require gradients: it "
                "is independent of the inputs. This is not allowed in strict mode; pass "
                "strict=False for zeros"
            )
    gradients: tuple = (None,) * len(inputs)
    if pairs:
        gradients = grad(
            [output for output, _ in pairs],
            inputs,
            [direction for _, direction in pairs],
            retain_graph=retain,
            create_graph=create_graph,
            allow_unused=True,
        )
    for position, gradient in enumerate(gradients):
        if strict and gradient is None:
            raise RuntimeError(
                f"The output of the user-provided function is independent of input {position}. "
                "This is not allowed in strict mode; pass strict=False for zeros"
            )
    return tuple(_zeros_like(x) if g is None else g for g, x in zip(gradients, inputs, strict=True))


def _transposed(
    outputs: tuple, inputs: tuple, v: tuple, create_graph: bool, strict: bool
) -> tuple[Tensor, ...]:
    """Return J v: the vjp is linear in the output gradients, and its transpose is J."""
    seeds = tuple(_zeros_like(output).requires_grad_() for output in outputs)
    pulled = _pull(outputs, inputs, seeds, True, strict)
    live = [(p, w) for p, w in zip(pulled, v, strict=True) if p.requires_grad]
    if not live:
        return tuple(_zeros_like(output) for output in outputs)
    return grad(
        [p for p, _ in live],
        seeds,
        [w for _, w in live],
        create_graph=create_graph,
        materialize_grads=True,
    )


def _push(
    name: str, func: Callable, inputs: tuple, tangents: tuple
) -> tuple[bool, tuple[Tensor, ...], tuple[Tensor, ...]]:
    outputs, pushed = push(func, inputs, tangents)
    single, outputs = _as_tensors(name, outputs, "outputs of the user-provided function")
    return single, outputs, (pushed,) if single else tuple(pushed)


def _rows(
    outputs: tuple, k: int, inputs: tuple, create_graph: bool, strict: bool, vectorize: bool
) -> tuple[Tensor, ...]:
    """Return the Jacobian of output k for each input, a reverse sweep an element."""
    output = outputs[k]
    if strict:
        _pull((output,), inputs, (_ones_like(output),), False, True, retain=True)
    count = output.numel()
    if not output.requires_grad or count == 0:
        return tuple(_zeros(x, (*output.shape, *x.shape)) for x in inputs)
    basis = _basis(output)
    options: dict = {"retain_graph": True, "create_graph": create_graph, "materialize_grads": True}
    if vectorize:
        stacked = grad(output, inputs, basis, is_grads_batched=True, **options)
    else:
        units = [Tensor(basis._data[i, ...]) for i in range(count)]
        sweeps = [grad(output, inputs, unit, **options) for unit in units]
        stacked = tuple(REGISTRY["stack"](*column, dim=0) for column in zip(*sweeps, strict=True))
    return tuple(s.reshape((*output.shape, *x.shape)) for s, x in zip(stacked, inputs, strict=True))


def _columns(func: Callable, inputs: tuple, strict: bool) -> tuple[bool, list[tuple]]:
    """Return the Jacobians [output][input], a forward sweep an input element."""
    single = True
    by_input: list[list[tuple]] = []
    outputs: tuple = ()
    for k, x in enumerate(inputs):
        sweeps = []
        for i in range(x.numel()):
            single, outputs, pushed = _push("jacobian", func, inputs, _unit(inputs, k, i))
            sweeps.append(pushed)
        by_input.append(sweeps)
    if not outputs:
        single, outputs = _call("jacobian", func, inputs)
    if strict:
        for output in outputs:
            _pull((output,), inputs, (_ones_like(output),), False, True, retain=True)
    table = []
    for position, output in enumerate(outputs):
        row = []
        for x, sweeps in zip(inputs, by_input, strict=True):
            shape = (*output.shape, *x.shape)
            if not sweeps or output.numel() == 0:
                row.append(_zeros(output, shape))
                continue
            columns = [sweep[position].reshape(-1) for sweep in sweeps]
            row.append(REGISTRY["stack"](*columns, dim=1).reshape(shape))
        table.append(tuple(row))
    return single, table


def _hessian_by_directions(func: Callable, inputs: Any, create_graph: bool, strict: bool) -> Any:
    with modes.enable_grad():
        single, inputs = _prepare("hessian", inputs, create_graph)
        table = []
        for k, x in enumerate(inputs):
            lines = []
            for i in range(x.numel()):
                _, outputs, slopes = _push("hessian", func, inputs, _unit(inputs, k, i))
                _one_element("hessian", outputs)
                lines.append(_pull(slopes, inputs, (None,), create_graph, strict))
            table.append(
                tuple(
                    REGISTRY["stack"](*line, dim=0).reshape((*x.shape, *other.shape))
                    for line, other in zip(zip(*lines, strict=True), inputs, strict=True)
                )
                if lines
                else tuple(_zeros(x, (*x.shape, *other.shape)) for other in inputs)
            )
    return _nested(table, single, single, create_graph)


def _hessian_product(
    name: str, func: Callable, inputs: Any, v: Any, create_graph: bool, strict: bool
) -> tuple[Any, Any]:
    with modes.enable_grad():
        single, inputs = _prepare(name, inputs, create_graph)
        v = _direction(name, v, inputs, "input")
        single_output, outputs = _call(name, func, inputs)
        _one_element(name, outputs)
        gradients = _pull(outputs, inputs, (None,), True, strict)
        products = _pull(gradients, inputs, v, create_graph, strict)
    return (
        _finish(outputs, single_output, create_graph),
        _finish(products, single, create_graph),
    )


def _one_element(name: str, outputs: tuple) -> None:
    if len(outputs) != 1 or outputs[0].numel() != 1:
        raise RuntimeError(
            f"The Tensor returned by the function given to {name} should contain a single element, "
            f"got shapes {[list(o.shape) for o in outputs]}; sum it, or use jacobian"
        )


def _finish(values: tuple, single: bool, create_graph: bool) -> Any:
    values = tuple(value if create_graph else value.detach() for value in values)
    return values[0] if single else values


def _nested(table: list, single_output: bool, single_input: bool, create_graph: bool) -> Any:
    rows = tuple(_finish(row, single_input, create_graph) for row in table)
    return rows[0] if single_output else rows


def _check_strategy(name: str, strategy: str) -> None:
    if strategy not in STRATEGIES:
        raise ValueError(f"{name}: strategy must be one of {STRATEGIES}, got {strategy!r}")


def _basis(tensor: Tensor) -> Tensor:
    """Return the unit vectors of the space of `tensor`, shape (numel, *shape)."""
    count = tensor.numel()
    with devices.current(tensor.device):
        rows = devices.namespace_of(tensor._data).eye(count, dtype=tensor.dtype)
    return Tensor(rows.reshape((count, *tensor.shape)))


def _unit(inputs: tuple, k: int, i: int) -> tuple[Tensor, ...]:
    """Return tangents that are zero but for element i of input k, which is 1."""
    tangents = tuple(_zeros_like(x) for x in inputs)
    devices.write(tangents[k]._data.reshape(-1)[i : i + 1], 1)
    return tangents


def _zeros(like: Tensor, shape: tuple) -> Tensor:
    return Tensor(devices.zeros(shape, like.dtype, like.device))


def _zeros_like(tensor: Tensor) -> Tensor:
    return _zeros(tensor, tuple(tensor.shape))


def _ones_like(tensor: Tensor) -> Tensor:
    return REGISTRY["ones_like"](tensor.detach())
