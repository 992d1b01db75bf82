"""Config texts with one thing wrong: a key dropped, renamed or doubled, a value of another kind.

A text is read to nested lists of pairs, which unlike mappings may hold a key twice, changed at one
place, and written with a line for each key.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import yaml

Path = tuple[int, ...]


@dataclass(frozen=True)
class Leaf:
    """A text as it is written, quotes included."""

    text: str


@dataclass(frozen=True)
class Pairs:
    """Keys, as they are written, and values."""

    items: tuple[tuple[str, Any], ...]


Node = Leaf | Pairs | tuple

# What takes the place of a value: other kinds, and numbers and texts at the edges of the kinds.
VALUES = [
    Leaf(text)
    for text in (
        "", "null", "'null'", "true", "0", "-1", "1", "1.5", "1e-400", "1e400", "-.inf", ".nan",
        "1000000000000000000", "1" + "0" * 400, "x", "u", "''", "' '", "'x='", "x=9", "x < -9",
        "x <", "'[1, 2'", "u_", "u__x", "u_xxxxxxxxxxx", "1/0", "9**9**9**9", "log(0)", "sqrt(-1)",
        "()", "(((", "sin", "sin()", "sin(1, 2)", "at(u, x=1)", "dn(u)", "integral(u, x, 0, 1)",
        "where(x, 1, 2)", "laplacian(t)", "__import__('os')", "'\\u00e9'", "'a: b'", "2020-01-01",
        "0x10", "1_000", "!!float 1", "!!python/object:os.system x", "&a 1", "*a", "'a\\nb'",
        "normal_x", "pi", "e", "on", "..", "/", "a/b/../c", "'" + "x" * 3000 + "'",
        "-" * 200 + "1", "(" * 400 + "1" + ")" * 400,
    )
] + [
    (),
    Pairs(()),
    (Leaf("1"),),
    (Leaf("1"), Leaf("2")),
    (Leaf("2"), Leaf("1")),
    (Leaf("0"), Leaf("1"), Leaf("2")),
    ((), ((),)),
    (Leaf("null"),),
    Pairs((("a", Leaf("1")),)),
    Pairs((("time", (Leaf("0"), Leaf("1"))),)),
    Pairs((("null", Leaf("")),)),
    Pairs((("adam", Pairs((("steps", Leaf("1")),))),)),
]  # fmt: skip

# What takes the place of a key.
KEYS = ["", "null", "1", "''", "' '", "x y", "time", "u", "x", "name", "value", "[a]", "<<", "&a b",
        "'" + "k" * 500 + "'", "e", "pi", "sin", "u_x", "disk", "mlp", "adam", "fixed"]  # fmt: skip


def read(text: str) -> Node:
    """Return a YAML text as pairs, tuples and leaves."""
    return _node(yaml.compose(text, Loader=yaml.SafeLoader))


def write(node: Node) -> str:
    """Return a text with a line for each key and item."""
    return "\n".join(_lines(node)) + "\n"


def all_mutations(root: Node) -> Iterator[Node]:
    """Yield every mutation of one place."""
    for path in places(root):
        yield from _at(root, path)


def random_mutation(root: Node, rng: np.random.Generator, changes: int) -> Node:
    """Return a random mutation of a few places."""
    for _ in range(changes):
        paths = list(places(root))
        found = list(_at(root, paths[rng.integers(len(paths))]))
        if found:
            root = found[rng.integers(len(found))]
    return root


def places(node: Node, path: Path = ()) -> Iterator[Path]:
    """Yield the path of every value."""
    yield path
    for k, child in enumerate(_children(node)):
        yield from places(child, (*path, k))


def _at(root: Node, path: Path) -> Iterator[Node]:
    here = root
    for k in path:
        here = _children(here)[k]
    for value in VALUES:
        yield _replaced(root, path, value)
    yield _replaced(root, path, (here,))
    yield _replaced(root, path, Pairs((("a", here),)))
    if isinstance(here, Pairs):
        for changed in _of_pairs(here.items):
            yield _replaced(root, path, Pairs(changed))
    elif isinstance(here, tuple):
        for k in range(len(here)):
            yield _replaced(root, path, here[:k] + here[k + 1 :])
            yield _replaced(root, path, (*here, here[k]))
        yield _replaced(root, path, here[::-1])


def _of_pairs(items: tuple[tuple[str, Any], ...]) -> Iterator[tuple[tuple[str, Any], ...]]:
    for k, (key, value) in enumerate(items):
        before, after = items[:k], items[k + 1 :]
        yield (*before, *after)
        yield (*items, (key, value))
        for other in (key[:-1] or "q", key + "s", key[::-1], key.upper(), *KEYS):
            yield (*before, (other, value), *after)
        for other, _ in after:
            yield (*before, (other, value), *after)


def _replaced(node: Node, path: Path, value: Node) -> Node:
    if not path:
        return value
    children = list(_children(node))
    children[path[0]] = _replaced(children[path[0]], path[1:], value)
    if isinstance(node, Pairs):
        return Pairs(tuple((key, c) for (key, _), c in zip(node.items, children, strict=True)))
    return tuple(children)


def _children(node: Node) -> tuple:
    if isinstance(node, Pairs):
        return tuple(value for _, value in node.items)
    return node if isinstance(node, tuple) else ()


def _node(node: yaml.Node) -> Node:
    if isinstance(node, yaml.MappingNode):
        return Pairs(tuple((_text(key), _node(value)) for key, value in node.value))
    if isinstance(node, yaml.SequenceNode):
        return tuple(_node(item) for item in node.value)
    return Leaf(_text(node))


def _text(node: yaml.ScalarNode) -> str:
    if node.style is not None or any(c in node.value for c in ":#{}[],&*"):
        return json.dumps(node.value)
    return node.value


def _lines(node: Node) -> list[str]:
    if isinstance(node, Leaf):
        return [node.text]
    parts = node.items if isinstance(node, Pairs) else tuple(("", item) for item in node)
    if not parts:
        return ["{}" if isinstance(node, Pairs) else "[]"]
    lines = []
    for key, value in parts:
        head = f"{key}:" if isinstance(node, Pairs) else "-"
        below = _lines(value)
        if len(below) == 1 and (isinstance(value, Leaf) or not _children(value)):
            lines.append(f"{head} {below[0]}".rstrip())
        else:
            lines += [head, *("  " + line for line in below)]
    return lines
