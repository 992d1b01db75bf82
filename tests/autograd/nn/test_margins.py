"""Losses with margins, against loops in numpy."""

import numpy as np
import pytest

import autograd as T
from autograd import nn
from autograd.nn import functional as F
from autograd.testing import OpCase, check_op

SIGNS = np.array([1.0, -1.0, -1.0, 1.0])
CLASSES = np.array([2, 0, 1, 2])
SEVERAL = np.array([[2, 0, -1], [-1, 1, 2], [0, 1, 2], [1, -1, 0]])
WEIGHTS = np.array([0.5, 2.0, 1.0])


def on(device, array, dtype=None):
    return T.tensor(array, device=device, dtype=dtype)


def cosine(x, y):
    return (x * y).sum(-1) / np.linalg.norm(x, axis=-1) / np.linalg.norm(y, axis=-1)


def distance(x, y, p=2.0):
    return (abs(x - y + 1e-6) ** p).sum(-1) ** (1 / p)


def multi(x, p):
    found = [
        WEIGHTS[t] * sum(max(0, 0.8 - row[t] + row[j]) ** p for j in range(3) if j != t) / 3
        for row, t in zip(x, CLASSES, strict=True)
    ]
    return np.array(found)


def several(x):
    found = []
    for row, targets in zip(x, SEVERAL.tolist(), strict=True):
        end = targets.index(-1) if -1 in targets else 3
        others = [j for j in range(3) if j not in targets[:end]]
        found.append(sum(max(0, 1 - row[t] + row[j]) for t in targets[:end] for j in others) / 3)
    return np.array(found)


def signed(name, *args):
    def call(*inputs):
        target = on(inputs[0].device, SIGNS, inputs[0].dtype)
        return getattr(F, name)(*inputs, target, *args, reduction="none")

    return call


