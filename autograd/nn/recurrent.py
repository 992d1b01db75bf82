"""Recurrent layers: a state that is carried from step to step of a sequence."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from ..ops.creation.create import zeros
from ..ops.elementwise.activations import relu
from ..ops.elementwise.smooth import sigmoid, tanh
from ..ops.layout.join import cat, stack
from ..ops.matrices.matmul import linear
from ..ops.registry import are_plain, refuse_mixed
from ..ops.special.gates import gru_op, lstm_op
from ..tensor import Tensor
from . import init
from .dropout import dropout
from .module import Module
from .parameter import Parameter

# One step of each kind: the input's part of the gates (n, gates hidden), the state before, the
# matrix and the bias of the state's part; it gives the state after.  All but GRU have the bias
# added to the input's part already, where it is added once for all steps.
_State = tuple[Tensor, ...]


def _tanh_step(given: Tensor, state: _State, weight: Tensor, bias: Tensor | None) -> _State:
    return (tanh(given + linear(state[0], weight)),)


def _relu_step(given: Tensor, state: _State, weight: Tensor, bias: Tensor | None) -> _State:
    return (relu(given + linear(state[0], weight)),)


def _lstm_step(given: Tensor, state: _State, weight: Tensor, bias: Tensor | None) -> _State:
    """Hochreiter and Schmidhuber 1997, with forget gates: input, forget, cell, output."""
    before, cell = state
    recurred = linear(before, weight)
    if are_plain(given, recurred, cell):
        after, cell, _ = lstm_op(given, recurred, cell)
        return after, cell
    enter, forget, new, leave = (given + recurred).chunk(4, -1)
    cell = sigmoid(forget) * cell + sigmoid(enter) * tanh(new)
    return sigmoid(leave) * tanh(cell), cell


def _gru_step(given: Tensor, state: _State, weight: Tensor, bias: Tensor | None) -> _State:
    """Cho et al. 2014, with the reset gate after the product: reset, update, new."""
    (before,) = state
    hidden = before.shape[-1]
    more = linear(before, weight, bias)
    if are_plain(given, more, before):
        return (gru_op(given, more, before)[0],)
    gates, entered = given.split((2 * hidden, hidden), -1)
    more, recurred = more.split((2 * hidden, hidden), -1)
    reset, update = sigmoid(gates + more).chunk(2, -1)
    new = tanh(entered + reset * recurred)
    return (new + update * (before - new),)


_Step = Callable[[Tensor, _State, Tensor, Tensor | None], _State]
_STEPS: dict[str, tuple[_Step, int]] = {  # and the number of gates
    "RNN_TANH": (_tanh_step, 1),
    "RNN_RELU": (_relu_step, 1),
    "LSTM": (_lstm_step, 4),
    "GRU": (_gru_step, 3),
}


def _mode_of(nonlinearity: str) -> str:
    modes = {"tanh": "RNN_TANH", "relu": "RNN_RELU"}
    if nonlinearity not in modes:
        raise ValueError(
            f"Unknown nonlinearity {nonlinearity!r}. Select from 'tanh' or 'relu'."
        )
    return modes[nonlinearity]


def _draw_all(layer: Module, hidden: int, generator: Any) -> None:
    """Draw all parameters uniform on +-1/sqrt(hidden), as PyTorch does."""
    bound = 1 / math.sqrt(hidden) if hidden else 0.0
    for parameter in layer.parameters():
        init.uniform_(parameter, -bound, bound, generator)


def _entered(
    mode: str, input: Tensor, weight: Tensor, bias: Tensor | None, more: Tensor | None
) -> Tensor:
    """Return the input's part of the gates, with the bias of the state's part where it is a sum."""
    if bias is not None and more is not None and mode != "GRU":
        bias = bias + more
    return linear(input, weight, bias)


def _check_count(name: str, state: _State, count: int) -> None:
    """Raise RuntimeError unless the first states are as many as a step carries."""
    if len(state) != count:
        raise RuntimeError(
            f"{name}: expected hx to be {'(h, c)' if count == 2 else 'one tensor'}, got "
            f"{len(state)} tensors"
        )


# ---- one step


class _Cell(Module):
    """What cells share: the maps of an input and of a state to gates.

    weight_ih  (gates hidden_size, input_size), weight_hh (gates hidden_size, hidden_size) and the
               biases (gates hidden_size,), all uniform on +-1/sqrt(hidden_size); biases None with
               `bias=False`.
    """

    _mode: str
    _states = 1

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool,
        gates: int,
        device: Any,
        dtype: Any,
        generator: Any,
    ) -> None:
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        rows = gates * hidden_size
        for name, shape in (
            ("weight_ih", (rows, input_size)), ("weight_hh", (rows, hidden_size)),
            ("bias_ih", (rows,)), ("bias_hh", (rows,)),
        ):  # fmt: skip
            wanted = bias or name.startswith("weight")
            made = Parameter(zeros(shape, dtype=dtype, device=device)) if wanted else None
            self.register_parameter(name, made)
        self.reset_parameters(generator)

    def reset_parameters(self, generator: Any = None) -> None:
        """Draw all parameters anew."""
        _draw_all(self, self.hidden_size, generator)

    def _stepped(self, input: Tensor, state: tuple | None) -> _State:
        name = type(self).__name__
        if input.ndim not in (1, 2):
            raise ValueError(
                f"{name}: Expected input to be 1D or 2D, got {input.ndim}D (shape "
                f"{list(input.shape)}) instead"
            )
        if input.shape[-1] != self.input_size:
            raise RuntimeError(
                f"{name}: input has inconsistent input_size: got {input.shape[-1]}, expected "
                f"{self.input_size}"
            )
        shape = (*input.shape[:-1], self.hidden_size)
        if state is None:
            state = (zeros(shape, dtype=input.dtype, device=input.device),) * self._states
        _check_count(name, state, self._states)
        refuse_mixed(name, input, *state)
        for part in state:
            if tuple(part.shape) != shape:
                raise RuntimeError(
                    f"{name}: expected a hidden state of shape {list(shape)} for input of shape "
                    f"{list(input.shape)}, got {list(part.shape)}"
                )
        step, _ = _STEPS[self._mode]
        alone = input.ndim == 1
        if alone:
            input, state = input.unsqueeze(0), tuple(part.unsqueeze(0) for part in state)
        given = _entered(self._mode, input, self.weight_ih, self.bias_ih, self.bias_hh)
        after = step(given, state, self.weight_hh, self.bias_hh)
        return tuple(part.squeeze(0) for part in after) if alone else after

    def extra_repr(self) -> str:
        told = f"{self.input_size}, {self.hidden_size}"
        return told if self.bias else f"{told}, bias=False"


class RNNCell(_Cell):
    """h' = tanh(W_ih x + b_ih + W_hh h + b_hh) for x (n, input_size), h (n, hidden_size), or 1-d.

    nonlinearity  "tanh" or "relu"; ValueError for others.
    weight_ih, weight_hh, bias_ih, bias_hh  uniform on +-1/sqrt(hidden_size).
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Any = None,
        dtype: Any = None,
        *,
        generator: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 1, device, dtype, generator)
        self._mode = _mode_of(nonlinearity)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        return self._stepped(input, None if hx is None else (hx,))[0]

    def extra_repr(self) -> str:
        told = super().extra_repr()
        tanh = self.nonlinearity == "tanh"
        return told if tanh else f"{told}, nonlinearity={self.nonlinearity}"


