"""Rows 1-20: tensors, leaves, and where requires_grad comes from."""

from __future__ import annotations

import gc
import itertools

import numpy as np
import pytest

import autograd as T
from autograd.graph import Node
from autograd.saved import SavedTensor


def random_graph(seed: int, dtype: np.dtype) -> tuple[list, list]:
    """Return random leaves and everything computed from them by random operations."""
    rng = np.random.default_rng(seed)
    leaves = [
        T.tensor(rng.uniform(-1, 1, 3), dtype=dtype, requires_grad=bool(rng.integers(2)))
        for _ in range(4)
    ]
    made: list = []
    for _ in range(12):
        pool = leaves + made
        a, b = (pool[k] for k in rng.integers(len(pool), size=2))
        kind = rng.integers(6)
        if kind == 0:
            made.append(a + b)
        elif kind == 1:
            made.append(a * b)
        elif kind == 2:
            made.append(T.sin(a))
        elif kind == 3:
            made.append(a.detach())
        elif kind == 4:
            made.append(a.reshape(3))
        else:
            with T.no_grad():
                made.append(a - b)
    return leaves, made


def census() -> tuple[int, int]:
    """Return how many graph nodes and saved arrays are alive."""
    gc.collect()
    alive = gc.get_objects()
    return (
        sum(issubclass(type(o), Node) for o in alive),
        sum(type(o) is SavedTensor for o in alive),
    )


def test_row_001_a_number_makes_a_0d_tensor(dtype):
    x = T.tensor(3.0)
    assert x.shape == () and x.ndim == 0
    assert type(x.item()) is float and x.item() == 3.0
    assert x.dtype == np.float32
    assert T.tensor(3.0, dtype=dtype).dtype == dtype


def test_row_002_requires_grad_is_false_by_default(dtype):
    assert T.tensor([1.0], dtype=dtype).requires_grad is False


def test_row_003_flags_are_python_bools(dtype):
    a = T.tensor([3.0], dtype=dtype, requires_grad=True)
    assert a.requires_grad is True
    assert a.is_leaf is True
    plain = T.tensor([3.0], dtype=dtype, requires_grad=np.bool_(True))
    assert plain.requires_grad is True
    for flag in (a.is_cuda, a.is_contiguous(), a.is_floating_point(), a.is_complex()):
        assert type(flag) is bool


def test_row_004_a_product_of_a_leaf_is_no_leaf(dtype):
    a = T.tensor([3.0], dtype=dtype, requires_grad=True)
    b = a * a
    assert b.requires_grad is True
    assert b.is_leaf is False
    assert b.grad_fn is not None


def test_row_005_a_product_of_plain_data_is_a_leaf(dtype):
    c = T.tensor([5.0], dtype=dtype)
    d = c * c
    assert d.requires_grad is False
    assert d.is_leaf is True
    assert d.grad_fn is None


@pytest.mark.parametrize("flags", list(itertools.product([False, True], repeat=3)))
def test_row_006_requires_grad_is_any_of_the_inputs(flags, dtype):
    a, b, c = (T.tensor([0.5], dtype=dtype, requires_grad=flag) for flag in flags)
    y = T.sin(a * b * c)
    assert y.requires_grad is any(flags)
    assert y.is_leaf is not any(flags)


def test_row_007_plain_data_records_nothing(dtype):
    x = T.tensor([1.0, 2.0, 3.0], dtype=dtype)
    before = census()
    y = x - x.mean()
    assert census() == before
    assert y.is_leaf is True and y.requires_grad is False and y.grad_fn is None
    assert y.tolist() == [-1.0, 0.0, 1.0]


@pytest.mark.parametrize("seed", range(20))
def test_row_008_a_leaf_requires_no_grad_or_has_no_grad_fn(seed, dtype):
    leaves, made = random_graph(seed, dtype)
    for x in leaves + made:
        assert x.is_leaf is ((not x.requires_grad) or x.grad_fn is None)


@pytest.mark.parametrize("seed", range(20))
def test_row_009_a_non_leaf_requires_grad(seed, dtype):
    leaves, made = random_graph(seed, dtype)
    assert all(x.is_leaf for x in leaves)
    for x in made:
        assert x.is_leaf or x.requires_grad is True


def test_row_010_mm_is_a_leaf_without_and_a_non_leaf_with_requires_grad(dtype):
    a = T.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=dtype)
    b = T.tensor([[5.0, 6.0], [7.0, 8.0]], dtype=dtype)
    plain = a.mm(b)
    assert plain.is_leaf is True and plain.requires_grad is False
    a.requires_grad_()
    recorded = a.mm(b)
    assert recorded.is_leaf is False and recorded.requires_grad is True
    assert plain.tolist() == recorded.tolist() == [[19.0, 22.0], [43.0, 50.0]]


