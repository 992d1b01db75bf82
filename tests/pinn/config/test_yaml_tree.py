"""YAML to the located tree: lines, texts that stay texts, and refusals."""

import pytest

from pinn.config import ConfigError
from pinn.config.yaml_tree import MAX_NODES, Mapping, Sequence, parse_yaml, read_yaml


def complaint(text):
    with pytest.raises(ConfigError) as caught:
        parse_yaml(text, "case.yaml")
    return str(caught.value)


def test_every_key_and_value_knows_its_line():
    root = parse_yaml("a: 1\nb:\n  - x\n  - {c: 2,\n     d: 3}\n", "case.yaml")
    assert isinstance(root, Mapping)
    assert str(root.key_places["a"]) == "case.yaml:1"
    assert str(root.key_places["b"]) == "case.yaml:2"
    items = root.entries["b"]
    assert isinstance(items, Sequence)
    assert [str(item.place) for item in items.items] == ["case.yaml:3", "case.yaml:4"]
    assert str(items.items[1].key_places["d"]) == "case.yaml:5"


@pytest.mark.parametrize("word", ["y", "n", "on", "off", "no", "yes", "1e-3", "0x10", "1:30", "~x"])
def test_texts_that_yaml_1_1_would_change_stay_as_written(word):
    root = parse_yaml(f"{word}: {word}", "case.yaml")
    assert list(root.entries) == [word]
    assert root.entries[word].text == word


def test_only_a_plain_null_is_nothing():
    root = parse_yaml("a:\nb: ~\nc: null\nd: 'null'\ne: ''\n", "case.yaml")
    assert [key for key, node in root.entries.items() if node.is_null] == ["a", "b", "c"]


def test_an_empty_text_is_nothing():
    assert parse_yaml("# only a comment\n", "case.yaml").is_null


def test_aliases_are_copied():
    root = parse_yaml("a: &n [1, 2]\nb: *n\n", "case.yaml")
    root.entries["a"].items.pop()
    assert [item.text for item in root.entries["b"].items] == ["1", "2"]


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("a: 1\nb: [1, 2\nc: 3\n", "case.yaml:3: not valid YAML (column 2): "),
        ("a: b: c\n", "case.yaml:1: not valid YAML (column 5): "),
        ("a: 1\n\tb: 2\n", "case.yaml:2: not valid YAML (column 1): "),
        ("a: 'open\n", "case.yaml:2: not valid YAML (column 1): "),
        ("a: *none\n", "case.yaml:1: not valid YAML (column 4): found undefined alias 'none'"),
        ("a: 1\n---\nb: 2\n", "case.yaml:2: not valid YAML (column 1): "),
        ("a: 1\nb: 2\x07\n", "case.yaml:2: not valid YAML: the character U+0007 is not allowed"),
    ],
)
def test_bad_yaml_is_told_with_line_and_column(text, start):
    assert complaint(text).startswith(start)


def test_tabs_are_named():
    assert "indent with spaces, not with tabs" in complaint("a:\n\tb: 2\n")


def test_a_key_given_twice_is_refused_with_both_lines():
    assert complaint("a:\n  b: 1\n  c: 2\n  b: 3\n") == (
        "case.yaml:4: the key 'b' is given twice (first at case.yaml:2); keep one"
    )


@pytest.mark.parametrize("tag", ["!!python/object/apply:os.system", "!own", "!!binary", "!!set"])
def test_tags_are_refused(tag):
    assert f"case.yaml:1: the tag {tag} is not allowed" in complaint(f"a: {tag} {{}}\n")


def test_a_list_as_a_key_is_refused():
    assert "case.yaml:1: expected a text as a key" in complaint("[1, 2]: 3\n")


def test_nested_aliases_do_not_explode():
    lines = ["a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 12)]
    assert f"expected at most {MAX_NODES} values" in complaint("\n".join(lines))


def test_an_alias_of_itself_is_refused():
    assert complaint("a: &a [*a]\n").startswith("case.yaml:1: ")


def test_deep_nesting_is_refused():
    assert "nested too deeply" in complaint("[" * 20_000)


def test_a_missing_file_names_the_yaml_files_beside_it(tmp_path):
    (tmp_path / "burgers.yaml").write_text("a: 1\n")
    with pytest.raises(ConfigError) as caught:
        read_yaml(tmp_path / "burger.yaml", "burger.yaml")
    assert str(caught.value) == f"burger.yaml: no such file; {tmp_path} holds burgers.yaml"


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(ConfigError, match="no such file .and no directory"):
        read_yaml(tmp_path / "nowhere" / "a.yaml", "nowhere/a.yaml")


def test_a_directory_is_refused(tmp_path):
    with pytest.raises(ConfigError) as caught:
        read_yaml(tmp_path, "dir")
    assert str(caught.value) == "dir: expected a YAML file, got a directory"


def test_a_zero_byte_in_the_name_is_refused(tmp_path):
    with pytest.raises(ConfigError):
        read_yaml(tmp_path / "a\0b", "a?b")


def test_text_that_is_not_utf8_is_refused_with_its_line(tmp_path):
    path = tmp_path / "latin.yaml"
    path.write_bytes("a: 1\nb: é\n".encode("latin-1"))
    with pytest.raises(ConfigError, match=r"^latin.yaml:2: expected text in UTF-8.*0xe9"):
        read_yaml(path, "latin.yaml")


def test_a_byte_order_mark_is_ignored(tmp_path):
    path = tmp_path / "windows.yaml"
    path.write_bytes(b"\xef\xbb\xbfa: 1\r\nb: 2\r\n")
    root = read_yaml(path, "windows.yaml")
    assert list(root.entries) == ["a", "b"]
    assert root.key_places["b"].line == 2


def test_a_huge_file_is_refused(tmp_path):
    path = tmp_path / "huge.yaml"
    with path.open("wb") as file:
        file.truncate(11_000_000)
    with pytest.raises(ConfigError, match="at most 1.5 MB, got a larger file; long lists of"):
        read_yaml(path, "huge.yaml")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a:\n    b: 1\n  c: 2\n", "3: not valid YAML: this line is indented differently from "
         "case.yaml:2, with which it belongs"),
        ("a:\n  b: 1\n    c: 2\n", "3: not valid YAML: this line is indented differently from "
         "case.yaml:2"),
        ("a:\n  - b: 1\n - c: 2\n", "3: not valid YAML: this line is indented differently from "
         "case.yaml:2"),
        ("a:\n  - {b: 1}\n  # and\n    - {c: 2}\n", "4: not valid YAML: this line is indented "
         "differently from case.yaml:2"),
        ("a:\n  - b: 1\n  c: 2\n", "3: not valid YAML: a list item needs '- ' before it, as at "
         "case.yaml:2"),
        ("a:\n  b: 1\n  - c: 2\n", "3: not valid YAML: a list item needs '- ' before it, as here, "
         "at case.yaml:2 too"),
        ("a: 'x=0' and y\n", "1: not valid YAML: there is more text behind a text in quotes"),
    ],
)
def test_a_wrong_layout_is_told_in_words_of_the_file(text, message):
    assert complaint(text).startswith(f"case.yaml:{message}")
