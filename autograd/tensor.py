"""The Tensor: an array, a flag, a gradient, and the place it has in the graph."""

from __future__ import annotations

import threading
import warnings
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from . import devices, dtypes, modes
from .graph import AccumulateGrad, HookList, Node, RemovableHandle

NON_LEAF_GRAD = (
    "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. It is not "
    "filled by backward(). If you want it, call .retain_grad() on this tensor before backward(); "
    "if you reached it by mistake, you probably want the leaf it was made from."
)


def _look(tensor: Tensor, how: str) -> None:
    """Refuse to hand out values that would be frozen into a program that is recorded."""
    if modes.state.tracer is not None:
        modes.state.tracer.look(tensor, how)


def _look_at_memory(how: str) -> None:
    """Refuse to hand out memory while a program is recorded, which has its own at replays."""
    if modes.state.tracer is not None:
        modes.state.tracer.refuse(f"{how} of a Tensor")


_making_accumulator = threading.Lock()


class ViewOf:
    """How a view came from its base: the chain of view ops, and the version it was made at.

    A view made without recording (`severed`) stays a constant, whatever happens to its base.
    `function` names the custom Function that returned the view, None for all others: its backward
    stands for the way from the base, so there is no chain to replay, and neither the view nor its
    base may change while gradients flow.
    """

    __slots__ = ("base", "chain", "version", "severed", "function")

    def __init__(
        self,
        base: Tensor,
        chain: tuple,
        version: int,
        severed: bool,
        function: str | None = None,
    ) -> None:
        self.base = base
        self.chain = chain
        self.version = version
        self.severed = severed
        self.function = function

    def refuse(self, what: str) -> None:
        """Raise RuntimeError about a change that the backward of a custom Function cannot see."""
        raise RuntimeError(
            f"an output of the custom Function {self.function} is a view (of an input, the input "
            f"itself, or of a tensor made in forward), and {what}; {self.function}.backward would "
            "not see the change and the gradient would be wrong. Return a clone() from forward, or "
            "clone() the output"
        )


if TYPE_CHECKING:
    from .operations import Operations
else:
    Operations = object  # operations are added as methods: `stubs` tells type checkers which


# What answers numpy's operators with an array on the left, by the name of the ufunc behind them.
_REFLECTED = {
    "add": "__radd__", "subtract": "__rsub__", "multiply": "__rmul__", "divide": "__rtruediv__",
    "floor_divide": "__rfloordiv__", "remainder": "__rmod__", "power": "__rpow__",
    "matmul": "__rmatmul__", "less": "__gt__", "less_equal": "__ge__", "greater": "__lt__",
    "greater_equal": "__le__", "equal": "__eq__", "not_equal": "__ne__",
    "bitwise_and": "__rand__", "bitwise_or": "__ror__", "bitwise_xor": "__rxor__",
}  # fmt: skip


class NotOneElement(RuntimeError):
    """A tensor was taken for one number, or one truth value, and has more elements or none."""


