"""Kinds of declared values: what they take, read and write, and what they say of a wrong one."""

import copy
import math
import pickle
from typing import Annotated, Literal

import numpy as np
import pytest

from pinn.config.yaml_tree import parse_yaml
from pinn.schema import Count, DeclarationError, Family, Positive, declared, dump, fields_of
from pinn.schema.declared import Member, Record
from pinn.schema.errors import refuse
from pinn.schema.kinds import (
    Choice,
    Flag,
    Formula,
    Integer,
    Items,
    Names,
    NotSaved,
    Number,
    Optional,
)
from pinn.schema.reader import INVALID, Reader
from pinn.schema.tree import Place, tree_of


def read(kind, text):
    """The value and the messages of reading a YAML text, the first key being `v` on line 1."""
    reader = Reader()
    root = parse_yaml(f"v: {text}\n", "f")
    value = reader.read(kind, root.entries["v"], ("v",), root.key_places["v"])
    return value, [str(complaint) for complaint in reader.complaints]


def refusal(kind, text):
    value, messages = read(kind, text)
    assert value is INVALID
    assert len(messages) == 1
    return messages[0]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-3", 1e-3),
        ("1.0e-05", 1e-5),
        ("1e+16", 1e16),
        ("-2", -2.0),
        ("0.01/pi", 0.01 / math.pi),
        ("'2*pi'", 2 * math.pi),
        ("sqrt(2)", math.sqrt(2)),
        ("010", 10.0),
    ],
)
def test_numbers(text, value):
    assert read(Number(), text) == (value, [])


@pytest.mark.parametrize("text", ["true", ".inf", ".nan", "1e999", "1/0", "x", "[1]", "1:30", "''"])
def test_texts_that_are_no_numbers(text):
    assert refusal(Number(), text).startswith("f:1: v: expected a number")


def test_bounds_of_numbers():
    assert refusal(Number(low=0), "-1") == "f:1: v: expected a number >= 0, got '-1'"
    assert refusal(Number(above=0), "0") == "f:1: v: expected a number > 0, got '0'"
    assert read(Number(low=0), "0") == (0.0, [])


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3),
        ("1e4", 10_000),
        ("9007199254740993", 9007199254740993),
        ("-0", 0),
        ("9223372036854775807", 9223372036854775807),
        ("12345678901234567.0", 12345678901234567),
    ],
)
def test_whole_numbers(text, value):
    result, messages = read(Integer(), text)
    assert (result, messages) == (value, [])
    assert type(result) is int


@pytest.mark.parametrize(
    "text", ["1.5", "ten", "1e999", "", "[]", "true", "2001-01-01", "9" * 5000]
)
def test_texts_that_are_no_whole_numbers(text):
    assert refusal(Integer(), text).startswith("f:1: v: expected a whole number, got ")


def test_bound_of_whole_numbers():
    assert refusal(Integer(low=1), "0") == "f:1: v: expected a whole number >= 1, got '0'"


def test_flags():
    assert read(Flag(), "true") == (True, [])
    assert read(Flag(), "False") == (False, [])
    assert refusal(Flag(), "yes") == "f:1: v: expected true or false, got 'yes'"


def test_a_choice_offers_the_nearest_option():
    kind = Choice(("sobol", "halton"))
    assert read(kind, "halton") == ("halton", [])
    assert refusal(kind, "sobel") == (
        "f:1: v: expected one of sobol, halton, got 'sobel'; did you mean 'sobol'?"
    )


def test_null_where_it_is_allowed():
    assert read(Optional(Number()), "null") == (None, [])
    assert read(Items(Number()), "") == ((), [])
    assert refusal(Number(), "null") == "f:1: v: expected a number, got nothing"


def test_items_collect_every_mistake():
    value, messages = read(Items(Number()), "[1, a, 2, b]")
    assert value is INVALID
    assert [message.split(": ")[1] for message in messages] == ["v.1", "v.3"]


def test_items_of_a_length():
    assert refusal(Items(Number(), "[low, high]", length=2), "[1]") == (
        "f:1: v: expected [low, high], got a list of 1 item"
    )


def test_a_list_without_brackets_gets_a_hint():
    assert refusal(Items(Number()), "0, 1").endswith("got '0, 1'; write it as [a, b]")


def test_names_must_be_names():
    assert read(Names(Number()), "{y: 1, on: 2}") == ({"y": 1.0, "on": 2.0}, [])
    assert refusal(Names(Number()), "{2x: 1}") == (
        "f:1: v.2x: expected a name of letters, digits and _ that starts with a letter, got '2x'"
    )


@declared
class Solver:
    """A toy."""

    steps: Count
    rate: Positive = 1e-3
    betas: tuple[float, float] = (0.9, 0.999)
    search: Literal["wolfe", "armijo"] = "wolfe"
    limit: float | None = None
    exact: bool = False

    def __post_init__(self):
        if self.limit is not None and self.exact:
            refuse("expected one of limit and exact")
        if self.rate > self.steps:
            refuse(f"expected at most {self.steps} steps, got {self.rate}", "rate")


