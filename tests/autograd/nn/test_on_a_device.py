"""Layers that make tensors of their own make them on the device of their input, current or not."""

import pytest

import autograd as T
from autograd import nn
from autograd.strict import strict_cuda

HIDDEN = [[False, False, True]] * 2


def attended(layer, x):
    padding = T.tensor(HIDDEN, device=x.device)
    return layer(x, x, x, key_padding_mask=padding)[0]


CASES = {
    "batch_norm": (lambda: nn.BatchNorm1d(3), (2, 3, 4), None),
    "batch_norm of all": (lambda: nn.BatchNorm1d(3, momentum=None), (2, 3, 4), None),
    "instance_norm": (lambda: nn.InstanceNorm1d(3, track_running_stats=True), (2, 3, 4), None),
    "group_norm": (lambda: nn.GroupNorm(1, 3), (2, 3, 4), None),
    "local_response_norm": (lambda: nn.LocalResponseNorm(2), (2, 3, 4), None),
    "lstm": (lambda: nn.LSTM(4, 3, 2, bidirectional=True), (2, 3, 4), lambda m, x: m(x)[0]),
    "gru": (lambda: nn.GRU(4, 3), (2, 4), lambda m, x: m(x)[1]),
    "cell": (lambda: nn.RNNCell(4, 3), (2, 4), None),
    "attention": (
        lambda: nn.MultiheadAttention(
            4, 2, batch_first=True, add_bias_kv=True, add_zero_attn=True
        ),
        (2, 3, 4),
        attended,
    ),
    "transformer": (
        lambda: nn.TransformerEncoderLayer(4, 2, 5, 0.0), (2, 3, 4),
        lambda m, x: m(x, nn.Transformer.generate_square_subsequent_mask(2, x.device)),
    ),
    "weight_norm": (lambda: nn.utils.weight_norm(nn.Linear(4, 3)), (2, 4), None),
    "spectral_norm": (lambda: nn.utils.spectral_norm(nn.Linear(4, 3)), (2, 4), None),
    "embedding": (
        lambda: nn.Embedding(3, 4, padding_idx=1), (2, 4),
        lambda m, x: m(T.tensor([0, 1], device=x.device)) * x,
    ),
    "fold": (lambda: nn.Fold((2, 3), 2, padding=1), (2, 4, 12), None),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients_are_those_of_the_host(name):
    make, shape, call = CASES[name]
    call = call or (lambda module, x: module(x))
    T.manual_seed(0)
    host = make()
    state = {key: tensor.clone() for key, tensor in host.state_dict().items()}
    x = T.rand(*shape, requires_grad=True)
    expected = call(host, x)
    gradients = T.grad((expected**2).sum(), [x, *host.parameters()], materialize_grads=True)
    with strict_cuda():
        there = make()
        there.load_state_dict(state)
        there.cuda(1)  # which is not current of itself
        y = x.detach().cuda(1).requires_grad_()
        found = call(there, y)
        ours = T.grad((found**2).sum(), [y, *there.parameters()], materialize_grads=True)
        assert {str(one.device) for one in (found, *ours)} == {"cuda:1"}
        results = [one.detach().cpu().numpy() for one in (found, *ours, *there.buffers())]
    for one, other in zip(results, (expected, *gradients, *host.buffers()), strict=True):
        assert (one == other.detach().numpy()).all()
