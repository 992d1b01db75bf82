"""Custom Functions: context, derivatives of any order, errors that name the Function."""

import gc
import threading
import weakref

import numpy as np
import pytest

import autograd as T
from autograd.autograd import Function, once_differentiable
from autograd.strict import strict_cuda

X = np.array([0.5, -1.5, 2.0])


class Cube(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 3 * x * x


class Exp(Function):
    """Saves its output."""

    @staticmethod
    def forward(ctx, x):
        y = T.exp(x)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * y


class ExpByAttribute(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.y = T.exp(x)
        return ctx.y

    @staticmethod
    def backward(ctx, g):
        return g * ctx.y


class Product(Function):
    @staticmethod
    def forward(ctx, x, y, power):
        ctx.save_for_backward(x, y)
        ctx.power = power
        return x**power * y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        p = ctx.power
        gx = g * p * x ** (p - 1) * y if ctx.needs_input_grad[0] else None
        gy = g * x**p if ctx.needs_input_grad[1] else None
        return gx, gy, None


class OnceCube(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 3 * x * x


def leaf(values=X):
    return T.tensor(np.array(values), requires_grad=True)


@pytest.mark.parametrize("function", [Cube, Exp, ExpByAttribute])
def test_derivatives_of_every_order_match_differences(function):
    assert T.gradcheck(function.apply, leaf(), 4)


def test_several_inputs_with_a_plain_number():
    x, y = leaf(np.abs(X)), leaf([1.0, 2.0, -3.0])
    assert T.gradcheck(lambda a, b: Product.apply(a, b, 3), (x, y), 2)
    out = Product.apply(x, y, 3)
    assert out.grad_fn.name() == "ProductBackward"
    assert [n is None for n, _ in out.grad_fn.next_functions] == [False, False, True]


def test_needs_input_grad_is_what_is_asked_for():
    seen = []

    class Seen(Function):
        @staticmethod
        def forward(ctx, x, y, z):
            seen.append(ctx.needs_input_grad)
            return x * y

        @staticmethod
        def backward(ctx, g):
            seen.append(ctx.needs_input_grad)
            return g, g, None

    x, y = leaf(), leaf()
    out = Seen.apply(x, y, T.ones(3))
    T.grad(out.sum(), y, retain_graph=True)
    Seen.apply(x, y.detach(), 3)[0].backward()
    assert seen == [
        (True, True, False),
        (False, True, False),
        (True, False, False),
        (True, False, False),
    ]


def test_nothing_is_recorded_without_need():
    assert Cube.apply(T.tensor(X)).grad_fn is None
    with T.no_grad():
        assert Cube.apply(leaf()).requires_grad is False


def test_forward_runs_without_recording():
    modes = []

    class Mode(Function):
        @staticmethod
        def forward(ctx, x):
            modes.append(T.is_grad_enabled())
            return x * 2

        @staticmethod
        def backward(ctx, g):
            modes.append(T.is_grad_enabled())
            return g * 2

    x = leaf()
    out = Mode.apply(x)
    T.grad(out.sum(), x, retain_graph=True)
    T.grad(out.sum(), x, create_graph=True)
    assert modes == [False, False, True]


def test_setup_context_form():
    class Square(Function):
        @staticmethod
        def forward(x, scale):
            return scale * x * x

        @staticmethod
        def setup_context(ctx, inputs, output):
            x, ctx.scale = inputs
            ctx.save_for_backward(x)

        @staticmethod
        def backward(ctx, g):
            return 2 * ctx.scale * ctx.saved_tensors[0] * g, None

    assert T.gradcheck(lambda x: Square.apply(x, 3.0), leaf(), 2)


def test_several_outputs_and_materialized_gradients():
    received = []

    class Parts(Function):
        @staticmethod
        def forward(ctx, x, materialize):
            ctx.set_materialize_grads(materialize)
            return x * 2, T.sin(x), "label"

        @staticmethod
        def backward(ctx, g, h, nothing):
            received.append((g, h, nothing))
            return g * 2 if h is None else g * 2 + h, None

    x = leaf()
    first, _, label = Parts.apply(x, True)
    assert label == "label"
    first.sum().backward()
    assert received[0][1].tolist() == [0.0] * 3 and received[0][2] is None
    Parts.apply(x, False)[0].sum().backward()
    assert received[1][1] is None


def test_non_differentiable_outputs():
    class Sorted(Function):
        @staticmethod
        def forward(ctx, x):
            order = np.argsort(x.numpy(force=True))
            ranks = T.tensor(order.astype(float))
            whole = T.tensor(order)
            ctx.mark_non_differentiable(ranks)
            ctx.order = np.argsort(order)
            return T.tensor(x.numpy(force=True)[order]), ranks, whole

        @staticmethod
        def backward(ctx, g, ranks, whole):
            return T.tensor(g.numpy()[ctx.order])

    x = leaf()
    values, ranks, whole = Sorted.apply(x)
    assert values.requires_grad
    assert not ranks.requires_grad and ranks.is_leaf and not whole.requires_grad
    (values * T.tensor([1.0, 2.0, 3.0])).sum().backward()
    assert x.grad.tolist() == [2.0, 1.0, 3.0]


def test_an_input_returned_as_it_is_becomes_a_new_tensor():
    class Gate(Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, g):
            return -g

    x = leaf()
    y = Gate.apply(x)
    assert y is not x and x.is_leaf and y.grad_fn.name() == "GateBackward"
    y.sum().backward()
    assert x.grad.tolist() == [-1.0] * 3


def test_mark_dirty_moves_the_input_in_the_graph():
    class Double(Function):
        @staticmethod
        def forward(ctx, x):
            x._data[...] *= 2
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, g):
            return 2 * g

    x = leaf()
    y = x * 1.0
    z = T.sin(y)
    assert Double.apply(y) is y and y.grad_fn.name() == "DoubleBackward"
    y.sum().backward()
    assert x.grad.tolist() == [2.0] * 3
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        Double.apply(leaf())


def test_once_differentiable_gives_the_first_derivative():
    x = leaf()
    OnceCube.apply(x).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 3 * X**2)


@pytest.mark.parametrize("how", ["grad", "backward", "through the output gradient"])
def test_differentiating_a_once_differentiable_result_raises(how):
    x = leaf()
    v = T.ones(3, dtype=T.float64, requires_grad=True)
    (g,) = T.grad(OnceCube.apply(x), x, v, create_graph=True)
    assert g.requires_grad
    with pytest.raises(RuntimeError, match="trying to differentiate twice .*OnceCube"):
        if how == "backward":
            g.sum().backward()
        else:
            T.grad(g.sum(), x if how == "grad" else v)


def test_a_once_differentiable_result_can_stand_beside_the_path():
    x, y = leaf(), leaf()
    g, h = T.grad(OnceCube.apply(x).sum() + (y**3).sum(), (x, y), create_graph=True)
    (second,) = T.grad((g + h).sum(), y)
    np.testing.assert_allclose(second.numpy(), 6 * X)


def apply(forward, backward, *args):
    class Broken(Function):
        pass

    Broken.forward = staticmethod(forward)
    Broken.backward = staticmethod(backward)
    return Broken.apply(*args)


@pytest.mark.parametrize(
    ("result", "error", "words"),
    [
        (
            lambda g: (g, g),
            RuntimeError,
            r"BrokenBackward returned an incorrect number of "
            r"gradients \(expected 1, got 2\)",
        ),
        (
            lambda g: T.ones(4),
            RuntimeError,
            r"BrokenBackward returned an invalid gradient at index "
            r"0 - got \[4\] but expected shape compatible with",
        ),
        (lambda g: g.sum(), RuntimeError, r"got \[\] but expected shape compatible with \[3\]"),
        (lambda g: 3.0, TypeError, "BrokenBackward returned float as gradient 0"),
    ],
)
def test_wrong_gradients_are_refused(result, error, words):
    out = apply(lambda ctx, x: x * 2, lambda ctx, g: result(g), leaf())
    with pytest.raises(error, match=words):
        out.sum().backward()


def test_too_few_gradients_and_gradients_of_numbers_are_refused():
    out = apply(lambda ctx, x, y: x * y, lambda ctx, g: g, leaf(), leaf())
    with pytest.raises(RuntimeError, match=r"expected 2, got 1"):
        out.sum().backward()
    out = apply(lambda ctx, x, k: x * k, lambda ctx, g: (g, g), leaf(), 3)
    with pytest.raises(RuntimeError, match="different than None at position 1"):
        out.sum().backward()


def test_extra_nones_and_broadcast_gradients_are_accepted():
    x = leaf()
    apply(lambda ctx, x: x * 2, lambda ctx, g: (g * 2, None), x).sum().backward()
    assert x.grad.tolist() == [2.0] * 3
    row = T.ones(1, 3, dtype=T.float64, requires_grad=True)
    apply(lambda ctx, r: r.expand(4, 3) * 1, lambda ctx, g: g, row).sum().backward()
    assert row.grad.tolist() == [[4.0] * 3]


def test_gradients_are_cast_to_the_inputs_dtype():
    x = T.tensor([1.0, 2.0], requires_grad=True)
    apply(lambda ctx, x: x * 2, lambda ctx, g: g.double(), x).sum().backward()
    assert x.grad.dtype == T.float32


def test_forward_must_return_tensors_and_save_tensors():
    with pytest.raises(TypeError, match=r"Broken\.forward returned float"):
        apply(lambda ctx, x: 3.0, lambda ctx, g: g, leaf())
    with pytest.raises(TypeError, match="save_for_backward can only save variables.*argument 1"):
        apply(lambda ctx, x: ctx.save_for_backward(x, 3), lambda ctx, g: g, leaf())
    with pytest.raises(AttributeError, match="no attribute 'y'"):
        apply(lambda ctx, x: x * 2, lambda ctx, g: g * ctx.y, leaf()).sum().backward()


def test_missing_methods_say_so():
    class Empty(Function):
        pass

    class NoBackward(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

    with pytest.raises(NotImplementedError, match="must implement the forward"):
        Empty.apply(leaf())
    out = NoBackward.apply(leaf())
    with pytest.raises(NotImplementedError, match="must implement the backward"):
        out.sum().backward()


def test_saved_tensors_are_freed_and_checked():
    x = leaf()
    y = Cube.apply(x).sum()
    y.backward(retain_graph=True)
    y.backward()
    np.testing.assert_allclose(x.grad.numpy(), 6 * X**2)
    with pytest.raises(RuntimeError, match="backward through the graph a second time.*Cube"):
        y.backward()
    base = leaf()
    inner = base * 1.0
    out = Cube.apply(inner).sum()
    inner.add_(1.0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.backward()


def test_a_function_that_saves_nothing_can_run_twice():
    x = leaf()
    y = apply(lambda ctx, x: x * 2, lambda ctx, g: g * 2, x).sum()
    y.backward()
    y.backward()
    assert x.grad.tolist() == [4.0] * 3


@pytest.mark.parametrize("function", [Cube, Exp, ExpByAttribute, OnceCube])
def test_graphs_die_at_once_with_the_collector_off(function):
    gc.collect()
    gc.disable()
    try:
        x = leaf()
        y = function.apply(x)
        (g,) = T.grad(y.sum(), x, create_graph=True)
        watch = [weakref.ref(t) for t in (x, y, g, y.grad_fn)]
        del x, y, g
        assert [w() for w in watch] == [None] * 4
    finally:
        gc.enable()


def test_many_threads_share_one_graph():
    x = leaf()
    y = Product.apply(x, leaf([1.0, 2.0, -3.0]), 3)
    results = [None] * 8

    def work(k):
        results[k] = T.grad(y.sum(), x, retain_graph=True)[0].numpy()

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for result in results:
        np.testing.assert_allclose(result, 3 * X**2 * [1.0, 2.0, -3.0])


def test_on_the_strict_device():
    with strict_cuda():
        x = leaf().detach().cuda().requires_grad_()
        (g,) = T.grad(Exp.apply(x).sum(), x, create_graph=True)
        (h,) = T.grad(g.sum(), x)
        np.testing.assert_allclose(h.cpu().numpy(), np.exp(X))
        out = apply(lambda ctx, x: x * 2, lambda ctx, g: g.cpu(), x)
        with pytest.raises(RuntimeError, match="BrokenBackward.*expected device cuda:0 but got"):
            out.sum().backward()


def test_forward_mode_is_refused_by_name():
    with pytest.raises(RuntimeError, match="Cube: input 0 .* no forward derivative"):
        T.functional.jvp(Cube.apply, leaf(), T.ones(3).double(), strategy="forward-mode")
    _, jv = T.functional.jvp(Cube.apply, leaf(), T.ones(3).double())
    np.testing.assert_allclose(jv.numpy(), 3 * X**2)


class Same(Function):
    @staticmethod
    def forward(ctx, x):
        return x

    @staticmethod
    def backward(ctx, g):
        return g


class Flat(Function):
    @staticmethod
    def forward(ctx, x):
        return x.view(-1)

    @staticmethod
    def backward(ctx, g):
        return g.view(3, 1)


class DoubledFlat(Function):
    """Returns a view of a tensor of its own."""

    @staticmethod
    def forward(ctx, x):
        return (x * 2).view(-1)

    @staticmethod
    def backward(ctx, g):
        return (2 * g).view(3, 1)


class SameAndDouble(Function):
    @staticmethod
    def forward(ctx, x):
        return x, x * 2

    @staticmethod
    def backward(ctx, g, h):
        return g + 2 * h


@pytest.mark.parametrize("function", [Same, Flat, DoubledFlat, SameAndDouble])
@pytest.mark.parametrize(
    "change", [lambda y: y.mul_(3), lambda y: y[0].mul_(3), lambda y: y.__setitem__(0, 1.0)]
)
def test_a_returned_view_is_not_changed_in_place(function, change):
    for x in (leaf(X[:, None]), leaf(X[:, None]) * 1):
        y = function.apply(x)
        y = y[0] if isinstance(y, tuple) else y
        with pytest.raises(RuntimeError, match=f"{function.__name__}.*is a view.*in place.*clone"):
            change(y)
        np.testing.assert_array_equal(x.detach().numpy(), X[:, None])
        change(y.clone())


def test_a_returned_view_refuses_use_after_its_memory_changed():
    x = leaf() * 1
    by_input, by_itself, by_alias = Same.apply(x), Same.apply(x.clone()), Same.apply(x.clone())
    x.mul_(3)
    with T.no_grad():
        by_itself.mul_(3)
    by_alias.detach().mul_(3)
    for y in (by_input, by_itself, by_alias):
        with pytest.raises(RuntimeError, match="custom Function Same.*modified in place since"):
            y.sum()


def test_a_returned_input_without_gradients_is_a_view_of_it():
    x = T.tensor(X)
    y = Same.apply(x)
    assert y is not x and y._base is x
    y.mul_(3)
    np.testing.assert_array_equal(x.numpy(), 3 * X)
    with pytest.raises(RuntimeError, match="custom Function Same"):
        y.mul_(leaf())
    with T.no_grad():
        assert Same.apply(leaf()).mul_(2).requires_grad is False


class DoubleInPlace(Function):
    @staticmethod
    def forward(ctx, x):
        x.mul_(2)
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx, g):
        return 2 * g


class DoubleInPlaceAndCopy(Function):
    @staticmethod
    def forward(ctx, x):
        x.mul_(2)
        ctx.mark_dirty(x)
        return x, x * 1

    @staticmethod
    def backward(ctx, g, h):
        return 2 * (g + h)


class ScaleInPlace(Function):
    """Saves the output it made in place."""

    @staticmethod
    def forward(ctx, x, factor):
        ctx.save_for_backward(x.clone(), factor)
        x.mul_(factor)
        ctx.mark_dirty(x)
        ctx.result = x
        return x

    @staticmethod
    def backward(ctx, g):
        x, factor = ctx.saved_tensors
        assert ctx.result.grad_fn.name() == "ScaleInPlaceBackward"
        return g * factor, g * x


def test_a_dirty_view_changes_its_base_and_the_other_views():
    x = leaf()
    base = x * 1
    part, rest = base[0:1], base[1:]
    assert DoubleInPlace.apply(part) is part
    np.testing.assert_array_equal(base.detach().numpy(), X * [2, 1, 1])
    ((base * base).sum() + (part * part).sum() + (rest * rest).sum()).backward()
    np.testing.assert_allclose(x.grad.numpy(), X * [16, 4, 4])


def test_a_dirty_view_beside_another_output():
    x = leaf()
    base = x * 1
    part, copy = DoubleInPlaceAndCopy.apply(base[0:1])
    ((base * base).sum() + (copy * copy).sum()).backward()
    np.testing.assert_allclose(x.grad.numpy(), X * [16, 2, 2])


def test_a_dirty_view_of_a_constant_takes_the_gradient_of_the_other_input():
    base, factor = T.ones(3), T.tensor([2.0], requires_grad=True)
    ScaleInPlace.apply(base[0:1], factor)
    assert base.requires_grad
    (base * base).sum().backward()
    np.testing.assert_allclose(factor.grad.numpy(), [4.0])


def test_a_dirty_view_of_a_leaf_is_refused():
    with pytest.raises(RuntimeError, match="view of a leaf Variable that requires grad"):
        DoubleInPlace.apply(leaf()[0:1])


def test_mark_dirty_of_a_tensor_that_is_no_input_warns():
    class Marked(Function):
        @staticmethod
        def forward(ctx, x):
            y = x * 1
            ctx.mark_dirty(y)
            return y

        @staticmethod
        def backward(ctx, g):
            return g

    x = leaf()
    with pytest.warns(UserWarning, match="Marked: mark_dirty.*not an input"):
        y = Marked.apply(x)
    y.sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), np.ones(3))


class Power(Function):
    """`forward` has a default, and no ctx."""

    @staticmethod
    def forward(x, exponent=2):
        return x**exponent

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, ctx.exponent = inputs
        ctx.save_for_backward(x)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * ctx.exponent * x ** (ctx.exponent - 1), None


def test_setup_context_sees_defaults_and_keywords():
    for call, slope in (
        (lambda x: Power.apply(x), 2 * X),
        (lambda x: Power.apply(x, exponent=3), 3 * X**2),
        (lambda x: Power.apply(x=x), 2 * X),
    ):
        x = leaf()
        call(x).sum().backward()
        np.testing.assert_allclose(x.grad.numpy(), slope)
    with pytest.raises(TypeError, match=r"Power\.apply\(\).*power"):
        Power.apply(leaf(), power=3)
    with pytest.raises(TypeError, match=r"Cube\.apply\(\) takes no keyword arguments.*'x'"):
        Cube.apply(x=leaf())
