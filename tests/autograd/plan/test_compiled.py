"""`compile`: a function is recorded and replayed, and means what it meant before."""

from __future__ import annotations

import copy
import functools
import itertools
import pickle
import re
import weakref
from collections import OrderedDict, defaultdict, deque
from dataclasses import dataclass, field
from enum import Enum
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest

import autograd as T

rng = np.random.default_rng(0)
N = 203
EXECUTORS = ("numpy", "numba", "llvm")


def network(width: int = 6, dtype: T.dtype = T.float64) -> T.nn.Module:
    T.manual_seed(0)
    return T.nn.Sequential(
        T.nn.Linear(2, width), T.nn.Tanh(), T.nn.Linear(width, width), T.nn.Tanh(),
        T.nn.Linear(width, 1),
    ).to(dtype)  # fmt: skip


def places(count: int = N, dtype: T.dtype = T.float64) -> T.Tensor:
    return T.tensor(rng.uniform(size=(count, 2)), dtype=dtype, requires_grad=True)


def residual(net: T.nn.Module, x: T.Tensor) -> T.Tensor:
    u = net(x)
    (slope,) = T.grad(u.sum(), x, create_graph=True)
    u_xx = T.grad(slope[:, 0:1].sum(), x, create_graph=True)[0][:, 0:1]
    return slope[:, 1:2] + u * slope[:, 0:1] - 0.1 * u_xx


def mean_square(net: T.nn.Module) -> object:
    return lambda x: (residual(net, x) ** 2).mean()


def gradients(loss: T.Tensor, net: T.nn.Module, x: T.Tensor) -> list[np.ndarray]:
    return [g.numpy() for g in T.grad(loss, [*net.parameters(), x])]


def close(found: object, expected: object, rtol: float = 1e-12) -> None:
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=rtol, atol=rtol * np.abs(other).max())


# ---- it means what it meant


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("points", [(), "x"])
def test_a_loss_with_derivatives_in_the_coordinates(points, executor):
    net, x = network(), places()
    loss = mean_square(net)
    compiled = T.compile(loss, points=points, executor=executor)
    assert compiled(x).item() == pytest.approx(loss(x).item(), rel=1e-13)
    close(gradients(compiled(x), net, x), gradients(loss(x), net, x))


def test_numpy_alone_gives_the_bits_of_the_eager_function():
    net, x = network(), places()
    compiled = T.compile(mean_square(net), executor="numpy")
    assert compiled(x).item() == mean_square(net)(x).item()


def test_a_loss_trains_with_backward_and_an_optimizer():
    def trained(compiles: bool) -> float:
        net = network()
        x = T.tensor(np.random.default_rng(3).uniform(size=(64, 2)), requires_grad=True)
        loss = mean_square(net)
        if compiles:
            loss = T.compile(loss, points="x", executor="numpy")
        optimizer = T.optim.Adam(net.parameters(), lr=1e-2)
        for _ in range(20):
            optimizer.zero_grad()
            value = loss(x)
            value.backward()
            optimizer.step()
        return value.item()

    assert trained(True) == pytest.approx(trained(False), rel=1e-9)


@pytest.mark.parametrize("points", [(), "x"])
def test_what_it_returns_can_be_differentiated_again(points):
    net, x = network(), places(11)
    loss = mean_square(net)

    def curvature(function: object) -> list[np.ndarray]:
        (slope,) = T.grad(function(x), x, create_graph=True)
        return gradients((slope**2).sum(), net, x)

    close(curvature(T.compile(loss, points=points)), curvature(loss), 1e-11)


@pytest.mark.parametrize("points", [(), "x"])
def test_rows_sums_and_further_results_in_any_form(points):
    net, x = network(), places()

    def several(x: T.Tensor, scale: float = 2.0) -> dict:
        r = residual(net, x)
        return {"rows": r, "sums": [(r * scale).sum(), (r**2).mean()], "said": "so", "none": None}

    found, expected = T.compile(several, points=points)(x), several(x)
    assert (found["said"], found["none"], found["rows"].shape) == ("so", None, (N, 1))

    def all_of(results: dict) -> list[np.ndarray]:
        values = [results["rows"], *results["sums"]]
        weights = T.tensor(np.random.default_rng(5).normal(size=(N, 1)))
        total = (values[0] * weights).sum() + 3 * values[1] - values[2]
        return [*(v.detach().numpy() for v in values), *gradients(total, net, x)]

    close(all_of(found), all_of(expected))


NODES = T.linspace(0, 1, 7, dtype=T.float64)
COMPOSED = {
    "cdist": lambda x: (T.cdist(x, NODES.reshape(-1, 1).expand(7, 2)) ** 3).sum(1),
    "trapezoid": lambda x: T.trapezoid(T.sin(x[:, :1] * NODES) * x[:, 1:], NODES),
    "cumulative_trapezoid": lambda x: (
        T.cumulative_trapezoid(T.sin(x[:, :1] * NODES), dx=0.2) ** 2
    ).sum(1),
    "vander": lambda x: (T.vander(x[:, 0], 5) * x[:, 1:]).sum(1),
    "nan_to_num": lambda x: T.nan_to_num(x.log(), neginf=0.0).sum(1) ** 2,
    "pad": lambda x: (T.nn.functional.pad(x, (2, 1), mode="circular") ** 3).sum(1),
}
WAYS = [(name, points) for name in COMPOSED for points in (None, "x")]
WAYS.remove(("pad", "x"))  # elements that are taken by an index, which no chunk does


@pytest.mark.parametrize(("name", "points"), WAYS)
def test_functions_that_are_compositions_and_their_derivatives(name, points):
    def loss(x):
        (slope,) = T.grad(COMPOSED[name](x).sum(), x, create_graph=True)
        return (slope**2).mean()

    x = places()
    value, replayed = loss(x), T.compile(loss, points=points)(x)
    close([replayed.item()], [value.item()])
    close([T.grad(replayed, x)[0].numpy()], [T.grad(value, x)[0].numpy()])


@pytest.mark.parametrize("first", [True, False])
def test_distances_to_centres_that_are_learned(first):
    """Every derivative of a sum over points in the centres is one, and in the points a row each."""
    x = places()
    centres = T.tensor(np.random.default_rng(4).uniform(size=(5, 2)), requires_grad=True)

    def loss(x):
        distances = T.cdist(x, centres) if first else T.cdist(centres, x).mT
        (slope,) = T.grad((distances**3).sum(), x, create_graph=True)
        return (slope**2).mean() + (distances.sum(1) ** 2).mean()

    value, replayed = loss(x), T.compile(loss, points="x")(x)
    close([replayed.item()], [value.item()])
    close([g.numpy() for g in T.grad(replayed, [x, centres])],
          [g.numpy() for g in T.grad(value, [x, centres])])  # fmt: skip


def test_points_that_meet_in_distances_and_windows_are_refused():
    x = places()
    for met in (
        lambda x: T.cdist(x, x).sum(1),
        lambda x: T.nn.functional.conv1d(x.mT.unsqueeze(0), T.ones(1, 2, 3, dtype=x.dtype)).sum(),
        lambda x: T.fft.rfft(x, dim=0).abs().sum(),
    ):
        with pytest.raises(T.MixesPoints):
            T.compile(met, points="x")(x)


def test_a_method_reads_its_own_object():
    class Model:
        def __init__(self, factor: float) -> None:
            self.factor = T.tensor(factor, requires_grad=True)

        @T.compile
        def times(self, x: T.Tensor) -> T.Tensor:
            return (self.factor * x).sum()

    two, three, x = Model(2.0), Model(3.0), T.tensor([1.0, 4.0])
    assert (two.times(x).item(), three.times(x).item()) == (10.0, 15.0)
    (slope,) = T.grad(three.times(x), three.factor)
    assert slope.item() == 5.0


def test_inside_another_recording_it_is_a_part_of_that():
    inner = T.compile(lambda x: x * T.tanh(x))
    outer = T.compile(lambda x: inner(x).sum())
    x = T.tensor([0.3, -1.2], requires_grad=True)
    close([T.grad(outer(x), x)[0].numpy()],
          [T.grad((x * T.tanh(x)).sum(), x)[0].numpy()])  # fmt: skip


def _summed_in_place(x: T.Tensor, w: T.Tensor) -> T.Tensor:
    total = 0.0
    for j in range(2):
        total += ((x[:, j] * w[j]) ** 2).mean()
    total *= 2
    total -= 1.0
    total /= w.sum()
    return total


def _summed_from_zeros(x: T.Tensor, w: T.Tensor) -> T.Tensor:
    total, number = T.zeros((), dtype=T.float64), T.tensor(0.5, dtype=T.float64)
    for j in range(2):
        total += ((x[:, j] * w[j]) ** 2).mean()
        number += total
    parts = T.zeros(2, 2, dtype=T.float64)
    parts[0] = w * total
    return (parts**2).sum() * number


def _filled_by_parts(x: T.Tensor, w: T.Tensor) -> T.Tensor:
    y = T.zeros_like(x)
    y[:, 0] = x[:, 1] * w[0]
    y[:, 1] = x[:, 0] ** 2
    y[2] = 0.5
    return (y**3).sum()


