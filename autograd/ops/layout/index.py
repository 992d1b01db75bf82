"""Indexing: slices, integer and boolean arrays, read and written.

An index has one normal form (`normal_index`): a tuple of non-negative ints, slices with a positive
step, None, and int64 arrays of the tensor's own device, checked against its sizes.  The arrays are
private copies, so changing an index tensor afterwards changes nothing.  Ints, slices and None are
applied first, as a view, and the arrays to what that gives: this is PyTorch's order (numpy would
let an int next to an array decide where the array's dimensions go).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import devices, modes, switches
from ...tensor import Tensor, as_tensor, method
from ..registry import REGISTRY, Op, cast, into
from .shape import broadcast_tensors, normal_axis, reshape_op, sum_to_op

_ALL = slice(None)

__all__ = [
    "index_put",
    "narrow",
    "select",
    "unravel_index",
]


# ---- the normal form of an index


def normal_index(x: Tensor, index: Any) -> tuple:
    """Return any index of `x` in normal form (see the module); it is what `index_put` takes.

    Raises IndexError for positions out of range, too many indices, masks of another shape and
    things that are no index; ValueError for a step that is not positive.
    """
    return _normalised(x, index)[0]


def _normalised(x: Tensor, index: Any) -> tuple[tuple, bool]:
    """Return the normal form, and whether no position can come up twice."""
    given = index if type(index) is tuple else (index,)
    items = [_item(x, item) for item in given]
    shape = x._data.shape
    used = sum(_dimensions(item) for item in items)
    if used > len(shape):
        raise IndexError(
            f"too many indices for tensor of dimension {len(shape)}: got {used} for shape "
            f"{list(shape)}"
        )
    result: list[Any] = []
    arrays = masks = axis = 0
    expanded = False
    for item in items:
        if item is Ellipsis:
            if expanded:
                raise IndexError("an index can only have a single ellipsis ('...')")
            expanded = True
            rest = len(shape) - used
            result.extend([_ALL] * rest)
            axis += rest
        elif item is None:
            result.append(None)
        elif item is True or item is False:
            # a new dimension of size 1, of which all or nothing is taken
            xp = devices.namespace_of(x._data)
            result.append((xp.zeros(1 if item else 0, np.int64),))
            arrays += 1
        elif type(item) is int:
            result.append(_position(item, shape[axis], axis))
            axis += 1
        elif isinstance(item, slice):
            result.append(_slice(item, shape[axis]))
            axis += 1
        elif item.dtype.kind == "b":
            result.extend(_mask_positions(item, shape, axis))
            axis += item.ndim
            masks += 1
        else:
            result.append(wrapped(item, shape[axis], axis))
            axis += 1
            arrays += 1
    return tuple(result), masks <= 1 and not arrays


def _item(x: Tensor, item: Any) -> Any:
    """Return an index item as None, Ellipsis, bool, int, slice, or an array of the device of x."""
    if item is None or item is Ellipsis or isinstance(item, (slice, bool)) or type(item) is int:
        return item
    if isinstance(item, np.bool_):
        return bool(item)
    if isinstance(item, Tensor):
        array = item._elements("an index by a mask (or by positions to be written at)")
        if modes.state.tracer is not None:
            modes.state.tracer.refuse_index(array)
    elif type(item) in devices._by_array_type:
        array = item
    elif isinstance(item, (list, tuple, range)):
        values = [v.tolist() if isinstance(v, Tensor) else v for v in item]
        array = np.asarray(values, dtype=None if values else np.int64)
    elif hasattr(item, "__index__"):
        return operator.index(item)
    else:
        raise IndexError(
            "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are "
            f"valid indices (got {type(item).__name__})"
        )
    kind = array.dtype.kind
    if kind not in "bi" and (kind != "u" or array.dtype.itemsize == 1):
        raise IndexError(
            f"tensors used as indices must be long, int or bool tensors, got {array.dtype}; "
            "use .bool() for a mask, .long() for positions"
        )
    if array.ndim == 0:
        return bool(array) if kind == "b" else int(array)
    place = x.device
    where = devices.device_of(array)
    if where != place:
        if where != devices.CPU:
            raise RuntimeError(
                "indices should be either on cpu or on the same device as the indexed tensor "
                f"({place}), got one on {where}; move it with .to({str(place)!r})"
            )
        array = devices.put(array, place)
    return array


def _dimensions(item: Any) -> int:
    """Return how many dimensions an index item takes up."""
    if item is None or item is Ellipsis or isinstance(item, bool):
        return 0
    if type(item) is int or isinstance(item, slice) or item.dtype.kind != "b":
        return 1
    return item.ndim


def _out_of_bounds(position: int, axis: int, size: int) -> str:
    return (
        f"index {position} is out of bounds for dimension {axis} with size {size}; "
        f"positions run from {-size} to {size - 1}"
    )


def _position(position: int, size: int, axis: int) -> int:
    if not -size <= position < size:
        raise IndexError(_out_of_bounds(position, axis, size))
    return position + size if position < 0 else position


def _slice(item: slice, size: int) -> slice:
    if item.start is None and item.stop is None and item.step is None:
        return item
    start, stop, step = item.indices(size)
    if step <= 0:
        raise ValueError(f"step must be greater than zero, got {step}; use flip() to reverse")
    return slice(start, max(start, stop), step)


@devices.on_its_device
def _mask_positions(mask: Any, shape: tuple, axis: int) -> tuple:
    for k, size in enumerate(mask.shape):
        if shape[axis + k] != size:
            raise IndexError(
                f"The shape of the mask {list(mask.shape)} at index {k} does not match the shape "
                f"of the indexed tensor {list(shape)} at index {axis + k}"
            )
    return tuple(devices.namespace_of(mask).nonzero(mask))


@devices.on_its_device
def value_range(array: Any) -> tuple[Any, Any]:
    """Return the least and the greatest element, Python's numbers; (0, -1) where there is none."""
    return (array.min().item(), array.max().item()) if array.size else (0, -1)


