"""What a compiled function reads besides its arguments is looked at again at each call."""

import enum
import functools
import gc
import importlib
import sys
import types
import weakref
from array import array
from collections import ChainMap, UserDict, UserList, deque
from contextvars import ContextVar
from fractions import Fraction

import numpy as np
import pytest

import autograd as T
from autograd.plan.surroundings import surroundings

FACTOR = 2.0
SETTINGS = types.ModuleType("settings_of_a_user")
exec("GAIN = 2.0\ndef gained(x):\n    return x * GAIN\n", vars(SETTINGS))


def scaled(x):
    return x * FACTOR


class Config:
    viscosity = 2.0


class Mode(enum.Enum):
    FIRST, SECOND = 1.0, 2.0


class Part:
    def __init__(self, weight):
        self.weight = weight

    @property
    def half(self):
        return self.weight / 2

    @functools.cached_property
    def twice(self):
        return self.weight * 2

    @staticmethod
    def of_config(x):
        return x * Config.viscosity

    def __call__(self, x):
        return self.half * x


class Loss:
    def __init__(self):
        self.points = T.ones(3)
        self.options = {"wall": {"weight": 2.0}, "epoch": 0}
        self.part = Part(2.0)
        self.parts = [Part(1.0), Part(3.0)]
        self.array = np.ones(3)
        self.weights = {"a": 1.0, "b": 2.0}
        self.mode = Mode.FIRST
        self.ratio = Fraction(1, 2)
        self.last = deque([1.0])
        self.epoch = 0

    def residual(self):
        return self.weighted(self.points) + T.tensor(self.array) + self.of_parts()

    def weighted(self, x):
        return Part.of_config(x) * self.options["wall"]["weight"] * self.part.half

    def of_parts(self):
        total = sum(part(self.points) for part in self.parts)
        total = total + sum(value for value in self.weights.values())
        return total * float(self.ratio) * self.mode.value + self.last[0] * self.part.twice

    def __call__(self):
        return self.residual().sum()


def same_as_eager(function, compiled, *arguments):
    return compiled(*arguments).item() == function(*arguments).item()


def points_and_array(loss):
    loss.points, loss.array = T.ones(5) * 3, np.full(5, 4.0)