def _written_over(x: T.Tensor, w: T.Tensor) -> T.Tensor:
    y = x * w
    y.clamp_(0.1, 0.3).add_(x).sub_(w)
    with T.no_grad():
        scale = w.detach() * 2
        scale += 1
    y.copy_(x * scale)
    return (y**2).sum()


def _stepped(x: T.Tensor, w: T.Tensor) -> T.Tensor:
    states = T.zeros(len(x), 4, 2, dtype=T.float64)
    states[:, 0] = x
    for k in range(3):
        now = states[:, k].clone()
        states[:, k + 1] = now + 0.1 * T.sin(now * w)
    return (states**2).sum()


@pytest.mark.parametrize(
    "function", [_summed_in_place, _summed_from_zeros, _filled_by_parts, _written_over, _stepped]
)
def test_tensors_of_its_own_are_written_in_place(function):
    x, w = places(12), T.tensor([0.5, 2.0], dtype=T.float64, requires_grad=True)
    points = ["x"] if function is _summed_in_place else []
    compiled = T.compile(function, points=points)
    for _ in range(2):
        found, expected = compiled(x, w), function(x, w)
        close([found.item()], [expected.item()])
        pairs = [[g.numpy() for g in T.grad(one, [x, w])] for one in (found, expected)]
        close(*pairs)
        x, w = places(12), w.detach().mul(1.5).requires_grad_()


def test_whole_numbers_that_know_no_point_are_what_they_were(short_chunks):
    given, bytes_of = T.tensor([5, -7, 1 << 40]), T.tensor([5, 255]).to(T.uint8)
    compiled = T.compile(
        lambda x: (x.sum(), given + 1, T.tensor(3), bytes_of, given > 0, (x > 0.5).sum()),
        points="x", executor="numpy",
    )  # fmt: skip
    x = places(100)
    for found, expected in zip(compiled(x), compiled.fn(x), strict=True):
        assert found.dtype == expected.dtype
        close([found.detach().numpy()], [expected.detach().numpy()])


@pytest.mark.parametrize("points", [(), "x"])
def test_tables_are_looked_up_at_positions_that_it_computes(points):
    table = T.tensor(rng.uniform(size=(20, 3)), requires_grad=True)

    def interpolated(x: T.Tensor) -> T.Tensor:
        place = x[:, 0] * 17.9
        below = place.detach().floor().to(T.int64)
        share = (place - below).reshape(-1, 1)
        return (((1 - share) * table[below] + share * table[below - 19]) ** 2).mean()

    compiled = T.compile(interpolated, points=points)
    for _ in range(2):
        x = places(70)
        pairs = [[g.numpy() for g in T.grad(f(x), [x, table])] for f in (compiled, interpolated)]
        close(*pairs)


def test_writing_over_what_a_gradient_needs_is_refused_as_in_the_eager_run():
    def loss(x: T.Tensor) -> T.Tensor:
        y = T.exp(x)
        y *= 2
        return y.sum()

    x = places(3)
    for function in (loss, T.compile(loss)):
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            function(x).backward()


def _slope(d: T.Tensor, x: T.Tensor) -> T.Tensor:
    return T.grad((d * x**3).sum(), x, create_graph=True)[0].sum()


@pytest.mark.parametrize("points", [(), ("d", "x")])
def test_an_argument_made_of_one_in_which_it_takes_gradients_is_refused(points):
    """It would be a constant there: the slope of d x^3 would be 3 d x^2, without d' x^3."""
    x = places(20)
    compiled = T.compile(_slope, points=points)
    with pytest.raises(T.TraceError, match=r"Compute it inside .*, or pass its detach\(\)"):
        compiled(x * (1 - x), x)
    fixed = (x * (1 - x)).detach()
    close([compiled(fixed, x).item()], [_slope(fixed, x).item()])
    other = places(20)
    close([compiled(other * 2, x).item()], [_slope(other * 2, x).item()])  # made of something else


def test_an_argument_that_is_beside_what_gradients_are_taken_of_may_be_made_of_anything():
    x, weight = places(6), T.tensor(2.0, dtype=T.float64, requires_grad=True)

    def step(before: T.Tensor, x: T.Tensor) -> T.Tensor:
        (slope,) = T.grad(T.tanh(x * weight).sum(), x, create_graph=True)
        return ((before - 0.1 * slope) ** 2).sum()

    results = [f(T.sin(x), x) for f in (T.compile(step), step)]
    close(*([g.numpy() for g in T.grad(r, [x, weight])] for r in results))


def test_an_argument_made_of_a_captured_tensor_in_which_it_takes_gradients_is_refused():
    x = places(4)
    compiled = T.compile(lambda d: _slope(d, x))
    for d in (x**2, x):
        with pytest.raises(T.TraceError, match="takes gradients itself"):
            compiled(d)


@pytest.mark.parametrize("points", [(), "d", ("d", "x")])
def test_an_argument_that_is_given_twice_is_one(points):
    """The slope of x^4 is 4 x^3, where d and x are the same, and that of it in x is 12 x^2."""
    x = places(20)
    slope = T.compile(_slope, points=points)(x, x)
    close([slope.item()], [(4 * x**3).sum().item()])
    close([T.grad(slope, x)[0].numpy()], [(12 * x**2).detach().numpy()])


def test_whether_arguments_are_the_same():
    compiled = T.compile(lambda x, y: x * 2 if x is y else x * 3)
    x, y = T.ones(2), T.ones(2)
    for pair, factor in (((x, x), 2), ((x, y), 3), ((y, y), 2)):
        assert compiled(*pair).tolist() == [factor] * 2
    one, other = T.compile(lambda x: [x.sin()] * 2)(x)
    assert one is other


def test_arguments_that_depend_on_each_other_are_fine_where_no_gradient_is_taken_inside():
    x = places(20)
    found, expected = (
        T.grad(f(x * 2, x) ** 2, x, create_graph=True)[0].sum()
        for f in (T.compile(lambda d, x: (d * x).sum()), lambda d, x: (d * x).sum())
    )
    close([found.item()], [expected.item()])
    close([T.grad(found, x)[0].numpy()], [T.grad(expected, x)[0].numpy()])


@pytest.mark.parametrize("points", [(), "x"])
def test_a_hook_of_a_parameter_is_called_once_for_each_backward(points):
    x, weight = places(30), T.ones(2, dtype=T.float64, requires_grad=True)
    seen = []

    def hook(gradient: T.Tensor) -> T.Tensor:
        seen.append(gradient)
        return -3 * gradient

    handle = weight.register_hook(hook)
    compiled = T.compile(lambda x: (weight * x).mean(), points=points)
    expected = x.detach().numpy().mean(axis=0) / 2
    for factor in (-3, 1):
        for _ in range(2):
            weight.grad = None
            compiled(x).backward()
            close([weight.grad.numpy()], [factor * expected])
            close(T.grad(compiled(x), weight), [factor * expected])
        assert len(seen) == 4
        handle.remove()


@pytest.mark.parametrize("points", [(), "x"])
def test_an_argument_that_it_asks_gradients_for_has_them_as_in_the_eager_run(points):
    def loss(x: T.Tensor) -> T.Tensor:
        x.requires_grad_(True)
        return (T.grad((x**3).sum(), x, create_graph=True)[0] ** 2).mean()

    compiled = T.compile(loss, points=points)
    for _ in range(2):
        x = places(40).detach()
        value = compiled(x)
        assert x.requires_grad and value.requires_grad
        value.backward()
        other = x.detach().clone()
        loss(other).backward()
        close([x.grad.numpy()], [other.grad.numpy()])


def test_requires_grad_inside_holds_for_arguments_of_its_kind_alone():
    compiled = T.compile(lambda x: (x.requires_grad_() if x.ndim == 2 else x).sum())
    line = T.ones(3)
    compiled(T.ones(2, 2))
    assert not compiled(line).requires_grad and not line.requires_grad
    asked = lambda k: k.requires_grad_() if k.dtype == T.float32 else k  # noqa: E731
    product = T.compile(lambda k, x: (asked(k) * x).sum())
    assert product(T.ones(3), line).item() == 3 and product(T.tensor([1, 2, 3]), line).item() == 6


# ---- chunks


