"""Modules as functions of their parameters, one and several at a time."""

import numpy as np
import pytest

import autograd as T
from autograd import nn
from autograd.func import (
    functional_call,
    grad,
    hessian,
    jacfwd,
    jacrev,
    stack_module_state,
    vmap,
)

X = T.tensor([[0.3, -0.7, 1.1], [0.9, 0.2, -0.4]], dtype=T.float64)


def test_a_module_as_a_function_of_its_parameters():
    net = nn.Sequential(nn.Linear(3, 2, dtype=T.float64), nn.Tanh())
    net.register_buffer("shift", T.zeros(1))
    own = dict(net.named_parameters())
    given = {name: (p.detach() * 2).requires_grad_() for name, p in own.items()}
    found = functional_call(net, given, X)
    expected = T.tanh(X @ given["0.weight"].T + given["0.bias"])
    np.testing.assert_allclose(found.detach().numpy(), expected.detach().numpy(), rtol=1e-14)
    found.sum().backward()
    assert given["0.bias"].grad is not None and own["0.bias"].grad is None
    assert dict(net.named_parameters()) == own
    part = functional_call(net, [{"0.weight": given["0.weight"]}, {"shift": T.ones(1)}], (X,))
    expected = T.tanh(X @ given["0.weight"].T + own["0.bias"])
    np.testing.assert_allclose(part.detach().numpy(), expected.detach().numpy(), rtol=1e-14)
    by_weights = jacrev(lambda w: functional_call(net, {"0.weight": w}, X).sum())
    assert by_weights(given["0.weight"]).shape == (2, 3)


def test_shared_parameters_are_replaced_together_and_errors_put_them_back():
    net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    net[1].weight = net[0].weight
    seen = []

    class Fails(nn.Module):
        def forward(self, x):
            seen.extend([net[0].weight, net[1].weight])
            raise ValueError("on purpose")

    net.append(Fails())
    own, other = net[0].weight, T.ones(2, 2)
    with pytest.raises(ValueError, match="on purpose"):
        functional_call(net, {"1.weight": other}, T.ones(2))
    assert len(seen) == 2 and all(one is other for one in seen)
    assert net[0].weight is own and net[1].weight is own
    with pytest.raises(RuntimeError, match=r"no parameters or buffers \['weight'\]; it has"):
        functional_call(net, {"weight": other}, T.ones(2))
    with pytest.raises(TypeError, match="'0.weight' must be a Tensor, got float"):
        functional_call(net, {"0.weight": 1.0}, T.ones(2))


def test_a_compiled_function_may_call_a_module_with_other_parameters():
    net = nn.Linear(3, 1, dtype=T.float64)
    loss = T.compile(lambda w: (functional_call(net, {"weight": w}, X) ** 2).sum())
    for scale in (1.0, 2.0):
        w = (T.ones(1, 3, dtype=T.float64) * scale).requires_grad_()
        expected = ((X @ w.T + net.bias) ** 2).sum()
        assert loss(w).item() == pytest.approx(expected.item(), rel=1e-13)


def linear(inputs=3, outputs=2):
    return nn.Linear(inputs, outputs, dtype=T.float64)


def test_an_ensemble_is_one_call_with_stacked_parameters():
    nets = [nn.Sequential(linear(), nn.Tanh(), linear(2, 1)) for _ in range(4)]
    for k, net in enumerate(nets):
        net.register_buffer("number", T.tensor([float(k)]))
    parameters, buffers = stack_module_state(nets)
    assert parameters["0.weight"].shape == (4, 2, 3) and parameters["0.weight"].is_leaf
    assert all(p.requires_grad for p in parameters.values())
    np.testing.assert_array_equal(buffers["number"].numpy(), [[0.0], [1.0], [2.0], [3.0]])

    def values(p, b, x):
        return functional_call(nets[0], (p, b), (x,))

    found = vmap(values, in_dims=(0, 0, None))(parameters, buffers, X)
    expected = T.stack([net(X) for net in nets])
    np.testing.assert_allclose(found.detach().numpy(), expected.detach().numpy(), rtol=1e-14)
    found.sum().backward()
    expected.sum().backward()
    own = T.stack([net[0].weight.grad for net in nets])
    np.testing.assert_allclose(parameters["0.weight"].grad.numpy(), own.numpy(), rtol=1e-13)


@pytest.mark.parametrize(
    ("models", "words"),
    [
        ([], "at least one module"),
        ([nn.Linear(1, 1), nn.Tanh()], "one class"),
        ([nn.Linear(1, 1), nn.Linear(2, 1)], "of one shape"),
        ([nn.Sequential(linear()), nn.Sequential(linear(), linear())], "'1.weight' must be in all"),
        ([nn.Linear(1, 1), nn.Linear(1, 1).requires_grad_(False)], "requires grad in some"),
    ],
)
def test_modules_that_cannot_be_stacked_are_refused(models, words):
    with pytest.raises(RuntimeError, match=words):
        stack_module_state(models)


