"""Recurrent layers against their equations, step by step in numpy."""

import math

import numpy as np
import pytest

import autograd as T
from autograd import nn
from autograd.jets import partials

RNG = np.random.default_rng(4)


def sigma(x):
    return 1 / (1 + np.exp(-x))


def step(kind, x, state, w_ih, w_hh, b_ih, b_hh):
    """One step of a kind, gate by gate."""
    h = state[0]
    entered = np.split(x @ w_ih.T + b_ih, len(w_ih) // (w_hh.shape[0] // COUNT[kind]), -1)
    recurred = np.split(h @ w_hh.T + b_hh, COUNT[kind], -1)
    if kind == "LSTM":
        i, f, g, o = (a + b for a, b in zip(entered, recurred, strict=True))
        c = sigma(f) * state[1] + sigma(i) * np.tanh(g)
        return sigma(o) * np.tanh(c), c
    if kind == "GRU":
        r, z = (sigma(a + b) for a, b in zip(entered[:2], recurred[:2], strict=True))
        n = np.tanh(entered[2] + r * recurred[2])
        return ((1 - z) * n + z * h,)
    return (np.tanh(entered[0] + recurred[0]),)


COUNT = {"RNN": 1, "LSTM": 4, "GRU": 3}


def numbers(layer, end):
    state = {name: tensor.numpy() for name, tensor in layer.state_dict().items()}
    rows = len(state[f"weight_ih{end}"])
    return [
        state.get(f"{name}{end}", np.zeros(rows))
        for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    ]


def by_hand(kind, layer, x, state):
    """Outputs and last states for (steps, n, size), layer by layer."""
    directions = ("", "_reverse") if layer.bidirectional else ("",)
    after, place = [], 0
    for k in range(layer.num_layers):
        outputs = []
        for end in directions:
            now = tuple(part[place] for part in state)
            project = layer.state_dict().get(f"weight_hr_l{k}{end}")
            steps = []
            for row in x[::-1] if end else x:
                now = step(kind, row, now, *numbers(layer, f"_l{k}{end}"))
                if project is not None:
                    now = (now[0] @ project.numpy().T, now[1])
                steps.append(now[0])
            outputs.append(np.stack(steps[::-1] if end else steps))
            after.append(now)
            place += 1
        x = np.concatenate(outputs, -1)
    return x, [np.stack(parts) for parts in zip(*after, strict=True)]


@pytest.mark.parametrize(
    ("kind", "how"),
    [
        ("RNN", {}), ("LSTM", {}), ("GRU", {}), ("GRU", {"bias": False}),
        ("RNN", {"num_layers": 2, "bidirectional": True}),
        ("LSTM", {"num_layers": 2, "bidirectional": True, "proj_size": 2}),
        ("GRU", {"num_layers": 3}),
    ],
)  # fmt: skip
def test_layers_follow_their_equations(kind, how):
    T.manual_seed(0)
    layer = getattr(nn, kind)(3, 4, dtype=T.float64, **how)
    count = layer.num_layers * (2 if layer.bidirectional else 1)
    x = RNG.normal(size=(5, 2, 3))
    state = [RNG.normal(size=(count, 2, layer.proj_size or 4))]
    state += [RNG.normal(size=(count, 2, 4))] if kind == "LSTM" else []
    expected = by_hand(kind, layer, x, state)
    given = tuple(T.tensor(part) for part in state)
    found, after = layer(T.tensor(x), given if kind == "LSTM" else given[0])
    after = after if kind == "LSTM" else (after,)
    np.testing.assert_allclose(found.detach().numpy(), expected[0], rtol=1e-12)
    for ours, theirs in zip(after, expected[1], strict=True):
        np.testing.assert_allclose(ours.detach().numpy(), theirs, rtol=1e-12)
    # without first states these are zeros; batches may come first, or there may be none
    plain, _ = layer(T.tensor(x))
    nothing = [np.zeros_like(part) for part in state]
    np.testing.assert_allclose(plain.detach().numpy(), by_hand(kind, layer, x, nothing)[0])
    alone, last = layer(T.tensor(x[:, 0]))
    assert T.allclose(alone, plain[:, 0])
    layer.batch_first = True
    turned, _ = layer(T.tensor(x.swapaxes(0, 1)))
    assert T.allclose(turned.transpose(0, 1), plain)
    assert (last[0] if kind == "LSTM" else last).shape == (count, state[0].shape[-1])


@pytest.mark.parametrize("kind", list(COUNT))
def test_a_cell_is_a_step(kind):
    cell = getattr(nn, f"{kind}Cell")(3, 4, dtype=T.float64)
    x, state = RNG.normal(size=(2, 3)), [RNG.normal(size=(2, 4)) for _ in range(2)]
    state = state if kind == "LSTM" else state[:1]
    expected = step(kind, x, state, *numbers(cell, ""))
    given = tuple(T.tensor(part) for part in state)
    found = cell(T.tensor(x), given if kind == "LSTM" else given[0])
    for ours, theirs in zip(found if kind == "LSTM" else (found,), expected, strict=True):
        np.testing.assert_allclose(ours.detach().numpy(), theirs, rtol=1e-12)
    batch, alone = cell(T.tensor(x)), cell(T.tensor(x[0]))
    if kind == "LSTM":
        batch, alone = batch[0], alone[0]
    assert T.allclose(alone, batch[0])


def test_a_relu_may_take_the_place_of_the_tanh():
    cell = nn.RNNCell(3, 4, nonlinearity="relu", bias=False, dtype=T.float64)
    x, h = T.randn(2, 3, dtype=T.float64), T.randn(2, 4, dtype=T.float64)
    expected = (x @ cell.weight_ih.t() + h @ cell.weight_hh.t()).relu()
    assert T.allclose(cell(x, h), expected) and cell.bias_ih is None
    layer = nn.RNN(3, 4, nonlinearity="relu", bias=False, dtype=T.float64)
    layer.load_state_dict({f"{name}_l0": p for name, p in cell.state_dict().items()})
    assert T.allclose(layer(x.unsqueeze(0), h.unsqueeze(0))[0][0], expected)


def test_what_layers_have_and_show():
    layer = nn.LSTM(3, 400, 2, bidirectional=True, proj_size=5)
    assert list(layer.state_dict())[:10] == [
        f"{name}_l0{end}"
        for end in ("", "_reverse")
        for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr")
    ]
    assert layer.weight_ih_l1.shape == (1600, 10) and layer.weight_hr_l0.shape == (5, 400)
    assert len(layer.all_weights) == 4 and layer.all_weights[0][4] is layer.weight_hr_l0
    largest = max(p.abs().max().item() for p in layer.parameters())
    assert 0.049 < largest <= 1 / math.sqrt(400)
    assert repr(nn.GRU(3, 4, 2, dropout=0.5)) == "GRU(3, 4, num_layers=2, dropout=0.5)"
    assert repr(nn.RNNCell(3, 4, nonlinearity="relu")) == "RNNCell(3, 4, nonlinearity=relu)"
    assert repr(nn.LSTMCell(3, 4, bias=False)) == "LSTMCell(3, 4, bias=False)"
    layer.flatten_parameters()


def test_between_layers_numbers_are_left_out_while_training():
    layer = nn.RNN(2, 50, 2, dropout=0.5)
    x = T.rand(4, 1, 2)
    assert not T.equal(layer(x)[0], layer(x)[0])
    assert T.equal(layer(x)[1][0], layer(x)[1][0])  # not within the first
    layer.eval()
    assert T.equal(layer(x)[0], layer(x)[0])
    with pytest.warns(UserWarning, match="after all but last recurrent layer"):
        nn.RNN(2, 3, dropout=0.5)


X = T.ones(5, 2, 3)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: nn.RNN(3, 4)(X[..., :2]), RuntimeError, "equal to input_size. Expected 3, got 2"),
        (lambda: nn.RNN(3, 4)(X[0, 0]), ValueError, "2D or 3D, got 1D"),
        (lambda: nn.RNN(3, 4)([X]), TypeError, "no packed sequences.*pad_sequence"),
        (lambda: nn.RNN(3, 4)(X, X), RuntimeError, r"hidden size \[1, 2, 4\], got \[5, 2, 3\]"),
        (
            lambda: nn.LSTM(3, 4)(X, (T.ones(1, 2, 4), T.ones(1, 2, 3))),
            RuntimeError,
            r"cell size \[1, 2, 4\], got \[1, 2, 3\]",
        ),
        (lambda: nn.LSTM(3, 4)(X, (T.ones(1, 2, 4),)), RuntimeError, r"\(h, c\), got 1 tensors"),
        (lambda: nn.LSTMCell(3, 4)(X[0], (T.ones(2, 4),)), RuntimeError, r"\(h, c\), got 1"),
        (lambda: nn.GRU(3, 4)(X[:0]), RuntimeError, "length to be larger than 0"),
        (lambda: nn.GRU(3, 4, batch_first=True)(X[:, :0]), RuntimeError, "larger than 0"),
        (lambda: nn.RNN(3, 4)(X, T.ones(1, 2, 4).double()), RuntimeError, "same dtype"),
        (lambda: nn.RNN(3, 4, nonlinearity="sin"), ValueError, "Unknown nonlinearity 'sin'"),
        (lambda: nn.RNN(3, 0), ValueError, "hidden_size must be greater than zero"),
        (lambda: nn.RNN(3, 4.0), TypeError, "hidden_size should be of type int, got: float"),
        (lambda: nn.RNN(3, 4, dropout=2), ValueError, "number in range"),
        (lambda: nn.LSTM(3, 4, proj_size=4), ValueError, "smaller than hidden_size"),
        (lambda: nn.RNNBase("GRU", 3, 4, proj_size=2), ValueError, "only supported for LSTM"),
        (lambda: nn.RNNBase("ABC", 3, 4), ValueError, "Unrecognized RNN mode: 'ABC'"),
        (lambda: nn.GRUCell(3, 4)(X), ValueError, "1D or 2D, got 3D"),
        (lambda: nn.GRUCell(3, 4)(X[0, :, :2]), RuntimeError, "inconsistent input_size: got 2"),
        (lambda: nn.GRUCell(3, 4)(X[0], X[0]), RuntimeError, r"state of shape \[2, 4\]"),
    ],
)
def test_what_does_not_fit_is_refused(call, error, words):
    with pytest.raises(error, match=words):
        call()


