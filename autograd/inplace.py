"""In-place operations: they write memory, bump the version, and rewrite the graph around it.

An in-place operation is its out-of-place twin followed by a write.  On a view, the base's place in
the graph becomes "the old base with the region of the view replaced" (operation `view_write`), and
every view takes up its new place when it is next used.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from . import dtypes, modes
from .devices import copied, current, namespace_of, overlaps_itself, share_memory, write, zeros
from .levels import Interpreted, held, levels_of
from .ops.creation.create import bernoulli, normal, randint, uniform
from .ops.elementwise.activations import relu
from .ops.elementwise.arithmetic import (
    add,
    addcdiv,
    addcmul,
    div,
    floor_divide,
    fmod,
    mul,
    neg,
    operand,
    pow,
    remainder,
    sub,
)
from .ops.elementwise.compare import (
    bitwise_and,
    bitwise_not,
    bitwise_or,
    bitwise_xor,
    eq,
    ge,
    gt,
    le,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
    lt,
    ne,
)
from .ops.elementwise.complex import atan2
from .ops.elementwise.integers import bitwise_left_shift, bitwise_right_shift, gcd, lcm
from .ops.elementwise.piecewise import (
    abs,
    ceil,
    clamp,
    clamp_max,
    clamp_min,
    floor,
    heaviside,
    hypot,
    lerp,
    nan_to_num,
    round,
    sgn,
    sign,
    trunc,
    xlogy,
)
from .ops.elementwise.representation import (
    copysign,
    deg2rad,
    float_power,
    frac,
    ldexp,
    nextafter,
    rad2deg,
)
from .ops.elementwise.smooth import (
    acos,
    acosh,
    asin,
    asinh,
    atan,
    atanh,
    cos,
    cosh,
    erf,
    erfc,
    erfinv,
    exp,
    exp2,
    expm1,
    log,
    log1p,
    log2,
    log10,
    reciprocal,
    rsqrt,
    sigmoid,
    sin,
    sinc,
    sinh,
    sqrt,
    square,
    tan,
    tanh,
)
from .ops.layout.arrange import tril, triu
from .ops.layout.gather import index_add, scatter, scatter_add
from .ops.layout.index import index_put, index_put_op, normal_index
from .ops.layout.mask import masked_fill
from .ops.matrices.matmul import addbmm, addmm, addmv, addr, baddbmm
from .ops.matrices.norm import renorm
from .ops.positions.replace import (
    index_copy,
    index_fill,
    index_reduce,
    masked_scatter,
    put,
    scatter_reduce,
)
from .ops.reductions.cumulative import cumprod, cumsum
from .ops.registry import Op, link
from .ops.special.bessel import i0
from .ops.special.distributions import igamma, igammac, logit
from .ops.special.gamma import digamma, lgamma
from .random import Generator
from .tensor import Tensor, as_tensor, method


def _region(array: Any, chain: tuple) -> Any:
    """Return the numpy view that a chain of view operations selects."""
    alias = Tensor(array)
    with modes.no_grad():
        for op, attributes in chain:
            alias = op(alias, **attributes)
    return alias._data


def _refuse_overlap(x: Tensor) -> None:
    if overlaps_itself(x._data):
        raise RuntimeError(
            "unsupported operation: more than one element of the written-to tensor refers to a "
            "single memory location. Please clone() the tensor before performing the operation."
        )


def _memory(x: Tensor) -> Any:
    """Return the array of `x` to be written into; RuntimeError where it was given read-only."""
    if not getattr(x._data.flags, "writeable", True):
        raise RuntimeError(
            "the tensor lies in the memory of a read-only array, which cannot be written in place; "
            "clone() the tensor, or make it with autograd.tensor(array)"
        )
    return x._data


def _view_write(xp: Any, base: Any, value: Any, out: Any = None, *, chain: tuple) -> Any:
    result = base.copy() if out is None else out
    if out is not None:
        out[...] = base
    _region(result, chain)[...] = value
    return result


def _select(tensor: Tensor, chain: tuple) -> Tensor:
    for op, attributes in chain:
        tensor = op(tensor, **attributes)
    return tensor


view_write_op = Op(
    "view_write",
    _view_write,
    {
        "base": lambda g, value_shape, chain: view_write_op(g, _zeros(g, value_shape), chain=chain),
        "value": lambda g, chain: _select(g, chain),
    },
    linear=True,
)


def _zeros(like: Tensor, shape: tuple) -> Tensor:
    # real: the region may be a real part of what is complex
    return Tensor(zeros(shape, dtypes.real_of(like.dtype), like.device))


def check_writable(x: Tensor, *sources: Any) -> None:
    """Refuse in-place changes, from `sources`, that cannot be recorded.

    While recording: of leaves that require grad and their views, and of views whose base is out of
    reach.  While a program is recorded: of all but tensors that were computed for it and that
    nothing else shares memory with.
    """
    _refuse_other_examples(x, sources)
    if x.__dispatch__ is not None and not x.in_sweep:
        check_writable(held(x))
        return
    tracer = modes.state.tracer
    if tracer is not None and not tracer.may_replace(x):
        tracer.refuse_write(
            "writing in place into an argument, a tensor from outside, a view or what has views",
            "Use the out-of-place operation (where, cat, stack), or write into a clone()",
        )
    if x.__dispatch__ is not None:
        raise RuntimeError(
            f"an in-place operation on a {type(x).__name__} is not supported: forward mode follows "
            "values, not memory; use the out-of-place operation"
        )
    if not modes.state.grad_enabled:
        return
    if x._view is not None and x._view.function is not None and not x._view.severed:
        if any(isinstance(a, Tensor) and a.requires_grad for a in (x, *sources)):
            x._view.refuse("is modified in place")
    if x._view is not None and x._view.severed and x._base.requires_grad:
        raise RuntimeError(
            "a view made in no_grad mode is being used in an in-place operation with grad mode "
            "enabled, which its base could not record; do both inside no_grad(), or both outside"
        )
    if not x.requires_grad:
        return
    if x.is_leaf:
        raise RuntimeError(
            "a leaf Variable that requires grad is being used in an in-place operation; "
            "wrap the change in no_grad(), or work on a clone()"
        )
    base = x._base
    if base is not None and base.requires_grad and base.is_leaf:
        raise RuntimeError(
            "a view of a leaf Variable that requires grad is being used in an in-place operation; "
            "wrap the change in no_grad(), or work on a clone()"
        )


def _refuse_other_examples(x: Tensor, sources: tuple) -> None:
    """Refuse to write what differs from example to example of a vmap into what does not."""
    levels = levels_of(x)
    for source in sources:
        while isinstance(source, Interpreted):
            if source.in_sweep:
                return
            if source.level not in levels:
                raise RuntimeError(
                    "vmap: an in-place operation would write one value an example into a tensor "
                    f"(shape {list(x.shape)}) that is one for all examples. Make it from what has "
                    "examples, by zeros_like(x) or x.new_zeros(...), or use the out-of-place "
                    "operation (where, cat, stack)"
                )
            source = held(source)


def _before(x: Tensor, keep_data: bool) -> Tensor:
    """Return what `x` was before the change, as a tensor of its own."""
    if x._view is not None:
        x._sync()
    old = Tensor(copied(x._data) if keep_data else x._data)
    old._node, old._index, old._requires_grad = x._node, x._index, x._requires_grad
    return old


def _replace(x: Tensor, result: Tensor, uniform: bool = False) -> Tensor:
    """Give `x` the value and the place in the graph of `result`; return `x`.

    uniform   all elements of `result` are the same, so that those of `x` may share their memory.
    """
    if result._data.shape != x._data.shape:
        raise RuntimeError(
            f"output with shape {list(x.shape)} doesn't match the broadcast shape "
            f"{list(result.shape)}; an in-place operation cannot change the shape"
        )
    if _category(result) > _category(x):
        raise RuntimeError(
            f"result type {result.dtype} can't be cast to the desired output type {x.dtype}; "
            "use the out-of-place operation"
        )
    x._version[0] += 1
    if modes.state.tracer is not None:  # nobody else has this memory: another place is as good
        result = result.to(x.dtype)
        x._data = result._data
    else:
        if not uniform:
            _refuse_overlap(x)
        write(_memory(x), result._data)
        if result.dtype != x.dtype:
            result = result.to(x.dtype)
    if not result._requires_grad and not x._requires_grad:
        return x
    if not modes.state.grad_enabled:
        return x
    if x._view is None:
        x._take_place_of(result)
    else:
        rebase(x, result)
    return x


def _category(tensor: Tensor) -> int:
    return (
        "bui".find(tensor.dtype.kind) // 3
        if tensor.dtype.kind in "bui"
        else (1 if tensor.dtype.kind == "f" else 2)
    )


def rebase(x: Tensor, result: Tensor) -> None:
    """Record on the base of the view `x` that the region of `x` now holds `result`."""
    view = x._view
    base = view.base
    old = Tensor(base._data)
    old._node, old._index, old._requires_grad = base._node, base._index, base._requires_grad
    fresh = Tensor(base._data)
    fresh._version = base._version
    if old._requires_grad or result._requires_grad:
        link(view_write_op, (old, result), {"chain": view.chain}, (fresh,))
    base._take_place_of(fresh)
    view.version = -1
    view.severed = False
    x._sync()


def in_place(
    x: Tensor, function: Any, *args: Any, saves_self: bool = True, **options: Any
) -> Tensor:
    """Replace `x` by `function(x, *args, **options)`, in place."""
    sources = (*args, *options.values())
    check_writable(x, *sources)
    keep_data = saves_self and _records(x, *sources) and modes.state.tracer is None
    return _changed(x, lambda old: function(old, *args, **options), keep_data)


def _changed(x: Tensor, function: Callable[[Tensor], Tensor], keep_data: bool) -> Tensor:
    if x.__dispatch__ is None:
        return _replace(x, function(_before(x, keep_data)))

    def of_all(old: Tensor) -> Tensor:
        result = function(x.around(old))
        if result.shape != x.shape:
            raise RuntimeError(
                f"output with shape {list(x.shape)} doesn't match the broadcast shape "
                f"{list(result.shape)}; an in-place operation cannot change the shape"
            )
        return x.for_all_examples([result])[0]

    _changed(held(x), of_all, keep_data)
    return x


def _records(*operands: Any) -> bool:
    """Return whether an operation on these is recorded."""
    return modes.state.grad_enabled and any(
        isinstance(a, Tensor) and a.requires_grad for a in operands
    )


def _define(name: str, function: Any, saves_self: bool = True) -> None:
    def operation(self: Tensor, *args: Any, **options: Any) -> Tensor:
        return in_place(self, function, *args, saves_self=saves_self, **options)

    operation.__name__ = name
    operation.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    operation.__doc__ = f"Apply `{name.rstrip('_')}` in place and return this tensor."
    method(operation)


for _function in (
    add, addcdiv, addcmul, index_add, lerp, masked_fill, neg, scatter, scatter_add, sub,
):  # fmt: skip
    _define(f"{_function.__name__}_", _function, saves_self=False)
for _function in (
    abs, ceil, clamp, clamp_max, clamp_min, cos, cosh, div, exp, expm1, floor, floor_divide, log,
    log1p, mul, nan_to_num, pow, reciprocal, relu, remainder, round, rsqrt, sigmoid, sign, sin,
    sinh, sqrt, square, tan, tanh, trunc,
):  # fmt: skip
    _define(f"{_function.__name__}_", _function)

for _function in (
    acos, acosh, addbmm, addmm, addmv, addr, asin, asinh, atan, atan2, atanh, baddbmm, bitwise_and,
    bitwise_left_shift, bitwise_not, bitwise_or, bitwise_right_shift, bitwise_xor, copysign,
    cumprod, cumsum, deg2rad, digamma, eq, erf, erfc, erfinv, exp2, float_power, fmod, frac, gcd,
    ge, gt, heaviside, hypot, i0, igamma, igammac, index_copy, index_fill, index_put, index_reduce,
    lcm, ldexp, le, lgamma, log10, log2, logical_and, logical_not, logical_or, logical_xor, logit,
    lt, masked_scatter, ne, nextafter, put, rad2deg, renorm, scatter_reduce, sgn, sinc, tril, triu,
    xlogy,
):  # fmt: skip
    _define(f"{_function.__name__}_", _function)
for _alias, _function in {
    "absolute": abs, "arccos": acos, "arccosh": acosh, "arcsin": asin, "arcsinh": asinh,
    "arctan": atan, "arctan2": atan2, "arctanh": atanh, "clip": clamp, "divide": div, "fix": trunc,
    "greater": gt, "greater_equal": ge, "less": lt, "less_equal": le, "multiply": mul,
    "negative": neg, "not_equal": ne, "subtract": sub, "true_divide": div,
}.items():  # fmt: skip
    _define(f"{_alias}_", _function)


def _like(value: Any, x: Tensor) -> Tensor:
    """Return `value` as a tensor of the dtype and device of `x`; a number is rounded only once."""
    if isinstance(value, Tensor) and value.dtype == x.dtype and value.device == x.device:
        return value
    if isinstance(value, (int, float, complex, list, tuple)):
        value = np.asarray(value, x.dtype)
    return as_tensor(value, x).to(x.dtype).to(device=x.device)


@method
def copy_(self: Tensor, source: Any, non_blocking: bool = False) -> Tensor:
    """Copy `source` (broadcast, cast and moved) into this tensor; gradients flow to `source`.

    `non_blocking` changes nothing: the copy is complete when this returns.
    """
    check_writable(self, source)
    source = _like(source, self)
    if source.shape != self.shape:
        source = source.expand(self.shape)
    if self.__dispatch__ is not None:
        copy_(held(self), *self.for_all_examples([source]))
        return self
    if self._view is None and modes.state.grad_enabled and self.requires_grad:
        return _replace(self, view_write_op(_before(self, keep_data=False), source, chain=()))
    # a view's base takes the value up as it is, unless it lies in the memory that is written
    is_plain = source.__dispatch__ is None and modes.state.tracer is None
    if is_plain and self._view is not None and not share_memory(source._data, self._data):
        return _replace(self, source)
    return _replace(self, source.clone())


@method
def __setitem__(self: Tensor, index: Any, value: Any) -> None:
    """Write `value` (broadcast, cast and moved) at `index`; gradients flow to it."""
    check_writable(self, value)
    normal = normal_index(self, index)
    value = _like(value, self)
    basic = all(item is None or isinstance(item, (int, slice)) for item in normal)
    if basic and modes.state.tracer is None:
        region = self[index]
        while value.ndim > region.ndim and value.shape[0] == 1:
            value = value.reshape(value.shape[1:])
        copy_(region, value)
    elif self.__dispatch__ is None and overlaps_itself(self._data) and not _records(self, value):
        _write_at(self, normal, value)
    else:
        in_place(
            self,
            lambda old, new: index_put_op(old, new, index=normal, accumulate=False),
            value,
            saves_self=False,
        )


def _write_at(x: Tensor, index: tuple, value: Tensor) -> None:
    """Write at positions of an expanded tensor: what shares their memory changes with them."""
    array = _memory(x)
    with current(x.device):
        index_put_op.forward(
            namespace_of(array), array, value._data, array, index=index, accumulate=False
        )
    x._version[0] += 1


@method
def fill_(self: Tensor, value: Any) -> Tensor:
    """Set every element to `value`, also those of an expanded tensor."""
    if self.__dispatch__ is not None or not overlaps_itself(self._data):
        return copy_(self, value)
    if isinstance(value, Tensor) and value.requires_grad:
        return copy_(self, value)
    check_writable(self, value)
    return _replace(self, _like(value, self).expand(self.shape).clone(), uniform=True)


@method
def zero_(self: Tensor) -> Tensor:
    """Set every element to zero."""
    return fill_(self, 0)


@method
def uniform_(
    self: Tensor, from_: float = 0.0, to: float = 1.0, *, generator: Generator | None = None
) -> Tensor:
    """Fill with draws from the uniform distribution on [from_, to); the gradient is zero.

    Raises RuntimeError for from_ > to and for dtypes that are not floating point.
    """
    if from_ > to:
        raise RuntimeError(
            "uniform_ expects to return a [from, to) range, but found "
            f"from={from_} > to={to}; exchange them"
        )
    check_writable(self)
    how = {"dtype": self.dtype, "device": self.device, "generator": generator}
    return copy_(self, uniform(from_, to, self.shape, **how))


@method
def normal_(
    self: Tensor, mean: float = 0.0, std: float = 1.0, *, generator: Generator | None = None
) -> Tensor:
    """Fill with draws from the normal distribution; the gradient is zero.

    Raises RuntimeError for std < 0 and for dtypes that are not floating point.
    """
    check_writable(self)
    how = {"dtype": self.dtype, "device": self.device, "generator": generator}
    return copy_(self, normal(mean, std, self.shape, **how))


@method
def random_(
    self: Tensor,
    from_: int | None = None,
    to: int | None = None,
    *,
    generator: Generator | None = None,
) -> Tensor:
    """Fill with whole numbers, each of [from_, to) as likely; one bound alone is `to`, from 0 on.

    Without bounds: from 0 to the largest number of the dtype, of floating point up to which all
    whole numbers have a place.  Raises RuntimeError for an empty range, bounds outside of the
    dtype, and complex numbers.
    """
    low, high = (0, from_) if to is None else (0 if from_ is None else from_, to)
    most = _most(self.dtype)
    high = most + 1 if high is None else high
    least = 0 if self.dtype.kind in "bu" else -most - (self.dtype.kind == "i")
    if low >= high:
        raise RuntimeError(
            f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}"
        )
    if low < least or high - 1 > most:
        raise RuntimeError(
            f"random_: from={low} and to - 1 = {high - 1} must lie in [{least}, {most}], what "
            f"{self.dtype} holds"
        )
    check_writable(self)
    how = {"dtype": self.dtype, "device": self.device, "generator": generator}
    return copy_(self, randint(low, high, self.shape, **how))


def _most(dtype: np.dtype) -> int:
    """Return the largest whole number up to which a dtype has all of them."""
    if dtype.kind == "c":
        raise RuntimeError("random_ is not implemented for complex tensors; use view_as_real(x)")
    if dtype.kind == "f":
        return 2 ** (np.finfo(dtype).nmant + 1)
    return 1 if dtype.kind == "b" else int(np.iinfo(dtype).max)


@method
def bernoulli_(self: Tensor, p: Any = 0.5, *, generator: Generator | None = None) -> Tensor:
    """Fill with zeros and ones, ones with probability p, a number or a tensor in this shape."""
    check_writable(self)
    odds = p.expand(self.shape) if isinstance(p, Tensor) else None
    drawn = bernoulli(self.detach(), p, generator=generator) if odds is None else bernoulli(
        odds.detach(), generator=generator
    )  # fmt: skip
    return copy_(self, drawn)


@method
def exponential_(self: Tensor, lambd: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """Fill with draws from the exponential distribution of mean 1/lambd; the gradient is zero.

    Raises RuntimeError for lambd <= 0 and for dtypes that are not floating point.
    """
    if lambd <= 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={lambd}")
    check_writable(self)
    how = {"dtype": self.dtype, "device": self.device, "generator": generator}
    return copy_(self, log1p(neg(uniform(0.0, 1.0, self.shape, **how))) / -lambd)


@method
def fill_diagonal_(self: Tensor, fill_value: Any, wrap: bool = False) -> Tensor:
    """Set the elements whose indices are all the same; RuntimeError for less than 2 dimensions.

    More than two dimensions have to be of one size.
    wrap  of a matrix with more rows than columns, set a diagonal again after each row that is left
          out below the one before.
    """
    if self.ndim < 2 or (self.ndim > 2 and len(set(self.shape)) > 1):
        raise RuntimeError(
            "fill_diagonal_: expected 2 dimensions, or more of equal length, got shape "
            f"{list(self.shape)}"
        )
    places = [np.arange(min(self.shape))] * self.ndim
    if wrap and self.ndim == 2 and self.shape[0] > self.shape[1]:
        places = list(divmod(np.arange(0, self.numel(), self.shape[1] + 1), self.shape[1]))
    self[tuple(map(as_tensor, places))] = fill_value
    return self


def _operator(name: str, function: Any, saves_self: bool = True) -> None:
    def operation(self: Tensor, other: Any) -> Tensor:
        return in_place(self, function, operand(other, self), saves_self=saves_self)

    method(operation, name=f"__i{name}__")


_operator("add", add, saves_self=False)
_operator("sub", sub, saves_self=False)
_operator("mul", mul)
_operator("truediv", div)