@devices.on_its_device
def wrapped(array: Any, size: int, axis: int) -> Any:
    """Return a fresh int64 array of positions counted from the front, checked."""
    low, high = value_range(array)
    if low < -size or high >= size:
        raise IndexError(_out_of_bounds(high if high >= size else low, axis, size))
    positions = array.astype(np.int64)
    if low < 0:
        positions[positions < 0] += size
    return positions


def _parts(index: tuple) -> tuple[tuple, tuple | None]:
    """Split a normal index into its basic part and the arrays applied to what that gives."""
    basic: list[Any] = []
    arrays: list[Any] = []
    advanced = False
    for item in index:
        if item is None or isinstance(item, slice):
            basic.append(item)
            arrays.append(_ALL)
        elif type(item) is int:
            basic.append(item)
        elif type(item) is tuple:
            basic.append(None)
            arrays.append(item[0])
            advanced = True
        else:
            basic.append(_ALL)
            arrays.append(item)
            advanced = True
    return tuple(basic), tuple(arrays) if advanced else None


# ---- reading and writing with a normal index


def _region(array: Any, basic: tuple) -> Any:
    """Return the view of `array` that a basic index selects, an array also when 0-d."""
    return array[(*basic, Ellipsis)]


def _at(xp: Any, array: Any, arrays: tuple) -> Any:
    """Return `array[arrays]`; by `take`, which is faster, along one dimension."""
    dims = [dim for dim, item in enumerate(arrays) if not isinstance(item, slice)]
    if len(dims) == 1:
        return xp.take(array, arrays[dims[0]], axis=dims[0])
    return array[arrays]


def numbered(xp: Any, shape: tuple) -> Any:
    """Return an array of `shape` that holds the row-major number of each element."""
    count = 1
    for size in shape:
        count *= size
    return xp.arange(count).reshape(shape)


def add_at(xp: Any, target: Any, numbers: Any, values: Any) -> None:
    """Add `values` to the elements of the contiguous `target` with the given numbers, repeats too.

    One flat index is several times faster than a tuple of them in numpy's unbuffered addition.
    """
    values = xp.asarray(values, dtype=target.dtype)
    if values.shape != numbers.shape:
        values = xp.broadcast_to(values, numbers.shape)
    flat, numbers, values = target.reshape(-1), numbers.reshape(-1), values.reshape(-1)
    if flat.dtype.kind in "biu" and flat.dtype.itemsize < 4:  # cupy adds none so small in place
        wide = flat.astype(np.int32)
        add_at(xp, wide, numbers, values)
        flat[...] = wide.astype(flat.dtype)
        return
    parts = [(flat, values)]
    if flat.dtype.kind == "c":  # cupy adds real numbers alone
        parts = [(flat.real, values.real), (flat.imag, values.imag)]
    if xp is not np and flat.dtype.kind in "fc":
        switches.refuse_chance("adding at positions that may repeat")
    for part, added in parts:
        devices.backend_of(target).scatter_add(part, numbers, added)


