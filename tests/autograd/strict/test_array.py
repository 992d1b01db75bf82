"""The strict test device: numpy arrays that behave as a GPU library's do and never mix."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import autograd as T
from autograd import devices
from autograd.strict import StrictArray, strict_cuda


@pytest.fixture
def strict():
    with strict_cuda() as backend:
        yield backend


def test_the_device_exists_only_inside_the_context():
    before = dict(devices._by_type), dict(devices._by_array_type)
    with strict_cuda():
        assert devices.cuda_is_available()
        assert T.ones(2, device="cuda").is_cuda
    assert (devices._by_type, devices._by_array_type) == before
    with pytest.raises(RuntimeError), strict_cuda():
        raise RuntimeError
    assert (devices._by_type, devices._by_array_type) == before


def test_arrays_refuse_host_arrays(strict):
    there = StrictArray(np.arange(3.0))
    here = np.arange(3.0)
    for mix in (
        lambda: there + here,
        lambda: here + there,
        lambda: np.add(there, here),
        lambda: strict.xp.add(there, here),
        lambda: strict.xp.where(there > 0, there, here),
        lambda: strict.xp.concatenate([there, here]),
        lambda: np.concatenate([here, there]),
        lambda: there.dot(here),
        lambda: there[here.astype(int)],
        lambda: there.__setitem__(slice(None), here),
        lambda: strict.xp.sum(here),
        lambda: np.add(there, there, out=here),
    ):
        with pytest.raises(TypeError, match="mixed"):
            mix()


def test_a_host_array_refuses_strict_values(strict):
    there = StrictArray(np.arange(3.0))
    here = np.zeros(3)
    with pytest.raises((TypeError, ValueError)):
        here[:] = there
    with pytest.raises(TypeError, match="to_host"):
        np.asarray(there)
    with pytest.raises(TypeError):
        here += there
    assert here.tolist() == [0.0, 0.0, 0.0]


def test_reductions_give_0d_arrays_of_the_device(strict):
    there = StrictArray(np.arange(3.0))
    for value in (there.sum(), strict.xp.sum(there), there[1], strict.xp.linalg.norm(there)):
        assert type(value) is StrictArray and value.shape == ()
    assert float(there[1]) == 1.0 and bool(there[1]) and there[1].item() == 1.0


def test_copies_do_not_share_memory(strict):
    here = np.arange(3.0)
    there = strict.from_host(here, 0)
    here[0] = 9
    back = strict.to_host(there)
    assert back.tolist() == [0.0, 1.0, 2.0]
    back[1] = 9
    assert strict.to_host(there).tolist() == [0.0, 1.0, 2.0]


def test_tensors_of_two_devices_do_not_mix(strict, dtype):
    here = T.ones(2, dtype=dtype, requires_grad=True)
    there = T.ones(2, dtype=dtype, device="cuda", requires_grad=True)
    for mix in (
        lambda: here + there,
        lambda: there * here,
        lambda: here @ there,
        lambda: T.maximum(here, there),
        lambda: T.cat([here, there]),
        lambda: T.where(here > 0, there, there),
        lambda: there + np.ones(2) * here,
    ):
        with pytest.raises(RuntimeError, match="same device"):
            mix()
    with pytest.raises(RuntimeError, match="device"):
        T.grad(there * 2, there, T.ones(2, dtype=dtype))


def test_a_0d_host_tensor_and_numbers_join_the_device(strict, dtype):
    there = T.ones(2, dtype=dtype, device="cuda", requires_grad=True)
    factor = T.tensor(3.0, dtype=dtype, requires_grad=True)
    loss = (there * factor * 2 + 1).sum()
    loss.backward()
    assert loss.is_cuda and loss.item() == 14.0
    assert there.grad.is_cuda and there.grad.tolist() == [6.0, 6.0]
    assert not factor.grad.is_cuda and factor.grad.item() == 4.0


def test_leaves_on_the_device_copy_and_pickle(strict):
    there = T.tensor([1.0, 2.0], device="cuda", requires_grad=True)
    (there * there).sum().backward()
    for copied in (copy.deepcopy(there), pickle.loads(pickle.dumps(there))):
        assert copied.is_cuda and copied.is_leaf and copied.requires_grad is True
        assert copied.tolist() == [1.0, 2.0] and copied.grad.tolist() == [2.0, 4.0]
        assert copied.grad.is_cuda


def test_views_on_the_device_share_memory(strict):
    base = T.zeros(3, device="cuda")
    base[0:2].add_(1)
    assert base.tolist() == [1.0, 1.0, 0.0]
    weight = T.tensor([2.0], device="cuda", requires_grad=True)
    base[2:3].copy_(weight * 3)
    (base * base).sum().backward()
    assert weight.grad.tolist() == [36.0]


def test_higher_derivatives_stay_on_the_device(strict):
    x = T.tensor([0.3, -0.7], dtype=T.float64, device="cuda", requires_grad=True)
    y = T.sin(x) * T.exp(x)
    for order in (1, 2, 3):
        (y,) = T.grad(y.sum(), x, create_graph=True)
        values = x.detach().cpu().numpy()
        # (d/dx)^n of e^x sin x is 2^(n/2) e^x sin(x + n pi / 4)
        expected = 2 ** (order / 2) * np.exp(values) * np.sin(values + order * np.pi / 4)
        assert y.is_cuda
        np.testing.assert_allclose(y.detach().cpu().numpy(), expected, rtol=1e-13)


def test_repr_names_the_device(strict):
    assert repr(T.tensor([6.0], device="cuda")) == "tensor([6.], device='cuda:0')"


def test_the_device_can_be_registered_inside_itself():
    with strict_cuda():
        with strict_cuda():
            assert T.ones(2, device="cuda").is_cuda
        assert (T.ones(2, device="cuda") + 1).is_cuda
    with pytest.raises(TypeError, match="not an array of a known device"):
        devices.backend_of(StrictArray(np.ones(2), 0))
