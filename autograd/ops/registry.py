"""The registry of operations: one entry a primitive, and the one function that applies them.

An operation is pure: `forward(xp, *arrays, out=None, **attributes)` maps arrays of the namespace
`xp` to a new array (or writes into `out`), with no state of its own.  Its derivative is a table of
rules, one an input, written in registered operations, so that any order follows by repetition.

The parameter names of a rule say what it needs, and only that is kept for the backward pass:

- `g`                    the gradient of the output (a tuple for operations with several outputs),
- `out`                  the output,
- the name of an input   that input (a Tensor, or a Python number),
- `<input>_shape`        the shape of that input: nothing is kept alive,
- `<input>_place`        a stand-in for that input: its place in the graph, its shape and dtype, but
                         not its values (they are unspecified): nothing is kept alive,
- `<input>_columns`      whether that input is a matrix laid out by columns, as a transposed one is
                         (its gradient should be too: dense for what was transposed),
- the name of an attribute,
- a name in `shared`     a tensor that its maker returns, a function with parameter names of this
                         kind (other than `g`): all recorded passes through a node share it.

An input without a rule is a constant to the backward pass: its values may be kept, its place in the
graph is not.

For an operation with a variable number of inputs (`*xs` in its forward) there is one rule that
returns a sequence; it may ask for `xs`, `xs_shapes` and `needed` (a tuple of flags).
"""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import devices, dtypes, modes, quiet
from ..graph import FREED, AccumulateGrad, Node
from ..saved import SavedTensor
from ..tensor import Tensor, ViewOf, made_of

REGISTRY: dict[str, Op] = {}


class NoTaylorRule(RuntimeError):
    """Something without a Taylor rule was met under a derivative in the coordinates.

    what    what it is.
    layers  the modules it was met in, the innermost first.
    """

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what
        self.layers: list[Any] = []

    def __str__(self) -> str:
        return (
            f"{self.what}{self._place()} has no Taylor rule, so no derivative in the coordinates "
            "can be pushed through it; use nested differentiation instead (derivatives: nested in "
            "a config, autograd.grad(create_graph=True) in Python)"
        )

    def _place(self) -> str:
        if not self.layers:
            return ""
        names = [
            next((name for name, child in outer.named_children() if child is inner), "?")
            for inner, outer in zip(self.layers[:-1], self.layers[1:], strict=True)
        ]
        path = f" {'.'.join(reversed(names))!r}" if names else ""
        return f" in layer{path} ({type(self.layers[0]).__name__})"


_POSITIONAL = inspect.Parameter.POSITIONAL_OR_KEYWORD
_VARIADIC = inspect.Parameter.VAR_POSITIONAL


@dataclass(frozen=True)
class LoopCode:
    """An elementwise operation on numbers, as text for generated loops.

    `{0}` and `{1}` stand for the operands, `R` for their dtype.

    python  for loops on the CPU; None where numpy's own loop is faster (transcendental functions).
    cuda    for kernels on the GPU.
    """

    python: str | None
    cuda: str

    @classmethod
    def of(cls, text: str) -> LoopCode:
        """Return code that reads the same in both languages."""
        return cls(text, text)