def multiply_at(xp: Any, target: Any, numbers: Any, values: Any) -> None:
    """Multiply the elements of the contiguous `target` with the given numbers by as many values.

    Those of one element are multiplied in pairs, and these in pairs: cupy has no `multiply.at`.
    """
    flat, numbers, values = target.reshape(-1), numbers.reshape(-1), values.reshape(-1)
    order = xp.argsort(numbers, kind="stable")
    numbers, values = numbers[order], values[order]
    while numbers.size:
        second = (xp.arange(numbers.size) - xp.searchsorted(numbers, numbers)) % 2 == 1
        seconds = xp.flatnonzero(second)
        if not seconds.size:
            break
        values[seconds - 1] *= values[seconds]
        numbers, values = numbers[~second], values[~second]
    flat[numbers] *= values


def _write(xp: Any, target: Any, index: tuple, values: Any, accumulate: bool) -> None:
    """Assign or add `values` (broadcast) to `target` at a normal index; `target` is contiguous
    where an index that may repeat is accumulated."""
    basic, arrays = _parts(index)
    try:
        if accumulate and arrays is not None:
            numbers = _at(xp, _region(numbered(xp, target.shape), basic), arrays)
            add_at(xp, target, numbers, _without_leading_ones(values, numbers.ndim))
            return
        region = _region(target, basic)
        if accumulate:
            region += _without_leading_ones(values, region.ndim)
        elif arrays is None:
            region[...] = _without_leading_ones(values, region.ndim)
        else:
            region[arrays] = values
    except ValueError as error:
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(getattr(values, 'shape', ()))} cannot be "
            f"broadcast to the indexing result in a tensor of shape {list(target.shape)}"
        ) from error


def _without_leading_ones(values: Any, ndim: int) -> Any:
    extra = getattr(values, "ndim", 0) - ndim
    if extra > 0 and all(size == 1 for size in values.shape[:extra]):
        return values.reshape(values.shape[extra:])
    return values


def _embed(
    xp: Any, x: Any, out: Any = None, *, shape: tuple, index: tuple, accumulate: bool
) -> Any:
    target = xp.zeros(shape, x.dtype)
    _write(xp, target, index, x, accumulate)
    return into(out, target)


def _index_put(
    xp: Any, x: Any, values: Any, out: Any = None, *, index: tuple, accumulate: bool
) -> Any:
    if accumulate or out is None:
        target = x.copy()
        _write(xp, target, index, values, accumulate)
        return into(out, target)
    if out is not x:
        out[...] = x
    _write(xp, out, index, values, False)
    return out


slice_op = Op(
    "slice",
    lambda xp, x, *, index: _region(x, index),
    {
        "x": lambda g, x_shape, index: embed_op(
            g, shape=tuple(x_shape), index=index, accumulate=False
        )
    },
    linear=True,
    view=True,
)
index_op = Op(  # `unique`: no position comes up twice, so that the gradient is an assignment
    "index",
    lambda xp, x, out=None, *, index, unique: into(out, _at(xp, x, index)),
    {
        "x": lambda g, x_shape, index, unique: embed_op(
            g, shape=tuple(x_shape), index=index, accumulate=not unique
        )
    },
    linear=True,
)
embed_op = Op(  # zeros of `shape` with the input at `index`: the transpose of reading there
    "embed",
    _embed,
    {"x": lambda g, index, accumulate: take_normal(g, index, unique=not accumulate)},
    linear=True,
)
index_put_op = Op(
    "index_put",
    _index_put,
    {
        "x": lambda g, index, accumulate: (
            g if accumulate else index_put_op(g, 0, index=index, accumulate=False)
        ),
        "values": lambda g, values_shape, index: _fitted(
            take_normal(g, index, unique=False), values_shape
        ),
    },
    linear=True,
)


def _fitted(g: Tensor, shape: tuple) -> Tensor:
    """Sum a gradient to the shape of values that were broadcast into place."""
    if tuple(g.shape) == tuple(shape):
        return g
    extra = max(len(shape) - g.ndim, 0)
    summed = sum_to_op(g, shape=tuple(shape[extra:]))
    return reshape_op(summed, shape=tuple(shape)) if extra else summed


def take_normal(x: Tensor, index: tuple, unique: bool) -> Tensor:
    """Return `x` at a normal index: a view when it has no arrays, else a copy."""
    basic, arrays = _parts(index)
    if arrays is None:
        return slice_op(x, index=basic)
    if any(item is None or item != _ALL for item in basic):
        x = slice_op(x, index=basic)
    return index_op(x, index=arrays, unique=unique)


