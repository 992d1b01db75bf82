"""save and load: what comes back, what is refused, and files that are damaged or foreign."""

import io
import json
import os
import zipfile
from collections import Counter, OrderedDict

import numpy as np
import pytest

import autograd as T
from autograd import nn, optim
from autograd.strict import strict_cuda


def again(value, **options):
    """What is read back of what is saved."""
    file = io.BytesIO()
    T.save(value, file)
    file.seek(0)
    return T.load(file, **options)


@pytest.mark.parametrize(
    "value",
    [
        None, True, False, 0, -3, 2**63 - 1, 2**70, -(2**70), 0.1, -0.0, 5e-324, 1 + 2j, "", "ü\n",
        "\ud800", b"\x00\xff", [], (), {}, [1, [2.5, (None, "a")]], {"a": {1: 2, (1, 2): 3}},
        OrderedDict(b=1, a=2), Counter(abca=2), {1, 2}, frozenset({3}), T.Size([2, 3]), T.float32,
        T.device("cpu"), np.float32(1.5), np.int8(3), {"dict": [], "tuple": {"list": 1}},
    ],
)  # fmt: skip
def test_a_value_comes_back_with_its_type(value):
    found = again(value)
    assert found == value and type(found) is type(value)
    assert list(found) == list(value) if isinstance(value, OrderedDict) else True


@pytest.mark.parametrize("number", [float("inf"), float("-inf"), complex(0, float("-inf"))])
def test_what_json_has_no_number_for(number):
    assert again([number]) == [number]
    assert np.isnan(again(float("nan")))


@pytest.mark.parametrize("shape", [(), (0, 3), (3,), (2, 3)])
@pytest.mark.parametrize(
    "dtype",
    [
        T.bool, T.uint8, T.int8, T.int16, T.int32, T.int64, T.float16, T.float32, T.float64,
        T.complex64, T.complex128,
    ],
)  # fmt: skip
def test_a_tensor_of_every_dtype_and_shape(dtype, shape):
    values = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)
    found = again(T.tensor(values))
    assert type(found) is T.Tensor and not found.requires_grad
    np.testing.assert_array_equal(found.numpy(), values, strict=True)


def test_requires_grad_and_the_class_of_a_parameter_stay():
    x = T.tensor([1.0, 2.0], requires_grad=True)
    found = again({"x": x, "y": x * 2, "p": nn.Parameter(x), "q": nn.Parameter(x, False)})
    assert found["x"].requires_grad and found["x"].is_leaf and found["x"].grad is None
    assert found["y"].requires_grad and found["y"].is_leaf
    assert type(found["p"]) is nn.Parameter and found["p"].requires_grad
    assert type(found["q"]) is nn.Parameter and not found["q"].requires_grad


def test_what_is_one_tensor_or_one_memory_is_so_again():
    x = T.tensor([1.0, 2.0])
    first, same, alias, row = again([x, x, x.detach(), x[:1]])
    assert first is same and alias is not first
    first[0] = 5.0
    assert alias.tolist() == [5.0, 2.0] and row.tolist() == [1.0]


def test_what_is_not_contiguous_is_saved_as_it_is_seen():
    x = T.arange(24).reshape(2, 3, 4)
    for view in (x.permute(2, 0, 1), x[:, ::2], x.mT, T.tensor(1.0).expand(3, 2)):
        np.testing.assert_array_equal(again(view).numpy(), view.numpy())


def test_a_loaded_tensor_can_be_written_into():
    found = again(T.zeros(3))
    found += 1
    assert found.tolist() == [1.0, 1.0, 1.0]


def test_arrays_come_back_as_arrays():
    found = again({"a": np.arange(3), "names": np.array(["x", "yy"])})
    assert type(found["a"]) is np.ndarray and found["a"].tolist() == [0, 1, 2]
    assert found["names"].tolist() == ["x", "yy"]


