"""What can be done with a tensor that has one value an example, and what is refused."""

import copy
import pickle

import numpy as np
import pytest

import autograd as T
from autograd.func import grad, jacrev, vmap
from autograd.strict import strict_cuda

X = T.tensor(np.arange(12.0).reshape(4, 3) / 7)


def close(found, expected):
    expected = expected.detach().numpy() if isinstance(expected, T.Tensor) else expected
    np.testing.assert_allclose(found.detach().numpy(), expected, rtol=1e-13)


def test_it_reads_as_that_of_one_example():
    seen = []

    def look(x):
        seen.append((x.shape, x.ndim, len(x), x.dtype, x.device, x.numel(), x.size(0)))
        assert repr(x).startswith("Batched(level=") and f"{x}" == repr(x)
        return x.sum()

    vmap(look)(X)
    assert seen == [((3,), 1, 3, T.float64, T.device("cpu"), 3, 3)]


@pytest.mark.parametrize(
    "use",
    [
        lambda x: x if x.sum() > 0 else -x,
        lambda x: float(x[0]),
        lambda x: int(x[0]),
        lambda x: x[0].item(),
        lambda x: x.tolist(),
        lambda x: x.numpy(),
        lambda x: np.asarray(x),
        lambda x: x[x > 0],
        lambda x: x[: (x[0] > 0).long()],
        lambda x: x.nonzero(),
        lambda x: x.unique(),
        lambda x: T.where(x > 0),
        lambda x: T.allclose(x, x),
        lambda x: T.equal(x, x),
        lambda x: 1.0 in x,
        lambda x: x.repeat_interleave((x > 0).long()),
        lambda x: T.nn.Parameter(x),
        lambda x: T.Tensor(x),
        lambda x: x.data_ptr(),
        lambda x: copy.deepcopy(x),
        lambda x: pickle.dumps(x),
    ],
)
def test_elements_cannot_be_looked_at(use):
    with pytest.raises(RuntimeError, match=r"one value an example.*where\(condition, x, y\)"):
        vmap(use)(X)


def test_the_vmap_is_over_when_its_function_has_failed():
    with pytest.raises(RuntimeError, match="pass randomness"):
        vmap(lambda x: T.rand(3))(X)
    assert T.rand(3).shape == (3,)


def test_positions_of_each_example():
    index = T.tensor([0, -1, 2, 1])
    close(vmap(lambda x, i: x[i])(X, index), X[range(4), index])
    close(vmap(lambda i: X[i])(index), X[index])
    pairs = T.tensor([[0, 1], [-1, 2]])
    close(vmap(lambda i: X[:, i])(pairs), X[:, pairs].permute(1, 0, 2))
    close(vmap(lambda x, i: T.outer(x, x)[i, i])(X[:2], pairs), (X[[[0], [1]], pairs]) ** 2)
    close(vmap(lambda x, i: x.take_along_dim(i, 0))(X[:2], pairs), X[[[0], [1]], pairs])
    with pytest.raises(IndexError, match="out of bounds"):
        vmap(lambda x, i: x[i])(X, index + 2)
    with pytest.raises(RuntimeError, match="out of bounds|index"):
        vmap(lambda x, i: x.gather(0, i))(X[:2], pairs + 2)


def test_in_place_operations_write_what_has_examples():
    def changed(x):
        y = x * 1
        y[0] = 5.0
        y[1:] += x[:2]
        y *= 2
        y[T.tensor([2])] = y[:1]
        y.exp_().clamp_(max=1e3)
        return y

    found = vmap(changed)(X)
    close(found, T.stack([changed(x) for x in X]))
    x = X.clone().requires_grad_()
    (a,) = T.grad(vmap(changed)(x).sum(), x)
    (b,) = T.grad(T.stack([changed(one) for one in x]).sum(), x)
    close(a, b)
    filled = vmap(lambda x: x.new_zeros(3).fill_(2.0) + T.zeros_like(x).copy_(x))(X)
    close(filled, X + 2)
    mine = X.clone()
    vmap(lambda x: x.zero_())(mine)
    close(mine, np.zeros((4, 3)))


@pytest.mark.parametrize(
    "write",
    [
        lambda x: T.zeros(3, dtype=T.float64).add_(x),
        lambda x: T.zeros(3, dtype=T.float64).copy_(x),
        lambda x: T.zeros(3, dtype=T.float64).__setitem__(0, x[0]),
        lambda x: T.zeros(3, dtype=T.float64).__imul__(x),
        lambda x: vmap(lambda y: x.add_(y))(x),
    ],
)
def test_what_is_one_for_all_examples_is_not_written_with_one_value_each(write):
    with pytest.raises(RuntimeError, match=r"one for all examples.*zeros_like\(x\)"):
        vmap(write)(X.clone())


def test_an_in_place_operation_keeps_the_shape():
    with pytest.raises(RuntimeError, match=r"output with shape \[3\] doesn't match"):
        vmap(lambda x: (x * 1).add_(T.ones(2, 3)))(X)