def test_gradients_of_each_example_by_the_parameters_are_those_of_a_loop():
    net = nn.Sequential(linear(), nn.Tanh(), linear(2, 1))
    parameters = {name: p.detach() for name, p in net.named_parameters()}
    targets = T.tensor([0.5, -1.0], dtype=T.float64)

    def loss(p, x, y):
        return (functional_call(net, p, (x,)).squeeze(-1) - y) ** 2

    found = vmap(grad(loss), in_dims=(None, 0, 0))(parameters, X, targets)
    for k in range(2):
        value = (net(X[k]).squeeze(-1) - targets[k]) ** 2
        each = T.grad(value, list(net.parameters()))
        for (name, one), expected in zip(found.items(), each, strict=True):
            np.testing.assert_allclose(
                one[k].numpy(), expected.numpy(), rtol=1e-13, atol=1e-15, err_msg=name
            )


DOUBLE = {"dtype": T.float64}
LAYERS = {
    "batch_norm": (lambda: nn.Sequential(linear(3, 4), nn.BatchNorm1d(4, **DOUBLE)), (6, 3)),
    "batch_norm, averages": (lambda: nn.BatchNorm1d(3, momentum=None, **DOUBLE), (6, 3)),
    "batch_norm in evaluation": (lambda: nn.BatchNorm1d(3, **DOUBLE).eval(), (6, 3)),
    "instance_norm": (
        lambda: nn.InstanceNorm1d(3, affine=True, track_running_stats=True, **DOUBLE), (2, 3, 5),
    ),
    "batch_norm of images": (
        lambda: nn.Sequential(nn.Conv2d(2, 3, 3, **DOUBLE), nn.BatchNorm2d(3, **DOUBLE)),
        (2, 2, 4, 4),
    ),
    "attention": (
        lambda: nn.TransformerEncoderLayer(4, 2, 5, dropout=0.0, batch_first=True, **DOUBLE),
        (2, 3, 4),
    ),
    "lstm": (lambda: nn.LSTM(3, 2, num_layers=2, bidirectional=True, **DOUBLE), (4, 2, 3)),
    "gru": (lambda: nn.GRU(3, 2, **DOUBLE), (4, 2, 3)),
    "cell": (lambda: nn.RNNCell(3, 2, **DOUBLE), (4, 3)),
}  # fmt: skip


def output(module, *args):
    found = module(*args)
    return found[0] if isinstance(found, tuple) else found


def drawn(*shape):
    return T.tensor(np.random.default_rng(len(shape)).normal(size=shape))


def names_of(tensors):
    return {name: T.stack([t[name] for t in tensors]) for name in tensors[0]}


@pytest.mark.parametrize("name", LAYERS)
def test_an_ensemble_of_layers_does_what_each_of_them_does(name):
    make, shape = LAYERS[name]
    nets, x = [make() for _ in range(3)], drawn(*shape)
    for k, net in enumerate(nets):
        for buffer in net.buffers():
            buffer += k
    parameters, buffers = stack_module_state(nets)

    def values(p, b):
        found = functional_call(nets[0], (p, b), (x,))
        return found[0] if isinstance(found, tuple) else found

    found = vmap(values, in_dims=(0, 0 if buffers else None))(parameters, buffers)
    expected = T.stack([output(net, x) for net in nets])
    np.testing.assert_allclose(found.detach().numpy(), expected.detach().numpy(), rtol=1e-12)
    found.sin().sum().backward()
    expected.sin().sum().backward()
    gradients = names_of([{n: p.grad for n, p in net.named_parameters()} for net in nets])
    for one, expected in gradients.items():
        np.testing.assert_allclose(
            parameters[one].grad.numpy(), expected.numpy(), rtol=1e-11, atol=1e-12, err_msg=one
        )
    moved = names_of([dict(net.named_buffers()) for net in nets]) if buffers else {}
    for one, expected in moved.items():
        np.testing.assert_allclose(buffers[one].numpy(), expected.numpy(), rtol=1e-13, err_msg=one)


def test_an_ensemble_of_embeddings_shortens_the_rows_of_each():
    numbers = T.tensor([[0, 3], [3, 1]])
    nets = [nn.Embedding(5, 3, padding_idx=1, max_norm=0.5, **DOUBLE) for _ in range(2)]
    parameters, _ = stack_module_state(nets)
    found = vmap(lambda p: functional_call(nets[0], p, (numbers,)))(parameters)
    expected = T.stack([net(numbers) for net in nets])
    np.testing.assert_allclose(found.detach().numpy(), expected.detach().numpy(), rtol=1e-14)
    own = T.stack([net.weight for net in nets])
    np.testing.assert_array_equal(parameters["weight"].detach().numpy(), own.detach().numpy())
    with pytest.raises(RuntimeError, match="max_norm shortens the rows that are asked for"):
        vmap(nets[0])(numbers)


