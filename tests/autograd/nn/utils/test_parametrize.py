"""Tensors that are computed from others whenever they are read."""

import pytest

import autograd as T
from autograd import nn
from autograd.nn.utils import parametrize


class Symmetric(nn.Module):
    def forward(self, x):
        return x.triu() + x.triu(1).t()


class Doubled(nn.Module):
    def forward(self, x):
        return 2 * x

    def right_inverse(self, x):
        return x / 2


class Narrowed(nn.Module):
    def forward(self, x):
        return x[:1]


def test_a_weight_is_computed_from_its_original():
    layer = nn.Linear(3, 3)
    original = layer.weight
    assert parametrize.register_parametrization(layer, "weight", Symmetric()) is layer
    assert layer.parametrizations.weight.original is original
    assert T.equal(layer.weight, layer.weight.t())
    assert parametrize.is_parametrized(layer) and parametrize.is_parametrized(layer, "weight")
    assert not parametrize.is_parametrized(layer, "bias")
    assert repr(layer) == (
        "Linear(\n  in_features=3, out_features=3, bias=True\n  (parametrizations): ModuleDict(\n"
        "    (weight): ParametrizationList(\n      (0): Symmetric()\n    )\n  )\n)"
    )
    with pytest.raises(RuntimeError, match="Symmetric does not implement right_inverse"):
        layer.weight = T.ones(3, 3)
    expected = layer.weight.detach().clone()
    parametrize.remove_parametrizations(layer, "weight")
    assert layer.weight is original and T.equal(layer.weight, expected)
    assert not parametrize.is_parametrized(layer) and list(layer.state_dict()) == ["bias", "weight"]


def test_further_ones_come_after_those_there_are():
    layer = nn.Linear(2, 2)
    weight = layer.weight.detach().clone()
    parametrize.register_parametrization(layer, "weight", Doubled())
    assert T.equal(layer.weight, weight)
    parametrize.register_parametrization(layer, "weight", Doubled())
    assert T.equal(layer.parametrizations.weight.original, weight / 2)
    assert T.equal(layer.weight, 2 * weight)
    layer.weight = T.ones(2, 2)
    assert layer.parametrizations.weight.original.tolist() == [[0.25] * 2] * 2
    parametrize.remove_parametrizations(layer, "weight", leave_parametrized=False)
    assert layer.weight.tolist() == [[0.25] * 2] * 2


def test_one_with_an_inverse_may_come_after_one_without():
    layer = nn.Linear(2, 2)
    parametrize.register_parametrization(layer, "weight", Symmetric())
    expected = 2 * layer.weight
    parametrize.register_parametrization(layer, "weight", Doubled())
    assert T.equal(layer.weight, expected)


def test_a_buffer_stays_a_buffer():
    layer = nn.BatchNorm1d(2)
    parametrize.register_parametrization(layer, "running_mean", Doubled())
    assert "parametrizations.running_mean.original" in dict(layer.named_buffers())
    parametrize.remove_parametrizations(layer, "running_mean")
    assert "running_mean" in dict(layer.named_buffers())


def test_inside_of_cached_a_tensor_is_computed_once():
    layer = nn.Linear(2, 2)
    parametrize.register_parametrization(layer, "weight", Doubled())
    assert layer.weight is not layer.weight
    with parametrize.cached():
        first = layer.weight
        with parametrize.cached():
            assert layer.weight is first
        assert layer.weight is first
    assert layer.weight is not first


def test_inside_of_cached_no_layer_is_taken_for_one_that_is_gone():
    with parametrize.cached():
        for value in range(20):
            layer = nn.Linear(1, 1)
            nn.init.constant_(layer.weight, value)
            parametrize.register_parametrization(layer, "weight", Symmetric())
            assert layer.weight.item() == value
            del layer


def test_a_recorded_function_sees_that_they_come_and_go():
    layer = nn.Linear(2, 2, dtype=T.float64)
    total = T.compile(lambda x: layer(x).sum())
    x = T.rand(3, 2, dtype=T.float64)
    total(x)
    parametrize.register_parametrization(layer, "weight", Symmetric())
    assert T.allclose(total(x), layer(x).sum())
    with T.no_grad():
        layer.parametrizations.weight.original.mul_(2.0)
    assert T.allclose(total(x), layer(x).sum())
    parametrize.remove_parametrizations(layer, "weight")
    assert T.allclose(total(x), layer(x).sum())


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda layer: parametrize.register_parametrization(layer, "other", Doubled()),
            "'other'; it has the parameters .'weight', 'bias'",
        ),
        (
            lambda layer: parametrize.register_parametrization(layer, "weight", Narrowed()),
            r"shape \[2, 2\] became float32 of shape \[1, 2\]",
        ),
        (lambda layer: parametrize.remove_parametrizations(layer, "bias"), "on 'bias'"),
        (
            lambda layer: parametrize.remove_parametrizations(
                nn.utils.parametrizations.weight_norm(layer), "weight", False
            ),
            "in terms of a sequence",
        ),
    ],
)
def test_what_does_not_fit_is_refused(call, words):
    layer = nn.Linear(2, 2)
    weight = layer.weight.detach().clone()
    with pytest.raises(ValueError, match=words):
        call(layer)
    assert T.allclose(layer.weight, weight)


