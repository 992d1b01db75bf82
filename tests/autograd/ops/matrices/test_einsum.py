"""Einstein summation against numpy's own, and its derivatives."""

import numpy as np
import pytest

import autograd as T
from autograd.ops.matrices.einsum import einsum, tensordot
from autograd.testing import OpCase, check_op

EQUATIONS = [
    ("ij,jk->ik", (2, 3), (3, 4)),
    ("ij,jk", (2, 3), (3, 4)),
    ("ba,cb", (2, 3), (4, 2)),
    ("ij,kj->ik", (2, 3), (4, 3)),
    ("ji,jk->ki", (3, 2), (3, 4)),
    ("bij,bjk->bik", (2, 2, 3), (2, 3, 2)),
    ("bij,jk->ikb", (2, 2, 3), (3, 2)),
    ("ij,ij->", (2, 3), (2, 3)),
    ("i,j->ij", (2,), (3,)),
    ("i,i->i", (3,), (3,)),
    ("ijk,jil->kl", (2, 3, 2), (3, 2, 4)),
    ("i,jk->", (2,), (3, 2)),
    ("ii->i", (3, 3)),
    ("ii", (3, 3)),
    ("iij->j", (3, 3, 2)),
    ("iii->i", (2, 2, 2)),
    ("ij->ji", (2, 3)),
    ("ij->j", (2, 3)),
    ("->", ()),
    (",i->i", (), (3,)),
    ("...ij,...jk->...ik", (2, 1, 2, 3), (3, 3, 2)),
    ("...i,i->...", (2, 4, 3), (3,)),
    ("i...,i->...", (3, 2, 2), (3,)),
    ("...,...->...", (2, 3), (3,)),
    ("b...i,bi", (2, 3, 2), (2, 2)),
    ("ij,jk,kl->il", (2, 3), (3, 2), (2, 4)),
    ("ai,bi,ci->abc", (2, 3), (2, 3), (2, 3)),
    ("ab,bc,ca", (2, 3), (3, 4), (4, 2)),
    ("i,ij,j->", (2,), (2, 3), (3,)),
    ("ij,ij->ij", (2, 1), (2, 3)),
    ("ij,jk->ik", (0, 3), (3, 2)),
    ("ij,jk->ik", (2, 0), (0, 2)),
    (" i j , j -> i ", (2, 3), (3,)),
]


@pytest.mark.parametrize("equation", EQUATIONS, ids=lambda e: f"{e[0]} {e[1:]}")
def test_values_and_derivatives(equation):
    text, *shapes = equation
    check_op(
        OpCase(
            text,
            lambda *xs: einsum(text, *xs),
            [tuple(shapes)],
            reference=lambda *xs: np.einsum(text, *xs),
            complex=len(shapes) == 2,
        )
    )


@pytest.mark.parametrize("dims", [0, 1, 2, ([0], [2]), ([-1, 0], [0, -1])])
def test_tensordot(dims):
    shapes = {0: ((2,), (3,)), 1: ((2, 3), (3, 4)), 2: ((2, 3, 4), (3, 4, 2))}
    shape = shapes.get(dims if isinstance(dims, int) else -1, ((2, 3), (3, 4, 2)))
    check_op(
        OpCase(
            "tensordot",
            lambda a, b: tensordot(a, b, dims),
            [shape],
            reference=lambda a, b: np.tensordot(a, b, dims),
        )
    )


def test_operands_may_come_as_a_list():
    a = T.tensor(np.arange(4.0))
    assert einsum("i,i", [a, a]).item() == 14.0


@pytest.mark.parametrize(
    ("equation", "shapes", "words"),
    [
        ("ij,jk", [(2, 3)], "more or fewer operands"),
        ("ij", [(2,)], "does not match the number of dimensions"),
        ("i->ij", [(2,)], "must appear in an input"),
        ("i->ii", [(2,)], "once in the output"),
        ("i,i->i", [(2,), (3,)], "does not broadcast"),
        ("ii", [(2, 3)], "do not match"),
        ("i1", [(2, 3)], "must be in"),
        ("i......", [(2, 3)], "more than once"),
    ],
)
def test_equations_that_do_not_fit_are_refused(equation, shapes, words):
    with pytest.raises(RuntimeError, match=words):
        einsum(equation, *[T.zeros(*s) for s in shapes])


def test_without_tensors_the_message_shows_the_form():
    with pytest.raises(ValueError, match="expected an equation and tensors"):
        einsum("ij")


def test_tensordot_broadcasts_contracted_dimensions_of_size_one():
    a, b = np.array([[2.0], [3.0]]), np.arange(6.0).reshape(3, 2)
    result = T.tensordot(T.tensor(a), T.tensor(b), dims=([1], [0]))
    np.testing.assert_allclose(result.numpy(), np.repeat(a, 3, 1) @ b)
