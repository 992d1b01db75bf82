"""Activations made of pieces, against numpy and at their edges."""

import numpy as np
import pytest

import autograd as T
from autograd import nn
from autograd.nn import functional as F
from autograd.testing import OpCase, check_op

SHAPES = [((3,),), ((2, 4),)]


def piecewise(x, edges, pieces):
    """A function by its pieces between edges, each of them counted to the piece before."""
    return np.select([x <= edge for edge in edges], [p(x) for p in pieces[:-1]], pieces[-1](x))


def zero(x):
    return 0 * x


CASES = {
    "threshold": (
        lambda x: F.threshold(x, 0.5, -2.0), lambda x: np.where(x > 0.5, x, -2.0)
    ),
    "hardsigmoid": (
        F.hardsigmoid,
        lambda x: piecewise(x, [-3, 3], [zero, lambda x: x / 6 + 0.5, lambda x: zero(x) + 1]),
    ),
    "hardswish": (
        F.hardswish,
        lambda x: piecewise(x, [-3, 3], [zero, lambda x: x * (x + 3) / 6, lambda x: x]),
    ),
    "hardshrink": (
        F.hardshrink, lambda x: piecewise(x, [-0.5, 0.5], [lambda x: x, zero, lambda x: x])
    ),
    "softshrink": (
        lambda x: F.softshrink(x, 0.7), lambda x: np.sign(x) * np.maximum(abs(x) - 0.7, 0)
    ),
    "tanhshrink": (F.tanhshrink, lambda x: x - np.tanh(x)),
    "rrelu": (F.rrelu, lambda x: np.where(x > 0, x, x * 11 / 48)),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_values_and_derivatives(name):
    function, reference = CASES[name]
    check_op(OpCase(name, function, SHAPES, domain=(-5.0, 5.0), reference=reference))


def test_gates_and_choices():
    half = OpCase(
        "glu", F.glu, [((4,),), ((2, 6),)],
        reference=lambda x: np.split(x, 2, -1)[0] / (1 + np.exp(-np.split(x, 2, -1)[1])),
    )  # fmt: skip
    check_op(half)
    x = T.rand(4, 2, 3)
    assert T.equal(F.glu(x, 0), x[:2] * x[2:].sigmoid())
    assert T.equal(F.softmin(x, 1), F.softmax(-x, 1))
    counts = T.tensor([0, 255], dtype=T.uint8)
    fine = F.softmin(counts, 0, dtype=T.float64)
    assert fine.dtype == T.float64 and fine.tolist() == [1 - fine[1].item(), np.exp(-255.0)]


EDGES = T.tensor([-3.0, -0.5, 0.0, 0.5, 3.0])


@pytest.mark.parametrize(
    ("function", "slopes"),
    [
        (F.hardsigmoid, [0, 1 / 6, 1 / 6, 1 / 6, 0]),
        (F.hardswish, [0, 1 / 3, 0.5, 2 / 3, 1]),
        (F.hardshrink, [1, 0, 0, 0, 1]),
        (F.softshrink, [1, 0, 0, 0, 1]),
        (lambda x: F.threshold(x, 0.5, 9.0), [0, 0, 0, 0, 1]),
    ],
)
def test_slopes_at_the_edges_are_those_of_the_flat_side(function, slopes):
    x = EDGES.clone().requires_grad_()
    (found,) = T.grad(function(x).sum(), x)
    np.testing.assert_allclose(found.numpy(), slopes, rtol=1e-6)


LINES = {
    "relu": F.relu, "relu6": F.relu6, "hardtanh": F.hardtanh, "leaky_relu": F.leaky_relu,
    "threshold": lambda x: F.threshold(x, 0.1, 2.0), "hardshrink": F.hardshrink,
    "softshrink": F.softshrink, "hardsigmoid": F.hardsigmoid, "rrelu": F.rrelu,
    "prelu": lambda x: F.prelu(x, T.tensor(0.2)),
    "abs": T.abs, "l1_loss": lambda x: F.l1_loss(x, T.zeros(3), reduction="sum"),
}  # fmt: skip


@pytest.mark.parametrize("name", LINES)
@pytest.mark.parametrize("dtype", [T.float32, T.float64])
def test_second_derivatives_of_straight_pieces_are_zeros_that_can_be_asked_for(name, dtype):
    x = T.tensor([-1.3, 0.25, 7.0], dtype=dtype, requires_grad=True)
    found = LINES[name](x.float() if name in ("prelu", "l1_loss") else x)
    (slope,) = T.grad(found.sum(), x, create_graph=True)
    (second,) = T.grad((3 * slope).sum(), x)
    assert second.dtype == dtype and second.tolist() == [0.0, 0.0, 0.0]
    sums = T.func.hessian(lambda x: LINES[name](x).sum())(x.detach().float())
    np.testing.assert_array_equal(sums.numpy(), np.zeros((3, 3)))


def test_a_penalty_of_slopes_gives_zeros_to_the_biases_that_move_kinks():
    first, last = nn.Linear(2, 3), nn.Linear(3, 1)
    x = T.randn(5, 2, requires_grad=True)
    (slope,) = T.grad(last(F.relu(first(x))).sum(), x, create_graph=True)
    (slope**2).sum().backward()
    assert not first.bias.grad.any() and first.weight.grad.any()


def test_hardswish_at_minus_infinity_is_zero_times_that():
    assert F.hardswish(T.tensor([-np.inf, np.inf])).isnan().tolist() == [True, False]


def test_no_number_stays_none():
    nan = T.tensor([float("nan")])
    for function in (F.hardsigmoid, F.hardswish, F.hardshrink, F.softshrink):
        assert function(nan).isnan().item()


@pytest.mark.parametrize(
    ("layer", "function", "text"),
    [
        (nn.Threshold(0.1, 2.0), lambda x: F.threshold(x, 0.1, 2.0), "threshold=0.1, value=2.0"),
        (nn.Hardsigmoid(), F.hardsigmoid, ""),
        (nn.Hardswish(), F.hardswish, ""),
        (nn.Hardshrink(0.2), lambda x: F.hardshrink(x, 0.2), "0.2"),
        (nn.Softshrink(0.2), lambda x: F.softshrink(x, 0.2), "0.2"),
        (nn.Tanhshrink(), F.tanhshrink, ""),
        (nn.Softmin(0), lambda x: F.softmin(x, 0), "dim=0"),
        (nn.GLU(), F.glu, "dim=-1"),
        (nn.RReLU(0.1, 0.3).eval(), lambda x: F.rrelu(x, 0.1, 0.3), "lower=0.1, upper=0.3"),
    ],
    ids=lambda case: type(case).__name__,
)
def test_layers_call_their_functions(layer, function, text):
    x = T.randn(3, 4)
    assert T.equal(layer(x), function(x))
    assert repr(layer) == f"{type(layer).__name__}({text})"


def test_in_place_they_write_into_their_input():
    for layer in (nn.Threshold(0.1, 2.0, True), nn.Hardswish(True), nn.Hardsigmoid(True)):
        x = T.randn(3)
        assert layer(x) is x and repr(layer).endswith("inplace=True)")


def test_softmax_of_channels():
    x = T.rand(2, 3, 4, 5)
    assert T.allclose(nn.Softmax2d()(x).sum(1), T.ones(2, 4, 5))
    assert T.allclose(nn.Softmax2d()(x[0]), nn.Softmax2d()(x)[0])
    with pytest.raises(ValueError, match="3D or 4D"):
        nn.Softmax2d()(x[0, 0])


def test_slopes_are_drawn_while_training():
    T.manual_seed(0)
    x = -T.ones(1000)
    slopes = -nn.RReLU(0.1, 0.3)(x)
    assert 0.1 <= slopes.min().item() < 0.11 and 0.29 < slopes.max().item() < 0.3
    assert (nn.RReLU()(-x) == -x).all()


def test_choices_at_random_have_their_probabilities():
    T.manual_seed(0)
    logits = T.log(T.tensor([0.2, 0.3, 0.5], dtype=T.float64)).expand(4000, 3)
    hard = F.gumbel_softmax(logits, hard=True)
    assert (hard.sum(-1) == 1).all() and ((hard == 0) | (hard == 1)).all()
    np.testing.assert_allclose(hard.mean(0).numpy(), [0.2, 0.3, 0.5], atol=0.03)
    free = logits.clone().requires_grad_()
    T.manual_seed(1)
    (ours,) = T.grad((F.gumbel_softmax(free, 0.5, hard=True) * logits).sum(), free)
    T.manual_seed(1)
    (smooth,) = T.grad((F.gumbel_softmax(free, 0.5) * logits).sum(), free)
    assert T.allclose(ours, smooth)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: F.threshold(x, 0.5, 7.0), F.hardsigmoid, F.hardswish, F.hardshrink, F.softshrink,
        F.tanhshrink, F.rrelu,
    ],
)  # fmt: skip
def test_nan_stays_nan(function):
    assert function(T.tensor([np.nan, 1.0])).isnan().tolist() == [True, False]


def test_hardswish_has_slopes_at_infinity():
    x = T.tensor([np.inf, -np.inf, 1e200], dtype=T.float64, requires_grad=True)
    F.hardswish(x).sum().backward()
    assert x.grad.tolist() == [1.0, 0.0, 1.0]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: F.glu(T.ones(2, 3)), "must be even, but dimension -1 is size 3"),
        (lambda: F.softshrink(T.ones(2), -1.0), "greater or equal to 0"),
        (lambda: F.rrelu(T.ones(2), 0.3, 0.1), "less than or equal to the upper"),
    ],
)
def test_what_does_not_fit_is_refused(call, words):
    with pytest.raises(RuntimeError, match=words):
        call()
