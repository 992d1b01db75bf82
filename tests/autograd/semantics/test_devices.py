"""Rows 62-73: devices, copies, detach and clone; 62-69 on the strict device and on a real GPU."""

from __future__ import annotations

import copy
import sys

import numpy as np
import pytest

import autograd as T
from autograd import devices
from autograd.strict import StrictArray, strict_cuda


def random_leaf(dtype, *shape):
    return T.rand(*shape, dtype=dtype, requires_grad=True)


def test_row_062_moving_or_casting_a_leaf_records_a_copy(cuda, dtype):
    x = random_leaf(dtype, 10)
    other = T.float64 if dtype == np.float32 else T.float32
    for copied in (x.cuda(), x.to(cuda), x.to(device=cuda), x.to(other), x.to(cuda, other)):
        assert copied.is_leaf is False and copied.requires_grad is True
        assert copied.grad_fn is not None
    assert x.cuda().is_cuda is True and x.cuda().dtype == dtype
    assert x.to(other).dtype == other and x.to(other).is_cuda is False
    both = x.to(cuda, other)
    assert both.is_cuda is True and both.dtype == other
    np.testing.assert_allclose(x.cuda().detach().cpu().numpy(), x.detach().numpy(), rtol=0, atol=0)
    assert x.is_leaf is True and x.is_cuda is False


def test_row_063_made_on_the_device_is_a_leaf(cuda, dtype):
    x = T.rand(10, dtype=dtype, requires_grad=True, device=cuda)
    assert x.is_leaf is True and x.requires_grad is True and x.is_cuda is True


def test_row_064_plain_data_moved_is_a_leaf(cuda, dtype):
    x = T.rand(3, dtype=dtype).cuda()
    assert x.is_leaf is True and x.requires_grad is False and x.is_cuda is True


def test_row_065_what_changes_nothing_returns_self(cuda, dtype):
    x = random_leaf(dtype, 2, 3)
    same_name = {"float32": "float", "float64": "double"}[dtype.name]
    for same in (
        x.to(dtype),
        x.to("cpu"),
        x.to(x),
        x.to(device="cpu", dtype=dtype),
        getattr(x, same_name)(),
        x.cpu(),
        x.contiguous(),
    ):
        assert same is x
    other_name = {"float32": "double", "float64": "float"}[dtype.name]
    for made in (x.clone(), getattr(x, other_name)(), x.view(3, 2), x.reshape(6), x[0], x.T):
        assert made is not x and made.is_leaf is False
    there = T.rand(3, dtype=dtype, requires_grad=True, device=cuda)
    assert there.cuda() is there and there.to(cuda) is there and there.to("cuda:0") is there
    assert there.contiguous() is there and there.to(dtype) is there
    assert there.clone().is_leaf is False and there[0].is_leaf is False
    assert there.cpu().is_leaf is False


def test_row_066_a_moved_tensor_keeps_no_grad_unless_asked(cuda, dtype):
    a = random_leaf(dtype, 3).cuda()
    (a * a).sum().backward()
    with pytest.warns(UserWarning, match="not a leaf Tensor is being accessed") as caught:
        assert a.grad is None
    assert caught[0].filename == __file__
    a = random_leaf(dtype, 3).cuda()
    a.retain_grad()
    (a * a).sum().backward()
    assert a.grad.is_cuda is True
    np.testing.assert_array_equal(a.grad.cpu().numpy(), 2 * a.detach().cpu().numpy())


def test_row_067_a_layer_on_the_device_gets_gradients(cuda, dtype):
    layer = T.nn.Linear(3, 3).to(dtype).cuda()
    x = T.rand(4, 3, dtype=dtype, device=cuda)
    layer(x).sum().backward()
    for parameter in layer.parameters():
        assert parameter.is_leaf is True and parameter.is_cuda is True
        assert parameter.grad.is_cuda is True and parameter.grad.dtype == dtype
    assert layer.bias.grad.tolist() == [4.0, 4.0, 4.0]
    np.testing.assert_allclose(
        layer.weight.grad.cpu().numpy(), np.tile(x.cpu().numpy().sum(0), (3, 1)), rtol=1e-6
    )


def test_row_068_made_on_a_numbered_device(cuda, dtype):
    x = T.tensor([1.0, 2.0], dtype=dtype, device="cuda:0", requires_grad=True)
    assert x.is_leaf is True and str(x.device) == "cuda:0"
    (x * x).sum().backward()
    assert x.grad.device == x.device
    assert x.grad.tolist() == [2.0, 4.0]


def test_row_069_gradients_arrive_where_the_source_is(cuda, dtype):
    other = T.float64 if dtype == np.float32 else T.float32
    x = T.tensor([1.0, 2.0], dtype=dtype, requires_grad=True)
    for moved in (x.cuda(), x.to(other), x.to(cuda, other)):
        x.grad = None
        (moved * moved).sum().backward()
        assert x.grad.dtype == dtype and x.grad.device == x.device
        assert x.grad.tolist() == [2.0, 4.0]
        moved = None


