"""Reverse mode: `backward` and `grad`, iterative, freeing as they go, safe in threads.

Nodes carry sequence numbers that grow along the graph, so the nodes reachable from the roots,
sorted by falling number, are an order in which every node meets its complete output gradients.
Gradients of leaves are collected and added to `.grad` at the very end: a backward that fails
leaves every `.grad` as it was.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from operator import attrgetter
from sys import getrefcount
from typing import Any, Literal, overload

import numpy as np

from . import devices, modes, quiet
from .graph import AccumulateGrad, Node
from .levels import Interpreted, held, innermost, next_level
from .ops.registry import REGISTRY, OpNode
from .tensor import Tensor, made_of, method

_warned_cycle = False
_add_op = REGISTRY["add"]


def backward(
    tensors: Tensor | Sequence[Tensor],
    grad_tensors: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Tensor | Sequence[Tensor] | None = None,
) -> None:
    """Add the gradients of `tensors` to `.grad` of the leaves (or of `inputs` only).

    tensors       roots; `grad_tensors[i]` has the shape of `tensors[i]`, or is None where the root
                  has one element (then it is 1).
    retain_graph  keep the saved values for another pass; defaults to `create_graph`.
    create_graph  record the backward pass itself, for higher derivatives.
    Raises RuntimeError for roots without a graph, shapes that do not match, and a graph whose
    saved values were freed.  Nothing is accumulated when it raises.
    """
    if create_graph:
        _warn_cycle_once()
    _run_backward(_as_tuple(tensors, "tensors"), grad_tensors, retain_graph, create_graph, inputs)


def _run_backward(
    roots: tuple, grad_tensors: Any, retain_graph: bool | None, create_graph: bool, inputs: Any
) -> None:
    targets = None
    if inputs is not None:
        _checked_inputs(_as_tuple(inputs, "inputs"))
        inputs = tuple(map(_of_all, _as_tuple(inputs, "inputs")))
        targets = _checked_inputs(inputs)
    with _grad_mode(create_graph):
        seeds = _seeds(roots, grad_tensors)
        retain = create_graph if retain_graph is None else bool(retain_graph)
        task = _Task(seeds, targets, retain, create_graph, to_leaves=True)
        task.run()
        if targets is None:
            for accumulator, gradient in task.leaves.items():
                _accumulate(accumulator.variable, gradient, create_graph, accumulator.lock)
                _tell_accumulated(accumulator.variable)
            for tensor, gradient in task.retained:
                _accumulate(tensor, gradient, create_graph, None)
        else:
            found = {
                id(tensor): (tensor, gradient, getattr(node, "lock", None))
                for tensor, gradient, (node, _) in zip(
                    inputs, task.captured(), targets, strict=True
                )
            }
            for tensor, gradient, lock in found.values():
                if gradient is not None:
                    _accumulate(tensor, gradient, create_graph, lock)
                    _tell_accumulated(tensor)


@overload
def grad(
    outputs: Tensor | Sequence[Tensor],
    inputs: Tensor | Sequence[Tensor],
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: Literal[False] | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
    *,
    only_inputs: bool = True,
) -> tuple[Tensor, ...]: ...


@overload
def grad(
    outputs: Tensor | Sequence[Tensor],
    inputs: Tensor | Sequence[Tensor],
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
    *,
    only_inputs: bool = True,
) -> tuple[Tensor | None, ...]: ...


def grad(
    outputs: Tensor | Sequence[Tensor],
    inputs: Tensor | Sequence[Tensor],
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
    *,
    only_inputs: bool = True,
) -> tuple[Tensor | None, ...]:
    """Return the gradients of `outputs`, weighted by `grad_outputs`, for each of `inputs`.

    grad_outputs      one a root, of its shape; None where the root has one element (then 1).
    create_graph      record the backward pass, so that the results can be differentiated.
    retain_graph      keep the saved values; defaults to `create_graph`.
    allow_unused      give None for inputs that the outputs do not depend on (else RuntimeError).
    is_grads_batched  `grad_outputs` carry a leading batch dimension, and so do the results.
    materialize_grads give zeros instead of None (leaves that require grad with create_graph).
    only_inputs       False is deprecated and changes nothing (FutureWarning); see `backward`.
    `.grad` of no tensor is changed.  A loop of grad(u[i], X) over N samples costs O(N^2); where
    u[i] depends on X[i] alone, one grad(u.sum(), X) gives the same in one sweep.
    """
    if not only_inputs:
        warnings.warn(
            "grad: only_inputs=False is deprecated and ignored; to accumulate gradients of all "
            "leaves call autograd.backward",
            FutureWarning,
            stacklevel=2,
        )
    roots = _as_tuple(outputs, "outputs")
    wanted = _as_tuple(inputs, "inputs")
    if not wanted:
        raise RuntimeError("grad: inputs cannot be empty; pass the tensors to differentiate for")
    targets = _checked_inputs(wanted)
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "grad: materialize_grads=True gives zeros for unused inputs, so allow_unused=False "
            "cannot be asked for with it; leave allow_unused out"
        )
    unused_ok = bool(allow_unused) or materialize_grads
    retain = create_graph if retain_graph is None else bool(retain_graph)
    if is_grads_batched:
        return _batched(
            roots, wanted, grad_outputs, retain, create_graph, unused_ok, materialize_grads
        )
    with _grad_mode(create_graph):
        gradients = _gradients(roots, grad_outputs)
        if any(tensor.__dispatch__ is not None for tensor in (*roots, *wanted)):
            results = pull(roots, gradients, wanted, retain, create_graph)
        else:
            if modes.state.tracer is not None:
                modes.state.tracer.asked += wanted
                modes.state.tracer.asked_of += roots
            task = _Task(_at_edges(roots, gradients), targets, retain, create_graph, False)
            task.run()
            results = task.captured()
    for position, (tensor, gradient) in enumerate(zip(wanted, results, strict=True)):
        if gradient is None and materialize_grads:
            # with create_graph a leaf that can be differentiated on, again to zeros
            results[position] = REGISTRY["zeros_like"](tensor).requires_grad_(create_graph)
        elif gradient is None and not unused_ok:
            raise RuntimeError(
                f"grad: input {position} (shape {list(tensor.shape)}) appears to not have been "
                "used in the graph of the outputs. Set allow_unused=True if this is the desired "
                "behavior (a slice or copy made after the outputs is not an ancestor of them)"
            )
    return tuple(results)


def pull(
    roots: Sequence[Tensor],
    gradients: Sequence[Tensor],
    wanted: Sequence[Tensor],
    retain_graph: bool,
    create_graph: bool,
) -> list[Tensor | None]:
    """Return the gradients of roots that are weighted by `gradients`, for each of `wanted`.

    gradients  one a root, of its shape.
    None where nothing depends on what is wanted.  Roots and what is wanted may have examples (vmap)
    and tangents (forward mode: see `Dual.pull` for where).
    """
    inner = innermost((*roots, *wanted))
    if inner is not None:
        return inner.pull(
            roots, gradients, wanted,
            lambda r, g, w, retain: pull(r, g, w, retain, create_graph), retain_graph,
        )  # fmt: skip
    edges = [tensor._edge() for tensor in wanted]
    seeds = [
        (edge, gradient)
        for edge, gradient in zip((root._edge() for root in roots), gradients, strict=True)
        if edge is not None
    ]
    if not seeds:
        return [None] * len(wanted)
    tracer = modes.state.tracer
    if tracer is not None:
        tracer.asked += wanted
        tracer.asked_of += roots
    with _grad_mode(create_graph):
        task = _Task(seeds, tuple(edges), retain_graph, create_graph, to_leaves=False)
        task.run()
    return task.captured()


def _batched(
    roots: tuple,
    wanted: tuple,
    grad_outputs: Any,
    retain: bool,
    create_graph: bool,
    unused_ok: bool,
    materialize: bool,
) -> tuple:
    """Run `grad` once for all slices of the leading dimension of the grad_outputs."""
    batched = _as_tuple(grad_outputs, "grad_outputs")
    sizes = {g.shape[0] if g.ndim else -1 for g in batched if isinstance(g, Tensor)}
    if len(sizes) != 1 or -1 in sizes:
        raise RuntimeError(
            "grad: with is_grads_batched=True all grad_outputs need one leading batch dimension "
            f"of the same size, got shapes {[list(g.shape) for g in batched if g is not None]}"
        )
    (count,) = sizes
    from .batching.batched import Batched, unwrapped  # which are made of what is here

    level = next_level()
    seeds = [None if g is None else Batched(g, level) for g in batched]
    found = grad(
        roots, wanted, seeds, retain, create_graph,
        allow_unused=unused_ok, materialize_grads=materialize,
    )  # fmt: skip
    return tuple(None if one is None else unwrapped(one, level, count) for one in found)


@method(name="backward")
def _backward_method(
    self: Tensor,
    gradient: Tensor | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Tensor | Sequence[Tensor] | None = None,
) -> None:
    """Add the gradients of this tensor to the leaves: see `autograd.backward`."""
    if create_graph:
        _warn_cycle_once()
    _run_backward((self,), gradient, retain_graph, create_graph, inputs)


def _warn_cycle_once() -> None:
    global _warned_cycle
    if not _warned_cycle:
        _warned_cycle = True
        warnings.warn(
            "Using backward() with create_graph=True will create a reference cycle between the "
            "tensor and its gradient, which can keep memory alive. We recommend using "
            "autograd.grad instead; otherwise set .grad to None when you are done.",
            UserWarning,
            stacklevel=3,
        )


def _grad_mode(create_graph: bool) -> modes._Mode:
    return modes.enable_grad() if create_graph else modes.no_grad()


def _as_tuple(values: Any, what: str) -> tuple:
    if values is None or isinstance(values, Tensor):
        return (values,)
    if not isinstance(values, Sequence) and not hasattr(values, "__iter__"):
        raise TypeError(
            f"{what} must be a Tensor or a sequence of Tensors, got {type(values).__name__}"
        )
    return tuple(values)


def _checked_inputs(inputs: tuple) -> tuple:
    """Return the edges of the inputs; refuse what cannot have a gradient."""
    if not inputs:
        raise RuntimeError("inputs cannot be empty; leave the argument out for all leaves")
    edges = []
    for position, tensor in enumerate(inputs):
        if not isinstance(tensor, Tensor):
            raise TypeError(f"inputs[{position}] must be a Tensor, got {type(tensor).__name__}")
        edge = tensor._edge()
        if edge is None:
            raise RuntimeError(
                f"input {position} (shape {list(tensor.shape)}) does not require grad; "
                "call requires_grad_() on it before the computation"
            )
        edges.append(edge)
    return tuple(edges)


def _seeds(roots: tuple, gradients: Any) -> list[tuple[tuple, Tensor]]:
    """Return (edge, gradient) for each root, checked; inside of vmap for all examples."""
    checked = _gradients(roots, gradients)
    while (inner := innermost(roots)) is not None:
        roots, checked = inner.for_all_examples(roots), inner.for_all_examples(checked)
    return _at_edges(roots, checked)


def _of_all(tensor: Tensor) -> Tensor:
    """Return the tensor itself, inside of vmap the one with the values of all examples."""
    while isinstance(tensor, Interpreted) and not tensor.in_sweep:
        tensor = held(tensor)
    return tensor


def _at_edges(roots: Sequence, gradients: Sequence) -> list[tuple[tuple, Tensor]]:
    return [(root._edge(), gradient) for root, gradient in zip(roots, gradients, strict=True)]


def _gradients(roots: tuple, gradients: Any) -> list[Tensor]:
    """Return a gradient of each root, checked."""
    if gradients is None:
        gradients = (None,) * len(roots)
    gradients = _as_tuple(gradients, "grad_outputs")
    if len(gradients) != len(roots):
        raise RuntimeError(
            f"got {len(roots)} tensors and {len(gradients)} gradients; pass one gradient a tensor"
        )
    checked = []
    for position, (root, gradient) in enumerate(zip(roots, gradients, strict=True)):
        if not isinstance(root, Tensor):
            raise TypeError(
                f"element {position} of tensors must be a Tensor, got {type(root).__name__}"
            )
        if root.__dispatch__ is not None and root.in_sweep:
            raise RuntimeError(
                f"element {position} of tensors is a {type(root).__name__} of a forward sweep, "
                "which reverse mode cannot see into; differentiate outside the sweep, or by the "
                "functions of autograd.func inside of it"
            )
        if gradient is not None and not isinstance(gradient, Tensor):
            raise TypeError(
                "gradients can be either Tensors or None, but got "
                f"{type(gradient).__name__} for element {position}"
            )
        if root._edge() is None:
            raise RuntimeError(
                f"element {position} of tensors does not require grad and does not have a grad_fn; "
                "call requires_grad_() on a leaf it is made from, outside no_grad()"
            )
        if gradient is None:
            gradient = _implicit_one(root, position)
        elif gradient.shape != root.shape:
            raise RuntimeError(
                f"Mismatch in shape: grad_output[{position}] has a shape of "
                f"{list(gradient.shape)} and output[{position}] has a shape of "
                f"{list(root.shape)}; pass a gradient of the output's shape"
            )
        elif gradient.is_complex() != root.is_complex():
            raise RuntimeError(
                f"for complex tensors, output[{position}] and grad_output[{position}] are "
                f"required to have the same dtype, got {root.dtype} and {gradient.dtype}"
            )
        elif gradient.device != root.device:
            raise RuntimeError(
                f"grad_output[{position}] and output[{position}] must be on the same device, got "
                f"{gradient.device} and {root.device}; move the gradient with .to(output.device)"
            )
        elif gradient.dtype != root.dtype:
            gradient = REGISTRY["to"](gradient, dtype=root.dtype)
        checked.append(gradient)
    return checked


def _implicit_one(root: Tensor, position: int) -> Tensor:
    if root.numel() != 1:
        raise RuntimeError(
            "grad can be implicitly created only for scalar outputs, but output "
            f"{position} has shape {list(root.shape)}; pass a gradient, for example "
            "ones_like(output), or reduce it with .sum()"
        )
    if root.is_complex():
        raise RuntimeError(
            f"grad can be implicitly created only for real scalar outputs but output {position} "
            f"has dtype {root.dtype}; pass a gradient, or differentiate .abs() or .real"
        )
    if type(root) is Tensor and type(root._data) is np.ndarray and modes.state.tracer is None:
        return made_of(np.ones_like(root._data))
    return REGISTRY["ones_like"](root.detach())


def _accumulate(tensor: Tensor, gradient: Tensor, create_graph: bool, lock: Any) -> None:
    """Add `gradient` to `tensor.grad`: in place without create_graph, else as a new tensor."""
    modes.refuse_write("filling .grad, as backward() does,", "Use autograd.grad")
    if gradient.__dispatch__ is not None:
        raise RuntimeError(
            "vmap: backward() was given one gradient an example for a graph that is one for all, "
            "so that .grad would have several values; use autograd.grad, which returns them"
        )
    if lock is not None:
        with lock:
            _accumulate(tensor, gradient, create_graph, None)
        return
    present = tensor._grad
    if create_graph:  # a copy: several tensors may get the same gradient
        tensor._grad = gradient.clone() if present is None else present + gradient
        return
    with devices.current(devices.device_of(gradient._data)):
        if present is None:
            tensor._grad = Tensor(gradient._data.copy())
        else:
            present._data += gradient._data
            present._version[0] += 1


def _tell_accumulated(tensor: Tensor) -> None:
    if tensor._after_accumulation is None:
        return
    for hook in tuple(tensor._after_accumulation.hooks.values()):
        returned = hook(tensor)
        if returned is not None:
            raise TypeError(
                f"post accumulate grad hook {getattr(hook, '__name__', hook)!r} returned "
                f"{type(returned).__name__}; it has to return None"
            )


class _Task:
    """One reverse sweep."""

    def __init__(
        self,
        seeds: list[tuple[tuple, Tensor]],
        targets: tuple | None,
        retain_graph: bool,
        create_graph: bool,
        to_leaves: bool,
    ) -> None:
        self.targets = targets
        self.retain_graph = retain_graph
        self.create_graph = create_graph
        self.fills_retained = to_leaves
        self.current: Node | None = None  # whose hooks are called
        self.leaves: dict[AccumulateGrad, Tensor] = {}
        self.retained: list[tuple[Tensor, Tensor]] = []
        self.found: dict[tuple, Tensor] = {}
        self.buffers: dict[Node, list] = {}
        for edge, gradient in seeds:
            self._add(edge, gradient)
        self.order = _topological(self.buffers)
        self.wanted: dict[Node, list[bool]] | None = None  # of the nodes that have to be run
        self.captures: dict[Node, list[int]] = {}
        self.gathered: dict[Any, Any] = {}  # of hooks of several tensors
        if targets is not None:
            for node, index in targets:
                self.captures.setdefault(node, []).append(index)
            self.wanted = self._upstream_of_targets()

    def _upstream_of_targets(self) -> dict[Node, list[bool]]:
        """Return the nodes that a target's gradient flows through, and from which inputs."""
        found: dict[Node, list[bool]] = {}
        captures = self.captures
        for node in reversed(self.order):
            wanted = []
            for edge in node.edges:
                one = False
                if edge is not None:
                    to, index = edge
                    one = to in found or (to in captures and index in captures[to])
                wanted.append(one)
            if True in wanted:
                found[node] = wanted
        return found

    def _add(self, edge: tuple, gradient: Tensor) -> None:
        node, index = edge
        buffer = self.buffers.get(node)
        if buffer is None:
            buffer = self.buffers[node] = [None] * node.outputs
        if buffer[index] is None:
            buffer[index] = gradient
        elif not _added_in_place(buffer, index, gradient):
            buffer[index] = _add_op(buffer[index], gradient)

    def reaches(self, nodes: Sequence[Node | None]) -> list[bool]:
        """Return for each node whether a gradient is to arrive there, or arrives just now."""
        left = {*self.order, self.current}
        if self.wanted is not None:
            left &= {self.current, *self.wanted, *self.captures}
        return [node in left for node in nodes]

    def run(self) -> None:
        before, modes.state.task = modes.state.task, self
        try:
            self._sweep()
            for gathered in self.gathered.values():
                gathered.tell()
        finally:
            modes.state.task = before

    def _sweep(self) -> None:
        order, buffers, wanted = self.order, self.buffers, self.wanted
        order.reverse()
        while order:
            node = order.pop()
            grads = buffers.pop(node, None)
            if grads is None:
                continue
            if type(node) is AccumulateGrad:
                self._sink(node, grads[0])
                continue
            if node.hooks is not None:
                self.current = node
                for index, hooks in node.hooks.items():
                    if grads[index] is not None:
                        grads[index] = hooks(grads[index])
            if node in self.captures:
                for index in self.captures[node]:
                    if grads[index] is not None:
                        self.found[node, index] = grads[index]
            if self.fills_retained and node.retained is not None:
                self._keep_retained(node, grads)
            if wanted is None:
                self._run_node(node, grads, [edge is not None for edge in node.edges])
            elif node in wanted:
                self._run_node(node, grads, wanted[node])

    def _run_node(self, node: Node, grads: list, wanted: list[bool]) -> None:
        node.check_alive()
        results = node.run(grads, wanted)
        if node.traceback is not None or modes.state.anomaly:
            _check_anomaly(node, grads, results)
        for edge, wants, gradient in zip(node.edges, wanted, results, strict=True):
            if wants and gradient is not None:
                self._add(edge, gradient)
        if not self.retain_graph:
            node.release()

    def _sink(self, node: AccumulateGrad, gradient: Tensor) -> None:
        variable = node.variable
        if variable._hooks is not None:
            self.current = node
            gradient = variable._hooks(gradient)
        if node in self.captures:
            self.found[node, 0] = gradient
        if variable._requires_grad:
            self.leaves[node] = gradient

    def _keep_retained(self, node: Node, grads: list) -> None:
        for index, reference in node.retained.items():
            tensor = reference()
            if tensor is not None and tensor._node is node and grads[index] is not None:
                self.retained.append((tensor, grads[index]))

    def captured(self) -> list[Tensor | None]:
        """Return the gradient of each target, in order."""
        return [self.found.get(edge) for edge in self.targets or ()]


