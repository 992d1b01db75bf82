"""YAML text to a tree whose every key and value knows its line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import yaml

from pinn.config.errors import ConfigError
from pinn.expressions import abridge
from pinn.files import open_plain
from pinn.schema.reader import Complaint
from pinn.schema.tree import Mapping, Node, Place, Scalar, Sequence

# MAX_NODES numbers with all their digits; PyYAML reads so much in half a second.
MAX_BYTES = 1_500_000
MAX_LINES = 50_000
MAX_NODES = 50_000
# A line end or a tab may stand in a text; no other control character, nor half of a surrogate.
_NO_TEXT = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_ELSEWHERE = "; long lists of numbers belong in a CSV or npz file"
_TOO_MANY = f"expected at most {MAX_NODES} values{_ELSEWHERE}"
_STANDARD = "tag:yaml.org,2002:"
_STANDARD_TAGS = {
    _STANDARD + kind
    for kind in ("str", "int", "float", "bool", "null", "map", "seq", "timestamp", "merge", "value")
}


def read_yaml(path: Path, shown: str) -> Node:
    """Read a YAML file as a located tree.

    `shown` is the file's name in messages. Raises ConfigError for a file that is missing, a
    directory, unreadable, not UTF-8 or not YAML.
    """
    return parse_yaml(_read_text(path, shown), shown)


def leaves(node: Node) -> dict[str, str]:
    """Return the values of a tree as texts, by the keys that lead there, joined by dots."""

    def below(node: Node, path: tuple[str, ...]) -> Iterator[tuple[str, str]]:
        if isinstance(node, Mapping):
            inner = node.entries.items()
        elif isinstance(node, Sequence):
            inner = ((str(number), one) for number, one in enumerate(node.items))
        else:
            yield ".".join(path), node.text
            return
        for key, one in inner:
            yield from below(one, (*path, key))

    return dict(below(node, ()))


def parse_yaml(text: str, source: str, line: int | None = 1) -> Node:
    """Parse YAML text as a located tree.

    `line` is the number of the text's first line; None for a text that has no lines to speak of,
    such as a command-line option. Raises ConfigError with line and column for bad YAML.
    """

    def place(mark: yaml.Mark | None) -> Place:
        if mark is None or line is None:
            return Place(source, line)
        return Place(source, mark.line + line)

    if text.count("\n") > MAX_LINES:
        message = f"expected at most {MAX_LINES} lines{_ELSEWHERE}"
        raise ConfigError([Complaint(place(None), "", message)])
    loader = None
    try:
        loader = _Loader(text)
        root = loader.get_single_node()
        if root is None:
            return Scalar("", place(None))
        return _Locator(place).convert(root)
    except _TooMany as error:
        raise ConfigError([Complaint(place(error.mark), "", _TOO_MANY)]) from None
    except yaml.reader.ReaderError as error:
        at = Place(source, None if line is None else line + text.count("\n", 0, error.position))
        raise ConfigError(
            [Complaint(at, "", f"not valid YAML: {_character(error.character)} is not allowed")]
        ) from None
    except yaml.MarkedYAMLError as error:
        raise ConfigError([_yaml_complaint(error, place, text.splitlines())]) from None
    except ConfigError:
        raise
    except (OverflowError, ValueError):  # of "\\UFFFFFFFF" and "%YAML 9...9", in PyYAML itself
        message = "not valid YAML: an escape or a version has a number that is too large"
        at = place(None if loader is None else loader.get_mark())
        raise ConfigError([Complaint(at, "", message)]) from None
    except RecursionError:
        message = "not valid YAML for a config: lists or mappings are nested too deeply"
        raise ConfigError([Complaint(place(None), "", message)]) from None


def _read_text(path: Path, shown: str) -> str:
    def refuse(message: str, line: int | None = None) -> ConfigError:
        return ConfigError([Complaint(Place(shown, line), "", message)])

    if path.is_dir():
        raise refuse("expected a YAML file, got a directory")
    try:
        with open_plain(path) as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise refuse(f"no such file{_neighbours(path)}") from None
    except (OSError, ValueError) as error:  # ValueError: a zero byte in the name
        reason = getattr(error, "strerror", None) or error
        raise refuse(f"the file cannot be read: {reason}") from None
    if len(data) > MAX_BYTES:
        raise refuse(
            f"expected a config of at most {MAX_BYTES / 1e6:g} MB, got a larger file{_ELSEWHERE}"
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # utf-8-sig counts from behind a byte order mark, which stands on the first line anyway.
        number = data.count(b"\n", 0, error.start) + 1
        raise refuse(
            f"expected text in UTF-8, got the byte 0x{error.object[error.start]:02x}; "
            "save the file as UTF-8",
            number,
        ) from None


def _neighbours(path: Path) -> str:
    """Name the YAML files where the missing one was looked for: most often it is a misspelling."""
    try:
        names = sorted(p.name for p in path.parent.iterdir() if p.suffix in (".yaml", ".yml"))
    except OSError:
        return f" (and no directory {path.parent})"
    if not names:
        return ""
    return f"; {path.parent} holds " + ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")


def _character(character: str | int) -> str:
    code = character if isinstance(character, int) else ord(character)
    return f"the character U+{code:04X}"


def _yaml_complaint(error: yaml.MarkedYAMLError, place, lines: list[str]) -> Complaint:
    mark = error.problem_mark or error.context_mark
    told = None if mark is None or mark.line >= len(lines) else _layout(error, place, lines)
    if told is not None:
        return Complaint(place(mark), "", f"not valid YAML: {told}")
    column = f" (column {mark.column + 1})" if mark is not None else ""
    message = f"not valid YAML{column}: {error.problem or error.context}"
    if error.context and error.problem:
        message += f", {error.context}"
        if error.context_mark is not None and error.context_mark.line != mark.line:
            message += f" that begins at {place(error.context_mark)}"
    if "cannot start any token" in message and "\\t" in message:
        message += "; indent with spaces, not with tabs"
    return Complaint(place(mark), "", message)


def _layout(error: yaml.MarkedYAMLError, place, lines: list[str]) -> str | None:
    """Say what is wrong with the layout of lines, in words of the file; None for other mistakes."""
    mark, problem = error.problem_mark, error.problem or ""
    here = lines[mark.line]
    width = _indentation(here)
    if "\t" in here[: width + 1]:
        return None
    above = next((k for k in reversed(range(mark.line)) if _says(lines[k])), None)
    partner = None
    if "expected <block end>" in problem:
        opening = error.context_mark
        if mark.column != width:
            return "there is more text behind a text in quotes; put the quotes round all of it"
        if "block collection" in (error.context or "") and width == opening.column:
            return f"a list item needs '- ' before it, as at {place(opening)}"
        if width == opening.column:
            return f"a list item needs '- ' before it, as here, at {place(opening)} too"
        partner = _partner(lines, mark.line, width)
        partner = above if partner is None else partner
    elif "not allowed here" in problem:
        deeper = above is not None and width > _indentation(lines[above])
        first = ":" not in here[: mark.column] and not lines[above or 0].rstrip().endswith(":")
        partner = above if deeper and first else None
    if partner is None:
        return None
    other = place(yaml.Mark("", 0, partner, 0, None, 0))
    return f"this line is indented differently from {other}, with which it belongs"


def _says(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _partner(lines: list[str], number: int, width: int) -> int | None:
    """Return the line above that one belongs with, which is indented more; None for none."""
    found = None
    for k in filter(lambda k: _says(lines[k]), reversed(range(number))):
        if _indentation(lines[k]) <= width:
            break
        if found is None or _indentation(lines[k]) <= _indentation(lines[found]):
            found = k
    return found


class _TooMany(Exception):
    """There are more nodes than MAX_NODES; mark: where the first is that is too many."""

    def __init__(self, mark: yaml.Mark) -> None:
        super().__init__()
        self.mark = mark


class _Loader(yaml.SafeLoader):
    """Composes nodes up to a number, before they take more time and memory than a config may."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.count = 0

    def compose_node(self, parent: yaml.Node | None, index: object) -> yaml.Node:
        self.count += 1
        if self.count > MAX_NODES:
            raise _TooMany(self.peek_event().start_mark)
        return super().compose_node(parent, index)


