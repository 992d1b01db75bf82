"""Rules: every operation has one, and what they are checked with finds wrong ones.

Each row of the tests of operations is checked under vmap, by `autograd.testing.check_op`.
"""

import numpy as np
import pytest

import autograd as T
from autograd.batching.rules import RULES, rule
from autograd.func import vmap
from autograd.ops.registry import REGISTRY, Op
from autograd.testing import OpCase, check_examples, check_op

ONE_BY_ONE = {"view_write"}  # the gradient of a write into a view, by examples of what flows back
NEVER = {"nonzero", "unique", "unique_consecutive", "bincount"}  # shaped by values: refused
NEVER |= {"fused", "outer_rows"}  # of recorded programs only
NEVER |= {  # of tensors without examples only: others are made of known operations
    "standardized", "standardized_gradient", "scaled", "dots", "lstm_step", "lstm_gradient",
    "gru_step", "gru_gradient",
}  # fmt: skip


def test_every_operation_of_the_library_is_done_for_all_examples_at_once():
    own = {name: op for name, op in REGISTRY.items() if "tests" not in name}
    without = {n for n, op in own.items() if n not in RULES and not op.elementwise}
    assert without <= ONE_BY_ONE | NEVER
    assert {n for n in RULES if "tests" not in n} <= set(own)


@pytest.fixture
def operation():
    """A new operation without a rule, which scales by the largest element of all."""
    op = Op(
        "tests_scaled",
        lambda xp, x, y: x * y.max(),
        {"x": lambda g, y: g * y.max(), "y": lambda g, x, y: (g * x).sum() * (y == y.max()).to(
            dtype=y.dtype)},
    )  # fmt: skip
    yield op
    del REGISTRY["tests_scaled"]
    RULES.pop("tests_scaled", None)


def test_what_has_no_rule_is_done_example_by_example(operation):
    x = T.tensor(np.random.default_rng(0).uniform(size=(4, 3)))
    found = vmap(operation, in_dims=(0, 1))(x, x.T)
    np.testing.assert_allclose(found.numpy(), (x * x.amax(1, keepdim=True)).numpy())
    check_op(OpCase("scaled", operation, [((3,), (3,))], order=1))
    with pytest.raises(RuntimeError, match="call it with one or more"):
        vmap(operation)(x[:0], x[:0])


def test_a_wrong_rule_is_found(operation):
    rule("tests_scaled")(lambda call: call.done(*call.all_spread()))
    case = OpCase("scaled", operation, [((3,), (3,))], order=1)
    rng = np.random.default_rng(0)
    with pytest.raises(AssertionError, match="vmap over dimension 0"):
        check_examples(case, [[rng.uniform(size=3), rng.uniform(size=3)] for _ in range(3)])


def test_positions_apart_from_each_other_keep_the_examples_first():
    x = T.tensor(np.random.default_rng(0).uniform(size=(5, 3, 2, 4)), requires_grad=True)

    def taken(x):
        return x[T.tensor([0, 2, 2]), :, T.tensor([1, 0, 0])]

    found, expected = vmap(taken)(x), T.stack([taken(one) for one in x])
    np.testing.assert_array_equal(found.detach().numpy(), expected.detach().numpy())
    weights = T.tensor(np.random.default_rng(1).uniform(size=(5, 3, 2)))
    (a,), (b,) = T.grad(found, x, weights), T.grad(expected, x, weights)
    np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-14)


@pytest.mark.parametrize("shapes", [((2, 3), (3, 4)), ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 4))])
@pytest.mark.parametrize("groups", ["both", "left", "right"])
def test_products_of_each_rank(shapes, groups):
    rng = np.random.default_rng(0)
    x, y = (T.tensor(rng.uniform(size=(6, *shape))) for shape in shapes)
    left, right = groups != "right", groups != "left"
    found = vmap(T.matmul, in_dims=(0 if left else None, 0 if right else None))(
        x if left else x[0], y if right else y[0]
    )
    expected = [x[k if left else 0].numpy() @ y[k if right else 0].numpy() for k in range(6)]
    np.testing.assert_allclose(found.numpy(), np.stack(expected), rtol=1e-14)


@pytest.mark.parametrize("mixture", range(1, 8))
@pytest.mark.parametrize("shape", [(3,), (2, 3), (2, 2, 3)])
def test_layers_with_an_input_a_weight_or_a_bias_of_each_example(mixture, shape):
    rng = np.random.default_rng(mixture)
    whole = [rng.uniform(size=(5, *one)) for one in (shape, (4, 3), (4,))]
    mapped = [bool(mixture >> k & 1) for k in range(3)]
    given = [T.tensor(a if m else a[0]) for a, m in zip(whole, mapped, strict=True)]
    layer = vmap(T.nn.functional.linear, in_dims=tuple(0 if m else None for m in mapped))
    x, w, b = (a if m else np.stack([a[0]] * 5) for a, m in zip(whole, mapped, strict=True))
    expected = np.einsum("n...k,nmk->n...m", x, w) + b.reshape(5, *(1,) * (len(shape) - 1), 4)
    np.testing.assert_allclose(layer(*given).numpy(), expected, rtol=1e-14)