class Op:
    """A primitive operation, and all that is known about it: what others ask, they ask here.

    name      unique key in REGISTRY.
    forward   `(xp, *arrays, out=None, **attributes) -> array | tuple of arrays`.
    vjp       rules by input name, or one callable for all inputs that returns a sequence.
    dtype     how inputs are promoted before `forward` is called: "promote" (all to their common
              dtype), "float" (as promote; integers become the default float), "same" (not at all:
              they have one dtype, or RuntimeError) or "keep".  Except for "keep", any input may be
              a Python number, which leaves the dtype as it is.
    shared    makers, by name, of what rules ask for and what does not depend on the gradient (the
              derivative of a function of one variable): their results, and the nodes of these, are
              made once for all backward passes that are recorded.  None may depend on `out` but
              through inputs without a rule, or the graph would refer to itself.
    vjp_on_host  all rules at once, with the same bits, on numpy arrays of real numbers, for passes
              that are not recorded: `(g, needed, **kept, **attributes) -> list`, one an input (None
              where it is not needed), or None for the rules to be asked.  `kept` is what a node
              saves; the `shared` values alone where there are such.
    broadcasts  inputs are broadcast against each other; their gradients are summed back.
    linear    the operation is linear in all tensor inputs jointly: its forward derivative is
              itself, applied to the tangents.
    view      the result may share memory with the first input, as PyTorch defines views.
    outputs   the number of outputs (0: a tuple of variable length).
    taylor    the rule of Taylor-mode differentiation: the name of one in jets/rules.py, or
              `(op, args, attributes) -> Jet`.  Linear operations have one by themselves; every
              other one with derivatives says which ("nested" is the general one, which costs
              2^order applications), or cannot be pushed through.
    elementwise  an element of the output depends on the inputs' elements at its place alone, and
              all have one shape after broadcasting.
    ufunc     the numpy ufunc that is all of `forward` for floating point: it may write over an
              input, and a recorded program calls it directly.
    commutative  the two inputs can be exchanged.
    code      the operation inside generated loops; it needs a `ufunc`.
    joins     `(shapes, attributes) -> indices`: where in the output each input is copied to, for an
              operation that does nothing else.
    flops     `(inputs, outputs, attributes) -> int` of anything with shapes, where it is not one an
              element.
    reads_values  False where the result depends on the shapes and dtypes of the inputs alone.
    unread    the inputs of which the forward reads the shape and dtype alone, by name.
    shaped_by_values  the shape of the result depends on the values of the inputs.
    """

    def __init__(
        self,
        name: str,
        forward: Callable,
        vjp: dict[str, Callable] | Callable | None = None,
        *,
        shared: dict[str, Callable] | None = None,
        vjp_on_host: Callable | None = None,
        dtype: str = "keep",
        broadcasts: bool = False,
        linear: bool = False,
        view: bool = False,
        outputs: int = 1,
        taylor: str | Callable | None = None,
        elementwise: bool = False,
        ufunc: str | None = None,
        commutative: bool = False,
        code: LoopCode | None = None,
        joins: Callable | None = None,
        flops: Callable | None = None,
        reads_values: bool = True,
        unread: tuple[str, ...] = (),
        shaped_by_values: bool = False,
    ) -> None:
        if name in REGISTRY:
            raise ValueError(f"an operation named {name!r} is registered already")
        if dtype not in ("promote", "float", "same", "keep"):
            raise ValueError(f"operation {name!r}: unknown dtype rule {dtype!r}")
        if code is not None and ufunc is None:
            raise ValueError(f"operation {name!r}: code for loops needs the ufunc that it repeats")
        self.name = name
        self.forward = forward
        self.dtype = dtype
        self.broadcasts = broadcasts
        self.linear = linear
        self.view = view
        self.outputs = outputs
        self.taylor = "linear" if taylor is None and linear else taylor
        self.elementwise = elementwise or ufunc is not None
        self.ufunc = ufunc
        # what the host runs in place of the forward, with the attributes: numpy's ufunc where the
        # forward is nothing else, which is a frame less; others are installed (plan/lanes/eager.py)
        self.on_host: Callable | None = getattr(forward, "on_host", None)
        self.vjp_on_host = vjp_on_host
        self.commutative = commutative
        self.code = code
        self.joins = joins
        self.flops = flops
        self.reads_values = reads_values
        self.unread = unread
        self.shaped_by_values = shaped_by_values
        self.display = "".join(part.capitalize() for part in name.split("_")) + "Backward0"
        parameters = list(inspect.signature(forward).parameters.values())[1:]
        self.variadic = any(p.kind is _VARIADIC for p in parameters)
        self.inputs = tuple(
            p.name for p in parameters if p.kind in (_POSITIONAL, _VARIADIC) and p.name != "out"
        )
        self.positions = {name: position for position, name in enumerate(self.inputs)}
        self.shapes = {f"{name}_shape": position for name, position in self.positions.items()}
        self.attributes = {
            p.name: p.default for p in parameters if p.name not in self.inputs and p.name != "out"
        }
        self.accepts_out = any(p.name == "out" for p in parameters)
        self._set_rules(vjp, shared or {})
        REGISTRY[name] = self

    def _set_rules(
        self, vjp: dict[str, Callable] | Callable | None, shared: dict[str, Callable]
    ) -> None:
        self.differentiable = vjp is not None
        self.joint: Callable | None = vjp if callable(vjp) else None
        rules: list[Callable | None]
        if self.joint is not None:
            rules = [self.joint]
        elif vjp is None:
            rules = []
        else:
            unknown = set(vjp) - set(self.inputs)
            if unknown:
                raise ValueError(f"operation {self.name!r}: rules for unknown inputs {unknown}")
            rules = [vjp.get(name) for name in self.inputs]
        self.rules = rules
        # a bit an input that has a rule; all where one rule is for all
        self.ruled = (
            -1
            if self.joint is not None
            else sum(1 << position for position, rule in enumerate(rules) if rule is not None)
        )
        self.asks = [() if r is None else tuple(inspect.signature(r).parameters) for r in rules]
        self.shared = {
            name: (maker, tuple(inspect.signature(maker).parameters))
            for name, maker in shared.items()
        }
        allowed = {"out", *self.inputs, *self.attributes}
        allowed |= {
            f"{name}{end}" for name in self.inputs for end in ("_shape", "_place", "_columns")
        }
        allowed |= {f"{name}_shapes" for name in self.inputs}
        self._refuse_unknown([names for _, names in self.shared.values()], allowed)
        self._refuse_unknown(self.asks, allowed | {"g", "needed", *self.shared})
        asked = [self._with_makers(names) for names in self.asks]
        by_name = sorted({name for names in asked for name in names})
        self.columns = {
            name: self.positions[name.removesuffix("_columns")]
            for name in by_name if name.endswith("_columns")
        }  # fmt: skip
        self.places = tuple(
            (name, self.positions[name.removesuffix("_place")])
            for name in by_name if name.endswith("_place")
        )  # fmt: skip
        saveable = {"out", *self.inputs, *self.columns}
        self.saves = [tuple(a for a in names if a in saveable) for names in asked]
        self._kept: dict[int, tuple[tuple[str, int | None], ...]] = {}
        # an output that was overwritten is computed again where all inputs are saved beside it
        self.repeats = any({"out", *self.inputs} <= set(saved) for saved in self.saves)

    def _refuse_unknown(self, asks: Sequence[tuple[str, ...]], allowed: set[str]) -> None:
        for asked in asks:
            if not set(asked) <= allowed:
                raise ValueError(
                    f"operation {self.name!r}: a rule asks for {sorted(set(asked) - allowed)}; "
                    f"it may ask for {sorted(allowed)}"
                )

    def _with_makers(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Return what a rule asks for, and what the makers of shared values among it ask for."""
        made = [self.shared[name][1] for name in names if name in self.shared]
        return tuple(dict.fromkeys([*names, *(name for asked in made for name in asked)]))

    def kept(self, flowing: int) -> tuple[tuple[str, int | None], ...]:
        """Return what a node saves: what rules of inputs with an edge (bits of `flowing`) ask.

        By name, with the position of what is an input.
        """
        if self.joint is not None:
            flowing = min(flowing, 1)
        kept = self._kept.get(flowing)
        if kept is None:
            asked = [n for k, n in enumerate(self.saves) if flowing >> k & 1]
            names = dict.fromkeys(name for names in asked for name in names)
            kept = self._kept[flowing] = tuple((n, self.positions.get(n)) for n in names)
        return kept

    def pull_back(
        self, values: dict[str, Any], needed: Sequence[bool], fetch: Callable[[str], Any]
    ) -> list:
        """Evaluate the rules of the needed inputs.

        values  what is known by name: "g", "needed"; what the rules ask for besides is added, from
                the makers of shared values and from `fetch(name)`.
        """
        if self.joint is not None:
            return list(self.joint(*self._found(self.asks[0], values, fetch)))
        results: list[Tensor | None] = [None] * len(needed)
        for position, wanted in enumerate(needed):
            if wanted and self.ruled >> position & 1:
                asked = self._found(self.asks[position], values, fetch)
                results[position] = self.rules[position](*asked)
        return results

    def _found(
        self, names: tuple[str, ...], values: dict[str, Any], fetch: Callable[[str], Any]
    ) -> list:
        found = []
        for name in names:
            if name not in values:
                if name in self.shared:
                    maker, asked = self.shared[name]
                    values[name] = maker(*self._found(asked, values, fetch))
                else:
                    values[name] = fetch(name)
            found.append(values[name])
        return found

    def fit(self, grad: Tensor, position: int, shape: tuple, dtype: np.dtype) -> Tensor:
        """Bring a gradient to the shape and dtype of its input."""
        if grad._data.dtype is not dtype and grad._data.dtype != dtype:
            if grad._data.dtype.kind == "c" and dtype.kind != "c":
                grad = REGISTRY["real"](grad)
            grad = cast(grad, dtype)
        if grad._data.shape != shape:
            if not self.broadcasts:
                raise RuntimeError(
                    f"{self.name}: the gradient of input {position} has shape "
                    f"{list(grad._data.shape)}, expected {list(shape)}; its vjp rule is wrong"
                )
            grad = REGISTRY["sum_to"](grad, shape=shape)
        return grad

    def __call__(self, *args: Any, **attributes: Any) -> Any:
        raise NotImplementedError  # is `apply`, below

    def __repr__(self) -> str:
        return f"<op {self.name}>"

    def __reduce__(self) -> tuple:
        return (get_op, (self.name,))


def get_op(name: str) -> Op:
    """Return the registered operation of that name."""
    return REGISTRY[name]


_NOTHING: dict[str, Any] = {}


class OpNode(Node):
    """A recorded registered operation."""

    __slots__ = ("op", "attributes", "saved", "shared", "shapes", "input_dtypes", "output_metas")

    def __init__(self, op: Op, args: Sequence, attributes: dict, outputs: tuple) -> None:
        edges: list[tuple | None] = []
        shapes, input_dtypes = [], []
        ruled, flowing, bit = op.ruled, 0, 1
        for arg in args:
            edge = None
            if isinstance(arg, Tensor):
                if arg._requires_grad and ruled & bit:
                    node = arg._node
                    if node is None or arg._view is not None:
                        edge = arg._edge()
                    else:
                        edge = (node, arg._index)
                    flowing |= bit
                data = arg._data
                shapes.append(data.shape)
                input_dtypes.append(data.dtype)
            else:
                shapes.append(())
                input_dtypes.append(None)
            edges.append(edge)
            bit <<= 1
        super().__init__(tuple(edges), len(outputs))
        self.op = op
        self.attributes = attributes
        self.shapes = shapes
        self.input_dtypes = input_dtypes
        self.output_metas = ()
        if op.outputs != 1:
            self.output_metas = tuple(
                (o._data.shape, o._data.dtype, devices.device_of(o._data)) for o in outputs
            )
        self.shared: dict[str, SavedTensor] = _NOTHING
        kept = op.kept(flowing)
        self.saved = self._save(kept, args, outputs) if kept else _NOTHING

    def _save(self, kept: Sequence[tuple], args: Sequence, outputs: tuple) -> dict[str, Any]:
        op, edges = self.op, self.edges
        saved: dict[str, Any] = {}
        for name, position in kept:
            if position is not None and not op.variadic:
                arg = args[position] if position < len(args) else None
                saved[name] = SavedTensor(arg, edges[position]) if isinstance(arg, Tensor) else arg
            elif name == "out":
                packed = tuple([SavedTensor(o, None, is_output=True) for o in outputs])
                saved[name] = packed if op.outputs != 1 else packed[0]
            elif op.variadic:
                saved[name] = tuple(map(_pack, args, edges))
            else:
                data = args[op.columns[name]]._data  # and not by rows too, as a column alone is
                saved[name] = data.ndim == 2 and data.flags.fnc
        return saved

    def name(self) -> str:
        return self.op.display

    def check_alive(self) -> None:
        if self.saved is None:
            raise RuntimeError(FREED.format(name=self.name()))

    def release(self) -> None:
        if self.saved is not _NOTHING:
            self.saved = None
        self.shared = _NOTHING

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_saved_"):
            self.check_alive()
            name = name.removeprefix("_saved_")
            if name in self.saved:
                return self._own(name)
        raise AttributeError(name)

    def _own(self, name: str) -> Any:
        """Return what is saved by a name, as a tensor that no rule is given."""
        packed = self.saved[name]
        if type(packed) is tuple:
            return tuple(p.unpack(self) if type(p) is SavedTensor else p for p in packed)
        if type(packed) is SavedTensor and not packed.overwritten:
            return packed.unpack(self)
        return self.argument(name)

    def argument(self, name: str) -> Any:
        """Return what a rule asks for by name, other than the gradient itself."""
        op, saved = self.op, self.saved
        if name in saved:
            packed = saved[name]
            if type(packed) is SavedTensor:
                if name == "out" and op.repeats and packed.overwritten:
                    return op(*[self.argument(name) for name in op.inputs], **self.attributes)
                return packed.for_rule(self)
            if type(packed) is tuple:
                return tuple(p.for_rule(self) if type(p) is SavedTensor else p for p in packed)
            return packed
        if name in op.shapes:
            return self.shapes[op.shapes[name]]
        return self.attributes[name] if name in op.attributes else tuple(self.shapes)

    def _is_as_saved(self) -> bool:
        """Return whether nobody has written to what was saved since."""
        for packed in self.saved.values():
            if type(packed) is SavedTensor and packed.counter[0] != packed.version:
                return False
        return True

    def _place(self, position: int, g: Tensor) -> Tensor:
        """Return a tensor at an input's place in the graph, with memory that is there anyway."""
        shape, dtype = self.shapes[position], self.input_dtypes[position]
        data = g._data
        if data.shape != shape or data.dtype != dtype:
            data = devices.namespace_of(data).empty(shape, dtype)
        tensor = made_of(data)
        edge = self.edges[position]
        if edge is not None:
            node, tensor._index = edge
            tensor._requires_grad = True
            if isinstance(node, AccumulateGrad):
                tensor._accumulator = node.variable._accumulator
                tensor._hooks = node.variable._hooks
            else:
                tensor._node = node
        return tensor

    def run(self, grads: list, needed: Sequence[bool]) -> Sequence:
        op = self.op
        results = None if op.vjp_on_host is None else self._on_host(grads[0], needed)
        if results is None:
            results = self._by_rules(grads, needed)
        shapes, dtypes = self.shapes, self.input_dtypes
        for position, grad in enumerate(results):
            if grad is not None and needed[position]:
                data = grad._data
                if data.shape != shapes[position] or data.dtype is not dtypes[position]:
                    results[position] = op.fit(grad, position, shapes[position], dtypes[position])
        return results

    def _on_host(self, g: Tensor, needed: Sequence[bool]) -> list | None:
        """Return what the rules would, without the operations that they are written in.

        None where these may be recorded, and for values that are no numpy arrays of real numbers of
        one dtype, that hooks have packed, or that somebody has written to.
        """
        op, state = self.op, modes.state
        kept = self.shared if op.shared else self.saved
        if not kept or state.grad_enabled or state.tracer is not None or type(g) is not Tensor:
            return None
        array = g._data
        if type(array) is not np.ndarray or array.dtype.kind != "f":
            return None
        if op.shared and not self._is_as_saved():
            return None
        values = {}
        for name, packed in kept.items():
            if type(packed) is SavedTensor:
                if packed.unpack_hook is not None or packed.overwritten:
                    return None
                packed = packed.data
                if type(packed) is not np.ndarray or packed.dtype != array.dtype:
                    return None
            values[name] = packed
        before = quiet.SETTING.set(quiet.QUIET)
        try:
            results = op.vjp_on_host(array, needed, **values, **self.attributes)
        finally:
            quiet.SETTING.reset(before)
        if results is None:
            return None
        return [x if x is None else g if x is array else made_of(np.asarray(x)) for x in results]

    def _by_rules(self, grads: list, needed: Sequence[bool]) -> list:
        op = self.op
        if op.outputs == 1:
            g: Any = grads[0]
        else:
            g = tuple(
                Tensor(devices.zeros(*meta)) if grad is None else grad
                for grad, meta in zip(grads, self.output_metas, strict=True)
            )
        values = {"g": g, "needed": needed, **self.attributes}
        shares = op.shared and modes.state.tracer is None and self._is_as_saved()
        if shares and self.shared:
            for name, packed in self.shared.items():
                values[name] = packed.for_rule(self)
        else:
            for name, position in op.places:
                values[name] = self._place(position, grads[0])
        results = op.pull_back(values, needed, self.argument)
        if shares and not self.shared and modes.state.grad_enabled:
            self.shared = {
                name: _pack(values[name], values[name]._edge())
                for name in op.shared if name in values
            }  # fmt: skip
        return results


def _pack(value: Any, edge: tuple | None) -> Any:
    return SavedTensor(value, edge) if isinstance(value, Tensor) else value


def into(out: Any, result: Any) -> Any:
    """Return `result`, or `out` with `result` written into it."""
    if out is None:
        return result
    out[...] = result
    return out


def cast(tensor: Tensor, dtype: np.dtype) -> Tensor:
    """Return `tensor` in another dtype (itself when it has it), recorded as `to`."""
    return tensor if tensor._data.dtype == dtype else REGISTRY["to"](tensor, dtype=dtype)


def floating(tensor: Tensor) -> Tensor:
    """Return `tensor` with integers as numbers of the default dtype, all others as they are."""
    return tensor if tensor.dtype.kind in "fc" else cast(tensor, dtypes.get_default_dtype())


def move(tensor: Tensor, device: devices.Device) -> Tensor:
    """Return `tensor` on another device (itself when it is there), recorded as `to_device`."""
    source = tensor.device
    if source == device:
        return tensor
    return REGISTRY["to_device"](tensor, device=device, source=source)


def refuse_mixed(name: str, *args: Any) -> None:
    """Raise RuntimeError where Tensors differ in dtype: products do not promote, as in PyTorch."""
    kinds = [a.dtype for a in args if isinstance(a, Tensor)]
    if any(kind != kinds[0] for kind in kinds[1:]):
        found = [str(kind) for kind in kinds]
        raise RuntimeError(
            f"{name}: expected all inputs to have the same dtype, but got {' != '.join(found)}; "
            f"convert one of them, for example with .to(autograd.{found[0]})"
        )


def are_plain(*tensors: Tensor) -> bool:
    """Return whether operations on tensors are run one by one, on real numbers of their own.

    They are not in recordings, under vmap and in derivatives in the coordinates; half precision and
    complex numbers are no such numbers.
    """
    if modes.state.tracer is not None:
        return False
    return all(t.__dispatch__ is None and t._data.dtype.char in "fd" for t in tensors)


def _promoted(op: Op, args: tuple) -> list:
    """Return the arguments cast to the dtype the operation computes in; "same" refuses to cast."""
    if op.dtype == "same":
        refuse_mixed(op.name, *args)
    target = dtypes.result_type(*[a for a in args if a is not None])
    if op.dtype == "float" and target.kind not in "fc":
        target = dtypes.get_default_dtype()
    result = []
    for arg in args:
        if isinstance(arg, Tensor):
            arg = cast(arg, target)
        elif arg is not None and target.kind in "fc" and not isinstance(arg, (float, complex)):
            arg = float(arg)
        result.append(arg)
    return result


def _same_device(op: Op, args: Sequence) -> list:
    """Move 0-d host tensors to the others' device; refuse every other mixture."""
    found = [a.device for a in args if isinstance(a, Tensor)]
    device = next((d for d in found if d != devices.CPU), devices.CPU)
    result = []
    for arg in args:
        if isinstance(arg, Tensor) and arg.device != device:
            if arg.device != devices.CPU or arg.ndim:
                raise RuntimeError(
                    f"{op.name}: expected all tensors to be on the same device, but found at least "
                    f"two devices, {device} and {arg.device}; move one with .to(device)"
                )
            arg = move(arg, device)
        result.append(arg)
    return result


def apply(op: Op, *args: Any, **attributes: Any) -> Any:
    """Run an operation on Tensors and Python numbers, and record it where grad mode asks for it.

    Optional inputs are passed as None.  Returns a Tensor, or a tuple of Tensors.
    """
    requires_grad = mixed = promote = numbers = False
    array_type: type | None = None
    dtype = None
    arrays = []
    for arg in args:
        if type(arg) is not Tensor:
            if not isinstance(arg, Tensor):
                arrays.append(arg)
                if arg is not None:
                    numbers = True
                    promote = promote or isinstance(arg, complex)
                continue
            if arg.__dispatch__ is not None:
                return arg.__dispatch__(op, args, attributes)
        if arg._view is not None:
            arg._sync()
        if arg._requires_grad:
            requires_grad = True
        data = arg._data
        arrays.append(data)
        if array_type is None:
            array_type, dtype = type(data), data.dtype
            continue
        if type(data) is not array_type:
            mixed = True
        if data.dtype is not dtype and data.dtype != dtype:
            promote = True
    given = args
    if mixed:
        args = tuple(_same_device(op, args))
    if op.dtype != "keep":
        # Python numbers leave floating point tensors as they are; numpy sees them as weak
        if promote or ((numbers or op.dtype == "float") and dtype.kind not in "fc"):
            args = tuple(_promoted(op, args))
    if len(attributes) != len(op.attributes):
        attributes = {**op.attributes, **attributes}
    if args is not given:
        arrays = [a._data if isinstance(a, Tensor) else a for a in args]
    xp, place = np, None
    if array_type is not np.ndarray:
        first = next(a._data for a in args if isinstance(a, Tensor))
        xp, place = devices.namespace_of(first), devices.current(devices.device_of(first))
    before = quiet.SETTING.set(quiet.QUIET)
    try:
        if place is None and op.on_host is not None:
            result = op.on_host(*arrays, **attributes)
        elif place is None:
            result = op.forward(xp, *arrays, **attributes)
        else:
            with place:
                result = op.forward(xp, *arrays, **attributes)
    except Exception as error:
        if modes.state.tracer is not None:
            modes.state.tracer.fail_at(op, error)
        if isinstance(error, ValueError) and op.elementwise and op.broadcasts:
            _check_broadcast(op, arrays, error)
        raise
    finally:
        quiet.SETTING.reset(before)
    if type(result) is array_type:
        outputs = (made_of(result),)
    elif type(result) is tuple:
        outputs = tuple([_as_output(data) for data in result])
    else:
        outputs = (_as_output(result),)
    state = modes.state
    if state.tracer is not None:
        state.tracer.record(op, args, attributes, outputs)
    if op.view:
        _mark_views(op, args[0], attributes, outputs)
    if requires_grad and op.differentiable and state.grad_enabled:
        link(op, args, attributes, outputs)
    return outputs if type(result) is tuple else outputs[0]


Op.__call__ = apply  # a call less for each operation


def _check_broadcast(op: Op, arrays: list, error: ValueError) -> None:
    """Raise RuntimeError naming the dimension when the shapes of `arrays` do not broadcast."""
    shapes = [a.shape for a in arrays if hasattr(a, "shape")]
    for shape in shapes[1:]:
        for k, (a, b) in enumerate(zip(reversed(shapes[0]), reversed(shape), strict=False), 1):
            if a != b and 1 not in (a, b):
                dim = max(len(shapes[0]), len(shape)) - k
                raise RuntimeError(
                    f"{op.name}: The size of tensor a ({a}) must match the size of tensor b ({b}) "
                    f"at non-singleton dimension {dim}; shapes {[list(s) for s in shapes]} do not "
                    "broadcast, reshape or expand one of them"
                ) from error


def _as_output(data: Any) -> Tensor:
    """Return an array as a Tensor; a numpy scalar becomes a 0-d array."""
    return Tensor(np.asarray(data) if isinstance(data, np.generic) else data)


def _mark_views(op: Op, source: Tensor, attributes: dict, tensors: tuple) -> None:
    """Let results that share the source's memory share its version counter and know their base."""
    for position, tensor in enumerate(tensors):
        if not devices.share_memory(source._data, tensor._data):
            continue
        step = (op if op.outputs == 1 else Output(op, position), attributes)
        base, chain, severed = source, (step,), not modes.state.grad_enabled
        function = None
        if source._view is not None:
            base, chain = source._view.base, (*source._view.chain, step)
            severed = severed or source._view.severed
            function = source._view.function
        tensor._version = source._version
        tensor._view = ViewOf(base, chain, source._version[0], severed, function)


class Output:
    """One output of a view operation with several: what a view chain replays."""

    __slots__ = ("op", "position")

    def __init__(self, op: Op, position: int) -> None:
        self.op = op
        self.position = position

    def __call__(self, source: Tensor, **attributes: Any) -> Tensor:
        return self.op(source, **attributes)[self.position]


def link(op: Op, args: Sequence, attributes: dict, outputs: tuple[Tensor, ...]) -> None:
    """Record `op` as the origin of `outputs` (those of a differentiable dtype)."""
    for index, tensor in enumerate(outputs):
        if tensor._data.dtype.kind in "fc":
            tensor._requires_grad = True
            if index:
                tensor._index = index
    node = OpNode(op, args, attributes, outputs)
    if modes.state.anomaly:
        node.traceback = "".join(traceback.format_stack()[:-2])
    for tensor in outputs:
        if tensor._requires_grad:
            tensor._node = node