def test_row_011_requires_grad_returns_the_same_leaf(dtype):
    x = T.tensor([1.0], dtype=dtype)
    assert x.requires_grad_() is x
    assert x.requires_grad is True and x.is_leaf is True and x.grad_fn is None
    assert x.requires_grad_(False) is x
    assert x.requires_grad is False


def test_row_012_requires_grad_can_be_assigned(dtype):
    x = T.tensor([1.0], dtype=dtype)
    x.requires_grad = True
    assert x.requires_grad is True and x.is_leaf is True and x.grad_fn is None


def test_row_013_a_non_leaf_cannot_be_switched_off(dtype):
    b = T.tensor([1.0], dtype=dtype, requires_grad=True) * 2
    message = "only change requires_grad flags of leaf variables"
    with pytest.raises(RuntimeError, match=message) as error:
        b.requires_grad = False
    assert "detach()" in str(error.value)
    with pytest.raises(RuntimeError, match=message):
        b.requires_grad_(False)
    assert b.requires_grad is True


def test_row_014_setting_true_on_a_non_leaf_does_nothing(dtype):
    b = T.tensor([1.0], dtype=dtype, requires_grad=True) * 2
    node = b.grad_fn
    b.requires_grad = True
    assert b.requires_grad_() is b
    assert b.grad_fn is node and b.is_leaf is False


@pytest.mark.parametrize("data", [[1, 2], [True, False]])
def test_row_015_integers_and_bools_cannot_require_grad(data):
    message = "(?i)only tensors of floating point"
    with pytest.raises(RuntimeError, match=message):
        T.tensor(data, requires_grad=True)
    x = T.tensor(data)
    with pytest.raises(RuntimeError, match=message):
        x.requires_grad = True
    with pytest.raises(RuntimeError, match=message):
        x.requires_grad_()
    assert x.requires_grad is False


@pytest.mark.parametrize("name", ["float16", "float32", "float64", "complex64", "complex128"])
def test_row_016_floating_and_complex_dtypes_may_require_grad(name):
    x = T.tensor([1.0], dtype=getattr(T, name), requires_grad=True)
    assert x.requires_grad is True and x.dtype == np.dtype(name)


def test_row_017_data_is_a_keyword():
    x = T.tensor(data=7.0, requires_grad=True)
    assert x.item() == 7.0 and x.requires_grad is True


def test_row_018_repr():
    assert repr(T.tensor(7.0, requires_grad=True)) == "tensor(7., requires_grad=True)"
    product = T.tensor(7.0, requires_grad=True) * 4
    assert repr(product) == "tensor(28., grad_fn=<MulBackward0>)"
    assert repr(T.tensor([6.0])) == "tensor([6.])"
    assert repr(T.tensor(7.0 + 0j)) == "tensor(7.+0.j)"
    assert repr(T.tensor(1.0, dtype=T.float64)) == "tensor(1., dtype=float64)"
    T.set_default_dtype(T.float64)
    try:
        assert repr(T.tensor(1.0)) == "tensor(1.)"
        assert repr(T.tensor(1.0, dtype=T.float32)) == "tensor(1., dtype=float32)"
    finally:
        T.set_default_dtype(T.float32)


def test_row_019_a_subgraph_without_grads_keeps_nothing(dtype):
    x = T.tensor([1.0, 2.0], dtype=dtype)
    before = census()
    features = T.sin(T.exp(x) * x + 1)
    assert census() == before
    w = T.tensor([3.0, 4.0], dtype=dtype, requires_grad=True)
    loss = (w * features).sum()
    nodes, saved = (after - start for after, start in zip(census(), before, strict=True))
    assert nodes == 3, "the sum, the product and the sink of w"
    assert saved == 1, "the features, for the gradient of w"
    loss.backward()
    assert w.grad.tolist() == features.tolist()


@pytest.mark.parametrize("flag", [False, True])
def test_row_020_created_tensors_are_leaves(flag, dtype):
    base = T.ones(2, dtype=dtype)
    options = {"requires_grad": flag, "dtype": dtype}
    for x in (
        T.tensor([1.0], **options),
        T.ones(2, **options),
        T.zeros(2, 3, **options),
        T.full((2,), 3.0, **options),
        T.eye(2, **options),
        T.arange(0.0, 3.0, **options),
        T.linspace(0.0, 1.0, 5, **options),
        T.rand(3, **options),
        T.randn(3, **options),
        T.ones_like(base, requires_grad=flag),
        T.zeros_like(base, requires_grad=flag),
        T.rand_like(base, requires_grad=flag),
        T.randn_like(base, requires_grad=flag),
    ):
        assert x.is_leaf is True and x.requires_grad is flag and x.grad_fn is None
        assert x.dtype == dtype
