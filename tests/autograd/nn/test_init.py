"""Initial values: their distributions, seeds and errors."""

import math

import numpy as np
import pytest
import scipy.stats

import autograd as T
from autograd import nn
from autograd.strict import strict_cuda


def generator(seed=0):
    return T.Generator().manual_seed(seed)


@pytest.mark.parametrize(
    ("fill", "bound"),
    [
        (lambda w, g: nn.init.xavier_uniform_(w, 2.0, g), 2 * math.sqrt(6 / 500)),
        (lambda w, g: nn.init.kaiming_uniform_(w, generator=g), math.sqrt(2 * 3 / 300)),
        (
            lambda w, g: nn.init.kaiming_uniform_(w, math.sqrt(5), "fan_out", generator=g),
            math.sqrt(3 * 2 / 6 / 200),
        ),
        (lambda w, g: nn.init.uniform_(w, -0.25, 0.25, g), 0.25),
    ],
)
def test_uniform_fillings_reach_their_bound_and_no_further(fill, bound):
    w = T.zeros(200, 300, dtype=T.float64)
    assert fill(w, generator()) is w
    values = w.numpy()
    assert np.abs(values).max() <= bound
    assert np.abs(values).max() >= 0.999 * bound
    assert abs(values.mean()) < 5 * bound / math.sqrt(3 * values.size)
    assert abs(values.std() / (bound / math.sqrt(3)) - 1) < 0.02


@pytest.mark.parametrize(
    ("fill", "std"),
    [
        (lambda w, g: nn.init.xavier_normal_(w, 1.5, g), 1.5 * math.sqrt(2 / 500)),
        (
            lambda w, g: nn.init.kaiming_normal_(w, nonlinearity="relu", generator=g),
            math.sqrt(2 / 300),
        ),
        (lambda w, g: nn.init.normal_(w, 0.0, 3.0, g), 3.0),
    ],
)
def test_normal_fillings_have_their_deviation(fill, std):
    w = T.zeros(200, 300, dtype=T.float64)
    fill(w, generator())
    values = w.numpy()
    assert abs(values.std() / std - 1) < 0.02
    assert abs(values.mean()) < 5 * std / math.sqrt(values.size)
    assert abs((np.abs(values) < std).mean() - math.erf(math.sqrt(0.5))) < 0.01


def test_same_seed_same_values_and_nothing_is_recorded():
    a, b = nn.Linear(3, 4, generator=generator(5)), nn.Linear(3, 4, generator=generator(5))
    assert a.weight.tolist() == b.weight.tolist() and a.bias.tolist() == b.bias.tolist()
    c = nn.Linear(3, 4, generator=generator(6))
    assert a.weight.tolist() != c.weight.tolist()
    nn.init.normal_(a.weight, generator=generator())
    assert a.weight.is_leaf and a.weight.requires_grad


def test_linear_starts_within_one_over_the_root_of_its_inputs():
    lin = nn.Linear(400, 300, generator=generator(), dtype=T.float64)
    bound = 1 / math.sqrt(400)
    for values in (lin.weight.detach().numpy(), lin.bias.detach().numpy()):
        assert np.abs(values).max() <= bound
        assert np.abs(values).max() >= 0.98 * bound
    assert nn.Linear(0, 2).bias.tolist() == [0.0, 0.0]


def test_constants():
    w = nn.Parameter(T.rand(2))
    assert nn.init.ones_(w).tolist() == [1.0, 1.0]
    assert nn.init.zeros_(w).tolist() == [0.0, 0.0]
    assert nn.init.constant_(w, 2.5).tolist() == [2.5, 2.5]


def test_errors_name_the_shape_and_the_choices():
    with pytest.raises(ValueError, match="fewer than 2 dimensions"):
        nn.init.xavier_uniform_(T.zeros(3))
    with pytest.raises(ValueError, match="mode must be"):
        nn.init.kaiming_normal_(T.zeros(3, 3), mode="fan")
    with pytest.raises(ValueError, match="unsupported nonlinearity 'tahn'"):
        nn.init.calculate_gain("tahn")
    assert nn.init.calculate_gain("tanh") == 5 / 3
    assert nn.init.calculate_gain("leaky_relu", 3) == math.sqrt(0.2)


