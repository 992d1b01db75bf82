"""Transformers against the sums that they are made of."""

import pytest

import autograd as T
from autograd import nn
from autograd.jets import partials
from autograd.nn import functional as F

HOW = {"d_model": 4, "nhead": 2, "dim_feedforward": 6, "dropout": 0.0, "dtype": T.float64}


@pytest.fixture(autouse=True)
def seeded():
    T.manual_seed(2)


def rows(*shape):
    return T.randn(*shape, dtype=T.float64)


def blocks(layer, x, memory=None):
    """What a layer adds to x, each as a function of x."""
    yield layer.norm1, lambda x: layer.self_attn(x, x, x)[0]
    norm = layer.norm2
    if memory is not None:
        yield norm, lambda x: layer.multihead_attn(x, memory, memory)[0]
        norm = layer.norm3
    yield norm, lambda x: layer.linear2(layer.activation(layer.linear1(x)))


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("memory", [None, rows(7, 3, 4)])
def test_a_layer_adds_what_its_blocks_give(first, memory):
    kind = nn.TransformerEncoderLayer if memory is None else nn.TransformerDecoderLayer
    layer = kind(**HOW, norm_first=first, activation="gelu")
    x = rows(5, 3, 4)
    found = layer(x) if memory is None else layer(x, memory)
    for norm, block in blocks(layer, x, memory):
        x = x + block(norm(x)) if first else norm(x + block(x))
    assert T.allclose(found, x, rtol=1e-12)


def test_batches_may_come_first():
    layer = nn.TransformerEncoderLayer(**HOW)
    other = nn.TransformerEncoderLayer(**HOW, batch_first=True)
    other.load_state_dict(layer.state_dict())
    x = rows(5, 3, 4)
    assert T.allclose(other(x.transpose(0, 1)).transpose(0, 1), layer(x))
    assert T.allclose(layer(x[:, 0]), layer(x)[:, 0])


def test_with_a_causal_mask_what_comes_later_changes_nothing():
    layer = nn.TransformerEncoderLayer(**HOW)
    encoder = nn.TransformerEncoder(layer, 2, nn.LayerNorm(4, dtype=T.float64))
    mask = nn.Transformer.generate_square_subsequent_mask(5, dtype=T.float64)
    assert mask[1].tolist() == [0, 0, *[-float("inf")] * 3]
    x = rows(5, 3, 4)
    found = encoder(x, mask, is_causal=True)
    changed = T.cat([x[:3], rows(2, 3, 4)])
    assert T.allclose(encoder(changed, mask)[:3], found[:3])
    assert not T.allclose(encoder(changed)[:3], found[:3])


def test_padding_changes_nothing():
    model = nn.Transformer(**HOW, num_encoder_layers=1, num_decoder_layers=1)
    source, target = rows(5, 3, 4), rows(2, 3, 4)
    hidden = T.zeros(3, 5).bool()
    hidden[:, 3:] = True
    found = model(
        source, target, src_key_padding_mask=hidden, memory_key_padding_mask=hidden
    )
    assert T.allclose(found, model(source[:3], target))


def test_the_layers_are_copies_that_learn_by_themselves():
    layer = nn.TransformerDecoderLayer(**HOW)
    decoder = nn.TransformerDecoder(layer, 2)
    assert T.equal(decoder.layers[0].linear1.weight, layer.linear1.weight)
    decoder(rows(5, 3, 4), rows(5, 3, 4)).sum().backward()
    assert layer.linear1.weight.grad is None
    first, second = (one.linear2.bias for one in decoder.layers)
    assert first is not second and first.grad is not None


def test_what_layers_have():
    names = list(nn.TransformerEncoderLayer(4, 2).state_dict())
    assert names == [
        "self_attn.in_proj_weight", "self_attn.in_proj_bias", "self_attn.out_proj.weight",
        "self_attn.out_proj.bias", "linear1.weight", "linear1.bias", "linear2.weight",
        "linear2.bias", "norm1.weight", "norm1.bias", "norm2.weight", "norm2.bias",
    ]  # fmt: skip
    bare = nn.TransformerDecoderLayer(4, 2, bias=False).state_dict()
    assert len(bare) == 9 and not any("bias" in name for name in bare)
    model = nn.Transformer(4, 2, 1, 1, 8)
    assert model.encoder.layers[0].linear1.out_features == 8 and model.decoder.norm is not None


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: nn.TransformerEncoderLayer(4, 2, activation="tanh"), "relu/gelu.*'tanh'"),
        (lambda: nn.TransformerEncoderLayer(4, 2)(T.ones(3, 1, 4), is_causal=True), "Need a mask"),
        (
            lambda: nn.Transformer(4, 2, 1, 1)(T.ones(3, 1, 4), T.ones(3, 2, 4)),
            "batch number of src and tgt",
        ),
        (
            lambda: nn.Transformer(4, 2, 1, 1)(T.ones(3, 1, 4), T.ones(3, 1, 5)),
            r"equal to d_model \(4\)",
        ),
    ],
)
def test_what_does_not_fit_is_refused(call, words):
    with pytest.raises(RuntimeError, match=words):
        call()


class Field(nn.Module):
    """A number at each point, of three rows that are made of its coordinates."""

    def __init__(self):
        super().__init__()
        self.rows = nn.Linear(2, 12, dtype=T.float64)
        self.layer = nn.TransformerEncoderLayer(**HOW, activation=T.tanh, batch_first=True)
        self.last = nn.Linear(4, 1, dtype=T.float64)

    def forward(self, x):
        return self.last(self.layer(self.rows(x).reshape(-1, 3, 4)).mean(1))


def test_derivatives_of_any_kind_go_through():
    field = Field()
    x = T.rand(5, 2, dtype=T.float64, requires_grad=True)

    def loss(x):
        u = field(x)
        (slope,) = T.grad(u.sum(), x, create_graph=True)
        (bend,) = T.grad(slope[:, 0].sum(), x, create_graph=True)
        return ((slope[:, 1] + u[:, 0] * slope[:, 0] - bend[:, 0]) ** 2).mean()

    (slope,) = T.grad(field(x).sum(), x, create_graph=True)
    (bend,) = T.grad(slope[:, 0].sum(), x)
    ways = [x.detach()[:, :1], x.detach()[:, 1:]]
    found = partials(lambda a, b: field(T.cat([a, b], 1)), ways, [(0,), (0, 0), (0, 1)])
    assert T.allclose(found[(0,)][:, 0], slope[:, 0], rtol=1e-10)
    assert T.allclose(found[(0, 0)][:, 0], bend[:, 0], rtol=1e-8)
    assert T.allclose(found[(0, 1)][:, 0], bend[:, 1], rtol=1e-8)
    parameters = [p for p in field.parameters() if p.ndim > 1]
    recorded = T.grad(T.compile(loss, points="x")(x), parameters)
    for ours, plain in zip(recorded, T.grad(loss(x), parameters), strict=True):
        assert T.allclose(ours, plain, rtol=1e-10, atol=1e-12)


def test_second_derivatives_are_those_of_differences():
    layer = nn.TransformerEncoderLayer(2, 1, 3, 0.0, F.tanh, dtype=T.float64)
    x = rows(3, 1, 2).requires_grad_()
    assert T.gradcheck(layer, [x], order=2)
