"""Layers of attention against maps and sums written out in numpy."""

import math

import numpy as np
import pytest

import autograd as T
from autograd import nn
from autograd.nn import functional as F

RNG = np.random.default_rng(5)


def by_hand(layer, query, key, value, hidden):
    """The layer's result and weights for (n, l, e), hidden (n, heads, l, s) of what is not seen."""
    state = {name: tensor.numpy() for name, tensor in layer.state_dict().items()}
    if "in_proj_weight" in state:
        weights = np.split(state["in_proj_weight"], 3)
    else:
        weights = [state[f"{name}_proj_weight"] for name in "qkv"]
    biases = np.split(state.get("in_proj_bias", np.zeros(3 * layer.embed_dim)), 3)
    q, k, v = (
        (x @ w.T + b).reshape(*x.shape[:2], layer.num_heads, -1).swapaxes(1, 2)
        for x, w, b in zip((query, key, value), weights, biases, strict=True)
    )
    products = q @ k.swapaxes(-1, -2) / math.sqrt(layer.head_dim)
    weights = np.where(hidden, 0, np.exp(products))
    weights /= weights.sum(-1, keepdims=True)
    seen = (weights @ v).swapaxes(1, 2).reshape(query.shape)
    return seen @ state["out_proj.weight"].T + state.get("out_proj.bias", 0), weights


