"""Small parameters that are moved as one vector move as each would alone, to the bit."""

import copy

import numpy as np
import pytest

from autograd import Tensor, optim
from autograd.optim.together import MOST

SHAPES = [(3, 4), (4,), (), (2, 5)]
MAKERS = {
    "sgd": lambda p: optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=0.1),
    "adam": lambda p: optim.Adam(p, lr=0.1, weight_decay=0.1, amsgrad=True),
    "adamw uphill": lambda p: optim.AdamW(p, lr=0.1, maximize=True),
    "rmsprop": lambda p: optim.RMSprop(p, lr=0.1, momentum=0.5, centered=True),
    "adagrad": lambda p: optim.Adagrad(p, lr=0.1, lr_decay=0.1, initial_accumulator_value=0.2),
}


def parameters(dtypes=(np.float64,), shapes=SHAPES):
    rng = np.random.default_rng(1)
    return [Tensor(np.asarray(rng.standard_normal(s)).astype(d), True)
            for d in dtypes for s in shapes]  # fmt: skip


def move(optimizer, members, steps, only=slice(None)):
    rng = np.random.default_rng(2)
    for _ in range(steps):
        for p in members:
            p.grad = None
        for p in members[only]:
            p.grad = Tensor(np.asarray(rng.standard_normal(p.shape)).astype(p.dtype))
        optimizer.step()


def both(name, **given):
    """Return parameters and an optimizer that moves them together, and such that do not."""
    members, others = parameters(**given), parameters(**given)
    together, alone = MAKERS[name](members), MAKERS[name](others)
    alone.elementwise = False
    return (together, members), (alone, others)


def assert_same(one, other):
    (first, members), (second, others) = one, other
    for p, q in zip(members, others, strict=True):
        assert p.detach().numpy().tobytes() == q.detach().numpy().tobytes()
        mine, theirs = first.state.get(p, {}), second.state.get(q, {})
        assert mine.keys() == theirs.keys()
        for name, value in mine.items():
            if isinstance(value, Tensor):
                np.testing.assert_array_equal(value.numpy(), theirs[name].numpy())
                assert value.shape == p.shape
            else:
                assert value == theirs[name]


@pytest.mark.parametrize("name", MAKERS)
def test_the_bits_are_those_of_each_alone(name):
    pairs = both(name, dtypes=(np.float64, np.float32))
    for pair in pairs:
        move(*pair, 5)
    assert_same(*pairs)


@pytest.mark.parametrize("name", MAKERS)
def test_parameters_may_leave_and_come_back(name):
    pairs = both(name)
    for pair in pairs:
        move(*pair, 2)
        move(*pair, 2, only=slice(1, None))  # from now on the first has another number of steps
        move(*pair, 2)
    assert_same(*pairs)


@pytest.mark.parametrize("name", MAKERS)
def test_a_state_that_was_loaded_or_written_to_is_gone_on_with(name):
    pairs = both(name)
    for optimizer, members in pairs:
        move(optimizer, members, 2)
        optimizer.load_state_dict(copy.deepcopy(optimizer.state_dict()))
        for value in optimizer.state[members[0]].values():
            if isinstance(value, Tensor):
                value.mul_(0.5)
        move(optimizer, members, 2)
    assert_same(*pairs)


def test_a_copy_of_an_optimizer_leaves_the_first_as_it_is():
    members = parameters()
    optimizer = optim.Adam(members)
    move(optimizer, members, 2)
    before = optimizer.state[members[0]]["exp_avg"].numpy().copy()
    other = copy.deepcopy(optimizer)
    move(other, other.param_groups[0]["params"], 2)
    np.testing.assert_array_equal(optimizer.state[members[0]]["exp_avg"].numpy(), before)


def test_small_ones_share_their_memory_and_large_ones_do_not():
    members = parameters(shapes=[(3,), (MOST + 1,), (2,)])
    optimizer = optim.Adam(members)
    move(optimizer, members, 1)
    moments = [optimizer.state[p]["exp_avg"].numpy() for p in members]
    assert moments[0].base is moments[2].base is not None
    assert not np.shares_memory(moments[1], moments[0])


def test_writes_are_seen_by_graphs_and_gradients_stay():
    members = parameters()
    optimizer = optim.Adam(members)
    loss = sum((p * p).sum() for p in members)
    loss.backward(retain_graph=True)
    gradients = [p.grad.numpy().copy() for p in members]
    optimizer.step()
    for p, g in zip(members, gradients, strict=True):
        np.testing.assert_array_equal(p.grad.numpy(), g)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()
