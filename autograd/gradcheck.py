"""Check derivatives of any order against central differences, in full."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .devices import overlaps_itself, write
from .engine import grad
from .tensor import Tensor


class GradcheckError(RuntimeError):
    """An analytic derivative disagrees with the numerical one."""


def gradcheck(
    fn: Callable[..., Any],
    inputs: Tensor | Sequence[Tensor],
    order: int = 1,
    *,
    eps: float = 1e-6,
    atol: float = 1e-6,
    rtol: float = 1e-5,
    raise_exception: bool = True,
) -> bool:
    """Check the derivatives of `fn` up to `order` against central differences.

    fn      maps the inputs to a Tensor or a sequence of Tensors; it has to be deterministic.
    inputs  float64 or complex128 Tensors (UserWarning for less precision: choose eps, atol and rtol
            for it); those that require grad are checked element by element.  Their values are
            changed in place meanwhile, so `fn` may also read them from its closure.
    order   1 checks the gradient; order n checks that each derivative up to n is the derivative of
            the one before (weighted by fixed random vectors), and at order 2 also the dependence
            on those vectors.
    eps     step, relative to max(1, |x|); a difference passes if below atol + rtol |numerical|.
    Returns True, or False where `raise_exception` is False and a check fails.
    Raises GradcheckError with the order, input, output and both values; ValueError for inputs
    without requires_grad, or whose elements share memory.
    """
    tensors = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    _check_inputs(tensors)
    try:
        _check_orders(fn, tensors, order, eps, atol, rtol)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(fn: Callable[..., Any], inputs: Any, **options: Any) -> bool:
    """Check the first and second derivatives of `fn`: `gradcheck` of order 2."""
    return gradcheck(fn, inputs, 2, **options)


def _check_inputs(tensors: tuple) -> None:
    checked = [t for t in tensors if isinstance(t, Tensor) and t.requires_grad]
    if not checked:
        raise ValueError("gradcheck expects at least one input that requires grad; none does")
    for position, tensor in enumerate(tensors):
        if not isinstance(tensor, Tensor) or not tensor.requires_grad:
            continue
        if overlaps_itself(tensor._data):
            raise ValueError(
                f"gradcheck input {position}: several elements share one memory location; pass a "
                "clone()"
            )
        if tensor.itemsize < (16 if tensor.is_complex() else 8):
            warnings.warn(
                f"gradcheck input {position} has dtype {tensor.dtype}; differences need double "
                "precision: use float64 or complex128",
                UserWarning,
                stacklevel=3,
            )


def _check_orders(
    fn: Callable, tensors: tuple, order: int, eps: float, atol: float, rtol: float
) -> None:
    _compare(fn, tensors, 1, eps, atol, rtol)
    rng = np.random.default_rng(20240607)
    for level in range(2, order + 1):
        weights = _weights(fn, tensors, rng)
        derivative = _gradient_function(fn, len(tensors))
        if level == 2:
            live = tuple(w.requires_grad_() for w in weights)
            _compare(derivative, (*tensors, *live), level, eps, atol, rtol)
        fixed = tuple(w.detach() for w in weights)

        def next_fn(*args: Any, derivative: Callable = derivative, fixed: tuple = fixed) -> Any:
            return derivative(*args, *fixed)

        fn = next_fn
        if level > 2:
            _compare(fn, tensors, level, eps, atol, rtol)


def _outputs(fn: Callable, args: Sequence) -> tuple[Tensor, ...]:
    result = fn(*args)
    results = (result,) if isinstance(result, Tensor) else tuple(result)
    return tuple(r for r in results if isinstance(r, Tensor) and r.dtype.kind in "fc")


def _weights(fn: Callable, tensors: tuple, rng: np.random.Generator) -> tuple[Tensor, ...]:
    weights = []
    for output in _outputs(fn, tensors):
        values = rng.uniform(0.5, 1.5, output.shape) * rng.choice([-1.0, 1.0], output.shape)
        if output.is_complex():
            values = values + 1j * rng.uniform(-1, 1, output.shape)
        weights.append(Tensor(_like(np.asarray(values, output.dtype), output)))
    return tuple(weights)


def _like(host: np.ndarray, tensor: Tensor) -> Any:
    from .devices import put

    return put(host, tensor.device)


def _gradient_function(fn: Callable, count: int) -> Callable:
    """Return the function (inputs, weights) -> gradients of sum(weights * fn(inputs))."""

    def derivative(*args: Any) -> list[Tensor]:
        inputs, weights = args[:count], args[count:]
        outputs = _outputs(fn, inputs)
        wanted = [t for t in inputs if isinstance(t, Tensor) and t.requires_grad]
        pairs = [(o, w) for o, w in zip(outputs, weights, strict=True) if o.requires_grad]
        if not pairs:
            return [Tensor(_like(np.zeros(t.shape, t.dtype), t)) for t in wanted]
        return list(
            grad(
                [o for o, _ in pairs],
                wanted,
                [w for _, w in pairs],
                create_graph=True,
                materialize_grads=True,
            )
        )

    return derivative


def _compare(
    fn: Callable, tensors: tuple, level: int, eps: float, atol: float, rtol: float
) -> None:
    """Compare every partial derivative of `fn` with a central difference."""
    outputs = _outputs(fn, tensors)
    wanted = [k for k, t in enumerate(tensors) if isinstance(t, Tensor) and t.requires_grad]
    numerical = {k: _numerical(fn, tensors, k, eps) for k in wanted}
    for number, output in enumerate(outputs):
        units = (1.0, 1j) if output.is_complex() else (1.0,)
        for flat in range(output.numel()):
            for unit in units:
                analytic = _analytic(output, flat, unit, [tensors[k] for k in wanted])
                for k, gradient in zip(wanted, analytic, strict=True):
                    expected = np.real(np.conj(unit) * numerical[k][number][..., flat])
                    _assert_close(gradient, expected, level, k, number, flat, atol, rtol)


def _analytic(output: Tensor, flat: int, unit: complex, inputs: list[Tensor]) -> list[np.ndarray]:
    """Return the gradients of Re(conj(unit) output[flat]), real and imaginary parts stacked."""
    if not output.requires_grad:
        gradients = [Tensor(_like(np.zeros(t.shape, t.dtype), t)) for t in inputs]
    else:
        seed = np.zeros(output.shape, output.dtype)
        seed.reshape(-1)[flat] = unit
        gradients = grad(
            output, inputs, Tensor(_like(seed, output)), retain_graph=True, materialize_grads=True
        )
    parts = []
    for tensor, gradient in zip(inputs, gradients, strict=True):
        if gradient.shape != tensor.shape or gradient.dtype != tensor.dtype:
            raise GradcheckError(
                f"a gradient has shape {list(gradient.shape)} and dtype {gradient.dtype}, its "
                f"input has {list(tensor.shape)} and {tensor.dtype}; they must agree"
            )
        host = np.asarray(gradient.detach().cpu().numpy()).reshape(-1)
        parts.append(np.stack([host.real, host.imag]) if host.dtype.kind == "c" else host[None])
    return parts


def _numerical(fn: Callable, tensors: tuple, k: int, eps: float) -> list[np.ndarray]:
    """Return d outputs / d input k: for each output an array (parts, inputs, output elements)."""
    tensor = tensors[k]
    base = np.array(tensor.detach().cpu().numpy())
    directions = (1.0, 1j) if tensor.is_complex() else (1.0,)

    def evaluate(values: np.ndarray) -> list[np.ndarray]:
        write(tensor._data, _like(values, tensor))
        try:
            outputs = _outputs(fn, tensors)
            return [np.array(o.detach().cpu().numpy()).reshape(-1) for o in outputs]
        finally:
            write(tensor._data, _like(base, tensor))

    sizes = [o.size for o in evaluate(base)]
    columns = [np.zeros((len(directions), base.size, size), complex) for size in sizes]
    for part, direction in enumerate(directions):
        for i in range(base.size):
            step = eps * max(1.0, abs(base.reshape(-1)[i]))
            moved = []
            for sign in (1, -1):
                values = base.copy()
                values.reshape(-1)[i] += sign * step * direction
                moved.append((values.reshape(-1)[i], evaluate(values)))
            width = abs(moved[0][0] - moved[1][0])
            for number, (up, down) in enumerate(zip(moved[0][1], moved[1][1], strict=True)):
                columns[number][part, i] = (up - down) / width
    return columns


def _assert_close(
    analytic: np.ndarray,
    expected: np.ndarray,
    level: int,
    k: int,
    number: int,
    flat: int,
    atol: float,
    rtol: float,
) -> None:
    wrong = ~(np.abs(analytic - expected) <= atol + rtol * np.abs(expected))
    if wrong.any():
        part, i = (int(v) for v in np.argwhere(wrong)[0])
        raise GradcheckError(
            f"derivative of order {level}: output {number}, element {flat}, with respect to input "
            f"{k}, element {i}{' (imaginary part)' if part else ''}: analytic "
            f"{analytic[part, i]:.12g}, numerical {expected[part, i]:.12g}; "
            "check the vjp rule of the operations used"
        )
