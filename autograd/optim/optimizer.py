"""The base of all optimizers: parameter groups, state, and saving both."""

from __future__ import annotations

import functools
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar, overload

import numpy as np

from .. import devices, dtypes, modes
from ..graph import HookList, RemovableHandle
from ..nn.module import clear_grad
from ..tensor import Tensor
from .together import Moved, Together, joined

_Loss = TypeVar("_Loss")


def _hooked(step: Callable[..., Any]) -> Callable[..., Any]:
    """Return the method `step` with the optimizer's hooks called before and after it, once."""

    @functools.wraps(step)
    def with_hooks(self: Optimizer, *args: Any, **kwargs: Any) -> Any:
        if self._is_stepping or not (self._before_step.hooks or self._after_step.hooks):
            return step(self, *args, **kwargs)
        given: tuple = (self, *args)
        self._is_stepping = True
        try:
            for hook in tuple(self._before_step.hooks.values()):
                changed = hook(self, given, kwargs)
                if changed is None:
                    continue
                if not isinstance(changed, tuple) or len(changed) != 2:
                    raise RuntimeError(
                        f"hook {getattr(hook, '__name__', hook)!r} of {type(self).__name__}.step "
                        f"must return None or a tuple of (new_args, new_kwargs), but got {changed}"
                    )
                given, kwargs = changed
            result = step(*given, **kwargs)
            for hook in tuple(self._after_step.hooks.values()):
                hook(self, given, kwargs)
        finally:
            self._is_stepping = False
        return result

    return with_hooks


def _number(option: Any) -> Any:
    return option.item() if isinstance(option, Tensor) else option


