"""Jets: tensors that carry derivatives in the coordinates through registered operations.

A `Jet` is a value with a part for each channel that is not zero.  Parts are ordinary Tensors,
computed by registered operations: they can be differentiated in the parameters, and traced.  A part
may have any shape that broadcasts to the value's (a constant direction stays a row).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from .. import modes
from ..levels import Pushed
from ..ops.registry import REGISTRY, NoTaylorRule, Op, apply
from ..tensor import Tensor
from .channels import Channels, Key
from .indices import chain_terms, product_terms

TAYLOR_RULES: dict[str, Callable] = {}
"""The rules that an operation can name, `(op, args, attributes) -> Jet` (filled by rules.py)."""


class Jet(Pushed):
    """A value and its derivatives.

    value     Tensor.
    parts     channel -> Tensor that broadcasts to the value's shape; missing channels are zero.
    channels  the channels of the sweep.
    """

    def __init__(self, value: Tensor, parts: dict[Key, Tensor], channels: Channels) -> None:
        super().__init__(value._data)
        self._requires_grad = value._requires_grad
        self.value = value
        self.parts = parts
        self.channels = channels

    def _read(self) -> Tensor:
        return self.value

    @staticmethod
    def __dispatch__(op: Op, args: tuple, attributes: dict) -> Any:
        jets = [a for a in args if isinstance(a, Jet)]
        if any(jet.channels is not jets[0].channels for jet in jets):
            raise nested_sweeps()
        if not op.differentiable or modes.stops_derivatives():
            return apply(op, *[_value(a) for a in args], **attributes)
        if op.taylor is None:
            raise NoTaylorRule(f"operation {op.name!r}")
        rule = TAYLOR_RULES[op.taylor] if isinstance(op.taylor, str) else op.taylor
        return rule(op, args, attributes)

    @staticmethod
    def __no_rule__(function: str, position: int) -> NoTaylorRule:
        return NoTaylorRule(f"custom Function {function!r}")


def nested_sweeps() -> RuntimeError:
    """Return the error of a sweep that meets the jets of another."""
    return RuntimeError(
        "a Jet of another sweep was met: sweeps do not nest; ask one sweep for the higher "
        "derivatives"
    )


def _value(argument: Any) -> Any:
    return argument.value if isinstance(argument, Jet) else argument


def channels_of(args: Iterable[Any]) -> Channels:
    """Return the channels of the jets among `args`."""
    return next(a.channels for a in args if isinstance(a, Jet))


def part(argument: Any, key: Key | tuple) -> Any:
    """Return a channel of an argument (`()` is the value), or None where it is zero."""
    if key == ():
        return _value(argument)
    return argument.parts.get(key) if isinstance(argument, Jet) else None


# ---- sums and products that know zeros


def plus(a: Any, b: Any) -> Any:
    """Return a + b, where None is zero."""
    if a is None:
        return b
    return a if b is None else a + b


def scaled(weight: float, a: Any) -> Any:
    """Return weight * a without a product by one."""
    if weight == 1:
        return a
    return -a if weight == -1 else a * weight


class Products:
    """Products of parts, each computed once."""

    def __init__(self, parts: dict) -> None:
        self.parts = parts
        self.known: dict[tuple, Tensor] = {}

    def get(self, blocks: tuple) -> Tensor | None:
        if len(blocks) == 1:
            return self.parts.get(blocks[0])
        if blocks not in self.known:
            left, right = self.get(blocks[:-1]), self.parts.get(blocks[-1])
            self.known[blocks] = None if left is None or right is None else left * right
        return self.known[blocks]


# ---- rules


def unary_rule(
    tower: Callable[[Op, Tensor, tuple, Tensor, dict, int], Sequence[Tensor]], fallback: Callable
) -> Callable:
    """Return the rule of a smooth elementwise function of its first input.

    `tower(op, x, rest, y, attributes, order)` gives f', f'', ... at x up to `order`, with
    y = f(x, *rest); the other inputs carry no derivatives of their own.
    `fallback` is the rule for a value that is itself pushed forward (forward mode over jets).
    """

    def rule(op: Op, args: tuple, attributes: dict) -> Jet:
        jet, *rest = args[0], *(_value(a) for a in args[1:])
        if not isinstance(jet, Jet):
            return apply(op, jet, *rest, **attributes)
        if jet.value.__dispatch__ is not None:  # a Dual: reverse mode cannot see into it
            return fallback(op, args, attributes)
        value = apply(op, jet.value, *rest, **attributes)
        channels = jet.channels
        highest = _highest_order(jet)
        slopes = tower(op, jet.value, rest, value, attributes, highest) if highest else ()
        products = Products(jet.parts)
        parts: dict[Key, Tensor] = {}
        for index in channels.singles:
            _set(parts, index, _chain(chain_terms(index), slopes, products))
        for total in channels.sums:
            terms = [
                (m, blocks, count * weight)
                for index, weight in total.terms
                for m, blocks, count in chain_terms(index)
                if m > 1
            ]
            own = jet.parts.get(total)
            linear = None if own is None else slopes[0] * own
            _set(parts, total, plus(linear, _chain(terms, slopes, products)))
        return Jet(value, parts, channels)

    return rule


def _highest_order(jet: Jet) -> int:
    """Return the highest slope that meets a product of non-zero parts."""
    products = Products(jet.parts)
    highest = 0
    indices = [(index, False) for index in jet.channels.singles]
    indices += [(i, True) for total in jet.channels.sums for i, _ in total.terms]
    if any(total in jet.parts for total in jet.channels.sums):
        highest = 1
    for index, in_sum in indices:
        for m, blocks, _ in chain_terms(index):
            if m > highest and not (in_sum and m == 1):
                if all(block in products.parts for block in blocks):
                    highest = m
    return highest


def _chain(terms: Iterable, slopes: Sequence, products: Products) -> Tensor | None:
    """Return sum over m of f^(m) * (sum of count * product of parts)."""
    by_slope: dict[int, Any] = {}
    for m, blocks, count in terms:
        product = products.get(blocks)
        if product is not None:
            by_slope[m] = plus(by_slope.get(m), scaled(count, product))
    total = None
    for m, inner in by_slope.items():
        total = plus(total, slopes[m - 1] * inner)
    return total


def _set(parts: dict, key: Key, value: Any) -> None:
    if value is not None:
        parts[key] = value


def product_rule(op: Op, args: tuple, attributes: dict) -> Jet:
    """The product rule element by element: parts keep their small shapes."""
    return _leibniz(op, args, attributes, part)


def bilinear_rule(op: Op, args: tuple, attributes: dict) -> Jet:
    """The product rule, for operations linear in each of their first two inputs."""
    return _leibniz(op, args, attributes, _full_part)


def _full_part(argument: Any, key: Key | tuple) -> Any:
    found = part(argument, key)
    if isinstance(argument, Jet) and found is not None:
        shape = argument._data.shape
        return found if found._data.shape == shape else found.expand(shape)
    return found


def _leibniz(op: Op, args: tuple, attributes: dict, take: Callable) -> Jet:
    x, y, *rest = args
    channels = channels_of(args)

    def multiply(left: Key | tuple, right: Key | tuple) -> Any:
        a, b = take(x, left), take(y, right)
        return None if a is None or b is None else apply(op, a, b, *rest, **attributes)

    parts: dict[Key, Tensor] = {}
    for index in channels.singles:
        total = None
        for left, right, count in product_terms(index):
            term = multiply(left, right)
            total = plus(total, None if term is None else scaled(count, term))
        _set(parts, index, total)
    for key in channels.sums:
        total = plus(multiply(key, ()), multiply((), key))
        for index, weight in key.terms:
            for left, right, count in product_terms(index):
                term = multiply(left, right) if left and right else None
                total = plus(total, None if term is None else scaled(count * weight, term))
        _set(parts, key, total)
    return Jet(multiply((), ()), parts, channels)


def constant_rule(op: Op, args: tuple, attributes: dict) -> Any:
    """A piecewise constant function has no derivatives."""
    return apply(op, *[_value(a) for a in args], **attributes)


def linear_rule(op: Op, args: tuple, attributes: dict) -> Any:
    """Apply to each channel an operation that is linear in the tensors it has rules for.

    All other inputs (indices, masks, what a gate compares) are held at their values.
    """
    channels = channels_of(args)
    value = apply(op, *[_value(a) for a in args], **attributes)
    results = value if isinstance(value, tuple) else (value,)
    collected: list[dict] = [{} for _ in results]
    small = op.elementwise and len(args) == 1  # parts keep their small shapes
    held = [op.joint is None and op.rules[k] is None for k in range(len(args))]
    for key in channels.keys:
        inputs = [None if hold else part(a, key) for a, hold in zip(args, held, strict=True)]
        if all(i is None for i in inputs):
            continue
        moved = apply(op, *(inputs if small else _filled(inputs, args, held)), **attributes)
        for parts, one in zip(
            collected, moved if isinstance(moved, tuple) else (moved,), strict=True
        ):
            parts[key] = one
    jets = tuple(
        Jet(v, p, channels) if v.dtype.kind in "fc" else v  # cast to integers: a constant
        for v, p in zip(results, collected, strict=True)
    )
    return jets if isinstance(value, tuple) else jets[0]


def _filled(inputs: list, args: tuple, held: Sequence[bool]) -> list:
    """Return parts brought to their value's shape, zeros for the missing ones."""
    filled = []
    for given, argument, hold in zip(inputs, args, held, strict=True):
        if hold:
            filled.append(_value(argument))
        elif given is not None:
            shape = argument._data.shape
            filled.append(given if given._data.shape == shape else given.expand(shape))
        elif isinstance(argument, Tensor):
            filled.append(REGISTRY["zeros_like"](_value(argument)))
        else:
            filled.append(None if argument is None else 0)
    return filled