class Tensor(Operations):
    """A multi-dimensional array that records what is done to it.

    `data` is an array of a known device (numpy, cupy), whose memory is shared and dtype kept; a
    Tensor, which gives a leaf that shares its memory; or nested sequences of numbers, which take
    the default dtype; or sizes, of elements that are not specified.  TypeError for anything else.
    `autograd.tensor(...)` copies, and takes numbers and dtypes.
    """

    # What most tensors share is a class attribute: making a tensor sets two attributes.
    _requires_grad = False
    _grad: Tensor | None = None
    _node: Node | None = None  # what made it, and which of that node's outputs it is
    _index = 0
    _view: ViewOf | None = None
    _accumulator: weakref.ref | None = None
    _hooks: HookList | None = None
    _after_accumulation: HookList | None = None
    _retains_grad = False
    __dispatch__: Callable | None = None  # subclasses that interpret ops set this
    __hash__ = object.__hash__

    def __init__(self, data: Any, requires_grad: bool = False, *sizes: int) -> None:
        self._version = [0]  # shared with everything that shares the memory
        kind = type(data)
        if kind is int:  # sizes, as in PyTorch's older scripts
            if type(requires_grad) is int:
                sizes, requires_grad = (requires_grad, *sizes), False
            data, kind = np.empty((data, *sizes), dtypes.get_default_dtype()), np.ndarray
        elif sizes:
            raise TypeError("Tensor() takes data, or sizes that are integers; see autograd.tensor")
        if kind is not np.ndarray and kind not in devices._by_array_type:
            data, self._version = _values(data, requires_grad)
        self._data = data
        if requires_grad:
            self.requires_grad_()

    # ---- plain facts

    @property
    def shape(self) -> Size:
        """The size of each dimension."""
        return Size(self._data.shape)

    @overload
    def size(self, dim: None = None) -> Size: ...

    @overload
    def size(self, dim: int) -> int: ...

    def size(self, dim: int | None = None) -> Any:
        """Return the shape, or the size of one dimension."""
        return self.shape if dim is None else self._data.shape[dim]

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self._data.ndim

    def dim(self) -> int:
        """Return the number of dimensions."""
        return self._data.ndim

    ndimension = dim

    def numel(self) -> int:
        """Return the number of elements."""
        return int(self._data.size)

    nelement = numel

    @property
    def dtype(self) -> np.dtype:
        """The dtype, a `numpy.dtype`."""
        return self._data.dtype

    @property
    def itemsize(self) -> int:
        """The bytes of one element."""
        return self._data.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """The bytes of all elements."""
        return self._data.nbytes

    @property
    def device(self) -> devices.Device:
        """The device the elements lie on."""
        return devices.device_of(self._data)

    @property
    def is_cuda(self) -> bool:
        """Whether the elements lie on a GPU."""
        return self.device.type == "cuda"

    def get_device(self) -> int:
        """Return the number of the GPU the elements lie on, -1 on the host."""
        return (self.device.index or 0) if self.is_cuda else -1

    def is_floating_point(self) -> bool:
        """Return whether the dtype is a real floating point dtype."""
        return self._data.dtype.kind == "f"

    def is_complex(self) -> bool:
        """Return whether the dtype is complex."""
        return self._data.dtype.kind == "c"

    def is_contiguous(self) -> bool:
        """Return whether the elements lie in memory in row-major order without gaps."""
        if modes.state.tracer is not None:
            return modes.state.tracer.answer(self, ".is_contiguous()")
        return bool(self._data.flags.c_contiguous)

    def element_size(self) -> int:
        """Return the bytes of one element."""
        return self._data.dtype.itemsize

    def __len__(self) -> int:
        if self._data.ndim == 0:
            raise TypeError("len() of a 0-d tensor; it has no dimension to count")
        return self._data.shape[0]

    def item(self) -> Any:
        """Return the only element as a Python number; RuntimeError when there is not one."""
        _look(self, "item()")
        if self._data.size != 1:
            raise NotOneElement(
                f"a Tensor with {self._data.size} elements (shape {list(self._data.shape)}) cannot "
                "be converted to a Python number; reduce or index it to one element first"
            )
        return self._data.item()

    def tolist(self) -> Any:
        """Return the elements as nested lists of Python numbers."""
        _look(self, "tolist()")
        return devices.backend_of(self._data).to_host(self._data).tolist()

    def numpy(self, *, force: bool = False) -> np.ndarray:
        """Return the elements as a numpy array that shares memory with a host tensor.

        Raises RuntimeError for a tensor that requires grad (except in no_grad mode) and TypeError
        for one that is not on the host; `force=True` detaches and copies to the host instead.
        """
        _look_at_memory("numpy()")
        if not force:
            if modes.state.grad_enabled and self.requires_grad:
                raise RuntimeError(
                    "Can't call numpy() on Tensor that requires grad. "
                    "Use tensor.detach().numpy() instead."
                )
            if type(self._data) is not np.ndarray:
                raise TypeError(
                    f"can't convert a tensor on device {self.device} to numpy. "
                    "Use tensor.cpu() to copy it to host memory first."
                )
        return devices.backend_of(self._data).to_host(self._data)

    def __array_ufunc__(self, ufunc: np.ufunc, how: str, *inputs: Any, **named: Any) -> Tensor:
        """Answer numpy for `array * tensor`, with the operator of Tensor, and for its functions.

        TypeError where a tensor requires grad: a function of numpy has no derivative.
        """
        reflected = _REFLECTED.get(ufunc.__name__)
        if reflected and how == "__call__" and not named and not isinstance(inputs[0], Tensor):
            return getattr(self, reflected)(inputs[0])
        tensors = [x for x in inputs if isinstance(x, Tensor)]
        if how != "__call__" or named or any(x.requires_grad for x in tensors):
            raise TypeError(
                f"numpy's ufunc {ufunc.__name__} does not take a Tensor that requires grad, nor "
                "keywords beside one; use the functions of autograd, such as autograd.sin(tensor), "
                "or an array, tensor.detach().numpy()"
            )
        found = ufunc(*(x.numpy() if isinstance(x, Tensor) else x for x in inputs))
        if isinstance(found, tuple):
            return tuple(Tensor(np.asarray(one)) for one in found)
        return Tensor(np.asarray(found))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        array = self.numpy()
        return np.array(array, dtype=dtype, copy=copy)

    def _whole(self) -> Any:
        """Return the array of all elements there are: inside of vmap, of all examples."""
        return self._data

    def _elements(self, how: str) -> Any:
        """Return the array, to be looked at; RuntimeError, which says how, inside of vmap."""
        return self._data

    def _with_examples(self, made: Tensor) -> Tensor:
        """Return a new tensor with a value for each example that this one has a value for."""
        return made

    def data_ptr(self) -> int:
        """Return the address of the first element."""
        _look_at_memory("data_ptr()")
        interface = getattr(self._data, "__array_interface__", None)
        return self._data.data.ptr if interface is None else interface["data"][0]

    def __bool__(self) -> bool:
        _look(self, "bool()")
        if self._data.size != 1:
            raise NotOneElement(
                f"Boolean value of a Tensor with {self._data.size} elements is ambiguous; "
                "use .any() or .all()"
            )
        return bool(self._data.item())

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __complex__(self) -> complex:
        return complex(self.item())

    def __index__(self) -> int:
        _look(self, "index()")
        if self._data.dtype.kind not in "iub" or self._data.size != 1:
            raise TypeError("only integer tensors of a single element can be used as an index")
        return int(self._data.item())

    # ---- place in the graph

    def _sync(self) -> None:
        """Take up in-place changes that were made through the base or another view."""
        view = self._view
        if view is None or view.severed or view.version == self._version[0]:
            return
        base = view.base
        if view.function is not None:
            if self._requires_grad or base._requires_grad:
                view.refuse("its memory was modified in place since")
            return
        view.version = self._version[0]
        if base._node is None and self._node is None:
            return
        with modes.enable_grad():
            fresh = base
            for op, attrs in view.chain:
                fresh = op(fresh, **attrs)
        self._take_place_of(fresh)

    def _take_place_of(self, other: Tensor) -> None:
        """Move to the place of `other` in the graph; a gradient retained is the one there."""
        self._node, self._index, self._requires_grad = (
            other._node,
            other._index,
            other._requires_grad,
        )
        if self._retains_grad:
            self._retains_grad = False
            if self._requires_grad:
                self.retain_grad()

    def _edge(self) -> tuple | None:
        """Return the (node, output index) that this tensor's gradient flows to, or None."""
        if self._view is not None:
            self._sync()
        if not self._requires_grad:
            return None
        if self._node is not None:
            return (self._node, self._index)
        accumulator = self._accumulator() if self._accumulator is not None else None
        if accumulator is None:
            with _making_accumulator:  # threads that share a leaf have to share its sink
                accumulator = self._accumulator() if self._accumulator is not None else None
                if accumulator is None:
                    accumulator = AccumulateGrad(self)
                    self._accumulator = weakref.ref(accumulator)
        return (accumulator, 0)

    @property
    def grad_fn(self) -> Node | None:
        """The node that made this tensor, None for leaves."""
        if modes.state.tracer is not None:
            modes.state.tracer.check_graph(self)
        if self._view is not None:
            self._sync()
        return self._node

    @property
    def is_leaf(self) -> bool:
        """Whether no recorded operation made this tensor."""
        if modes.state.tracer is not None:
            return modes.state.tracer.answer(self, ".is_leaf")
        return self.grad_fn is None

    @property
    def requires_grad(self) -> bool:
        """Whether operations on this tensor are recorded."""
        if modes.state.tracer is not None:
            return modes.state.tracer.answer(self, ".requires_grad")
        if self._view is not None:
            self._sync()
        return self._requires_grad

    @requires_grad.setter
    def requires_grad(self, flag: bool) -> None:
        flag = bool(flag)
        if self._view is not None:
            self._sync()
        if self._node is not None:
            if not flag:
                raise RuntimeError(
                    "you can only change requires_grad flags of leaf variables; to use a computed "
                    "variable in a subgraph that does not require gradients, use "
                    "var_no_grad = var.detach()"
                )
            return
        if flag and not dtypes.is_differentiable(self._data.dtype):
            raise RuntimeError(
                "only Tensors of floating point and complex dtype can require gradients, "
                f"got {self._data.dtype}; convert with .to(autograd.float64) first"
            )
        self._requires_grad = flag

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Set `requires_grad` in place and return this tensor."""
        self.requires_grad = requires_grad
        return self

    def retain_grad(self) -> None:
        """Keep the gradient of this non-leaf in `.grad`; does nothing on leaves."""
        if not self.requires_grad:
            raise RuntimeError(
                "can't retain_grad on Tensor that has requires_grad=False; "
                "call requires_grad_() on the leaves it is made from first"
            )
        if self._node is None or self._retains_grad:
            return
        if self._node.retained is None:
            self._node.retained = {}
        self._node.retained[self._index] = weakref.ref(self)
        self._retains_grad = True

    @property
    def retains_grad(self) -> bool:
        """Whether this non-leaf keeps its gradient."""
        return self._retains_grad and self._node is not None

    def register_hook(self, hook: Callable) -> RemovableHandle:
        """Call `hook(grad)` when this tensor's gradient is known; it may return another one.

        Raises RuntimeError when the tensor does not require grad.
        """
        if not self.requires_grad:
            raise RuntimeError(
                "cannot register a hook on a tensor that doesn't require gradient; "
                "call requires_grad_() first"
            )
        if self._node is None:
            if self._hooks is None:
                self._hooks = HookList()
            return self._hooks.add(hook)
        if self._node.hooks is None:
            self._node.hooks = {}
        return self._node.hooks.setdefault(self._index, HookList()).add(hook)

    def register_post_accumulate_grad_hook(self, hook: Callable) -> RemovableHandle:
        """Call `hook(tensor)` after each backward() that added to `.grad` of this leaf.

        It returns None (TypeError else); it may step an optimizer, and drop the gradient.
        Raises RuntimeError for tensors that are no leaves or do not require grad.
        """
        if not self.requires_grad:
            raise RuntimeError(
                "cannot register a hook on a tensor that doesn't require gradient; "
                "call requires_grad_() first"
            )
        if not self.is_leaf:
            raise RuntimeError(
                "post accumulate grad hooks cannot be registered on non-leaf tensors; use "
                "register_hook"
            )
        if self._after_accumulation is None:
            self._after_accumulation = HookList()
        return self._after_accumulation.add(hook)

    # ---- gradient

    @property
    def grad(self) -> Tensor | None:
        """The accumulated gradient of a leaf, or of a non-leaf that retains it."""
        if self._grad is None and self.requires_grad and self._node is not None:
            if not self._retains_grad:
                warnings.warn(NON_LEAF_GRAD, UserWarning, stacklevel=2)
        if modes.state.tracer is not None:
            return modes.state.tracer.answer(self, ".grad")
        return self._grad

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if modes.state.tracer is not None:
            modes.state.tracer.check_gradient(self)
        if value is None:
            self._grad = None
            return
        if not isinstance(value, Tensor):
            raise TypeError(
                "assigned grad expected to be a Tensor or None but got "
                f"{type(value).__name__}; wrap it with autograd.tensor(...)"
            )
        if value is self:
            raise RuntimeError("can't assign Variable as its own grad; assign a clone()")
        if value.dtype != self.dtype:
            raise RuntimeError(
                f"assigned grad has dtype {value.dtype} but the tensor has dtype {self.dtype}; "
                f"convert it with .to(autograd.{self.dtype})"
            )
        if value.device != self.device:
            raise RuntimeError(
                "assigned grad and the tensor must be on the same device, "
                f"got {value.device} and {self.device}; move it with .to({str(self.device)!r})"
            )
        if value.shape != self.shape:
            raise RuntimeError(
                f"assign a gradient of size '{list(value.shape)}' to a tensor of size "
                f"'{list(self.shape)}' that has a mismatch; reshape it first"
            )
        self._grad = value

    @grad.deleter
    def grad(self) -> None:
        self._grad = None

    # ---- same memory, another place in the graph

    def _alias(self) -> Tensor:
        """Return a leaf that shares memory and version counter."""
        if modes.state.tracer is not None:
            modes.state.tracer.share(self)
        alias = Tensor(self._data)
        alias._version = self._version
        return alias

    def detach(self) -> Tensor:
        """Return a leaf that shares memory and does not require grad."""
        return self._alias()

    def detach_(self) -> Tensor:
        """Turn this tensor into a leaf, in place; RuntimeError on a view."""
        if self._view is not None:
            raise RuntimeError(
                "Can't detach views in-place. Use detach() instead: it gives a new tensor."
            )
        self._node = None
        self._index = 0
        self._requires_grad = False
        self._retains_grad = False
        return self

    @property
    def data(self) -> Tensor:
        """The same memory as a leaf whose writes are not seen by the version check."""
        if modes.state.tracer is not None:
            modes.state.tracer.share(self)
        alias = Tensor(self._data)
        alias._version = _Unchecked(self._version)
        return alias

    @data.setter
    def data(self, value: Tensor) -> None:
        if not isinstance(value, Tensor):
            raise TypeError(f"data must be a Tensor, got {type(value).__name__}")
        modes.refuse_write("giving a tensor other memory (data = ...)", "Do that outside of it")
        self._data = value._data
        # what is written there through `value` is seen by what was recorded with it
        self._version = _Unchecked(value._version, self._version[0])

    @property
    def _base(self) -> Tensor | None:
        """The tensor this one is a view of, or None."""
        return None if self._view is None else self._view.base

    # ---- copying and pickling of leaves

    def __deepcopy__(self, memo: dict) -> Tensor:
        if self.grad_fn is not None:
            raise RuntimeError(
                "Only Tensors created explicitly by the user (graph leaves) support deepcopy; "
                "use detach() first"
            )
        copied = type(self).__new__(type(self))
        is_recorded = modes.state.tracer is not None
        data = self.detach().clone()._data if is_recorded else devices.copied(self._data)
        Tensor.__init__(copied, data)
        copied._requires_grad = self._requires_grad
        memo[id(self)] = copied
        if self._grad is not None:
            copied._grad = self._grad.__deepcopy__(memo)
        return copied

    def __reduce_ex__(self, protocol: Any) -> tuple:
        if self.grad_fn is not None:
            raise RuntimeError(
                "only leaf tensors can be pickled; use detach() or save their numpy() instead"
            )
        _look_at_memory("a copy.copy() or a pickle")
        host = devices.backend_of(self._data).to_host(self._data)
        grad = None if self._grad is None else self._grad.detach()
        return (_rebuild, (type(self), host, str(self.device), self._requires_grad, grad))

    def __repr__(self) -> str:
        from .printing import tensor_text

        return tensor_text(self)

    def __format__(self, spec: str) -> str:
        if spec and self._data.size == 1:
            return format(self.item(), spec)
        if not self._data.ndim and self._is_known():
            return format(self.item())
        return repr(self)

    def _is_known(self) -> bool:
        """Return whether its numbers may be shown: not where a replay of a recording has others."""
        return modes.state.tracer is None or modes.state.tracer.is_frozen(self)


_new = object.__new__


class _Unchecked(list[int]):
    """The version counter of a tensor's `data`: of its own, so that no check fails of its writes.

    The tensor's has a second number for them, by which what was recorded with its values is void.
    """

    def __init__(self, of: list[int], count: int = 0) -> None:
        super().__init__([count])
        self._of = of._of if isinstance(of, _Unchecked) else of

    def __setitem__(self, index: Any, count: Any) -> None:
        super().__setitem__(index, count)
        self._of[1:] = [sum(self._of[1:]) + 1]


def writes_to(tensor: Tensor) -> list[int]:
    """Return what counts all writes of the library to the memory of a tensor, `data`'s as well."""
    version = tensor._version
    return version._of if isinstance(version, _Unchecked) else version


