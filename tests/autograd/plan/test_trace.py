"""Recording: what a program holds, and each hazard of trace and replay."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest

import autograd as T
from autograd import modes
from autograd.plan import NumpyExecutor, TraceError, find_not_finite, optimize, trace

rng = np.random.default_rng(0)
A, B = rng.normal(size=(4, 3)), rng.normal(size=(4, 3))


def recorded(fn, *arrays):
    return trace(fn, [T.tensor(a) for a in arrays])[0]


def replay(program, *arrays):
    executor = NumpyExecutor(program)
    for target, source in zip(executor.inputs, arrays, strict=True):
        target[...] = source
    executor.run()
    return [np.array(o) for o in executor.outputs]


def check(fn, first, then, rtol=1e-13):
    """Record on the first inputs, replay on others, and compare with running it eagerly."""
    program = recorded(fn, *first)
    expected = [r.detach().numpy() for r in fn(*(T.tensor(a) for a in then))]
    for version in (program, optimize(program)):
        for got, want in zip(replay(version, *then), expected, strict=True):
            assert got.shape == want.shape and got.dtype == want.dtype
            np.testing.assert_allclose(got, want, rtol=rtol, atol=1e-14)


# ---- what works


def gradient_of_a_custom_function(x):
    class Wave(T.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return T.sin(x) * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * (T.cos(x) * x + T.sin(x))

    x = x.detach().requires_grad_()
    y = Wave.apply(x)
    return [y, *T.grad((y * y).sum(), x, create_graph=True)]


def higher_gradient(x):
    x = x.detach().requires_grad_()
    (g,) = T.grad((T.tanh(x) * x).sum(), x, create_graph=True)
    return T.grad((g * g).sum(), x)


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: [x],
        lambda x: [x, x],
        lambda x: [x[1:, :2], x[1], x.T.reshape(-1), x.detach()],
        lambda x: [x.to(T.float64) * 2, x.contiguous() + 1, x[:]],
        lambda x: [T.tensor(2.0, dtype=T.float64), x.sum()],
        lambda x: [(x**0).sum(), (x * 0 + 1).sum(), x**1],
        lambda x: [T.where(x > 0, x, 0.5 * x), T.clamp(x, -0.1, 0.1)],
        lambda x: [T.gather(x, 1, T.argsort(x, dim=1)), T.index_select(x, 0, T.argsort(x[:, 0]))],
        lambda x: [T.sort(x, dim=1)[0], T.max(x, dim=1)[0], T.argmax(x, dim=0)],
        lambda x: [x[[2, 0]], x[:, T.tensor([1, 1])], x[T.tensor([True, False, True, False])]],
        lambda x: [T.linalg.norm(x), T.linalg.det(x.T @ x), T.einsum("ij,kj->ik", x, x)],
        lambda x: T.split(x, 2, dim=0),
        lambda x: [(x > 0) & (x < 1), T.isfinite(x)],
        lambda x: [T.checkpoint(lambda y: T.sin(y) * y, x)],
        gradient_of_a_custom_function,
        higher_gradient,
    ],
)
def test_a_replay_on_other_inputs_equals_running_it_again(fn):
    check(fn, [A], [B])


TABLE = T.tensor(rng.normal(size=(5, 4, 3)))
LOOK_UPS = [
    lambda t, i, j: t[i],
    lambda t, i, j: t[i, j],
    lambda t, i, j: t[i, j, j],
    lambda t, i, j: t[i, :],
    lambda t, i, j: t[:, i],
    lambda t, i, j: t[..., i, j],
    lambda t, i, j: t[i, ..., j],
    lambda t, i, j: t[i, :, j],
    lambda t, i, j: t[i, None],
    lambda t, i, j: t[None, i, None, j],
    lambda t, i, j: t[i, 1:3],
    lambda t, i, j: t[::2, i],
    lambda t, i, j: t[2, i],
    lambda t, i, j: t[i, 0],
    lambda t, i, j: t[0, :, j],
    lambda t, i, j: t[-i - 1, j - 3],
    lambda t, i, j: t[i, [0, 1, 2, 3]],
    lambda t, i, j: t[i[:, None], T.tensor([2, 0])],
    lambda t, i, j: t[i[:2], T.tensor([True, False, True, False])],
    lambda t, i, j: t[True, i],
    lambda t, i, j: t[i[0]],
    lambda t, i, j: t[i[0], 1],
    lambda t, i, j: t[:, i[0], j],
    lambda t, i, j: t[i[0], :, j],
    lambda t, i, j: t[i[0], :, j[0]],
    lambda t, i, j: t[i.to(T.int32), j],
    lambda t, i, j: T.index_select(t, 1, i),
    lambda t, i, j: T.take(t, 3 * i - 1),
    lambda t, i, j: T.gather(t[0], 1, j[:, None]),
    lambda t, i, j: T.take_along_dim(t[0], j[:, None] - 3, 1),
    lambda t, i, j: T.take_along_dim(t, i),
]


@pytest.mark.parametrize("look_up", LOOK_UPS)
def test_positions_may_be_computed(look_up):
    """Each as the eager run has it, with its gradient in the table."""

    def fn(x):
        table = TABLE.detach().requires_grad_()
        i = T.argsort(x[:, 0])
        found = look_up(table, i, i % 3)
        return [found, T.grad((found * T.sin(found)).sum(), table)[0]]

    check(fn, [A], [B])


def test_computed_positions_out_of_range_are_refused_at_a_replay():
    compiled = T.compile(lambda i, j: TABLE[i, :, j])
    inside = T.tensor([4, -5]), T.tensor([2, -3])
    np.testing.assert_array_equal(compiled(*inside), TABLE.numpy()[[4, 0], :, [2, 0]])
    with pytest.raises(IndexError, match="index 3 is out of bounds for dimension 2 with size 3"):
        compiled(T.tensor([4, -5]), T.tensor([3, 0]))
    with pytest.raises(IndexError, match="index -6 is out of bounds for dimension 0 with size 5"):
        compiled(T.tensor([4, -6]), T.tensor([2, 0]))


def test_both_dtypes_and_mixtures_replay():
    check(lambda x, y: [x * 2, x * y, (x @ y.T.to(T.float32)).sum()],
          [A.astype("f4"), A], [B.astype("f4"), B], rtol=1e-6)  # fmt: skip


def test_constants_are_frozen_as_they_were():
    k = T.tensor(A)
    program = recorded(lambda x: [x * k, (k * 2).sum() + x], B)
    assert program.is_current()
    expected = [B * A, 2 * A.sum() + B]
    k.mul_(3)
    assert not program.is_current() and not optimize(program).is_current()
    for version in (program, optimize(program)):
        for got, want in zip(replay(version, B), expected, strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-14)


def test_other_memory_of_a_constant_is_noticed():
    k = T.tensor(A)
    program = recorded(lambda x: [x * k], B)
    k.data = T.tensor(B)
    assert not program.is_current()


def test_a_temporary_does_not_make_a_program_outdated():
    program = recorded(lambda x: [x * T.ones(4, 3, dtype=T.float64) + T.arange(3)], B)
    assert program.is_current()


def test_views_of_inputs_follow_them():
    def fn(x):
        row, flat = x[1], x.reshape(-1)
        return [row * 2 + x, flat[::2] - flat[1::2], x.T @ x]

    check(fn, [A], [B])


def test_inputs_that_are_not_contiguous_are_read_at_each_run():
    base = np.array(A.T)
    program = optimize(recorded(lambda x: [x.reshape(-1) * 1.5, x.reshape(3, 4).T], A))
    executor = NumpyExecutor(program, [base.T])
    for values in (A, B):
        base.T[...] = values
        executor.run()
        np.testing.assert_allclose(executor.outputs[0], values.reshape(-1) * 1.5)
        np.testing.assert_allclose(executor.outputs[1], values.reshape(3, 4).T)


def test_wrong_arrays_are_refused_by_name():
    program = trace(lambda x: [x * 2], [T.tensor(A)], ["points"])[0]
    with pytest.raises(ValueError, match=r"input 'points': expected an array \[4, 3\] float64"):
        NumpyExecutor(program, [A[:2]])
    with pytest.raises(ValueError, match="got .* float32"):
        NumpyExecutor(program, [A.astype("f4")])


# ---- what is refused


def grad_of(fn):
    def run(x):
        x = (x * 1).detach().requires_grad_()
        fn(x)
        return [x * 2]

    return run


def looks(fn):
    return lambda x: [x * fn(x)]


@pytest.mark.parametrize(
    ("fn", "what"),
    [
        (looks(lambda x: 2.0 if x.sum() > 0 else 1.0), r"bool\(\)"),
        (looks(lambda x: x.sum().item()), r"item\(\)"),
        (looks(lambda x: float(x.sum())), r"item\(\)|float\(\)"),
        (looks(lambda x: int(x.sum())), r"item\(\)|int\(\)"),
        (looks(lambda x: x.sum().tolist()), r"tolist\(\)"),
        (looks(lambda x: T.tensor(x.detach().numpy())), r"numpy\(\)"),
        (looks(lambda x: T.tensor(np.asarray(x))), r"numpy\(\)"),
        (looks(lambda x: [1.0, 2.0][T.argmax(x.sum(0)) * 0]), r"index\(\)"),
        (lambda x: [x[x > 0]], "an index computed from the inputs"),
        (lambda x: [T.masked_select(x, x > 0)], "an index computed from the inputs"),
        (lambda x: [T.where(x > 0)[0]], "an index computed from the inputs"),
        (lambda x: [T.nonzero(x > 0)], "nonzero, a result whose shape depends on values,"),
        (lambda x: [T.unique(x)], "unique, a result whose shape depends on values,"),
    ],
)
def test_looking_at_values_is_refused(fn, what):
    with pytest.raises(TraceError, match=f"({what}).*would be frozen.*where, clamp.*eager"):
        recorded(fn, A)
    assert modes.state.tracer is None


def setitem(x):
    y = x * 1
    row = y[0]
    row[0] = x[1, 0]
    return [y]


def optimizer_step(x):
    p = T.nn.Parameter(T.ones(3, dtype=T.float64))
    p.grad = T.ones(3, dtype=T.float64)
    T.optim.SGD([p], lr=0.1).step()
    return [x * p]


def detached_before(x, other):
    y = x * 1
    old = other(y)
    y += 1
    return [old * y]


OUTSIDE = T.zeros(4, 3, dtype=T.float64)


def viewed_before(x):
    y = x * 1
    row = y[0]
    y += 1
    return [row * y]


def dirty_function(x):
    class Double(T.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(2)

    return [Double.apply(x)]


@pytest.mark.parametrize(
    ("fn", "what"),
    [
        (lambda x: [x.mul_(2)], "writing in place into an argument"),
        (lambda x: [(x * 1)[0].zero_()], "a view or what has views"),
        (lambda x: [(x * 1).reshape(-1).add_(1)], "a view or what has views"),
        (viewed_before, "a view or what has views"),
        (lambda x: detached_before(x, T.Tensor.detach), "a view or what has views"),
        (lambda x: detached_before(x, lambda y: y.data), "a view or what has views"),
        (lambda x: detached_before(x, lambda y: T.nn.Parameter(y.detach())), "has views"),
        (lambda x: [OUTSIDE.add_(x)], "a tensor from outside"),
        (setitem, "writing in place"),
        (dirty_function, "writing in place"),
        (lambda x: [x * T.nn.init.constant_(T.ones(3, dtype=T.float64), 2)], "writing into"),
        (grad_of(lambda x: (x * x).sum().backward()), r"filling .grad, as backward\(\) does,"),
        (optimizer_step, "a step of an optimizer"),
        (lambda x: [x + T.rand(4, 3, dtype=T.float64)], "drawing random numbers"),
        (lambda x: [x + T.randn_like(x)], "drawing random numbers"),
        (lambda x: [x * T.bernoulli(T.full((4, 3), 0.5, dtype=T.float64))], "random numbers|numpy"),
        (lambda x: [x[T.randperm(4)]], "drawing random numbers"),
    ],
)
def test_what_would_happen_only_once_is_refused(fn, what):
    with pytest.raises(TraceError, match=what):
        recorded(fn, A)


def test_the_error_of_a_write_says_what_to_do():
    with pytest.raises(TraceError) as caught:
        recorded(lambda x: [x.add_(x)], A)
    assert str(caught.value) == (
        "writing in place into an argument, a tensor from outside, a view or what has views inside "
        "a recorded step would happen now and never at a replay. Use the out-of-place operation "
        "(where, cat, stack), or write into a clone(), or run it without a recording: without "
        "autograd.compile, and with `engine: eager` in a config of pinn"
    )


def test_drawing_is_refused_before_the_stream_moves():
    T.manual_seed(3)
    before = T.get_rng_state().tolist()
    with pytest.raises(TraceError):
        recorded(lambda x: [x + T.rand(4, 3, dtype=T.float64)], A)
    assert T.get_rng_state().tolist() == before


def test_duplicate_inputs_are_refused_by_name():
    x = T.tensor(A)
    with pytest.raises(TraceError, match="input 'b' is the same array as another input; pass a"):
        trace(lambda a, b: [a + b], [x, x], ["a", "b"])


def test_recordings_do_not_nest_and_leave_nothing_behind():
    def inner(x):
        trace(lambda y: [y], [T.tensor(B)])
        return [x]

    with pytest.raises(TraceError, match="do not nest"):
        recorded(inner, A)
    assert modes.state.tracer is None
    (T.tensor(A) * 1).add_(1)  # and everything is allowed again


def test_recordings_of_two_threads_do_not_meet():
    import threading

    both = threading.Barrier(2, timeout=10)
    found = {}

    def work(name, factor):
        def fn(x):
            both.wait()
            y = x * factor
            both.wait()
            return [y + factor]

        found[name] = recorded(fn, A)

    threads = [threading.Thread(target=work, args=(k, float(k))) for k in (2, 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k in (2, 3):
        assert len(found[k].instructions) == 2
        np.testing.assert_allclose(replay(found[k], B)[0], B * k + k)


# ---- what a program tells


def test_a_program_prints_its_instructions_and_its_work():
    text = str(trace(lambda x, w: [T.tanh(x @ w)], [T.tensor(A), T.tensor(A.T)], ["x", "w"])[0])
    lines = text.splitlines()
    assert lines[0].startswith("program: 2 instructions, 0.000 MB written")
    assert lines[1] == "  inputs $1:x [4, 3], $2:w [3, 4]"
    assert lines[2].startswith("  %3 = matmul($1:x, $2:w") and lines[2].endswith("[4x4]")
    assert lines[-1] == "  outputs %4"


def test_the_work_counts_products_in_full():
    written, operations = recorded(lambda x, w: [x @ w + 1.0], A, A.T).work()
    assert written == 2 * 16 * 8
    assert operations == 2 * 4 * 4 * 3 + 16


def test_the_first_operation_that_is_not_finite_is_named():
    program = recorded(lambda x: [T.exp(T.log(x) * 2) + 1], np.abs(A))
    assert find_not_finite(program, [np.abs(A)]) is None
    assert find_not_finite(program, [-np.abs(A)]) == "log"
    assert find_not_finite(program, [np.full((4, 3), np.inf)]) == "log"
    assert find_not_finite(program, [np.full((4, 3), 1e200)]) == "exp"


# ---- what is caught by others


def swallowed_by_numpy(x):
    return [x * 2 if np.array_equal(x, A) else x]


def swallowed_by_the_function(x):
    with suppress(Exception):
        return [x * float(x.sum())]
    return [x]


def swallowed_write(x):
    try:
        x.mul_(2)
    except RuntimeError:
        pass
    return [x]


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (swallowed_by_numpy, "numpy.. of a Tensor inside a recorded step"),
        (swallowed_by_the_function, "item.. of a Tensor inside a recorded step"),
        (swallowed_write, "would happen now and never at a replay"),
    ],
)
def test_a_refusal_that_is_caught_is_raised_at_the_end(function, said):
    with pytest.raises(TraceError, match=said):
        recorded(function, A)
    assert modes.state.tracer is None


def test_a_failure_of_shapes_may_be_caught():
    def function(x, w):
        try:
            return [x @ w]
        except RuntimeError:
            return [x @ w.T]

    np.testing.assert_allclose(replay(recorded(function, A, B), A, B)[0], A @ B.T)


def test_an_operation_that_fails_for_these_numbers_may_not_be_caught():
    def function(x):
        try:
            return [T.linalg.inv(x)]
        except T.linalg.LinAlgError:
            return [x]

    with pytest.raises(TraceError, match="linalg_inv.* failed inside a recorded step"):
        recorded(function, np.zeros((2, 2)))
    with pytest.raises(T.linalg.LinAlgError):
        recorded(lambda x: [T.linalg.inv(x)], np.zeros((2, 2)))