PAIR = [((4, 3), (4, 3))]
CASES = [
    OpCase(
        "pairwise_distance", lambda x, y: F.pairwise_distance(x, y, 3.0), [*PAIR, ((4, 3), (3,))],
        reference=lambda x, y: distance(x, y, 3.0),
    ),
    OpCase(
        "hinge_embedding_loss", signed("hinge_embedding_loss", 0.7), [((4,),)],
        reference=lambda x: np.where(SIGNS == 1, x, np.maximum(0, 0.7 - x)),
    ),
    OpCase(
        "margin_ranking_loss", signed("margin_ranking_loss", 0.3), [((4,), (4,))],
        reference=lambda x, y: np.maximum(0, 0.3 - SIGNS * (x - y)),
    ),
    OpCase(
        "soft_margin_loss", signed("soft_margin_loss"), [((4,),)],
        reference=lambda x: np.log(1 + np.exp(-SIGNS * x)),
    ),
    OpCase(
        "cosine_embedding_loss", signed("cosine_embedding_loss", 0.1), PAIR,
        reference=lambda x, y: np.where(
            SIGNS == 1, 1 - cosine(x, y), np.maximum(0, cosine(x, y) - 0.1)
        ),
        tolerance=1e-10,  # for what is added to the lengths
    ),
    OpCase(
        "triplet_margin_loss",
        lambda a, p, n: F.triplet_margin_loss(a, p, n, 0.9, swap=True, reduction="none"),
        [((4, 3),) * 3],
        reference=lambda a, p, n: np.maximum(
            0, 0.9 + distance(a, p) - np.minimum(distance(a, n), distance(p, n))
        ),
    ),
    *(
        OpCase(
            f"multi_margin_loss {p}",
            lambda x, p=p: F.multi_margin_loss(
                x, on(x.device, CLASSES), p, 0.8, on(x.device, WEIGHTS, x.dtype), reduction="none"
            ),
            [((4, 3),)],
            reference=lambda x, p=p: multi(x, p),
        )
        for p in (1, 2)
    ),
    OpCase(
        "multilabel_margin_loss",
        lambda x: F.multilabel_margin_loss(x, on(x.device, SEVERAL), reduction="none"),
        [((4, 3),)],
        reference=several,
    ),
    OpCase(
        "multilabel_soft_margin_loss",
        lambda x: F.multilabel_soft_margin_loss(
            x, on(x.device, SEVERAL > 0, x.dtype), on(x.device, WEIGHTS, x.dtype), "none"
        ),
        [((4, 3),)],
        reference=lambda x: (
            WEIGHTS * np.log(1 + np.exp(np.where(SEVERAL > 0, -x, x)))
        ).mean(-1),
    ),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
def test_values_and_derivatives(case):
    check_op(case)


def test_layers_call_their_functions_and_reduce():
    x, y = T.randn(4, 3), T.randn(4, 3)
    signs, classes, some = T.tensor(SIGNS), T.tensor(CLASSES), T.tensor(SEVERAL)
    signs = signs.float()
    for layer, inputs in (
        (nn.HingeEmbeddingLoss(0.5), (x[:, 0], signs)),
        (nn.MarginRankingLoss(0.5), (x[:, 0], y[:, 0], signs)),
        (nn.SoftMarginLoss(), (x[:, 0], signs)),
        (nn.CosineEmbeddingLoss(0.2), (x, y, signs)),
        (nn.TripletMarginLoss(2.0), (x, y, y.flip(0))),
        (nn.TripletMarginWithDistanceLoss(distance_function=F.l1_loss), (x, y, y.flip(0))),
        (nn.MultiMarginLoss(2), (x, classes)),
        (nn.MultiLabelMarginLoss(), (x, some)),
        (nn.MultiLabelSoftMarginLoss(), (x, (some > 0).float())),
    ):
        mean = layer(*inputs)
        layer.reduction = "none"
        each = layer(*inputs)
        layer.reduction = "sum"
        assert T.allclose(each.mean(), mean) and T.allclose(each.sum(), layer(*inputs))
    assert T.equal(nn.PairwiseDistance(3.0, keepdim=True)(x, y)[:, 0], F.pairwise_distance(x, y, 3))
    assert T.equal(nn.CosineSimilarity(0)(x, y), F.cosine_similarity(x, y, 0))


def test_a_number_alone_is_one_class_and_has_no_other():
    x = T.tensor(-3.0, requires_grad=True)
    for loss in (F.multi_margin_loss, F.multilabel_margin_loss):
        found = loss(x, T.tensor(0))
        assert found.item() == 0 and T.grad(found, x)[0].item() == 0
    row, weight = T.tensor([1.0, 3.0]), T.tensor([5.0, 7.0])
    each = F.multi_margin_loss(row, T.tensor([0]), weight=weight, reduction="none")
    assert each.tolist() == [7.5]  # 5 (1 - 1 + 3) / 2
    assert F.multi_margin_loss(row, T.tensor(0), weight=weight, reduction="none").item() == 7.5
    assert F.multilabel_margin_loss(x.reshape(1), T.tensor(-1), "none").shape == ()


def test_an_infinite_distance_does_not_count_where_the_other_one_is_asked_for():
    near, far = T.tensor([1.0]), T.tensor([-1.0])
    assert F.hinge_embedding_loss(T.tensor([np.inf]), near).item() == np.inf
    assert F.hinge_embedding_loss(T.tensor([np.inf]), far).item() == 0.0


X, C = T.ones(4, 3), T.ones(4).long()


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: F.margin_ranking_loss(X, X[0], X), RuntimeError, "same dimension but got sizes"),
        (lambda: F.cosine_embedding_loss(X, X, X), RuntimeError, r"\(n, size\) and target \(n,\)"),
        (lambda: F.triplet_margin_loss(X, X, X, -1.0), ValueError, "greater than 0, got -1.0"),
        (lambda: F.triplet_margin_loss(X, X, X[0]), RuntimeError, "negative 1D"),
        (lambda: F.multi_margin_loss(X, C, 3), ValueError, "p == 1 and p == 2"),
        (lambda: F.multi_margin_loss(X, X.long()), RuntimeError, r"target \(n,\)"),
        (lambda: F.multi_margin_loss(X, X, reduction="all"), ValueError, "'all' is not a valid"),
        (lambda: F.multi_margin_loss(X, X, weight=X), ValueError, "weight must be one-dim"),
        (lambda: F.multi_margin_loss(X, C, weight=X[:, 0]), RuntimeError, "expected 3 but got"),
        (lambda: F.multi_margin_loss(X[:, :0], C), RuntimeError, r"target \(n,\)"),
        (lambda: F.multilabel_margin_loss(X, X), RuntimeError, "int64 target of the shape"),
        (lambda: F.multilabel_margin_loss(X, X, "all"), ValueError, "'all' is not a valid"),
    ],
)
def test_what_does_not_fit_is_refused(call, error, words):
    with pytest.raises(error, match=words):
        call()
