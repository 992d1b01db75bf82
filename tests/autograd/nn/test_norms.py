"""Functions that normalise, against numpy, and how their running numbers move."""

import numpy as np
import pytest

import autograd as T
from autograd.jets import partials
from autograd.nn import functional as F
from autograd.testing import OpCase, check_op


def over(x, axes, eps=1e-5):
    centred = x - x.mean(axes, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axes, keepdims=True) + eps)


def along(numbers, x):
    return numbers.reshape(1, -1, *(1,) * (x.ndim - 2))


def in_groups(x, count):
    return over(x.reshape(len(x), count, -1), 2).reshape(x.shape)


def windows(x, size):
    """The mean squares of `size` channels around each, by a loop."""
    found = np.zeros_like(x)
    for k in range(x.shape[1]):
        first = k - size // 2
        near = [j for j in range(first, first + size) if 0 <= j < x.shape[1]]
        found[:, k] = (x[:, near] ** 2).sum(1) / size
    return found


CHANNELS = [((4, 3), (3,), (3,)), ((2, 3, 4), (3,), (3,)), ((2, 3, 2, 2), (3,), (3,))]
CASES = [
    OpCase(
        "layer_norm",
        lambda x, w, b: F.layer_norm(x, w.shape, w, b),
        [((3, 4), (4,), (4,)), ((2, 2, 3), (2, 3), (2, 3))],
        reference=lambda x, w, b: over(x, tuple(range(-w.ndim, 0))) * w + b,
    ),
    OpCase(
        "rms_norm",
        lambda x, w: F.rms_norm(x, w.shape, w, 1e-3),
        [((3, 4), (4,)), ((2, 2, 3), (2, 3))],
        reference=lambda x, w: (
            x / np.sqrt((x**2).mean(tuple(range(-w.ndim, 0)), keepdims=True) + 1e-3) * w
        ),
    ),
    OpCase(
        "batch_norm",
        lambda x, w, b: F.batch_norm(x, None, None, w, b, True),
        CHANNELS,
        reference=lambda x, w, b: (
            over(x, (0, *range(2, x.ndim))) * along(w, x) + along(b, x)
        ),
    ),
    OpCase(
        "instance_norm",
        lambda x, w, b: F.instance_norm(x, weight=w, bias=b),
        CHANNELS[1:],
        reference=lambda x, w, b: over(x, tuple(range(2, x.ndim))) * along(w, x) + along(b, x),
    ),
    OpCase(
        "group_norm",
        lambda x, w, b: F.group_norm(x, 2, w, b),
        [((3, 4), (4,), (4,)), ((2, 4, 3), (4,), (4,))],
        reference=lambda x, w, b: in_groups(x, 2) * along(w, x) + along(b, x),
    ),
    OpCase(
        "local_response_norm",
        lambda x: F.local_response_norm(x, 3, 0.5, 0.6, 2.0),
        [((2, 5, 3),), ((1, 2, 2, 2),)],
        reference=lambda x: x / (2 + 0.5 * windows(x, 3)) ** 0.6,
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_values_and_derivatives(case):
    check_op(case)


@pytest.mark.parametrize("size", [1, 2, 4])
def test_a_window_of_channels_leans_to_the_lower_ones(size):
    x = T.rand(2, 6, 3, dtype=T.float64)
    expected = x.numpy() / (1 + 1e-4 * windows(x.numpy(), size)) ** 0.75
    np.testing.assert_allclose(F.local_response_norm(x, size).numpy(), expected, rtol=1e-14)


def test_without_eps_the_root_mean_square_has_the_step_of_the_dtype():
    for dtype in (T.float32, T.float64):
        x = T.full((1, 4), 1e-9, dtype=dtype)
        expected = 1e-9 / np.sqrt(1e-18 + np.finfo(dtype).eps)
        np.testing.assert_allclose(F.rms_norm(x, (4,)).numpy(), expected, rtol=1e-5)


def test_running_numbers_move_to_those_of_the_batch_by_the_momentum():
    x = T.tensor(np.random.default_rng(0).normal(3, 2, (6, 2, 5)))
    mean, variance = T.zeros(2, dtype=T.float64), T.ones(2, dtype=T.float64)
    F.batch_norm(x, mean, variance, training=True, momentum=0.25)
    values = x.numpy().transpose(1, 0, 2).reshape(2, -1)
    np.testing.assert_allclose(mean.numpy(), 0.25 * values.mean(1))
    np.testing.assert_allclose(variance.numpy(), 0.75 + 0.25 * values.var(1, ddof=1))
    before = mean.tolist()
    found = F.batch_norm(x, mean, variance)
    assert mean.tolist() == before
    expected = (x.numpy() - along(mean.numpy(), x)) / np.sqrt(along(variance.numpy(), x) + 1e-5)
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-13)


def test_running_numbers_of_instances_are_averages_over_samples():
    x = T.tensor(np.random.default_rng(0).normal(3, 2, (6, 2, 5)))
    mean, variance = T.zeros(2, dtype=T.float64), T.ones(2, dtype=T.float64)
    F.instance_norm(x, mean, variance, momentum=0.5)
    np.testing.assert_allclose(mean.numpy(), 0.5 * x.numpy().mean((0, 2)))
    np.testing.assert_allclose(variance.numpy(), 0.5 + 0.5 * x.numpy().var(2, ddof=1).mean(0))
    found = F.instance_norm(x, mean, variance, use_input_stats=False)
    np.testing.assert_allclose(found.numpy(), F.batch_norm(x, mean, variance).numpy())


ONES = T.ones(2, 4)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: F.rms_norm(ONES, (3,)), RuntimeError, r"expected input with shape \[\*, 3\]"),
        (lambda: F.batch_norm(T.ones(3), None, None), RuntimeError, "at least 2 dimensions"),
        (lambda: F.batch_norm(ONES, None, None), RuntimeError, "to be defined when training="),
        (
            lambda: F.batch_norm(T.ones(1, 4), None, None, training=True),
            ValueError,
            r"more than 1 value per channel when training, got input size \[1, 4\]",
        ),
        (
            lambda: F.batch_norm(ONES, None, None, T.ones(3), training=True),
            RuntimeError,
            "weight should contain 4 elements.*not 3",
        ),
        (
            lambda: F.batch_norm(ONES, None, None, T.ones(4).double(), training=True),
            RuntimeError,
            "same dtype",
        ),
        (lambda: F.instance_norm(ONES), ValueError, "more than 1 spatial element"),
        (
            lambda: F.instance_norm(T.ones(1, 2, 3), use_input_stats=False),
            RuntimeError,
            "defined when use_input_stats=False",
        ),
        (lambda: F.group_norm(ONES, 3), RuntimeError, "divisible by num_groups.*num_groups=3"),
        (lambda: F.group_norm(T.ones(1, 4), 4), ValueError, "take fewer groups"),
        (lambda: F.local_response_norm(ONES, 2), ValueError, "3D or higher"),
        (lambda: F.batch_norm([1.0], None, None), TypeError, "must be Tensor, not list"),
    ],
)
def test_what_does_not_fit_is_refused(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_a_recording_does_not_move_running_numbers():
    x, mean = T.rand(5, 2), T.zeros(2)
    by_batch = T.compile(lambda x: F.batch_norm(x, None, None, training=True).sum(0)[1])
    assert T.allclose(by_batch(x), F.batch_norm(x, None, None, training=True).sum(0)[1])
    with pytest.raises(T.TraceError, match="statistics are tracked.*eval"):
        T.compile(lambda x: F.batch_norm(x, mean, T.ones(2), training=True).sum())(x)
    assert mean.tolist() == [0, 0]


def test_jets_are_not_pushed_through_the_mean_of_a_batch():
    with pytest.raises(T.jets.NoTaylorRule, match="statistics of a batch of points has no Taylor"):
        partials(lambda x: F.batch_norm(x, None, None, training=True), [T.rand(5, 2)], [(0,)])
