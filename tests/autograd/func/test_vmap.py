"""A function of one example as one of many, against loops and closed forms."""

import numpy as np
import pytest

import autograd as T
from autograd import nn
from autograd.func import functional_call, grad, grad_and_value, hessian, jacfwd, jacrev, vmap

X = T.tensor(np.random.default_rng(0).uniform(-1, 1, (4, 3)))
M = T.tensor(np.random.default_rng(1).uniform(-1, 1, (4, 3, 3)))


def close(found, expected, **how):
    expected = expected.detach().numpy() if isinstance(expected, T.Tensor) else expected
    np.testing.assert_allclose(found.detach().numpy(), expected, **{"rtol": 1e-13, **how})


def test_examples_lie_where_it_is_said():
    close(vmap(T.dot)(X, X), (X * X).sum(1))
    close(vmap(T.dot, in_dims=(0, None))(X, X[0]), X @ X[0])
    close(vmap(T.mv, in_dims=(2, -1))(M, X[:3].T), T.einsum("ijk,kj->ki", M, X[:3]))
    close(vmap(lambda x: x.cumsum(0), in_dims=1, out_dims=1)(X), X.cumsum(0))
    close(vmap(lambda m: m, out_dims=-1)(M), M.permute(1, 2, 0))
    close(vmap(lambda m: m, in_dims=[2], out_dims=1)(M), M.permute(0, 2, 1))


def test_arguments_and_results_may_be_nested():
    def function(given, pair, scale):
        a, (b,) = given["a"], pair
        return {"sum": a + b}, [a * scale, (b.sum(),)]

    first, second = vmap(function, in_dims=({"a": 0}, (1,), None), out_dims=({"sum": 1}, [0, 0]))(
        {"a": X}, (X.T,), 2.0
    )
    close(first["sum"], (2 * X).T)
    close(second[0], 2 * X)
    close(second[1][0], X.sum(1))
    named = vmap(lambda m: T.linalg.slogdet(m))(M)
    assert type(named).__name__ == "SlogdetResult"
    close(named.logabsdet, np.linalg.slogdet(M.numpy())[1])


def test_what_is_the_same_for_all_examples_is_given_to_each():
    close(vmap(lambda x: T.ones(2))(X), np.ones((4, 2)))
    close(vmap(lambda x, k: x * k)(X, k=T.tensor(2.0)), 2 * X)


def test_maps_may_be_nested():
    table = vmap(vmap(T.dot, in_dims=(None, 0)), in_dims=(0, None))(X, X)
    close(table, X @ X.T)
    close(vmap(vmap(lambda x: x.exp() + X[0, 0]))(X), X.exp() + X[0, 0])
    close(vmap(vmap(T.dot), in_dims=(2, None))(M, X), T.einsum("ijk,ij->ki", M, X))


def u(x):
    return T.sin(x[0]) * x[1] ** 3 + x[2]


def test_derivatives_at_each_point():
    x, y, _ = X.numpy().T
    zero = np.zeros(4)
    first = np.stack([np.cos(x) * y**3, 3 * np.sin(x) * y**2, zero + 1], 1)
    xx, xy, yy = -np.sin(x) * y**3, 3 * np.cos(x) * y**2, 6 * np.sin(x) * y
    second = np.array([[xx, xy, zero], [xy, yy, zero], [zero] * 3]).transpose(2, 0, 1)
    close(vmap(grad(u))(X), first)
    close(vmap(hessian(u))(X), second, atol=1e-15)
    close(vmap(jacfwd(grad(u)))(X), second, atol=1e-15)
    slopes, values = vmap(grad_and_value(u))(X)
    close(slopes, first)
    close(values, np.sin(x) * y**3 + X.numpy()[:, 2])
    close(vmap(jacrev(lambda p: T.stack([u(p), p.sum()])))(X)[:, 0], first)
    of_all = jacrev(vmap(u))(X)
    close(of_all[range(4), range(4)], first)


def test_a_network_is_called_with_one_point():
    net = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 8), nn.GELU(), nn.Linear(8, 1))
    net = net.double()
    points = X.clone().requires_grad_()
    (slope,) = T.grad(net(points).sum(), points, create_graph=True)
    found = vmap(grad(lambda x: net(x)[0]))(X)
    close(found, slope)
    parameters = dict(net.named_parameters())
    curved = vmap(hessian(lambda p, x: functional_call(net, p, (x,))[0], 1), in_dims=(None, 0))
    rows = [T.grad(slope[:, k].sum(), points, create_graph=True)[0] for k in range(3)]
    close(curved(parameters, X), T.stack(rows, 1), atol=1e-14)
    # and so are the gradients of a loss by the parameters
    expected = T.grad((slope**2).mean(), list(net.parameters())[:-1])
    for a, b in zip(T.grad((found**2).mean(), list(net.parameters())[:-1]), expected, strict=True):
        close(a, b, atol=1e-15)