def made_of(array: Any) -> Tensor:
    """Return a Tensor of an array that an operation made: Tensor(array), without a look at it."""
    tensor = _new(Tensor)
    tensor._data = array
    tensor._version = [0]
    return tensor


def _rebuild(cls: type, host: np.ndarray, device: str, requires_grad: bool, grad: Any) -> Tensor:
    tensor = cls.__new__(cls)
    Tensor.__init__(tensor, devices.put(np.array(host), devices.as_device(device)))
    tensor._requires_grad = requires_grad
    tensor._grad = grad
    return tensor


def _values(data: Any, requires_grad: Any) -> tuple[Any, list]:
    """Return the array and the version counter for what a user gave to `Tensor(...)`."""
    if isinstance(data, Tensor):
        return data._elements("Tensor()"), data._version
    if isinstance(data, (list, tuple)) and isinstance(requires_grad, (bool, np.bool_)):
        from .ops.creation.create import tensor

        return tensor(data, dtype=dtypes.get_default_dtype())._data, [0]
    array = np.asarray(data)
    if not isinstance(data, (np.ndarray, np.generic)) or array.dtype.kind not in "biufc":
        raise TypeError(
            f"Tensor(): expected an array, a Tensor or a sequence of numbers, not "
            f"{type(data).__name__}; use autograd.tensor(...) for numbers and "
            "autograd.empty(...) for sizes"
        )
    return array, [0]