def test_row_070_detach_shares_memory_and_version(dtype):
    x = T.tensor([1.0, 2.0], dtype=dtype, requires_grad=True) * 1
    d = x.detach()
    assert d.is_leaf is True and d.requires_grad is False
    assert d.data_ptr() == x.data_ptr()
    before = (x * x).sum()
    d.add_(1)
    assert x.tolist() == [2.0, 3.0]
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        before.backward()
    with T.no_grad():
        x.mul_(10)
    assert d.tolist() == [20.0, 30.0]
    assert x._version == d._version


def test_row_071_clone_copies_and_lets_the_gradient_through(dtype):
    x = T.tensor([1.0, 2.0], dtype=dtype, requires_grad=True)
    c = x.clone()
    assert c.data_ptr() != x.data_ptr()
    (c * c).sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]
    plain = x.detach()
    copied = plain.clone()
    copied.add_(1)
    assert plain.tolist() == [1.0, 2.0] and copied.is_leaf is True


def test_row_072_detach_in_place(dtype):
    x = T.tensor([1.0, 2.0], dtype=dtype, requires_grad=True)
    y = x * 2
    assert y.detach_() is y
    assert y.is_leaf is True and y.requires_grad is False and y.grad_fn is None
    view = (x * 2)[0:1]
    with pytest.raises(RuntimeError, match="Can't detach views in-place") as error:
        view.detach_()
    assert "detach()" in str(error.value)
    assert view.requires_grad is True


def test_row_073_the_strict_device_refuses_to_mix(dtype):
    host = T.tensor([1.0, 2.0], dtype=dtype)
    with strict_cuda():
        assert devices.cuda_is_available() is True
        there = host.cuda()
        assert type(there._data) is StrictArray
        with pytest.raises(RuntimeError, match="same device"):
            there + host
        with pytest.raises(TypeError, match="mixed"):
            there._data + host._data
        with pytest.raises(TypeError, match="implicit conversion"):
            np.asarray(there._data)
        with pytest.raises(TypeError, match=r"\.cpu\(\)"):
            there.numpy()
        assert (there + there).tolist() == [2.0, 4.0]
        assert (there * T.tensor(2.0, dtype=dtype)).tolist() == [2.0, 4.0]
    with pytest.raises(devices.DeviceError, match="strict|cuda"):
        devices.as_device("strict")


def test_a_number_that_is_not_there_is_refused_with_how_many_are():
    with strict_cuda():
        assert str(devices.as_device("cuda:1")) == "cuda:1"
        message = "device .cuda:2. is not there: .* there are 2, numbers 0 to 1; CUDA_VISIBLE"
        with pytest.raises(devices.DeviceError, match=message):
            T.zeros(1, device="cuda:2")


def test_a_cupy_that_cannot_be_imported_says_why(monkeypatch, tmp_path):
    page = "try:\n    raise OSError('libcuda.so.1: cannot open')\nexcept OSError as error:\n"
    page += "    raise ImportError('\\n=====\\nFailed to import CuPy.') from error\n"
    (tmp_path / "cupy.py").write_text(page)
    monkeypatch.delitem(sys.modules, "cupy", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(devices.DeviceError, match="not usable: libcuda.so.1: cannot open; install"):
        devices._load_cupy()


def test_a_gpu_goes_by_the_name_cuda():
    with pytest.raises(devices.DeviceError, match="unknown device type 'gpu'.*'cuda' or 'cuda:0'"):
        devices.as_device("gpu")


def made(device):
    return T.tensor([1.0, -2.0, 3.0], device=device, requires_grad=True)


def stepped(device):
    parameter = made(device)
    optimizer = T.optim.Adam([parameter], lr=0.1)
    parameter.grad = T.ones(3, device=device)
    optimizer.step()
    optimizer.load_state_dict(optimizer.state_dict())
    optimizer.step()
    return parameter


def cast(device):
    layer = T.nn.Linear(3, 1, device=device)
    return layer.double().float().to(T.float64).type(T.float32).weight.new_ones(3)


def refused(device):
    with (
        T.autograd.set_detect_anomaly(True),
        pytest.raises(RuntimeError, match="returned nan values"),
    ):
        (made(device) * 0).sqrt().mul(0).div(0).sum().backward()
    return T.ones(3, device=device)


@pytest.mark.parametrize(
    "found",
    [
        lambda device: copy.deepcopy(made(device)),
        stepped,
        cast,
        refused,
        lambda device: made(device) * (-2.0 in made(device)),
        lambda device: T.where(made(device).detach() > 0)[0],
        lambda device: made(device) * T.equal(made(device), made(device)),
        lambda device: made(device) * T.allclose(made(device), made(device)),
    ],
)
def test_what_lies_on_a_device_that_is_not_current_is_handled_there(found):
    expected = found("cpu").tolist()
    with strict_cuda():
        there = found("cuda:1")
        assert str(there.device) == "cuda:1" and there.tolist() == expected
