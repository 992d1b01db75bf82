"""Clipping of gradients."""

import math

import numpy as np
import pytest

import autograd as T
from autograd import nn


def parameters():
    return [
        nn.Parameter(T.tensor([[1.0, 2.0], [3.0, 4.0]])),
        nn.Parameter(T.tensor(5.0)),
        nn.Parameter(T.tensor([6.0])),
    ]


def set_grads(many):
    for p in many:
        p.grad = T.tensor(np.full(p.shape, 2.0, np.float32))


def test_clip_grad_norm_scales_to_the_norm():
    many = parameters()
    set_grads(many)
    total = nn.utils.clip_grad_norm_(many, 1.0)
    assert total.shape == () and total.item() == pytest.approx(math.sqrt(24), rel=1e-6)
    squares = sum(float((p.grad.numpy() ** 2).sum()) for p in many)
    assert math.sqrt(squares) == pytest.approx(1.0, rel=1e-5)
    set_grads(many)
    assert nn.utils.clip_grad_norm_(many, 1.0, norm_type=math.inf).item() == 2.0
    assert many[1].grad.item() == pytest.approx(1.0, rel=1e-5)
    assert nn.utils.clip_grad_norm_(many, 100.0, norm_type=1).item() == pytest.approx(6, rel=1e-5)
    assert many[1].grad.item() == pytest.approx(1.0, rel=1e-5)
    assert nn.utils.clip_grad_norm_([nn.Parameter(T.ones(1))], 1.0).item() == 0


@pytest.mark.parametrize(
    ("order", "expected"),
    [(0, 2.0), (1, 14.0), (3, 434 ** (1 / 3)), ("inf", 7.0), (-math.inf, 3.0)],
)
def test_norms_of_any_order(order, expected):
    many = [nn.Parameter(T.zeros(2)), nn.Parameter(T.zeros(()))]
    many[0].grad, many[1].grad = T.tensor([3.0, -4.0]), T.tensor(7.0)
    total = nn.utils.clip_grad_norm_(many, expected / 2, order)
    assert total.item() == pytest.approx(expected, rel=1e-6)
    assert many[1].grad.item() == pytest.approx(3.5, rel=1e-5)


def test_clip_refuses_a_norm_that_is_not_finite():
    many = parameters()
    set_grads(many)
    many[1].grad = T.tensor(math.nan)
    with pytest.raises(RuntimeError, match="is non-finite"):
        nn.utils.clip_grad_norm_(many, 1.0, error_if_nonfinite=True)


def test_clip_grad_value():
    many = parameters()
    many[2].grad = T.tensor([-7.0])
    many[1].grad = T.tensor(0.25)
    nn.utils.clip_grad_value_(many, 0.5)
    assert many[2].grad.tolist() == [-0.5] and many[1].grad.item() == 0.25


def test_the_norm_and_the_clipping_by_it_are_there_alone():
    many = parameters()
    set_grads(many)
    total = nn.utils.get_total_norm(p.grad for p in many)
    assert total.item() == pytest.approx(math.sqrt(24))
    assert nn.utils.get_total_norm([]).item() == 0
    nn.utils.clip_grads_with_norm_(many, 1.0, total)
    squares = sum(float((p.grad.numpy() ** 2).sum()) for p in many)
    assert math.sqrt(squares) == pytest.approx(1.0, rel=1e-5)
