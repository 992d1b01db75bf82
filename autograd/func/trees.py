"""Values nested in tuples, lists and dicts, taken apart and put together again."""

from __future__ import annotations

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
        values = {key: mapped(function, value) for key, value in tree.items()}
        return values if type(tree) is dict else type(tree)(values)
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


def same_form(one: Any, other: Any) -> bool:
    """Return whether two trees are built alike, whatever their leaves."""
    if isinstance(one, dict):
        if not isinstance(other, dict) or one.keys() != other.keys():
            return False
        return all(same_form(value, other[key]) for key, value in one.items())
    if isinstance(one, (tuple, list)):
        if not isinstance(other, (tuple, list)) or len(one) != len(other):
            return False
        return all(same_form(a, b) for a, b in zip(one, other, strict=True))
    return not isinstance(other, (tuple, list, dict))
