"""Creation: values, dtypes, devices, memory; random values by distribution and by seed."""

import numpy as np
import pytest
import scipy.stats

import autograd as T
from autograd.ops.creation import create as C
from autograd.random import Generator, manual_seed


@pytest.mark.parametrize(
    ("data", "dtype"),
    [
        (3, "int64"),
        (True, "bool"),
        (2.5, "float32"),
        (1j, "complex64"),
        ([], "float32"),
        ([1, 2.0], "float32"),
        ([True, 2], "int64"),
        ([[1j, 2]], "complex64"),
        (np.float64(2), "float64"),
        ([np.float64(2)], "float64"),
        (np.arange(3, dtype=np.int16), "int16"),
        (range(3), "int64"),
    ],
)
def test_tensor_takes_the_dtype_of_its_values(data, dtype):
    x = C.tensor(data)
    assert x.dtype == dtype and x.is_leaf
    np.testing.assert_array_equal(x.numpy(), np.asarray(data))


def test_tensor_copies_and_as_tensor_shares():
    array = np.array([1.0, 2.0])
    copied, shared = C.tensor(array), C.as_tensor(array)
    array[0] = 9
    assert copied.tolist() == [1.0, 2.0] and shared.tolist() == [9.0, 2.0]
    assert C.from_numpy(array)._data is not array and C.from_numpy(array).tolist() == [9.0, 2.0]
    assert C.as_tensor(shared) is shared
    assert C.as_tensor(array, dtype=T.float32).dtype == T.float32
    assert not np.shares_memory(C.asarray(array, copy=True).numpy(), array)
    x = T.ones(2, requires_grad=True)
    assert not C.tensor(x).requires_grad and C.as_tensor(x, T.float64).requires_grad


@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "c16"])
def test_arrays_in_the_other_order_of_bytes_are_copied_in_that_of_the_machine(dtype):
    other = np.arange(1, 5001).astype(np.dtype(dtype).newbyteorder("S"))
    for x in (C.tensor(other), C.as_tensor(other), C.zeros(5000, dtype=other.dtype) + other):
        assert x.dtype == np.dtype(dtype) and x.dtype.isnative
        assert x.sum().item() == other.astype(dtype).sum()
    found = T.tanh(C.as_tensor(other) / 5000)
    np.testing.assert_allclose(found, np.tanh(other.astype(complex) / 5000), rtol=1e-6)
    with pytest.raises(ValueError, match="order.*use as_tensor"):
        C.from_numpy(other)


