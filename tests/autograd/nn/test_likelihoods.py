"""Losses of classes, counts and noise against their formulas, and gradients against differences."""

import math

import numpy as np
import pytest
from scipy import special, stats

import autograd as T
from autograd import nn
from autograd.strict import strict_cuda

F = nn.functional
rng = np.random.default_rng(0)
LOGITS = rng.normal(size=(5, 3))
CLASSES = np.array([0, 2, 1, 1, 0])
WEIGHT = np.array([0.5, 2.0, 1.5])
LOGS = special.log_softmax(LOGITS, 1)
PICKED = LOGS[np.arange(5), CLASSES]
P = rng.uniform(0.05, 0.95, (4, 3))
TARGET = rng.uniform(size=(4, 3))
X = rng.normal(size=(4, 3))
MIXED = special.softmax(rng.normal(size=(5, 3)), 1)
COUNTS = np.array([[0.0, 1.0, 7.0], [2.0, 3.0, 1.0], [5.0, 0.0, 2.0], [1.0, 1.0, 9.0]])
VARIANCE = rng.uniform(0.3, 2.0, (4, 3))


def t(array, **options):
    return T.tensor(np.array(array), **options)


def cross(p, target):
    return -(target * np.log(p) + (1 - target) * np.log1p(-p))


def kl(target, logs):
    return special.rel_entr(target, np.exp(logs))