def _holders(buffer: list, index: int) -> tuple[int, int]:
    """Return how many refer to a gradient that waits in a buffer, and to its array."""
    return getrefcount(buffer[index]), getrefcount(buffer[index]._data)


_NOBODY_ELSE = _holders([Tensor(np.zeros(()))], 0)


def _added_in_place(buffer: list, index: int, gradient: Tensor) -> bool:
    """Add to the gradient that waits in a buffer, where nobody else can see it or its memory.

    So a pass that is not recorded takes no new memory for each sum; the bits are the same.
    """
    state, present = modes.state, buffer[index]
    if state.grad_enabled or state.tracer is not None:
        return False
    if type(present) is not Tensor or type(gradient) is not Tensor:
        return False
    x, y = present._data, gradient._data
    if type(x) is not np.ndarray or type(y) is not np.ndarray or not x.flags.owndata:
        return False
    if x.shape != y.shape or x.dtype != y.dtype:
        return False
    del present, x
    if _holders(buffer, index) != _NOBODY_ELSE:
        return False
    before = quiet.SETTING.set(quiet.QUIET)
    try:
        np.add(buffer[index]._data, y, out=buffer[index]._data)
    finally:
        quiet.SETTING.reset(before)
    return True


_sequence = attrgetter("sequence")


def _topological(roots: dict[Node, list]) -> list[Node]:
    """Return every node reachable from the roots, dependants first."""
    seen = set(roots)
    stack = list(roots)
    while stack:
        for edge in stack.pop().edges:
            if edge is not None:
                node = edge[0]
                if node not in seen:
                    seen.add(node)
                    stack.append(node)
    return sorted(seen, key=_sequence, reverse=True)


def _check_anomaly(node: Node, grads: list, results: Sequence) -> None:
    """Raise RuntimeError for the first input gradient that turned NaN."""
    for position, gradient in enumerate(results):
        if gradient is None:
            continue
        whole = gradient._whole()
        with devices.current(gradient.device):
            if not (whole != whole).any():
                continue
        name = (
            node.op.inputs[min(position, len(node.op.inputs) - 1)]
            if (isinstance(node, OpNode))
            else f"input {position}"
        )
        where = (
            f"\nThe operation was recorded here:\n{node.traceback}"
            if node.traceback
            else (" Run the forward pass in anomaly mode too, to see the line that recorded it.")
        )
        raise RuntimeError(
            f"Function '{node.name()}' returned nan values in its {position}th output "
            f"(the gradient of {name!r}, shape {list(gradient.shape)}).{where}"
        )
