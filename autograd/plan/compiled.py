"""Functions of tensors that are recorded once and replayed, with gradients of any order."""

from __future__ import annotations

import functools
import inspect
import threading
import weakref
from collections.abc import Callable, Hashable, Iterable, Sequence
from types import FunctionType
from typing import Any

import numpy as np

from .. import modes
from ..devices import namespace_of
from ..engine import grad
from ..function import Function
from ..nn.module import Module
from ..ops.registry import cast
from ..tensor import Tensor
from .chunks import Chunked
from .over_points import Result, check_chunk, results_over_points
from .trace import TraceError, trace

_FEW = 5  # points of the recording by which results are told apart: no multiple of what is common
OfTensors = Callable[[list[Tensor], Tensor], list[Tensor]]
"""What is recorded: of the arguments, and the share of all points that is among them."""

_MOST = 64  # forms of arguments that are kept, the one used last the longest
_PLAIN = (bool, int, float, complex, str, bytes, type(None))


def compile(  # noqa: A001 - the field's name
    fn: Callable | None = None,
    *,
    points: str | Iterable[str] = (),
    threads: int | None = None,
    executor: str = "auto",
) -> Any:
    """Return `fn`, a function of tensors, as one that is recorded at its first call and replayed.

    fn        any function, with `grad` inside or not: a loss, a gradient, a residual. It takes
              tensors and lists, tuples and dicts of them, and returns the same. Other arguments,
              and the numbers and texts that it reads from around itself, are frozen, and it is
              recorded once for each of them. What the functions that it calls read, attributes
              of objects and what is inside of a dict or an array are frozen for good.
    points    names of the arguments that have a row a point, equally many. Results are then
              computed in chunks of points that fit the caches, on all cores; each has to be a row
              a point, a sum or a mean over them, or no matter of points.
    threads   that replay chunks; None takes one a core, or as many as `set_num_threads` says.
    executor  "numpy", "numba", or "auto": numba where it is installed.

    The result belongs to the graph as that of `fn` does: `backward` and `grad` give gradients in
    the arguments and in the leaves that `fn` reads (the parameters of a network), and those can be
    differentiated again. It is recorded anew for other shapes, dtypes, `requires_grad`, grad mode
    and training mode. Without `points`, and for few of them, its numbers are those of `fn` to
    rounding; more are summed chunk by chunk, in an order that no number of threads changes.
    A decorator as well: `@compile` or `@compile(points="x")`.
    Raises TraceError for what a recording cannot hold (a branch on a value, printing, random
    numbers, writing), MixesPoints (a ValueError) where a result cannot be computed in chunks, and
    TypeError for arguments that are neither tensors nor hashable.
    """
    if fn is None:
        return functools.partial(compile, points=points, threads=threads, executor=executor)
    return Compiled(fn, points, threads, executor)