def test_a_gradient_by_what_is_the_same_for_all_is_one_an_example():
    w = T.tensor([0.5, -1.0, 2.0], dtype=T.float64)
    found = vmap(grad(lambda w, x: (w * x).sum() ** 2), in_dims=(None, 0))(w, X)
    close(found, 2 * (X @ w)[:, None] * X)
    nested = vmap(
        vmap(grad(lambda w, x, m: w @ m @ x), in_dims=(None, None, 0)), in_dims=(None, 0, None)
    )(w, X, M)
    close(nested, T.einsum("kij,nj->nki", M, X))
    for transform in (jacrev, jacfwd):
        matrices = vmap(transform(lambda w, x: w * x), in_dims=(None, 0))(w, X)
        close(matrices, T.diag_embed(X))


@pytest.mark.parametrize("chunk_size", [1, 3, 4, 9])
def test_chunks_give_what_all_at_once_do(chunk_size):
    x = X.clone().requires_grad_()
    found = vmap(lambda x, m: (m @ x, x.sum()), chunk_size=chunk_size)(x, M)
    close(found[0], T.einsum("nij,nj->ni", M, X))
    (slope,) = T.grad(found[0].sum() + found[1].sum(), x)
    close(slope, M.sum(1) + 1)


def test_no_examples_give_no_results():
    assert vmap(lambda x: (x * 2).sum())(X[:0]).shape == (0,)
    assert vmap(grad(u))(X[:0]).shape == (0, 3)
    assert vmap(lambda x: T.rand(2), randomness="different")(X[:0]).shape == (0, 2)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: vmap(T.sin)(), ValueError, "no positional arguments"),
        (lambda: vmap(T.sin, in_dims=None)(X), ValueError, "None for every argument"),
        (lambda: vmap(T.sin, in_dims=2)(X), ValueError, "-2 <= in_dim < 2"),
        (lambda: vmap(T.sin, in_dims=-3)(X), ValueError, "-2 <= in_dim < 2"),
        (lambda: vmap(T.sin, in_dims=0.5)(X), ValueError, "ints or None, got 0.5"),
        (lambda: vmap(T.mul, in_dims=(0, 0))(X, 2.0), ValueError, "in_dim=0 for a float"),
        (lambda: vmap(T.mul)(X, X[:2]), ValueError, r"as many examples, got sizes \[4, 2\]"),
        (lambda: vmap(T.mul, in_dims=(0,))(X, X), ValueError, "1 entries for 2 values"),
        (lambda: vmap(T.sin, in_dims=({"a": 0},))(X), ValueError, "nest it alike"),
        (lambda: vmap(T.sin, out_dims=2)(X), ValueError, "-2 <= out_dim < 2"),
        (lambda: vmap(T.sin, out_dims=None)(X), ValueError, "one value an example"),
        (lambda: vmap(T.sin, out_dims=0.5)(X), ValueError, "out_dims must be ints or None"),
        (lambda: vmap(lambda x: 1.0)(X), ValueError, "tensors only, got a float"),
        (lambda: vmap(T.sin, randomness="many"), RuntimeError, "randomness must be one of"),
        (lambda: vmap(T.sin, chunk_size=0), ValueError, "at least 1, got 0"),
    ],
)
def test_bad_arguments_are_refused(call, error, words):
    with pytest.raises(error, match=words):
        call()


@pytest.mark.parametrize("chunk_size", [None, 3])
def test_what_is_the_same_for_all_is_returned_as_it_is(chunk_size):
    made = []

    def function(x):
        made.append(T.ones(2))
        return {"own": x * 2, "same": (made[-1], M[0])}

    dims = {"own": 0, "same": None}
    found = vmap(function, out_dims=dims, chunk_size=chunk_size)(X)
    close(found["own"], 2 * X)
    assert found["same"][0] is made[0] and found["same"][1].shape == (3, 3)


