"""Each pass on small programs: what it makes of them, and that the numbers stay."""

from __future__ import annotations

import numpy as np
import pytest

import autograd as T
from autograd.plan import NumpyExecutor, optimize, trace
from autograd.plan.passes.algebra import simplify
from autograd.plan.passes.common import share_common_subexpressions
from autograd.plan.passes.dead import remove_dead_code
from autograd.plan.passes.flags import fold_transposes
from autograd.plan.passes.fold import fold_constants
from autograd.plan.passes.lower import lower, lower_for

rng = np.random.default_rng(0)
A, B, W = rng.normal(size=(4, 3)), rng.normal(size=(4, 3)), rng.normal(size=(3, 5))


def recorded(fn, *arrays):
    return trace(fn, [T.tensor(a) for a in arrays])[0]


def names(program):
    return [i.op.name for i in program.instructions]


def replay(program, *arrays):
    executor = NumpyExecutor(program, [np.array(a) for a in arrays])
    executor.run()
    return [np.array(o) for o in executor.outputs]


def check(run, fn, arrays, before, after, exact=False):
    program = recorded(fn, *arrays)
    assert names(program) == before.split()
    changed = run(program)
    assert names(changed) == after.split()
    for got, want in zip(replay(changed, *arrays), replay(program, *arrays), strict=True):
        assert got.shape == want.shape and got.dtype == want.dtype
        if exact:
            np.testing.assert_array_equal(got, want)
        else:
            np.testing.assert_allclose(got, want, rtol=1e-14)


def test_dead_code_is_dropped():
    def fn(x):
        T.exp(x) + 1  # noqa: B018 - nobody reads it
        parts = T.unbind(x, dim=0)
        return [x * 2 + parts[1]]

    check(remove_dead_code, fn, [A], "exp add unbind mul add", "unbind mul add", exact=True)


@pytest.mark.parametrize(
    ("fn", "before", "after"),
    [
        (lambda x: [x + T.ones(3, dtype=T.float64) * 2], "mul add", "add"),
        (lambda x: [x * T.ones_like(x) + T.zeros_like(x)], "ones_like mul zeros_like add",
         "mul add"),
        (lambda x: [T.exp(T.arange(3).to(T.float64))], "to exp", ""),
        (lambda x: [x * 2 + 1], "mul add", "mul add"),
    ],
)  # fmt: skip
def test_what_depends_on_constants_alone_is_computed_once(fn, before, after):
    check(fold_constants, fn, [A], before, after, exact=True)


def zero(x):
    return T.zeros(4, 3, dtype=T.float64)


@pytest.mark.parametrize(
    ("fn", "before", "after"),
    [
        (lambda x: [T.exp(x * 1.0)], "mul exp", "exp"),
        (lambda x: [T.exp(1 * x)], "mul exp", "exp"),
        (lambda x: [T.exp(x * -1.0)], "mul exp", "neg exp"),
        (lambda x: [T.exp(x / 1.0)], "div exp", "exp"),
        (lambda x: [T.exp(x + 0.0)], "add exp", "exp"),
        (lambda x: [T.exp(x - 0.0)], "sub exp", "exp"),
        (lambda x: [T.exp(zero(x) + x)], "add exp", "exp"),
        (lambda x: [T.exp((-x).neg())], "neg neg exp", "neg exp"),
        (lambda x: [x + -T.exp(x)], "exp neg add", "exp neg sub"),
        (lambda x: [x - -T.exp(x)], "exp neg sub", "exp neg add"),
        (lambda x: [-(x - T.exp(x))], "exp sub neg", "exp sub sub"),
        (lambda x: [-(x * 2.0)], "mul neg", "mul mul"),
        (lambda x: [(x * 2.0) * 3.0], "mul mul", "mul mul"),
        (lambda x: [x * x], "mul", "square"),
        (lambda x: [x**2], "pow", "square"),
        (lambda x: [x**3], "pow", "square mul"),
        (lambda x: [T.exp(x**1)], "pow exp", "exp"),
        (lambda x: [T.exp(x.T.T)], "permute permute exp", "permute exp"),
        (lambda x: [x.T.reshape(12).reshape(2, 6)], "permute reshape reshape",
         "permute reshape reshape"),
        (lambda x: [T.exp(x.reshape(12).reshape(4, 3))], "reshape reshape exp", "reshape exp"),
        (lambda x: [T.stack(T.unbind(x, dim=0), dim=0) * 2], "unbind stack mul", "unbind mul"),
        (lambda x: [T.unbind(T.stack([x, 2 * x], dim=1), dim=1)[1] + 1], "mul stack unbind add",
         "mul stack add"),
        (lambda x: [x + T.exp(x[:1]).expand(4, 3)], "slice exp expand add",
         "slice exp expand add"),
    ],
)  # fmt: skip
def test_identities(fn, before, after):
    check(simplify, fn, [A], before, after)


