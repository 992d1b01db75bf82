"""Properties that hold on every graph: random programs of operations, drawn by hypothesis."""

from __future__ import annotations

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import autograd as T
from autograd.forward import push

settings.register_profile(
    "graphs",
    derandomize=True,
    deadline=None,
    max_examples=100,
    database=None,
    suppress_health_check=list(HealthCheck),
)
graphs = settings.get_profile("graphs")

SHAPE = (2, 3)

UNARY = {
    "neg": lambda a: -a,
    "sin": T.sin,
    "exp": lambda a: T.exp(a * 0.25),
    "tanh": T.tanh,
    "square": lambda a: a * a,
    "sigmoid": T.sigmoid,
    "rational": lambda a: a / (a * a + 2.0),
    "softplus": lambda a: T.log(1.0 + T.exp(T.tanh(a))),
    "root": lambda a: T.sqrt(a * a + 0.5),
    "turned": lambda a: a.T.reshape(*SHAPE),
    "flipped": lambda a: T.flip(a, (0, 1)),
    "row": lambda a: a[0:1].expand(*SHAPE),
    "columns": lambda a: T.cat([a[:, 1:], a[:, :1]], 1),
    "total": lambda a: a - a.sum(),
    "mean": lambda a: a * a.mean(1, keepdim=True),
    "mixed": lambda a: (a @ a.T) @ T.tanh(a),
    "softmax": lambda a: T.softmax(a, 1),
}
IN_PLACE = {  # not in forward mode, which follows values and not memory
    "in place": lambda a: (a * 1.5).mul_(T.sin(a)),
    "written": lambda a: _write_row(a * 1.0),
}
BINARY = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / (1.5 + b * b),
    "where": lambda a, b: T.where(T.tensor([[True, False, True]]), a, b),
    "matmul": lambda a, b: a @ T.tanh(b).T @ b,
}
SEVERING = {
    "detach": lambda a: a.detach(),
    "no grad": lambda a: T.no_grad()(T.sin)(a),
}
OPERATIONS = {**UNARY, **IN_PLACE, **BINARY, **SEVERING}


def _write_row(a):
    a[1] = T.cos(a[0].clone())
    a[:, 0].mul_(0.5)
    return a


@st.composite
def programs(draw, severing=False, in_place=True, leaves=2):
    """Return a list of (operation, indices of earlier values): a program on `leaves` inputs."""
    names = [*UNARY, *BINARY, *(IN_PLACE if in_place else ()), *(SEVERING if severing else ())]
    steps = []
    for position in range(draw(st.integers(1, 8))):
        name = draw(st.sampled_from(names))
        arity = 2 if name in BINARY else 1
        last = leaves + position - 1
        first = draw(st.sampled_from([last, draw(st.integers(0, last))]))
        steps.append((name, [first, *(draw(st.integers(0, last)) for _ in range(arity - 1))]))
    return steps


def run(program, *inputs):
    """Return every value of a program, inputs first."""
    values = list(inputs)
    for name, indices in program:
        values.append(OPERATIONS[name](*(values[k] for k in indices)))
    return values


def last(program):
    return lambda *inputs: run(program, *inputs)[-1]


def draw_values(seed, count, dtype=np.float64):
    rng = np.random.default_rng(seed)
    return [rng.uniform(-1, 1, SHAPE).astype(dtype) for _ in range(count)]


def draw_leaves(seed, flags=(True, True), dtype=np.float64):
    values = draw_values(seed, len(flags), dtype)
    return [T.tensor(v, requires_grad=f) for v, f in zip(values, flags, strict=True)]


seeds = st.integers(0, 2**16)


@settings(graphs)
@given(programs(severing=True, leaves=3), seeds, st.tuples(*[st.booleans()] * 3))
def test_flags_of_every_value(program, seed, flags):
    values = run(program, *draw_leaves(seed, flags))
    for position, value in enumerate(values):
        assert type(value.requires_grad) is bool and type(value.is_leaf) is bool
        assert value.is_leaf is ((not value.requires_grad) or value.grad_fn is None)
        assert value.is_leaf or value.requires_grad
        if position >= 3:
            name, indices = program[position - 3]
            records = name not in SEVERING and any(values[k].requires_grad for k in indices)
            assert value.requires_grad is records
            assert value.is_leaf is not records


