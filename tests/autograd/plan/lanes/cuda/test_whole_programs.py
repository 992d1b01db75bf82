"""What is compiled without points is kernels of ours on a device, and gives the same numbers."""

from __future__ import annotations

import numpy as np
import pytest

import autograd as T
from autograd.plan.executors import tiled_executor
from autograd.strict import counted
from tests.autograd.plan.lanes.functions_of_points import network, parameters, rows_of

N, MORE = 150, 230


@pytest.fixture
def sets(monkeypatch) -> list[int]:
    """The numbers of rows that became kernels; negative for those that did not."""
    seen, make = [], tiled_executor.tiled_or_none

    def noted(tried, count):
        found = make(tried, count)
        seen.append(-count if found is None else count)
        return found

    monkeypatch.setattr(tiled_executor, "tiled_or_none", noted)
    return seen


def inside(p, x, y, wall):
    u = network(p, x, y)
    (slope,) = T.grad(u.sum(), y, create_graph=True)
    return ((slope[:, 0] * u - 0.3) ** 2).mean()


WAYS = {
    "alone": inside,
    "with a wall": lambda p, x, y, wall: inside(p, x, y, wall) + (network(p, *wall) ** 2).mean(),
    "root": lambda p, x, y, wall: inside(p, x, y, wall).sqrt() + network(p, *wall).mean().exp(),
    "rows": lambda p, x, y, wall: network(p, x, y) * (1.0 + network(p, *wall).mean()),
    "norm": lambda p, x, y, wall: network(p, x, y).norm() + 1.0,  # is not asked how large it is
    "sorted": lambda p, x, y, wall: (T.sort(network(p, x, y))[0] * x[:, 0]).sum(),
}


def results(fn, p, x, y, wall):
    value = fn(p, x, y, wall)
    seeds = T.linspace(0.5, 1.5, value.numel(), dtype=value.dtype, device=value.device)
    gradients = T.grad((value.reshape(-1) * seeds).sum(), [y, *p], materialize_grads=True)
    return [t.detach().cpu().numpy() for t in (value, *gradients)]


def given(device):
    p = [t.detach().to(device=device).requires_grad_() for t in parameters()]
    x, y = (T.tensor(r, device=device) for r in rows_of(N)[:2])
    wall = [T.tensor(r, device=device) for r in rows_of(MORE)[:2]]
    return p, x, y.requires_grad_(), wall


@pytest.mark.parametrize("name", WAYS)
def test_values_and_gradients_are_those_of_the_eager_run_on_the_host(gpu, sets, name):
    expected = results(WAYS[name], *given("cpu"))
    p, x, y, wall = given("cuda")
    compiled = T.compile(lambda x, y: WAYS[name](p, x, y, wall))
    for _ in range(2):
        found = results(lambda _, x, y, __: compiled(x, y), p, x, y, wall)
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=0, atol=1e-12 * np.abs(other).max())
    assert (-N in sets) == (name in ("norm", "sorted"))
    assert bool({N, MORE} & set(sets)) == (name not in ("norm", "sorted"))


def test_a_call_is_few_launches_and_asks_the_host_for_nothing(stand_in, sets):
    p, x, y, wall = given("cuda")
    compiled = T.compile(lambda x, y: WAYS["root"](p, x, y, wall))
    compiled(x, y)
    with counted() as counts:
        compiled(x, y)
    assert counts.launches <= 30
    assert (counts.uploads, counts.downloads, counts.synchronisations) == (0, 0, 0)
    with counted() as eager:
        T.grad(WAYS["root"](p, x, y, wall), [y, *p])
    assert eager.launches > 4 * counts.launches


def test_a_float_that_changes_is_one_upload(stand_in, sets):
    p, x, y, wall = given("cuda")

    def fn(x, y, w):
        return w * inside(p, x, y, wall) + (1 - w) * (network(p, *wall) ** 2).mean()

    compiled = T.compile(fn)
    for w in (0.5, 0.25):
        compiled(x, y, w)
    with counted() as counts:
        found = compiled(x, y, 0.75)
    assert (counts.uploads, counts.downloads, counts.synchronisations) == (1, 0, 0)
    np.testing.assert_allclose(found.item(), fn(x, y, 0.75).item(), rtol=1e-12)