def test_a_broadcast_is_read_through():
    program = simplify(recorded(lambda x, r: [x + r.expand(4, 3)], A, A[0]))
    assert names(remove_dead_code(program)) == ["add"]
    np.testing.assert_array_equal(replay(program, A, B[0])[0], A + B[0])


def test_the_sum_of_a_broadcast_is_a_multiple():
    def fn(r):
        r = r.detach().requires_grad_()
        return T.grad((r.expand(4, 3) * 1.0).sum(), r)

    program = optimize(recorded(fn, A[0]))
    assert "sum_to" not in names(program)
    np.testing.assert_array_equal(replay(program, A[0])[0], [4.0, 4.0, 4.0])


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: [x + 1.0, x * 2.0, x - T.zeros(4, 1, dtype=T.float64)],
        lambda x: [x[:1] + zero(x)],  # plus zero that broadcasts: the shape changes
        lambda x: [x[:1] * T.ones(4, 3, dtype=T.float64)],
        lambda x: [x.to(T.float32) * T.ones(4, 3, dtype=T.float64)],
        lambda x: [1.0 / x, 0.0 - x, 2.0**x],
        lambda x: [(x * 1e200) * 1e200, (x * 1e-200) * 1e-200],
    ],
)
def test_what_looks_like_an_identity_keeps_shape_dtype_and_value(fn):
    program = recorded(fn, A * 1e-30)
    for got, want in zip(
        replay(optimize(program), A * 1e-30), replay(program, A * 1e-30), strict=True
    ):
        assert got.shape == want.shape and got.dtype == want.dtype
        np.testing.assert_allclose(got, want, rtol=1e-14)


def test_numbers_do_not_overflow_when_they_are_gathered():
    program = recorded(lambda x: [(x * 1e-200) * 1e200 * 1e200, x * 1e-200 * 1e-200], A)
    for scale in (1.0, 1e-190, 1e300):
        for got, want in zip(
            replay(optimize(program), A * scale), replay(program, A * scale), strict=True
        ):
            np.testing.assert_allclose(got, want, rtol=1e-13)


@pytest.mark.parametrize(
    ("fn", "before", "after"),
    [
        (lambda x, y: [T.exp(x) + T.exp(x)], "exp exp add", "exp add"),
        (lambda x, y: [x * y - y * x], "mul mul sub", "mul sub"),
        (lambda x, y: [(x - y) * (y - x)], "sub sub mul", "sub sub mul"),
        (lambda x, y: [T.exp(x * y) + T.exp(y * x)], "mul exp mul exp add", "mul exp add"),
        (lambda x, y: [x[1:] + x[1:], x[:3] + y[1:]], "slice slice add slice slice add",
         "slice add slice slice add"),
        (lambda x, y: [x * T.tensor([1.0, 2.0, 3.0], dtype=T.float64)
                       + x * T.tensor([1.0, 2.0, 3.0], dtype=T.float64)], "mul mul add",
         "mul add"),
        (lambda x, y: [x.sum(0), x.sum(1), x.sum(0)], "sum sum sum", "sum sum"),
        (lambda x, y: [x * 0.0, x * -0.0], "mul mul", "mul mul"),
        (lambda x, y: [x * 1, x * True], "mul mul", "mul mul"),
    ],
)  # fmt: skip
def test_the_same_computation_is_done_once(fn, before, after):
    check(share_common_subexpressions, fn, [A, B], before, after, exact=True)


def test_signed_zeros_are_told_apart():
    program = optimize(recorded(lambda x: [1 / (x * 0.0), 1 / (x * -0.0)], np.ones(1)))
    assert [float(o[0]) for o in replay(program, np.ones(1))] == [np.inf, -np.inf]