def test_another_shape_is_taken_where_it_is_meant():
    layer = nn.Linear(2, 2, bias=False)
    parametrize.register_parametrization(layer, "weight", Narrowed(), unsafe=True)
    assert layer(T.ones(3, 2)).shape == (3, 1)


# ---- orthogonal matrices

MAPS = ["matrix_exp", "cayley", "householder"]


def holder(*shape, dtype=T.float64):
    module = nn.Module()
    generator = T.Generator().manual_seed(0)
    module.weight = nn.Parameter(T.randn(*shape, dtype=dtype, generator=generator))
    return module


def distance_from_orthonormal(weight):
    tall = weight if weight.shape[-2] >= weight.shape[-1] else weight.mT
    identity = T.eye(tall.shape[-1], dtype=weight.dtype)
    return (tall.mH @ tall - identity).abs().max().item()


@pytest.mark.parametrize("orthogonal_map", [None, *MAPS])
@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4), (2, 3, 3)])
@pytest.mark.parametrize("trivial", [True, False])
def test_a_weight_stays_orthogonal_while_it_is_trained(shape, orthogonal_map, trivial):
    module = nn.utils.parametrizations.orthogonal(
        holder(*shape), orthogonal_map=orthogonal_map, use_trivialization=trivial
    )
    original = module.parametrizations.weight.original
    before = module.weight.detach()
    assert distance_from_orthonormal(before) < 1e-13
    target = T.rand(*shape, dtype=T.float64, generator=T.Generator().manual_seed(1))
    optimizer = T.optim.SGD([original], lr=0.05)
    losses = []
    for _ in range(3):
        optimizer.zero_grad()
        loss = (module.weight - target).pow(2).sum()
        loss.backward()
        losses.append(loss.item())
        optimizer.step()
    assert losses[2] < losses[1] < losses[0]
    assert distance_from_orthonormal(module.weight) < 1e-13
    read = module.parametrizations.weight[0]
    assert T.autograd.gradcheck(read, (original.detach().clone().requires_grad_(),))


@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4)])
def test_an_orthogonal_matrix_is_read_as_it_was_assigned(shape):
    fitting = nn.utils.parametrizations.orthogonal(holder(*shape)).weight.detach()
    for orthogonal_map in MAPS:
        module = nn.utils.parametrizations.orthogonal(holder(*shape), "weight", orthogonal_map)
        module.weight = fitting
        assert (module.weight - fitting).abs().max() < 1e-13
    module = nn.utils.parametrizations.orthogonal(
        holder(*shape), orthogonal_map="householder", use_trivialization=False
    )
    module.weight = fitting
    assert (module.weight - fitting).abs().max() < 1e-13
    with pytest.raises(ValueError, match="expected a tensor of shape"):
        module.weight = T.ones(1, 1, dtype=T.float64)


@pytest.mark.parametrize("shape", [(3, 3), (4, 2)])
def test_complex_weights_are_unitary(shape):
    module = nn.utils.parametrizations.orthogonal(holder(*shape, dtype=T.complex128))
    assert distance_from_orthonormal(module.weight) < 1e-13


def test_an_orthogonal_layer_is_compiled_saved_and_made_plain_again():
    layer = nn.utils.parametrizations.orthogonal(nn.Linear(3, 3).double())
    x = T.rand(5, 3, dtype=T.float64)
    norms = T.compile(lambda x: layer(x).pow(2).sum())
    for _ in range(2):
        assert abs(norms(x).item() - layer(x).pow(2).sum().item()) < 1e-12
    other = nn.utils.parametrizations.orthogonal(nn.Linear(3, 3).double())
    other.load_state_dict(layer.state_dict())
    assert other.weight.tolist() == layer.weight.tolist()
    weight = layer.weight.detach()
    parametrize.remove_parametrizations(layer, "weight")
    assert layer.weight.tolist() == weight.tolist()


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda o: o(holder(3)), ValueError, "matrix or a batch of matrices, got 1D"),
        (lambda o: o(holder(3, 3), "bias"), ValueError, "no parameter or buffer"),
        (lambda o: o(holder(3, 3), "weight", "qr"), ValueError, "has to be one of"),
        (lambda o: o(holder(3, 3, dtype=T.complex128), "weight", "householder"), ValueError,
         "does not support complex"),
        (lambda o: setattr(o(holder(3, 3), use_trivialization=False), "weight", T.eye(3).double()),
         NotImplementedError, "cannot be assigned to"),
    ],
)  # fmt: skip
def test_what_cannot_be_orthogonal_is_refused(call, error, words):
    with pytest.raises(error, match=words):
        call(nn.utils.parametrizations.orthogonal)
