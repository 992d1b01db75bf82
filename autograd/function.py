"""Custom functions: a forward on tensors and a backward written by the user."""

from __future__ import annotations

import functools
import inspect
import threading
import traceback
import warnings
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from . import devices, inplace, modes
from .graph import FREED, Node
from .levels import innermost
from .ops.registry import REGISTRY, cast
from .saved import SavedTensor
from .tensor import Tensor, ViewOf


class _Running(threading.local):
    """The node whose backward runs in this thread, and which gradients it is asked for."""

    node: Node | None = None
    needed: tuple = ()


_running = _Running()


class FunctionCtx:
    """What `forward` hands to `backward`: tensors by `save_for_backward`, all else as attributes.

    An output that is kept as an attribute is treated like a saved one, so that it makes no
    reference cycle.
    """

    def __init__(self, needs_input_grad: tuple[bool, ...]) -> None:
        self._needs_input_grad = needs_input_grad
        self._to_save: tuple = ()
        self._dirty: tuple[Tensor, ...] = ()
        self._non_differentiable: tuple[Tensor, ...] = ()
        self._materialize_grads = True
        self._node: Callable[[], FunctionNode | None] = lambda: None
        self._kept_outputs: dict[str, SavedTensor] = {}

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep inputs and outputs for `backward`, where `saved_tensors` returns them.

        Intermediate tensors may be saved too, but are constants in higher derivatives: return them
        as further outputs to differentiate through them.  TypeError for anything but tensors and
        None.
        """
        for position, tensor in enumerate(tensors):
            if tensor is not None and not isinstance(tensor, Tensor):
                raise TypeError(
                    f"save_for_backward can only save variables, but argument {position} is of "
                    f"type {type(tensor).__name__}; set it as an attribute of ctx instead"
                )
        self._to_save = tensors

    @property
    def saved_tensors(self) -> tuple[Tensor | None, ...]:
        """The saved tensors; RuntimeError when freed, or changed in place since."""
        node = self._node()
        if node is None:
            return self._to_save
        node.check_alive()
        return tuple(None if saved is None else saved.unpack(node) for saved in node.saved)

    def check_saved(self) -> None:
        """Raise what `saved_tensors` would, for a backward that does not look at them."""
        node = self._node()
        if node is not None:
            node.check_alive()
            for saved in node.saved:
                if saved is not None and saved.overwritten:
                    saved.unpack(node)

    @property
    def needs_input_grad(self) -> tuple[bool, ...]:
        """One flag an input: whether its gradient is asked for."""
        node = _running.node
        if node is not None and node is self._node():
            return _running.needed
        return self._needs_input_grad

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Declare outputs that no gradient flows through."""
        self._non_differentiable = tensors

    def mark_dirty(self, *tensors: Tensor) -> None:
        """Declare inputs that `forward` changed in place; each must be returned as an output.

        An input may be a view: its base then takes up the change in the graph.
        """
        self._dirty = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Choose what `backward` gets for an unused output: zeros (the default) or None."""
        self._materialize_grads = bool(value)

    def __getattr__(self, name: str) -> Any:
        kept = self.__dict__.get("_kept_outputs", {}).get(name)
        node = None if kept is None else self._node()
        if node is None:
            raise AttributeError(f"this ctx has no attribute {name!r}; set it in forward first")
        return kept.unpack(node)


class FunctionNode(Node):
    """A recorded call of a custom Function."""

    __slots__ = ("function", "ctx", "saved", "input_metas", "output_metas")

    def __init__(self, function: type[Function], ctx: FunctionCtx, args: Sequence) -> None:
        super().__init__(tuple(a._edge() if isinstance(a, Tensor) else None for a in args), 1)
        self.function = function
        self.ctx = ctx
        self.saved: tuple | None = ()
        self.input_metas = tuple(_meta(a) for a in args)
        self.output_metas: tuple = ()

    def name(self) -> str:
        return self.function.__name__ + "Backward"

    def check_alive(self) -> None:
        if self.saved is None:
            raise RuntimeError(FREED.format(name=self.name()))

    def release(self) -> None:
        if self.saved:
            self.saved = None

    def run(self, grads: list, needed: Sequence[bool]) -> Sequence:
        inner = innermost(grads)
        if inner is not None and not inner.in_sweep:
            return list(inner.each_example(lambda *each: tuple(self.run(each, needed)), grads))
        if self.ctx._materialize_grads:
            grads = [
                Tensor(devices.zeros(*meta)) if grad is None and meta else grad
                for grad, meta in zip(grads, self.output_metas, strict=True)
            ]
        outer = _running.node, _running.needed
        _running.node, _running.needed = self, tuple(needed)
        try:
            results = self.function.backward(self.ctx, *grads)
        finally:
            _running.node, _running.needed = outer
        return self._checked(results)

    def _checked(self, results: Any) -> list:
        """Return one gradient an input, of its shape and dtype; refuse everything else."""
        results = list(results) if isinstance(results, (tuple, list)) else [results]
        count = len(self.edges)
        if len(results) > count and all(extra is None for extra in results[count:]):
            del results[count:]
        if len(results) != count:
            raise RuntimeError(
                f"function {self.name()} returned an incorrect number of gradients (expected "
                f"{count}, got {len(results)}); return one for each input of forward, None where "
                "there is none"
            )
        for position, (grad, meta) in enumerate(zip(results, self.input_metas, strict=True)):
            if grad is None:
                continue
            if meta is None:
                raise RuntimeError(
                    f"function {self.name()} returned a gradient different than None at position "
                    f"{position}, but the corresponding forward input was not a Tensor; "
                    "return None there"
                )
            if not isinstance(grad, Tensor):
                raise TypeError(
                    f"function {self.name()} returned {type(grad).__name__} as gradient {position}"
                    "; expected a Tensor or None"
                )
            if self.edges[position] is not None and _meta(grad) != meta:
                results[position] = self._fit(grad, position, *meta)
        return results

    def _fit(self, grad: Tensor, position: int, shape: tuple, dtype: Any, device: Any) -> Tensor:
        if grad.device != device:
            raise RuntimeError(
                f"Function {self.name()} returned an invalid gradient at index {position} - "
                f"expected device {device} but got {grad.device}; move it with .to(...)"
            )
        if grad.is_complex() and dtype.kind != "c":
            grad = REGISTRY["real"](grad)
        grad = cast(grad, dtype)
        if grad.shape == shape:
            return grad
        leading = len(grad.shape) - len(shape)
        broadcast = leading >= 0 and all(
            small in (1, large) for small, large in zip(shape, grad.shape[leading:], strict=True)
        )
        if not broadcast:
            raise RuntimeError(
                f"Function {self.name()} returned an invalid gradient at index {position} - got "
                f"{list(grad.shape)} but expected shape compatible with {list(shape)}; "
                "a gradient has the shape of its input"
            )
        return REGISTRY["sum_to"](grad, shape=shape)


class Function:
    """The base of custom differentiable functions; call them with `MyFunction.apply(...)`.

    Subclasses define two static methods:

    forward(ctx, *inputs)   computes the output, a Tensor or a tuple with Tensors.  Nothing in it is
                            recorded.  Alternatively `forward(*inputs)` together with
                            `setup_context(ctx, inputs, output)`, whose `inputs` include those
                            left at their defaults.
    backward(ctx, *grads)   takes the gradient of each output and returns the gradient of each
                            input (None where there is none).  Written in differentiable operations
                            it can be differentiated again; if not, mark it `@once_differentiable`.
    """

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the output; every subclass defines it."""
        raise NotImplementedError(
            "You must implement the forward function for your custom autograd.Function."
        )

    @staticmethod
    def setup_context(ctx: FunctionCtx, inputs: tuple, output: Any) -> None:
        """Fill `ctx` after a `forward` that does not take it; optional."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(*args: Any, **kwargs: Any) -> Any:
        """Return the gradients of the inputs; subclasses that are differentiated define it.

        backward(ctx, *grad_outputs); declared so widely that each may name its own gradients.
        """
        raise NotImplementedError(
            "You must implement the backward method for your custom autograd.Function to "
            "differentiate through it."
        )

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run `forward` and record the call where grad mode asks for it.

        Keywords are taken by a Function that defines `setup_context`.  Raises TypeError when
        `forward` returns neither a Tensor nor a tuple, and RuntimeError (under a Taylor-mode sweep
        NoTaylorRule) inside a forward-mode sweep, for which a custom Function has no rule.
        Inside of vmap it is run for one example after the other.
        """
        with_setup = cls.setup_context is not Function.setup_context
        if with_setup:
            args = _bound(cls, args, kwargs)
        elif kwargs:
            raise TypeError(
                f"{cls.__name__}.apply() takes no keyword arguments, got {sorted(kwargs)}; pass "
                "them by position, or define setup_context"
            )
        inner = innermost(args)
        if inner is not None and not inner.in_sweep:
            return inner.each_example(cls.apply, args)
        _refuse_interpreters(cls, args)
        needs = tuple(isinstance(a, Tensor) and a.requires_grad for a in args)
        ctx = FunctionCtx(needs)
        with modes.no_grad():
            if with_setup:
                outputs = cls.forward(*args)
                cls.setup_context(ctx, args, outputs)
            else:
                outputs = cls.forward(ctx, *args)
        if not isinstance(outputs, (Tensor, tuple)):
            raise TypeError(
                f"{cls.__name__}.forward returned {type(outputs).__name__}; expected a Tensor or "
                "a tuple of Tensors"
            )
        many = outputs if isinstance(outputs, tuple) else (outputs,)
        _check_dirty(cls, ctx, args, many)
        if modes.is_grad_enabled() and any(needs):
            many = _record(cls, ctx, args, many)
        else:
            many = tuple(_returned(cls, ctx, args, output) for output in many)
        ctx._dirty = ()
        return many if isinstance(outputs, tuple) else many[0]