@pytest.mark.parametrize(
    ("fn", "flags"),
    [
        (lambda x, w: [x @ w], (False, False)),
        (lambda x, w: [w.T @ x.T], (True, True)),
        (lambda x, w: [x.T.T @ w], (False, False)),
        (lambda x, w: [(x * 1.5) @ w.T.T], (False, False)),
        (lambda x, w: [x.T @ x], (True, False)),
        (lambda x, w: [x @ x.T], (False, True)),
    ],
)
def test_transposes_become_flags_of_the_product(fn, flags):
    program = recorded(fn, A, W)
    folded = remove_dead_code(fold_transposes(simplify(program)))
    assert "permute" not in names(folded)
    (product,) = (i for i in folded.instructions if i.op.name == "matmul")
    assert (product.attributes["transpose_x"], product.attributes["transpose_y"]) == flags
    np.testing.assert_allclose(replay(folded, A, W)[0], replay(program, A, W)[0], rtol=1e-13)


def test_a_batched_transpose_stays():
    x = rng.normal(size=(2, 3, 4))
    program = recorded(lambda x: [x @ x.mT], x)
    folded = fold_transposes(program)
    np.testing.assert_allclose(replay(folded, x)[0], x @ x.swapaxes(1, 2), rtol=1e-14)


def test_lowering_for_loops_that_choose_leaves_what_they_hold_alone():
    fn = lambda x, y: [  # noqa: E731
        (x.clamp(-0.5, 0.5) + T.nn.functional.gelu(y) + x.abs() ** 1.3).square().sum()
    ]
    program = lower(recorded(fn, A, B))
    held = {"lt", "le", "gt", "ge", "eq", "logical_and", "where", "pow", "erfc"}
    lowered = remove_dead_code(lower_for(held, program))
    assert {"pow", "erfc"} <= set(names(lowered)) and not {"gelu", "monomial"} & set(names(lowered))
    np.testing.assert_array_equal(replay(lowered, A, B)[0], replay(program, A, B)[0])
    kept = remove_dead_code(lower_for(held | {"gelu"}, program))
    assert "gelu" in names(kept)


def test_lowering_takes_operations_apart_into_ufuncs():
    def gradient(x):
        x = x.detach().requires_grad_()
        (g,) = T.grad(T.tanh(x).sum(), x, create_graph=True)
        return T.grad(g.sum(), x)

    program = recorded(gradient, A)
    lowered = remove_dead_code(lower(program))
    assert {"tanh_slope", "tanh_derivative"} & set(names(program))
    assert not {"tanh_slope", "tanh_derivative"} & set(names(lowered))
    np.testing.assert_array_equal(replay(lowered, A)[0], replay(program, A)[0])


@pytest.mark.parametrize("name", ["tanh", "sin", "exp", "sigmoid", "erf", "log1p", "sqrt", "atan"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_lowering_keeps_the_bits_of_derivatives(name, dtype):
    def derivatives(x):
        y = getattr(T, name)(x.detach().requires_grad_())
        x = y.grad_fn.next_functions[0][0].variable
        found = [y]
        for _ in range(4):
            found += T.grad(found[-1].sum(), x, create_graph=True)
        return found

    points = rng.uniform(0.2, 1.5, (4, 3)).astype(dtype)
    program = recorded(derivatives, points)
    for got, want in zip(replay(lower(program), points), replay(program, points), strict=True):
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)


def test_a_layer_is_a_product_and_a_sum():
    program = lower(recorded(lambda x, w: [T.nn.functional.linear(x, w.T, w[0])], A, W))
    assert names(program)[-2:] == ["matmul", "add"]


def test_debugging_prints_the_program_before_and_after_each_pass(monkeypatch, capsys):
    program = recorded(lambda x: [T.exp(x * 1.0) @ x.T], A)
    optimize(program)
    assert capsys.readouterr().err == ""
    monkeypatch.setenv("AUTOGRAD_DEBUG", "1")
    optimize(program)
    text = capsys.readouterr().err
    for title in ("recorded", "after dead code", "after lowering", "after constants",
                  "after algebra", "after common subexpressions", "after transposes"):  # fmt: skip
        assert f"{title}\nprogram: " in text
    first, last = text.split("program: ")[1], text.split("program: ")[-1]
    assert first.startswith("4 instructions,") and last.startswith("2 instructions,")
    assert "MB written" in first and "Mflop" in first
