"""Sums of derivatives taken together: equal to the tree they come from, and no dearer."""

from __future__ import annotations

import numpy as np
import pytest

from pinn.equations.combine import Combination, combine, laplacian_terms
from pinn.equations.functions import NUMPY_FUNCTIONS
from pinn.equations.leaves import Coordinate, Derivative, Laplacian, ParameterRef
from pinn.equations.resolve import evaluate_resolved
from pinn.equations.scope import Scope
from pinn.expressions import nodes

SPACE = ("x", "y")
SCOPE = Scope(("u", "v"), ("x", "y", "t"), SPACE, {"nu": 0.01, "c": -2.0}, ("k",))
rng = np.random.default_rng(0)


class Values(dict):
    """A random number for every leaf; sums are added up from their terms."""

    def __missing__(self, leaf):
        if isinstance(leaf, Combination):
            return sum(w * self[Derivative(leaf.unknown, names)] for names, w in leaf.terms)
        if isinstance(leaf, Laplacian):
            terms = laplacian_terms(leaf, SPACE)
            return sum(w * self[Derivative(leaf.unknown, names)] for names, w in terms)
        assert isinstance(leaf, Derivative | Coordinate | ParameterRef), leaf
        self[leaf] = rng.uniform(0.5, 1.5)
        return self[leaf]

    def __contains__(self, leaf):
        return True


def combined(text):
    return combine(SCOPE.resolve(text), SCOPE.constants, SPACE)


def sums(tree):
    return [
        (n.unknown, {"".join(names): w for names, w in n.terms})
        for n in nodes(tree) if isinstance(n, Combination)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("u_t + u*u_x - nu*u_xx", [("u", {"t": 1, "xx": -0.01})]),
        ("u_t - laplacian(u)", [("u", {"t": 1, "xx": -1, "yy": -1})]),
        ("laplacian(u) - x*y", [("u", {"xx": 1, "yy": 1})]),
        ("laplacian(laplacian(u)) - 1", [("u", {"xxxx": 1, "xxyy": 2, "yyyy": 1})]),
        ("u_t - (u_xx + u_yy)/4", []),  # a product of a sum is not taken apart
        ("u_t - u_xx/4 + 2*nu*u_yy", [("u", {"t": 1, "xx": -0.25, "yy": 0.02})]),
        ("-(u_t - nu*u_xx) + sin(x)", [("u", {"t": -1, "xx": 0.01})]),
        ("u_t - c*v_xx + u_xx - v_t", [("u", {"t": 1, "xx": 1}), ("v", {"xx": 2, "t": -1})]),
        ("u_t + u_xx + u_xx + u_xx", [("u", {"t": 1, "xx": 3})]),
        ("u_t + u_xx*exp(c)*nu", [("u", {"t": 1, "xx": 0.01 * np.exp(-2)})]),
        ("u_xx - u_xx + u_t + u_y", [("u", {"t": 1, "y": 1})]),
    ],
)
def test_what_is_taken_together(text, expected):
    found = sums(combined(text))
    assert [name for name, _ in found] == [name for name, _ in expected]
    for (_, got), (_, want) in zip(found, expected, strict=True):
        assert got == pytest.approx(want)


@pytest.mark.parametrize(
    "text",
    [
        "u_t",  # one term saves nothing
        "u*u_x + u_t",
        "u_t + k*u_xx",  # a trainable coefficient is no constant
        "u_t + x*u_xx",
        "u_t*u_xx + u_t",  # it is needed on its own elsewhere
        "u - 1",
        "u_t*u_xx",
        "sin(u_t + u_xx)",
        "u_t + u_xx**2",
    ],
)
def test_what_stays_as_it_is(text):
    tree = SCOPE.resolve(text)
    assert combine(tree, SCOPE.constants, SPACE) is tree


TEXTS = [
    "u_t + u*u_x - nu*u_xx", "-u_t - -u_xx + +u_yy", "u_t - (u - (u_xx - u_yy)) + 3",
    "2*(u_t) - u_xx/4 + u_xx*3/nu", "u_x*u_t + u_t - u_xx + u_yy", "laplacian(u) + u_xx - v_t*c",
    "laplacian(laplacian(u)) - laplacian(u) + k*v_x + v_y - v_t", "u_xx - u_xx + u_t - u_t + v",
    "u_xx - u_xx", "nu*u_t - c*laplacian(v) + u_x + exp(x)*v_xx - v_y", "u_t/nu/2 + nu*c*u_x - 1",
    "v - u_t + 0*u_xx + u_y", "-(x - u_t - u_xx)",
]  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
def test_the_combined_tree_has_the_same_value(text):
    values = Values()
    tree = SCOPE.resolve(text)
    for constant, number in SCOPE.constants.items():
        values[SCOPE.resolve(constant)] = number
    expected = evaluate_resolved(tree, values, NUMPY_FUNCTIONS)
    found = evaluate_resolved(combined(text), values, NUMPY_FUNCTIONS)
    assert found == pytest.approx(expected, rel=1e-13, abs=1e-13)


def test_laplacians_of_any_power_have_multinomial_weights():
    def terms(times, space):
        return {"".join(n): w for n, w in laplacian_terms(Laplacian("u", times), space)}

    assert terms(1, ("x", "y", "z")) == {"xx": 1, "yy": 1, "zz": 1}
    assert terms(2, ("x", "y")) == {"xxxx": 1, "xxyy": 2, "yyyy": 1}
    assert terms(3, ("x", "y")) == {"x" * 6: 1, "xxxxyy": 3, "xxyyyy": 3, "y" * 6: 1}
    assert sum(terms(3, ("x", "y", "z")).values()) == 27


def test_a_sum_prints_as_one():
    (leaf,) = (n for n in nodes(combined("u_t + u*u_x - nu*u_xx")) if isinstance(n, Combination))
    assert leaf.text() == "(1*u_t + -0.01*u_xx)"