def test_tensor_of_scalar_tensors_and_large_numbers():
    assert C.tensor([C.tensor(1.0), C.tensor(2)]).tolist() == [1.0, 2.0]
    assert C.tensor([1e300]).tolist() == [float("inf")]
    assert C.tensor(3, dtype=T.float64, requires_grad=True).requires_grad


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: C.tensor([[1, 2], [3]]), ValueError, "ragged"),
        (lambda: C.tensor([T.ones(2)]), ValueError, "only one element tensors"),
        (lambda: C.tensor("a"), TypeError, "not supported"),
        (lambda: C.tensor(None), TypeError, "not supported"),
        (lambda: C.tensor(1, requires_grad=True), RuntimeError, "floating point"),
        (lambda: C.tensor(1j, dtype=T.float32), TypeError, "complex values cannot become"),
        (lambda: C.from_numpy([1]), TypeError, r"expected np.ndarray \(got list\)"),
        (lambda: C.zeros(-1), RuntimeError, "negative dimension"),
        (lambda: C.zeros(2.0), (TypeError, AttributeError), "float"),
        (lambda: C.full((2,), 1j, dtype=T.float32), RuntimeError, "cannot be converted"),
        (lambda: C.arange(0, 1, 0), RuntimeError, "step must be nonzero"),
        (lambda: C.arange(1, 0), RuntimeError, "inconsistent with step sign"),
        (lambda: C.arange(float("inf")), RuntimeError, "unsupported range"),
        (lambda: C.linspace(0, 1, -1), RuntimeError, "non-negative"),
        (lambda: C.rand(2, dtype=T.int64), RuntimeError, "not implemented for int64"),
        (lambda: C.randint(3, 3, (2,)), RuntimeError, "'from' to be less than 'to'"),
        (lambda: C.randint(3), TypeError, "needs a size"),
        (lambda: C.randperm(-1), RuntimeError, "non-negative"),
        (lambda: C.normal(0.0, 1.0), TypeError, "needs a size"),
        (lambda: C.normal(0.0, -1.0, (2,)), RuntimeError, "std >= 0"),
        (lambda: C.bernoulli(T.tensor([1.5])), RuntimeError, "0 && p_in <= 1"),
    ],
)
def test_bad_arguments_are_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_filled_tensors_and_their_spellings():
    assert C.zeros(2, 3).tolist() == [[0.0] * 3] * 2 == C.zeros((2, 3)).tolist()
    assert C.ones(size=(2,)).tolist() == [1.0, 1.0]
    assert C.empty(2, 0).shape == (2, 0) and C.zeros(()).shape == ()
    assert C.full((2,), 7).dtype == T.int64 and C.full((2,), True).dtype == T.bool_
    assert C.full((), 0.5).item() == 0.5 and C.full((1,), 1j).dtype == T.complex64
    assert C.full((2,), 1.9, dtype=T.int64).tolist() == [1, 1]
    assert C.full((1,), T.tensor(2.0)).tolist() == [2.0]
    number = C.scalar_tensor(3, requires_grad=True)
    assert number.dtype == T.get_default_dtype() and number.shape == () and number.is_leaf
    assert C.scalar_tensor(3, dtype=T.int64).item() == 3
    assert C.eye(2, 3).tolist() == np.eye(2, 3).tolist()


def test_ranges():
    assert C.arange(5).dtype == T.int64 and C.arange(5).tolist() == [0, 1, 2, 3, 4]
    assert C.arange(5, 0, -2).tolist() == [5, 3, 1]
    assert C.arange(1.0, 2.0, 0.25).tolist() == [1.0, 1.25, 1.5, 1.75]
    np.testing.assert_allclose(
        C.arange(0, 1, 0.1, dtype=T.float64).numpy(), np.arange(10) / 10, rtol=2e-16
    )
    assert C.arange(0).shape == (0,)
    line = C.linspace(0, 1, 5, dtype=T.float64)
    assert line.tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert C.linspace(3, 9, 1).tolist() == [3.0] and C.linspace(0, 1, 0).shape == (0,)
    assert C.linspace(T.tensor(0.0), T.tensor(2.0), 3).tolist() == [0.0, 1.0, 2.0]
    assert C.logspace(0, 3, 4, base=2.0).tolist() == [1.0, 2.0, 4.0, 8.0]
    np.testing.assert_array_equal(C.tril_indices(3, 4, 1).numpy(), np.tril_indices(3, 1, 4))
    np.testing.assert_array_equal(C.triu_indices(3, 4, -1).numpy(), np.triu_indices(3, -1, 4))


def test_like_and_new_follow_dtype_and_device(cuda):
    x = C.zeros(2, 3, dtype=T.float64, device=cuda)
    made = [
        C.zeros_like(x),
        C.ones_like(x),
        C.empty_like(x),
        C.full_like(x, 2),
        C.rand_like(x),
        C.randn_like(x),
        C.randint_like(x, 5),
        x.new_zeros(2, 3),
        x.new_ones((2, 3)),
        x.new_full((2, 3), 1),
        x.new_empty(2, 3),
        x.new_tensor([[1, 2, 3]] * 2),
    ]
    for y in made:
        assert y.shape == (2, 3) and y.dtype == T.float64 and y.device == x.device and y.is_leaf
    other = C.ones_like(x, dtype=T.int64, device="cpu")
    assert other.dtype == T.int64 and not other.is_cuda
    assert C.zeros_like(x, requires_grad=True).requires_grad