def test_gradients_are_taken_inside():
    def slope(x):
        x = x.detach().requires_grad_()
        (first,) = T.grad((x**3).sum(), x, create_graph=True)
        (second,) = T.grad(first, x, T.ones(3, dtype=T.float64))
        return first.detach() + second

    close(vmap(slope)(X), 3 * X**2 + 6 * X)
    assert not X.requires_grad

    def by_backward(x):
        x = x.detach().requires_grad_()
        y = x * 2
        y.retain_grad()
        x.register_hook(lambda g: g * 10)
        (y**2).sum().backward()
        return x.grad, y.grad

    a, b = vmap(by_backward)(X)
    close(a, 80 * X)
    close(b, 4 * X)


def test_backward_adds_the_gradients_of_all_examples_to_what_is_the_same_for_all():
    w = T.ones(3, dtype=T.float64, requires_grad=True)
    vmap(lambda x: ((w * x) ** 2).sum().backward() or x)(X)
    close(w.grad, 2 * (X**2).sum(0))
    with pytest.raises(RuntimeError, match="Use func.grad, which gives one an example"):
        vmap(lambda x: T.grad((w * x).sum(), w)[0])(X)
    with pytest.raises(RuntimeError, match="one gradient an example for a graph that is one"):
        total = (w**2).sum()
        vmap(lambda g: total.backward(g, retain_graph=True) or g)(X[:, 0])


def test_gradients_go_through_from_outside():
    x = X.clone().requires_grad_()
    (slope,) = T.grad(vmap(lambda x: x.prod(), in_dims=1)(x).sum(), x, create_graph=True)
    assert slope.requires_grad
    expected = T.stack([x.prod(0) / x for x in X[1:].T], 1)
    close(slope[1:], expected * X[:1])
    close(vmap(grad(lambda y: (y * x.sum()).sum()))(x), np.full((4, 3), x.sum().item()))


def test_new_tensors_like_one_have_examples():
    for new in (T.ones_like, lambda x: T.full_like(x, 1.0), lambda x: x.new_ones(3)):
        close(vmap(lambda x, new=new: new(x).mul_(x))(X), X)
    close(vmap(lambda x: T.tensor(x) * 2)(X), 2 * X)
    nested = vmap(vmap(lambda x: T.zeros_like(x, dtype=T.float32).add_(x)))(X)
    assert nested.shape == (4, 3) and nested.dtype == T.float32


def test_ranks_decide_dtypes_as_in_one_example():
    found = vmap(lambda s, v: s * v)(X[:, 0], T.ones(4, 3, dtype=T.float32))
    assert found.dtype == (X[0, 0] * T.ones(3, dtype=T.float32)).dtype == T.float32


class Square(T.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return T.tensor(x.numpy() ** 2)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x * g


class Halves(T.Function):
    @staticmethod
    def forward(ctx, x, name):
        return x[:1] * 1, x[1:] * 2, name

    @staticmethod
    def backward(ctx, a, b, _):
        return T.cat([a, 2 * b]), None


def test_a_custom_function_is_run_for_each_example():
    close(vmap(Square.apply)(X), X**2)
    close(vmap(grad(lambda x: Square.apply(x).sum()))(X), 2 * X)
    close(vmap(vmap(Square.apply))(X), X**2)
    a, b = vmap(lambda x: Halves.apply(x, "name")[:2])(X)
    close(a, X[:, :1])
    close(b, 2 * X[:, 1:])


class SquareByNumpy(Square):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return T.tensor(2 * x.numpy(force=True) * g.numpy(force=True))


def test_the_backward_of_a_custom_function_is_run_for_each_row_of_a_jacobian():
    x = X.reshape(-1)
    expected = np.diag(2 * x.numpy())
    close(jacrev(SquareByNumpy.apply)(x), expected)
    close(T.functional.jacobian(SquareByNumpy.apply, x, vectorize=True), expected)
    close(vmap(jacrev(SquareByNumpy.apply))(X), T.diag_embed(2 * X))


def test_in_place_operations_are_recorded():
    def changed(x):
        y = x * 1
        y[0] = 2.0
        return y.mul_(x)

    compiled = T.compile(lambda at: vmap(changed)(at))
    for at in (X, X + 1):
        close(compiled(at), T.stack([changed(x) for x in at]))


def test_elements_stay_on_their_device():
    with strict_cuda():
        x = X.to("cuda")
        index = T.tensor([[0, 1], [-1, 2]]).to("cuda")
        found = vmap(lambda x, i: (x[i], x.sin().sum(), x[None, i]))(x[:2], index)
        assert all(one.is_cuda for one in found)
        close(found[0].cpu(), X[[[0], [1]], [[0, 1], [-1, 2]]])
        slopes = vmap(grad(lambda x: (x @ x).exp()))(x)
        assert slopes.is_cuda
        close(slopes.cpu(), 2 * X * (X * X).sum(1, keepdim=True).exp())
