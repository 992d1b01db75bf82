"""Rows 21-35: backward, accumulation, and what is freed when."""

from __future__ import annotations

import numpy as np
import pytest

import autograd as T

SECOND_TIME = "backward through the graph a second time"


def leaf(values, dtype):
    return T.tensor(values, dtype=dtype, requires_grad=True)


def test_row_021_one_element_needs_no_gradient_argument(dtype):
    a = leaf([3.0], dtype)
    (a * a).backward()
    assert a.grad.tolist() == [6.0]
    assert a.grad.shape == (1,) and a.grad.dtype == dtype


def test_row_022_a_bare_leaf_has_nothing_to_free(dtype):
    a = leaf(5.0, dtype)
    for expected in (1.0, 2.0, 3.0):
        a.backward()
        assert a.grad.item() == expected


@pytest.mark.parametrize("shape", [(), (1,), (1, 1), (1, 1, 1)])
def test_row_023_one_element_of_any_ndim(shape, dtype):
    a = T.ones(*shape, dtype=dtype, requires_grad=True)
    (a * 3).backward()
    assert a.grad.shape == shape and a.grad.item() == 3.0


def test_row_024_more_than_one_element_needs_a_gradient(dtype):
    a = leaf([1.0, 2.0], dtype)
    with pytest.raises(
        RuntimeError, match="grad can be implicitly created only for scalar outputs"
    ):
        (a * a).backward()
    assert a.grad is None


@pytest.mark.parametrize("name", ["complex64", "complex128"])
def test_row_025_a_complex_scalar_needs_a_gradient(name):
    z = T.tensor(1 + 2j, dtype=getattr(T, name), requires_grad=True)
    with pytest.raises(RuntimeError, match="only for real scalar outputs"):
        (z * z).backward()


def test_row_026_a_tensor_without_graph_cannot_go_backward(dtype):
    message = "element {} of tensors does not require grad and does not have a grad_fn"
    with pytest.raises(RuntimeError, match=message.format(0)):
        T.tensor(1.0, dtype=dtype).backward()
    a = leaf(1.0, dtype)
    with pytest.raises(RuntimeError, match=message.format(1)):
        T.autograd.backward([a * a, T.tensor(1.0, dtype=dtype)])
    assert a.grad is None


def test_row_027_a_second_backward_is_refused(dtype):
    a = leaf([3.0], dtype)
    b = a * a
    b.backward()
    with pytest.raises(RuntimeError, match=SECOND_TIME) as error:
        b.backward()
    assert "retain_graph=True" in str(error.value)
    assert a.grad.tolist() == [6.0]


def retained_three_times(dtype):
    a = leaf([3.0], dtype)
    b = a * a
    b.retain_grad()
    grads = []
    for keep in (True, True, False):
        b.backward(retain_graph=keep)
        grads.append(a.grad.tolist())
    return a, b, grads


def test_row_028_retain_graph_keeps_the_graph(dtype):
    a, b, grads = retained_three_times(dtype)
    assert grads == [[6.0], [12.0], [18.0]]
    with pytest.raises(RuntimeError, match=SECOND_TIME):
        b.backward()


def test_row_029_retained_non_leaves_accumulate(dtype):
    _, b, _ = retained_three_times(dtype)
    assert b.grad.tolist() == [3.0]


def test_row_030_a_node_that_saved_nothing_runs_again(dtype):
    x = leaf(2.0, dtype)
    y = x + 1
    y.backward()
    y.backward()
    assert x.grad.item() == 2.0
    z = x * 4
    z.backward()
    with pytest.raises(RuntimeError, match=SECOND_TIME):
        z.backward()


def test_row_031_backward_from_each_of_a_chain(dtype):
    for keep in (True, False):
        t1 = leaf(7.0, dtype)
        t1.backward()
        assert t1.grad.item() == 1.0
        t2 = 4 * t1
        t2.retain_grad()
        t2.backward(retain_graph=keep)
        assert (t1.grad.item(), t2.grad.item()) == (5.0, 1.0)
        t3 = 5 * t2
        t3.retain_grad()
        if keep:
            t3.backward()
            assert (t1.grad.item(), t2.grad.item(), t3.grad.item()) == (25.0, 6.0, 1.0)
        else:
            with pytest.raises(RuntimeError, match=SECOND_TIME):
                t3.backward()
            assert (t1.grad.item(), t2.grad.item()) == (5.0, 1.0)


def test_row_032_detached_in_place_the_chain_ends(dtype):
    t1 = leaf(7.0, dtype)
    t1.backward()
    t2 = 4 * t1
    t2.retain_grad()
    t2.backward(retain_graph=True)
    t3 = 5 * t2
    t3.retain_grad()
    t3 = t3.detach_().requires_grad_(True)
    assert t3.is_leaf is True
    t3.backward()
    assert (t1.grad.item(), t2.grad.item(), t3.grad.item()) == (5.0, 1.0, 1.0)


def test_row_033_only_the_leaf_that_asks_gets_a_gradient(dtype):
    x = leaf(1.0, dtype)
    y = T.tensor(2.0, dtype=dtype)
    z = x * y
    w = T.tensor(3.0, dtype=dtype, requires_grad=False)
    o = z * w
    o.backward()
    assert x.grad.item() == 6.0
    assert y.grad is None and w.grad is None
    with pytest.warns(UserWarning, match="not a leaf"):
        assert z.grad is None
    assert [v.is_leaf for v in (x, y, z, w)] == [True, True, False, True]


def test_row_034_gradient_of_a_matrix_product(dtype):
    rng = np.random.default_rng(0)
    b_values = rng.integers(-8, 8, (3, 4)).astype(dtype)
    a = leaf(rng.integers(-8, 8, (2, 3)).astype(dtype), dtype)
    b = T.tensor(b_values)
    loss = 10 - (a @ b).sum()
    loss.backward()
    for row in a.grad.tolist():
        assert row == (-b_values.sum(1)).tolist()
    assert a.grad.dtype == dtype
    assert b.grad is None


def test_row_035_grad_is_none_until_filled(dtype):
    a, b = leaf(2.0, dtype), T.tensor(3.0, dtype=dtype)
    assert a.grad is None and b.grad is None
    (a * b).backward()
    assert a.grad.item() == 3.0 and b.grad is None