def test_chunks_and_threads_change_no_bit_of_each_other():
    net, x = network(), places(5000)
    one, three = (T.compile(mean_square(net), points="x", threads=k) for k in (1, 3))
    assert one(x).item() == three(x).item()
    for a, b in zip(gradients(one(x), net, x), gradients(three(x), net, x), strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_mean_beside_other_terms_counts_those_once():
    net, inside, edge = network(), places(3000), places(40)

    def loss(x: T.Tensor, e: T.Tensor) -> T.Tensor:
        weights = sum((p**2).sum() for p in net.parameters())
        return (residual(net, x) ** 2).mean() + (net(e) ** 2).sum() + 1e-3 * weights

    compiled = T.compile(loss, points="x")
    assert compiled(inside, edge).item() == pytest.approx(loss(inside, edge).item(), rel=1e-12)
    close(gradients(compiled(inside, edge), net, edge), gradients(loss(inside, edge), net, edge))


def test_means_are_joined_with_what_knows_no_point():
    net, inside, edge = network(), places(700), places(40)
    weights = T.tensor([1.0, 10.0, 0.5], dtype=T.float64)

    def terms(x: T.Tensor) -> T.Tensor:
        inner = (residual(net, x) ** 2).mean()
        outer = T.cat([(net(edge) ** 2).mean().reshape(1), inner.reshape(1)])
        return T.cat([outer, T.stack([T.tensor(2.0, dtype=T.float64)])])

    loss = lambda x: (terms(x) * weights).sum()  # noqa: E731
    close([T.compile(terms, points="x")(inside).detach().numpy()], [terms(inside).detach().numpy()])
    compiled = T.compile(loss, points="x")
    close(gradients(compiled(inside), net, inside), gradients(loss(inside), net, inside))


def test_a_sum_divided_by_the_number_of_points_is_a_mean():
    x = places(4000)
    compiled = T.compile(lambda x: (x**2).sum() / len(x), points="x")
    assert compiled(x).item() == pytest.approx((x**2).sum().item() / 4000, rel=1e-12)


REFUSED = {
    "a root of a mean": (lambda x: (x**2).mean().sqrt(), "sqrt"),
    "a sum and what is none": (lambda x: (x**2).sum() + 1.0, "each would add it"),
    "a sum and a mean": (lambda x: (x**2).sum() + x.mean(), "to a mean"),
    "a sum joined with what is none": (
        lambda x: T.stack([x.sum(), T.tensor(1.0)]), "in different ways"
    ),
    "a mean brought back": (lambda x: x - x.mean(dim=0), "back to each of them"),
    "the largest": (lambda x: x.amax(dim=0), "amax"),
    "every point with every other": (lambda x: x[:, 0:1] - x[:, 0], "lets points meet"),
    "some of the points": (lambda x: x[1:], "left out"),
    "the first point": (lambda x: x[0], "takes some of the points"),
    "an order": (lambda x: T.flip(x, (0,)), "flip"),
    "running sums": (lambda x: T.cumsum(x, 0), "cumsum"),
    "a number for each point": (lambda x: x * T.arange(len(x)).reshape(-1, 1), "another number"),
    "rows that are moved": (lambda x: x.reshape(2, -1).permute(1, 0), "another"),
    "points in the second dimension": (lambda x: x.permute(1, 0), "neither a row a point"),
    "a product of points": (lambda x: x @ x.permute(1, 0), "lets points meet"),
    "products of sums": (lambda x: x.sum() * x.sum(), "not linear"),
    "half of them": (lambda x: x[: len(x) // 2].sum(), "left out"),
    "more steps for more points": (
        lambda x: functools.reduce(lambda y, _: T.tanh(y), x, x), "depends on how many points"
    ),
    "more parts for more points": (
        lambda x: T.cat([x[:, :1] for _ in range(len(x))], dim=1), "depends on how many points"
    ),
    "their number in an attribute": (lambda x: len(x) / x, "depends on how many points"),
    "their number as a bound": (lambda x: T.clamp(x, 0.0, 4 / len(x)), "depends on how many"),
    "a matrix of all points": (lambda x: T.linalg.inv(x.permute(1, 0) @ x), "lets points meet"),
    "a sum that is rounded": (lambda x: x.sum().to(T.int64), "not linear"),
    "powers of their number": (lambda x: T.tanh(x * len(x)), "depends on how many points"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_sum_over_points_is_refused_in_words(name):
    function, said = REFUSED[name]
    with pytest.raises(T.MixesPoints, match=said):
        T.compile(function, points="x")(places(12))


def _matrices(x: T.Tensor) -> T.Tensor:
    """A symmetric matrix of each point, (n, 2, 2)."""
    return T.stack([x[:, 0] + 2, x[:, 1], x[:, 1], 3 - x[:, 0]], dim=1).reshape(-1, 2, 2)


SUMS = {
    "a weighted sum": lambda x: (x * T.tensor([1.0, -2.0])).sum(),
    "a product over points": lambda x: (T.tanh(x).permute(1, 0) @ x).sum(),
    "a matrix of sums": lambda x: x.permute(1, 0) @ x / len(x),
    "norms of rows": lambda x: T.linalg.vector_norm(x, dim=1).sum(),
    "softmax of rows": lambda x: T.softmax(x, dim=1),
    "parts put together": lambda x: T.cat([x[:, 1:], T.ones_like(x[:, :1])], dim=1),
    "stacked": lambda x: T.stack([x[:, 0], x[:, 1] ** 2], dim=1),
    "clipped": lambda x: T.where(x > 0.5, x, 0.0).sum(dim=0),
    "per row matrices": lambda x: (x.reshape(-1, 2, 1) @ x.reshape(-1, 1, 2)).sum(dim=0),
    "determinants": lambda x: T.linalg.det(_matrices(x)).sum(),
    "logarithms of determinants": lambda x: T.linalg.slogdet(_matrices(x))[1],
    "inverses": lambda x: T.linalg.inv(_matrices(x)).sum(dim=0),
    "systems": lambda x: T.linalg.solve(_matrices(x), x.reshape(-1, 2, 1)),
    "one right side": lambda x: T.linalg.solve(_matrices(x), T.eye(2, dtype=x.dtype)[None]).mean(),
    "triangles": lambda x: T.linalg.cholesky(_matrices(x) @ _matrices(x)).sum(),
    "unbiased by hand": lambda x: (x**2).sum() / (2 * len(x)),
    "no matter of points": lambda x: T.tensor(3.0) * T.tensor(2.0),
    "each divided by their number": lambda x: x / len(x),
    "a list of sums": lambda x: sum([x.sum(), (x**2).sum()]) - 0.0,
}  # fmt: skip


@pytest.mark.parametrize("name", SUMS)
def test_sums_over_points_and_rows_of_many_kinds(name):
    x = places(2000)
    found, expected = T.compile(SUMS[name], points="x")(x), SUMS[name](x)
    close([found.detach().numpy()], [expected.detach().numpy()])


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.sum() if len(x) < 4000 else 2 * x.sum(),
        lambda x: (x * T.tensor([1.0, 2.0])).sum() * min(len(x), 300),
        lambda x: (x * T.tensor(float(min(len(x), 300)))).sum(),
        lambda x: (x * min(1.0, 20 / len(x))).sum(),
    ],
)
def test_what_a_chunk_does_otherwise_than_few_points_is_refused(function):
    with pytest.raises(T.MixesPoints, match="depends on how many points"):
        T.compile(function, points="x")(places(6000))


def test_points_of_different_numbers_are_refused():
    compiled = T.compile(lambda x, y: x + y, points=("x", "y"))
    with pytest.raises(ValueError, match=r"\[3, 2\], \[4, 2\]; each needs a row a point"):
        compiled(places(3), places(4))


def test_points_have_to_be_arguments():
    with pytest.raises(ValueError, match="points names 'z', and the arguments of .* are x"):
        T.compile(lambda x: x, points="z")


def test_no_points_at_all():
    compiled = T.compile(lambda x: (x**2).sum(), points="x")
    assert compiled(places(0)).item() == 0.0


# ---- what it notices


def counted(function: object) -> tuple[object, list]:
    calls: list = []

    def counting(*args: object, **kwargs: object) -> object:
        calls.append(1)
        return function(*args, **kwargs)

    return counting, calls


def test_it_is_recorded_again_for_other_shapes_dtypes_and_flags_only():
    function, calls = counted(lambda x, power: (x**power).sum())
    compiled = T.compile(function)
    x = T.tensor([1.0, 2.0])
    compiled(x, 2)
    before = len(calls)
    assert compiled(x + 1, 2).item() == 13.0
    assert len(calls) == before
    seen = [
        compiled(T.tensor([1.0, 2.0, 3.0]), 2).item(), compiled(x.float(), 2).item(),
        compiled(x.clone().requires_grad_(), 2).item(), compiled(x, 3).item(),
    ]  # fmt: skip
    assert seen == [14.0, 5.0, 5.0, 9.0]
    assert len(calls) > before
    before = len(calls)
    compiled(x, 3)
    assert len(calls) == before


def test_true_is_not_one():
    compiled = T.compile(lambda x, flag: x + 10 if flag is True else x)
    assert [compiled(T.tensor(1.0), flag).item() for flag in (True, 1, True)] == [11.0, 1.0, 11.0]


def test_numbers_that_it_reads_from_around_itself():
    factor = 2.0

    def times(x: T.Tensor) -> T.Tensor:
        return factor * x

    compiled = T.compile(times)
    assert compiled(T.tensor(3.0)).item() == 6.0
    factor = 5.0
    assert compiled(T.tensor(3.0)).item() == 15.0


def test_tensors_that_take_each_others_place():
    compiled, found = None, []

    def times(x: T.Tensor) -> T.Tensor:
        return x * factor

    with pytest.warns(RuntimeWarning, match="8 times in a row .* value of factor; .* tensor"):
        for k in range(20):
            factor = T.tensor(float(k))
            compiled = compiled or T.compile(times)
            found.append(compiled(T.tensor(1.0)).item())
    assert found == list(map(float, range(20)))


def test_a_parameter_that_is_replaced():
    line = T.nn.Linear(2, 1)
    compiled, x = T.compile(lambda x: line(x)), T.tensor([[1.0, 2.0]])
    compiled(x)
    line.weight = T.nn.Parameter(T.zeros((1, 2)))
    assert compiled(x).item() == line.bias.item()


def test_zero_has_a_sign_and_no_number_is_itself():
    calls = []

    def angle(x: T.Tensor, sign: float) -> T.Tensor:
        calls.append(sign)
        return T.atan2(x * 0, T.tensor(sign))

    compiled, one = T.compile(angle), T.tensor(1.0)
    assert [compiled(one, s).item() for s in (0.0, -0.0)] == [0.0, pytest.approx(np.pi)]
    compiled(one, float("nan"))
    before = len(calls)
    compiled(one, float("nan"))
    assert len(calls) == before


def test_forms_that_were_not_used_for_long_are_dropped():
    compiled = T.compile(lambda x, k: x * k)
    with pytest.warns(RuntimeWarning, match="8 times in a row .* value of k; .* tensor"):
        for k in range(200):
            assert compiled(T.ones(k + 1), k).numel() == k + 1
    assert len(compiled._recorded.known) <= 64


def test_attributes_and_entries_of_dicts_that_its_text_names():
    class Weighted(T.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.scale, self.steps = 2.0, 0

        def forward(self, at: T.Tensor) -> T.Tensor:
            return (self.scale * at).sum()

        @T.compile
        def method(self, at: T.Tensor) -> T.Tensor:
            return (self.scale * at).sum()

    net, weights, x = Weighted(), {"wall": 2.0}, T.tensor([1.0, 2.0])
    around = T.compile(lambda x: net.scale * x.sum())
    entry = T.compile(lambda x: sum(weights["wall"] * part for part in (x.sum(), 0 * x.sum())))
    whole, bound = T.compile(net, points="at"), T.compile(net.forward)
    of_all = [around, entry, whole, bound, net.method]
    for factor in (2.0, 3.0):
        net.scale = weights["wall"] = factor
        assert [one(x).item() for one in of_all] == [3 * factor] * 5
    net.steps = 1  # is not read
    whole(x)
    assert len(whole._recorded.known) == 2


class Places:
    """Numbers wherever an object may have them."""

    __slots__ = ("slot",)
    of_all = 1.0


class Sum:
    def __init__(self, weights: dict) -> None:
        self.weights = weights

    def __call__(self, x: T.Tensor) -> T.Tensor:
        return self.weights["wall"] * x


@pytest.mark.parametrize("kind", [
    "loop", "dict of an attribute", "default dict", "slot", "class", "list", "numpy", "called",
    "partial",
])  # fmt: skip
def test_a_number_is_seen_wherever_it_lies(kind):
    places, weights, many = Places(), {"wall": 1.0}, [0.0, 1.0]
    default, single = defaultdict(float, wall=1.0), np.float32(1)
    places.slot = 1.0
    owner = Sum(weights)
    functions = {
        "loop": lambda x: sum(weights[name] * x for name in ("wall", "wall")) / 2,
        "dict of an attribute": lambda x: owner.weights["wall"] * x,
        "default dict": lambda x: default["wall"] * x,
        "slot": lambda x: places.slot * x,
        "class": lambda x: places.of_all * x,
        "list": lambda x: many[1] * x,
        "numpy": lambda x: float(single) * x,
        "called": owner,
        "partial": functools.partial(lambda factors, x: factors["wall"] * x, weights),
    }
    compiled, one = T.compile(functions[kind]), T.tensor(1.0)
    assert compiled(one).item() == 1.0
    places.slot = weights["wall"] = many[1] = default["wall"] = 2.0
    single, Places.of_all = np.float32(2), 2.0
    try:
        assert compiled(one).item() == 2.0
    finally:
        Places.of_all = 1.0


class Kind(Enum):
    LAMINAR, TURBULENT = 1, 2


_CHANGES = {
    "a first item": (list, lambda of: 1.0 + sum(of), lambda of: of.append(2.0)),
    "a further item": (lambda: deque([1.0]), sum, lambda of: of.append(2.0)),
    "an item of an inner list": (lambda: [[], []], lambda of: 1.0 + sum(of[1]),
                                 lambda of: of[1].append(2.0)),
    "an element": (set, lambda of: 1.0 + len(of), lambda of: of.add("wall")),
    "a first entry": (dict, lambda of: of.get("wall", 1.0), lambda of: of.update(wall=2.0)),
    "a further entry": (lambda: {"wall": 1.0}, lambda of: sum(of.values()),
                        lambda of: of.update(inlet=2.0)),
    "an attribute": (SimpleNamespace, lambda of: getattr(of, "wall", 1.0),
                     lambda of: setattr(of, "wall", 2.0)),
    "a member of an enumeration": (lambda: SimpleNamespace(kind=Kind.LAMINAR),
                                   lambda of: 2.0 if of.kind is Kind.TURBULENT else 1.0,
                                   lambda of: setattr(of, "kind", Kind.TURBULENT)),
    "a byte": (lambda: bytearray(b"a"), lambda of: float(of[0]),
               lambda of: of.__setitem__(0, 7)),
    "a module": (T.nn.Sequential, lambda of: 1.0 + len(of),
                 lambda of: of.append(T.nn.Tanh())),
}  # fmt: skip


@pytest.mark.parametrize("change", _CHANGES)
def test_what_is_added_to_an_object_or_another_there_is_seen(change):
    make, read, write = _CHANGES[change]
    of = make()

    @T.compile
    def function(x: T.Tensor) -> T.Tensor:
        return x * read(of)

    before = function(T.ones(())).item()
    write(of)
    assert function(T.ones(())).item() == read(of) != before


def test_numbers_that_change_their_places_are_told_apart():
    weights = {"wall": 2.0}
    compiled = T.compile(lambda x: (2 * weights.get("wall", 0) + 3 * weights.get("inlet", 0)) * x)
    assert compiled(T.tensor(1.0)).item() == 4.0
    weights["inlet"] = weights.pop("wall")
    assert compiled(T.tensor(1.0)).item() == 6.0


def test_what_the_function_itself_counts_costs_no_recording():
    class Counting:
        def __init__(self) -> None:
            self.calls, self.factor = 0, 1.0

        def residual(self, x: T.Tensor) -> T.Tensor:
            self.calls += 1
            return self.factor * x

    counting = Counting()
    compiled, one = T.compile(counting.residual), T.tensor(1.0)
    with pytest.warns(RuntimeWarning, match=r"residual writes self.calls: .* not at its calls"):
        compiled(one)
    before = counting.calls
    counting.calls = 100  # which nothing is made of
    compiled(one)
    assert counting.calls == 100 > before
    counting.factor = 3.0
    assert compiled(one).item() == 3.0


def test_many_objects_of_a_class_are_not_many_recordings_of_one():
    class Line:
        @T.compile
        def at(self, x: T.Tensor) -> T.Tensor:
            return 2 * x

    lines = [Line() for _ in range(20)]
    assert {line.at(T.tensor(1.0)).item() for line in lines} == {2.0}


def test_training_mode_of_the_modules_it_reads():
    class Gate(T.nn.Module):
        def forward(self, x: T.Tensor) -> T.Tensor:
            return x if self.training else -x

    gate = Gate()
    compiled = T.compile(lambda x: gate(x))
    assert compiled(T.tensor(2.0)).item() == 2.0
    gate.eval()
    assert compiled(T.tensor(2.0)).item() == -2.0


def test_parameters_that_are_written_to_frozen_and_freed():
    net, x = network(), places(7)
    compiled = T.compile(lambda x: (net(x) ** 2).sum())
    weight = net[0].weight
    compiled(x)
    with T.no_grad():
        weight *= 1.5
    assert compiled(x).item() == pytest.approx((net(x) ** 2).sum().item(), rel=1e-13)
    weight.requires_grad_(False)
    with pytest.raises(RuntimeError, match="does not require grad"):
        T.grad(compiled(x), [weight])
    weight.requires_grad_(True)
    (slope,) = T.grad(compiled(x), [weight])
    close([slope.numpy()], [T.grad((net(x) ** 2).sum(), [weight])[0].numpy()])


def test_a_constant_that_is_written_to():
    data = T.tensor([1.0, 2.0])
    compiled = T.compile(lambda x: (x * data).sum())
    x = T.tensor([1.0, 1.0])
    assert compiled(x).item() == 3.0
    data += 1
    assert compiled(x).item() == 5.0


def test_writing_between_forward_and_backward_is_refused():
    net, x = network(), places(7)
    value = T.compile(lambda x: net(x).sum())(x)
    with T.no_grad():
        net[0].weight *= 2.0
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        value.backward()


def _doubled(weight: T.Tensor) -> None:
    weight.data.mul_(2)


def _replaced(weight: T.Tensor) -> None:
    weight.data = weight.detach() * 2


@pytest.mark.parametrize("write", [_doubled, _replaced])
def test_a_gradient_that_came_with_its_loss_is_that_of_the_call(write):
    weight, x = T.tensor([1.0, 2.0], requires_grad=True), places(5)
    loss = T.compile(lambda x: (weight**3 * x).sum())(x)
    (expected,) = T.grad((weight**3 * x.detach()).sum(), weight)
    write(weight)
    (found,) = T.grad(loss, weight)
    close([found.numpy()], [expected.numpy()])


@pytest.mark.parametrize("points", [(), "x"])
@pytest.mark.parametrize("write", [_doubled, _replaced])
@pytest.mark.parametrize("asks", ["of rows", "of a gradient"])
def test_what_is_computed_again_for_a_gradient_is_not_written_to_through_data(write, asks, points):
    weight, x = T.tensor([1.0, 2.0], requires_grad=True), places(5)
    of_rows = asks == "of rows"
    compiled = T.compile(
        (lambda x: weight**3 * x) if of_rows else (lambda x: (weight**3 * x).sum()), points=points
    )
    result = compiled(x).sum()
    write(weight)
    with pytest.raises(RuntimeError, match=r"through \.data after it was called"):
        T.grad(result, weight, create_graph=not of_rows)
    T.grad(compiled(x).sum(), weight, create_graph=not of_rows)


def test_a_second_backward_needs_a_kept_graph():
    x = places(7)
    value = T.compile(lambda x: (x**3).sum())(x)
    T.grad(value, x, retain_graph=True)
    T.grad(value, x)
    with pytest.raises(RuntimeError, match="second time"):
        T.grad(value, x)


def test_without_grad_mode_nothing_belongs_to_a_graph():
    compiled = T.compile(lambda x: (x**2).sum())
    with T.no_grad():
        assert not compiled(places(3)).requires_grad
    assert compiled(places(3)).requires_grad


def test_complex_sums_beside_real_ones_and_as_results():
    weight = T.tensor([1 + 1j, 2 - 1j], requires_grad=True)
    scale = T.tensor(2.0, requires_grad=True)
    x = places(40, T.float32).detach()

    def both(x: T.Tensor) -> T.Tensor:
        return (scale * x * weight).abs().sum()

    def one(x: T.Tensor) -> T.Tensor:
        return (x * weight).sum()

    for points in ((), "x"):
        for function in (both, lambda x: one(x).real, lambda x: one(x).imag):
            results = [f(x) for f in (T.compile(function, points=points), function)]
            pairs = [
                [g.numpy() for g in T.grad(r, [weight, scale], materialize_grads=True)]
                for r in results
            ]
            close(*pairs, rtol=1e-5)
        seed = T.tensor(1.0 - 2.0j)
        pairs = [T.grad(f(x), weight, seed) for f in (T.compile(one, points=points), one)]
        close(*([g.numpy() for g in some] for some in pairs), rtol=1e-5)


def test_a_checkpoint_inside_is_passed_through():
    net, x = network(), places(30)
    checkpointed = T.compile(lambda x: (T.checkpoint(net, x) ** 2).mean(), points="x")
    plain = lambda x: (net(x) ** 2).mean()  # noqa: E731
    close(gradients(checkpointed(x), net, x), gradients(plain(x), net, x))


def test_single_precision_stays_single():
    net, x = network(dtype=T.float32), places(2000, T.float32)
    value = T.compile(mean_square(net), points="x")(x)
    assert value.dtype == T.float32
    assert value.item() == pytest.approx(mean_square(net)(x).item(), rel=1e-4)


# ---- what it refuses


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda x: x if x.sum() > 0 else -x, "bool"),
        (lambda x: x * float(x.sum()), "Tensor inside a recorded step"),
        (lambda x: x + T.randn(3), "random"),
        (lambda x: x[x > 0], "recorded step"),
    ],
)
def test_what_a_recording_cannot_hold_is_named(function, said):
    with pytest.raises(T.TraceError, match=said):
        T.compile(function)(T.tensor([1.0, -2.0, 3.0]))


@pytest.mark.parametrize("points", [(), "x"])
@pytest.mark.parametrize("kind", ["random", "counter"])
def test_what_differs_from_call_to_call_is_refused(kind, points):
    calls = []

    def function(x: T.Tensor) -> T.Tensor:
        calls.append(1)
        return (x * (np.random.rand() if kind == "random" else len(calls))).sum()

    with pytest.raises(T.TraceError, match="something else at each call, seen at operation 'mul'"):
        T.compile(function, points=points)(T.ones(50))


ORDER, COUNTS = np.random.default_rng(5), itertools.count()
PLACES = itertools.cycle([[0, 1, 2], [1, 2, 0], [2, 0, 1]])
TURNS = itertools.cycle([lambda one, other: one, lambda one, other: other])


@pytest.mark.parametrize("points", [(), "x"])
@pytest.mark.parametrize(
    ("function", "place"),
    [
        (lambda x: x * T.tensor(ORDER.random(3)), "operation 'mul'"),
        (lambda x: x[:, next(PLACES)], "operation 'index'"),
        (lambda x: next(TURNS)(x * 2, x * 3), "what it returns"),
        (lambda x: (x, next(COUNTS)), "what it returns"),
        (lambda x: T.cat([x, *itertools.repeat(2 * x, next(COUNTS))], 1), "operation"),
    ],
    ids=["array", "places", "wiring", "number", "inputs"],
)
def test_what_else_differs_from_call_to_call_is_refused(function, place, points):
    said = f"something else at each call, seen at {place}"
    with pytest.raises(T.TraceError, match=said):
        T.compile(function, points=points)(T.ones((50, 3)))


@pytest.mark.parametrize("points", [(), "x"])
def test_what_is_made_at_the_first_call_alone_is_recorded(points):
    made = []

    def function(x: T.Tensor) -> T.Tensor:
        if not made:
            made.append(T.linspace(0, 1, 3) * 2)
        return (x * made[0]).sum()

    assert T.compile(function, points=points)(T.ones((1, 3))).item() == pytest.approx(3)


class _Keeping:
    def __init__(self) -> None:
        self.grid, self.known, self.kept, self.history, self.by_name = None, False, None, [], {}

    @T.compile
    def attribute(self, x: T.Tensor) -> T.Tensor:
        self.kept = x * 2
        return self.kept.sum()

    @T.compile(points="x")
    def item(self, x: T.Tensor) -> T.Tensor:
        self.history.append((x * 2).detach())
        return self.history[-1].sum()

    @T.compile
    def entry(self, x: T.Tensor) -> T.Tensor:
        self.by_name["r"] = x * 2
        return self.by_name["r"].sum()

    @T.compile
    def nothing_of_x(self, x: T.Tensor) -> T.Tensor:
        if self.grid is None:
            self.grid, self.known = T.linspace(0, 1, 3) * 2, True
        return (x * 2 + self.grid.sum()).sum()


@pytest.mark.parametrize(
    ("method", "where"),
    [("attribute", "self.kept"), ("item", "self.history[0], "), ("entry", "self.by_name['r']")],
)
def test_a_tensor_that_it_keeps_is_warned_of_once(method, where):
    keeping, x = _Keeping(), T.ones((20, 1))
    function = getattr(keeping, method)
    with pytest.warns(RuntimeWarning, match=re.escape(f"writes {where}")) as caught:
        first = function(x)
    assert caught[0].filename == __file__
    assert function(x).item() == first.item() == 40  # and no further warning, which is an error
    assert keeping.nothing_of_x(x).item() == keeping.nothing_of_x(x).item() == 100


def test_what_is_read_without_grad_mode_has_no_gradient():
    T.manual_seed(0)
    target, net = T.nn.Linear(1, 1), T.nn.Linear(1, 1)

    def loss(x: T.Tensor, given: T.Tensor) -> T.Tensor:
        with T.no_grad():
            wanted = target(x) * given
        (slope,) = T.grad(net(x).sum(), x, create_graph=True)
        return ((slope - wanted) ** 2).mean()

    def gradients(function) -> list:
        x = T.ones((3, 1), requires_grad=True)
        given = T.ones((3, 1), requires_grad=True)
        read = [x, given, *target.parameters(), *net.parameters()]
        for tensor in read:
            tensor.grad = None
        function(x, given).backward()
        return [tensor.grad if tensor.grad is None else tensor.grad.tolist() for tensor in read]

    assert gradients(T.compile(loss)) == gradients(loss)
    with T.no_grad():
        target.weight += 1  # is read anew all the same
    compiled = T.compile(loss)
    assert gradients(compiled) == gradients(loss)
    with T.no_grad():
        target.weight += 1
    assert gradients(compiled) == gradients(loss)
    assert gradients(loss).count(None) == 5


@dataclass
class _Settings:
    factor: float = 2.0
    names: dict = field(default_factory=lambda: {"wall": 3.0})


@pytest.mark.parametrize(
    "kind", [_Settings, lambda: SimpleNamespace(factor=2.0, names={"wall": 3.0})]
)
def test_an_argument_with_attributes_counts_by_these_and_by_which_it_is(kind):
    @T.compile
    def function(x: T.Tensor, settings) -> T.Tensor:
        return (x * settings.factor * settings.names["wall"]).sum()

    one, other, x = kind(), kind(), T.ones(1)
    assert function(x, one).item() == 6
    one.factor = 3.0
    assert (function(x, one).item(), function(x, other).item()) == (9, 6)
    one.names["wall"] = 1.0
    assert (function(x, one).item(), function(x, other).item()) == (3, 6)


def test_a_failure_with_few_points_says_that_they_are_few():
    targets = T.ones(200)
    with pytest.raises(RuntimeError) as caught:
        T.compile(lambda x: (x - targets).sum(), points="x")(T.ones(200))
    assert "with 5 points, first of all" in caught.value.__notes__[0]


def test_arguments_are_those_of_the_function():
    def residual(x: T.Tensor) -> T.Tensor:
        return x

    with pytest.raises(TypeError, match="residual: missing a required argument: 'x'"):
        T.compile(residual)()
    with pytest.raises(TypeError, match="points expected names of arguments, such as .*, got int"):
        T.compile(residual, points=3)


def test_an_array_is_refused_with_what_to_do():
    with pytest.raises(TypeError, match="argument 'x' is of type ndarray; .*autograd.tensor"):
        T.compile(lambda x: x)(np.ones(3))


def test_other_results_are_refused():
    with pytest.raises(TypeError, match="returned ndarray; a compiled function returns tensors"):
        T.compile(lambda x: np.ones(3))(T.tensor(1.0))


def test_what_was_computed_outside_is_an_argument():
    outside = T.tensor(2.0, requires_grad=True) * 3
    with pytest.raises(T.TraceError, match="computed outside of it .* pass it as an argument"):
        T.compile(lambda x: x * outside)(T.tensor(1.0))


def test_only_functions_are_compiled():
    with pytest.raises(TypeError, match="expected a function of tensors, got int"):
        T.compile(3)


# ---- what it gives back, and what it keeps


def test_each_form_of_arguments_has_its_own_form_of_results():
    compiled = T.compile(lambda x: {"n": len(x), "sum": x.sum()} if len(x) < 4 else (len(x), x))
    assert [compiled(T.ones(n))["n"] for n in (2, 3, 2)] == [2, 3, 2]
    assert compiled(T.ones(5))[0] == 5
    assert compiled(T.ones(2))["sum"].item() == 2.0


@pytest.mark.parametrize(
    "function",
    [lambda x: (x.sum(), len(x)), lambda x: (x.sum(), None) if len(x) < 300 else (x.sum(), 1)],
)
def test_a_number_that_depends_on_how_many_points_there_are_is_refused(function):
    with pytest.raises(T.MixesPoints, match="returns other numbers.* has to be a tensor"):
        T.compile(function, points="x")(places(6000))


class Scaled:
    def __init__(self, factor: float) -> None:
        self.factor = T.tensor(factor, requires_grad=True)

    @T.compile
    def of(self, x: T.Tensor) -> T.Tensor:
        return (self.factor * x).sum()

    def __eq__(self, other: object) -> bool:  # and so without a hash
        return True


class Doubled(Scaled):
    @T.compile
    def of(self, x: T.Tensor) -> T.Tensor:
        return 2 * super().of(x)


def test_an_object_with_compiled_methods_is_copied_and_freed():
    model, x = Scaled(2.0), T.tensor([1.0, 4.0])
    assert model.of(x).item() == 10.0
    other = copy.copy(model)
    other.factor = T.tensor(3.0)
    assert (other.of(x).item(), model.of(x).item()) == (15.0, 10.0)
    gone = weakref.ref(other)
    del other
    assert gone() is None
    assert list(vars(Scaled)["of"]._recorded_of) == [id(model)]


def test_a_compiled_method_may_call_that_of_its_base():
    model, x = Doubled(2.0), T.tensor([1.0, 4.0])
    assert [model.of(x).item(), super(Doubled, model).of(x).item(), model.of(x).item()] == [
        20.0, 10.0, 20.0,
    ]  # fmt: skip


@pytest.mark.parametrize("seed", [1.0, 2.0])
def test_gradients_that_are_asked_for_twice_do_not_share_memory(seed):
    loss = T.compile(lambda x: (x * x).sum())
    x = T.tensor(np.array([1.0, -2.0, 3.0]), requires_grad=True)
    value = loss(x)
    given = T.tensor(np.array(seed))
    (first,) = T.grad(value, x, given, retain_graph=True)
    first.zero_()
    (second,) = T.grad(value, x, given)
    assert second.numpy().tobytes() == (2 * seed * x.detach().numpy()).tobytes()


def test_a_branch_on_the_number_of_points_is_refused_whatever_came_before():
    compiled = T.compile(lambda x: x.sum() * (3.0 if len(x) == 64 else 1.0), points="x")
    assert compiled(T.ones(100, 1)).item() == 100.0
    with pytest.raises(T.MixesPoints):
        compiled(T.ones(64, 1))


def test_the_usual_dtype_counts():
    compiled = T.compile(lambda: T.zeros(3))
    usual = T.get_default_dtype()
    assert compiled().dtype == usual
    other = T.float64 if usual == T.float32 else T.float32
    T.set_default_dtype(other)
    try:
        assert compiled().dtype == other
    finally:
        T.set_default_dtype(usual)


@pytest.mark.parametrize("write", [
    lambda weight: weight.data.fill_(5.0), lambda weight: weight.data.data.mul_(5.0),
    lambda weight: weight.data.__setitem__(0, 5.0),
])  # fmt: skip
def test_what_is_written_past_the_version_check_is_seen(write):
    """The weights of a frozen network that follow another's."""
    weight = T.ones(1)
    compiled, x = T.compile(lambda x: (weight * x).sum()), T.ones(1)
    assert compiled(x).item() == 1.0
    write(weight)
    assert compiled(x).item() == 5.0


def test_recordings_of_what_is_gone_are_dropped():
    places = SimpleNamespace(points=T.ones(3))
    compiled = T.compile(lambda: (places.points * 2).sum())
    with pytest.warns(RuntimeWarning, match="8 times in a row"):
        for k in range(20):
            places.points = T.ones(3) * k
            assert compiled().item() == 6.0 * k
    assert len(compiled._recorded.known) <= 2


def test_a_compiled_function_is_copied_and_pickled_without_what_was_recorded():
    line = T.nn.Linear(2, 1)
    holder = SimpleNamespace(line=line, fast=T.compile(line))
    x = T.ones(1, 2)
    holder.fast(x)
    other = copy.deepcopy(holder)
    assert other.fast.fn is other.line and other.fast.fn is not line
    assert other.fast(x).item() == holder.fast(x).item()
    again = pickle.loads(pickle.dumps(holder.fast))
    assert again(x).item() == holder.fast(x).item()
    assert [p is q for p, q in zip(holder.fast.parameters(), line.parameters(), strict=True)]
    with pytest.raises(AttributeError, match="paramters"):
        holder.fast.paramters  # noqa: B018


def test_a_method_of_what_cannot_be_referred_to_weakly_is_refused_in_words():
    class Slim:
        __slots__ = ("factor",)

        @T.compile
        def times(self, x):
            return x * self.factor

    slim = Slim()
    slim.factor = 2.0
    with pytest.raises(TypeError, match='add "__weakref__" to its __slots__'):
        slim.times(T.ones(1))


def test_a_second_derivative_that_is_none():
    weight = T.tensor([[0.3], [0.4]], requires_grad=True)
    compiled = T.compile(lambda x: [(x @ weight).clamp(0.0, 1.0)])
    (result,) = compiled(T.ones(3, 2))
    (slope,) = T.grad(result.sum(), weight, create_graph=True)
    assert T.grad((slope**2).sum(), weight, allow_unused=True) == (None,)  # as in the eager run


def _into_a_parameter(p):
    with T.no_grad():
        p.add_(4)


def _by_a_step(p):
    p.grad = -T.ones(1)
    T.optim.SGD([p], lr=4.0).step()


def _other_memory(p):
    p.data = T.full((1,), 5.0)


@pytest.mark.parametrize("write", [
    _into_a_parameter, _by_a_step, _other_memory, lambda p: p.data.fill_(5),
    lambda p: p.detach().fill_(5),
])  # fmt: skip
@pytest.mark.parametrize("read", [
    lambda p: p.data, lambda p: p.detach(), lambda p: p.data.clone(), lambda p: p.data[0],
])  # fmt: skip
def test_what_detach_and_data_give_is_read_anew(read, write):
    p, q = T.nn.Parameter(T.ones(1)), T.nn.Parameter(T.ones(1))
    compiled = T.compile(lambda x: (x * read(p) * q).sum())
    compiled(T.ones(3))
    write(p)
    assert compiled(T.ones(3)).item() == 15.0


def test_memory_that_two_tensors_came_to_share_is_looked_at():
    p, q = T.ones(1), T.ones(1)
    p.data = q.data
    compiled = T.compile(lambda x: (x * p).sum())
    compiled(T.ones(3))
    q.mul_(2)
    assert compiled(T.ones(3)).item() == 6.0


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128])
def test_what_numpy_writes_into_the_memory_of_a_tensor_is_seen(dtype):
    array = np.ones(6, dtype)
    every, some = T.from_numpy(array), T.as_tensor(array)[::2]
    compiled = T.compile(lambda x: (x * every).sum() * some.sum())
    assert compiled(T.ones(6)).item() == 18.0
    array *= 2
    assert compiled(T.ones(6)).item() == 72.0
    every.numpy()[:] = 1
    assert compiled(T.ones(6)).item() == 18.0