@pytest.mark.parametrize("shape", [(3, 5), (5, 3), (4, 4), (3, 2, 2)])
@pytest.mark.parametrize("dtype", [T.float64, T.complex128])
def test_orthogonal_fillings(shape, dtype):
    w = T.zeros(shape, dtype=dtype)
    assert nn.init.orthogonal_(w, 2.0, generator()) is w
    matrix = w.numpy().reshape(shape[0], -1)
    if matrix.shape[0] > matrix.shape[1]:
        matrix = matrix.T
    np.testing.assert_allclose(matrix @ matrix.conj().T, 4 * np.eye(len(matrix)), atol=1e-14)


def test_orthogonal_fillings_are_rotations_and_reflections_alike():
    draws = [
        np.linalg.det(nn.init.orthogonal_(T.zeros(2, 2), generator=generator(k)).numpy())
        for k in range(200)
    ]
    assert 70 < sum(d > 0 for d in draws) < 130
    assert nn.init.orthogonal_(T.zeros(0, 2)).shape == (0, 2)
    with pytest.raises(ValueError, match="2 or more dimensions"):
        nn.init.orthogonal_(T.zeros(3))


@pytest.mark.parametrize(("mean", "std", "a", "b"), [(0, 1, -2, 2), (0.3, 0.5, 0, 2), (0, 1, 1, 3)])
def test_truncated_fillings_have_their_moments(mean, std, a, b):
    w = T.zeros(200, 300, dtype=T.float64)
    assert nn.init.trunc_normal_(w, mean, std, a, b, generator()) is w
    values = w.numpy()
    exact = scipy.stats.truncnorm((a - mean) / std, (b - mean) / std, mean, std)
    assert values.min() >= a and values.max() <= b
    assert abs(values.mean() - exact.mean()) < 5 * exact.std() / math.sqrt(values.size)
    assert abs(values.std() / exact.std() - 1) < 0.02


def test_truncated_fillings_check_their_ends():
    for bad in ({"a": 1, "b": -1}, {"std": 0}):
        with pytest.raises(ValueError, match="expected a <= b and std > 0"):
            nn.init.trunc_normal_(T.zeros(2), **bad)


def test_parameters_of_a_device_that_is_not_current_are_filled_there():
    with strict_cuda():
        w = T.zeros(3, 4, device="cuda:1")
        for fill in (nn.init.uniform_, nn.init.normal_, nn.init.orthogonal_, nn.init.trunc_normal_):
            there, here = fill(w, generator=generator()), T.zeros(3, 4)
            assert there.is_cuda and there.tolist() == fill(here, generator=generator()).tolist()


def test_identities_of_matrices_and_of_convolutions():
    assert nn.init.eye_(T.ones(2, 3)).tolist() == [[1, 0, 0], [0, 1, 0]]
    x = T.rand(1, 4, 5, 6)
    for groups in (1, 2):
        weight = nn.init.dirac_(T.ones(4, 4 // groups, 3, 3), groups)
        found = nn.functional.conv2d(x, weight, padding=1, groups=groups)
        assert T.equal(found, x)
    with pytest.raises(ValueError, match="2 dimensions are supported by eye_"):
        nn.init.eye_(T.ones(2))
    with pytest.raises(ValueError, match=r"by groups, got shape \[3, 2, 2\] and groups=2"):
        nn.init.dirac_(T.ones(3, 2, 2), 2)


def test_each_column_of_a_sparse_matrix_has_as_many_zeros():
    T.manual_seed(0)
    found = nn.init.sparse_(T.ones(10, 300), 0.25, std=2.0).numpy()
    assert ((found == 0).sum(0) == 3).all() and len(np.unique(found == 0, axis=1)[0]) > 10
    assert abs(found[found != 0].std() - 2) < 0.1
    with pytest.raises(ValueError, match="2 dimensions are supported by sparse_"):
        nn.init.sparse_(T.ones(2), 0.5)