@pytest.mark.parametrize("how", [{}, {"bias": False}, {"kdim": 3}, {"kdim": 3, "vdim": 5}])
@pytest.mark.parametrize("masked", [False, True])
def test_a_layer_is_attention_of_maps_of_its_inputs(how, masked):
    T.manual_seed(1)
    layer = nn.MultiheadAttention(4, 2, batch_first=True, dtype=T.float64, **how)
    arrays = [
        RNG.normal(size=(3, length, size))
        for length, size in ((5, 4), (6, layer.kdim), (6, layer.vdim))
    ]
    padding = RNG.random((3, 6)) < 0.3
    pairs = RNG.random((5, 6)) < 0.3
    padding[:, 0] = pairs[:, 0] = False
    hidden = padding[:, None, None] | pairs if masked else np.zeros((3, 1, 5, 6), bool)
    expected, weights = by_hand(layer, *arrays, hidden)
    tensors = [T.tensor(a) for a in arrays]
    masks = {}
    if masked:
        masks = {"key_padding_mask": T.tensor(padding), "attn_mask": T.tensor(pairs)}
    found, mean = layer(*tensors, **masks)
    np.testing.assert_allclose(found.detach().numpy(), expected, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(mean.detach().numpy(), weights.mean(1), rtol=1e-12, atol=1e-15)
    each = layer(*tensors, average_attn_weights=False, **masks)[1]
    np.testing.assert_allclose(each.detach().numpy(), weights, rtol=1e-12, atol=1e-15)
    found, none = layer(*tensors, need_weights=False, **masks)
    np.testing.assert_allclose(found.detach().numpy(), expected, rtol=1e-12, atol=1e-14)
    assert none is None
    if masked:
        added = T.tensor(np.where(hidden.repeat(2, 1).reshape(6, 5, 6), -np.inf, 0.0))
        found, _ = layer(*tensors, attn_mask=added)
        np.testing.assert_allclose(found.detach().numpy(), expected, rtol=1e-12, atol=1e-14)


def test_batches_come_second_first_or_not_at_all():
    layer = nn.MultiheadAttention(4, 2, dtype=T.float64)
    other = nn.MultiheadAttention(4, 2, dtype=T.float64, batch_first=True)
    other.load_state_dict(layer.state_dict())
    x = T.tensor(RNG.normal(size=(3, 5, 4)))
    expected, weights = other(x, x, x)
    turned = x.transpose(0, 1)
    found, same = layer(turned, turned, turned)
    assert T.allclose(found.transpose(0, 1), expected) and T.allclose(same, weights)
    hidden = T.tensor([False, False, True, True, False])
    found, alone = layer(x[0], x[0], x[0], key_padding_mask=hidden)
    assert found.shape == (5, 4) and alone.shape == (5, 5)
    assert (alone[:, 2:4] == 0).all()


def test_a_further_key_and_value_and_one_of_zeros():
    layer = nn.MultiheadAttention(
        4, 1, add_bias_kv=True, add_zero_attn=True, batch_first=True, dtype=T.float64
    )
    x = T.tensor(RNG.normal(size=(2, 3, 4)))
    found, weights = layer(x, x, x, key_padding_mask=T.tensor([[False, False, True]] * 2))
    assert weights.shape == (2, 3, 5) and (weights[:, :, 2] == 0).all()
    q, k, v = (x @ part.t() for part in layer.in_proj_weight.split(4))
    k = T.cat([k, layer.bias_k.expand(2, 1, 4), T.zeros(2, 1, 4, dtype=T.float64)], 1)
    v = T.cat([v, layer.bias_v.expand(2, 1, 4), T.zeros(2, 1, 4, dtype=T.float64)], 1)
    seen = T.tensor([True, True, False, True, True])
    means = F.scaled_dot_product_attention(q, k, v, seen).detach().numpy()
    expected = means @ layer.out_proj.weight.detach().numpy().T
    np.testing.assert_allclose(found.detach().numpy(), expected, rtol=1e-12)


def test_what_a_layer_has():
    assert list(nn.MultiheadAttention(4, 2).state_dict()) == [
        "in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias"
    ]  # fmt: skip
    layer = nn.MultiheadAttention(400, 2, kdim=3, bias=False, add_bias_kv=True)
    assert list(layer.state_dict()) == [
        "q_proj_weight", "k_proj_weight", "v_proj_weight", "bias_k", "bias_v", "out_proj.weight"
    ]  # fmt: skip
    bound = math.sqrt(6 / 403)
    largest = layer.k_proj_weight.abs().max().item()
    assert 0.99 * bound < largest <= bound


def test_dropout_is_for_training():
    layer = nn.MultiheadAttention(4, 2, dropout=0.5)
    x = T.rand(5, 3, 4)
    assert not T.equal(layer(x, x, x)[0], layer(x, x, x)[0])
    layer.eval()
    assert T.equal(layer(x, x, x)[0], layer(x, x, x)[0])


X = T.ones(5, 3, 4)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda m: nn.MultiheadAttention(4, 3), ValueError, "divisible by num_heads, got 4 and 3"),
        (lambda m: nn.MultiheadAttention(0, 3), ValueError, "must be greater than 0"),
        (lambda m: m(X, X, X[0]), RuntimeError, "2D or batched 3D"),
        (lambda m: m(X, X, X[..., :3]), RuntimeError, r"expected value of shape \[..., 4\]"),
        (lambda m: m(X, X, X[:2]), RuntimeError, r"\[5, 3\] do not match value's \[2, 3\]"),
        (lambda m: m(X, *(X[:, :2],) * 2), RuntimeError, "batches of different sizes"),
        (lambda m: m(X, X, X, is_causal=True), RuntimeError, "Need attn_mask"),
        (
            lambda m: m(X, X, X, attn_mask=T.ones(5, 4)),
            RuntimeError,
            r"2D attn_mask is \[5, 4\], but should be \[5, 5\]",
        ),
        (
            lambda m: m(X, X, X, key_padding_mask=T.ones(3, 4).bool()),
            RuntimeError,
            r"key_padding_mask of shape \[3, 5\], got \[3, 4\]",
        ),
        (
            lambda m: m(X, X, X, key_padding_mask=T.ones(5).bool()),
            RuntimeError,
            "key_padding_mask of 2 dimensions",
        ),
        (
            lambda m: m(X, X, X, attn_mask=T.ones(5, 5).long()),
            RuntimeError,
            "only bool and floating types of attn_mask",
        ),
    ],
)
def test_what_does_not_fit_a_layer_is_refused(call, error, words):
    with pytest.raises(error, match=words):
        call(nn.MultiheadAttention(4, 2))


def test_an_empty_batch_gives_an_empty_batch():
    layer = nn.MultiheadAttention(4, 2)
    x = T.zeros(3, 0, 4)
    seen, weights = layer(x, x, x)
    assert seen.shape == (3, 0, 4) and weights.shape == (0, 3, 3)
    assert nn.TransformerEncoderLayer(4, 2, 8)(x).shape == (3, 0, 4)