@pytest.mark.parametrize("kind", list(COUNT))
def test_second_derivatives_are_those_of_differences(kind):
    layer = getattr(nn, kind)(2, 2, dtype=T.float64)
    x = T.randn(3, 1, 2, dtype=T.float64, requires_grad=True)
    assert T.gradcheck(lambda x: layer(x)[0], [x], order=2)


class Field(nn.Module):
    """A number at each point, of a sequence that is made of its coordinates."""

    def __init__(self, kind):
        super().__init__()
        self.layer = getattr(nn, kind)(2, 4, batch_first=True, dtype=T.float64)
        self.last = nn.Linear(4, 1, dtype=T.float64)

    def forward(self, x):
        factors = T.tensor([[1.0], [2.0], [0.5]], dtype=T.float64)
        return self.last(self.layer(x.reshape(-1, 1, 2) * factors)[0][:, -1])


@pytest.mark.parametrize("kind", list(COUNT))
def test_derivatives_of_any_kind_go_through(kind):
    field = Field(kind)
    x = T.rand(5, 2, dtype=T.float64, requires_grad=True)

    def loss(x):
        u = field(x)
        (slope,) = T.grad(u.sum(), x, create_graph=True)
        return ((slope[:, 1] + u[:, 0] * slope[:, 0]) ** 2).mean()

    (slope,) = T.grad(field(x).sum(), x, create_graph=True)
    (bend,) = T.grad(slope[:, 0].sum(), x)
    ways = [x.detach()[:, :1], x.detach()[:, 1:]]
    found = partials(lambda a, b: field(T.cat([a, b], 1)), ways, [(0,), (0, 0)])
    assert T.allclose(found[(0,)][:, 0], slope[:, 0], rtol=1e-10)
    assert T.allclose(found[(0, 0)][:, 0], bend[:, 0], rtol=1e-8)
    parameters = [p for p in field.parameters() if p.ndim > 1]
    recorded = T.grad(T.compile(loss, points="x")(x), parameters)
    for ours, plain in zip(recorded, T.grad(loss(x), parameters), strict=True):
        assert T.allclose(ours, plain, rtol=1e-10, atol=1e-12)