def additive_rule(op: Op, args: tuple, attributes: dict) -> Jet:
    """Addition and subtraction: a part that only one side has is passed on as it is."""
    x, y = args
    channels = channels_of(args)
    parts: dict[Key, Tensor] = {}
    for key in channels.keys:
        a, b = part(x, key), part(y, key)
        if a is not None and b is not None:
            parts[key] = apply(op, a, b, **attributes)
        elif a is not None:
            parts[key] = a
        elif b is not None:
            parts[key] = b if op.name == "add" else -b
    return Jet(apply(op, _value(x), _value(y), **attributes), parts, channels)


def division_rule(op: Op, args: tuple, attributes: dict) -> Any:
    """x / y: linear in x; a jet below the bar goes through its reciprocal."""
    x, y = args
    if isinstance(y, Jet):
        return x * REGISTRY["reciprocal"](y)
    parts = {key: apply(op, one, y, **attributes) for key, one in x.parts.items()}
    return Jet(apply(op, x.value, y, **attributes), parts, x.channels)


def where_rule(op: Op, args: tuple, attributes: dict) -> Jet:
    """Selection: the condition is taken as constant, each channel is selected by it."""
    condition, x, y = args
    condition = _value(condition)
    channels = channels_of(args)
    parts = {}
    for key in channels.keys:
        a, b = part(x, key), part(y, key)
        if a is not None or b is not None:
            parts[key] = apply(
                op, condition, 0.0 if a is None else a, 0.0 if b is None else b, **attributes
            )
    return Jet(apply(op, condition, _value(x), _value(y), **attributes), parts, channels)


