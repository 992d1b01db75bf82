"""What a text names, and what is read of dicts and objects for what it does with that."""

import argparse
import dataclasses
import enum
import operator
import types
from collections import UserDict

import pytest

import autograd as T
from autograd.plan.naming import named

X = T.ones(3)
WEIGHTS = {"wall": 1.0, "inside": 2.0}
OF_PARTS = operator.attrgetter("part.weight")


class Dotted(dict):
    __getattr__ = dict.__getitem__


class Kind(enum.StrEnum):
    WALL = "wall"
    INSIDE = "inside"


@dataclasses.dataclass
class Plain:
    wall: float = 1.0
    inside: float = 2.0


@dataclasses.dataclass(slots=True)
class Slotted:
    wall: float = 1.0
    inside: float = 2.0


@dataclasses.dataclass
class WithMethods:
    wall: float = 1.0
    inside: float = 2.0
    history: list = dataclasses.field(default_factory=list, compare=False)

    def total(self):
        return self.wall


class Shared:
    of_wall, of_inside = 1.0, 2.0


class Layer(T.nn.Module):
    def __init__(self):
        super().__init__()
        self.of_wall, self.of_inside = 1.0, 2.0

    def forward(self, x):
        return x.sum() * sum(getattr(self, "of_" + name) for name in ("wall", "inside"))


def weighted(x, wall, inside):
    return x.sum() * wall * inside


def is_wall(name):
    return name == "wall"


def by_name(held):
    return lambda x: sum(w * (x.sum() if k == "wall" else x[0]) for k, w in held.items())


def passed_on(holder):
    total = lambda weights: sum(weights.values())  # noqa: E731
    return lambda x: x.sum() * holder.weights["wall"] + total(holder.weights)


def of_a_local(held):
    def loss(x):
        weights = held
        return x.sum() * weights["wall"] + weights[max(weights, key=len)]

    return loss


# Each reads "inside" of a dict by what stands in no text, beside "wall", which does.
OF_DICTS = {
    "the loop over items": lambda held, holder: by_name(held),
    "a sum of values": lambda held, holder: lambda x: x.sum() * held["wall"] + sum(held.values()),
    "an unrelated text": lambda held, holder: lambda x: x.sum() * is_wall("") + sum(held.values()),
    "keywords": lambda held, holder: lambda x: weighted(x, **held) if "wall" in held else x.sum(),
    "a text made": lambda held, holder: lambda x: x.sum() * held["wall"] * held[f"in{'side'}"],
    "another function": lambda held, holder: passed_on(holder),
    "a local": lambda held, holder: of_a_local(held),
    "two ways to it": lambda held, holder: (
        lambda x: x.sum() * held["wall"] + sum(holder.weights.values())
    ),
    "getattr": lambda held, holder: (
        lambda x: x.sum() * holder.weights["wall"] + sum(getattr(holder, "weights").values())  # noqa: B009
    ),
    "itemgetter": lambda held, holder: (
        lambda x: x.sum() * held["wall"] * operator.itemgetter("".join(("in", "side")))(held)
    ),
    "members of an enumeration": lambda held, holder: (
        lambda x: x * held["wall"] * held[Kind.INSIDE]
    ),
}


@pytest.mark.parametrize("made", [dict, Dotted, UserDict])
@pytest.mark.parametrize("name", OF_DICTS)
def test_all_entries_are_read_of_a_dict_that_is_not_only_asked_for_some(name, made):
    held = made(wall=1.0, inside=2.0)
    loss = OF_DICTS[name](held, types.SimpleNamespace(weights=held))
    compiled = T.compile(loss)
    before = compiled(X).tolist()
    held["inside"] = 100.0
    assert compiled(X).tolist() == loss(X).tolist() != before


def test_parameters_of_a_dict_are_read_whole():
    held = {name: T.ones(3, requires_grad=True) for name in ("wall", "inside")}
    compiled = T.compile(
        lambda x: (x * held["wall"]).sum() + sum((p**2).sum() for p in held.values())
    )
    assert compiled(X).item() == 9.0
    held["inside"] = T.full((3,), 2.0, requires_grad=True)
    assert compiled(X).item() == 18.0


def test_what_is_not_asked_for_by_name_costs_no_recording():
    state = types.SimpleNamespace(weights={"wall": {"weight": 2.0, "calls": 0}, "epoch": 0})

    def loss(x):
        if state.weights is None or "none" in state.weights:
            return x.sum()
        return x.sum() * state.weights["wall"]["weight"] * state.weights.get("gain", 1.0)

    compiled = T.compile(loss)
    compiled(X)
    known = len(compiled._recorded.known)
    for epoch in range(3):
        state.weights["epoch"] = state.weights["wall"]["calls"] = epoch
        assert compiled(X).item() == 6.0
    assert len(compiled._recorded.known) == known
    state.weights["wall"]["weight"] = 3.0
    assert compiled(X).item() == 9.0