class LSTMCell(_Cell):
    """One step of an LSTM: x (n, input_size) and (h, c), both (n, hidden_size), to (h', c').

    weight_ih, weight_hh, bias_ih, bias_hh  of the input, forget, cell and output gate, one below
    the other, uniform on +-1/sqrt(hidden_size).
    """

    _mode, _states = "LSTM", 2

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        generator: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 4, device, dtype, generator)

    def forward(
        self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, Tensor]:
        after = self._stepped(input, hx)
        return after[0], after[1]


class GRUCell(_Cell):
    """One step of a GRU: x (n, input_size) and h (n, hidden_size) to h'.

    weight_ih, weight_hh, bias_ih, bias_hh  of the reset and the update gate and of what is new, one
    below the other, uniform on +-1/sqrt(hidden_size).
    """

    _mode = "GRU"

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        generator: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 3, device, dtype, generator)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        return self._stepped(input, None if hx is None else (hx,))[0]


# ---- sequences


class RNNBase(Module):
    """What recurrent layers share: for each layer and direction the maps to gates.

    mode  "RNN_TANH", "RNN_RELU", "LSTM" or "GRU"; ValueError for others.
    """

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
        *,
        generator: Any = None,
    ) -> None:
        super().__init__()
        if mode not in _STEPS:
            raise ValueError(f"Unrecognized RNN mode: {mode!r}; use one of {list(_STEPS)}")
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout)
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        self._check(dropout)
        for layer, names in self._all_names():
            self._register(layer, names, device, dtype)
        self.reset_parameters(generator)

    def _check(self, dropout: Any) -> None:
        if isinstance(dropout, bool) or not 0 <= dropout <= 1:
            raise ValueError(
                "dropout should be a number in range [0, 1] representing the probability of an "
                f"element being zeroed, got {dropout!r}"
            )
        if dropout > 0 and self.num_layers == 1:
            warnings.warn(
                "dropout option adds dropout after all but last recurrent layer, so non-zero "
                f"dropout expects num_layers greater than 1, but got dropout={dropout} and "
                f"num_layers={self.num_layers}",
                UserWarning,
                stacklevel=4,
            )
        for name in ("hidden_size", "num_layers"):
            value = getattr(self, name)
            if not isinstance(value, int):
                raise TypeError(f"{name} should be of type int, got: {type(value).__name__}")
            if value <= 0:
                raise ValueError(f"{name} must be greater than zero, got {value}")
        if not 0 <= self.proj_size < self.hidden_size:
            raise ValueError(
                "proj_size should be a positive integer or zero to disable projections, smaller "
                f"than hidden_size ({self.hidden_size}), got {self.proj_size}"
            )
        if self.proj_size and self.mode != "LSTM":
            raise ValueError(f"proj_size argument is only supported for LSTM, not {self.mode}")

    @property
    def _out(self) -> int:
        """How many numbers a step gives on."""
        return self.proj_size or self.hidden_size

    def _all_names(self) -> Iterator[tuple[int, list[str]]]:
        """Give the number of a layer and the names of its parameters, one direction at a time."""
        kinds = ["weight_ih", "weight_hh", *(["bias_ih", "bias_hh"] if self.bias else [])]
        if self.proj_size:
            kinds.append("weight_hr")
        for layer in range(self.num_layers):
            for end in ("", "_reverse") if self.bidirectional else ("",):
                yield layer, [f"{kind}_l{layer}{end}" for kind in kinds]

    def _register(self, layer: int, names: list[str], device: Any, dtype: Any) -> None:
        rows = _STEPS[self.mode][1] * self.hidden_size
        directions = 2 if self.bidirectional else 1
        columns = self.input_size if layer == 0 else self._out * directions
        shapes = {
            "weight_ih": (rows, columns), "weight_hh": (rows, self._out),
            "weight_hr": (self.proj_size, self.hidden_size),
        }  # fmt: skip
        for name in names:
            shape = shapes.get(name[:9], (rows,))
            setattr(self, name, Parameter(zeros(shape, dtype=dtype, device=device)))

    def reset_parameters(self, generator: Any = None) -> None:
        """Draw all parameters anew."""
        _draw_all(self, self.hidden_size, generator)

    def flatten_parameters(self) -> None:
        """Change nothing: there is no layout in memory that would be faster."""

    @property
    def all_weights(self) -> list[list[Parameter]]:
        """The parameters, a list for each layer and direction."""
        return [[getattr(self, name) for name in names] for _, names in self._all_names()]

    def _run(self, input: Tensor, state: _State | None) -> tuple[Tensor, _State]:
        """Return the outputs of the last layer and the last states, in the shapes of `forward`."""
        name = type(self).__name__
        if not isinstance(input, Tensor):
            raise TypeError(
                f"{name}: expected a Tensor, got {type(input).__name__}; there are no packed "
                "sequences: pad them (nn.utils.rnn.pad_sequence)"
            )
        if input.ndim not in (2, 3):
            raise ValueError(
                f"{name}: Expected input to be 2D or 3D, got {input.ndim}D (shape "
                f"{list(input.shape)}) instead"
            )
        if input.shape[-1] != self.input_size:
            raise RuntimeError(
                "input.size(-1) must be equal to input_size. Expected "
                f"{self.input_size}, got {input.shape[-1]} (shape {list(input.shape)})"
            )
        alone = input.ndim == 2
        if not input.shape[1 if self.batch_first and not alone else 0]:
            raise RuntimeError(
                f"{name}: Expected sequence length to be larger than 0 in RNN, got shape "
                f"{list(input.shape)}"
            )
        state = self._checked(input, state)
        if alone:
            input = input.unsqueeze(1)
            state = tuple(part.unsqueeze(1) for part in state)
        elif self.batch_first:
            input = input.transpose(0, 1)
        output, after = self._through_layers(input, state)
        if alone:
            return output.squeeze(1), tuple(part.squeeze(1) for part in after)
        return (output.transpose(0, 1) if self.batch_first else output), after

    def _checked(self, input: Tensor, state: _State | None) -> _State:
        """Return the states at first: zeros where there are none; RuntimeError for other shapes."""
        alone, directions = input.ndim == 2, 2 if self.bidirectional else 1
        batch = () if alone else (input.shape[0 if self.batch_first else 1],)
        sizes = (self._out, self.hidden_size) if self.mode == "LSTM" else (self._out,)
        shapes = [(self.num_layers * directions, *batch, size) for size in sizes]
        if state is None:
            return tuple(zeros(shape, dtype=input.dtype, device=input.device) for shape in shapes)
        _check_count(type(self).__name__, state, len(shapes))
        for part, shape, what in zip(state, shapes, ("hidden", "cell")[: len(shapes)], strict=True):
            if tuple(part.shape) != shape:
                raise RuntimeError(
                    f"{type(self).__name__}: Expected {what} size {list(shape)}, got "
                    f"{list(part.shape)}"
                )
        refuse_mixed(type(self).__name__, input, *state)
        return state

    def _through_layers(self, x: Tensor, state: _State) -> tuple[Tensor, _State]:
        """Return the outputs of the last layer for (steps, n, input_size), and the last states."""
        firsts = [part.unbind(0) for part in state]
        lasts: list[_State] = []
        outputs: list[Tensor] = []  # of the directions of a layer
        directions = 2 if self.bidirectional else 1
        for number, (layer, names) in enumerate(self._all_names()):
            if number % directions == 0 and layer:
                x = outputs[0] if directions == 1 else cat(outputs, -1)
                if self.training and self.dropout:
                    x = dropout(x, self.dropout)
            if number % directions == 0:
                outputs = []
            first = tuple(parts[number] for parts in firsts)
            output, last = self._through_steps(x, first, names, backwards=number % directions == 1)
            outputs.append(output)
            lasts.append(last)
        x = outputs[0] if directions == 1 else cat(outputs, -1)
        return x, tuple(stack(parts) for parts in zip(*lasts, strict=True))

    def _through_steps(
        self, x: Tensor, state: _State, names: list[str], backwards: bool
    ) -> tuple[Tensor, _State]:
        """Return what a layer gives in one direction, (steps, n, size), and its last state."""
        by_kind = {name[: name.index("_l")]: getattr(self, name) for name in names}
        step, _ = _STEPS[self.mode]
        weight, bias = by_kind["weight_hh"], by_kind.get("bias_hh")
        given = _entered(self.mode, x, by_kind["weight_ih"], by_kind.get("bias_ih"), bias)
        project = by_kind.get("weight_hr")
        outputs = []
        parts = given.unbind(0)
        for part in reversed(parts) if backwards else parts:
            state = step(part, state, weight, bias)
            if project is not None:
                state = (linear(state[0], project), *state[1:])
            outputs.append(state[0])
        return stack(outputs[::-1] if backwards else outputs), state

    def extra_repr(self) -> str:
        told = f"{self.input_size}, {self.hidden_size}"
        for name, usual in (
            ("proj_size", 0), ("num_layers", 1), ("bias", True), ("batch_first", False),
            ("dropout", 0), ("bidirectional", False),
        ):  # fmt: skip
            if getattr(self, name) != usual:
                told += f", {name}={getattr(self, name)}"
        return told