@pytest.mark.parametrize("copied", [
    lambda x: T.tensor(x), lambda x: x.new_tensor(x), lambda x: T.tensor((x**2).detach()),
    lambda x: T.tensor(x, dtype=T.float32), copy.deepcopy,
])  # fmt: skip
def test_a_copy_of_an_argument_is_one_of_each_call(copied):
    def function(x):
        return (copied(x) * x).sum()

    compiled = T.compile(function)
    for value in (1.0, 3.5):
        x = T.full((3,), value, requires_grad=True)
        found, expected = compiled(x), function(x)
        close([found.item()], [expected.item()])
        close([T.grad(found, x)[0].numpy()], [T.grad(expected, x)[0].numpy()])


def test_a_copy_of_a_tensor_from_outside_follows_it():
    weights = T.ones(3)
    compiled = T.compile(lambda x: (T.tensor(weights) * copy.deepcopy(weights) * x).sum())
    assert compiled(T.ones(3)).item() == 3.0
    weights.mul_(2)
    assert compiled(T.ones(3)).item() == 12.0


@pytest.mark.parametrize("function, what", [
    (lambda x: x.sum() * (2.0 if T.equal(x, T.ones(3)) else 5.0), "equal"),
    (lambda x: x.sum() * (2.0 if T.allclose(x, T.ones(3)) else 5.0), "allclose"),
    (lambda x: (copy.copy(x) * x).sum(), "copy.copy"),
])  # fmt: skip
def test_answers_and_copies_of_an_argument_that_cannot_be_recorded_are_refused(function, what):
    with pytest.raises(T.TraceError, match=re.escape(what)):
        T.compile(function)(T.ones(3))


