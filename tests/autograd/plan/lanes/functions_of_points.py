"""Functions of points that tiles hold, for all processors to agree on."""

from __future__ import annotations

import numpy as np

import autograd as T
from autograd.plan.chunks import Chunked

_SHAPES = [(6, 3), (6,), (5, 6), (5,), (1, 5), (1,)]


def parameters(dtype="float64"):
    rng = np.random.default_rng(1)
    return [T.tensor(rng.normal(size=s).astype(dtype), requires_grad=True) for s in _SHAPES]


def rows_of(count, dtype="float64"):
    rng = np.random.default_rng(count)
    x, y = rng.normal(size=(count, 2)), rng.normal(size=(count, 1))
    return [x.astype(dtype), y.astype(dtype), np.ones((count, 1), dtype)]


def network(p, x, y):
    linear = T.nn.functional.linear
    hidden = T.tanh(linear(T.cat([x, y], dim=1), p[0], p[1]))
    return linear(T.sin(linear(hidden, p[2], p[3])), p[4], p[5]).reshape(-1)


def everything(p):
    """A sum, a gradient of a second derivative's square, rows, and each row's gradient."""

    def fn(rows):
        x, y, seed = rows
        y = y.detach().requires_grad_()
        u = network(p, x, y)
        (slope,) = T.grad(u, [y], T.ones_like(u), create_graph=True)
        residual = u * slope.reshape(-1) - 0.3
        total = (residual * residual).sum()
        gradient = T.grad(total, p, retain_graph=True)
        shares = T.grad(u, p, seed.reshape(-1))
        return [
            total,
            T.cat([g.reshape(-1) for g in gradient]),
            u.detach(),
            T.cat([g.reshape(-1) for g in shares]),
        ]

    return fn, ["sum", "sum", "rows", "per_row"]


def step_of(p, executor="llvm", **options):
    fn, kinds = everything(p)
    return Chunked(fn, p, kinds, executor=executor, **options)


def random_function(seed, moved=list):
    """Return parameters, which `moved` may move elsewhere, and a function of points and them."""
    rng = np.random.default_rng(seed)
    shapes = [(4, 4), (4,), (1,), (1, 4)]
    p = moved([T.tensor(rng.uniform(-1, 1, s), requires_grad=True) for s in shapes])
    choices = rng.integers(0, 12, size=12), rng.integers(0, 1 << 30, size=(12, 2))

    def fn(rows):
        values = [rows[0], rows[0] * 0.5]
        for kind, picks in zip(*choices, strict=True):
            a, b = (values[k % len(values)] for k in picks)
            values.append(_random_step(int(kind), a, b, p))
        full = values[-1] + values[-2] * values[-3]
        total = (full * full).sum()
        gradients = T.grad(total, p, retain_graph=True, materialize_grads=True)
        return [total, T.cat([g.reshape(-1) for g in gradients]), full.detach()]

    return p, fn


def _random_step(kind, a, b, p):
    steps = [
        lambda: a @ p[0],
        lambda: T.tanh(a) + p[1],
        lambda: a * b * 0.5,
        lambda: a - b * p[2],
        lambda: T.sin(a) * p[3],
        lambda: T.cat([a[:, 2:], b[:, :2]], dim=1),
        lambda: T.stack([a, b], dim=0).sum(dim=0) * 0.3,
        lambda: T.exp(-a.square()),
        lambda: a.sum(dim=1, keepdim=True) * b * 0.2,
        lambda: (a.square() + 1.0).sqrt() - b,
        lambda: a / (b.square() + 1.0),
        lambda: T.nn.functional.linear(T.tanh(a), p[0], p[1]),
    ]
    return steps[kind]()


def _scores(p, x):
    """Return six numbers a point, of both signs."""
    return T.nn.functional.linear(T.cat([x, x[:, :1]], dim=1), p[0], p[1])


def _slope(p, x):
    y = x.detach().requires_grad_()
    u = network(p, y, y[:, :1] * 0.5)
    return T.grad(u.sum(), y, create_graph=True)[0]


_F = T.nn.functional
ALONG_NUMBERS = {
    "norm of a gradient": lambda p, x: (_slope(p, x).norm(dim=1) - 1.0) ** 2,
    "norm of any order": lambda p, x: T.linalg.vector_norm(_scores(p, x), 3, 1, True),
    "softmax": lambda p, x: _F.softmax(_scores(p, x), 1) * T.sin(_scores(p, x)),
    "log_softmax": lambda p, x: _F.log_softmax(_scores(p, x), 1),
    "logsumexp": lambda p, x: T.logsumexp(_scores(p, x), 1),
    "amax": lambda p, x: T.amax(_scores(p, x), 1) * T.amin(_scores(p, x), 1, True)[:, 0],
    "ties": lambda p, x: T.amax(T.nn.functional.relu(_scores(p, x)), 1),
    "prod": lambda p, x: _scores(p, x).prod(1),
    "cumsum": lambda p, x: T.cumsum(_scores(p, x), 1) ** 2,
    "cumprod": lambda p, x: T.cumprod(_scores(p, x), 1),
    "var": lambda p, x: _scores(p, x).var(1),
    "std": lambda p, x: _scores(p, x).reshape(-1, 2, 3).std((1, 2), correction=0),
    "layer_norm": lambda p, x: T.sin(_F.layer_norm(_scores(p, x), (6,))),
    "cross": lambda p, x: T.linalg.cross(_scores(p, x)[:, :3], _scores(p, x)[:, 3:], dim=1),
    "roll": lambda p, x: T.roll(_scores(p, x), 2, 1) * _scores(p, x),
    "flip": lambda p, x: _scores(p, x).flip(1) * _scores(p, x),
    "matrix times vector": lambda p, x: _scores(p, x).reshape(-1, 3, 2) @ x.unsqueeze(-1),
    "matrices": lambda p, x: (
        _scores(p, x).reshape(-1, 3, 2) @ T.sin(_scores(p, x)).reshape(-1, 2, 3)
    ),
    "quadratic form": lambda p, x: T.einsum(
        "ni,ij,nj->n", _scores(p, x), p[2].T @ p[2], T.cos(_scores(p, x))
    ),
    "one matrix for stacks": lambda p, x: _scores(p, x).unsqueeze(1) @ p[2].T.unsqueeze(0),
    "matrices joined": lambda p, x: T.sin(_scores(p, x)) @ T.cat([p[2].T, -p[2].T], 1),
    "a batch of matrices": lambda p, x: T.sin(
        T.cat([x, x], 1)[:, :3] @ T.stack([p[0].T, p[0].T.cos()]) + p[1]
    ).transpose(0, 1),
    "relu": lambda p, x: _F.relu(_scores(p, x)) - _F.leaky_relu(_scores(p, x), 0.1),
    "gelu": lambda p, x: _F.gelu(_scores(p, x)),
    "clamp": lambda p, x: _scores(p, x).clamp(-0.4, 0.7) ** 2,
    "huber": lambda p, x: _F.huber_loss(_scores(p, x), x[:, :1].expand(-1, 6), reduction="none"),
}
"""Functions of a point's own numbers, (points, ...), that are written out for tiles."""


def chosen(rows):
    """Where a point says so its number, else the square; and the sum of these."""
    x, mask = rows
    found = T.where(mask, x.sin(), x * x)
    return [found.sum(), found]


def rows_with_yes_and_no(count):
    x = np.random.default_rng(count).normal(size=(count, 2))
    return [x, x > 0.2]
