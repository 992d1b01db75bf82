"""Small parameters that are moved as one vector move as each would alone, to the bit."""

import copy
import pickle

import numpy as np
import pytest

from autograd import Tensor, optim
from autograd.optim.together import MOST

SHAPES = [(3, 4), (4,), (), (2, 5)]
MAKERS = {
    "sgd": lambda p: optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=0.1),
    "adam": lambda p: optim.Adam(p, lr=0.1, weight_decay=0.1, amsgrad=True),
    "adamw uphill": lambda p: optim.AdamW(p, lr=0.1, maximize=True),
    "adamax": lambda p: optim.Adamax(p, lr=0.1, weight_decay=0.1),
    "nadam": lambda p: optim.NAdam(p, lr=0.1, weight_decay=0.1),
    "radam uphill": lambda p: optim.RAdam(p, lr=0.1, betas=(0.9, 0.9), maximize=True),
    "rmsprop": lambda p: optim.RMSprop(p, lr=0.1, momentum=0.5, centered=True),
    "adagrad": lambda p: optim.Adagrad(p, lr=0.1, lr_decay=0.1, initial_accumulator_value=0.2),
    "adadelta": lambda p: optim.Adadelta(p, lr=0.5, weight_decay=0.1),
    "rprop": lambda p: optim.Rprop(p, lr=0.1),
    "rprop uphill": lambda p: optim.Rprop(p, lr=0.1, maximize=True),
    "asgd": lambda p: optim.ASGD(p, lr=0.1, lambd=0.1, t0=2, weight_decay=0.1),
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


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
@pytest.mark.parametrize("name", ["adam", "sgd"])
def test_a_copy_goes_on_by_itself(name, copied):
    pairs = both(name)
    for optimizer, members in pairs:
        move(optimizer, members, 2)
    before = [p.numpy(force=True).copy() for p in pairs[0][1]]
    copies = [copied(optimizer) for optimizer, _ in pairs]
    copies = [(one, one.param_groups[0]["params"]) for one in copies]
    for pair in copies:
        move(*pair, 2)
    assert_same(*copies)
    for p, values in zip(pairs[0][1], before, strict=True):
        np.testing.assert_array_equal(p.numpy(force=True), values)
    for pair in pairs:
        move(*pair, 2)
    assert_same(*pairs)


@pytest.mark.parametrize("name", MAKERS)
def test_parameters_whose_data_is_replaced_are_moved_in_their_new_shapes(name):
    pairs = both(name, shapes=[(3,), (2,)])
    for optimizer, members in pairs:
        move(optimizer, members, 2)
        members[0].data = Tensor(np.ones((3, 3)))
        optimizer.state[members[0]].clear()
        move(optimizer, members, 2)
        assert members[0].shape == (3, 3)
    assert_same(*pairs)


def test_plain_steps_after_data_is_replaced_reach_every_element():
    members = parameters(shapes=[(3,), (2,)])
    optimizer = optim.SGD(members, lr=1.0)
    move(optimizer, members, 1)
    start = [Tensor(np.arange(9.0).reshape(3, 3)), Tensor(members[1].numpy(force=True).copy())]
    members[0].data = start[0].clone()
    for p in members:
        p.grad = Tensor(np.ones(p.shape))
    optimizer.step()
    for p, first in zip(members, start, strict=True):
        np.testing.assert_array_equal(p.numpy(force=True), first.numpy() - 1)


def test_a_replaced_array_of_a_state_is_gone_on_with():
    pairs = both("adam")
    for optimizer, members in pairs:
        move(optimizer, members, 2)
        state = optimizer.state[members[1]]
        state["exp_avg"].data = Tensor(np.full(members[1].shape, 3.0))
        move(optimizer, members, 2)
    assert_same(*pairs)


def test_parameters_in_one_memory_move_one_after_the_other():
    w = Tensor(np.zeros(3), True)
    v = w.detach().requires_grad_()
    w.grad, v.grad = Tensor(np.ones(3)), Tensor(np.ones(3))
    optim.SGD([w, v], lr=1.0).step()
    np.testing.assert_array_equal(w.numpy(force=True), [-2, -2, -2])


def test_parameters_that_come_to_lie_in_one_memory_move_one_after_the_other():
    members = parameters(shapes=[(3,), (3,)])
    optimizer = optim.SGD(members, lr=1.0)
    move(optimizer, members, 2)
    w, v = members
    v.data = w.data
    start = w.numpy(force=True).copy()
    w.grad, v.grad = Tensor(np.ones(3)), Tensor(np.ones(3))
    optimizer.step()
    np.testing.assert_array_equal(w.numpy(force=True), start - 2)


@pytest.mark.parametrize("part", [slice(1, None), slice(None, None, -1)])
def test_parameters_that_share_a_part_of_their_memory_move_one_after_the_other(part):
    w = Tensor(np.zeros(4), True)
    v = Tensor(np.zeros(4)[part].copy(), True)
    v.data = Tensor(w.detach().numpy()[part])
    for p in (w, v):
        p.grad = Tensor(np.ones(p.shape))
    optim.SGD([w, v], lr=1.0).step()
    expected = -np.ones(4)
    expected[part] -= 1
    np.testing.assert_array_equal(w.numpy(force=True), expected)


def test_parameters_of_another_dtype_than_before_keep_it():
    pairs = both("adam")
    for optimizer, members in pairs:
        move(optimizer, members, 2)
        for p in members:
            p.grad, p.data = None, p.data.to(np.float32)
        move(optimizer, members, 2)
        assert {p.numpy(force=True).dtype for p in members} == {np.dtype(np.float32)}
    assert_same(*pairs)


def test_groups_keep_options_of_their_own():
    pairs = [(parameters(), alone) for alone in (False, True)]
    ended = []
    for members, alone in pairs:
        groups = [{"params": members[:2]}, {"params": members[2:], "lr": 0.5}]
        optimizer = optim.Adam(groups, lr=0.1)
        optimizer.elementwise = not alone
        move(optimizer, members, 3)
        ended.append((optimizer, members))
    assert_same(*ended)


def test_a_rule_of_its_own_is_given_each_parameter_by_itself():
    class Normed(optim.SGD):
        def _update(self, values, grad, state, group):
            values -= group["lr"] * grad / np.linalg.norm(grad)

    members = parameters(shapes=[(3,), (2,)])
    start = [p.numpy(force=True).copy() for p in members]
    optimizer = Normed(members, lr=1.0)
    for p in members:
        p.grad = Tensor(np.ones(p.shape))
    optimizer.step()
    for p, first in zip(members, start, strict=True):
        np.testing.assert_allclose(first - p.numpy(force=True), p.numel() ** -0.5, rtol=1e-14)


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