def test_tensors_from_outside_may_be_compared_and_are_followed():
    mode = T.ones(2)
    compiled = T.compile(lambda x: x.sum() * (2.0 if T.equal(mode, T.ones(2)) else 5.0))
    assert compiled(T.ones(3)).item() == 6.0
    mode.fill_(0)
    assert compiled(T.ones(3)).item() == 15.0


def test_gradients_and_memory_are_not_dropped_while_recording():
    net = T.nn.Linear(1, 1)
    optimizer = T.optim.SGD(net.parameters(), lr=0.1)

    def given_memory(x):
        net.weight.data = net.weight.data.clamp(min=0)
        return net(x).sum()

    for function in (lambda x: [net.zero_grad()] and net(x), given_memory,
                     lambda x: [optimizer.zero_grad()] and net(x)):  # fmt: skip
        with pytest.raises(T.TraceError, match="never at a replay"):
            T.compile(function)(T.ones(2, 1))


def _averaged(kept, x):
    kept["w"] = 0.5 * kept["w"] + 0.5 * x.mean().detach()
    return (x * kept["w"]).sum()


def _previous(kept, x):
    result = x.sum() if kept["w"] is None else (x * kept["w"]).sum()
    kept["w"] = x
    return result


@pytest.mark.parametrize("points", [(), "x"])
@pytest.mark.parametrize("function, start", [
    (_averaged, T.ones(())), (_previous, None), (_previous, T.ones(5)),
])  # fmt: skip
def test_what_was_computed_a_call_before_is_not_read(function, start, points):
    kept = {"w": start}
    compiled = T.compile(lambda x: function(kept, x), points=points)
    with pytest.raises(T.TraceError, match="computed and kept at the call before"):
        compiled(T.ones(5))


