"""Values nested in tuples, lists and dicts, taken apart and put together again."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any


def leaves_of(tree: Any) -> list[Any]:
    """Return what is no tuple, list or dict in a tree, in order (of dicts, that of their keys)."""
    if isinstance(tree, dict):
        return [leaf for value in tree.values() for leaf in leaves_of(value)]
    if isinstance(tree, (tuple, list)):
        return [leaf for value in tree for leaf in leaves_of(value)]
    return [tree]


def mapped(function: Callable[..., Any], tree: Any) -> Any:
    """Return a tree like `tree` with `function(leaf)` in the place of each leaf."""
    if isinstance(tree, dict):
        made = copy.copy(tree)  # of its class, whatever its constructor takes
        made.update((key, mapped(function, value)) for key, value in tree.items())
        return made
    if isinstance(tree, (tuple, list)):
        values = [mapped(function, value) for value in tree]
        if hasattr(tree, "_fields"):  # a named tuple
            return type(tree)(*values)
        return type(tree)(values)
    return function(tree)


def rebuilt(tree: Any, leaves: Sequence[Any]) -> Any:
    """Return a tree like `tree` with other leaves, in order."""
    remaining = iter(leaves)
    return mapped(lambda _: next(remaining), tree)


def spread(prefix: Any, tree: Any, what: str) -> list[Any]:
    """Return one value a leaf of `tree`: those of `prefix`, a tree that may end earlier.

    Raises ValueError where they are not built alike; `what` names the prefix in the message.
    """
    if isinstance(prefix, dict) and isinstance(tree, dict) and prefix.keys() == tree.keys():
        pairs = [(prefix[key], value) for key, value in tree.items()]
    elif isinstance(prefix, (tuple, list)) and isinstance(tree, (tuple, list)):
        if len(prefix) != len(tree):
            raise ValueError(
                f"{what} has {len(prefix)} entries for {len(tree)} values; give one each, or one "
                "for all"
            )
        pairs = list(zip(prefix, tree, strict=True))
    elif isinstance(prefix, (tuple, list, dict)):
        raise ValueError(
            f"{what} is not built as what it is for: got {prefix!r} for a {type(tree).__name__}; "
            "nest it alike, or give one value for all"
        )
    else:
        return [prefix] * len(leaves_of(tree))
    return [one for part, value in pairs for one in spread(part, value, what)]


def leaves_as(form: Any, tree: Any) -> list[Any] | None:
    """Return the leaves of a tree in the order of those of `form`, which is built alike; else None.

    Entries of dicts go together by their keys, in whatever order they are.
    """
    if isinstance(form, dict):
        if not isinstance(tree, dict) or form.keys() != tree.keys():
            return None
        pairs = [(value, tree[key]) for key, value in form.items()]
    elif isinstance(form, (tuple, list)):
        if not isinstance(tree, (tuple, list)) or len(form) != len(tree):
            return None
        pairs = list(zip(form, tree, strict=True))
    else:
        return None if isinstance(tree, (tuple, list, dict)) else [tree]
    leaves: list[Any] = []
    for part, value in pairs:
        found = leaves_as(part, value)
        if found is None:
            return None
        leaves += found
    return leaves