# Each reads "inside" of an object by what stands in no text.
OF_OBJECTS = {
    "astuple": (Plain, lambda one: lambda x: x.sum() * sum(dataclasses.astuple(one))),
    "asdict": (Plain, lambda one: lambda x: x.sum() * sum(dataclasses.asdict(one).values())),
    "fields": (Plain, lambda one: (
        lambda x: x.sum() * sum(getattr(one, each.name) for each in dataclasses.fields(one))
    )),
    "astuple of slots": (Slotted, lambda one: lambda x: x.sum() * sum(dataclasses.astuple(one))),
    "vars": (types.SimpleNamespace, lambda one: lambda x: x.sum() * sum(vars(one).values())),
    "__dict__": (WithMethods, lambda one: lambda x: x.sum() * one.__dict__[f"in{'side'}"]),
    "keywords": (argparse.Namespace, lambda one: lambda x: weighted(x, **vars(one))),
    "==": (Plain, lambda one: lambda x: x.sum() * (2.0 if one == Plain() else 3.0)),
    "== of a namespace": (types.SimpleNamespace, lambda one: (
        lambda x: x.sum() * (2.0 if one == types.SimpleNamespace(wall=1.0, inside=2.0) else 3.0)
    )),
    "== beside methods": (WithMethods, lambda one: (
        lambda x: x.sum() * (2.0 if one == WithMethods() else 3.0)
    )),
    "repr": (Plain, lambda one: lambda x: x.sum() * len(repr(one))),
    "format": (Plain, lambda one: lambda x: x.sum() * len("{}".format(one))),  # noqa: UP032
    "a format": (Plain, lambda one: lambda x: x.sum() * len(f"{one}")),
}  # fmt: skip


@pytest.mark.parametrize("name", OF_OBJECTS)
def test_all_attributes_are_read_of_what_is_not_only_asked_for_some(name):
    kind, made = OF_OBJECTS[name]
    one = kind(wall=1.0, inside=2.0)
    loss = made(one)
    compiled = T.compile(loss)
    before = compiled(X).item()
    one.inside = 10000.0
    assert compiled(X).item() == loss(X).item() != before


def test_what_is_reached_by_attrgetter_is_read():
    one = types.SimpleNamespace(part=types.SimpleNamespace(weight=1.0))
    for loss in (
        lambda x: x.sum() * operator.attrgetter("part.weight")(one),
        lambda x: x.sum() * OF_PARTS(one),
    ):
        one.part.weight = 1.0
        compiled = T.compile(loss)
        assert compiled(X).item() == 3.0
        one.part.weight = 5.0
        assert compiled(X).item() == 15.0


@pytest.mark.parametrize("holder", [Layer(), Shared, Shared()], ids=["layer", "class", "object"])
def test_attributes_of_computed_names_are_read(holder, monkeypatch):
    def loss(x):
        return x.sum() * sum(getattr(holder, "of_" + name) for name in ("wall", "inside"))

    for one in [loss, holder] if isinstance(holder, Layer) else [loss]:
        with monkeypatch.context() as patch:
            compiled = T.compile(one)
            assert compiled(X).item() == 9.0
            patch.setattr(Shared if isinstance(holder, Shared) else holder, "of_inside", 5.0)
            assert compiled(X).item() == 18.0


def test_a_history_beside_what_is_compared_and_described_costs_no_recording():
    one = WithMethods()

    def loss(x):
        return x.sum() * one.total() * (1.0 if len(x) == one.inside else 2.0) * len(f"{one.wall}")

    compiled = T.compile(loss)
    compiled(X)
    known = len(compiled._recorded.known)
    for epoch in range(3):
        one.history.append(epoch)
        compiled(X)
    assert len(compiled._recorded.known) == known


def test_a_namespace_that_is_not_described_itself_is_not_read_whole():
    state = types.SimpleNamespace(gain=2.0, epoch=0)
    weights = {"of_wall": 1.0}
    compiled = T.compile(lambda x: x.sum() * state.gain * weights[f"of_{'wall'}"])
    known = []
    for state.epoch in range(3):
        assert compiled(X).item() == 6.0
        known.append(len(compiled._recorded.known))
    assert known[0] == known[-1]


def test_what_a_text_does_with_what_it_names():
    def loss(x, net):
        def within():
            return [w for w in net.rates]

        if "wall" in WEIGHTS and x.sizes is not None and net.kind == net.other:
            WEIGHTS["count"] += 1
        gains = getattr(net, "gain", None), hasattr(net, "bias")
        return WEIGHTS["wall"] * net.table[x], gains, within

    found = named(loss.__code__)
    assert {"WEIGHTS", "sizes"} <= set(found.subscripted) - set(found.passed)
    assert {"rates", "table", "net"} <= set(found.passed)
    assert {"gain", "bias"} == set(found.looked_for)
    assert "kind" in found.compared and not found.is_open and found.describes