def test_what_the_first_call_makes_of_its_argument_stays():
    kept = {"mean": None}

    def centred(x):
        if kept["mean"] is None:
            kept["mean"] = x.mean()
        return (x - kept["mean"]).square().sum()

    compiled = T.compile(centred)
    with pytest.warns(RuntimeWarning, match="writes kept"):
        compiled(T.arange(3.0))
    x = T.tensor([1.0, 5.0, 6.0])
    assert compiled(x).item() == ((x - 1.0) ** 2).sum().item()


class Pair(NamedTuple):
    value: object
    factor: float


def test_named_tuples_are_given_and_come_back_as_they_are():
    x = T.tensor([3.0, -4.0], requires_grad=True)
    ordered = T.compile(lambda x: T.sort(x))(x)
    assert ordered.values.tolist() == [-4.0, 3.0] and ordered.indices.tolist() == [1, 0]
    assert type(ordered) is type(T.sort(x))
    compiled = T.compile(lambda pair: Pair(pair.value * pair.factor, pair.factor))
    for factor in (2.0, 3.0, 4.0):
        found = compiled(Pair(x, factor))
        assert isinstance(found, Pair) and found.value.tolist() == [3 * factor, -4 * factor]
        assert T.grad(found.value.sum(), x)[0].tolist() == [factor] * 2
    assert found.factor == 4.0


