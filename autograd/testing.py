"""Checks for operations, the library's own and users': every shape, dtype, layout and device.

check_op(OpCase("softplus", autograd.softplus, reference=lambda x: np.log1p(np.exp(x))))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import devices
from .closeness import assert_close
from .engine import grad
from .forward import push
from .func import grad as gradient_of
from .func import vmap
from .gradcheck import gradcheck
from .ops.layout.join import stack
from .strict import strict_cuda
from .tensor import Tensor

__all__ = [
    "BINARY_SHAPES",
    "OpCase",
    "UNARY_SHAPES",
    "assert_close",
    "check_examples",
    "check_op",
]

UNARY_SHAPES: tuple = (((),), ((3,),), ((2, 3),), ((0,),), ((2, 0, 3),))
BINARY_SHAPES: tuple = (
    ((), ()),
    ((3,), ()),
    ((), (2, 3)),
    ((2, 3), (2, 3)),
    ((2, 3), (3,)),
    ((2, 1), (1, 3)),
    ((1,), (2, 3)),
    ((0, 3), (3,)),
    ((0, 3), (0, 3)),
)


@dataclass(frozen=True)
class OpCase:
    """An operation and the inputs to try it on.

    name       for the messages.
    fn         maps Tensors to a Tensor or a sequence of Tensors.
    shapes     one tuple of input shapes a trial: `UNARY_SHAPES`, `BINARY_SHAPES` or your own.
    domain     values are drawn from this interval, or one interval an input.
    make       instead of a domain: `make(rng, *shapes) -> arrays` (float64, or complex128).
    reference  the same function on numpy arrays, from an independent source; None to skip.
    order      derivatives are checked against differences up to this order (0: none).
    complex    also try complex inputs (from the unit disk, scaled into the domain's half width).
    dtypes     the low-precision dtypes whose results are compared with float64.
    tolerance  relative tolerance of `reference` in float64.
    examples   also check that `vmap` gives what a loop over examples does.
    """

    name: str
    fn: Callable[..., Any]
    shapes: Sequence[Sequence[tuple]] = UNARY_SHAPES
    domain: Any = (-2.0, 2.0)
    make: Callable[..., Sequence[np.ndarray]] | None = None
    reference: Callable[..., Any] | None = None
    order: int = 2
    complex: bool = False
    dtypes: Sequence[Any] = (np.float32,)
    tolerance: float = 1e-12
    examples: bool = True
    gradcheck_options: dict = field(default_factory=dict)

    def __str__(self) -> str:
        return self.name


def check_op(case: OpCase, seed: int = 0) -> None:
    """Run every check of `case`; raises AssertionError or GradcheckError naming what failed."""
    rng = np.random.default_rng(seed)
    for shapes in case.shapes:
        _check_arrays(case, _draw(case, rng, shapes, np.float64))
        if case.complex:
            _check_arrays(case, _draw(case, rng, shapes, np.complex128))
        if case.examples:
            others = np.random.default_rng(seed + 1)
            for dtype in (np.float64, np.complex128) if case.complex else (np.float64,):
                check_examples(case, [_draw(case, others, shapes, dtype) for _ in range(3)])


def _draw(case: OpCase, rng: np.random.Generator, shapes: Sequence[tuple], dtype: Any) -> list:
    if case.make is not None:
        arrays = [np.asarray(a) for a in case.make(rng, *shapes)]
        if dtype == np.complex128:
            arrays = [np.asarray(a + 0.3j * rng.uniform(-1, 1, a.shape)) for a in arrays]
        return arrays
    pairs = isinstance(case.domain[0], (tuple, list))
    domains = case.domain if pairs else [case.domain] * len(shapes)
    arrays = []
    for shape, (low, high) in zip(shapes, domains, strict=True):
        values = np.asarray(rng.uniform(low, high, shape))
        if dtype == np.complex128:
            values = values + 0.5j * (high - low) * rng.uniform(-0.5, 0.5, shape)
        arrays.append(np.asarray(values))
    return arrays


def _tensors(arrays: Sequence[np.ndarray], **how: Any) -> list[Tensor]:
    made = []
    for array in arrays:
        tensor = Tensor(np.array(array, dtype=how.get("dtype", array.dtype)))
        if how.get("device"):
            tensor = tensor.to(device=how["device"])
        made.append(tensor.requires_grad_(tensor.dtype.kind in "fc"))
    return made


def _as_list(result: Any) -> list[Tensor]:
    return [result] if isinstance(result, Tensor) else list(result)


def _hosts(results: Sequence[Tensor]) -> list[np.ndarray]:
    return [np.array(r.detach().cpu().numpy()) for r in results]


def _weights(outputs: Sequence[Tensor]) -> list[np.ndarray]:
    rng = np.random.default_rng(7)
    weights = []
    for output in outputs:
        weight = np.asarray(rng.uniform(-1, 1, output.shape))
        if output.is_complex():
            weight = weight + 1j * rng.uniform(-1, 1, output.shape)
        weights.append(np.asarray(weight, output.dtype))
    return weights


def _weight_tensors(outputs: Sequence[Tensor]) -> list[Tensor]:
    """Return a weight for each output, on its device."""
    return [Tensor(w).to(device=o.device) for w, o in zip(_weights(outputs), outputs, strict=True)]


def _value_and_gradients(case: OpCase, inputs: list[Tensor]) -> tuple[list, list, list[Tensor]]:
    """Return host values, host gradients of a fixed weighting, and the gradients as Tensors."""
    outputs = _as_list(case.fn(*inputs))
    values = _hosts(outputs)
    live = [o for o in outputs if o.requires_grad]
    wanted = [t for t in inputs if t.requires_grad]
    if not live or case.order == 0:
        return values, [], []
    gradients = grad(live, wanted, _weight_tensors(live), materialize_grads=True)
    return values, _hosts(gradients), list(gradients)


def _check_arrays(case: OpCase, arrays: list[np.ndarray]) -> None:
    where = f"{case.name} on shapes {[a.shape for a in arrays]} {arrays[0].dtype}"
    inputs = _tensors(arrays)
    before = [a.copy() for a in arrays]
    values, gradients, _ = _value_and_gradients(case, inputs)
    for tensor, original in zip(inputs, before, strict=True):
        assert np.array_equal(tensor.detach().numpy(), original), f"{where}: changed its input"
    for value in values:
        assert isinstance(value, np.ndarray), f"{where}: returned a numpy scalar"
    if case.reference is not None:
        expected = case.reference(*arrays)
        expected = expected if isinstance(expected, (tuple, list)) else [expected]
        for value, reference in zip(values, expected, strict=True):
            np.testing.assert_allclose(
                value, reference, rtol=case.tolerance, atol=case.tolerance, err_msg=where
            )
    again = _value_and_gradients(case, _tensors(arrays))
    _assert_same(again[0] + again[1], values + gradients, f"{where}: a second run differs")
    if case.order:
        gradcheck(case.fn, inputs, case.order, **case.gradcheck_options)
        _check_forward(case, arrays, where)
    _check_layouts(case, arrays, values, gradients, where)
    _check_device(case, arrays, values, gradients, where)
    for dtype in case.dtypes:
        _check_low_precision(case, arrays, values, gradients, dtype, where)


def _assert_same(found: list, expected: list, message: str) -> None:
    for a, b in zip(found, expected, strict=True):
        assert a.shape == b.shape and a.dtype == b.dtype, message
        assert np.array_equal(a, b, equal_nan=a.dtype.kind in "fc"), message


def _check_forward(case: OpCase, arrays: list[np.ndarray], where: str) -> None:
    """Compare forward mode with reverse mode: <w, J v> = <J^H w, v>."""
    rng = np.random.default_rng(11)
    inputs = _tensors(arrays)
    tangents = []
    for array in arrays:
        tangent = np.asarray(rng.uniform(-1, 1, array.shape))
        if array.dtype.kind == "c":
            tangent = tangent + 1j * rng.uniform(-1, 1, array.shape)
        tangents.append(np.asarray(tangent))
    with_forward = push(case.fn, inputs, [Tensor(t) for t in tangents])
    pushed = _as_list(with_forward[1])
    outputs = _as_list(case.fn(*inputs))
    pairs = [(o, p) for o, p in zip(outputs, pushed, strict=True) if o.requires_grad]
    if not pairs:
        return
    weights = _weights([o for o, _ in pairs])
    gradients = grad(
        [o for o, _ in pairs], inputs, [Tensor(w) for w in weights], materialize_grads=True
    )
    left = sum(
        np.sum(np.conj(w) * p.detach().numpy()).real
        for w, (_, p) in zip(weights, pairs, strict=True)
    )
    right = sum(
        np.sum(np.conj(g.numpy()) * t).real for g, t in zip(gradients, tangents, strict=True)
    )
    np.testing.assert_allclose(left, right, rtol=1e-9, atol=1e-9, err_msg=f"{where}: forward mode")


def check_examples(case: OpCase, examples: Sequence[Sequence[np.ndarray]]) -> None:
    """Check that `vmap` over examples gives the values and gradients of each, one after the other.

    examples  the inputs of each.  They are taken along the first and the last dimension; and each
              input is once the only one of which there are several, and once the only one of which
              there are not.
    """
    count = len(examples[0])
    for dim in (0, -1):
        _check_mixture(case, examples, (True,) * count, dim)
    if count > 1 and examples[0][0].dtype.kind != "c":
        apart = [tuple((k == one) is only for k in range(count))
                 for one in range(count) for only in (True, False)]  # fmt: skip
        for number, mixture in enumerate(dict.fromkeys(apart)):
            _check_mixture(case, examples, mixture, -(number % 2))


def _check_mixture(
    case: OpCase, examples: Sequence[Sequence[np.ndarray]], mixture: tuple, dim: int
) -> None:
    where = (
        f"{case.name} on shapes {[a.shape for a in examples[0]]} {examples[0][0].dtype}, vmap over "
        f"dimension {dim} of {[k for k, mapped in enumerate(mixture) if mapped]}"
    )
    whole = [
        np.stack([e[k] for e in examples], dim) if mapped else examples[0][k]
        for k, mapped in enumerate(mixture)
    ]
    leaves = _tensors(whole)
    loop = [
        [x.select(dim, e) if mapped else x for x, mapped in zip(leaves, mixture, strict=True)]
        for e in range(len(examples))
    ]
    each = [_as_list(case.fn(*inputs)) for inputs in loop]
    in_dims = tuple(dim if mapped else None for mapped in mixture)

    def listed(*inputs: Tensor) -> list[Tensor]:
        return _as_list(case.fn(*inputs))

    together = vmap(listed, in_dims)(*leaves)
    for k, found in enumerate(together):
        expected = stack([outputs[k] for outputs in each])
        _assert_near(found, expected, where)
    if case.order == 0 or not any(o.requires_grad for o in together):
        return
    weights = _weight_tensors(together)
    live = [k for k, o in enumerate(together) if o.requires_grad]
    seeds = [weights[k] for k in live]
    wanted = [x for x in leaves if x.requires_grad]
    expected = [stack([outputs[k] for outputs in each]) for k in live]
    for a, b in zip(
        grad([together[k] for k in live], wanted, seeds, create_graph=True, materialize_grads=True),
        grad(expected, wanted, seeds, retain_graph=True, materialize_grads=True),
        strict=True,
    ):
        _assert_near(a, b, f"{where}: gradient")
    _check_pulled(each[0], loop[0], where)
    if all(o.dtype.kind == "f" for o in together):
        _check_each_gradient(case, leaves, in_dims, loop, where)


def _check_pulled(outputs: list[Tensor], inputs: list[Tensor], where: str) -> None:
    """Check gradients of several weightings at once, of one example."""
    live = [o for o in outputs if o.requires_grad]
    wanted = [x for x in inputs if x.requires_grad]
    rng = np.random.default_rng(5)
    seeds = [
        [Tensor(np.asarray(rng.uniform(-1, 1, o.shape), o.dtype)) for o in live] for _ in range(2)
    ]
    options: dict = {"retain_graph": True, "materialize_grads": True}
    together = [stack(column) for column in zip(*seeds, strict=True)]
    found = grad(live, wanted, together, is_grads_batched=True, **options)
    each = [grad(live, wanted, seed, **options) for seed in seeds]
    for a, b in zip(found, zip(*each, strict=True), strict=True):
        _assert_near(a, stack(b), f"{where}: gradients of several weightings")


def _check_each_gradient(
    case: OpCase, leaves: list[Tensor], in_dims: tuple, loop: list[list[Tensor]], where: str
) -> None:
    """Check the gradients of each example by all inputs, those that are the same for all too."""
    argnums = tuple(k for k, x in enumerate(leaves) if x.dtype.kind in "fc")

    def total(*inputs: Tensor) -> Tensor:
        outputs = [o for o in _as_list(case.fn(*inputs)) if o.requires_grad]
        return sum((o.sin().sum() for o in outputs), start=Tensor(np.zeros(())))

    slopes = gradient_of(total, argnums)
    found = vmap(slopes, in_dims)(*[x.detach() for x in leaves])
    each = [slopes(*[x.detach() for x in inputs]) for inputs in loop]
    for a, b in zip(found, zip(*each, strict=True), strict=True):
        _assert_near(a, stack(b), f"{where}: a gradient an example")


def _assert_near(found: Tensor, expected: Tensor, where: str) -> None:
    a, b = found.detach().numpy(), expected.detach().numpy()
    assert a.shape == b.shape and a.dtype == b.dtype, (
        f"{where}: got {a.dtype} of shape {a.shape}, expected {b.dtype} of shape {b.shape}"
    )
    scale = np.max(np.abs(b), initial=1.0, where=np.isfinite(b)) if b.dtype.kind in "fc" else 0
    np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-10 * scale, err_msg=where)


def _check_layouts(case: OpCase, arrays: list, values: list, gradients: list, where: str) -> None:
    """Strided and transposed inputs give the values and gradients of contiguous ones."""
    for layout in (_strided, _fortran):
        found = _value_and_gradients(
            case, [Tensor(layout(a)).requires_grad_(a.dtype.kind in "fc") for a in arrays]
        )
        for a, b in zip(found[0] + found[1], values + gradients, strict=True):
            np.testing.assert_allclose(
                a, b, rtol=1e-10, atol=1e-10, err_msg=f"{where}: layout {layout.__name__}"
            )


def _strided(array: np.ndarray) -> np.ndarray:
    if array.ndim == 0:
        return array.copy()
    wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1]), array.dtype)
    wide[..., ::2] = array
    return wide[..., ::2]


def _fortran(array: np.ndarray) -> np.ndarray:
    return np.array(array, order="F")  # asfortranarray would make a 0-d array 1-d


def _check_device(case: OpCase, arrays: list, values: list, gradients: list, where: str) -> None:
    """The strict test device gives the same bits and never mixes with host arrays.

    A real GPU, where there is one, gives the same numbers to rounding.
    """
    expected = [*values, *gradients, *_second_gradients(case, _tensors(arrays))]
    with strict_cuda():  # the second one, which is not current of itself
        found = _results_on_cuda(case, arrays, where, "cuda:1")
        _assert_same(found, expected, f"{where}: the device differs")
    if devices.cuda_is_available():
        for a, b in zip(_results_on_cuda(case, arrays, where), expected, strict=True):
            assert a.shape == b.shape and a.dtype == b.dtype, f"{where}: the GPU differs"
            scale = np.max(np.abs(b), initial=1.0) if b.dtype.kind in "fc" else 0
            np.testing.assert_allclose(
                a, b, rtol=1e-9, atol=1e-9 * scale, err_msg=f"{where}: on the GPU"
            )


def _results_on_cuda(
    case: OpCase, arrays: list, where: str, device: str = "cuda"
) -> list[np.ndarray]:
    """Return values, gradients and second gradients that never left the device, on the host."""
    values, gradients, tensors = _value_and_gradients(case, _tensors(arrays, device=device))
    for tensor in tensors:
        assert tensor.is_cuda, f"{where}: a gradient left the device"
    return [*values, *gradients, *_second_gradients(case, _tensors(arrays, device=device))]


def _second_gradients(case: OpCase, inputs: list[Tensor]) -> list[np.ndarray]:
    """Return host gradients of a fixed weighting of the gradients; none for a case of order 1."""
    outputs = [o for o in _as_list(case.fn(*inputs)) if o.requires_grad]
    wanted = [t for t in inputs if t.requires_grad]
    if not outputs or case.order < 2:
        return []
    first = grad(
        outputs, wanted, _weight_tensors(outputs), create_graph=True, materialize_grads=True
    )
    live = [g for g in first if g.requires_grad]
    if not live:
        return [np.zeros(t.shape, t.dtype) for t in wanted]
    return _hosts(grad(live, wanted, _weight_tensors(live), materialize_grads=True))


def _check_low_precision(
    case: OpCase, arrays: list, values: list, gradients: list, dtype: Any, where: str
) -> None:
    """Results keep the low precision and agree with double precision to it."""
    dtype = np.dtype(dtype)
    lower = {"c": np.dtype(np.complex64)}.get(arrays[0].dtype.kind if arrays else "f", dtype)
    found = _value_and_gradients(case, _tensors(arrays, dtype=lower))
    scale = 2e3 if dtype.itemsize > 2 else 2e1
    tolerance = scale * float(np.finfo(dtype).eps)
    for a, b in zip(found[0] + found[1], values + gradients, strict=True):
        if b.dtype.kind in "fc":
            finest = np.empty(0, lower).real.itemsize  # of the parts of complex numbers, too
            assert a.real.itemsize <= finest, f"{where}: {lower} gave {a.dtype}"
            peak = np.max(np.abs(b), initial=1.0)
            np.testing.assert_allclose(
                a, b, rtol=tolerance, atol=tolerance * peak, err_msg=f"{where}: in {lower}"
            )
