"""Steps of gated cells, from sums to the state after, each as one operation.

The gates are outputs too, of which the gradients are made: those are one operation where a backward
pass is not recorded, and known ones where it is, by the same formulas.
"""

from __future__ import annotations

from typing import Any

from ... import modes
from ...tensor import Tensor
from ..elementwise.smooth import sigmoid_forward, tanh
from ..elementwise.vector import function_of
from ..layout.join import cat
from ..registry import Op, are_plain


def _in_parts(gates: Any, count: int) -> list:
    """Return views of the gates side by side."""
    width = gates.shape[1] // count
    return [gates[:, k * width : (k + 1) * width] for k in range(count)]


# ---- LSTM: i, f, o = s(a), m = tanh(a); c' = f c + i m, h' = o tanh(c')


def _lstm(xp: Any, given: Any, recurred: Any, cell: Any) -> tuple:
    sums = xp.add(given, recurred)
    gates = sigmoid_forward(xp, sums)
    enter, forget, new, leave = _in_parts(gates, 4)
    new[...] = function_of(xp, "tanh")(_in_parts(sums, 4)[2])
    after = xp.multiply(forget, cell)
    after += enter * new
    return leave * function_of(xp, "tanh")(after), after, gates


def _lstm_slopes(
    tanh: Any, of_state: Any, of_cell: Any, of_gates: Any, gates: Any, cell: Any, after: Any
) -> tuple[list, Any]:
    """Return the gradients of the four sums, and of the cell before."""
    enter, forget, new, leave = _in_parts(gates, 4)
    to_enter, to_forget, to_new, to_leave = _in_parts(of_gates, 4)
    shown = tanh(after)
    of_cell = of_cell + of_state * leave * (1 - shown * shown)
    return [
        (of_cell * new + to_enter) * enter * (1 - enter),
        (of_cell * cell + to_forget) * forget * (1 - forget),
        (of_cell * enter + to_new) * (1 - new * new),
        (of_state * shown + to_leave) * leave * (1 - leave),
    ], of_cell * forget


def _lstm_gradient(xp: Any, h: Any, c: Any, a: Any, gates: Any, cell: Any, after: Any) -> tuple:
    found, of_cell = _lstm_slopes(function_of(xp, "tanh"), h, c, a, gates, cell, after)
    return xp.concatenate(found, axis=1), of_cell


lstm_gradient_op = Op("lstm_gradient", _lstm_gradient, outputs=2)


def _lstm_rule(g: tuple, out: tuple, cell: Tensor) -> tuple:
    _, after, gates = out
    given = (*g, gates, cell, after)
    if modes.state.grad_enabled or not are_plain(*given):
        found, of_cell = _lstm_slopes(tanh, *given)
        sums = cat(found, 1)
    else:
        sums, of_cell = lstm_gradient_op(*given)
    return sums, sums, of_cell


lstm_op = Op("lstm_step", _lstm, _lstm_rule, outputs=3, taylor="nested")
"""Of both parts of the sums (n, 4 h) and the cell (n, h): the state, the cell and the gates."""


# ---- GRU: r, z = s(a + b), m = tanh(a + r b); h' = m + z (h - m)


def _gru(xp: Any, given: Any, recurred: Any, before: Any) -> tuple:
    gates = sigmoid_forward(xp, given + recurred)
    reset, update, new = _in_parts(gates, 3)
    entered, kept = _in_parts(given, 3)[2], _in_parts(recurred, 3)[2]
    new[...] = function_of(xp, "tanh")(entered + reset * kept)
    after = xp.subtract(before, new)
    after *= update
    after += new
    return after, gates


def _gru_slopes(
    of_state: Any, of_gates: Any, gates: Any, recurred: Any, before: Any
) -> tuple[list, Any, Any]:
    """Return the gradients of the three sums, of what the reset gate lets in, and of the state."""
    reset, update, new = _in_parts(gates, 3)
    to_reset, to_update, to_new = _in_parts(of_gates, 3)
    of_new = (of_state * (1 - update) + to_new) * (1 - new * new)
    of_reset = (of_new * _in_parts(recurred, 3)[2] + to_reset) * reset * (1 - reset)
    of_update = (of_state * (before - new) + to_update) * update * (1 - update)
    return [of_reset, of_update, of_new], of_new * reset, of_state * update


def _gru_gradient(xp: Any, h: Any, a: Any, gates: Any, recurred: Any, before: Any) -> tuple:
    found, kept, of_before = _gru_slopes(h, a, gates, recurred, before)
    joined = xp.concatenate
    return joined(found, axis=1), joined([*found[:2], kept], axis=1), of_before


gru_gradient_op = Op("gru_gradient", _gru_gradient, outputs=3)


def _gru_rule(g: tuple, out: tuple, recurred: Tensor, before: Tensor) -> tuple:
    given = (*g, out[1], recurred, before)
    if modes.state.grad_enabled or not are_plain(*given):
        found, kept, of_before = _gru_slopes(*given)
        return cat(found, 1), cat([*found[:2], kept], 1), of_before
    return gru_gradient_op(*given)


gru_op = Op("gru_step", _gru, _gru_rule, outputs=2, taylor="nested")
"""Of both parts of the sums (n, 3 h) and the state before (n, h): the state after and the gates."""
