"""Finite differences on grids against numpy's, exact for parabolas, and differentiable."""

import numpy as np
import pytest

import autograd as T
from autograd.testing import OpCase, check_op

STEPS, PLACES = 0.3, np.array([0.0, 1.0, 3.0, 3.5, 3.75])

CASES = [
    OpCase(f"order {k} {name}", ours, [((4, 5),)], reference=theirs)
    for k in (1, 2)
    for name, ours, theirs in [
        ("unit", lambda x, k=k: T.gradient(x, edge_order=k),
         lambda x, k=k: np.gradient(x, edge_order=k)),
        ("even", lambda x, k=k: T.gradient(x, spacing=STEPS, dim=1, edge_order=k),
         lambda x, k=k: np.gradient(x, STEPS, axis=1, edge_order=k)),
        ("one a dimension", lambda x, k=k: T.gradient(x, spacing=[0.5, 2.0], edge_order=k),
         lambda x, k=k: np.gradient(x, 0.5, 2.0, edge_order=k)),
    ]
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_shape_dtype_layout_and_device(case):
    check_op(case)


@pytest.mark.parametrize("edge_order", [1, 2])
def test_uneven_points_are_numpys(edge_order):
    x = np.random.default_rng(0).normal(size=(5, 3))
    expected = np.gradient(x, PLACES, axis=0, edge_order=edge_order)
    (found,) = T.gradient(T.tensor(x), spacing=(T.tensor(PLACES),), dim=0, edge_order=edge_order)
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-13)


def test_parabolas_are_exact_also_at_the_ends():
    x = T.tensor(PLACES, requires_grad=True)
    (slope,) = T.gradient(x**2, spacing=(x.detach(),), edge_order=2)
    np.testing.assert_allclose(slope.detach().numpy(), 2 * PLACES, atol=1e-13)
    places = T.tensor(PLACES, requires_grad=True)
    assert T.gradcheck(
        lambda p: T.gradient(T.tensor(PLACES**3), spacing=(p,), edge_order=2), [places], order=2
    )


def test_integers_and_a_spacing_without_dimensions():
    (found,) = T.gradient(T.tensor([1, 2, 4]), spacing=T.tensor(0.5))
    assert found.tolist() == [2.0, 3.0, 4.0]
    (found,) = T.gradient(T.tensor([1, 2, 4]), spacing=None, dim=None)
    assert found.tolist() == [1.0, 1.5, 2.0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"spacing": [1.0]}, "a list of length equal to 2"),
        ({"edge_order": 3}, "only supports edge_order=1 and 2"),
        ({"dim": (0, 0)}, "each dim once"),
        ({"dim": 0, "edge_order": 2}, r"at least edge_order\+1 = 3, got 2"),
        ({"dim": 1, "spacing": (T.ones(3),)}, r"coordinates of shape \[4\] along dimension 1"),
    ],
)
def test_what_is_refused(options, message):
    with pytest.raises(RuntimeError, match=message):
        T.gradient(T.ones(2, 4), **options)