@method(name="__getitem__")
def _getitem(self: Tensor, index: Any) -> Tensor:
    """Return the elements at `index`: a view for ints, slices and None, a copy for arrays."""
    if modes.state.tracer is not None or modes.state.batches:
        given = index if type(index) is tuple else (index,)
        if any(map(_is_computed, given)):
            return _looked_up(self, given)
    normal, unique = _normalised(self, index)
    return take_normal(self, normal, unique)


# ---- positions that a recording computes


def _flat_position(indices: Sequence[Any], lengths: tuple[int, ...], dims: tuple[int, ...]) -> Any:
    first, *others = map(wrapped, indices, lengths, dims)
    for index, size in zip(others, lengths[1:], strict=True):
        first = first * size + index
    return first


flat_position_op = Op(  # the row-major number among `dims` of these lengths
    "flat_position",
    lambda xp, *indices, lengths, dims: _flat_position(indices, lengths, dims),
    elementwise=True,
)


def _is_computed(item: Any) -> bool:
    """Return whether an item of an index is positions that depend on a recording's inputs, or on
    the example inside of vmap.

    There are as many results then, whatever the positions are; not so of a mask.
    """
    tracer = modes.state.tracer
    is_computed = isinstance(item, Tensor) and item.__dispatch__ is not None
    is_computed = is_computed or (tracer is not None and tracer.varies(item))
    return is_computed and item.dtype.kind in "iu" and item.dtype != np.uint8


def _looked_up(x: Tensor, given: tuple) -> Tensor:
    """Return the elements at an index some of whose items are computed."""
    xp = devices.namespace_of(x._data)
    items = [
        _item(x, xp.zeros(item.shape, np.int64) if _is_computed(item) else item) for item in given
    ]
    normal, _ = _normalised(x, tuple(items))
    rest = x.ndim - sum(map(_dimensions, items))
    computed: dict[int, Tensor] = {}  # by their places in the normal form
    place = 0
    for item, one in zip(items, given, strict=True):
        if _is_computed(one):
            computed[place] = one
        is_mask = type(item) in devices._by_array_type and item.dtype.kind == "b"
        place += rest if item is Ellipsis else item.ndim if is_mask else 1
    for place, lone in computed.items():
        if type(normal[place]) is int:  # what ints take is taken first
            dim = sum(item is not None and type(item) is not tuple for item in normal[:place])
            x = REGISTRY["index_select"](x, reshape_op(lone, shape=(1,)), dim=dim)
    basic, arrays = _parts(normal)
    if any(item is None or item != _ALL for item in basic):
        x = slice_op(x, index=basic)
    kept = [place for place, item in enumerate(normal) if type(item) is not int]
    arrays = arrays or ()
    found = {
        dim: computed.get(kept[dim], item if isinstance(item, slice) else Tensor(item))
        for dim, item in enumerate(arrays)
    }
    indices = {dim: item for dim, item in found.items() if isinstance(item, Tensor)}
    return _at_computed(x, indices) if indices else x


def _at_computed(x: Tensor, indices: dict[int, Tensor]) -> Tensor:
    """Return the elements at indices by dimension, which are broadcast against each other."""
    dims = list(indices)
    first = dims[0]
    if dims[-1] - first >= len(dims):  # what lies apart comes first
        others = [k for k in range(x.ndim) if k not in indices]
        x, first = REGISTRY["permute"](x, axes=(*dims, *others)), 0
    end = first + len(dims)
    lengths = tuple(x.shape[first:end])
    before, after = x.shape[:first], x.shape[end:]
    whole = broadcast_tensors(*indices.values())
    flat = [cast(reshape_op(index, shape=(-1,)), np.dtype(np.int64)) for index in whole]
    if len(flat) > 1:
        x = reshape_op(x, shape=(*before, math.prod(lengths), *after))
        flat = [flat_position_op(*flat, lengths=lengths, dims=tuple(dims))]
    found = REGISTRY["index_select"](x, *flat, dim=first)
    return reshape_op(found, shape=(*before, *whole[0].shape, *after))


@method(name="__contains__")
def _contains(self: Tensor, element: Any) -> bool:
    """Return whether any element equals `element` (a number, or a tensor that broadcasts)."""
    other = as_tensor(element, self)
    with devices.current(self.device):
        return bool((self._data == other._data).any())


@method
def index_put(x: Tensor, indices: Sequence[Any], values: Any, accumulate: bool = False) -> Tensor:
    """Return a copy of `x` with `values` (broadcast) put, or added, at the positions `indices`.

    indices  one integer or boolean tensor a dimension; None for a whole dimension.
    Where positions repeat, accumulate=True adds every value; without it one of them stays and the
    gradient of `values` is undefined.  Raises IndexError for positions out of range, RuntimeError
    for dtypes that differ and shapes that do not fit.
    """
    index = tuple(_ALL if item is None else item for item in indices)
    normal = normal_index(x, index)
    if isinstance(values, Tensor) and values.dtype != x.dtype:
        raise RuntimeError(
            "Index put requires the source and destination dtypes match, got "
            f"{x.dtype} for the destination and {values.dtype} for the source; convert with .to()"
        )
    return index_put_op(x, values, index=normal, accumulate=bool(accumulate))


