"""Kinds of config values: what they read, and what they say of a wrong one."""

import math
from dataclasses import dataclass
from typing import Literal

import pytest

from pinn.config.schema import (
    INVALID,
    Choice,
    Field,
    Flag,
    Integer,
    Items,
    Names,
    Number,
    Optional,
    Reader,
    Record,
    Tagged,
    Text,
    record_of,
)
from pinn.config.tree import parse_yaml


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
    [("3", 3), ("1e4", 10_000), ("9007199254740993", 9007199254740993), ("-0", 0)],
)
def test_whole_numbers(text, value):
    result, messages = read(Integer(), text)
    assert (result, messages) == (value, [])
    assert type(result) is int


@pytest.mark.parametrize("text", ["1.5", "ten", "1e999", "", "[]", "true"])
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
    assert read(Optional(Items(Number()), list), "") == ([], [])
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


RECORD = Record({"steps": Field(Integer(low=1)), "rate": Field(Number(), 1e-3)})


def test_a_record_fills_defaults():
    assert read(RECORD, "{steps: 3}") == ({"steps": 3, "rate": 1e-3}, [])


def test_an_unknown_key_names_the_valid_ones_and_the_nearest():
    assert refusal(RECORD, "{steps: 3, step: 2}") == (
        "f:1: v.step: unknown key; valid keys: steps, rate; did you mean 'steps'?"
    )


def test_a_missing_key_says_what_is_expected():
    assert refusal(RECORD, "{rate: 1}") == (
        "f:1: v.steps: missing; expected a whole number >= 1"
    )


def test_a_record_tells_all_its_mistakes():
    _, messages = read(RECORD, "{stepz: 3, rate: high}")
    assert [message.split(": ")[1] for message in messages] == ["v.stepz", "v.steps", "v.rate"]


def test_a_comma_inside_braces_is_explained():
    record = Record({"value": Field(Text())})
    assert "put quotes around a text that contains a comma" in refusal(
        record, "{value: min(x, 1)}"
    )


def test_a_tagged_record_by_name_alone_has_its_defaults():
    kind = Tagged({"adam": Record({"rate": Field(Number(), 0.5)})}, "stage")
    assert read(kind, "adam") == ({"adam": {"rate": 0.5}}, [])
    assert read(kind, "{adam: }") == ({"adam": {"rate": 0.5}}, [])
    assert refusal(kind, "{adma: {}}") == (
        "f:1: v.adma: expected one stage out of adam, got 'adma'; did you mean 'adam'?"
    )
    assert "got a mapping with the keys a, b" in refusal(kind, "{a: 1, b: 2}")


@dataclass(frozen=True)
class Solver:
    steps: int
    rate: float = 1e-3
    betas: tuple[float, float] = (0.9, 0.999)
    search: Literal["wolfe", "armijo"] = "wolfe"
    limit: float | None = None
    exact: bool = False

    def __post_init__(self):
        if self.rate <= 0:
            raise ValueError(f"Solver: rate: expected a number > 0, got {self.rate}")
        if self.steps < 1:
            raise ValueError("it must take at least one of its steps")
        if self.limit is not None and self.exact:
            raise ValueError("expected one of the two")


def test_a_signature_is_a_record():
    assert read(record_of(Solver), "{steps: 3, betas: [0.5, 1/4], limit: 2}") == (
        {
            "steps": 3,
            "rate": 1e-3,
            "betas": [0.5, 0.25],
            "search": "wolfe",
            "limit": 2.0,
            "exact": False,
        },
        [],
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}", "f:1: v.steps: missing; expected a whole number"),
        ("{steps: 2, search: wolf}", "f:1: v.search: expected one of wolfe, armijo, got 'wolf'"),
        ("{steps: 2, betas: [1]}", "f:1: v.betas: expected a list of 2 values, each a number"),
        ("{steps: 2, exact: 1}", "f:1: v.exact: expected true or false, got '1'"),
    ],
)
def test_a_signature_checks_its_types(text, message):
    assert refusal(record_of(Solver), text).startswith(message)


def test_what_a_constructor_refuses_is_told_at_the_key_it_names():
    kind = record_of(Solver)
    assert refusal(kind, "{steps: 2, rate: -1}") == (
        "f:1: v.rate: Solver: rate: expected a number > 0, got -1.0"
    )
    assert refusal(kind, "{steps: 0}") == "f:1: v.steps: it must take at least one of its steps"
    assert refusal(kind, "{steps: 1, limit: 1, exact: true}") == "f:1: v: expected one of the two"


def test_a_constructors_own_prefix_is_dropped_under_its_name():
    kind = Tagged({"solver": record_of(Solver)}, "stage")
    assert refusal(kind, "{solver: {steps: 2, rate: -1}}") == (
        "f:1: v.solver.rate: expected a number > 0, got -1.0"
    )


def test_an_annotation_without_a_kind_is_a_mistake_of_the_program():
    def solver(things: dict[str, object]) -> None: ...

    with pytest.raises(TypeError, match="solver.things: no kind of config value"):
        record_of(solver)
