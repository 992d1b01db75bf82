"""Means of values by their keys against sums written out in numpy."""

import math

import numpy as np
import pytest

import autograd as T
from autograd.nn import functional as F
from autograd.testing import OpCase, check_op

RNG = np.random.default_rng(5)


def attended(q, k, v, seen=None, added=0.0, scale=None):
    """For each query the mean of the values, by a loop; 0 where nothing is seen."""
    scale = 1 / math.sqrt(q.shape[-1]) if scale is None else scale
    products = np.einsum("...le,...se->...ls", q, k) * scale + added
    seen = np.ones(products.shape, bool) if seen is None else np.broadcast_to(seen, products.shape)
    result = np.zeros((*products.shape[:-1], v.shape[-1]))
    for place in np.ndindex(products.shape[:-1]):
        those = seen[place]
        if those.any():
            weights = np.exp(products[place][those])
            values = np.broadcast_to(v, (*products.shape[:-2], *v.shape[-2:]))[place[:-1]]
            result[place] = weights @ values[those] / weights.sum()
    return result


SHAPES = [((3, 2), (4, 2), (4, 5)), ((2, 3, 2), (2, 4, 2), (2, 4, 1))]
SEEN = np.array([[1, 0, 1, 0], [0, 0, 0, 0], [1, 1, 1, 1]], bool)  # the second sees nothing
ADDED = np.where(SEEN, RNG.normal(size=SEEN.shape), -np.inf)
SDPA = F.scaled_dot_product_attention
CASES = [
    OpCase("all", SDPA, SHAPES, reference=attended),
    OpCase(
        "scale", lambda q, k, v: SDPA(q, k, v, scale=0.3), SHAPES[:1],
        reference=lambda q, k, v: attended(q, k, v, scale=0.3),
    ),
    OpCase(
        "causal", lambda q, k, v: SDPA(q, k, v, is_causal=True), SHAPES,
        reference=lambda q, k, v: attended(q, k, v, np.tril(np.ones((3, 4), bool))),
    ),
    OpCase(
        "seen", lambda q, k, v: SDPA(q, k, v, T.tensor(SEEN, device=q.device)), SHAPES,
        reference=lambda q, k, v: attended(q, k, v, SEEN),
    ),
    OpCase(
        "added",
        lambda q, k, v: SDPA(q, k, v, T.tensor(ADDED, dtype=q.dtype, device=q.device)), SHAPES,
        reference=lambda q, k, v: attended(q, k, v, SEEN, np.where(SEEN, ADDED, 0)),
    ),
    OpCase(
        "learned", SDPA, [(*SHAPES[0], (3, 4))],
        reference=lambda q, k, v, m: attended(q, k, v, added=m),
    ),
    OpCase(
        "shared heads",
        lambda q, k, v: SDPA(q, k, v, enable_gqa=True), [((4, 3, 2), (2, 3, 2), (2, 3, 1))],
        reference=lambda q, k, v: attended(q, k.repeat(2, 0), v.repeat(2, 0)),
    ),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
def test_values_and_derivatives(case):
    check_op(case)


def test_weights_are_left_out_at_random():
    q, k = T.zeros(400, 2), T.zeros(50, 2)
    T.manual_seed(0)
    counts = SDPA(q, k, T.ones(50, 1), dropout_p=0.25) * 50 * 0.75
    assert abs(counts.mean().item() / 50 - 0.75) < 0.01 and counts.std().item() > 1


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda q: SDPA(q, q, q, T.ones(3, 3), is_causal=True), "should not be set when is_causal"),
        (lambda q: SDPA(q[0], q, q), "at least 2 dim"),
        (lambda q: SDPA(q, q, q.double()), "same dtype"),
        (lambda q: SDPA(q, q, q, T.ones(3, 3).double()), "same dtype"),
        (lambda q: SDPA(q.expand(3, 3, 2), *(q.expand(2, 3, 2),) * 2, enable_gqa=True), "2 and 3"),
    ],
)
def test_what_does_not_fit_is_refused(call, words):
    with pytest.raises(RuntimeError, match=words):
        call(T.ones(3, 2))