CHANGES = {
    "points": points_and_array,
    "array": lambda loss: setattr(loss, "array", np.full(3, 4.0)),
    "entry of an entry": lambda loss: loss.options["wall"].update(weight=5.0),
    "attribute of an attribute": lambda loss: setattr(loss.part, "weight", 7.0),
    "another object": lambda loss: setattr(loss, "part", Part(5.0)),
    "object in a list": lambda loss: setattr(loss.parts[1], "weight", 5.0),
    "longer list": lambda loss: loss.parts.append(Part(5.0)),
    "entry that no text names": lambda loss: loss.weights.update(a=5.0),
    "new entry": lambda loss: loss.weights.update(c=5.0),
    "member of an enumeration": lambda loss: setattr(loss, "mode", Mode.SECOND),
    "fraction": lambda loss: setattr(loss, "ratio", Fraction(1, 3)),
    "deque": lambda loss: loss.last.appendleft(4.0),
    "method that an object has for itself": lambda loss: setattr(
        loss, "of_parts", lambda: loss.part.weight
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_methods_read_that_a_method_calls_is_looked_at_again(change):
    loss = Loss()
    compiled = T.compile(loss)
    for _ in range(2):
        assert same_as_eager(loss, compiled)
    before = compiled().item()
    CHANGES[change](loss)
    for _ in range(2):
        assert same_as_eager(loss, compiled) and compiled().item() != before


def test_what_a_class_has_for_all(monkeypatch):
    loss = Loss()
    compiled = T.compile(loss)
    before = compiled().item()
    monkeypatch.setattr(Config, "viscosity", 5.0)
    assert same_as_eager(loss, compiled) and compiled().item() != before


def test_what_no_text_names_costs_no_recording():
    loss = Loss()
    compiled = T.compile(loss)
    for epoch in range(3):
        loss.epoch = loss.options["epoch"] = epoch
        compiled()
    known = len(compiled._recorded.known)
    for epoch in range(3, 6):
        loss.epoch = loss.options["epoch"] = epoch
        loss.learned = epoch
        compiled()
    assert len(compiled._recorded.known) == known


class Scaled(T.nn.Module):
    def __init__(self):
        super().__init__()
        self.gain = 2.0
        self.line = T.nn.Linear(1, 1)
        self.register_buffer("offset", T.tensor(1.0))

    def forward(self, x):
        return x * self.gain + self.offset + self.line.weight.sum()


def test_what_called_functions_and_modules_read_is_looked_at_again(monkeypatch):
    net, x = Scaled(), T.ones(3)

    def function(x):
        return (net(scaled(x)) + SETTINGS.gained(x) * SETTINGS.GAIN).sum()

    compiled = T.compile(function)
    changes = [(net, "gain", 3.0), (SETTINGS, "GAIN", 3.0), (net, "offset", T.tensor(7.0)),
               (net, "line", T.nn.Linear(1, 1))]  # fmt: skip
    for owner, name, value in changes:
        before = compiled(x).item()
        monkeypatch.setattr(owner, name, value)
        assert same_as_eager(function, compiled, x) and compiled(x).item() != before
    before = compiled(x).item()
    monkeypatch.setitem(globals(), "FACTOR", 5.0)
    assert same_as_eager(function, compiled, x) and compiled(x).item() != before


def test_what_an_argument_has_is_looked_at_again():
    net, x = Scaled(), T.ones(3)

    def loss(net, x, options=None):
        return net(x).sum() if net.training else net(x).sum() * 100

    compiled = T.compile(loss)
    for _ in range(2):
        assert same_as_eager(loss, compiled, net, x)
        net.gain += 1.0
    net.eval()
    assert same_as_eager(loss, compiled, net, x)
    other = Scaled()
    assert [same_as_eager(loss, compiled, one, x) for one in (net, other, net, other)] == [True] * 4


def test_a_decorated_function_and_one_that_is_compiled_are_looked_into():
    factor = 2.0

    def named(function):
        @functools.wraps(function)
        def wrapper(*args):
            return function(*args)

        return wrapper

    @T.compile
    @named
    def inner(x):
        return x * factor

    def function(x):
        return inner(x).sum()

    compiled, x = T.compile(function), T.ones(3)
    assert compiled(x).item() == 6.0
    factor = 3.0
    assert compiled(x).item() == 9.0


def test_two_places_of_one_object_that_part():
    part = Part(1.0)
    pair = types.SimpleNamespace(one=part, other=part)
    compiled, x = T.compile(lambda x: pair.one.weight * x + pair.other.weight * x), T.tensor(1.0)
    assert compiled(x).item() == 2.0
    pair.other = Part(4.0)
    assert compiled(x).item() == 5.0
    pair.other.weight = 5.0
    assert compiled(x).item() == 6.0


def test_what_comes_and_goes():
    places = types.SimpleNamespace()
    compiled = T.compile(lambda x: x * getattr(places, "factor", 1.0))
    functions, x = [T.sin, T.cos], T.tensor(1.0)
    assert compiled(x).item() == 1.0
    places.factor = 3.0
    assert compiled(x).item() == 3.0
    del places.factor
    assert compiled(x).item() == 1.0
    chosen = T.compile(lambda x: functions[0](x))
    assert chosen(x).item() == T.sin(x).item()
    functions.reverse()
    assert chosen(x).item() == T.cos(x).item()


def test_functions_that_call_each_other_are_read_once():
    def even(n):
        return n == 0 or odd(n - 1)

    def odd(n):
        return n != 0 and even(n - 1)

    names = [name for name, _ in surroundings({"": even}).named]
    assert len(names) == len(set(names)) <= 5


def test_the_library_is_not_looked_into():
    net = T.nn.Linear(2, 1)

    def function(x):
        return net(T.nn.functional.relu(x)).sum() * np.pi

    names = [name for name, _ in surroundings({"": function}).named]
    assert names == ["", "net", "net.training", "net.weight", "net.bias"]


def test_nothing_is_sought_where_nothing_has_changed_and_only_read_where_numbers_have():
    loss = Loss()
    first = surroundings({"self": loss})
    assert surroundings({"self": loss}, last=first) is first
    loss.part.weight = 7.0
    second = first.again({"self": loss})
    assert second == surroundings({"self": loss}) != first
    loss.part = types.SimpleNamespace(weight=1.0)
    assert second.again({"self": loss}) is None


def test_what_was_found_keeps_no_object():
    loss = Loss()
    found = surroundings({"self": loss})
    gone = [weakref.ref(one) for one in (loss, loss.part, loss.points, loss.array)]
    del loss
    gc.collect()
    assert [one() for one in gone] == [None] * 4
    assert found.again({"self": Loss()}) is not found


class Checked:
    """A descriptor of a user's, which keeps the value under another name."""

    def __get__(self, owner, kind=None):
        return owner.__dict__["_kept"]

    def __set__(self, owner, value):
        owner.__dict__["_kept"] = value


class Base:
    checked = Checked()

    def __init__(self):
        self.checked = 1.0

    @property
    def gain(self):
        return 1.0

    def gained(self, x):
        return x * self.gain

    @staticmethod
    def shifted(x):
        return x + 1.0

    def loss(self, x):
        return (self.shifted(self.gained(x)) * self.checked).sum()


class Derived(Base):
    def gained(self, x):
        return super().gained(x) * 2


@pytest.mark.parametrize(("kind", "name", "other"), [
    (Base, "gained", lambda self, x: x * 5), (Base, "gain", property(lambda self: 5.0)),
    (Base, "shifted", staticmethod(lambda x: x + 5)), (Derived, "gained", lambda self, x: x),
])  # fmt: skip
def test_methods_of_a_class_that_take_each_others_place(monkeypatch, kind, name, other):
    model, x = Derived(), T.ones(3)
    compiled = T.compile(model.loss)
    before = compiled(x).item()
    monkeypatch.setattr(kind, name, other)
    assert same_as_eager(model.loss, compiled, x) and compiled(x).item() != before


def test_what_a_descriptor_keeps():
    model, x = Base(), T.ones(3)
    compiled = T.compile(model.loss)
    before = compiled(x).item()
    model.checked = 3.0
    assert same_as_eager(model.loss, compiled, x) and compiled(x).item() != before


HOLDERS = {
    "a long list": ([1.0] * 100, 99), "a long dict": (dict.fromkeys(range(100), 1.0), 99),
    "a user's dict": (UserDict(w=1.0), "w"), "a user's list": (UserList([1.0]), 0),
    "a chain of dicts": (ChainMap({}, {"w": 1.0}), "w"),
    "an array of numbers": (array("d", [1.0]), 0),
}  # fmt: skip


@pytest.mark.parametrize("name", HOLDERS)
def test_holders_of_many_kinds(name):
    holder, key = HOLDERS[name]
    compiled, x = T.compile(lambda x: holder[key] * x), T.tensor(1.0)
    assert compiled(x).item() == 1.0
    holder[key] = 3.0
    assert compiled(x).item() == 3.0


def test_a_view_of_a_dict():
    held = {"w": 1.0}
    view = types.MappingProxyType(held)
    compiled = T.compile(lambda x: x * view["w"])
    assert compiled(T.tensor(1.0)).item() == 1.0
    held["w"] = 3.0
    assert compiled(T.tensor(1.0)).item() == 3.0


def test_a_name_that_comes_later(monkeypatch):
    def function(x):
        try:
            return x * COMES_LATER
        except NameError:
            return x

    compiled, x = T.compile(function), T.tensor(1.0)
    assert compiled(x).item() == 1.0
    monkeypatch.setitem(globals(), "COMES_LATER", 4.0)
    assert compiled(x).item() == 4.0
    monkeypatch.delitem(globals(), "COMES_LATER")
    assert compiled(x).item() == 1.0


def test_an_attribute_of_a_function():
    def helper(x):
        return x * helper.gain

    helper.gain = 2.0
    compiled = T.compile(lambda x: helper(x))
    assert compiled(T.tensor(1.0)).item() == 2.0
    helper.gain = 3.0
    assert compiled(T.tensor(1.0)).item() == 3.0


def test_what_is_too_long_to_be_looked_into_is_said_once():
    many = [1.0] * 5000
    compiled, x = T.compile(lambda x: x * sum(many)), T.tensor(1.0)
    with pytest.warns(RuntimeWarning, match="reads many, which is too long to be looked at"):
        compiled(x)
    assert compiled(T.ones(2)).tolist() == [5000.0, 5000.0]


def test_what_is_written_into_a_larger_array_is_seen_or_said_not_to_be():
    seen, unseen = np.ones(5000), np.ones(50_000)
    x = T.ones(2, dtype=T.float64)
    compiled = T.compile(lambda x: x * T.tensor(seen).sum())
    assert compiled(x).tolist() == [5000.0, 5000.0]
    seen[:] = 2
    assert compiled(x).tolist() == [10_000.0, 10_000.0]
    compiled = T.compile(lambda x: x * T.tensor(unseen).sum())
    with pytest.warns(RuntimeWarning, match="reads unseen, which is too long to be looked at"):
        compiled(x)
    unseen[:] = 2
    assert compiled(x).tolist() == [50_000.0, 50_000.0]
    unseen.flags.writeable = False  # nothing to see
    T.compile(lambda x: x * T.tensor(unseen).sum())(x)


def test_keys_that_are_no_texts_are_read_beside_those_that_a_text_names():
    weights = {"wall": 1.0, 1.5: 2.0, None: 3.0, "other": 4.0}
    compiled, x = T.compile(lambda x: x * weights["wall"] * weights[1.5] * weights[None]), T.ones(1)
    assert compiled(x).item() == 6.0
    weights[1.5] = 5.0
    assert compiled(x).item() == 15.0
    weights[None] = 1.0
    assert compiled(x).item() == 5.0
    known = len(compiled._recorded.known)
    weights["other"] = 7.0  # which nobody reads
    compiled(x)
    assert len(compiled._recorded.known) == known


def test_of_much_that_is_not_seen_there_is_one_warning():
    many = [[1.0] * 1025 for _ in range(6)]
    with pytest.warns(RuntimeWarning) as said:
        T.compile(lambda x: x * sum(one[0] for one in many))(T.ones(1))
    (told,) = [str(one.message) for one in said]
    assert "reads many[0], many[1], many[2] and 3 more, which are too long" in told


def test_none_in_place_of_a_tensor_that_is_gone_is_seen():
    model, x = Offset(), T.ones(3)
    model.bias = T.ones(3) * 5
    compiled = T.compile(lambda x: (x if model.bias is None else x + model.bias).sum())
    assert compiled(x).item() == 18.0
    model.bias = None
    gc.collect()
    assert compiled(x).item() == 3.0


def test_a_module_that_is_imported_within(monkeypatch):
    monkeypatch.setitem(sys.modules, "settings_of_a_user", SETTINGS)

    def function(x):
        import settings_of_a_user

        return x * settings_of_a_user.GAIN

    compiled, x = T.compile(function), T.tensor(1.0)
    assert compiled(x).item() == 2.0
    monkeypatch.setattr(SETTINGS, "GAIN", 3.0)
    assert compiled(x).item() == 3.0


def test_a_method_that_a_class_gets_over_that_of_its_base(monkeypatch):
    class Own(Derived):
        pass

    model, x = Own(), T.ones(3)
    compiled = T.compile(model.loss)
    before = compiled(x).item()
    monkeypatch.setattr(Own, "gained", lambda self, x: x * 7, raising=False)
    assert same_as_eager(model.loss, compiled, x) and compiled(x).item() != before


class Offset:
    def __init__(self):
        self.bias, self.made = 1.0, 0

    def __radd__(self, other):
        return other + self.bias


def test_special_methods_are_followed_and_what_makes_an_object_is_not():
    offset, x = Offset(), T.tensor(1.0)
    compiled = T.compile(lambda x: x.sum() * 1.0 + sum([offset], 0.0))
    assert compiled(x).item() == 2.0
    offset.bias = 3.0
    assert compiled(x).item() == 4.0
    known = len(compiled._recorded.known)
    offset.made = 1
    compiled(x)
    assert len(compiled._recorded.known) == known


def _made_at_the_first_call():
    kept = types.SimpleNamespace(grid=None)

    def loss(x):
        if kept.grid is None:
            kept.grid = T.full((3,), FACTOR)
        return (x * kept.grid).sum()

    return loss, lambda: setattr(kept, "grid", T.full((3,), 5.0))


def _set_by_default():
    weights = {}
    return lambda x: (x * weights.setdefault("wall", 2.0)).sum(), lambda: weights.update(wall=5.0)


def _put_in_where_it_is_missing():
    weights = {}

    def loss(x):
        if "wall" not in weights:
            weights["wall"] = 2.0
        return (x * weights["wall"]).sum()

    return loss, lambda: weights.update(wall=5.0)


@pytest.mark.parametrize(
    "made", [_made_at_the_first_call, _set_by_default, _put_in_where_it_is_missing]
)
def test_what_the_first_call_makes_is_followed_afterwards(made):
    loss, change = made()
    compiled = T.compile(loss)
    assert compiled(T.ones(3)).item() == compiled(T.ones(3)).item() == 6.0
    change()
    assert compiled(T.ones(3)).item() == 15.0


def test_what_each_recording_makes_anew_costs_no_further_one():
    recorded, kept = [], types.SimpleNamespace(grid=None)

    def loss(x):
        recorded.append(len(x))
        if kept.grid is None or len(kept.grid) != len(x):
            kept.grid = T.ones(len(x))
        return (x * kept.grid).sum()

    compiled = T.compile(loss)
    for n in (3, 4, 3, 4):
        assert compiled(T.ones(n)).item() == n
    known = len(recorded)
    for n in (3, 4, 3, 4):
        assert compiled(T.ones(n)).item() == n
    assert len(recorded) == known


def test_what_is_written_into_a_small_array_is_seen():
    weights = np.array([2.0, 3.0])
    compiled = T.compile(lambda x: (x * float(weights[0])).sum())
    assert compiled(T.ones(3)).item() == 6.0
    weights[0] = 5.0
    assert compiled(T.ones(3)).item() == 15.0
    weights[0] = 2.0
    assert compiled(T.ones(3)).item() == 6.0


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Make packages as if they were installed: texts by the names of modules."""
    from autograd.plan import surroundings as module

    monkeypatch.setattr(module, "_INSTALLED", (f"{tmp_path}/",))
    monkeypatch.setattr(module, "_of_users", set())
    monkeypatch.syspath_prepend(tmp_path)
    module._is_library.cache_clear()

    def make(name, text):
        (tmp_path / f"{name}.py").write_text(text)
        return importlib.import_module(name)

    yield make
    module._is_library.cache_clear()
    for path in tmp_path.glob("*.py"):
        sys.modules.pop(path.stem, None)


_GAINED = "GAIN = 2.0\ndef gained(x):\n    return (x * GAIN).sum()\n"


@pytest.mark.parametrize("text, is_followed", [
    (_GAINED, False), (f"import autograd\n{_GAINED}", True),
    (f"from autograd import sin\n{_GAINED}", True),
    (f"from autograd.nn import Module\n{_GAINED}", True),
])  # fmt: skip
def test_an_installed_package_is_followed_that_is_made_with_the_library(
    installed, text, is_followed
):
    package = installed("package_of_losses", text)
    compiled = T.compile(lambda x: package.gained(x))
    assert compiled(T.ones(3)).item() == 6.0
    package.GAIN = 5.0
    assert compiled(T.ones(3)).item() == (15.0 if is_followed else 6.0)


def test_an_installed_function_that_is_compiled_is_followed(installed):
    package = installed("package_of_a_user", _GAINED)
    compiled = T.compile(package.gained)
    assert compiled(T.ones(3)).item() == 6.0
    package.GAIN = 5.0
    assert compiled(T.ones(3)).item() == 15.0


def test_what_methods_of_the_librarys_objects_read_is_looked_at_again():
    weight = T.ones(3, requires_grad=True)
    optimizer = T.optim.SGD([weight], lr=1.0)
    scheduler = T.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
    around = T.compile(lambda x: x.sum() * scheduler.get_last_lr()[0])
    given = T.compile(lambda x, s: x.sum() * s.get_last_lr()[0])
    for rate in (1.0, 0.5, 0.25):
        assert around(T.ones(3)).item() == given(T.ones(3), scheduler).item() == 3.0 * rate
        optimizer.step()
        scheduler.step()


GAIN = 2.0


class Gained(T.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 3.0

    @staticmethod
    def backward(ctx, g):
        return g * GAIN


def test_what_the_backward_of_a_custom_function_reads_is_looked_at_again(monkeypatch):
    weight = T.ones(2, requires_grad=True)
    compiled = T.compile(lambda x: Gained.apply(x * weight).sum())
    for gain in (2.0, 5.0):
        monkeypatch.setitem(globals(), "GAIN", gain)
        assert T.autograd.grad(compiled(T.ones(2)), weight)[0].tolist() == [gain, gain]


def test_a_context_variable_is_looked_at_again():
    gain = ContextVar("gain", default=2.0)
    compiled, x = T.compile(lambda x: x * gain.get()), T.ones(1)
    assert compiled(x).item() == 2.0
    token = gain.set(5.0)
    assert compiled(x).item() == 5.0
    gain.reset(token)
    assert compiled(x).item() == 2.0


def test_what_a_single_dispatch_holds_is_looked_at_again():
    weights = {"wall": 3.0}

    @functools.singledispatch
    def scaled_by(kind, x):
        return x

    @scaled_by.register
    def _(kind: int, x):
        return x * weights["wall"]

    compiled, x = T.compile(lambda x: scaled_by(1, x)), T.ones(1)
    assert compiled(x).item() == 3.0
    weights["wall"] = 4.0
    assert compiled(x).item() == 4.0
    scaled_by.register(int)(lambda kind, x: x * 7)
    assert compiled(x).item() == 7.0


def test_what_is_written_into_a_sparse_matrix_is_seen():
    sparse = pytest.importorskip("scipy.sparse")
    matrix = sparse.csr_matrix(np.eye(2))
    compiled = T.compile(lambda x: (T.tensor(matrix.toarray()) @ x).sum())
    x = T.ones(2, dtype=T.float64)
    assert compiled(x).item() == 2.0
    matrix.data[0] = 5.0
    assert compiled(x).item() == 6.0


def test_attributes_that_a_user_gives_to_a_tensor_are_looked_at_again():
    weight, flagged, x = T.ones(2, requires_grad=True), T.ones(2), T.ones(2)
    weight.decay = 0.5

    def loss(x):
        rate = 3.0 if getattr(flagged, "is_wall", False) else 1.0
        return rate * (x * weight).sum() + weight.decay * (weight**2).sum()

    compiled = T.compile(loss)
    assert compiled(x).item() == 3.0
    weight.decay = 1.0
    assert compiled(x).item() == 4.0
    flagged.is_wall = True
    assert compiled(x).item() == 8.0
    flagged.is_wall = False
    assert compiled(x).item() == 4.0


@pytest.mark.parametrize("points", [(), "x"])
def test_attributes_that_a_user_gives_to_an_argument_are_there(points):
    def loss(x):
        return ((x * x.gain) ** 2).sum() * (2.0 if getattr(x, "is_wall", False) else 1.0)

    compiled = T.compile(loss, points=points)
    x = T.ones(4, requires_grad=True)
    for gain, is_wall in ((1.0, False), (3.0, False), (3.0, True)):
        x.gain, x.is_wall = gain, is_wall
        first, other = (T.autograd.grad(f(x), x, create_graph=True)[0] for f in (compiled, loss))
        assert first.tolist() == other.tolist()
        assert T.autograd.grad(first.sum(), x)[0].tolist() == [2 * gain**2 * (1 + is_wall)] * 4
    known = len(compiled._recorded.known)
    y = T.ones(4, requires_grad=True)
    y.gain, y.is_wall = 3.0, True
    assert compiled(y).item() == loss(y).item() and len(compiled._recorded.known) == known
    with pytest.raises(AttributeError, match="gain"):
        compiled(T.ones(4, requires_grad=True))