SOLVERS = Family("solver", example="Solver(3)")
SOLVERS.base = Solver
SOLVERS.add("toy", Solver)


def test_a_record_fills_defaults():
    value, messages = read(Record(Solver), "{steps: 3, betas: [0.5, 1/4], limit: 2}")
    assert (value, messages) == (Solver(3, betas=(0.5, 0.25), limit=2.0), [])


def test_what_was_read_is_written_and_read_again():
    solver = Solver(3, rate=0.1 + 0.2, exact=True)
    again = Reader().read(Record(Solver), tree_of(dump(solver), Place("file")), ())
    assert again == solver
    assert dump(again) == dump(solver) == {
        "steps": 3, "rate": 0.1 + 0.2, "betas": [0.9, 0.999], "search": "wolfe", "limit": None,
        "exact": True,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}", "f:1: v.steps: missing; expected a whole number >= 1"),
        ("{steps: 3, step: 2}", "f:1: v.step: unknown key; valid keys: steps, rate, betas, "),
        ("{steps: 2, search: wolf}", "f:1: v.search: expected one of wolfe, armijo, got 'wolf'"),
        ("{steps: 2, betas: [1]}", "f:1: v.betas: expected a list of 2 values, each a number"),
        ("{steps: 2, exact: 1}", "f:1: v.exact: expected true or false, got '1'"),
        ("{steps: 2, rate: -1}", "f:1: v.rate: expected a number > 0, got '-1'"),
        ("{steps: 2, rate: 3}", "f:1: v.rate: expected at most 2 steps, got 3.0"),
        ("{steps: 1, limit: 1, exact: true}", "f:1: v: expected one of limit and exact"),
        ("[1]", "f:1: v: expected a mapping with keys out of steps, rate, betas"),
    ],
)
def test_a_mistake_in_a_record_is_told_at_its_key(text, message):
    assert refusal(Record(Solver), text).startswith(message)


def test_a_record_tells_all_its_mistakes():
    _, messages = read(Record(Solver), "{stepz: 3, rate: high}")
    assert [message.split(": ")[1] for message in messages] == ["v.stepz", "v.steps", "v.rate"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"steps": 0}, "solver: steps: expected a whole number >= 1, got 0"),
        ({"steps": True}, "solver: steps: expected a whole number >= 1, got True"),
        ({"steps": 10**400}, "solver: steps: expected a whole number >= 1 and at most 9223372"),
        ({"rate": 10**400}, "solver: rate: expected a finite number > 0, got 1000000"),
        ({"rate": "1"}, "solver: rate: expected a number > 0, got '1'"),
        ({"betas": [1]}, "solver: betas: expected a list of 2 values, each a number, got 1 of"),
        ({"betas": 0.5}, "solver: betas: expected a list of 2 values"),
        ({"rates": 1.0}, "solver: rates: unknown argument; expected steps, rate, betas"),
        ({"rates": 1.0}, "; did you mean 'rate'?"),
        ({"search": "wolf"}, "search: expected one of wolfe, armijo, got 'wolf'; did you mean"),
        ({"exact": 1}, "solver: exact: expected True or False, got 1"),
        ({"rate": 9.0}, "solver: rate: expected at most 2 steps, got 9.0"),
    ],
)
def test_a_constructor_checks_what_its_annotations_say(arguments, message):
    with pytest.raises(DeclarationError) as caught:
        Solver(**{"steps": 2, **arguments})
    assert str(caught.value).startswith(message) or message in str(caught.value)


def test_a_value_of_another_kind_is_a_type_error_too():
    with pytest.raises(TypeError, match="steps: expected a whole number"):
        Solver("3")
    with pytest.raises(ValueError, match="steps: expected a whole number"):
        Solver("3")
    with pytest.raises(DeclarationError) as caught:
        Solver(0)
    assert not isinstance(caught.value, TypeError)


def test_every_unknown_argument_is_told():
    with pytest.raises(TypeError, match="solver: lr: unknown.*\nsolver: layers: unknown"):
        Solver(2, lr=1, layers=2)


def test_brackets_are_advised_where_they_help():
    items = Items(Integer(low=1), "counts")
    for value, advice in ((3, "got 3; put it in [ ]"), ("a", "got 'a'"), ({"a": 1}, "{'a': 1}")):
        with pytest.raises(DeclarationError) as caught:
            items.check(value)
        assert str(caught.value).endswith(advice)
    pair = Items(Integer(low=1), "two counts", length=2)
    with pytest.raises(DeclarationError) as caught:
        pair.check(3)
    assert str(caught.value) == "expected two counts, got 3"
    with pytest.raises(DeclarationError) as caught:
        Items(Record(Solver), "solvers").check({"steps": 2})
    assert str(caught.value).endswith("got {'steps': 2}; write [pinn.Solver(...)]")


