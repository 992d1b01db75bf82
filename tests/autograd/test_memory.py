"""Memory: linear in the points, flat over steps, and none where nothing is differentiated."""

from __future__ import annotations

import gc
import os
import platform
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import autograd as T
from autograd import memory, nn


@pytest.fixture
def model():
    T.manual_seed(0)
    layers = [nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 1)]
    return nn.Sequential(*layers).double()


@pytest.fixture
def tracing():
    gc.collect()
    tracemalloc.start()
    yield
    tracemalloc.stop()


def data(n):
    return T.tensor(np.random.default_rng(0).uniform(-1, 1, (n, 2)))


def residual(model, x, t):
    u = model(T.cat([x, t], 1))
    u_x, u_t = T.grad(u.sum(), [x, t], create_graph=True)
    (u_xx,) = T.grad(u_x.sum(), x, create_graph=True)
    return u_t + u * u_x - 0.01 * u_xx


def burgers_step(model, points):
    x, t = (points[:, k : k + 1].clone().requires_grad_() for k in range(2))
    loss = (residual(model, x, t) ** 2).mean()
    loss.backward()
    return loss.item()


def peak_of(work):
    gc.collect()
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    work()
    return tracemalloc.get_traced_memory()[1] - before


def test_peak_memory_of_u_xx_is_linear_in_the_points(model, tracing):
    def u_xx(n):
        X = data(n).requires_grad_()
        u = model(X)
        (first,) = T.grad(u.sum(), X, create_graph=True)
        T.grad(first[:, 0].sum(), X)

    peak_of(lambda: u_xx(10_000))  # what is compiled once counts to neither
    small, large = (peak_of(lambda n=n: u_xx(n)) for n in (10_000, 20_000))
    assert 1.8 * small <= large <= 2.2 * small


def test_peak_memory_of_a_training_step_is_linear_in_the_points(model, tracing):
    points = {n: data(n) for n in (10_000, 20_000)}
    peak_of(lambda: burgers_step(model, points[10_000]))
    small, large = (peak_of(lambda n=n: burgers_step(model, points[n])) for n in (10_000, 20_000))
    assert 1.8 * small <= large <= 2.2 * small


def test_backward_frees_as_it_goes(model, tracing):
    X = data(20_000)
    one_layer = 20_000 * 16 * 8

    def forward_and_backward():
        model(X).sum().backward()

    def forward_and_backward_retained():
        loss = model(X).sum()
        loss.backward(retain_graph=True)

    peak_of(forward_and_backward)
    assert peak_of(forward_and_backward) <= 7 * one_layer
    assert peak_of(forward_and_backward) <= peak_of(forward_and_backward_retained)


def test_a_thousand_training_steps_keep_memory_flat(model):
    points = data(100)
    optimizer = T.optim.Adam(model.parameters(), lr=1e-3)
    losses = np.zeros(1000)
    gc.disable()
    try:
        for step in range(1000):
            optimizer.zero_grad()
            losses[step] = burgers_step(model, points)
            optimizer.step()
            if step == 99:
                gc.collect()  # also empties the interpreter's lists of free objects
                blocks = sys.getallocatedblocks()
        assert gc.collect() == 0, "a step left a reference cycle"
        grown = sys.getallocatedblocks() - blocks
    finally:
        gc.enable()
    assert grown < 500, "the steps kept objects alive"
    assert losses[-1] < losses[0]


def test_results_keep_only_themselves_alive(tracing):
    x = T.tensor(np.ones(100_000))
    first = x.clone().requires_grad_()
    T.sin(T.exp(first) * first + 1).sum().backward()  # what is compiled once stays
    del first
    before = tracemalloc.get_traced_memory()[0]
    y = T.sin(T.exp(x) * x + 1).sum()
    assert tracemalloc.get_traced_memory()[0] - before < 10_000, "a subgraph without grads"
    x.requires_grad_()
    y = T.sin(T.exp(x) * x + 1).sum()
    assert tracemalloc.get_traced_memory()[0] - before > 2 * x.nbytes
    y.backward()
    x.grad = None
    assert tracemalloc.get_traced_memory()[0] - before < 10_000, "freed by backward"


def test_no_grad_keeps_nothing(model, tracing):
    X = data(20_000)
    with T.no_grad():
        peak_of(lambda: model(X))
        kept = tracemalloc.get_traced_memory()[0]
        u = model(X)
        assert tracemalloc.get_traced_memory()[0] - kept < u.nbytes + 10_000
    assert u.requires_grad is False


def test_a_frozen_part_saves_nothing(tracing):
    frozen, head = nn.Linear(50, 50).double(), nn.Linear(50, 1).double()
    frozen.requires_grad_(False)
    X = T.tensor(np.ones((20_000, 50)))
    features = T.tanh(frozen(X))
    before = tracemalloc.get_traced_memory()[0]
    loss = head(T.tanh(frozen(X))).sum()
    grown = tracemalloc.get_traced_memory()[0] - before
    assert grown <= features.nbytes + 20_000, "only what the head needs"
    loss.backward()
    assert head.weight.grad is not None


def printed(script, **environment):
    """Return the number that a script prints in a process whose malloc nobody has told anything."""
    names = ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "GLIBC_TUNABLES")
    inherited = {k: v for k, v in os.environ.items() if k not in names}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True,
        env={**inherited, **environment},
    )  # fmt: skip
    return int(done.stdout)


# How many MiB of the heap shall have large pages.
ADVISED = """
import re
import autograd
text = open("/proc/self/smaps").read()
parts = re.split(r"^(?=[0-9a-f]+-[0-9a-f]+ )", text, flags=re.MULTILINE)
heap = [part for part in parts if "[heap]" in part]
sizes = [int(re.search(r"Size: +([0-9]+) kB", part)[1]) for part in heap if " hg" in part]
print(sum(sizes) // 1024)
"""
_LARGE_PAGES = Path("/sys/kernel/mm/transparent_hugepage/enabled")


@pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc" or not _LARGE_PAGES.exists(),
    reason="neither glibc's heap nor Linux's large pages",
)
def test_the_heap_has_large_pages_unless_the_environment_sets_its_growth():
    assert printed(ADVISED) >= 254
    assert printed(ADVISED, MALLOC_TOP_PAD_="131072") == 0


# The page faults of making and dropping 160 arrays of 8 MB, once warm.
FAULTS = """
import resource
import numpy as np
import autograd

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(20):
        arrays = [np.ones(1_000_000) for _ in range(8)]
        del arrays
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

faults()
print(faults())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other allocators are left alone")
def test_arrays_made_again_take_the_pages_that_others_left():
    assert printed(FAULTS) < 100


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other allocators are left alone")
@pytest.mark.parametrize(
    "chosen",
    [{"MALLOC_TRIM_THRESHOLD_": "1000000"}, {"GLIBC_TUNABLES": "glibc.malloc.trim_threshold=9"}],
    ids=lambda chosen: next(iter(chosen)),
)
def test_limits_that_the_environment_sets_stay(chosen, monkeypatch):
    for name, value in chosen.items():
        monkeypatch.setenv(name, value)
    assert not memory.keep_freed_memory()
    assert printed(FAULTS, **chosen) > 1000