@pytest.mark.parametrize("function", [
    lambda x: T.topk(x, 2), lambda x: T.kthvalue(x, 2), lambda x: T.median(x, 0),
    lambda x: T.mode(x, 0), lambda x: T.cummax(x, 0), T.aminmax,
    lambda x: T.linalg.slogdet(T.diag(x)),
])  # fmt: skip
def test_named_tuples_of_the_library_come_back(function):
    x = T.tensor([3.0, 1.0, 2.0])
    found, expected = T.compile(function)(x), function(x)
    assert type(found) is type(expected)
    close(*([part.numpy() for part in pair] for pair in (found, expected)))


@pytest.mark.parametrize("count", [5, 10, 37])
def test_an_argument_with_a_row_a_point_that_is_not_named_is_said(count):
    compiled = T.compile(lambda x, weight: (x * weight[:, None]).sum(0), points="x")
    said = rf"argument 'weight' has as many rows as the points have, {count}.*\(\"x\", \"weight\"\)"
    with pytest.raises(ValueError, match=said) as found:
        compiled(T.ones(count, 2), T.ones(count))
    assert "The size of tensor a" in str(found.value.__cause__)


def test_hooks_of_saved_tensors_around_the_first_call_are_no_part_of_the_recording():
    x = T.tensor([1.0, 2.0], dtype=T.float64, requires_grad=True)
    compiled = T.compile(lambda x: (x.sin() * x).sum())
    with T.autograd.graph.saved_tensors_hooks(lambda t: t * 2, lambda t: t):
        compiled(x)
    close([T.grad(compiled(x), x)[0].numpy()], [(x.sin() + x * x.cos()).detach().numpy()])


def test_arguments_of_ever_other_shapes_are_told_once():
    compiled = T.compile(lambda x: (x**2).sum())
    with pytest.warns(RuntimeWarning, match="8 times for other shapes") as told:
        for n in range(3, 14):
            assert compiled(T.ones(n)).item() == n
    assert len(told) == 1


def test_what_has_a_view_that_is_read_later_is_not_written():
    def function(x):
        states = T.zeros(3, 2)
        first = states[:, 0]
        states[:, 0] = x
        return first.sum()

    with pytest.raises(T.TraceError, match="writing in place"):
        T.compile(function)(T.ones(3))


def test_hints_of_pytorch_change_nothing():
    function = T.compile(lambda x: x * 2, mode="reduce-overhead", fullgraph=True, dynamic=False)
    assert function(T.ones(2)).tolist() == [2, 2]


@pytest.mark.parametrize("numbers", [
    list(np.arange(4)), [np.float32(k) for k in range(4)], [np.float32(1), np.float32(2), 3.0, 4.0],
    [1.0, np.float64(2), np.float32(3), 4, np.bool_(True)],
])  # fmt: skip
def test_numbers_of_numpy_among_the_arguments(numbers):
    x = T.ones(3, dtype=T.float64)
    compiled = T.compile(lambda x, n: x * int(n) + x * n)
    for number in numbers:
        assert compiled(x, number).tolist() == [2 * float(number)] * 3


def test_a_number_of_numpy_that_changes_is_told_once_by_its_name():
    compiled = T.compile(lambda x, n: x * int(n))
    with pytest.warns(RuntimeWarning, match="8 times in a row for another value of n;"):
        for n in np.arange(9):
            compiled(T.ones(3), n)


def test_an_ordered_dict_is_given_and_comes_back_in_its_order():
    parts = OrderedDict(a=T.ones(2, requires_grad=True), b=T.full((2,), 2.0, requires_grad=True))
    compiled = T.compile(
        lambda p, x: OrderedDict((k, (v * x).sum() * (j + 1)) for j, (k, v) in enumerate(p.items()))
    )
    for order in ("ab", "ba"):
        parts.move_to_end(order[1])
        found = compiled(parts, T.ones(2))
        assert type(found) is OrderedDict and "".join(found) == order
        slopes = T.autograd.grad(sum(found.values()), [parts[name] for name in order])
        assert [one.tolist() for one in slopes] == [[1.0, 1.0], [2.0, 2.0]]