@pytest.mark.parametrize("layer", ["lstm", "gru", "attention", "batch_norm in evaluation"])
def test_layers_are_called_with_one_example(layer):
    make, shape = LAYERS[layer]
    net, x = make(), drawn(5, *shape)
    found = vmap(lambda x: output(net, x))(x)
    expected = T.stack([output(net, one) for one in x])
    np.testing.assert_allclose(
        found.detach().numpy(), expected.detach().numpy(), rtol=1e-12, atol=1e-14
    )


def test_each_example_may_have_its_own_hidden_keys_and_rows():
    net = nn.MultiheadAttention(4, 2, batch_first=True, **DOUBLE)
    table = nn.Embedding(6, 4, padding_idx=2, **DOUBLE)
    words = T.tensor([[0, 2, 5], [1, 1, 2], [4, 3, 0]])
    hidden = words == 2

    def attended(words, hidden):
        x = table(words)
        return net(x, x, x, key_padding_mask=hidden)[0]

    found = vmap(attended)(words, hidden)
    expected = T.stack([attended(*one) for one in zip(words, hidden, strict=True)])
    np.testing.assert_allclose(found.detach().numpy(), expected.detach().numpy(), rtol=1e-13)
    for a, b in zip(*(T.grad(y.sin().sum(), table.weight) for y in (found, expected)), strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-12, atol=1e-15)


def test_running_statistics_that_are_one_for_all_are_not_moved_towards_those_of_each():
    x = drawn(4, 6, 3)
    for net in (nn.BatchNorm1d(3, **DOUBLE), nn.InstanceNorm1d(6, track_running_stats=True)):
        with pytest.raises(RuntimeError, match="running statistics are one for all examples.*eval"):
            vmap(net)(x if isinstance(net, nn.BatchNorm1d) else x.float())
        assert net.num_batches_tracked.item() == 0 and not net.running_mean.any()
    free = nn.BatchNorm1d(3, track_running_stats=False, **DOUBLE)
    expected = (x - x.mean(1, True)) / (x.var(1, keepdim=True, correction=0) + 1e-5).sqrt()
    found = vmap(free)(x)
    np.testing.assert_allclose(found.detach().numpy(), expected.numpy(), rtol=1e-12)


def test_dropout_in_a_map_draws_as_it_is_said():
    net, x = nn.Dropout(0.5), T.ones(4, 100)
    with pytest.raises(RuntimeError, match="randomness='different' or 'same'"):
        vmap(net)(x)
    for layer, shape in ((net, (4, 100)), (nn.Dropout2d(0.5), (4, 2, 50, 1, 1))):
        apart = vmap(layer, randomness="different")(T.ones(*shape))
        alike = vmap(layer, randomness="same")(T.ones(*shape))
        assert set(apart.unique().tolist()) == set(alike.unique().tolist()) == {0.0, 2.0}
        assert T.equal(alike, alike[:1].expand(shape)) and not T.equal(apart[0], apart[1])
    assert T.equal(vmap(net.eval())(x), x)


NET = nn.Sequential(linear(), nn.Tanh(), linear(2, 2))
PARAMETERS = {name: p.detach() for name, p in NET.named_parameters()}


def of_parameters(p):
    return functional_call(NET, p, (X,))


@pytest.mark.parametrize("transform", [jacrev, jacfwd])
def test_jacobians_by_a_dict_of_parameters(transform):
    found = transform(of_parameters)(PARAMETERS)
    assert list(found) == list(PARAMETERS)
    values = NET(X)
    for position in np.ndindex(2, 2):
        rows = T.grad(values[position], list(NET.parameters()), retain_graph=True)
        for (name, jacobian), row in zip(found.items(), rows, strict=True):
            assert jacobian.shape == (2, 2, *PARAMETERS[name].shape)
            np.testing.assert_allclose(jacobian[position].numpy(), row.numpy(), atol=1e-15)
    each = vmap(transform(lambda p, x: functional_call(NET, p, (x,))), in_dims=(None, 0))
    for name, jacobian in each(PARAMETERS, X).items():
        np.testing.assert_allclose(jacobian.numpy(), found[name].numpy(), atol=1e-15)


SECOND = {
    "hessian": hessian,
    "forward over reverse": lambda f: jacfwd(jacrev(f)),
    "reverse over forward": lambda f: jacrev(jacfwd(f)),
    "forward over forward": lambda f: jacfwd(jacfwd(f)),
}


@pytest.mark.parametrize("name", SECOND)
def test_second_derivatives_by_a_dict_of_parameters(name):
    found = SECOND[name](lambda p: (of_parameters(p) ** 3).sum())(PARAMETERS)
    own = list(NET.parameters())
    slopes = T.grad((NET(X) ** 3).sum(), own, create_graph=True)
    names = list(PARAMETERS)
    for one, slope in zip(names, slopes, strict=True):
        for position in np.ndindex(*slope.shape):
            rows = T.grad(slope[position], own, retain_graph=True, materialize_grads=True)
            for other, row in zip(names, rows, strict=True):
                np.testing.assert_allclose(
                    found[one][other][position].numpy(), row.numpy(), atol=1e-13
                )