@settings(graphs)
@given(programs(), seeds)
def test_vjp_is_linear(program, seed):
    leaves = draw_leaves(seed)
    y = last(program)(*leaves)
    v, w = draw_values(seed + 1, 2)

    def pulled(weights):
        result = T.grad(y, leaves, T.tensor(weights), retain_graph=True, materialize_grads=True)
        return [g.numpy() for g in result]

    for a, b, c in zip(pulled(v), pulled(w), pulled(2 * v - 3 * w), strict=True):
        scale = np.abs(a).max() + np.abs(b).max() + 1e-300
        np.testing.assert_allclose(c, 2 * a - 3 * b, rtol=1e-12, atol=1e-12 * scale)


@settings(graphs)
@given(programs(in_place=False), seeds)
def test_reverse_and_forward_mode_agree(program, seed):
    leaves = draw_leaves(seed)
    w, *tangents = draw_values(seed + 1, 3)
    y = last(program)(*leaves)
    pulled = T.grad(y, leaves, T.tensor(w), materialize_grads=True)
    value, pushed = push(last(program), leaves, [T.tensor(t) for t in tangents])
    assert value.tolist() == y.tolist()
    left = float(np.sum(w * pushed.detach().numpy()))
    right = sum(float(np.sum(g.numpy() * t)) for g, t in zip(pulled, tangents, strict=True))
    scale = sum(float(np.sum(np.abs(g.numpy() * t))) for g, t in zip(pulled, tangents, strict=True))
    np.testing.assert_allclose(left, right, rtol=1e-11, atol=1e-11 * scale + 1e-300)


@settings(graphs)
@given(programs(), seeds, st.sampled_from(["float32", "float64"]))
def test_twice_gives_the_same_bits(program, seed, dtype):
    def bits():
        leaves = draw_leaves(seed, dtype=dtype)
        y = last(program)(*leaves)
        first = T.grad(y.sum(), leaves, create_graph=True, materialize_grads=True)
        total = sum((g * g).sum() for g in first)
        second = T.grad(total, leaves, materialize_grads=True) if total.requires_grad else ()
        assert all(g.dtype == dtype for g in (y, *first, *second))
        return [t.detach().numpy().tobytes() for t in (y, *first, *second)]

    assert bits() == bits()


@settings(graphs, max_examples=40)
@given(programs(), seeds)
def test_gradients_agree_with_finite_differences(program, seed):
    leaves = draw_leaves(seed)
    assert T.gradcheck(lambda *x: last(program)(*x).sum(1), leaves)


@settings(graphs, max_examples=40)
@given(programs(), seeds)
def test_second_derivatives_agree_with_finite_differences(program, seed):
    leaves = draw_leaves(seed)
    y = last(program)(*leaves)
    direction = draw_values(seed + 2, 2)
    first = T.grad(T.sin(y).sum(), leaves, create_graph=True, materialize_grads=True)
    along = sum((g * T.tensor(d)).sum() for g, d in zip(first, direction, strict=True))
    second = (
        T.grad(along, leaves, materialize_grads=True)
        if along.requires_grad
        else [T.zeros_like(x) for x in leaves]
    )

    def gradient_at(step):
        moved = [
            T.tensor(x.detach().numpy() + step * d, requires_grad=True)
            for x, d in zip(leaves, direction, strict=True)
        ]
        y = last(program)(*moved)
        return T.grad(T.sin(y).sum(), moved, materialize_grads=True)

    h = 1e-5
    for found, up, down in zip(second, gradient_at(h), gradient_at(-h), strict=True):
        expected = (up.numpy() - down.numpy()) / (2 * h)
        scale = max(1.0, np.abs(expected).max())
        np.testing.assert_allclose(found.detach().numpy(), expected, atol=1e-6 * scale, rtol=1e-5)


@settings(graphs)
@given(programs(), seeds)
def test_backward_fills_what_grad_returns(program, seed):
    leaves = draw_leaves(seed)
    y = last(program)(*leaves).sum()
    returned = T.grad(y, leaves, retain_graph=True, allow_unused=True)
    y.backward()
    for x, g in zip(leaves, returned, strict=True):
        assert (x.grad is None) is (g is None)
        assert g is None or g.tolist() == x.grad.tolist()