class RNN(RNNBase):
    """h' = tanh(W_ih x + b_ih + W_hh h + b_hh) over sequences (steps, n, input_size): Elman 1990.

    With `batch_first` sequences are (n, steps, input_size), without a batch (steps, input_size).

    weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0, of the other layers ..._l1 and so on, of the
    other direction ..._l0_reverse; all uniform on +-1/sqrt(hidden_size).
    num_layers     each takes the outputs of the one before.
    nonlinearity   "tanh" or "relu".
    dropout        the probability of what is left out between layers while training.
    bidirectional  go through sequences backwards too, and give the outputs of both side by side.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: Any = None,
        dtype: Any = None,
        *,
        generator: Any = None,
    ) -> None:
        super().__init__(
            _mode_of(nonlinearity), input_size, hidden_size, num_layers, bias, batch_first, dropout,
            bidirectional, 0, device, dtype, generator=generator,
        )  # fmt: skip
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Return the states of the last layer at each step, and the last states of all layers.

        hx  (num_layers directions, n, hidden_size), the first states; None: zeros.
        """
        output, state = self._run(input, None if hx is None else (hx,))
        return output, state[0]


class LSTM(RNNBase):
    """A long short-term memory over sequences: Hochreiter and Schmidhuber 1997.

    Arguments, shapes and parameters as those of `RNN`; the rows of its matrices are those of the
    input, forget, cell and output gate, one below the other.

    proj_size  let each step give a map of its state to so many numbers (weight_hr_l0).
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
        *,
        generator: Any = None,
    ) -> None:
        super().__init__(
            "LSTM", input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional,
            proj_size, device, dtype, generator=generator,
        )  # fmt: skip

    def forward(
        self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Return the states of the last layer at each step, and the last states (h, c) of all.

        hx  (h, c), each (num_layers directions, n, hidden_size), h with `proj_size` numbers instead
            where it is not 0; None: zeros.
        """
        output, (h, c) = self._run(input, hx)
        return output, (h, c)


class GRU(RNNBase):
    """A gated recurrent unit over sequences: Cho et al. 2014.

    Arguments, shapes and parameters as those of `RNN`; the rows of its matrices are those of the
    reset and the update gate and of what is new, one below the other.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: Any = None,
        dtype: Any = None,
        *,
        generator: Any = None,
    ) -> None:
        super().__init__(
            "GRU", input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional,
            0, device, dtype, generator=generator,
        )  # fmt: skip

    def forward(self, input: Tensor, hx: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Return the states of the last layer at each step, and the last states of all layers.

        hx  (num_layers directions, n, hidden_size), the first states; None: zeros.
        """
        output, state = self._run(input, None if hx is None else (hx,))
        return output, state[0]
