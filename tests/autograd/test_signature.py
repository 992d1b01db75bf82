"""What PyTorch's users write: keywords, `out=`, and one sentence for an argument of wrong kind."""

import inspect
import pickle

import numpy as np
import pytest

import autograd as T
from autograd import nn

F = nn.functional
X = np.array([[1.0, -2.0, 3.0], [0.5, 4.0, -6.0]])


def x():
    return T.tensor(X)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda: T.sin(input=x()), np.sin(X)),
        (lambda: T.add(input=x(), other=x(), alpha=2), 3 * X),
        (lambda: x().mul(other=2.0), 2 * X),
        (lambda: T.atan2(input=x(), other=x() + 1), np.arctan2(X, X + 1)),
        (lambda: T.where(condition=x() > 0, input=x(), other=x() * 2), np.where(X > 0, X, 2 * X)),
        (lambda: T.lerp(input=x(), end=x() + 1, weight=0.5), X + 0.5),
        (lambda: T.det(input=T.eye(2)), 1.0),
        (lambda: T.sum(x(), axis=0), X.sum(0)),
        (lambda: x().mean(axis=1, keepdims=True), X.mean(1, keepdims=True)),
        (lambda: T.amax(input=x(), axis=(0, 1), keepdims=True), X.max(keepdims=True)),
        (lambda: x().argmax(axis=1), X.argmax(1)),
        (lambda: T.cat([x(), x()], axis=1), np.concatenate([X, X], 1)),
        (lambda: T.linalg.norm(x(), axis=1), np.linalg.norm(X, axis=1)),
        (lambda: F.softmax(input=x(), axis=1).sum(axis=1), np.ones(2)),
        (lambda: T.sin(x=x()), np.sin(X)),
    ],
)
def test_keywords_of_torch_and_of_numpy(call, expected):
    np.testing.assert_allclose(call().numpy(), expected)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda t: t.clamp_(min=0), X.clip(0)),
        (lambda t: t.clamp_(min=-1, max=2.0), X.clip(-1, 2)),
        (lambda t: t.add_(t.clone(), alpha=3), 4 * X),
        (lambda t: t.sub_(other=1.0, alpha=2), X - 2),
        (lambda t: t.div_(2, rounding_mode="floor"), np.floor(X / 2)),
        (lambda t: F.relu(t, inplace=True), X.clip(0)),
        (lambda t: F.relu(t, True), X.clip(0)),
        (lambda t: F.leaky_relu(t, 0.5, True), np.where(X > 0, X, X / 2)),
        (lambda t: nn.ReLU(inplace=True)(t), X.clip(0)),
        (lambda t: nn.LeakyReLU(0.5, inplace=True)(t), np.where(X > 0, X, X / 2)),
        (lambda t: t.copy_(t * 2, non_blocking=True), 2 * X),
    ],
)
def test_keywords_in_place(call, expected):
    tensor = x()
    assert call(tensor) is tensor
    np.testing.assert_allclose(tensor.numpy(), expected)


def test_in_place_keywords_carry_gradients():
    scale = T.tensor(2.0, dtype=T.float64, requires_grad=True)
    y = T.ones(2, dtype=T.float64) * 1
    y.add_(other=scale, alpha=3)
    F.relu(y, inplace=True).sum().backward()
    assert scale.grad.item() == 6.0


def test_to_takes_the_flags_of_torch():
    tensor = x()
    assert tensor.to(T.float64, non_blocking=True) is tensor
    assert tensor.to("cpu", True) is tensor
    assert tensor.to("cpu", False, True) is not tensor
    assert tensor.to(other=T.ones(1)).dtype == T.float32
    assert nn.Linear(2, 2).to("cpu", non_blocking=True).weight.dtype == T.float32


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: T.sin(1.0), r"sin\(\): argument 'input' \(position 1\) must be Tensor, not float"),
        (lambda: T.sin(input=[1.0]), r"sin\(\): argument 'input'.* not list of float"),
        (lambda: T.matmul(x(), X), r"matmul\(\): argument 'other' .*not ndarray"),
        (lambda: x().matmul(other=3), r"matmul\(\): argument 'other' .*not int"),
        (lambda: x().sum("a"), r"sum\(\): argument 'dim'.*int or tuple of ints or None, not str"),
        (lambda: x().cumsum("a"), r"cumsum\(\): argument 'dim' \(position 2\) must be int, not"),
        (lambda: F.mse_loss(x(), x(), 3), r"mse_loss\(\): argument 'reduction'.*str, not int"),
        (lambda: F.mse_loss(x(), 3), r"mse_loss\(\): argument 'target'.*must be Tensor, not int"),
        (lambda: T.linalg.inv(X), r"inv\(\): argument 'A'.*must be Tensor, not ndarray"),
        (lambda: T.sin(x(), input=x()), r"sin\(\) got multiple values for argument 'input'"),
        (lambda: T.sum(x(), dim=0, axis=0), r"sum\(\) got multiple values for argument"),
        (lambda: T.sin(x(), wrong=1), "unexpected keyword argument 'wrong'"),
    ],
)
def test_arguments_of_the_wrong_kind_are_named(call, words):
    with pytest.raises(TypeError, match=words):
        call()