# ---- the first call, and what fails


def _flagged(kept):
    if kept.first:
        kept.first = False
        return 10.0
    return 1.0


def _kept(kept):
    kept.size = kept.size or 3.0
    return kept.size


def _annealed(kept):
    gain, kept.gain = kept.gain, 1.0
    return gain


@pytest.mark.parametrize("points", [(), "x"])
@pytest.mark.parametrize("factor", [_flagged, _annealed])
def test_a_first_call_that_gives_other_numbers_is_refused(factor, points):
    kept = SimpleNamespace(first=True, gain=2.0)
    compiled = T.compile(lambda x: (x * factor(kept)).sum(), points=points)
    with pytest.raises(T.TraceError, match="returns other numbers at its first call"):
        compiled(T.ones(50))
    assert compiled(T.ones(50)).item() == 50.0  # as the eager run after its first call


def test_a_first_call_that_asks_for_gradients_and_gives_other_numbers_is_refused():
    kept = SimpleNamespace(first=True)

    def slope(x):
        x.requires_grad_()
        return T.autograd.grad((x**2).sum() * _flagged(kept), x)[0]

    with pytest.raises(T.TraceError, match="returns other numbers at its first call"):
        T.compile(slope)(T.ones(2))
    assert T.compile(slope)(T.ones(2)).tolist() == [2.0, 2.0]


def test_a_first_call_that_only_keeps_what_it_reads_is_recorded():
    kept = SimpleNamespace(size=None)
    assert T.compile(lambda x: x * _kept(kept))(T.ones(2)).tolist() == [3.0, 3.0]


def test_a_first_call_that_returns_something_else_is_refused():
    kept = SimpleNamespace(first=True)
    with pytest.raises(T.TraceError, match="returns other numbers at its first call"):
        T.compile(lambda x: (x, _flagged(kept)))(T.ones(2))


def _factor(a):
    try:
        return T.linalg.cholesky(a)
    except T.linalg.LinAlgError:
        return T.linalg.cholesky(a + 3.0 * T.eye(2, dtype=a.dtype))


def test_a_failure_that_the_function_catches_is_refused_in_a_recording():
    bad = T.tensor([[1.0, 2.0], [2.0, 1.0]], dtype=T.float64)
    with pytest.raises(T.TraceError, match="linalg_cholesky failed inside a recorded step"):
        T.compile(_factor)(bad)


def test_a_failure_that_the_function_catches_later_is_as_in_the_eager_run():
    good = T.eye(2, dtype=T.float64)
    bad = T.tensor([[1.0, 2.0], [2.0, 1.0]], dtype=T.float64, requires_grad=True)
    compiled = T.compile(_factor)
    for _ in range(2):
        assert compiled(good).tolist() == good.tolist()
        compiled(good.detach().requires_grad_())
        value = compiled(bad)
        np.testing.assert_allclose(
            (value @ value.T).detach(), bad.detach() + 3.0 * T.eye(2), rtol=1e-13
        )
        found, expected = (T.autograd.grad(f(bad).sum(), bad)[0] for f in (compiled, _factor))
        assert found.tolist() == expected.tolist()


def test_a_failure_that_nobody_catches_is_told_by_the_operation():
    compiled = T.compile(lambda a: T.linalg.cholesky(a))
    compiled(T.eye(2))
    with pytest.raises(T.linalg.LinAlgError, match="not positive-definite"):
        compiled(-T.eye(2))
    with pytest.raises(T.linalg.LinAlgError, match="not positive-definite"):
        T.compile(lambda a: T.linalg.cholesky(a))(-T.eye(2))


def test_arguments_and_parameters_that_a_result_does_not_depend_on_have_no_gradient_in_it():
    weight, bias = T.full((2,), 3.0, requires_grad=True), T.ones(2, requires_grad=True)

    def parts(a, b):
        return [a.sum(), (a**2 * b).sum(), (weight * b).sum(), bias.sum()]

    compiled = T.compile(parts)
    a, b = T.full((2,), 5.0, requires_grad=True), T.full((2,), 7.0, requires_grad=True)
    leaves = [a, b, weight, bias]
    for k in range(4):
        found, expected = (
            T.autograd.grad(f(a, b)[k], leaves, allow_unused=True) for f in (compiled, parts)
        )
        assert [g if g is None else g.tolist() for g in found] == [
            g if g is None else g.tolist() for g in expected
        ]
    with pytest.raises(RuntimeError, match="not have been used in the graph"):
        T.autograd.grad(compiled(a, b)[0], [a, b])
    (first,) = T.autograd.grad(compiled(a, b)[1], a, create_graph=True)
    assert T.autograd.grad(first.sum(), b)[0].tolist() == [10.0, 10.0]
    found, expected = (T.autograd.grad(sum(f(a, b)), leaves) for f in (compiled, parts))
    assert [g.tolist() for g in found] == [g.tolist() for g in expected]


@pytest.mark.parametrize("points", [(), "x"])
def test_a_result_that_is_asked_to_keep_its_gradient_does(points):
    weight = T.full((2,), 3.0, requires_grad=True)

    def function(x):
        y = x * weight
        y.retain_grad()
        return y, y.sum()

    compiled = T.compile(function, points=points)
    for _ in range(2):
        y, _ = compiled(T.ones(7, 2))
        (y**2).sum().backward()
        assert y.retains_grad and y.grad.tolist() == [[6.0, 6.0]] * 7


def test_what_no_points_at_all_give():
    for function in (lambda x: T.ones(()) * 3, lambda x: x.sum(), lambda x: (x * 2, x.sum() * 2)):
        compiled = T.compile(function, points="x")
        for count in (0, 4, 0):
            found, expected = compiled(T.ones(count, 2)), function(T.ones(count, 2))
            pairs = zip(found, expected, strict=True) if isinstance(found, tuple) else [
                (found, expected)
            ]  # fmt: skip
            assert all(one.tolist() == other.tolist() for one, other in pairs)


# ---- numbers, texts and addresses of tensors


def test_numbers_of_tensors_from_around_are_read_anew_when_these_are_written_to():
    times, weight = T.tensor(3), T.tensor([2.0])

    def power(x):
        for _ in range(int(times)):
            x = x * float(weight.sum()) + T.tensor(0.5).item()
        return x.sum() if (weight > 1).all() else -x.sum()

    compiled, x = T.compile(power), T.tensor([1.0, 3.0], requires_grad=True)
    changes = [
        lambda: None, lambda: weight.fill_(0.5), lambda: times.fill_(2),
        lambda: weight.data.fill_(4.0), lambda: weight.numpy().fill(-1.5),
    ]  # fmt: skip
    for change in changes:
        change()
        close([compiled(x).item()], [power(x).item()])
        close(T.grad(compiled(x), x), T.grad(power(x), x))


@pytest.mark.parametrize("read", [lambda p: p, lambda p: p.detach(), lambda p: 2 * p.data])
def test_numbers_of_parameters_are_refused(read):
    p = T.tensor(2.0, requires_grad=True)
    with pytest.raises(T.TraceError, match=r"item\(\) of a Tensor inside a recorded step"):
        T.compile(lambda x: x.sum() * float(read(p)))(T.ones(3))


def test_the_text_of_what_is_recorded_has_no_values():
    told, p, fixed = [], T.tensor(2.0, requires_grad=True), T.tensor(3.0)

    def loss(x):
        told.append((repr(2 * x), f"{x.sum()}", str(p), f"{fixed} {fixed:.2f}", str(fixed)))
        return (x * p).sum()

    T.compile(loss)(T.ones(2))
    for twice, total, parameter, *plain in told:
        for text, shape in ((twice, "[2]"), (total, "[]"), (parameter, "[]")):
            assert text.startswith("tensor(<recorded: no values") and f"shape={shape}" in text
        assert plain == ["3.0 3.00", "tensor(3.)"]
    with pytest.raises(T.TraceError, match="item"):
        T.compile(lambda x: x.sum() * float(f"{x.sum():.3f}"))(T.ones(2))


def test_addresses_are_refused():
    with pytest.raises(T.TraceError, match=r"data_ptr\(\) of a Tensor"):
        T.compile(lambda x: x.sum() * (x.data_ptr() % 64))(T.ones(2))


@pytest.mark.parametrize("read", [lambda w: w, lambda w: float(w)])
def test_a_gradient_at_other_numbers_of_what_is_frozen_is_refused(read):
    w, x = T.tensor(5.0), T.tensor([1.0, 2.0], requires_grad=True)
    compiled = T.compile(lambda x: x * read(w))
    y = compiled(x)
    w.fill_(7.0)
    with pytest.raises(RuntimeError, match="was written to.*after it was called"):
        y.sum().backward()
    close(T.grad(compiled(x).sum(), x), [T.full((2,), 7.0)])


def test_loops_that_differ_in_the_sign_of_a_zero_are_two():
    x = T.linspace(1.0, 2.0, 70, dtype=T.float64)
    compiled = T.compile(lambda x, z: ((x * z) * x).reciprocal())
    for z in (0.0, -0.0):
        np.testing.assert_array_equal(compiled(x, z).numpy(), np.copysign(np.inf, z))