SCHEDULES = {
    "step": lambda o: optim.lr_scheduler.StepLR(o, 2),
    "milestones": lambda o: optim.lr_scheduler.MultiStepLR(o, [2, 4, 4]),
    "lambda": lambda o: optim.lr_scheduler.LambdaLR(o, lambda epoch: 0.9**epoch),
    "one cycle": lambda o: optim.lr_scheduler.OneCycleLR(o, 0.1, 20, cycle_momentum=False),
    "chained": lambda o: optim.lr_scheduler.SequentialLR(
        o,
        [optim.lr_scheduler.LinearLR(o, total_iters=3), optim.lr_scheduler.CosineAnnealingLR(o, 9)],
        [3],
    ),
}
OPTIMIZERS = {
    "adam": lambda p: optim.Adam(p, lr=0.02, amsgrad=True),
    "sgd": lambda p: optim.SGD(p, lr=0.02, momentum=0.9, nesterov=True),
    "lbfgs": lambda p: optim.LBFGS(p, lr=0.5, max_iter=3),
}


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_training_goes_on_from_a_file_with_the_same_bits(optimizer, schedule, tmp_path):
    x = T.linspace(-1, 1, 9).reshape(-1, 1)

    def made():
        T.manual_seed(0)
        net = nn.Sequential(nn.Linear(1, 4), nn.Tanh(), nn.Linear(4, 1)).double()
        steps = OPTIMIZERS[optimizer](net.parameters())
        return net, steps, SCHEDULES[schedule](steps)

    def train(net, steps, rates):
        def closure():
            steps.zero_grad()
            loss = ((net(x.double()) - T.sin(3 * x.double())) ** 2).mean()
            loss.backward()
            return loss

        for _ in range(6):
            steps.step(closure)
            rates.step()

    one = made()
    train(*one)
    T.save([part.state_dict() for part in one], tmp_path / "state.pt")
    train(*one)
    other = made()
    for part, state in zip(other, T.load(tmp_path / "state.pt"), strict=True):
        part.load_state_dict(state)
    train(*other)
    for ours, theirs in zip(other[0].parameters(), one[0].parameters(), strict=True):
        np.testing.assert_array_equal(ours.detach().numpy(), theirs.detach().numpy())
    assert other[2].get_last_lr() == one[2].get_last_lr()


# ---- devices


def test_tensors_go_to_their_device_or_where_map_location_says():
    file = io.BytesIO()
    with strict_cuda():
        there = T.tensor([1.0, 2.0], device="cuda:0", requires_grad=True)
        T.save([there, T.ones(2)], file)
        for map_location, devices in [
            (None, ["cuda:0", "cpu"]), ("cpu", ["cpu", "cpu"]), ("cuda:0", ["cuda:0", "cuda:0"]),
            ({"cuda:0": "cpu"}, ["cpu", "cpu"]),
            (lambda tensor, place: tensor if place == "cuda:0" else None, ["cpu", "cpu"]),
        ]:  # fmt: skip
            file.seek(0)
            found = T.load(file, map_location)
            assert [str(tensor.device) for tensor in found] == devices
            assert found[0].requires_grad and found[0].tolist() == [1.0, 2.0]
    file.seek(0)
    with pytest.raises(RuntimeError, match="device 'cuda:0'.*map_location='cpu'"):
        T.load(file)
    file.seek(0)
    with pytest.raises(RuntimeError, match="map_location must return a Tensor or None, got int"):
        T.load(file, lambda tensor, place: 3)


def test_an_error_of_the_callers_function_is_none_of_the_file():
    def refuses(tensor, place):
        raise LookupError(f"no place for {place}")

    with pytest.raises(LookupError, match="^no place for cpu$"):
        again([T.ones(2)], map_location=refuses)


# ---- refusals


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (nn.Linear(1, 1), r"obj, which is a Linear; save its state_dict\(\)"),
        ({"a": [optim.SGD([T.ones(1)])]}, r"obj\['a'\]\[0\], which is a SGD; save its state_dict"),
        ([lambda: 1], r"obj\[0\], which is a function; code is not saved"),
        ({print: 1}, "a key of obj, which is a builtin_function"),
        ({"g": T.Generator()}, r"obj\['g'\], which is a Generator; save its get_state"),
        ([object()], "which is a object; save the numbers, texts and tensors"),
        (T.sort(T.ones(2)), r"which is a Sorted; save list\(...\) or tuple"),
        (np.array([None]), "obj has dtype object; a file holds booleans"),
    ],
)
def test_what_cannot_be_saved_is_named_with_its_place(value, message, tmp_path):
    path = tmp_path / "a.pt"
    T.save("before", path)
    with pytest.raises(TypeError, match=message):
        T.save(value, path)
    assert T.load(path) == "before" and os.listdir(tmp_path) == ["a.pt"]


def test_what_holds_itself_or_is_too_deep():
    ring = [1]
    ring.append(ring)
    with pytest.raises(ValueError, match=r"obj\[1\] holds itself"):
        T.save(ring, io.BytesIO())
    deep = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(ValueError, match="nested too deeply"):
        T.save(deep, io.BytesIO())
    twice = [1]
    assert again([twice, twice]) == [[1], [1]]