def test_out_receives_the_result():
    out = T.empty(2, 3, dtype=T.float64)
    assert T.sin(x(), out=out) is out
    np.testing.assert_array_equal(out.numpy(), np.sin(X))
    grown = T.empty(0, dtype=T.float64)
    assert T.matmul(x(), x().T, out=grown).shape == (2, 2)
    values, indices = T.empty(2, dtype=T.float64), T.empty(2, dtype=T.int64)
    result = T.max(x(), 1, out=(values, indices))
    assert result.values is values and result.indices is indices
    assert indices.tolist() == [2, 1]
    same = x()
    assert T.mul(same, 2, out=same) is same and same[0, 1].item() == -4.0
    single = T.empty(2, 3)
    assert T.add(x(), 1, out=single).dtype == T.float32


@pytest.mark.parametrize("transform", ["jvp", "jacfwd", "vmap"])
@pytest.mark.parametrize("carries", ["a result", "out"])
def test_out_is_refused_where_more_than_its_values_would_be_written(transform, carries):
    def square(a):
        out = a.clone() if carries == "out" else T.zeros(3, dtype=T.float64)
        return T.mul(x()[0] if carries == "out" else a, 2.0, out=out)

    run = {
        "jvp": lambda: T.func.jvp(square, (x()[0],), (x()[1],)),
        "jacfwd": lambda: T.func.jacfwd(square)(x()[0]),
        "vmap": lambda: T.func.vmap(square)(x()),
    }
    with pytest.raises(RuntimeError, match=r"mul\(\): functions with out=... do not support"):
        run[transform]()


def test_a_change_through_out_is_seen_by_backward():
    a = T.tensor([1.0, 2.0], requires_grad=True)
    factor = T.ones(2)
    y = a * factor
    T.add(factor, 1, out=factor)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: T.sin(x(), out=X), TypeError, "argument 'out' must be Tensor, not ndarray"),
        (lambda: T.max(x(), 1, out=x()), TypeError, "'out' must be a tuple of 2 Tensors"),
        (lambda: x().sin(out=x()), TypeError, "unexpected keyword argument 'out'"),
        (lambda: T.reshape(x(), (6,), out=x()), TypeError, "unexpected keyword argument 'out'"),
        (lambda: T.sin(x().requires_grad_(), out=x()), RuntimeError, "automatic differentiation"),
        (lambda: T.sin(x(), out=T.empty(2, 3, dtype=T.int64)), RuntimeError, "can't be cast"),
        (lambda: T.sin(x(), out=T.empty(2, 2, dtype=T.float64)), RuntimeError, "out has shape"),
        (
            lambda: T.sin(x(), out=T.empty(1, 3, dtype=T.float64).expand(2, 3)),
            RuntimeError,
            "single memory location",
        ),
    ],
)
def test_an_out_that_does_not_fit_is_refused(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_an_out_that_overlaps_an_input_in_part_is_refused():
    line = T.zeros(5)
    with pytest.raises(RuntimeError, match="refer to a single memory location"):
        T.sin(line[:4], out=line[1:])
    assert T.sin(line[:2], out=line[3:]).tolist() == [0.0, 0.0]


def test_public_functions_show_torchs_names_and_can_be_pickled():
    assert list(inspect.signature(T.maximum).parameters) == ["input", "other"]
    assert list(inspect.signature(T.Tensor.clamp_).parameters) == ["input", "min", "max"]
    for function in (T.sin, T.sum, T.linalg.solve, F.silu, F.mse_loss, T.Tensor.add_):
        assert pickle.loads(pickle.dumps(function)) is function
    assert T.arctan2 is T.atan2 and T.sin.__name__ == "sin"


def test_names_that_pytorch_has_at_the_top_and_as_methods():
    a, b = T.tensor([[1.0, 0.0]]), T.tensor([[1.0, 1.0]])
    assert T.rsub(a, b, alpha=2).tolist() == [[-1.0, 1.0]] and T.rsub(a, 3).tolist() == [[2.0, 3.0]]
    np.testing.assert_allclose(T.cosine_similarity(a, b).numpy(), [np.sqrt(0.5)], rtol=1e-6)
    assert T.dropout(b, p=0.5, train=False) is b and not T.dropout(b, 1.0, True).any()
    assert T.conv1d(T.ones(1, 1, 4), T.ones(1, 1, 2)).tolist() == [[[2.0, 2.0, 2.0]]]
    assert a[:, T.newaxis].shape == (1, 1, 2)
    T.manual_seed(7)
    assert T.initial_seed() == 7
    weights = T.tensor([0.0, 1.0, 0.0])
    assert weights.multinomial(1).tolist() == [1] and weights.bernoulli().tolist() == [0, 1, 0]
    assert weights.bernoulli(1.0).tolist() == [1, 1, 1]
    assert T.tensor([-4.0, 1.0]).prelu(T.tensor([0.5])).tolist() == [-2.0, 1.0]
