"""Tensors made from nothing but values, shapes and seeds: all of them leaves."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ... import devices, dtypes, modes
from ...levels import levels_of
from ...random import Generator, default_generator
from ...tensor import Tensor, method
from ..elementwise.arithmetic import zeros_rule
from ..layout.shape import broadcast_shapes, shape_arguments
from ..registry import Op, into, move

__all__ = [
    "arange",
    "as_tensor",
    "asarray",
    "bernoulli",
    "empty",
    "empty_like",
    "eye",
    "from_numpy",
    "full",
    "full_like",
    "linspace",
    "logspace",
    "multinomial",
    "normal",
    "ones",
    "ones_like",
    "poisson",
    "rand",
    "rand_like",
    "randint",
    "randint_like",
    "randn",
    "randn_like",
    "randperm",
    "scalar_tensor",
    "tensor",
    "tril_indices",
    "triu_indices",
    "uniform",
    "zeros",
    "zeros_like",
]


def _constant(name: str, value: int) -> Callable:
    """Return the forward that fills memory laid out as `x` is."""

    def forward(xp: Any, x: Any, out: Any = None) -> Any:
        if out is not None:
            return into(out, value)
        if x.flags.c_contiguous:
            return getattr(xp, name)(x.shape, x.dtype)
        return getattr(xp, f"{name}_like")(x)

    return forward


ones_like_op = Op("ones_like", _constant("ones", 1), reads_values=False)
zeros_like_op = Op("zeros_like", _constant("zeros", 0), reads_values=False)


# ---- from values


def tensor(
    data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """Return a leaf with a copy of `data`: a number, nested sequences, an array or a tensor.

    Python floats take the default dtype, arrays keep theirs.
    """
    if isinstance(data, Tensor):
        if modes.state.tracer is not None or data.__dispatch__ is not None:
            copied = data.detach().clone().to(dtype=dtype, device=device)
            return copied.requires_grad_(requires_grad)
        device = data.device if device is None else device
        array = devices.backend_of(data._data).to_host(data._data)
    elif type(data) in devices._by_array_type and not isinstance(data, np.ndarray):
        device = devices.device_of(data) if device is None else device
        array = devices.backend_of(data).to_host(data)
    else:
        array = _host_array(data, dtype)
    array = devices.put(_cast(array, dtype, copy=True), devices.as_device(device))
    return _noted(Tensor(array, requires_grad))


def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """Return `data` as a tensor without a copy where that is possible.

    A tensor of the right dtype and device is returned itself (else converted, and gradients flow);
    a numpy array shares its memory with the result.
    """
    if isinstance(data, Tensor):
        return data.to(dtype=dtype, device=device)
    if type(data) in devices._by_array_type and not isinstance(data, np.ndarray):
        return Tensor(data).to(dtype=dtype, device=device)
    array = _cast(_host_array(data, dtype), dtype, copy=False)
    return Tensor(devices.put(array, devices.as_device(device)))


def asarray(
    obj: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    copy: bool | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return `obj` as a tensor; copy=True always copies, otherwise memory is shared if possible."""
    result = as_tensor(obj, dtype, device)
    if copy and result.numel():
        result = result.clone()
    return result.requires_grad_() if requires_grad else result


def from_numpy(ndarray: np.ndarray) -> Tensor:
    """Return a tensor that shares memory with a numpy array.

    Raises TypeError for anything else, and for dtypes the library has no arithmetic for; ValueError
    for an array whose bytes are not in this machine's order.
    """
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(
            f"expected np.ndarray (got {type(ndarray).__name__}); use as_tensor for other values"
        )
    dtypes.as_dtype(ndarray.dtype)
    if not ndarray.dtype.isnative:
        raise ValueError(
            f"from_numpy: expected bytes in this machine's order, got dtype {ndarray.dtype.str!r}, "
            "whose memory cannot be shared; use as_tensor, which makes a copy in that order"
        )
    return Tensor(ndarray.view(np.ndarray))


def _cast(array: np.ndarray, dtype: Any, copy: bool) -> np.ndarray:
    target = dtypes.as_dtype(array.dtype if dtype is None else dtype)
    if array.dtype.kind == "c" and target.kind in "biuf" and dtype is not None:
        raise TypeError(f"complex values cannot become {target}; take .real or .abs() first")
    with np.errstate(over="ignore", invalid="ignore"):
        return np.array(array, dtype=target) if copy else np.asarray(array, dtype=target)