CASES = {
    "bce": (nn.BCELoss, {}, P, (t(TARGET),), cross(P, TARGET)),
    "bce of logits": (nn.BCEWithLogitsLoss, {}, X, (t(TARGET),), cross(special.expit(X), TARGET)),
    "nll": (nn.NLLLoss, {}, LOGS, (t(CLASSES),), -PICKED),
    "cross entropy": (nn.CrossEntropyLoss, {}, LOGITS, (t(CLASSES),), -PICKED),
    "of probabilities": (nn.CrossEntropyLoss, {}, LOGITS, (t(MIXED),), -(MIXED * LOGS).sum(1)),
    "smoothed": (
        nn.CrossEntropyLoss, {"label_smoothing": 0.2}, LOGITS, (t(CLASSES),),
        -0.8 * PICKED - 0.2 * LOGS.mean(1),
    ),
    "kl": (nn.KLDivLoss, {}, LOGS, (t(MIXED),), kl(MIXED, LOGS)),
    "kl of logarithms": (
        nn.KLDivLoss, {"log_target": True}, LOGS, (t(np.log(MIXED)),), kl(MIXED, LOGS)
    ),
    "poisson": (nn.PoissonNLLLoss, {}, X, (t(COUNTS),), np.exp(X) - COUNTS * X),
    "poisson of rates": (
        nn.PoissonNLLLoss, {"log_input": False, "eps": 0.0}, P, (t(COUNTS),),
        P - COUNTS * np.log(P),
    ),
    "gaussian": (
        nn.GaussianNLLLoss, {"full": True}, X, (t(TARGET), t(VARIANCE)),
        -stats.norm.logpdf(X, TARGET, np.sqrt(VARIANCE)),
    ),
    "gaussian of one variance": (
        nn.GaussianNLLLoss, {"full": True}, X, (t(TARGET), 0.7),
        -stats.norm.logpdf(X, TARGET, math.sqrt(0.7)),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("loss", "options", "x", "others", "expected"), CASES.values(), ids=CASES)
def test_values_of_each_reduction(loss, options, x, others, expected):
    each = loss(reduction="none", **options)(t(x), *others)
    np.testing.assert_allclose(each.numpy(), expected, rtol=1e-13)
    total = loss(reduction="sum", **options)(t(x), *others)
    assert total.item() == pytest.approx(expected.sum(), rel=1e-13)
    assert loss(**options)(t(x), *others).item() == pytest.approx(expected.mean(), rel=1e-13)


@pytest.mark.parametrize(("loss", "options", "x", "others", "expected"), CASES.values(), ids=CASES)
def test_gradients_match_differences(loss, options, x, others, expected):
    x = t(x, requires_grad=True)
    assert T.gradcheck(lambda x: loss(**options)(x, *others), (x,), order=2)


def test_gradients_in_targets_and_variances_match_differences():
    target, variance = (t(v, requires_grad=True) for v in (TARGET, VARIANCE))
    assert T.gradcheck(lambda y: F.binary_cross_entropy(t(P), y), (target,))
    assert T.gradcheck(lambda y, v: F.gaussian_nll_loss(t(X), y, v), (target, variance))


# ---- weights, and what does not count


def test_weights_of_classes_divide_their_mean():
    w = WEIGHT[CLASSES]
    for loss, x in ((nn.NLLLoss, LOGS), (nn.CrossEntropyLoss, LOGITS)):
        each = loss(weight=t(WEIGHT), reduction="none")(t(x), t(CLASSES))
        np.testing.assert_allclose(each.numpy(), -PICKED * w, rtol=1e-13)
        mean = loss(weight=t(WEIGHT))(t(x), t(CLASSES))
        assert mean.item() == pytest.approx((-PICKED * w).sum() / w.sum(), rel=1e-13)


def test_smoothed_weights():
    w = WEIGHT[CLASSES]
    spread = -(LOGS * WEIGHT).sum(1) / 3
    found = F.cross_entropy(t(LOGITS), t(CLASSES), t(WEIGHT), label_smoothing=0.3)
    expected = (0.7 * -PICKED * w + 0.3 * spread).sum() / w.sum()
    assert found.item() == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("smoothing", [0.0, 0.3])
def test_an_ignored_class_has_no_part_and_no_gradient(smoothing):
    some = CLASSES.copy()
    some[1] = some[3] = -100
    kept = some >= 0
    x = t(LOGITS, requires_grad=True)
    found = F.cross_entropy(x, t(some), label_smoothing=smoothing)
    alone = F.cross_entropy(t(LOGITS[kept]), t(some[kept]), label_smoothing=smoothing)
    assert found.item() == pytest.approx(alone.item(), rel=1e-13)
    found.backward()
    assert not x.grad.numpy()[~kept].any() and x.grad.numpy()[kept].all()


def test_classes_in_the_second_dimension_with_places_behind():
    x = rng.normal(size=(2, 3, 4))
    target = rng.integers(0, 3, (2, 4))
    logs = special.log_softmax(x, 1)
    expected = -np.take_along_axis(logs, target[:, None], 1)[:, 0]
    each = F.cross_entropy(t(x), t(target), reduction="none")
    np.testing.assert_allclose(each.numpy(), expected, rtol=1e-13)
    one = F.cross_entropy(t(x[0, :, 0]), t(target[0, 0]))
    assert one.item() == pytest.approx(expected[0, 0], rel=1e-13)


def test_weights_of_yes():
    loss = nn.BCEWithLogitsLoss(weight=t(WEIGHT), reduction="none", pos_weight=t(WEIGHT + 1))
    p = special.expit(X)
    expected = -WEIGHT * (TARGET * (WEIGHT + 1) * np.log(p) + (1 - TARGET) * np.log1p(-p))
    np.testing.assert_allclose(loss(t(X), t(TARGET)).numpy(), expected, rtol=1e-13)
    weighted = F.binary_cross_entropy(t(P), t(TARGET), t(WEIGHT), "none")
    np.testing.assert_allclose(weighted.numpy(), WEIGHT * cross(P, TARGET), rtol=1e-13)


# ---- at the ends


def test_certain_probabilities_give_finite_values_and_slopes():
    x = t([0.0, 1.0, 0.0, 1.0, 1e-300], requires_grad=True)
    values = F.binary_cross_entropy(x, t([1.0, 0.0, 0.0, 1.0, 1.0]), reduction="none")
    np.testing.assert_array_equal(values.detach().numpy(), [100.0, 100.0, 0.0, 0.0, 100.0])
    values.sum().backward()
    np.testing.assert_allclose(x.grad.numpy()[[0, 1, 4]], [-1e12, 1e12, -1e12])


def test_large_logits_do_not_overflow():
    x = t([-1e4, 1e4, 800.0], requires_grad=True)
    values = F.binary_cross_entropy_with_logits(x, t([1.0, 0.0, 1.0]), reduction="none")
    np.testing.assert_array_equal(values.detach().numpy(), [1e4, 1e4, 0.0])
    values.sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [-1.0, 1.0, 0.0])


def test_a_target_of_no_probability_adds_nothing():
    found = F.kl_div(t([[-1.0, -2.0]]), t([[1.0, 0.0]]), reduction="batchmean")
    assert found.item() == 1.0