def _bound(cls: type[Function], args: tuple, kwargs: dict) -> tuple:
    """Return all inputs of `forward` by position, defaults included."""
    try:
        bound = inspect.signature(cls.forward).bind(*args, **kwargs)
    except TypeError as error:
        raise TypeError(
            f"{cls.__name__}.apply(): {error}; it takes the inputs of forward"
        ) from None
    bound.apply_defaults()
    if bound.kwargs:
        raise TypeError(
            f"{cls.__name__}.forward has keyword-only inputs {sorted(bound.kwargs)}; backward "
            "returns gradients by position, so make them positional"
        )
    return bound.args


def _refuse_interpreters(cls: type[Function], args: tuple) -> None:
    for position, arg in enumerate(args):
        if isinstance(arg, Tensor) and arg.__dispatch__ is not None:
            raise arg.__no_rule__(cls.__name__, position)


def _check_dirty(cls: type[Function], ctx: FunctionCtx, args: tuple, outputs: tuple) -> None:
    inputs = []
    for tensor in ctx._dirty:
        if not any(tensor is output for output in outputs):
            raise RuntimeError(
                f"{cls.__name__}: a tensor given to mark_dirty is not an output of forward; "
                "return it"
            )
        if any(tensor is arg for arg in args):
            inplace.check_writable(tensor, *args)
            tensor._version[0] += 1
            inputs.append(tensor)
        else:
            warnings.warn(
                f"{cls.__name__}: mark_dirty was given a tensor that is not an input of forward; "
                "only changed inputs need the mark",
                UserWarning,
                stacklevel=3,
            )
    ctx._dirty = tuple(inputs)


