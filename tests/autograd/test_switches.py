"""Switches at the head of scripts: what they are set to, and what they refuse."""

import numpy as np
import pytest

import autograd as T
from autograd.devices import registered
from autograd.strict import strict_backend


@pytest.fixture(autouse=True)
def as_at_first():
    yield
    T.set_float32_matmul_precision("highest")
    T.use_deterministic_algorithms(False)
    T.set_default_device(None)


def test_the_precision_of_products_is_kept_and_changes_no_bit():
    x = T.rand(30, 30)
    before = x @ x
    for precision in ("high", "medium", "highest"):
        T.set_float32_matmul_precision(precision)
        assert T.get_float32_matmul_precision() == precision
        np.testing.assert_array_equal(x @ x, before)
    with pytest.raises(ValueError, match=r"expected one of \('highest'"):
        T.set_float32_matmul_precision("low")


def test_sums_without_an_order_are_refused_on_a_device_alone():
    index = T.tensor([0, 0, 1])
    with registered(strict_backend("cuda")):
        on_host, there = T.zeros(2), T.zeros(2, device="cuda")
        added = T.ones(3)
        T.use_deterministic_algorithms(True)
        assert T.are_deterministic_algorithms_enabled()
        assert on_host.index_add(0, index, added).tolist() == [2, 1]
        with pytest.raises(RuntimeError, match="in no fixed order"):
            there.index_add(0, index.cuda(), added.cuda())
        whole = T.zeros(2, dtype=T.int64, device="cuda")
        assert whole.index_add(0, index.cuda(), added.long().cuda()).tolist() == [2, 1]
        T.use_deterministic_algorithms(True, warn_only=True)
        assert T.is_deterministic_algorithms_warn_only_enabled()
        with pytest.warns(UserWarning, match="in no fixed order"):
            there.index_add(0, index.cuda(), added.cuda())
        T.use_deterministic_algorithms(False)
        assert there.index_add(0, index.cuda(), added.cuda()).tolist() == [2, 1]


def test_new_tensors_and_parameters_lie_on_the_default_device():
    assert T.get_default_device() == T.device("cpu")
    with registered(strict_backend("cuda")):
        T.set_default_device("cuda")
        assert T.get_default_device() == T.device("cuda:0")
        made = [T.zeros(2), T.tensor([1.0]), T.arange(3), T.rand(2), T.nn.Linear(2, 3).weight]
        assert {str(x.device) for x in made} == {"cuda:0"}
        assert str(T.zeros(2, device="cpu").device) == "cpu"
        assert str(T.zeros_like(T.zeros(2, device="cpu")).device) == "cpu"
        T.set_default_device(None)
        assert str(T.zeros(2).device) == "cpu"
    with pytest.raises(RuntimeError, match="nowhere"):
        T.set_default_device("nowhere")
