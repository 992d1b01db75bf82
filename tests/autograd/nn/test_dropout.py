"""Dropout leaves numbers out while training, and keeps the mean."""

import numpy as np
import pytest

import autograd as T
from autograd import nn

X = T.ones(200, 50, dtype=T.float64)


def test_each_number_is_kept_or_left_out_with_its_probability():
    T.manual_seed(0)
    found = nn.functional.dropout(X, 0.3).numpy()
    assert set(np.unique(found)) == {0.0, 1 / 0.7}
    assert abs((found == 0).mean() - 0.3) < 4 * np.sqrt(0.21 / found.size)


def test_the_seed_decides_and_each_call_draws_anew():
    drop = nn.Dropout(0.5)
    T.manual_seed(3)
    first, second = drop(X), drop(X)
    T.manual_seed(3)
    assert (drop(X) == first).all() and not (first == second).all()


def test_the_gradient_is_that_of_what_was_kept():
    x = X.clone().requires_grad_()
    found = nn.Dropout(0.4)(x)
    found.sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), found.detach().numpy())


@pytest.mark.parametrize("drop", [nn.Dropout(0.5).eval(), nn.Dropout(0.0)])
def test_nothing_is_left_out_in_evaluation_and_for_no_probability(drop):
    assert drop(X) is X


def test_all_is_left_out_for_certain():
    x = X.clone().requires_grad_()
    found = nn.Dropout(1.0)(x)
    found.sum().backward()
    assert not found.detach().numpy().any() and not x.grad.numpy().any()


def test_in_place_writes_into_its_input():
    x = X.clone()
    found = nn.functional.dropout(x, 0.5, inplace=True)
    assert found is x and (x == 0).any()


def test_other_probabilities_are_refused():
    for make in (nn.Dropout, lambda p: nn.functional.dropout(X, p)):
        with pytest.raises(ValueError, match="between 0 and 1"):
            make(1.5)


def test_a_compiled_function_cannot_draw_at_each_call():
    drop = nn.Dropout(0.5)
    loss = T.compile(lambda x: drop(x).sum())
    with pytest.raises(T.TraceError, match="random"):
        loss(X)
    drop.eval()
    assert loss(X).item() == X.sum().item()
