"""Steps of gated cells against their formulas, with derivatives of two orders."""

import numpy as np
import pytest

import autograd as T
from autograd.ops.special.gates import gru_op, lstm_op


def drawn(*widths, rows=3):
    rng = np.random.default_rng(sum(widths))
    return [T.tensor(rng.standard_normal((rows, width)), requires_grad=True) for width in widths]


def lstm_by_formula(given, recurred, cell):
    enter, forget, new, leave = (given + recurred).chunk(4, -1)
    gates = [T.sigmoid(enter), T.sigmoid(forget), T.tanh(new), T.sigmoid(leave)]
    cell = gates[1] * cell + gates[0] * gates[2]
    return gates[3] * T.tanh(cell), cell, T.cat(gates, 1)


def gru_by_formula(given, recurred, before):
    width = before.shape[1]
    reset, update = T.sigmoid((given + recurred)[:, : 2 * width]).chunk(2, -1)
    new = T.tanh(given[:, 2 * width :] + reset * recurred[:, 2 * width :])
    return (1 - update) * new + update * before, T.cat([reset, update, new], 1)


CASES = [(lstm_op, lstm_by_formula, (8, 8, 2)), (gru_op, gru_by_formula, (6, 6, 2))]


@pytest.mark.parametrize("rows", [3, 700])
@pytest.mark.parametrize(("op", "formula", "widths"), CASES, ids=["lstm", "gru"])
def test_values_and_gradients_of_all_outputs(op, formula, widths, rows):
    given = drawn(*widths, rows=rows)
    weights = [T.tensor(np.random.default_rng(k).standard_normal(y.shape))
               for k, y in enumerate(op(*given))]  # fmt: skip
    found = []
    for function in (op, formula):
        outputs = function(*given)
        total = sum((w * y).sum() for w, y in zip(weights, outputs, strict=True))
        for create_graph in (False, True):
            gradients = T.grad(total, given, retain_graph=True, create_graph=create_graph)
            found.append([*outputs, *gradients])
    for others in found[1:]:
        for one, other in zip(found[0], others, strict=True):
            np.testing.assert_allclose(one.detach(), other.detach(), rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize(("op", "formula", "widths"), CASES, ids=["lstm", "gru"])
def test_two_derivatives(op, formula, widths):
    given = drawn(*widths)
    assert T.gradcheck(op, given)
    assert T.gradgradcheck(lambda *xs: op(*xs)[0], given)