class Size(tuple[int, ...]):
    """A shape: a tuple that also counts elements."""

    __slots__ = ()

    def numel(self) -> int:
        """Return the product of the sizes."""
        count = 1
        for size in self:
            count *= size
        return count

    def __repr__(self) -> str:
        return f"Size({list(self)})"


def as_tensor(value: Any, like: Tensor | None = None) -> Tensor:
    """Return `value` as a Tensor: itself, or a number, list or array wrapped on `like`'s device."""
    if isinstance(value, Tensor):
        return value
    array = value
    if not isinstance(value, np.ndarray) and type(value) not in devices._by_array_type:
        array = np.asarray(value)
        if isinstance(value, (float, complex)) or (
            isinstance(value, (list, tuple)) and array.dtype.kind in "fc"
        ):
            array = array.astype(dtypes.of_number(array.dtype.type(0).item()))
    dtype = dtypes.as_dtype(array.dtype)
    if not array.dtype.isnative:
        array = array.astype(dtype)
    if like is not None:  # an operand, perhaps saved: it must not change with the caller's array
        array = devices.put(devices.copied(array) if array is value else array, like.device)
    return Tensor(array)


METHODS: list[str] = []  # the names of the methods that `method` added


def method(function: Callable | None = None, *, name: str | None = None) -> Callable:
    """Make `function` (its first argument is a tensor) a method of Tensor.

    Used as `@method`, or as `@method(name="add")` to give the method another name.
    """
    if function is None:
        return lambda f: method(f, name=name)
    name = name or function.__name__
    setattr(Tensor, name, function)
    METHODS.append(name)
    return function