def unravel_index(indices: Tensor, shape: Sequence[int] | int) -> tuple[Tensor, ...]:
    """Return where row-major numbers lie in a tensor of `shape`, one int64 tensor a dimension.

    Raises TypeError for numbers that are no integers, ValueError for negative sizes.
    """
    sizes = (shape,) if isinstance(shape, int) else tuple(int(size) for size in shape)
    if indices.dtype.kind not in "iu":
        raise TypeError(f"expected 'indices' to be integer dtype, but got {indices.dtype}")
    if any(size < 0 for size in sizes):
        raise ValueError(f"'shape' cannot have negative values, but got {sizes}")
    found, step = [], 1
    for size in reversed(sizes):
        found.append(REGISTRY["remainder"](REGISTRY["floor_divide"](indices, step), max(size, 1)))
        step *= size
    return tuple(reversed(found))


@method
def narrow(x: Tensor, dim: int, start: Any, length: int) -> Tensor:
    """Return the view of `length` elements of `x` along `dim` from `start` on."""
    if x.ndim == 0:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor; reshape it first")
    axis = normal_axis(dim, x.ndim)
    size = x.shape[axis]
    if isinstance(start, Tensor) and (start.ndim or start.dtype.kind not in "iu"):
        raise RuntimeError(
            "narrow(): start must be an integer or a 0-dim integral Tensor, got one of shape "
            f"{list(start.shape)} and dtype {start.dtype}"
        )
    first = operator.index(start)
    if not -size <= first <= size:
        raise IndexError(
            f"start out of range (expected to be in range of [{-size}, {size}], but got {first})"
        )
    first = first + size if first < 0 else first
    if length < 0 or first + length > size:
        raise RuntimeError(
            f"start ({first}) + length ({length}) exceeds dimension size ({size}) of dimension "
            f"{axis}"
        )
    return slice_op(x, index=(*(_ALL,) * axis, slice(first, first + length, 1)))


@method
def select(x: Tensor, dim: int, index: Any) -> Tensor:
    """Return the view of `x` at one position of dimension `dim`, without that dimension."""
    axis = axis_of(x, dim, "select")
    position = _position(operator.index(index), x.shape[axis], axis)
    return slice_op(x, index=(*(_ALL,) * axis, position))


def axis_of(x: Tensor, dim: int, name: str) -> int:
    axis = normal_axis(dim, x.ndim)
    if x.ndim == 0:
        raise IndexError(f"{name}() cannot be applied to a 0-dim tensor; reshape it first")
    return axis


def positions(values: Sequence[int] | np.ndarray, like: Tensor) -> Tensor:
    """Return host integers as an int64 tensor on the device of `like`."""
    return Tensor(devices.put(np.asarray(values, dtype=np.int64), like.device))


def padded(x: Tensor, widths: Sequence[tuple[int, int]], value: Any) -> Tensor:
    """Return `x` with (before, after) elements of `value` at the ends of each dimension.

    Negative widths take elements away.
    """
    crop = tuple(
        slice(max(-a, 0), max(size - max(-b, 0), max(-a, 0)), 1)
        for size, (a, b) in zip(x.shape, widths, strict=True)
    )
    if any(a < 0 or b < 0 for a, b in widths):
        x = slice_op(x, index=crop)
    kept = tuple(x.shape)
    shape = tuple(size + max(a, 0) + max(b, 0) for size, (a, b) in zip(kept, widths, strict=True))
    place = tuple(
        slice(max(a, 0), max(a, 0) + size, 1) for size, (a, b) in zip(kept, widths, strict=True)
    )
    if isinstance(value, (int, float)) and value == 0:
        return embed_op(x, shape=shape, index=place, accumulate=False)
    frame = new_full_op(x, shape=shape, value=value)
    return index_put_op(frame, x, index=place, accumulate=False)


new_full_op = Op(
    "new_full",
    lambda xp, x, out=None, *, shape, value: into(out, xp.full(shape, value, dtype=x.dtype)),
    reads_values=False,
)


def new_zeros(like: Tensor, shape: tuple) -> Tensor:
    return new_full_op(like, shape=tuple(shape), value=0)