class Optimizer:
    """Moves parameters in place along their gradients.

    params    an iterable of Tensors, of (name, Tensor) pairs, or of dictionaries
              `{"params": ..., "lr": ...}` that set options for a group of their own.
    defaults  the options of groups that do not set them.
    `param_groups` may be changed between steps (a learning rate, for example); `state` holds what
    the optimizer remembers of each parameter.  An option may be a Tensor of one element, which is
    read at each step.  `foreach` and `fused` choose between implementations in PyTorch; they are
    accepted, and change nothing: there is one.
    """

    elementwise = False
    """Whether `_update` treats each element alone, so that parameters can be moved together.

    A class that defines an `_update` of its own says so itself; it is not inherited with another.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "step" in vars(cls):
            cls.step = _hooked(vars(cls)["step"])  # type: ignore[method-assign]
        if "_update" in vars(cls) and "elementwise" not in vars(cls):
            cls.elementwise = False

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        self.param_groups: list[dict[str, Any]] = []
        self.state: dict[Tensor, dict[str, Any]] = defaultdict(dict)
        self.steps_taken = 0
        self._before_step, self._after_step = HookList(), HookList()
        self._is_stepping = False  # with hooks: they are called once, by the outermost step
        self._scratch: dict[tuple, Any] = {}
        self._together: dict[int, Together] = {}  # by the first of the parameters
        if isinstance(params, (Tensor, Mapping)):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, "
                f"got {type(params).__name__}; put it in a list"
            )
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], Mapping):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(dict(group))

    def add_param_group(self, group: dict[str, Any]) -> None:
        """Add parameters with options of their own; what is not set takes the defaults."""
        members = group["params"]
        members = [members] if isinstance(members, Tensor) else list(members)
        members = [m[1] if isinstance(m, tuple) else m for m in members]
        known = {id(p) for g in self.param_groups for p in g["params"]}
        for position, parameter in enumerate(members):
            if not isinstance(parameter, Tensor):
                raise TypeError(
                    f"optimizer can only optimize Tensors, but parameter {position} is "
                    f"{type(parameter).__name__}"
                )
            if not parameter.is_leaf:
                raise ValueError(
                    f"can't optimize a non-leaf Tensor: parameter {position} (shape "
                    f"{list(parameter.shape)}) was computed; detach() it"
                )
            if id(parameter) in known:
                raise ValueError(
                    f"some parameters appear in more than one parameter group, or twice: parameter "
                    f"{position} (shape {list(parameter.shape)})"
                )
            known.add(id(parameter))
        unknown = set(group) - {"params"} - set(self.defaults) - {"initial_lr"}
        if unknown:
            raise ValueError(
                f"{type(self).__name__}: unknown options {sorted(unknown)} in a parameter group; "
                f"the options are {sorted(self.defaults)}"
            )
        for name, value in self.defaults.items():
            group.setdefault(name, value)
        group["params"] = members
        self._check_options(group)
        self.param_groups.append(group)

    def _check_options(self, group: dict[str, Any]) -> None:
        for name, value in group.items():
            if isinstance(value, Tensor) and value.numel() != 1:
                raise ValueError(
                    f"{type(self).__name__}: {name} must be a number or a Tensor of one element, "
                    f"got shape {list(value.shape)}"
                )
        for name in ("lr", "eps", "weight_decay", "momentum"):
            if name in group and not 0 <= group[name] < math.inf:
                raise ValueError(
                    f"{type(self).__name__}: invalid {name}: {group[name]}; it must be finite and "
                    "not negative"
                )
        for position, beta in enumerate(group.get("betas", ())):
            if not 0 <= beta < 1:
                raise ValueError(
                    f"{type(self).__name__}: invalid beta parameter at index {position}: {beta}; "
                    "it must lie in [0, 1)"
                )

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drop the gradients, or fill them with zeros in place."""
        modes.refuse_write("zero_grad()", "Call it outside of it")
        for group in self.param_groups:
            for parameter in group["params"]:
                clear_grad(parameter, set_to_none)

    @overload
    def step(self, closure: None = None) -> None: ...

    @overload
    def step(self, closure: Callable[[], _Loss]) -> _Loss: ...

    @_hooked
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Move all parameters that have a gradient once; return the loss of `closure`, if given.

        closure  clears the gradients, computes the loss, calls backward() and returns the loss.
        """
        modes.refuse_write("a step of an optimizer", "Record the loss and its gradient alone")
        loss = None
        if closure is not None:
            with modes.enable_grad():
                loss = closure()
        for group in self.param_groups:
            # a group that was put there by hand may not have all of them
            given = {**self.defaults, **group}
            options = {name: _number(value) for name, value in given.items() if name != "params"}
            for members, together in self._moved(group["params"]):
                with devices.current(members[0].parameter.device):
                    if together is None:
                        (one,) = members
                        self._update(one.values, one.grad, one.state, options)
                    else:
                        self._move_together(members, together, options)
                for one in members:
                    one.parameter._version[0] += 1
        self.steps_taken += 1
        return loss

    def register_step_pre_hook(
        self, hook: Callable[[Any, tuple, dict[str, Any]], Any]
    ) -> RemovableHandle:
        """Call `hook(optimizer, args, kwargs)` before each step; `args` begin with the optimizer.

        It returns None, or a pair of the arguments and the keywords to step with instead
        (RuntimeError for anything else).  Copies and pickles of the optimizer have no hooks.
        """
        return self._before_step.add(hook)

    def register_step_post_hook(
        self, hook: Callable[[Any, tuple, dict[str, Any]], Any]
    ) -> RemovableHandle:
        """Call `hook(optimizer, args, kwargs)` after each step; what it returns is not looked at.

        Copies and pickles of the optimizer have no hooks.
        """
        return self._after_step.add(hook)

    def _moved(
        self, parameters: Iterable[Tensor]
    ) -> Iterator[tuple[list[Moved], Together | None]]:
        """Yield parameters that have a gradient: those moved together with their common state."""
        members = [self._member(p) for p in parameters if p._grad is not None]
        known = self._together.get(id(members[0].parameter)) if members else None
        if known is not None and known.are(members):  # as in nearly every step
            yield members, known
            return
        found: list[list[Moved]] = []
        kinds: dict[tuple, list[Moved]] = {}
        shared = _sharing([moved.parameter for moved in members])
        for k, moved in enumerate(members):
            kind = moved.kind() if self.elementwise and k not in shared else None
            if kind is None:
                found.append([moved])
            elif kind in kinds:
                kinds[kind].append(moved)
            else:
                kinds[kind] = [moved]
                found.append(kinds[kind])
        for those in found:
            yield those, self._together_of(those) if len(those) > 1 else None

    def _member(self, parameter: Tensor) -> Moved:
        state = self.state.get(parameter)
        if state is None:
            state = self.state[parameter] = {}
        if parameter._data.dtype.kind != "c":
            return Moved(parameter, parameter._data, parameter._grad._data, state)
        with devices.current(parameter.device):
            return Moved(parameter, *_as_pairs(parameter), state)

    def _together_of(self, members: list[Moved]) -> Together:
        first = id(members[0].parameter)
        together = self._together.get(first)
        if together is None or not together.are(members):
            for key in [k for k, one in self._together.items() if one.shares(members)]:
                del self._together[key]
            with devices.current(members[0].parameter.device):
                together = self._together[first] = Together(members)
        return together

    def _move_together(
        self, members: list[Moved], together: Together, options: dict[str, Any]
    ) -> None:
        values = joined([one.values for one in members])
        grad = joined([one.grad for one in members])
        self._update(values, grad, together.state, options)
        for one, part in zip(members, together.parts(values), strict=True):
            one.values[...] = part
        together.give(members)

    def _update(self, values: Any, grad: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        """Write the new values of one parameter into the array `values`; `grad` must stay as it is.

        Both are real: a complex parameter comes as the vector of its real and imaginary parts.
        """
        raise NotImplementedError(f"{type(self).__name__} defines no _update")

    @staticmethod
    def _uphill(grad: Any, out: Any) -> Any:
        """Return the gradient of what `maximize` minimizes, written into `out`."""
        out[...] = grad
        out *= -1
        return out

    def _workspace(self, like: Any, count: int = 1) -> list:
        """Return `count` arrays like `like` whose content nobody needs between updates."""
        kind = (type(like), like.dtype, devices.device_of(like))
        size = max(like.size, 1)
        flat = self._scratch.get(kind)
        if flat is None or flat.shape[0] < count or flat.shape[1] < size:
            rows = count if flat is None else max(count, flat.shape[0])
            columns = size if flat is None else max(size, flat.shape[1])
            flat = devices.namespace_of(like).empty((rows, columns), like.dtype)
            self._scratch[kind] = flat
        return [flat[k, : like.size].reshape(like.shape) for k in range(count)]

    # ---- saving and loading

    def __getstate__(self) -> dict[str, Any]:
        own = {"_scratch": {}, "_together": {}}  # of these parameters and arrays
        return {**vars(self), **own, "_before_step": HookList(), "_after_step": HookList()}

    def state_dict(self) -> dict[str, Any]:
        """Return a snapshot of state and options; parameters are numbered in order.

        Tensors in it are copies: later steps do not change them.
        """
        number = {p: k for k, p in enumerate(self._parameters())}
        state = {
            number[p]: {name: _copied(value) for name, value in entries.items()}
            for p, entries in self.state.items()
            if p in number
        }
        groups = [
            {
                **{k: v for k, v in g.items() if k != "params"},
                "params": [number[p] for p in g["params"]],
            }
            for g in self.param_groups
        ]
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Take over a snapshot made by `state_dict`, also across devices and dtypes.

        ValueError when the groups do not match in number or size; nothing is changed then.
        """
        groups = state_dict["param_groups"]
        if len(groups) != len(self.param_groups):
            raise ValueError(
                f"loaded state dict has {len(groups)} parameter groups, this optimizer has "
                f"{len(self.param_groups)}"
            )
        for position, (theirs, ours) in enumerate(zip(groups, self.param_groups, strict=True)):
            if len(theirs["params"]) != len(ours["params"]):
                raise ValueError(
                    "loaded state dict contains a parameter group that doesn't match the size of "
                    f"optimizer's group: group {position} has {len(theirs['params'])} parameters, "
                    f"here {len(ours['params'])}"
                )
        members = {
            k: p
            for theirs, ours in zip(groups, self.param_groups, strict=True)
            for k, p in zip(theirs["params"], ours["params"], strict=True)
        }
        state = {}
        for k, entries in state_dict["state"].items():
            parameter = members[int(k)]
            state[parameter] = {
                name: _restored(f"state {k} {name!r}", value, parameter)
                for name, value in entries.items()
            }
        self.state = defaultdict(dict, state)
        self._together = {}
        for theirs, ours in zip(groups, self.param_groups, strict=True):
            ours.update({k: v for k, v in theirs.items() if k != "params"})

    def _parameters(self) -> Iterable[Tensor]:
        return (p for group in self.param_groups for p in group["params"])

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for position, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {position}")
            lines.extend(f"    {k}: {v}" for k, v in sorted(group.items()) if k != "params")
        return "\n".join([*lines, ")"])


