"""Overrides of the command line laid over the tree of a file."""

import pytest

from pinn.config import ConfigError, Override
from pinn.config.yaml_tree import Mapping, Scalar, parse_yaml

FILE = """\
seed: 0
model: mlp
training:
  - adam: {steps: 5}
  - lbfgs
"""


def plain(node):
    if isinstance(node, Scalar):
        return node.text
    if isinstance(node, Mapping):
        return {key: plain(value) for key, value in node.entries.items()}
    return [plain(item) for item in node.items]


def overridden(*texts):
    root = parse_yaml(FILE, "case.yaml")
    for text in texts:
        Override.parse(text, f"--set {text}").apply(root)
    return plain(root)


def refusal(text):
    with pytest.raises(ConfigError) as caught:
        overridden(text)
    return str(caught.value)


def test_a_value_is_replaced():
    assert overridden("seed=7")["seed"] == "7"


def test_list_items_are_named_by_number():
    assert overridden("training.0.adam.steps=10")["training"][0] == {"adam": {"steps": "10"}}


def test_a_stage_is_found_without_its_name():
    changed = overridden("training.0.steps=10", "training.1.memory=3", "model.width=7")
    assert changed["training"] == [{"adam": {"steps": "10"}}, {"lbfgs": {"memory": "3"}}]
    assert changed["model"] == {"mlp": {"width": "7"}}


def test_a_stage_can_be_another_one():
    assert overridden("training.0={lbfgs: {steps: 1}}")["training"][0] == {"lbfgs": {"steps": "1"}}


def test_a_whole_list_can_be_set():
    assert overridden("training=[{adam: {steps: 1}}]")["training"] == [{"adam": {"steps": "1"}}]


def test_a_list_item_can_be_replaced():
    assert overridden("training.1={adam: {steps: 1}}")["training"][1] == {"adam": {"steps": "1"}}


def test_missing_mappings_on_the_way_are_made():
    assert overridden("problem.constants.nu=0.01/pi")["problem"] == {"constants": {"nu": "0.01/pi"}}


def test_a_name_alone_opens_into_its_settings():
    changed = overridden("model.mlp.width=8", "training.1.lbfgs.steps=3")
    assert changed["model"] == {"mlp": {"width": "8"}}
    assert changed["training"][1] == {"lbfgs": {"steps": "3"}}


@pytest.mark.parametrize(("text", "expected"), [
    ("weighting.value_w_x_0.5=2", {"value_w_x_0": "1", "value_w_x_0.5": "2"}),
    ("weighting.value_w_x_0=2", {"value_w_x_0": "2"}),
    ("weighting.value_w_x_-0.5_t_0.25=2", {"value_w_x_0": "1", "value_w_x_-0.5_t_0.25": "2"}),
])  # fmt: skip
def test_a_dot_within_a_number_belongs_to_a_name(text, expected):
    root = parse_yaml("weighting: {value_w_x_0: 1}", "case.yaml")
    Override.parse(text, f"--set {text}").apply(root)
    assert plain(root) == {"weighting": expected}


@pytest.mark.parametrize("file", ["{}", "weights:", "weights: {every: 5}"])
def test_it_does_where_the_section_is_not_there(file):
    root = parse_yaml(file, "case.yaml")
    Override.parse("weights.blocks.value_w_x_0.5=2", "--set").apply(root)
    assert plain(root)["weights"]["blocks"] == {"value_w_x_0.5": "2"}


def test_a_number_after_a_name_that_ends_in_a_digit_is_an_item_where_there_are_some():
    root = parse_yaml("domain: {x1: [0, 1]}", "case.yaml")
    Override.parse("domain.x1.1=2", "--set domain.x1.1=2").apply(root)
    assert plain(root) == {"domain": {"x1": ["0", "2"]}}


def test_later_overrides_win():
    assert overridden("seed=1", "seed=2")["seed"] == "2"


def test_the_value_may_hold_an_equals_sign():
    assert overridden("problem.on=x=-1")["problem"] == {"on": "x=-1"}


def test_an_empty_value_is_nothing():
    assert overridden("seed=")["seed"] == ""


def test_a_text_that_is_no_yaml_is_taken_as_it_stands():
    root = parse_yaml(FILE, "case.yaml")
    Override.of("output.directory", "a: [b", "--out").apply(root)
    assert plain(root)["output"] == {"directory": "a: [b"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("seed", "--set seed: expected key.path=value, such as sampling.interior=2000"),
        ("=3", "--set =3: expected keys joined by dots before '=', got ''"),
        ("a..b=3", "--set a..b=3: expected keys joined by dots before '=', got 'a..b'"),
        (
            "training.2.adam.steps=3",
            "--set training.2.adam.steps=3: training: "
            "this is a list of 2 items; expected an item's number (0, 1), got '2'",
        ),
        (
            "training.first=3",
            "--set training.first=3: training: "
            "this is a list of 2 items; expected an item's number (0, 1), got 'first'",
        ),
        (
            "seed.low.high=3",
            "--set seed.low.high=3: seed: this is '0'; it cannot hold the key 'low'",
        ),
        ("seed.low=3", "--set seed.low=3: seed: this is '0'; it cannot hold the key 'low'"),
    ],
)
def test_a_path_that_does_not_exist_is_refused(text, message):
    assert refusal(text) == message


def test_a_value_that_is_not_yaml_is_refused():
    assert refusal("a=[1, 2").startswith("--set a=[1, 2: not valid YAML (column ")
