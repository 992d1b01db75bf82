"""YAML that was made to do harm: refused with its place, in little time and memory."""

import os
import time
import tracemalloc

import pytest

from pinn.config import ConfigError, Override
from pinn.config.yaml_tree import MAX_BYTES, MAX_LINES, MAX_NODES, parse_yaml, read_yaml

# On the processor; PyYAML alone takes half a second for what is just allowed.
SECONDS = 5


def complaint(text):
    began = time.process_time()
    with pytest.raises(ConfigError) as caught:
        parse_yaml(text, "case.yaml")
    assert time.process_time() - began < SECONDS
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: [" + "1, " * 10 * MAX_NODES, f"case.yaml:1: expected at most {MAX_NODES} values"),
        ("a: b\n" * (MAX_LINES + 2), f"case.yaml:1: expected at most {MAX_LINES} lines; long"),
        ("# x\n" * (MAX_BYTES // 5), f"case.yaml:1: expected at most {MAX_LINES} lines"),
        ("{" * 100_000, "nested too deeply"),
        ("[" * 100_000, "nested too deeply"),
        ("- " * 100_000, "nested too deeply"),
        ("? " * 100_000, "nested too deeply"),
        ("a: " * 50_000, "mapping values are not allowed here"),
        ("a: &a {<<: *a}\n", "nested too deeply"),
        ("a: &a [*a]\n", "nested too deeply"),
        ("a: &a 1\nb: &a 2\n", "case.yaml:2: not valid YAML (column 4): second occurrence"),
        ("<<: {a: 1}\n<<: {b: 1}\n", "case.yaml:2: the key '<<' is given twice"),
        ("'" + "k" * 900 + "': 1\n'" + "k" * 900 + "': 2\n", "case.yaml:2: the key 'kkk"),
        ('a: "\\0"\n', "case.yaml:1: the character U+0000 is not allowed in a text"),
        ('a:\n  - "x\\e[31my"\n', "case.yaml:2: the character U+001B is not allowed in a text"),
        ('"\\e]0;x\\a": 1\n', "case.yaml:1: the character U+001B is not allowed in a text"),
        ('a: "\\ud800"\n', "case.yaml:1: the character U+D800 is not allowed in a text"),
        ('b: 1\na: "\\UFFFFFFFF"\n', "case.yaml:2: not valid YAML: an escape or a version"),
        ("%YAML " + "9" * 5000 + ".1\n--- a\n", "not valid YAML: an escape or a version"),
        ("a: \x1b[31m\n", "case.yaml:1: not valid YAML: the character U+001B is not allowed"),
        ("a: \ud800\n", "case.yaml:1: not valid YAML: the character U+D800 is not allowed"),
        ("a: !!python/object/apply:os.system [x]\n", "the tag !!python/object/apply:os.system is"),
        ("a: !!python/name:os.system\n", "the tag !!python/name:os.system is not allowed"),
        ("a: !!" + "k" * 90_000 + " 1\n", "... is not allowed; write plain lists"),
    ],
    ids=range(24),
)
def test_what_would_cost_or_hide_is_refused(text, said):
    assert said in complaint(text)


def test_a_huge_text_is_refused_before_it_is_parsed(tmp_path):
    path = tmp_path / "huge.yaml"
    path.write_text("name: " + "a" * 10_000_000)
    began = time.process_time()
    tracemalloc.start()
    try:
        with pytest.raises(ConfigError, match="at most 1.5 MB"):
            read_yaml(path, "huge.yaml")
        assert tracemalloc.get_traced_memory()[1] < 10e6
    finally:
        tracemalloc.stop()
    assert time.process_time() - began < 0.5


def test_a_merge_is_a_key_like_any_other():
    root = parse_yaml("a: &a {x: 1}\nb: {<<: *a}\n", "case.yaml")
    assert list(root.entries["b"].entries) == ["<<"]


def test_line_ends_and_tabs_may_stand_in_a_text():
    assert parse_yaml('a: "x\\n\\ty"\n', "case.yaml").entries["a"].text == "x\n\ty"


def test_many_lines_of_aliases_take_no_memory():
    lines = ["a0: &a0 [1, 1]"] + [f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}]" for i in range(1, 64)]
    tracemalloc.start()
    try:
        assert "expected at most" in complaint("\n".join(lines))
        assert tracemalloc.get_traced_memory()[1] < 50e6
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("name", "what"),
    [("pipe.yaml", "got a pipe"), ("/dev/zero", "got a device"), (".", "directory")],
)
def test_only_a_plain_file_is_a_config(tmp_path, name, what):
    os.mkfifo(tmp_path / "pipe.yaml")
    with pytest.raises(ConfigError, match=what):
        read_yaml(tmp_path / name, name)


@pytest.mark.parametrize(
    "text", ['a="\\0"', 'a="\\e[31m"', "a=[" + "1," * 2 * MAX_NODES, "a=" + "[" * 10_000]
)
def test_an_override_is_held_to_the_same(text):
    with pytest.raises(ConfigError, match="^--set: "):
        Override.parse(text, "--set")