def test_nothing_is_saved_inside_of_a_recording():
    @T.compile
    def loss(x):
        T.save(x, io.BytesIO())
        return x.sum()

    with pytest.raises(T.TraceError, match="autograd.save"):
        loss(T.ones(3))


# ---- files


def test_a_file_is_replaced_as_a_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "a.pt"
    T.save({"a": 1}, path)

    def full(*arguments, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np.lib.format, "write_array", full)
    with pytest.raises(OSError, match="No space left"):
        T.save({"a": T.ones(2)}, path)
    assert T.load(path) == {"a": 1} and os.listdir(tmp_path) == ["a.pt"]


def test_a_link_stays_one_and_a_missing_folder_is_told(tmp_path):
    T.save(1, tmp_path / "first.pt")
    os.symlink(tmp_path / "first.pt", tmp_path / "last.pt")
    T.save(2, tmp_path / "last.pt")
    assert os.path.islink(tmp_path / "last.pt") and T.load(tmp_path / "first.pt") == 2
    with pytest.raises(RuntimeError, match="Parent directory .*nowhere does not exist"):
        T.save(1, tmp_path / "nowhere" / "a.pt")
    with pytest.raises(FileNotFoundError):
        T.load(tmp_path / "none.pt")


def test_equal_objects_give_equal_bytes_and_numpy_reads_the_arrays(tmp_path):
    value = {"w": T.arange(4).reshape(2, 2), "name": "x"}
    files = [io.BytesIO(), io.BytesIO()]
    for file in files:
        T.save(value, file)
    assert files[0].getvalue() == files[1].getvalue()
    T.save(value, str(tmp_path / "a.npz"))
    with np.load(tmp_path / "a.npz", allow_pickle=False) as arrays:
        assert arrays["arrays/0"].tolist() == [[0, 1], [2, 3]]


def test_a_file_opened_for_text_is_refused(tmp_path):
    with open(tmp_path / "a", "w+", encoding="utf-8") as file:
        with pytest.raises(TypeError, match="open it with mode 'wb'"):
            T.save(1, file)
        with pytest.raises(TypeError, match="open it with mode 'rb'"):
            T.load(file)


def test_no_damage_goes_unnoticed():
    """Every altered byte that changes what is read is noticed, and so is every shorter file."""
    file = io.BytesIO()
    T.save({"w": T.arange(5), "rates": (0.1, 0.2)}, file)
    whole = file.getvalue()
    for place in range(0, len(whole), 3):
        altered = bytearray(whole)
        altered[place] ^= 0x55
        try:
            found = T.load(io.BytesIO(bytes(altered)))
        except RuntimeError:
            continue
        assert found["w"].tolist() == [0, 1, 2, 3, 4] and found["rates"] == (0.1, 0.2)
    for length in range(0, len(whole), 7):
        with pytest.raises(RuntimeError):
            T.load(io.BytesIO(whole[:length]))


def _archive(**entries):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, text in entries.items():
            archive.writestr(name.replace("__", "/"), text)
    file.seek(0)
    return file


@pytest.mark.parametrize(
    ("file", "message"),
    [
        (_archive(**{"archive__data.pkl": "x"}), r"torch.save wrote it.*numpy.savez.*numpy.load"),
        (io.BytesIO(b"\x80\x02\x8a\nl"), "torch.save wrote it"),
        (_archive(**{"a.npy": "x"}), "has no tree.json; read it with numpy.load"),
        (_archive(**{"a.txt": "x"}), "has no tree.json; check it"),
        (io.BytesIO(b"\x93NUMPY"), "read it with numpy.load"),
        (io.BytesIO(b"hello"), "begins with b'hell'"),
        (io.BytesIO(), "begins with b''"),
        (_archive(**{"tree.json": '{"format": "autograd", "version": 9}'}), "a newer one"),
        (_archive(**{"tree.json": '{"format": "x", "version": 1}'}), "damaged"),
    ],
)
def test_a_file_of_another_program_is_told_apart(file, message):
    file.seek(0)
    with pytest.raises(RuntimeError, match=message):
        T.load(file)


@pytest.mark.parametrize(
    "value",
    [
        {"unknown": 1}, {"tensor": 0}, {"a": 1, "b": 2}, {"dict": [[[], 1]]}, {"int": "x"},
        {"device": "gpu:x"}, {"bytes": "*"}, {}, {"dtype": "object"},
    ],
)  # fmt: skip
def test_a_tree_that_nobody_writes_is_damage(value):
    about = {"format": "autograd", "version": 1, "tensors": [], "value": value}
    with pytest.raises(RuntimeError, match="damaged"):
        T.load(_archive(**{"tree.json": json.dumps(about)}))