class Compiled:
    """A function that is recorded at its first call; see `compile`."""

    def __init__(
        self, fn: Callable, points: str | Iterable[str], threads: int | None, executor: str
    ) -> None:
        if not callable(fn):
            raise TypeError(f"compile: expected a function of tensors, got {type(fn).__name__}")
        functools.update_wrapper(self, fn, updated=())
        self.fn = fn
        self._signature = inspect.signature(fn)
        self._points = (points,) if isinstance(points, str) else tuple(points)
        self._check_points()
        self._threads, self._executor = threads, executor
        self._recorded: dict[Hashable, tuple[Recorded, list]] = {}
        self._lock = threading.Lock()

    def _check_points(self) -> None:
        names = [p.name for p in self._signature.parameters.values()
                 if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]  # fmt: skip
        for name in self._points:
            if name not in names:
                raise ValueError(
                    f"compile: points names {name!r}, and the arguments of {self._name} are "
                    f"{', '.join(names) or 'none'}"
                )

    @property
    def _name(self) -> str:
        return getattr(self.fn, "__qualname__", None) or type(self.fn).__name__

    def __repr__(self) -> str:
        return f"compile({self._name})"

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """Bind as a method does; each object has recordings of its own."""
        if instance is None:
            return self
        bound = Compiled(
            self.fn.__get__(instance, owner), self._points, self._threads, self._executor
        )
        name = self.__dict__.get("__name__")
        if name is not None and hasattr(instance, "__dict__"):
            instance.__dict__[name] = bound
        return bound

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        given = self._signature.bind(*args, **kwargs)
        leaves: list[Tensor] = []
        points: list[int] = []
        names = self._points
        shape = []
        for name, value in given.arguments.items():
            first = len(leaves)
            shape.append((name, self._taken_apart(name, value, leaves)))
            if name in names:
                points += range(first, len(leaves))
        if modes.state.tracer is not None or any(t.__dispatch__ is not None for t in leaves):
            return self.fn(*args, **kwargs)  # a part of another recording, or of a forward sweep
        key = (tuple(shape), _surroundings(self.fn))
        with self._lock:
            found = self._recorded.get(key)
            if found is None:
                results: list = []
                flat = self._on_leaves(given, tuple(shape), results)
                found = (
                    Recorded(flat, points, self._name, self._threads, self._executor), results,
                )  # fmt: skip
            _keep(self._recorded, key, found)
        recorded, results = found
        return _put_together(results, iter(recorded(leaves)))

    def _taken_apart(self, name: str, value: Any, leaves: list[Tensor]) -> Hashable:
        """Append the tensors of an argument, and return all else that there is in it."""
        if isinstance(value, Tensor):
            leaves.append(value)
            return _LEAF
        if type(value) in (list, tuple):
            return type(value), tuple(self._taken_apart(name, v, leaves) for v in value)
        if type(value) is dict:
            return dict, tuple((k, self._taken_apart(name, v, leaves)) for k, v in value.items())
        try:
            hash(value)
        except TypeError:
            raise TypeError(
                f"{self._name}: argument {name!r} is of type {type(value).__name__}; a compiled "
                "function takes tensors, lists, tuples and dicts of them, and what is hashable: "
                "autograd.tensor(...) makes one of an array"
            ) from None
        return _Frozen(value)

    def _on_leaves(
        self, given: inspect.BoundArguments, shape: tuple, results: list
    ) -> OfTensors:
        """Return `fn` as a function of the tensors in its arguments to the tensors it returns.

        results: where the form of what it returns is kept.
        """
        names = [name for name, _ in shape]
        forms = [form for _, form in shape]
        signature = self._signature

        def flat(leaves: list[Tensor], _: Tensor) -> list[Tensor]:
            following = iter(leaves)
            bound = inspect.BoundArguments(
                signature,
                {n: _put_together([f], following) for n, f in zip(names, forms, strict=True)},
            )
            found: list[Tensor] = []
            results[:] = [self._form_of(self.fn(*bound.args, **bound.kwargs), found)]
            return found

        return flat

    def _form_of(self, value: Any, found: list[Tensor]) -> Any:
        if isinstance(value, Tensor):
            found.append(value)
            return _LEAF
        if type(value) in (list, tuple):
            return type(value), tuple(self._form_of(v, found) for v in value)
        if type(value) is dict:
            return dict, tuple((k, self._form_of(v, found)) for k, v in value.items())
        if isinstance(value, _PLAIN):
            return _Frozen(value)
        raise TypeError(
            f"{self._name} returned {type(value).__name__}; a compiled function returns tensors, "
            "lists, tuples and dicts of them, numbers and None"
        )


class _Leaf:
    """The place of a tensor in an argument or a result."""


_LEAF = _Leaf()