def test_creation_on_a_device(cuda):
    for make in (
        lambda **k: C.zeros(2, **k),
        lambda **k: C.full((2,), 1.5, **k),
        lambda **k: C.eye(2, **k),
        lambda **k: C.arange(3.0, **k),
        lambda **k: C.linspace(0, 1, 3, **k),
        lambda **k: C.rand(2, **k),
        lambda **k: C.tensor([1.0], **k),
        lambda **k: C.as_tensor(np.ones(2, np.float32), **k),
    ):
        x = make(device=cuda)
        assert x.is_cuda and x.is_leaf and x.dtype == T.float32
    assert C.zeros(2, device=cuda, requires_grad=True).requires_grad


def test_the_default_dtype_is_followed():
    T.set_default_dtype(T.float64)
    try:
        for x in (C.zeros(1), C.rand(1), C.linspace(0, 1, 2), C.tensor(1.0), C.arange(1.0)):
            assert x.dtype == T.float64
        assert C.tensor(1j).dtype == T.complex128
    finally:
        T.set_default_dtype(T.float32)


# ---- random


@pytest.mark.parametrize(
    ("draw", "cdf"),
    [
        (lambda: C.rand(4000, dtype=T.float64), scipy.stats.uniform().cdf),
        (lambda: C.rand(4000), scipy.stats.uniform().cdf),
        (lambda: C.randn(4000, dtype=T.float64), scipy.stats.norm().cdf),
        (lambda: C.normal(2.0, 3.0, (4000,)), scipy.stats.norm(2, 3).cdf),
        (lambda: C.normal(T.zeros(4000) + 2, 3.0), scipy.stats.norm(2, 3).cdf),
        (lambda: C.uniform(-2.0, 1.0, (4000,)), scipy.stats.uniform(-2, 3).cdf),
    ],
)
def test_distributions(draw, cdf):
    manual_seed(0)
    assert scipy.stats.kstest(draw().numpy(), cdf).pvalue > 1e-3


def test_complex_and_half_precision_draws():
    manual_seed(0)
    z = C.randn(20000, dtype=T.complex128).numpy()
    assert np.mean(np.abs(z) ** 2) == pytest.approx(1.0, abs=0.05)
    assert abs(np.mean(z**2)) < 0.05
    half = C.rand(20000, dtype=T.float16).numpy()
    assert half.dtype == np.float16 and half.max() < 1 and half.min() >= 0
    assert C.randn(3, dtype=T.float16).dtype == T.float16


def test_discrete_draws():
    manual_seed(0)
    dice = C.randint(1, 7, (6000,))
    assert dice.dtype == T.int64
    assert scipy.stats.chisquare(np.bincount(dice.numpy())[1:]).pvalue > 1e-3
    assert set(C.randint(2, (50,)).tolist()) == {0, 1}
    assert sorted(C.randperm(20).tolist()) == list(range(20))
    coins = C.bernoulli(T.zeros(4000) + 0.25)
    assert coins.dtype == T.float32 and coins.numpy().mean() == pytest.approx(0.25, abs=0.03)
    assert C.bernoulli(T.zeros(3), 1.0).tolist() == [1.0, 1.0, 1.0]


def test_samples_have_a_zero_gradient_in_the_parameters_of_their_distribution():
    mean = T.tensor([[1.0], [2.0]], requires_grad=True)
    std = T.tensor([0.5, 1.0, 2.0], dtype=T.float64, requires_grad=True)
    odds = T.tensor([0.0, 0.3, 1.0], requires_grad=True)
    for draw, parameters in (
        (lambda: C.normal(mean, std), (mean, std)),
        (lambda: C.normal(0.0, std), (std,)),
        (lambda: C.normal(mean, 1.0), (mean,)),
        (lambda: C.uniform(mean, std + 2), (mean, std)),
        (lambda: C.bernoulli(odds), (odds,)),
    ):
        sample = draw()
        assert sample.requires_grad and not sample.is_leaf
        for parameter, found in zip(parameters, T.grad(sample.sum(), parameters), strict=True):
            assert found.shape == parameter.shape and found.dtype == parameter.dtype
            assert not found.numpy().any()
        with T.no_grad():
            assert draw().is_leaf
    assert C.normal(mean, 1.0, requires_grad=True).is_leaf