def _among(tensor: Any, tensors: tuple) -> bool:
    return any(tensor is other for other in tensors)


def _returned(cls: type[Function], ctx: FunctionCtx, args: tuple, output: Any) -> Any:
    """Return what the caller gets for an output: itself, or a view of what it shares memory with.

    An input that `forward` changed and declared dirty stays itself.
    """
    if not isinstance(output, Tensor) or _among(output, ctx._dirty):
        return output
    source = next(
        (a for a in args if isinstance(a, Tensor) and a._version is output._version), output
    )
    if source is output and output._view is None and not output._requires_grad:
        if not _among(output, args):
            return output
    view = output._alias()
    base = source if source._view is None else source._view.base
    if not _among(output, ctx._non_differentiable):
        severed = not modes.is_grad_enabled()
        view._view = ViewOf(base, (), output._version[0], severed, cls.__name__)
    return view


def _record(cls: type[Function], ctx: FunctionCtx, args: tuple, outputs: tuple) -> tuple:
    """Link the outputs to a new node and move what `ctx` keeps into saved tensors."""
    node = FunctionNode(cls, ctx, args)
    node.outputs = len(outputs)
    node.output_metas = tuple(_meta(output) for output in outputs)
    results: list = []
    made: dict[int, Tensor] = {}  # the tensors of forward that are outputs of the node
    for index, output in enumerate(outputs):
        if isinstance(output, Tensor):
            dirty = _among(output, ctx._dirty)
            result = output._alias() if dirty else _returned(cls, ctx, args, output)
            if id(output) in made:
                result = result._alias()
            elif dirty or not _among(output, args):
                made[id(output)] = result
            constant = output._data.dtype.kind not in "fc"
            if not constant and not _among(output, ctx._non_differentiable):
                result._node, result._index, result._requires_grad = node, index, True
            output = _change(output, result) if dirty else result
        results.append(output)
    ctx._node = weakref.ref(node)
    known = {id(a): edge for a, edge in zip(args, node.edges, strict=True)}
    node.saved = tuple(None if t is None else _pack(t, made, known) for t in ctx._to_save)
    for name, value in list(ctx.__dict__.items()):
        if isinstance(value, Tensor) and id(value) in made:
            ctx._kept_outputs[name] = _pack(value, made, known)
            del ctx.__dict__[name]
    ctx._to_save = ctx._non_differentiable = ()
    if modes.state.anomaly:
        node.traceback = "".join(traceback.format_stack()[:-2])
    return tuple(results)