def _host_array(data: Any, dtype: Any = None) -> np.ndarray:
    """Return `data` as a numpy array; Python floats and complex numbers take the default dtype.

    Where another `dtype` is asked for, they are left in double precision: rounded once, later.
    """
    if isinstance(data, np.ndarray):
        return data.view(np.ndarray)
    if isinstance(data, np.generic):
        return np.asarray(data)
    if isinstance(data, (list, tuple)):
        data = _plain(data)
    try:
        array = np.asarray(data)
    except ValueError as error:
        raise ValueError(
            f"cannot make a tensor of a ragged sequence: {error}; every row needs the same length"
        ) from error
    if dtype is not None or _holds_arrays(data):
        return array
    with np.errstate(over="ignore"):
        if array.dtype.kind == "f" and (isinstance(data, (list, tuple, float, int))):
            return array.astype(dtypes.get_default_dtype())
        if array.dtype.kind == "c" and (isinstance(data, (list, tuple, complex))):
            return array.astype(dtypes.default_complex())
    return array


def _plain(values: Any) -> Any:
    if isinstance(values, (list, tuple)):
        return [_plain(value) for value in values]
    if isinstance(values, Tensor):
        if values.numel() != 1:
            raise ValueError(
                "only one element tensors can be converted to Python scalars, got shape "
                f"{list(values.shape)} in a sequence; join tensors with stack or cat"
            )
        return values.item()
    return values


def _holds_arrays(data: Any) -> bool:
    while isinstance(data, (list, tuple)) and data:
        data = data[0]
    return isinstance(data, (np.ndarray, np.generic))


# ---- from a shape


def made(
    make: Callable[[Any, np.dtype], Any], dtype: Any, device: Any, requires_grad: bool
) -> Tensor:
    """Return the leaf of `make(xp, dtype)`, made by the namespace of the device itself."""
    place = devices.as_device(device)
    kind = dtypes.get_default_dtype() if dtype is None else dtypes.as_dtype(dtype)
    with devices.current(place):
        array = make(devices.backend(place.type).xp, kind)
    return _noted(Tensor(devices.put(array, place), requires_grad))


def _noted(tensor: Tensor) -> Tensor:
    """Return a tensor that was made; a recording that goes on hears of it."""
    if modes.state.tracer is not None:
        modes.state.tracer.create(tensor)
    return tensor


def _checked_sizes(shape: tuple, keyword: Any = None) -> tuple:
    sizes = shape_arguments(shape, keyword)
    if any(size < 0 for size in sizes):
        raise RuntimeError(f"Trying to create tensor with negative dimension: {list(sizes)}")
    return sizes


def _filled(name: str, words: str) -> Callable[..., Tensor]:
    def create(
        *shape: Any,
        size: Any = None,
        dtype: Any = None,
        device: Any = None,
        requires_grad: bool = False,
    ) -> Tensor:
        sizes = _checked_sizes(shape, size)
        return made(lambda xp, kind: getattr(xp, name)(sizes, kind), dtype, device, requires_grad)

    create.__name__ = name
    create.__doc__ = f"Return a leaf of the given shape {words} (by default of the default dtype)."
    return create


zeros = _filled("zeros", "filled with 0")
ones = _filled("ones", "filled with 1")
empty = _filled("empty", "whose values are whatever the memory held")