def test_a_seed_gives_the_same_numbers_on_every_device(cuda):
    a = C.rand(3, generator=Generator().manual_seed(5))
    b = C.rand(3, generator=Generator(cuda).manual_seed(5))
    assert b.is_cuda and a.tolist() == b.cpu().tolist()


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (lambda: T.arange(3.1, dtype=T.int64), [0, 1, 2]),
        (lambda: T.arange(0.5, 5.9, 1.5, dtype=T.int64), [0, 1, 2, 3, 4]),
        (lambda: T.arange(0.1, -7.9, -4.0, dtype=T.int32), [0, -4]),
        (lambda: T.arange(-3.7, 3.7, dtype=T.int64), [-3, -2, -1, 0, 1, 2]),
        (lambda: T.linspace(4.3, 0, 5, dtype=T.int64), [4, 3, 2, 1, 0]),
        (lambda: T.linspace(2.7, -9.1, 9, dtype=T.int64), [2, 0, 0, -2, -3, -4, -6, -7, -9]),
        (lambda: T.linspace(0.5, 3.5, 1, dtype=T.int64), [0]),
        (lambda: T.linspace(0.5, 3.5, 0, dtype=T.int64), []),
        (lambda: T.linspace(0, 49, 50, dtype=T.int64), list(range(50))),
        (lambda: T.logspace(0, 1.2, 4, dtype=T.int64), [1, 2, 4, 10]),
        (lambda: T.logspace(T.tensor(1.9), -1, 3, dtype=T.int64), [10, 1, 0]),
    ],
)
def test_integer_ranges_round_their_limits_towards_zero_first(found, expected):
    assert found().tolist() == expected
    assert found().dtype.kind == "i"


def test_an_integer_range_cannot_start_at_a_complex_number():
    with pytest.raises(RuntimeError, match="cannot be converted to type int64"):
        T.linspace(1j, 2, 3, dtype=T.int64)


# ---- positions by weights, and counts


def test_positions_are_drawn_in_proportion_to_their_weights():
    T.manual_seed(0)
    weights = T.tensor([[1.0, 0.0, 3.0], [2.0, 2.0, 0.0]])
    drawn = T.multinomial(weights, 4000, True)
    assert drawn.shape == (2, 4000) and drawn.dtype == T.int64
    np.testing.assert_allclose((drawn == 0).double().mean(1).numpy(), [0.25, 0.5], atol=0.03)
    assert not (drawn[0] == 1).any() and not (drawn[1] == 2).any()
    assert sorted(T.multinomial(weights[0], 2).tolist()) == [0, 2]
    T.manual_seed(3)
    first = T.multinomial(weights, 5, True)
    same = T.multinomial(weights, 5, True, generator=T.Generator().manual_seed(3))
    assert first.tolist() == same.tolist()


def test_counts_have_their_means_and_variances():
    T.manual_seed(0)
    mean = T.tensor([0.5, 4.0], requires_grad=True)
    drawn = T.poisson(mean.expand(8000, 2))
    np.testing.assert_allclose(drawn.detach().mean(0).numpy(), [0.5, 4.0], rtol=0.05)
    np.testing.assert_allclose(drawn.detach().var(0).numpy(), [0.5, 4.0], rtol=0.07)
    drawn.sum().backward()
    assert mean.grad.tolist() == [0.0, 0.0] and drawn.dtype == mean.dtype


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda: T.multinomial(T.tensor([1.0, -1.0]), 1), "`nan` or element < 0"),
        (lambda: T.multinomial(T.zeros(2), 1), "or a row adds up to 0"),
        (lambda: T.multinomial(T.tensor([1.0, 0.0]), 2), "pass replacement=True"),
        (lambda: T.multinomial(T.tensor([1]), 1), "expected floating point weights"),
        (lambda: T.poisson(T.tensor([-1.0])), "invalid Poisson rate"),
    ],
)
def test_weights_and_means_that_are_refused(function, message):
    with pytest.raises(RuntimeError, match=message):
        function()