def drawn(*kinds):
    """Return three examples of arrays: shapes of numbers, or (end, shape) of integers below end."""
    rng = np.random.default_rng(0)
    return [
        [
            rng.integers(0, kind[0], kind[1]) if kind and isinstance(kind[-1], tuple)
            else np.asarray(rng.normal(size=kind))
            for kind in kinds
        ]
        for _ in range(3)
    ]  # fmt: skip


X, LINE = (4, 3), (5,)
OF_EACH = {
    "index_copy": (lambda x, i, y: x.index_copy(0, i.argsort(), y), [X, (9, (4,)), X]),
    "index_fill": (lambda x, i, v: x.index_fill(1, i, v), [X, (3, (2,)), ()]),
    "masked_scatter": (lambda x, m, y: x.masked_scatter(m > 0, y), [X, (2, X), (12,)]),
    "put": (lambda x, i, y: x.put(i.argsort(), y), [X, (9, LINE), LINE]),
    "put, added": (lambda x, i, y: x.put(i - 4, y, accumulate=True), [X, (8, LINE), LINE]),
    "sums": (lambda x, i, y: x.scatter_reduce(0, i, y, "sum"), [X, (4, (2, 3)), (2, 3)]),
    "means": (lambda x, i, y: x.scatter_reduce(1, i, y, "mean"), [X, (3, (4, 2)), (4, 2)]),
    "largest": (lambda x, i, y: x.scatter_reduce(0, i, y, "amax"), [X, (4, (2, 3)), (2, 3)]),
    "new least": (
        lambda x, i, y: x.scatter_reduce(1, i, y, "amin", include_self=False),
        [X, (3, (4, 2)), (4, 2)],
    ),
    "products": (lambda x, i, y: x.scatter_reduce(0, i, y, "prod"), [X, (4, (2, 3)), (2, 3)]),
    "slices multiplied": (lambda x, i, y: x.index_reduce(0, i, y, "prod"), [X, (4, (2,)), (2, 3)]),
    "isin": (lambda x, y: T.isin(x, y), [(9, X), (9, (4,))]),
    "gcd": (lambda x, y: T.gcd(x, y) + T.bitwise_left_shift(x, y), [(9, X), (9, (3,))]),
    "histc": (lambda x: T.histc(x, 4, -1, 1), [LINE]),
    "histogram": (
        lambda x, e, w: T.histogram(x, T.sort(e).values, weight=w, density=True), [X, (6,), X],
    ),
    "cov": (lambda x, f, a: T.cov(x, fweights=f, aweights=a.abs()), [(2, 5), (4, LINE), LINE]),
    "legendre": (lambda x, n: T.special.legendre_polynomial_p(x, n - 1), [X, (6, X)]),
    "mode": (lambda x: T.mode(x), [(3, (4, 7))]),
    "cummin": (lambda x: T.cummin(x, 0), [(3, (7, 4))]),
    "gradient": (lambda x, s: T.gradient(x, spacing=(T.cumsum(s.exp(), 0),)), [LINE, LINE]),
    "igamma": (lambda x, a: T.igamma(a.detach().exp(), x.exp()), [X, (3,)]),
}  # fmt: skip


@pytest.mark.parametrize("name", OF_EACH)
def test_each_example_may_have_positions_weights_and_bins_of_its_own(name):
    function, kinds = OF_EACH[name]
    check_examples(OpCase(name, function), drawn(*kinds))


@pytest.mark.parametrize("numbers", [[0.0, 1.0, np.nan], [np.nan, np.nan, np.nan], [3.0, 2.0, 1.0]])
def test_medians_of_examples_with_different_numbers_of_nan(numbers):
    x = np.array([numbers, [5.0, np.nan, 4.0], [2.0, 3.0, 1.0]])
    found = vmap(T.nanmedian)(T.tensor(x))
    expected = [np.sort(row)[max((~np.isnan(row)).sum() - 1, 0) // 2] for row in x]
    np.testing.assert_array_equal(found.numpy(), expected)


def test_a_singular_matrix_among_the_examples_changes_the_condition_of_no_other():
    x = np.random.default_rng(0).normal(size=(4, 3, 3))
    x[2, 0] = 2 * x[2, 1]
    x[2, :, 0] = 0
    for p in (1, "fro", np.inf):
        found = vmap(lambda a, p=p: T.linalg.cond(a, p))(T.tensor(x)).tolist()
        assert found[2] == np.inf
        for k in (0, 1, 3):
            assert found[k] == pytest.approx(np.linalg.cond(x[k], p))


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda x: T.bincount(x.long()), "bincount, whose shape depends on values"),
        (T.unique_consecutive, "unique_consecutive, whose shape depends on values"),
        (T.histc, "range of a histogram"),
        (lambda x: T.histogram(x, 3), "range of a histogram"),
    ],
)
def test_what_depends_on_values_of_examples_is_refused(function, words):
    with pytest.raises(RuntimeError, match=words):
        vmap(function)(T.tensor([[1.0, 2.0], [3.0, 1.0]]))