def test_multinomial_draws_by_the_weights_of_each_example():
    weights = T.eye(4, dtype=T.float64)[[2, 0, 3]] + 1e-300
    draw = vmap(lambda p: T.multinomial(p, 2), randomness="different")
    assert draw(weights)[:, 0].tolist() == [2, 0, 3]
    T.manual_seed(0)
    found = draw(T.ones(5, 4))
    T.manual_seed(0)
    loop = [T.multinomial(T.ones(4), 2) for _ in range(5)]
    assert found.tolist() == T.stack(loop).tolist()
    pairs = vmap(draw, randomness="different")(T.ones(2, 5, 4))
    assert pairs.shape == (2, 5, 2) and (pairs[..., 0] != pairs[..., 1]).all()
    assert draw(T.ones(0, 4)).shape == (0, 2)
    outer = vmap(lambda x: draw(weights) + x.long(), randomness="different")(T.zeros(2))
    assert outer[:, :, 0].tolist() == [[2, 0, 3]] * 2
    same = vmap(lambda x: T.multinomial(T.ones(4), 2) + x.long(), randomness="same")(T.zeros(3))
    assert (same == same[0]).all()
    with pytest.raises(RuntimeError, match="pass randomness='different'"):
        vmap(lambda p: T.multinomial(p, 2), randomness="same")(weights)
    with pytest.raises(RuntimeError, match="randomness='different' or 'same'"):
        vmap(lambda p: T.multinomial(p, 2))(weights)


def test_random_numbers_are_drawn_as_it_is_said():
    def noisy(x):
        return x + T.randn(3, dtype=T.float64)

    with pytest.raises(RuntimeError, match="pass randomness='different' or 'same'"):
        vmap(noisy)(X)
    T.manual_seed(3)
    found = vmap(noisy, randomness="different")(X)
    T.manual_seed(3)
    close(found, T.stack([noisy(x) for x in X]))
    T.manual_seed(3)
    found = vmap(noisy, randomness="same")(X)
    T.manual_seed(3)
    close(found, noisy(X))
    T.manual_seed(3)
    found = vmap(vmap(lambda y: T.rand(2), randomness="different"), randomness="same")(X)
    T.manual_seed(3)
    close(found, np.broadcast_to(T.rand(3, 2).numpy(), (4, 3, 2)), rtol=0)
    T.manual_seed(3)
    found = vmap(vmap(lambda y: T.rand(2), randomness="different"), randomness="different")(X)
    T.manual_seed(3)
    close(found, T.rand(4, 3, 2), rtol=0)


def test_samples_of_distributions_of_each_example():
    mean, std = X, X.abs() * 1e-3
    found = vmap(T.normal, randomness="different")(mean, std)
    assert ((found - mean).abs() < 6 * std).all() and not T.equal(found, mean)
    assert T.equal(vmap(T.bernoulli, randomness="same")((X > 0).double()), (X > 0).double())
    with pytest.raises(RuntimeError, match="probabilities lie in"):
        vmap(T.bernoulli, randomness="different")(X)
    kept = vmap(nn.Dropout(0.5), randomness="different")(T.ones(50, 40))
    assert set(np.unique(kept.numpy())) == {0.0, 2.0}
    assert 0.4 < float((kept > 0).double().mean()) < 0.6
    same = vmap(T.rand_like, randomness="same")(X)
    assert T.equal(same[0], same[1])


@pytest.mark.parametrize("points", [False, True])
def test_a_compiled_loss_may_map(points):
    net = nn.Sequential(nn.Linear(3, 6), nn.Tanh(), nn.Linear(6, 1)).double()

    def loss(at):
        slopes = vmap(grad(lambda x: net(x)[0]))(at)
        curved = vmap(hessian(lambda x: net(x)[0]))(at)
        return ((slopes[:, 0] - net(at)[:, 0] * curved[:, 1, 1]) ** 2).mean()

    compiled = T.compile(points="at")(loss) if points else T.compile(loss)
    for at in (X, X[:3] * 0.5):
        found, expected = compiled(at), loss(at)
        close(found, expected)
        both = zip(
            T.grad(found, list(net.parameters())[:-1]),
            T.grad(expected, list(net.parameters())[:-1]),
            strict=True,
        )
        for a, b in both:
            close(a, b, atol=1e-15)


SCALE = {"of": 2.0}
mapped_outside = vmap(grad(lambda x: SCALE["of"] * x.sum()))


def test_a_compiled_function_sees_what_a_mapped_one_reads():
    compiled = T.compile(lambda at: mapped_outside(at))
    try:
        for scale in (2.0, 3.0):
            SCALE["of"] = scale
            close(compiled(X), np.full((4, 3), scale))
    finally:
        SCALE["of"] = 2.0


def test_a_compiled_function_inside_of_a_map_is_a_part_of_it():
    compiled = T.compile(lambda x: (x**2).sum())
    close(vmap(compiled)(X), (X**2).sum(1))
    shared = T.compile(lambda w: grad(lambda w: (w**3).sum())(w))
    close(vmap(lambda x: shared(X[0]) * x)(X), 3 * X[0] ** 2 * X)


def test_a_checkpoint_inside_of_a_map_is_repeated_for_all_examples():
    found = vmap(grad(lambda x: T.checkpoint(u, x)))(X)
    close(found, vmap(grad(u))(X), rtol=0)