def zeros_like(array: Any) -> Tensor:
    """Return a tensor of zeros of an array's shape, dtype and device: a fresh state entry."""
    return Tensor(devices.namespace_of(array).zeros(array.shape, array.dtype))


def _sharing(parameters: Sequence[Tensor]) -> set[int]:
    """Return the places of those that begin in memory where another lies: they move in turn."""
    memories = [_memory(parameter) for parameter in parameters]
    found, end = set(), -1
    for k in sorted(range(len(memories)), key=memories.__getitem__):
        low, high = memories[k]
        if low < min(end, high):
            found.add(k)
        end = max(end, high)
    return found


def _memory(parameter: Tensor) -> tuple[int, int]:
    """Return the addresses between which a parameter lies."""
    array, start = parameter._data, parameter.data_ptr()
    if not array.size:
        return start, start
    ends = [(n - 1) * step for n, step in zip(array.shape, array.strides, strict=True)]
    low = start + sum(one for one in ends if one < 0)
    return low, low + sum(map(abs, ends)) + array.dtype.itemsize


def _as_pairs(parameter: Tensor) -> tuple[Any, Any]:
    """Return the arrays of a complex parameter and its gradient, seen as pairs of reals."""
    values, grad = parameter._data, parameter._grad._data
    if not values.flags.c_contiguous:
        raise RuntimeError(
            f"a complex parameter (shape {list(values.shape)}) must be contiguous to be optimized; "
            "make it from .contiguous()"
        )
    grad = devices.namespace_of(grad).ascontiguousarray(grad)
    real = dtypes.real_of(values.dtype)
    return values.reshape(-1).view(real), grad.reshape(-1).view(real)


def _copied(value: Any) -> Any:
    if isinstance(value, Tensor):
        return Tensor(devices.copied(value._data))
    if isinstance(value, (list, tuple)):
        return type(value)(_copied(v) for v in value)
    return value.copy() if isinstance(value, np.ndarray) else value


def _restored(what: str, value: Any, parameter: Tensor) -> Any:
    """Copy a state entry to the device of its parameter, and to its dtype when it has its shape."""
    if isinstance(value, (list, tuple)):
        return type(value)(_restored(what, v, parameter) for v in value)
    array = value._data if isinstance(value, Tensor) else value
    if not hasattr(array, "shape") or isinstance(array, np.generic):
        return value
    is_like = array.shape == tuple(parameter.shape) and array.dtype.kind in "fc"
    copied = devices.copied(array, parameter.dtype if is_like else None)
    return Tensor(devices.put(copied, parameter.device))