def _change(tensor: Tensor, result: Tensor) -> Tensor:
    """Give the input `tensor`, which forward changed in place, the graph place of `result`."""
    if tensor._view is None:
        tensor._take_place_of(result)
    else:
        inplace.rebase(tensor, result)
    return tensor


def _pack(
    tensor: Tensor, outputs: dict[int, Tensor], edges: dict[int, tuple | None]
) -> SavedTensor:
    """Save a tensor; outputs: those of the node, edges: those of its inputs, both by their ids."""
    output = outputs.get(id(tensor))
    if output is not None:
        return SavedTensor(output, None, is_output=True)
    key = id(tensor)
    return SavedTensor(tensor, edges[key] if key in edges else tensor._edge())


def _meta(value: Any) -> tuple | None:
    if not isinstance(value, Tensor):
        return None
    data = value._data
    return data.shape, data.dtype, devices.device_of(data)


class _TwiceNode(Node):
    """Stands behind the gradients that a once_differentiable backward returned."""

    __slots__ = ("function_name",)

    def __init__(self, edges: tuple, outputs: int, function_name: str) -> None:
        super().__init__(edges, outputs)
        self.function_name = function_name

    def name(self) -> str:
        return "OnceDifferentiableBackward"

    def check_alive(self) -> None:
        raise RuntimeError(
            "trying to differentiate twice a function that was marked with "
            f"@once_differentiable: {self.function_name}; write its backward in differentiable "
            "operations and take the mark away"
        )


def once_differentiable(backward: Callable) -> Callable:
    """Mark a `backward` whose result must not be differentiated: doing so raises RuntimeError.

    It runs in no_grad mode.  Stricter than PyTorch, which returns a wrong second derivative when
    the output gradient is a constant: here the gradients stay tied to the inputs of the Function.
    """

    @functools.wraps(backward)
    def wrapper(ctx: FunctionCtx, *grads: Any) -> Any:
        with modes.no_grad():
            results = backward(ctx, *grads)
        node = ctx._node()
        if not modes.is_grad_enabled() or node is None:
            return results
        many = results if isinstance(results, tuple) else (results,)
        edges = [*node.edges, *(g._edge() for g in grads if isinstance(g, Tensor))]
        guard = _TwiceNode(tuple(edges), len(many), node.function.__name__)
        guarded = []
        for index, result in enumerate(many):
            if isinstance(result, Tensor) and result.dtype.kind in "fc":
                result = result._alias()
                result._node, result._index, result._requires_grad = guard, index, True
            guarded.append(result)
        return tuple(guarded) if isinstance(results, tuple) else guarded[0]

    return wrapper