def full(
    size: Any,
    fill_value: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return a leaf of the given shape filled with a number, of the number's kind of dtype."""
    value = fill_value.item() if isinstance(fill_value, (Tensor, np.generic)) else fill_value
    kind = dtypes.of_number(value) if dtype is None else dtype
    sizes = _checked_sizes((size,) if not isinstance(size, (tuple, list)) else tuple(size))
    return made(lambda xp, k: xp.full(sizes, fits(value, k), dtype=k), kind, device, requires_grad)


def scalar_tensor(
    s: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """Return a 0-d leaf with the number `s`, of the default dtype also where `s` is an integer."""
    kind = dtypes.get_default_dtype() if dtype is None else dtype
    return full((), s, dtype=kind, device=device, requires_grad=requires_grad)


def fits(value: Any, dtype: np.dtype) -> Any:
    """Return a Python number as one that `dtype` holds (floats overflow to inf silently)."""
    if isinstance(value, complex) and dtype.kind != "c":
        raise RuntimeError(
            f"value cannot be converted to type {dtype} without overflow: got {value!r}"
        )
    if dtype.kind in "iu":
        return int(value)
    return value


def eye(
    n: int,
    m: int | None = None,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return the leaf of shape (n, m) with ones on the diagonal; m is n by default."""
    rows, columns = _checked_sizes((n, n if m is None else m))
    return made(lambda xp, kind: xp.eye(rows, columns, dtype=kind), dtype, device, requires_grad)


def _number(value: Any) -> Any:
    return value.item() if isinstance(value, (Tensor, np.generic)) else value


def arange(
    start: Any,
    end: Any = None,
    step: Any = 1,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return the 1-d leaf start, start + step, ... below `end`; `arange(end)` starts at 0.

    int64 when all three are integers, else the default dtype; with an integer `dtype` all three are
    rounded towards 0 first.  Raises RuntimeError for a step of 0 or of the wrong sign.
    """
    start, end, step = _number(start), _number(end), _number(step)
    if end is None:
        start, end = 0, start
    if dtype is not None and dtypes.as_dtype(dtype).kind in "iu":
        start, end, step = (fits(value, dtypes.int64) for value in (start, end, step))
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"unsupported range: {start} -> {end}; both must be finite")
    if (end - start) * step < 0:
        raise RuntimeError(
            "upper bound and lower bound inconsistent with step sign: "
            f"start={start}, end={end}, step={step}"
        )
    whole = all(isinstance(v, int) for v in (start, end, step))
    count = -(-(end - start) // step) if whole else math.ceil((end - start) / step)
    if dtype is None:
        dtype = dtypes.int64 if whole else None
    # one product an element: no error accumulates, and all devices get the same values
    host = start + step * np.arange(count, dtype=np.int64 if whole else np.float64)
    return made(lambda xp, kind: host.astype(kind), dtype, device, requires_grad)


def _line(start: Any, end: Any, steps: int, dtype: Any) -> tuple[np.ndarray, Any]:
    """Return the points in double precision, and the dtype that they are to be rounded to."""
    if steps < 0:
        raise RuntimeError(f"number of steps must be non-negative, got {steps}")
    start, end = _number(start), _number(end)
    if dtype is None and (isinstance(start, complex) or isinstance(end, complex)):
        dtype = dtypes.default_complex()
    if dtype is None or dtypes.as_dtype(dtype).kind not in "iu":
        return np.linspace(start, end, steps), dtype
    # integers: both ends are rounded towards 0 first, and the points are counted from the nearer
    # end, so that one on an integer stays there when it is rounded
    start, end = fits(start, dtypes.int64), fits(end, dtypes.int64)
    from_start = np.arange(steps, dtype=np.float64)
    step = (end - start) / max(steps - 1, 1)
    line = np.where(
        from_start < steps // 2, start + step * from_start, end - step * from_start[::-1]
    )
    return (line if steps != 1 else np.array([float(start)])), dtype


def linspace(
    start: Any,
    end: Any,
    steps: int,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return the 1-d leaf of `steps` equally spaced values from `start` to `end`, both included.

    With an integer `dtype` the ends, then the values between them, are rounded towards 0.
    """
    line, kind = _line(start, end, steps, dtype)
    return made(lambda xp, k: line.astype(k), kind, device, requires_grad)


def logspace(
    start: Any,
    end: Any,
    steps: int,
    base: float = 10.0,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return the 1-d leaf `base ** linspace(start, end, steps)`."""
    exponents, kind = _line(start, end, steps, dtype)
    with np.errstate(over="ignore"):
        line = np.power(base, exponents)
        return made(lambda xp, k: line.astype(k), kind, device, requires_grad)


def _triangle(name: str, indices: Callable) -> Callable[..., Tensor]:
    def create(
        row: int, col: int, offset: int = 0, *, dtype: Any = dtypes.int64, device: Any = None
    ) -> Tensor:
        found = np.stack(indices(row, offset, col))
        return made(lambda xp, kind: found.astype(kind), dtype, device, False)

    create.__name__ = name
    create.__doc__ = (
        f"Return the positions (2, n) of the {name[:4]} triangle of a (row, col) matrix."
    )
    return create


tril_indices = _triangle("tril_indices", np.tril_indices)
triu_indices = _triangle("triu_indices", np.triu_indices)


# ---- random


def _draw(
    sample: Callable[[np.random.Generator], np.ndarray],
    dtype: np.dtype,
    device: Any,
    requires_grad: bool,
    generator: Generator | None,
) -> Tensor:
    """Return the leaf of `sample(numpy generator)`; the device is the generator's by default."""
    modes.refuse_write("drawing random numbers", "Draw them before and pass them as an input")
    if device is None and generator is not None:
        device = generator.device
    source = default_generator if generator is None else generator
    array = np.asarray(_sampled(sample, source.numpy, modes.state.batches))
    if array.dtype != dtype:
        array = array.astype(dtype)
    drawn = Tensor(devices.put(array, devices.as_device(device)), requires_grad)
    for batch in modes.state.batches:
        drawn = batch.of_draws(drawn)
    return drawn


def _sampled(sample: Callable, random: np.random.Generator, batches: tuple) -> Any:
    """Return a sample, or where a vmap asks for different ones one for each example, stacked.

    They are drawn one after the other, as in a loop over the examples.
    """
    if not batches:
        return sample(random)
    batch, *others = batches
    _refuse_undecided(batch)
    if batch.randomness == "same":
        return _sampled(sample, random, tuple(others))
    if not batch.size:
        one = np.asarray(_sampled(sample, np.random.default_rng(0), tuple(others)))
        return np.empty((0, *one.shape), one.dtype)
    return np.stack([_sampled(sample, random, tuple(others)) for _ in range(batch.size)])


def _refuse_undecided(batch: Any) -> None:
    if batch.randomness == "error":
        raise RuntimeError(
            "vmap: random numbers are drawn inside of a function that is mapped, and it was not "
            "said whether each example gets its own; pass randomness='different' or 'same' to vmap"
        )


def _for_each_sample(name: str, parameter: Tensor) -> np.ndarray:
    """Return what `_sampled` needs of a parameter, (samples, *shape): in the order it draws them.

    Raises RuntimeError where a vmap has one for each example and the same random numbers for all.
    """
    values = parameter.detach().cpu()._whole()
    levels = levels_of(parameter)
    sizes = []
    for batch in modes.state.batches:
        _refuse_undecided(batch)
        if batch.randomness == "different":
            if batch.level not in levels:
                values = np.expand_dims(values, len(sizes))
            sizes.append(batch.size)
        elif batch.level in levels:
            raise RuntimeError(
                f"vmap: {name} draws by what each example has, so that its random numbers cannot "
                "be the same for all; pass randomness='different' to vmap"
            )
    values = np.broadcast_to(values, (*sizes, *parameter.shape))
    return values.reshape((math.prod(sizes), *parameter.shape))


def _float_dtype(dtype: Any, name: str) -> np.dtype:
    kind = dtypes.get_default_dtype() if dtype is None else dtypes.as_dtype(dtype)
    if kind.kind not in "fc":
        raise RuntimeError(f'"{name}" not implemented for {kind}; use a floating point dtype')
    return kind


def _standard_uniform(random: np.random.Generator, shape: tuple, dtype: np.dtype) -> np.ndarray:
    """Return values in [0, 1): a value rounded up to 1 by a narrower dtype would leave it."""
    if dtype.kind == "c":
        part = dtypes.real_of(dtype)
        real = _standard_uniform(random, shape, part)
        return (real + 1j * _standard_uniform(random, shape, part)).astype(dtype)
    if dtype == dtypes.float16:
        return (random.integers(0, 2**11, shape) / 2**11).astype(dtype)
    return random.random(shape, dtype=dtype)


def _standard_normal(random: np.random.Generator, shape: tuple, dtype: np.dtype) -> np.ndarray:
    if dtype.kind == "c":  # real and imaginary part have half the variance each
        part = dtypes.real_of(dtype)
        real = random.standard_normal(shape, dtype=part)
        imag = random.standard_normal(shape, dtype=part)
        return ((real + 1j * imag) * math.sqrt(0.5)).astype(dtype)
    drawn = dtypes.float32 if dtype == dtypes.float16 else dtype
    return random.standard_normal(shape, dtype=drawn).astype(dtype, copy=False)


def rand(
    *shape: Any,
    size: Any = None,
    generator: Generator | None = None,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return a leaf of values drawn uniformly from [0, 1)."""
    sizes, kind = _checked_sizes(shape, size), _float_dtype(dtype, "rand")
    return _draw(
        lambda r: _standard_uniform(r, sizes, kind), kind, device, requires_grad, generator
    )


def randn(
    *shape: Any,
    size: Any = None,
    generator: Generator | None = None,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return a leaf of values drawn from the normal distribution of mean 0 and variance 1."""
    sizes, kind = _checked_sizes(shape, size), _float_dtype(dtype, "randn")
    return _draw(lambda r: _standard_normal(r, sizes, kind), kind, device, requires_grad, generator)


def randint(
    low: int,
    high: Any = None,
    size: Any = None,
    *,
    generator: Generator | None = None,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return a leaf of integers drawn from [low, high); `randint(high, size)` starts at 0."""
    if isinstance(high, (tuple, list)) and size is None:
        low, high, size = 0, low, high
    elif high is None:
        low, high = 0, low
    if size is None:
        raise TypeError("randint() needs a size: randint(low, high, size) or randint(high, size)")
    sizes = _checked_sizes((size,))
    if low >= high:
        raise RuntimeError(
            f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}"
        )
    kind = dtypes.int64 if dtype is None else dtypes.as_dtype(dtype)
    return _draw(
        lambda r: r.integers(low, high, sizes, dtype=np.int64),
        kind,
        device,
        requires_grad,
        generator,
    )


def randperm(
    n: int,
    *,
    generator: Generator | None = None,
    dtype: Any = dtypes.int64,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return the integers 0 ... n-1 in random order."""
    if n < 0:
        raise RuntimeError(f"n must be non-negative, got {n}")
    kind = dtypes.as_dtype(dtype)
    return _draw(lambda r: r.permutation(n), kind, device, requires_grad, generator)


def normal(
    mean: Any = 0.0,
    std: Any = 1.0,
    size: Any = None,
    *,
    generator: Generator | None = None,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return a leaf of normal values; `mean` and `std` are numbers, or tensors that broadcast.

    size  the shape, needed where both are numbers.
    The gradient of `mean` and `std` is 0; mean + std * randn(...) has the one of the samples.
    """

    def transformed(z: Any, m: Any, s: Any) -> Any:
        return m + s * z

    _refuse_negative(std)
    return _located(
        _standard_normal,
        transformed,
        mean,
        std,
        size,
        generator,
        dtype,
        device,
        requires_grad,
        "normal",
    )


def uniform(
    low: Any = 0.0,
    high: Any = 1.0,
    size: Any = None,
    *,
    generator: Generator | None = None,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return a leaf of values drawn uniformly from [low, high): numbers, or tensors that broadcast.

    size  the shape, needed where both are numbers.
    The gradient of `low` and `high` is 0.
    """

    def transformed(z: Any, a: Any, b: Any) -> Any:
        return a + (b - a) * z

    return _located(
        _standard_uniform,
        transformed,
        low,
        high,
        size,
        generator,
        dtype,
        device,
        requires_grad,
        "uniform",
    )


def _drawn(xp: Any, sample: Any, a: Any, b: Any = None, out: Any = None) -> Any:
    return sample.copy() if out is None else into(out, sample)


drawn_op = Op(
    "drawn",
    _drawn,
    {"a": zeros_rule, "b": zeros_rule},
    broadcasts=True,
    elementwise=True,
    taylor="constant",
)
"""A sample as a function of the one or two parameters of its distribution: locally constant."""


def _from_parameters(sample: Tensor, *parameters: Any) -> Tensor:
    """Return `sample` where a gradient, of zeros, flows to the parameters that require one."""
    moved = [move(p, sample.device) if isinstance(p, Tensor) else p for p in parameters]
    if not sample.requires_grad and any(isinstance(p, Tensor) and p.requires_grad for p in moved):
        return drawn_op(sample, *moved)
    return sample


def _refuse_negative(std: Any) -> None:
    least = std.detach().cpu()._whole().min(initial=0) if isinstance(std, Tensor) else std
    if least < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {least}")


def _located(
    sample: Callable,
    transformed: Callable,
    a: Any,
    b: Any,
    size: Any,
    generator: Generator | None,
    dtype: Any,
    device: Any,
    requires_grad: bool,
    name: str,
) -> Tensor:
    tensors = [v for v in (a, b) if isinstance(v, Tensor)]
    if size is not None:
        sizes = _checked_sizes((size,))
    elif tensors:
        sizes = tuple(broadcast_shapes(*[tuple(v.shape) for v in tensors]))
    else:
        raise TypeError(f"{name}() needs a size where both parameters are numbers")
    if tensors:
        dtype = dtypes.result_type(*tensors) if dtype is None else dtype
        device = tensors[0].device if device is None else device
    kind = _float_dtype(dtype, name)
    if any(v.__dispatch__ is not None for v in tensors):  # parameters of each example of a vmap
        standard = _draw(lambda r: sample(r, sizes, kind), kind, device, False, generator)
        values = (v.detach() if isinstance(v, Tensor) else v for v in (a, b))
        found = transformed(standard, *values).to(dtype=kind)
        return _from_parameters(found, a, b) if not requires_grad else found.requires_grad_()
    first, second = (v.detach().cpu().numpy() if isinstance(v, Tensor) else v for v in (a, b))
    drawn = _draw(
        lambda r: transformed(sample(r, sizes, kind), first, second),
        kind,
        device,
        requires_grad,
        generator,
    )
    return _from_parameters(drawn, a, b)


@method
def bernoulli(
    input: Tensor, p: float | None = None, *, generator: Generator | None = None
) -> Tensor:
    """Return zeros and ones of the shape and dtype of `input`: one with probability `input`, or p.

    Raises RuntimeError for probabilities outside [0, 1].
    """
    odds = input.detach().cpu()._whole() if p is None else p
    if np.size(odds) and not (np.min(odds) >= 0 and np.max(odds) <= 1):
        raise RuntimeError("Expected p_in >= 0 && p_in <= 1: probabilities lie in [0, 1]")
    sizes = tuple(input.shape)
    if input.__dispatch__ is not None and p is None:  # a probability of each example of a vmap
        kind = dtypes.float64
        parts = _draw(lambda r: r.random(sizes), kind, input.device, False, generator)
        return _from_parameters((parts < input.detach()).to(dtype=input.dtype), input)
    drawn = _draw(lambda r: r.random(sizes) < odds, input.dtype, input.device, False, generator)
    return _from_parameters(drawn, input)


@method
def multinomial(
    input: Tensor,
    num_samples: int,
    replacement: bool = False,
    *,
    generator: Generator | None = None,
) -> Tensor:
    """Return `num_samples` positions (int64) a row of weights (n,) or (m, n), drawn in proportion.

    Without replacement none comes twice in a row.  Raises RuntimeError for weights that are
    negative, not finite or all 0, for more draws than there are weights above 0, and inside of vmap
    where each example has weights and random numbers are the "same" for all.
    """
    if input.ndim not in (1, 2) or input.dtype.kind != "f" or num_samples <= 0:
        raise RuntimeError(
            "multinomial: expected floating point weights of shape (n,) or (m, n) and a positive "
            f"number of samples, got {input.dtype} of shape {list(input.shape)} and {num_samples}"
        )
    odds = _for_each_sample("multinomial", input).astype(np.float64)
    rows = odds.reshape(-1, odds.shape[-1])
    if not (np.isfinite(rows).all() and (rows >= 0).all() and (rows.sum(1) > 0).all()):
        raise RuntimeError(
            "probability tensor contains either `inf`, `nan` or element < 0, or a row adds up to 0"
        )
    if not replacement and (np.count_nonzero(rows, axis=1) < num_samples).any():
        raise RuntimeError(
            f"cannot sample {num_samples} > prob_dist.size(-1) non-zero samples without "
            "replacement; pass replacement=True"
        )
    sizes = (*input.shape[:-1], num_samples)
    samples = iter(odds)

    def drawn(r: np.random.Generator) -> np.ndarray:
        rows = next(samples, np.ones(input.shape)).reshape(-1, input.shape[-1])
        chosen = [r.choice(len(p), num_samples, replacement, p / p.sum()) for p in rows]
        return np.array(chosen, np.int64).reshape(sizes)

    return _draw(drawn, dtypes.int64, input.device, False, generator)


def poisson(input: Tensor, generator: Generator | None = None) -> Tensor:
    """Return draws of the Poisson distribution with the means `input`, of its shape and dtype.

    The gradient is 0.  Raises RuntimeError for negative means.
    """
    means = input.detach().cpu().numpy()
    if not (means >= 0).all():
        raise RuntimeError("invalid Poisson rate, expected rate to be non-negative")
    drawn = _draw(lambda r: r.poisson(means), input.dtype, input.device, False, generator)
    return _from_parameters(drawn, input)


# ---- like another tensor


def _like(create: Callable[..., Tensor], name: str, words: str) -> Callable[..., Tensor]:
    def function(
        input: Tensor,
        *args: Any,
        dtype: Any = None,
        device: Any = None,
        requires_grad: bool = False,
        **options: Any,
    ) -> Tensor:
        if input.__dispatch__ is not None:
            values = create(
                *args,
                size=tuple(input.shape),
                dtype=input.dtype if dtype is None else dtype,
                device=input.device if device is None else device,
                **options,
            )
            return input._with_examples(values).requires_grad_(requires_grad)
        return create(
            *args,
            size=tuple(input.shape),
            dtype=input.dtype if dtype is None else dtype,
            device=input.device if device is None else device,
            requires_grad=requires_grad,
            **options,
        )

    function.__name__ = name
    function.__doc__ = (
        f"Return a leaf of the shape, dtype and device of `input` (unless given) {words}."
    )
    return function


empty_like = _like(empty, "empty_like", "whose values are whatever the memory held")
rand_like = _like(rand, "rand_like", "drawn uniformly from [0, 1)")
randn_like = _like(randn, "randn_like", "drawn from the standard normal distribution")
randint_like = _like(randint, "randint_like", "of integers drawn from [low, high)")
_full_like = _like(
    lambda value, size, **options: full(size, value, **options), "full_like", "of one value"
)


def full_like(input: Tensor, fill_value: Any, **options: Any) -> Tensor:
    """Return a leaf of the shape, dtype and device of `input` (unless given) filled with a number.

    options  dtype, device, requires_grad.
    """
    return _full_like(input, fill_value, **options)


def _constant_like(op: Op, create: Callable[..., Tensor], name: str) -> Callable[..., Tensor]:
    elsewhere = _like(create, name, "")

    def function(
        input: Tensor, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
    ) -> Tensor:
        if dtype is None and device is None:
            return op(input).requires_grad_(requires_grad)
        return elsewhere(input, dtype=dtype, device=device, requires_grad=requires_grad)

    function.__name__ = name
    function.__doc__ = (
        f"Return {name[:-5]} of the shape, dtype and device of `input` (unless given): a leaf."
    )
    return function


zeros_like = _constant_like(zeros_like_op, zeros, "zeros_like")
ones_like = _constant_like(ones_like_op, ones, "ones_like")


def _new(create: Callable[..., Tensor], name: str) -> None:
    def function(self: Tensor, *args: Any, **options: Any) -> Tensor:
        options.setdefault("dtype", self.dtype)
        options.setdefault("device", self.device)
        if self.__dispatch__ is None:
            return create(*args, **options)
        requires_grad = options.pop("requires_grad", False)
        return self._with_examples(create(*args, **options)).requires_grad_(requires_grad)

    function.__name__ = name
    function.__doc__ = (
        f"Return `{create.__name__}(...)` in this tensor's dtype and on its device, unless given."
    )
    method(function)


for _create, _name in (
    (zeros, "new_zeros"),
    (ones, "new_ones"),
    (empty, "new_empty"),
    (full, "new_full"),
    (tensor, "new_tensor"),
):
    _new(_create, _name)
