"""Expression trees: their nodes, the walks over them, and their text."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pinn.expressions.errors import ExpressionError, abridge
from pinn.expressions.language import ATOM_PRECEDENCE, PRECEDENCE, UNARY_PRECEDENCE

T = TypeVar("T")


@dataclass(frozen=True, eq=False, repr=False)
class Expression:
    """A node of an expression tree: immutable, hashable, equal to any tree of the same shape.

    ``position`` and ``source`` say where the node stands in which text; they do not count for
    equality. ``str()`` gives text that parses to an equal tree.
    """

    position: int = field(default=0, kw_only=True)
    source: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        # The hash comes from the children's hashes, made once: hashing never walks the tree.
        content = (type(self).__name__, self.label, tuple(hash(c) for c in self.children))
        object.__setattr__(self, "_hash", hash(content))

    @property
    def label(self) -> tuple[Any, ...]:
        """What a node is, apart from its children: the leading arguments of its constructor."""
        raise NotImplementedError

    @property
    def children(self) -> tuple[Expression, ...]:
        """The operands, in order; empty for a leaf."""
        return ()

    @classmethod
    def build(
        cls, label: Sequence[Any], children: Sequence[Expression], position: int, source: str
    ) -> Expression:
        """Make a node of this class from its label and children."""
        return cls(*label, *children, position=position, source=source)

    def with_children(self, children: Sequence[Expression]) -> Expression:
        """Return this node with other operands; itself when they are the same objects."""
        if all(new is old for new, old in zip(children, self.children, strict=True)):
            return self
        return self.build(self.label, children, self.position, self.source)

    def error(self, message: str, offset: int = 0) -> ExpressionError:
        """Return (not raise) an error that points at this node, `offset` characters into it."""
        if self.source:
            return ExpressionError(message, self.source, self.position + offset)
        return ExpressionError(message, str(self), 0)

    def text(self) -> str:
        """Return the text of a leaf."""
        return str(self.label[0])

    def pieces(self) -> list[str | Expression]:
        """Return what the text of a leaf or a call consists of."""
        return [self.text()]

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Expression):
            return NotImplemented
        if self is other:
            return True
        if self._hash != other._hash:
            return False
        schedule = _Schedule()
        return schedule.add(self) == schedule.add(other)

    def __str__(self) -> str:
        return _write(self)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {abridge(str(self), 200)}>"

    def __deepcopy__(self, memo: dict[int, Any]) -> Expression:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        # As a flat list: pickle would recurse into a long sum, and hashes differ by process.
        return _from_rows, (
            [
                (type(node), node.label, arguments, node.position, node.source)
                for node, arguments in _scheduled(self)
            ],
        )


@dataclass(frozen=True, eq=False, repr=False)
class Number(Expression):
    """A number: a finite float64, not negative (a minus sign is a `Unary`)."""

    value: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", float(self.value))
        if not math.isfinite(self.value) or math.copysign(1.0, self.value) < 0:
            raise ValueError(f"a Number is finite and not negative, got {self.value!r}")
        super().__post_init__()

    @property
    def label(self) -> tuple[float]:
        return (self.value,)

    def text(self) -> str:
        return repr(self.value).removesuffix(".0")


@dataclass(frozen=True, eq=False, repr=False)
class Name(Expression):
    """A name as it was written, without a meaning yet."""

    name: str

    @property
    def label(self) -> tuple[str]:
        return (self.name,)


@dataclass(frozen=True, eq=False, repr=False)
class Call(Expression):
    """A call of a known function or operator; `keywords` name the last of its arguments."""

    function: str
    arguments: tuple[Expression, ...]
    keywords: tuple[Name, ...] = ()

    @property
    def label(self) -> tuple[str, tuple[Name, ...]]:
        return (self.function, self.keywords)

    @property
    def children(self) -> tuple[Expression, ...]:
        return self.arguments

    @classmethod
    def build(
        cls, label: Sequence[Any], children: Sequence[Expression], position: int, source: str
    ) -> Call:
        function, keywords = label
        return cls(function, tuple(children), keywords, position=position, source=source)

    def pieces(self) -> list[str | Expression]:
        unnamed = len(self.arguments) - len(self.keywords)
        names = [""] * unnamed + [f"{keyword.name}=" for keyword in self.keywords]
        pieces: list[str | Expression] = [f"{self.function}("]
        for i, (name, argument) in enumerate(zip(names, self.arguments, strict=True)):
            pieces += [", " * (i > 0) + name, argument]
        return [*pieces, ")"]


@dataclass(frozen=True, eq=False, repr=False)
class Unary(Expression):
    """A sign, ``-`` or ``+``, or ``not``, before an operand."""

    operator: str
    operand: Expression

    @property
    def label(self) -> tuple[str]:
        return (self.operator,)

    @property
    def children(self) -> tuple[Expression, ...]:
        return (self.operand,)


@dataclass(frozen=True, eq=False, repr=False)
class Binary(Expression):
    """One of ``+ - * / **``, a comparison, or ``and``, ``or`` between two operands."""

    operator: str
    left: Expression
    right: Expression

    @property
    def label(self) -> tuple[str]:
        return (self.operator,)

    @property
    def children(self) -> tuple[Expression, ...]:
        return (self.left, self.right)


# ------------------------------------------------------------------------------- walking the trees


class _Schedule:
    """Distinct nodes of trees, children first, equal subtrees once.

    ``rows[i]`` is ``(node, indices of its children)``.
    """

    def __init__(self) -> None:
        self.rows: list[tuple[Expression, tuple[int, ...]]] = []
        self._by_content: dict[tuple[Any, ...], int] = {}
        self._by_identity: dict[int, int] = {}

    def add(self, root: Expression) -> int:
        """Add a tree, which the caller keeps alive; return the index of its root."""
        done = self._by_identity
        stack = [root]
        while stack:
            node = stack[-1]
            if id(node) in done:
                stack.pop()
                continue
            children = node.children
            waiting = [child for child in children if id(child) not in done]
            if waiting:
                stack.extend(reversed(waiting))
                continue
            stack.pop()
            arguments = tuple(done[id(child)] for child in children)
            content = (type(node), node.label, arguments)
            index = self._by_content.setdefault(content, len(self.rows))
            if index == len(self.rows):
                self.rows.append((node, arguments))
            done[id(node)] = index
        return done[id(root)]


def _scheduled(root: Expression) -> list[tuple[Expression, tuple[int, ...]]]:
    schedule = _Schedule()
    schedule.add(root)
    return schedule.rows


def _from_rows(rows: Sequence[tuple[Any, ...]]) -> Expression:
    built: list[Expression] = []
    for cls, label, arguments, position, source in rows:
        built.append(cls.build(label, [built[i] for i in arguments], position, source))
    return built[-1]


def nodes(expression: Expression) -> list[Expression]:
    """Return the distinct nodes, children before parents, in the order of the text."""
    return [node for node, _ in _scheduled(expression)]


def fold(expression: Expression, combine: Callable[[Expression, list[T]], T]) -> T:
    """Reduce a tree from its leaves: `combine(node, results of its children)` once a distinct node.

    Equal subtrees are combined once, and a result is let go after its last use, so a long sum of
    arrays holds a few of them at a time.
    """
    rows = _scheduled(expression)
    uses = [0] * len(rows)
    for _, arguments in rows:
        for i in arguments:
            uses[i] += 1
    results: list[Any] = []
    for node, arguments in rows:
        values = [results[i] for i in arguments]
        for i in arguments:
            uses[i] -= 1
            if not uses[i]:
                results[i] = None
        results.append(combine(node, values))
    return results[-1]


def _write(root: Expression, limit: int = 200_000) -> str:
    pieces: list[str] = []
    stack: list[str | tuple[Expression, int]] = [(root, PRECEDENCE["or"])]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            pieces.append(item)
            continue
        if len(pieces) > limit:
            # A symbolic derivative shares subtrees; written out they may be beyond any use.
            return "".join(pieces) + " ..."
        node, floor = item
        parts: list[str | tuple[Expression, int]]
        if isinstance(node, Binary):
            strength = PRECEDENCE[node.operator]
            if node.operator == "**":
                parts = [(node.left, ATOM_PRECEDENCE), "**", (node.right, UNARY_PRECEDENCE["-"])]
            else:
                sign = node.operator if strength == 2 else f" {node.operator} "
                parts = [(node.left, strength), sign, (node.right, strength + 1)]
        elif isinstance(node, Unary):
            strength = UNARY_PRECEDENCE[node.operator]
            parts = [node.operator + " " * node.operator.isalpha(), (node.operand, strength)]
        else:
            strength = ATOM_PRECEDENCE
            parts = [piece if isinstance(piece, str) else (piece, 0) for piece in node.pieces()]
        if strength < floor:
            parts = ["(", *parts, ")"]
        stack.extend(reversed(parts))
    return "".join(pieces)