def join_rule(op: Op, args: tuple, attributes: dict) -> Jet:
    """Concatenation: missing parts are zeros, in the small shape that the present ones share."""
    channels = channels_of(args)
    dim = attributes["dim"] % args[0].ndim
    parts = {}
    for key in channels.keys:
        given = [part(a, key) for a in args]
        if any(g is not None for g in given):
            parts[key] = apply(op, *_aligned(given, args, dim), **attributes)
    return Jet(apply(op, *[_value(a) for a in args], **attributes), parts, channels)


def _aligned(given: list, args: tuple, dim: int) -> list:
    """Bring parts to a common shape except along `dim`, where each has its value's size."""
    ndim = args[0].ndim
    common = [1] * ndim
    for one in given:
        if one is not None:
            shape = (1,) * (ndim - one.ndim) + tuple(one.shape)
            common = [max(a, b) for a, b in zip(common, shape, strict=True)]
    aligned = []
    for one, argument in zip(given, args, strict=True):
        shape = tuple(argument._data.shape[k] if k == dim else common[k] for k in range(ndim))
        if one is None:
            one = Tensor(_namespace(argument).zeros(shape, argument._data.dtype))
        elif one._data.shape != shape:
            one = one.expand(shape)
        aligned.append(one)
    return aligned


def _namespace(tensor: Tensor) -> Any:
    from ..devices import namespace_of

    return namespace_of(tensor._data)


# A product with no more columns than these reads its rows once, as the copy that joins several
# does; where a row is as wide as this that is more than a call takes.
_FEW, _WIDE = 4, 256


def affine_rule(op: Op, args: tuple, attributes: dict) -> Jet:
    """x @ W (+ bias) with a constant matrix: all full channels go through one matrix product.

    But for one of wide rows with few columns, as the last layer of random features: apart, what
    nobody asks for is not computed, nor what goes back through it.
    """
    x, matrix, *bias = args
    if isinstance(matrix, Jet) or (bias and isinstance(bias[0], Jet)) or not isinstance(x, Jet):
        return _general_affine(op, args, attributes)
    rows = (None,) * len(bias)
    full = [key for key, one in x.parts.items() if one._data.shape == x.value._data.shape]
    parts = {
        key: apply(op, one, matrix, *rows, **attributes)
        for key, one in x.parts.items()
        if key not in full
    }
    width = x.value._data.shape[-1]
    are_apart = width >= _WIDE and matrix._data.size <= _FEW * width
    if full and x.value.ndim == 2 and not are_apart:
        count = 1 + len(full)
        stacked = REGISTRY["stack"](x.value, *[x.parts[key] for key in full], dim=0)
        size, features = x.value._data.shape
        product = apply(op, stacked.reshape(count * size, features), matrix, *rows, **attributes)
        value, *moved = REGISTRY["unbind"](
            product.reshape(count, size, product._data.shape[-1]), dim=0
        )
        parts.update(zip(full, moved, strict=True))
    else:
        value = apply(op, x.value, matrix, *rows, **attributes)
        for key in full:
            parts[key] = apply(op, x.parts[key], matrix, *rows, **attributes)
    if bias and bias[0] is not None:
        value = value + bias[0]
    return Jet(value, {key: parts[key] for key in x.parts}, x.channels)


def _general_affine(op: Op, args: tuple, attributes: dict) -> Any:
    """The product rule for jets in the matrix, plus the bias channel by channel."""
    x, matrix, *bias = args
    if not bias:
        return bilinear_rule(op, args, attributes)
    if isinstance(x, Jet) or isinstance(matrix, Jet):
        result: Any = bilinear_rule(op, (x, matrix, None), attributes)
    else:
        result = apply(op, x, matrix, None, **attributes)
    return result if bias[0] is None else result + bias[0]
