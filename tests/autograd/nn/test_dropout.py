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


@pytest.mark.parametrize(
    ("layer", "shape"),
    [(nn.Dropout1d(0.3), (400, 5, 2)), (nn.Dropout2d(0.3), (400, 5, 2, 2)),
     (nn.Dropout3d(0.3), (400, 5, 1, 2, 2))],
)  # fmt: skip
def test_whole_channels_are_left_out(layer, shape):
    T.manual_seed(0)
    x = T.ones(*shape, dtype=T.float64)
    found = layer(x).numpy().reshape(2000, -1)
    assert (found == found[:, :1]).all() and set(np.unique(found)) == {0.0, 1 / 0.7}
    assert abs((found[:, 0] == 0).mean() - 0.3) < 4 * np.sqrt(0.21 / 2000)
    assert layer.eval()(x) is x
    with pytest.raises(RuntimeError, match="received a 1D input"):
        layer(T.ones(3))


def test_the_channels_of_one_sample_too():
    for layer, shape in ((nn.Dropout1d(0.5), (500, 3)), (nn.Dropout3d(0.5), (500, 1, 1, 3))):
        found = layer(T.ones(*shape)).numpy().reshape(500, 3)
        assert (found == found[:, :1]).all() and 0 < (found == 0).mean() < 1
    x = T.ones(4, 3, 2)
    assert nn.functional.dropout1d(x, 0.5, inplace=True) is x


def test_alpha_dropout_keeps_mean_and_variance():
    T.manual_seed(0)
    x = T.randn(100000, dtype=T.float64)
    found = nn.AlphaDropout(0.3)(x)
    assert abs(found.mean().item()) < 0.02 and abs(found.var().item() - 1) < 0.02
    _, counts = np.unique(found.numpy(), return_counts=True)
    assert abs(counts.max() / len(x) - 0.3) < 0.01
    assert nn.AlphaDropout(0.3).eval()(x) is x and not nn.AlphaDropout(1.0)(x).numpy().any()