def test_stirlings_part_is_of_counts_above_one():
    extra = F.poisson_nll_loss(t(X), t(COUNTS), full=True, reduction="none")
    extra = extra - F.poisson_nll_loss(t(X), t(COUNTS), reduction="none")
    many = COUNTS > 1
    with np.errstate(divide="ignore", invalid="ignore"):
        stirling = COUNTS * np.log(COUNTS) - COUNTS + 0.5 * np.log(2 * np.pi * COUNTS)
    np.testing.assert_allclose(extra.numpy()[many], stirling[many], rtol=1e-12)
    assert not extra.numpy()[~many].any()


def test_the_least_variance_keeps_its_slope():
    v = t([1e-9, 2.0], requires_grad=True)
    F.gaussian_nll_loss(t([1.0, 1.0]), t([0.0, 0.0]), v, eps=0.1, reduction="sum").backward()
    usual = np.array([0.1, 2.0])
    np.testing.assert_allclose(v.grad.numpy(), 0.5 * (1 / usual - 1 / usual**2))


@pytest.mark.parametrize("shape", [(4,), (4, 1), (4, 3)])
def test_variances_of_rows(shape):
    v = rng.uniform(0.5, 1.0, shape)
    full = np.broadcast_to(v.reshape(4, -1), (4, 3))
    found = F.gaussian_nll_loss(t(X), t(TARGET), t(v), reduction="none")
    np.testing.assert_allclose(found.numpy(), 0.5 * (np.log(full) + (X - TARGET) ** 2 / full))


# ---- what does not fit


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: F.binary_cross_entropy(t(P), t(P[0])), ValueError, "size"),
        (lambda: F.binary_cross_entropy(t(P * 3), t(P)), RuntimeError, "between 0 and 1"),
        (lambda: F.binary_cross_entropy(t(P * math.nan), t(P)), RuntimeError, "between 0 and 1"),
        (lambda: F.binary_cross_entropy_with_logits(t(P), t(P[0])), ValueError, "same as input"),
        (lambda: F.nll_loss(t(LOGS), t(CLASSES[:3])), RuntimeError, r"shape \[5\]"),
        (lambda: F.nll_loss(t(LOGS), t(CLASSES * 1.0)), RuntimeError, "int64"),
        (lambda: F.nll_loss(t(LOGS), t(CLASSES + 1)), IndexError, "Target 3"),
        (lambda: F.nll_loss(t(LOGS), t(CLASSES - 1)), IndexError, "Target -1"),
        (lambda: F.nll_loss(t(LOGS), t(CLASSES), t(WEIGHT[:2])), RuntimeError, "3 classes"),
        (
            lambda: F.cross_entropy(t(LOGITS), t(CLASSES), label_smoothing=2.0),
            RuntimeError,
            "label_smoothing",
        ),
        (lambda: F.gaussian_nll_loss(t(X), t(X), t(X[:2])), ValueError, "incorrect size"),
        (lambda: F.gaussian_nll_loss(t(X), t(X), -1.0), ValueError, "negative"),
        (lambda: F.kl_div(t(X), t(X), reduction="all"), ValueError, "reduction"),
        (lambda: nn.KLDivLoss("all"), ValueError, "reduction"),
    ],
)
def test_what_does_not_fit_is_told(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_weights_are_buffers():
    loss = nn.BCEWithLogitsLoss(pos_weight=t(WEIGHT))
    assert set(loss.state_dict()) == {"pos_weight"} and not list(loss.parameters())


def test_numbers_are_checked_where_they_lie():
    found = []
    with strict_cuda():
        for device in ("cpu", "cuda:1"):  # which is not current of itself
            p, target, x, v = (t(one, device=device) for one in (P, TARGET, X, VARIANCE))
            both = F.binary_cross_entropy(p, target), F.gaussian_nll_loss(x, target, v)
            found.append([one.item() for one in both])
            with pytest.raises(RuntimeError, match=r"lie in \[1.05.*, 1.95.*\]"):
                F.binary_cross_entropy(0 * p + t([1.05, 1.5, 1.95], device=device), target)
            with pytest.raises(ValueError, match="negative"):
                F.gaussian_nll_loss(x, target, -v / 2)
    assert found[0] == found[1]