def test_every_mistake_of_a_constructor_is_told():
    with pytest.raises(DeclarationError) as caught:
        Solver(0, rate=-1, exact="yes")
    assert [mistake.path[0] for mistake in caught.value.mistakes] == ["steps", "rate", "exact"]


def test_numbers_become_plain_numbers():
    solver = Solver(np.int64(3), rate=np.float32(0.5), betas=[0, 1])
    assert (type(solver.steps), type(solver.rate), solver.betas) == (int, float, (0.0, 1.0))


def test_declared_objects_copy_and_pickle():
    solver = Solver(3, limit=2)
    assert pickle.loads(pickle.dumps(solver)) == copy.deepcopy(solver) == solver


def test_a_comma_inside_braces_is_explained():
    _, messages = read(Record(Solver), "{steps: min(3, 1)}")
    assert 'put quotes around a text that contains a comma: steps: "min(3, 1)"' in messages[0]


def test_a_bracket_that_is_never_closed_is_told_where_commas_cut_its_text():
    _, messages = read(Record(Solver), "{steps: max(2, min(3, 1)}")
    closed = """steps: "max(2, min(3, 1)", whose '(' is never closed"""
    assert [message for message in messages if closed in message]
    assert any("got 'max(2', whose '(' is never closed" in message for message in messages)


def test_a_member_by_name_alone_has_its_defaults():
    @declared
    class Rate:
        rate: Positive = 0.5

    family = Family("stage", example="Rate()")
    family.add("adam", Rate)
    kind = Member(family)
    assert read(kind, "adam") == (Rate(0.5), [])
    assert read(kind, "{adam: }") == (Rate(0.5), [])
    assert kind.dump(Rate(2)) == {"adam": {"rate": 2.0}}
    assert refusal(kind, "{adma: {}}") == (
        "f:1: v.adma: expected one stage out of adam, got 'adma'; did you mean 'adam'?"
    )
    assert "got a mapping with the keys a, b" in refusal(kind, "{a: 1, b: 2}")


def test_a_path_through_objects_finds_the_key_of_the_file():
    reader = Reader()
    root = parse_yaml("v:\n  - toy: {steps: 3,\n     rate: 1}\n", "f")
    kind = Items(Member(SOLVERS))
    reader.read(kind, root.entries["v"], ("v",), root.key_places["v"])
    reader.complain(("v", "0", "rate"), "too much")
    assert [str(complaint) for complaint in reader.complaints] == ["f:3: v.0.toy.rate: too much"]


def test_members_are_checked():
    assert SOLVERS.check(Solver(1)) == Solver(1)
    with pytest.raises(TypeError, match=r"expected a solver, got .*write Solver\(...\)"):
        SOLVERS.check(Solver)
    with pytest.raises(TypeError, match=r"expected a solver such as Solver\(3\), got 'adam'"):
        SOLVERS.check("adam")


def test_a_table_refuses_what_it_could_not_read():
    class Odd(Solver):
        def __init__(self, things: dict[int, object]) -> None: ...

    with pytest.raises(TypeError, match="Odd.things: no kind of value stands for"):
        SOLVERS.add("odd", Odd)
    with pytest.raises(ValueError, match="solver 'toy': the name is taken by Solver"):
        SOLVERS.add("toy", type("Other", (Solver,), {}))
    with pytest.raises(TypeError, match="expected a subclass of Solver, got int"):
        SOLVERS.add("whole", int)
    with pytest.raises(ValueError, match="starts with a letter, got '2'"):
        SOLVERS.add("2", Solver)
    with pytest.raises(TypeError, match="a file can hold a solver of the classes toy, not int"):
        SOLVERS.name_of(3)


def test_a_function_is_written_as_nothing_and_reads_back_as_not_saved():
    kind = Formula()
    function = kind.check(lambda s: s.x)
    assert kind.dump(function) is None
    stored = Reader(stored=True).read(kind, tree_of(None, Place("f")), ("value",))
    assert isinstance(stored, NotSaved)
    with pytest.raises(RuntimeError, match="value: it was a Python function"):
        stored(None)
    assert refusal(kind, "null").startswith("f:1: v: expected an expression such as")


@pytest.mark.parametrize(
    ("text", "value"), [("0", 0.0), ("-1.5e3", -1500.0), ("'0'", "0"), ("2*x", "2*x")]
)
def test_a_formula_that_is_a_number_stays_one(text, value):
    found, messages = read(Formula(), text)
    assert (found, type(found), messages) == (value, type(value), [])


def test_annotations_name_kinds():
    def take(a: Annotated[float, Number(below=2.0)], b: "int | None" = None) -> None: ...

    assert {name: field.kind for name, field in fields_of(take).items()} == {
        "a": Number(below=2.0), "b": Optional(Integer()),
    }  # fmt: skip


def test_a_word_for_a_number_is_told_once():
    message = refusal(Number(above=0.0), "abc")
    assert message.startswith("f:1: v: expected a number > 0 such as 1e-3 or 0.01/pi, got 'abc': ")
    assert message.count("expected") == 1
