"""gradcheck finds planted wrong rules at every order, and refuses what it cannot check."""

from __future__ import annotations

import numpy as np
import pytest

import autograd as T
from autograd.gradcheck import GradcheckError, gradcheck, gradgradcheck
from autograd.ops.registry import REGISTRY, Op


@pytest.fixture
def register():
    """Register operations for one test only."""
    names = []

    def make(name, forward, vjp, **options):
        names.append(name)
        return Op(name, forward, vjp, **options)

    yield make
    for name in names:
        del REGISTRY[name]


def inputs(*shape):
    values = np.random.default_rng(3).uniform(0.4, 1.6, shape)
    return T.tensor(values, requires_grad=True)


def sine_with_a_slip(register, order):
    """Return sin whose derivative of the given order is wrong by a factor of 1.01."""
    forwards = (np.sin, np.cos, lambda x: -np.sin(x), lambda x: -np.cos(x))

    def make(level, following):
        slip = 1.01 if level == order else 1.0
        return register(
            f"slipped_{level}",
            lambda xp, x: forwards[level - 1](x),
            {"x": lambda g, x: g * following(x) * slip},
        )

    following = T.sin
    for level in (4, 3, 2, 1):
        following = make(level, following)
    return following


@pytest.mark.parametrize("order", [1, 2, 3])
def test_a_wrong_rule_is_found_at_its_order(order, register):
    op = sine_with_a_slip(register, order)
    x = inputs(3)
    for right in range(1, order):
        assert gradcheck(op, x, order=right) is True
    with pytest.raises(GradcheckError, match=f"derivative of order {order}") as error:
        gradcheck(op, x, order=order)
    assert "analytic" in str(error.value) and "numerical" in str(error.value)
    assert gradcheck(op, x, order=order, raise_exception=False) is False


def test_right_rules_pass_at_every_order():
    assert gradcheck(lambda x: T.sin(x) * x, inputs(2, 2), order=4) is True
    assert gradgradcheck(lambda x, y: T.exp(x) / y, (inputs(2), inputs(2, 1))) is True
    assert gradcheck(lambda x: (x * 2, T.exp(x)), inputs(3), order=2) is True


def test_a_rule_that_leaves_the_output_gradient_out_of_the_graph_is_found(register):
    op = register("detaching", lambda xp, x: 2 * x, {"x": lambda g: g.detach() * 2})
    assert gradcheck(op, inputs(2), order=1) is True
    with pytest.raises(GradcheckError, match="order 2"):
        gradcheck(op, inputs(2), order=2)


def test_a_wrong_complex_rule_is_found(register):
    op = register("unconjugated", lambda xp, x: x * x, {"x": lambda g, x: g * x * 2})
    z = T.tensor(np.array([0.5 + 0.7j, -0.3 + 0.2j]), requires_grad=True)
    with pytest.raises(GradcheckError, match="order 1"):
        gradcheck(op, z)
    assert gradcheck(lambda z: z * z, z, order=2) is True
    assert gradcheck(T.exp, z, order=2) is True


def test_a_wrong_element_among_many_is_named(register):
    mask = np.array([1.0, 1.0, 1.1])
    op = register("partly", lambda xp, x: xp.exp(x), {"x": lambda g, out: g * out * T.tensor(mask)})
    with pytest.raises(GradcheckError, match="element 2, with respect to input 0, element 2"):
        gradcheck(op, inputs(3))


def test_a_missing_rule_is_found(register):
    op = register(
        "half", lambda xp, x, y: x * y, {"x": lambda g, y: g * y}, dtype="promote", broadcasts=True
    )
    assert gradcheck(lambda x: op(x, T.tensor(2.0, dtype=T.float64)), inputs(2)) is True
    with pytest.raises(GradcheckError, match="input 1"):
        gradcheck(op, (inputs(2), inputs(2)))


@pytest.mark.parametrize("name", ["float16", "float32", "complex64"])
def test_low_precision_warns_and_is_checked_as_told(name):
    x = T.tensor(np.ones(2, name), requires_grad=True)
    with pytest.warns(UserWarning, match=f"{name}.*float64") as caught:
        assert gradcheck(T.sin, x, eps=0.05, atol=0.05)
    assert caught[0].filename == __file__
    with pytest.warns(UserWarning, match=name), pytest.raises(GradcheckError):
        gradcheck(lambda t: T.sin(t).detach() + 0 * t, x, eps=0.05, atol=0.05)


def test_a_closure_over_the_inputs_is_checked():
    x = T.tensor([0.3, -0.7], dtype=T.float64, requires_grad=True)
    before = x.tolist()
    assert gradcheck(lambda *_: T.sin(x) * x, x, 2)
    assert gradcheck(lambda a, b: a * b, (x, x))
    assert x.tolist() == before and x.grad is None


def test_inputs_whose_elements_share_memory_are_refused():
    x = T.ones(1, dtype=T.float64).expand(3).detach().requires_grad_()
    with pytest.raises(ValueError, match="share one memory location.*clone"):
        gradcheck(T.sin, x)


def test_inputs_without_requires_grad_are_refused():
    with pytest.raises(ValueError, match="requires grad"):
        gradcheck(T.sin, T.tensor(np.ones(2)))


def test_plain_inputs_are_left_alone():
    index = T.tensor([0, 1])
    scale = T.tensor(np.array([2.0, 3.0]))
    assert gradcheck(lambda x, s, i: (x * s)[i], (inputs(2), scale, index), order=2) is True


def test_a_non_contiguous_and_an_empty_input():
    base = np.random.default_rng(0).uniform(0.5, 1.5, (3, 4))
    view = T.Tensor(base.T[::2]).requires_grad_()
    assert gradcheck(lambda x: T.exp(x).sum(0), view, order=2) is True
    empty = T.tensor(np.zeros((0, 2)), requires_grad=True)
    assert gradcheck(T.sin, empty, order=2) is True


def test_the_check_is_public():
    assert T.gradcheck is gradcheck and T.gradgradcheck is gradgradcheck
    assert T.autograd.gradcheck is gradcheck