@pytest.mark.parametrize(
    ("function", "is_open"),
    [
        (lambda net: vars(net), True),
        (lambda net: net.__dict__, True),
        (lambda net, name: getattr(net, name), True),
        (lambda net, name: hasattr(net, "has_" + name), True),
        (lambda net: getattr(net, "".join(net.names)), True),
        (lambda net: getattr(net, "w_" + net.called()), True),
        (lambda net: getattr(net, "w_" + str(net.name, net.code)), True),
        (lambda net: getattr(net, "w_".join(net.names), None), True),
        (lambda net: getattr(net.part, "weight", net.weight), False),
        (lambda net: getattr(net, "weight", None), False),
        (lambda net: getattr(net, "weight", 1), False),
        (lambda net: net.weight, False),
    ],
)
def test_a_text_that_computes_names(function, is_open):
    assert named(function.__code__).is_open is is_open


class Weighted:
    """A loss whose weights are reached by computed names, beside an optimizer that steps."""

    def __init__(self):
        self.parts = types.SimpleNamespace(of_wall=1.0, of_inside=2.0)
        self.many = [Shared(), Shared()]
        self.many[1].of_inside = 2.0
        self.given = WithMethods()
        self.weight = T.ones(3, requires_grad=True)
        self.optimizer = T.optim.Adam([self.weight], lr=0.1)

    def by_a_parameter(self, x):
        return x.sum() * summed(self.parts)

    def by_a_loop(self, x):
        return x.sum() * sum(getattr(one, "of_in" + "side"[:4]) for one in self.many)

    def by_a_local(self, x):
        parts = self.parts
        return x.sum() * sum(getattr(parts, "of_" + name) for name in ("wall", "inside"))

    def by_a_dataclass(self, x):
        return x.sum() * sum(of_all(self.given)[:2])

    def by_itself(self, x):
        return x.sum() * of_itself(self).of_inside


def summed(parts):
    return sum(vars(parts).values())


def of_all(given):
    return [getattr(given, one.name) for one in dataclasses.fields(given)]


def of_itself(loss):
    return getattr(loss, "".join(("par", "ts")))


CHANGES = {
    "by_a_parameter": lambda loss: setattr(loss.parts, "of_inside", 5.0),
    "by_a_loop": lambda loss: setattr(loss.many[1], "of_inside", 5.0),
    "by_a_local": lambda loss: setattr(loss.parts, "of_inside", 5.0),
    "by_a_dataclass": lambda loss: setattr(loss.given, "inside", 5.0),
    "by_itself": lambda loss: setattr(loss, "parts", types.SimpleNamespace(of_inside=5.0)),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_only_has_a_name_within_is_read_whole(name):
    loss = Weighted()
    compiled = T.compile(getattr(loss, name))
    before = compiled(X).item()
    CHANGES[name](loss)
    assert compiled(X).item() == getattr(loss, name)(X).item() != before


@pytest.mark.parametrize("name", [name for name in CHANGES if name != "by_itself"])
def test_an_optimizer_beside_what_is_read_whole_costs_no_recording(name):
    loss = Weighted()
    compiled = T.compile(lambda x: getattr(Weighted, name)(loss, x * loss.weight))
    known = []
    for _ in range(3):
        compiled(X).backward()
        loss.optimizer.step()
        known.append(len(compiled._recorded.known))
    assert known[0] == known[-1]


def test_an_argument_that_is_asked_for_computed_names_is_read_whole():
    given = types.SimpleNamespace(of_wall=1.0, of_inside=2.0)
    compiled = T.compile(lambda x, s: x.sum() * sum(getattr(s, f"of_{k}") for k in ("inside",)))
    assert compiled(X, given).item() == 6.0
    given.of_inside = 5.0
    assert compiled(X, given).item() == 15.0


def test_dataclasses_within_dataclasses_are_taken_apart_as_well():
    outer = Plain(wall=Plain(), inside=Plain())
    compiled = T.compile(lambda x: x.sum() * sum(sum(one) for one in dataclasses.astuple(outer)))
    assert compiled(X).item() == 18.0
    outer.inside.inside = 5.0
    assert compiled(X).item() == 27.0


def test_all_of_itself_is_read_where_a_method_asks_for_it():
    class Own:
        def __init__(self):
            self.of_wall, self.of_inside = 1.0, 2.0

        def __call__(self, x):
            return x.sum() * sum(getattr(self, "of_" + k) for k in ("wall", "inside"))

    class Derived(Own):
        pass

    for loss in (Own(), Derived()):
        compiled = T.compile(loss)
        assert compiled(X).item() == 9.0
        loss.of_inside = 5.0
        assert compiled(X).item() == 18.0