class _Locator:
    """Turns PyYAML's nodes into ours; counts them, so that nested aliases cannot explode."""

    def __init__(self, place) -> None:
        self.place = place
        self.count = 0

    def convert(self, node: yaml.Node) -> Node:
        place = self.place(node.start_mark)
        self.count += 1
        if self.count > MAX_NODES:
            raise ConfigError([Complaint(place, "", _TOO_MANY)])
        if node.tag not in _STANDARD_TAGS:
            tag = abridge(node.tag.replace(_STANDARD, "!!"))
            message = f"the tag {tag} is not allowed; write plain lists, mappings and texts"
            raise ConfigError([Complaint(place, "", message)])
        if isinstance(node, yaml.ScalarNode):
            self.check_text(node)
            return Scalar(node.value, place, quoted=node.style is not None)
        if isinstance(node, yaml.SequenceNode):
            return Sequence([self.convert(item) for item in node.value], place)
        mapping = Mapping({}, place)
        for key, value in node.value:
            key_place = self.place(key.start_mark)
            if not isinstance(key, yaml.ScalarNode):
                raise ConfigError(
                    [Complaint(key_place, "", "expected a text as a key, got a list or a mapping")]
                )
            self.check_text(key)
            if key.value in mapping.entries:
                first = mapping.key_places[key.value]
                message = f"the key {key.value!r:.80} is given twice (first at {first}); keep one"
                raise ConfigError([Complaint(key_place, "", message)])
            mapping.put(key.value, self.convert(value), key_place)
        return mapping

    def check_text(self, node: yaml.ScalarNode) -> None:
        """Refuse what only an escape in quotes can put into a text: "\\0" or "\\e"."""
        found = _NO_TEXT.search(node.value)
        if found is not None:
            message = f"{_character(found.group())} is not allowed in a text"
            raise ConfigError([Complaint(self.place(node.start_mark), "", message)])