class _Frozen:
    """A value that is no tensor, equal to those of its type and value: 1 is not True, or 1.0."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, _Frozen)
            and type(other.value) is type(self.value)
            and (other.value is self.value or bool(_exact(other.value) == _exact(self.value)))
        )

    def __hash__(self) -> int:
        return hash(_exact(self.value))


def _exact(value: Any) -> Any:
    """Return what tells numbers apart by their bits: -0.0 is not 0.0, and nan is nan."""
    if isinstance(value, float):
        return float(value).hex()
    if isinstance(value, complex):
        return value.real.hex(), value.imag.hex()
    return value


class _Same:
    """An object that is only equal to itself, also when it is gone and another has its address."""

    __slots__ = ("reference", "address")

    def __init__(self, value: Any) -> None:
        self.reference, self.address = weakref.ref(value), id(value)

    def __eq__(self, other: object) -> bool:
        mine = self.reference()
        return isinstance(other, _Same) and mine is not None and mine is other.reference()

    def __hash__(self) -> int:
        return hash(self.address)


def _keep(kept: dict, key: Hashable, value: Any) -> None:
    """Put a value last among those that are kept, and drop those that were not used for long."""
    kept.pop(key, None)
    kept[key] = value
    while len(kept) > _MOST:
        del kept[next(iter(kept))]


def _put_together(form: Any, leaves: Any) -> Any:
    """Return what was taken apart into a form, with other tensors in its places."""
    (form,) = form
    if form is _LEAF:
        return next(leaves)
    if isinstance(form, _Frozen):
        return form.value
    kind, parts = form
    if kind is dict:
        return {key: _put_together([part], leaves) for key, part in parts}
    return kind(_put_together([part], leaves) for part in parts)


def _surroundings(fn: Callable) -> Hashable:
    """Return what a function branches on besides its arguments, as far as it can be seen.

    The numbers and texts that it reads from its closure and its module, which tensors are there,
    and of modules (it itself, or what it is a method of, too) the parameters, the buffers and
    whether they are in training mode.
    """
    function = getattr(fn, "__func__", fn)
    seen: list[Any] = [getattr(fn, "__self__", None)]
    if isinstance(fn, Module):
        seen.append(fn)
    if isinstance(function, FunctionType):
        for cell in function.__closure__ or ():
            try:
                seen.append(cell.cell_contents)
            except ValueError:  # not given yet
                continue
        known = function.__globals__
        seen += [known[name] for name in function.__code__.co_names if name in known]
    found: list[Hashable] = []
    for value in seen:
        if isinstance(value, Module):
            held = (*value.parameters(), *value.buffers())
            found.append((
                tuple(module.training for module in value.modules()), tuple(map(_Same, held)),
            ))  # fmt: skip
        elif isinstance(value, _PLAIN):
            found.append(_Frozen(value))
        elif isinstance(value, Tensor):
            found.append(_Same(value))
    return tuple(found)


class Recorded:
    """A function of a list of tensors to such a list, recorded for each form of them.

    points: the positions of those that have a row a point. joined: whether each result has, and is
    otherwise to be added up over chunks; None where that is yet to be found.
    """

    def __init__(
        self,
        fn: OfTensors,
        points: Sequence[int],
        name: str,
        threads: int | None,
        executor: str,
        joined: Sequence[bool] | None = None,
    ) -> None:
        self.fn, self.points, self.name, self.joined = fn, tuple(points), name, joined
        self.threads, self.executor = threads, executor
        self._plans: dict[Hashable, Plan] = {}
        self._lock = threading.Lock()

    def __call__(self, leaves: list[Tensor]) -> list[Tensor]:
        self._check_lengths(leaves)
        key = (modes.is_grad_enabled(), tuple(
            (t._data.shape[k in self.points :], t._data.dtype, type(t._data), t._requires_grad)
            for k, t in enumerate(leaves)
        ))  # fmt: skip
        with self._lock:
            plan = self._plans.get(key)
            if plan is None or not plan.is_current():
                plan = Plan(self, leaves)
            _keep(self._plans, key, plan)
        results = _Replay.apply(plan, *leaves, *plan.parameters)
        return list(results)

    def _check_lengths(self, leaves: list[Tensor]) -> None:
        lengths = {k: leaves[k]._data.shape[:1] for k in self.points}
        if len(set(lengths.values())) > 1 or () in lengths.values():
            told = ", ".join(str(list(leaves[k].shape)) for k in self.points)
            raise ValueError(
                f"{self.name}: the arguments that are named as points have shapes {told}; each "
                "needs a row a point, equally many"
            )

    @functools.cached_property
    def pulled(self) -> dict[Hashable, Recorded]:
        """Vector-Jacobian products of it, by what is differentiated."""
        return {}


class Plan:
    """A function of tensors as it was recorded for one form of them.

    parameters: the leaves that require gradients and are read besides the arguments.
    """

    def __init__(self, recorded: Recorded, leaves: list[Tensor]) -> None:
        self.recorded = recorded
        self.grad_mode = modes.is_grad_enabled()
        self._lock = threading.RLock()
        self._asked = tuple(t._requires_grad for t in leaves)
        self._rows = recorded.points
        # what is no row a point is copied to a place that stays, so that programs stay bound
        self._places = {
            k: _place_for(t) for k, t in enumerate(leaves) if k not in self._rows
        }
        self._count = _like(leaves, 0.0)
        self._probes: tuple | None = None  # recordings with few points, which all others are like
        self.found = self._read(leaves)
        kinds = ["rows" if one.joined else "sum" for one in self.found]
        self._value = self._chunked(lambda rows: self._results(rows)[1], kinds)
        self._with_gradients: dict[tuple, Chunked] = {}

    # ---- recording

    def _read(self, leaves: list[Tensor]) -> list[Result]:
        """Record at a few points, and tell from that what is read and what results are."""
        given = self.recorded.joined
        if not self._rows:
            program, outputs = self._trace(list(leaves))
            found = [Result(False, 0)] * len(outputs)
        elif given is not None:
            program, outputs = self._trace(_some(leaves, self._rows, _FEW))
            found = [Result(joined, 0) for joined in given]
        else:
            few = self._trace(_some(leaves, self._rows, _FEW))
            more = self._trace(_some(leaves, self._rows, 2 * _FEW))
            program, outputs = few
            by_rows = sorted(self._rows)
            probes = _points_first(program, by_rows), _points_first(more[0], by_rows)
            found = results_over_points(*probes, len(by_rows))
            self._probes = probes
        self._is_number = [t._data.shape for t in outputs] == [()]
        self.differentiable = [t._requires_grad for t in outputs]
        read = [captured.tensor() for captured in program.captured]
        known = [t for t in read if t is not None]
        self.parameters = [t for t in known if t._requires_grad]
        for tensor in self.parameters:
            if tensor._node is not None:
                raise TraceError(
                    f"{self.recorded.name} reads a tensor of shape {list(tensor.shape)} that was "
                    "computed outside of it and requires gradients; pass it as an argument, or "
                    "compute it inside"
                )
        self._flags = [(weakref.ref(t), t._requires_grad) for t in known]
        return found

    def is_current(self) -> bool:
        """Return whether the tensors that are read still require gradients, or still do not."""
        return all(
            tensor is None or tensor._requires_grad == flag
            for tensor, flag in ((reference(), flag) for reference, flag in self._flags)
        )

    def _trace(self, leaves: list[Tensor]) -> tuple[Any, list[Tensor]]:
        inputs = [
            Tensor(t._data.copy(), asked) for t, asked in zip(leaves, self._asked, strict=True)
        ]
        with self._mode():
            return trace(lambda *given: self.recorded.fn(list(given), _like(leaves, 1.0)), inputs)

    def _mode(self) -> Any:
        return modes.enable_grad() if self.grad_mode else modes.no_grad()

    def _leaves(self, rows: list[Tensor]) -> list[Tensor]:
        """Return the arguments of a recording: its own rows, and the places of the others."""
        given = iter(rows)
        return [
            next(given).requires_grad_(asked) if k in self._rows else self._places[k]
            for k, asked in enumerate(self._asked)
        ]

    def _results(self, rows: list[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
        """Return the arguments and the results of a chunk, as they are joined or added up."""
        leaves = self._leaves(rows[: len(self._rows)])
        with self._mode():
            return leaves, self._parts(leaves, rows[-1].sum() / self._count)

    def _parts(self, leaves: list[Tensor], share: Tensor) -> list[Tensor]:
        """Return the results of a chunk that has such a share of the points."""
        done = modes.state.tracer.program.instructions
        before = len(done)
        results = self.recorded.fn(leaves, share)
        if self._probes is not None:
            check_chunk(*self._probes, done[before:], len(leaves[self._rows[0]]._data))
        return [
            t * cast(share**one.power, t._data.dtype) if one.power else t
            for t, one in zip(results, self.found, strict=True)
        ]

    def _chunked(self, fn: Callable, kinds: list) -> Chunked:
        return Chunked(
            fn, [*self._places.values(), self._count, *self.parameters], kinds,
            threads=self.recorded.threads, whole=not self._rows, executor=self.recorded.executor,
        )  # fmt: skip

    # ---- replaying

    def run(self, tensors: Sequence[Tensor], wanted: tuple[bool, ...]) -> tuple[list, list | None]:
        """Return the results as arrays, and their gradient in what is wanted, where there is one.

        Of a single number the gradient comes with it: it is what is asked for next.
        """
        single = self._is_number and all(self.differentiable) and any(wanted)
        with self._lock:
            rows = self._given(tensors)
            if not single:
                return self._value(rows), None
            if wanted not in self._with_gradients:
                self._with_gradients[wanted] = self._chunked(
                    functools.partial(self._value_and_gradient, wanted),
                    ["sum", *self._gradient_kinds(wanted)],
                )
            value, *gradients = self._with_gradients[wanted](rows)
        following = iter(gradients)
        return [value], [next(following) if one else None for one in wanted]

    def _given(self, tensors: Sequence[Tensor]) -> list:
        for k, place in self._places.items():
            place._data[...] = tensors[k]._data
        if not self._rows:
            return [self._count._data.reshape(1)]
        rows = [tensors[k]._data for k in self._rows]
        count = len(rows[0])
        self._count._data[...] = count
        return [*rows, namespace_of(rows[0]).ones((count, 1))]

    def _gradient_kinds(self, wanted: tuple[bool, ...]) -> list:
        return ["rows" if k in self._rows else "sum" for k, one in enumerate(wanted) if one]

    def _value_and_gradient(self, wanted: tuple[bool, ...], rows: list[Tensor]) -> list[Tensor]:
        leaves, (value,) = self._results(rows)
        chosen = [t for t, one in zip([*leaves, *self.parameters], wanted, strict=True) if one]
        gradients = grad(value, chosen, materialize_grads=True)
        return [value.detach(), *gradients]

    def pulled(self, wanted: tuple[bool, ...]) -> Recorded:
        """Return the function of the arguments and a gradient of each result to their product."""
        key = (self._asked, wanted, tuple(map(id, self.parameters)))
        products = self.recorded.pulled
        if key not in products:
            products[key] = self._pulled(wanted)
        return products[key]

    def _pulled(self, wanted: tuple[bool, ...]) -> Recorded:
        count, recorded, parameters = len(self._asked), self.recorded, self.parameters
        chosen = [k for k, one in enumerate(self.differentiable) if one]

        def product(given: list[Tensor], share: Tensor) -> list[Tensor]:
            leaves, seeds = given[:count], given[count:]
            further = modes.is_grad_enabled()
            with modes.enable_grad():
                results = self._parts(leaves, share)
            sources = zip([*leaves, *parameters], wanted, strict=True)
            return list(grad(
                [results[k] for k in chosen], [t for t, one in sources if one], seeds,
                create_graph=further, materialize_grads=True,
            ))  # fmt: skip

        points, joined = (), None
        if self._rows:
            seeds = [count + place for place, k in enumerate(chosen) if self.found[k].joined]
            points = [*self._rows, *seeds]
            joined = [kind == "rows" for kind in self._gradient_kinds(wanted)]
        return Recorded(
            product, points, recorded.name, recorded.threads, recorded.executor, joined
        )


class _Replay(Function):
    """A call of a recorded function."""

    @staticmethod
    def forward(ctx: Any, plan: Plan, *tensors: Tensor) -> tuple[Tensor, ...]:
        wanted = ctx.needs_input_grad[1:]
        arrays, ctx.gradients = plan.run(tensors, wanted if plan.grad_mode else ())
        ctx.plan, ctx.wanted = plan, wanted
        ctx.save_for_backward(*tensors)
        outputs = tuple(Tensor(array) for array in arrays)
        ctx.mark_non_differentiable(
            *(t for t, one in zip(outputs, plan.differentiable, strict=True) if not one)
        )
        return outputs

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        tensors, plan = ctx.saved_tensors, ctx.plan
        if ctx.gradients is not None and not modes.is_grad_enabled():
            (seed,) = grads
            return (None, *(None if g is None else Tensor(g) * seed for g in ctx.gradients))
        count = len(tensors) - len(plan.parameters)
        seeds = [g for g, one in zip(grads, plan.differentiable, strict=True) if one]
        products = iter(plan.pulled(ctx.wanted)([*tensors[:count], *seeds]))
        return (None, *(next(products) if one else None for one in ctx.wanted))


def _place_for(tensor: Tensor) -> Tensor:
    return Tensor(tensor._data.copy(), tensor._requires_grad)


def _like(leaves: list[Tensor], value: float) -> Tensor:
    """Return a number on the device of some tensors."""
    xp = namespace_of(leaves[0]._data) if leaves else np
    return Tensor(xp.full((), value))


def _some(leaves: list[Tensor], rows: Sequence[int], count: int) -> list[Tensor]:
    """Return tensors with so many points, those there are over and over."""
    found = list(leaves)
    for k in rows:
        data = leaves[k]._data
        if len(data):
            found[k] = Tensor(data[np.arange(count) % len(data)])
        else:
            found[k] = Tensor(namespace_of(data).ones((count, *data.shape[1:]), data.dtype))
    return found


def _points_first(program: Any, rows: list[int]) -> Any:
    """Return a program whose inputs that are points come first."""
    points = [program.inputs[k] for k in rows]
    program.inputs = points + [v for k, v in enumerate(program.inputs) if k not in rows]
    return program
