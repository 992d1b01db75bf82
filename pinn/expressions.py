"""Text to a checked expression tree, without eval: the language of equations and config numbers.

The language is Python's arithmetic: ``+ - * / **``, unary signs, parentheses, numbers, names and
calls of known functions, with Python's precedence. Nothing else can be written in it. Parsing and
every walk over a tree keep their own stacks, so neither long sums nor deep trees reach Python's
recursion limit.
"""

from __future__ import annotations

import difflib
import math
import numbers
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

MAX_CHARACTERS = 65_536
MAX_PENDING = 300

CONSTANTS: Mapping[str, float] = MappingProxyType({"pi": math.pi, "e": math.e})

# Name -> (fewest, most) arguments; None means any number.
FUNCTIONS: Mapping[str, tuple[int, int | None]] = MappingProxyType(
    {
        **dict.fromkeys(
            ("sin", "cos", "tan", "exp", "log", "sqrt", "tanh", "sinh", "cosh", "abs"), (1, 1)
        ),
        "min": (2, 2),
        "max": (2, 2),
        "where": (3, 3),
    }
)

# Calls that pinn.derivatives gives a meaning to; they have no value of their own.
OPERATORS: Mapping[str, tuple[int, int | None]] = MappingProxyType(
    {
        "diff": (2, None),
        "laplacian": (1, 1),
        "grad": (1, 1),
        "div": (1, 1),
        "dot": (2, 2),
        "vec": (1, None),
    }
)

RESERVED = frozenset(FUNCTIONS) | frozenset(CONSTANTS) | frozenset(OPERATORS)

FLOAT_FUNCTIONS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        **{name: getattr(math, name) for name in FUNCTIONS if hasattr(math, name)},
        "abs": abs,
        "min": min,
        "max": max,
        "where": lambda condition, yes, no: yes if condition else no,
    }
)

_COMPARISONS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "**": operator.pow,
    **_COMPARISONS,
}
_UNARY: dict[str, Callable[[Any], Any]] = {"-": operator.neg, "+": operator.pos}
_PRECEDENCE = {**dict.fromkeys(_COMPARISONS, 0), "+": 1, "-": 1, "*": 2, "/": 2, "**": 4}
_UNARY_PRECEDENCE = 3
_ATOM_PRECEDENCE = 5

_KEYWORDS = frozenset(
    "and as assert async await class def del elif else except for from global if import in is "
    "lambda nonlocal not or pass raise return try while with yield None True False".split()
)
_ALIASES = {"ln": "log", "fabs": "abs", "Min": "min", "Max": "max", "laplace": "laplacian"}

_TOKEN = re.compile(
    r"(?P<space>[ \t\r\n]+)"
    r"|(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<name>[A-Za-z][A-Za-z0-9_]*)"
    r"|(?P<refused>//|==|!=|:=|=|\^|\.|_)"
    r"|(?P<symbol>\*\*|<=|>=|[-+*/()<>,])"
)
_OPENING = re.compile(r"[ \t\r\n]*\(")
_TOO_LARGE = "is beyond the largest float64, about 1.8e308"
_REFUSED = {
    "^": "'^' is not an operator here; use ** for powers",
    "//": "'//' is not an operator here; use / for division",
    "=": "'=' is not part of an expression; write an equation as left - (right), which is to be 0",
    "==": "'==' is not part of an expression; write an equation as left - (right), "
    "which is to be 0",
    "!=": "'!=' is not a comparison here; use < <= > >=",
    ":=": "assignment is not part of an expression",
    ".": "attribute access is not part of an expression; a '.' only stands inside a number",
    "_": "a name starts with a letter, not with '_'",
    "−": "use the ASCII minus sign -",
    "–": "use the ASCII minus sign -",
    "×": "use * for multiplication",
    "·": "use * for multiplication",
    "÷": "use / for division",
    "²": "use **2 for a square",
    "³": "use **3 for a cube",
    "√": "use sqrt(...) for a square root",
    "π": "use the name pi",
    "∂": "write a derivative as u_x or diff(u, x)",
    "∇": "write grad(...), div(...) or laplacian(...)",
    "≤": "use <=",
    "≥": "use >=",
}

T = TypeVar("T")


class ExpressionError(ValueError):
    """A text that is not a valid expression, or an expression that has no meaning or value.

    Attributes: ``message`` (one sentence), ``text`` (the whole text), ``position`` (0-based index
    of the place in the text). ``str()`` shows the message, the text (a window of it when it is
    long) and a caret under the place.
    """

    def __init__(self, message: str, text: str = "", position: int = 0) -> None:
        super().__init__(message, text, position)
        self.message = message
        self.text = text
        self.position = position

    def __str__(self) -> str:
        if not self.text.strip():
            return self.message
        first, last = max(0, self.position - 36), self.position + 36
        head = "..." if first else ""
        tail = "..." if last < len(self.text) else ""
        # One printable column a character, so that the caret stands under its place.
        window = "".join(
            " " if c in " \t\r\n" else c if c.isprintable() else "?"
            for c in self.text[first:last]
        )
        caret = " " * (len(head) + self.position - first) + "^"
        return f"{self.message}\n    {head}{window.rstrip()}{tail}\n    {caret}"


def abridge(text: str, limit: int = 40) -> str:
    """Shorten a text for use inside a message."""
    return text if len(text) <= limit else text[: limit - 3] + "..."


def suggest(name: str, existing: Iterable[str], kind: str = "names") -> str:
    """Say which name is nearest to `name` and which ones exist, as the tail of a message.

    Returns text such as ``"; did you mean 'nu'? The names here are nu, t, u, x"``.
    """
    existing = list(dict.fromkeys(existing))
    by_case = {other.lower(): other for other in existing}
    near = _ALIASES.get(name)
    if near not in existing:
        near = by_case.get(name.lower())
    if near is None and len(name) <= 80:
        near = next(iter(difflib.get_close_matches(name, existing, n=1)), None)
    hint = f"; did you mean {near!r}?" if near else ";"
    if not existing:
        return f"{hint} there are no {kind} here"
    shown = ", ".join(existing[:40]) + (", ..." if len(existing) > 40 else "")
    return f"{hint} {'The' if near else 'the'} {kind} here are {shown}"


# ------------------------------------------------------------------------------------------- nodes


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
    """A call of a known function or operator."""

    function: str
    arguments: tuple[Expression, ...]

    @property
    def label(self) -> tuple[str]:
        return (self.function,)

    @property
    def children(self) -> tuple[Expression, ...]:
        return self.arguments

    @classmethod
    def build(
        cls, label: Sequence[Any], children: Sequence[Expression], position: int, source: str
    ) -> Call:
        return cls(*label, tuple(children), position=position, source=source)


@dataclass(frozen=True, eq=False, repr=False)
class Unary(Expression):
    """A sign, ``-`` or ``+``, before an operand."""

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
    """One of ``+ - * / **`` between two operands, or a comparison (the condition of a where)."""

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
    stack: list[str | tuple[Expression, int]] = [(root, 0)]
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
            strength = _PRECEDENCE[node.operator]
            if node.operator == "**":
                parts = [(node.left, _ATOM_PRECEDENCE), "**", (node.right, _UNARY_PRECEDENCE)]
            else:
                sign = node.operator if strength == 2 else f" {node.operator} "
                parts = [(node.left, strength), sign, (node.right, strength + 1)]
        elif isinstance(node, Unary):
            strength = _UNARY_PRECEDENCE
            parts = [node.operator, (node.operand, strength)]
        elif isinstance(node, Call):
            strength = _ATOM_PRECEDENCE
            parts = [node.function, "("]
            for i, argument in enumerate(node.arguments):
                parts += [", ", (argument, 0)] if i else [(argument, 0)]
            parts.append(")")
        else:
            strength = _ATOM_PRECEDENCE
            parts = [node.text()]
        if strength < floor:
            parts = ["(", *parts, ")"]
        stack.extend(reversed(parts))
    return "".join(pieces)


# ----------------------------------------------------------------------------------------- parsing


class _Token(NamedTuple):
    kind: str  # number, name, symbol or end
    text: str
    position: int


class _Operator(NamedTuple):
    symbol: str
    arity: int
    precedence: int
    position: int


class _Group(NamedTuple):
    """An open parenthesis; that of a call when it has a callee."""

    position: int
    callee: Name | None
    arguments: list[Expression]


def _tokens(text: str) -> Iterator[_Token]:
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None or match.lastgroup == "refused":
            character = match.group() if match else text[position]
            message = _REFUSED.get(character)
            if message is None:
                message = f"the character {character!r} is not part of an expression"
                if not character.isascii():
                    message += f" (U+{ord(character):04X}); use ASCII letters, digits and + - * /"
            raise ExpressionError(message, text, position)
        if match.lastgroup != "space":
            yield _Token(str(match.lastgroup), match.group(), position)
        position = match.end()
    yield _Token("end", "", len(text.rstrip()))


class _Parser:
    """Operator precedence with explicit stacks (Dijkstra's shunting yard)."""

    def __init__(self, text: str) -> None:
        self.source = text
        self.tokens = _tokens(text)
        self.operands: list[Expression] = []
        self.pending: list[_Operator | _Group] = []

    def parse(self) -> Expression:
        want_operand = True
        for token in self.tokens:
            want_operand = self.operand(token) if want_operand else self.after_operand(token)
        return self.operands.pop()

    def error(self, message: str, position: int) -> ExpressionError:
        return ExpressionError(message, self.source, position)

    def operand(self, token: _Token) -> bool:
        """Take a token where an operand is expected; return whether one still is."""
        kind, text, position = token
        if kind == "number":
            self.number(text, position)
            return False
        if kind == "name":
            return self.name(text, position)
        if text in _UNARY:
            self.push(_Operator(text, 1, _UNARY_PRECEDENCE, position))
            return True
        if text == "(":
            self.push(_Group(position, None, []))
            return True
        group = self.pending[-1] if self.pending else None
        if text == ")" and isinstance(group, _Group) and group.callee and not group.arguments:
            raise group.callee.error(_arity_message(group.callee.name, 0))
        raise self.error(f"expected a number, a name or '(', but {_found(token)}", position)

    def after_operand(self, token: _Token) -> bool:
        """Take a token after an operand; return whether an operand is expected next."""
        kind, text, position = token
        if text in _PRECEDENCE:
            self.binary(text, position)
            return True
        if text in (",", ")"):
            return self.close(text, position)
        if kind != "end":
            raise self.error(
                "expected an operator (such as * for a product) or the end of the text, "
                f"but {_found(token)}",
                position,
            )
        group = self.reduce_to_group()
        if group is not None:
            raise self.error("this '(' is never closed", group.position)
        return False

    def number(self, text: str, position: int) -> None:
        value = float(text)
        if math.isinf(value):
            raise self.error(f"the number {abridge(text)} {_TOO_LARGE}", position)
        self.operands.append(Number(value, position=position, source=self.source))

    def name(self, text: str, position: int) -> bool:
        if text in _KEYWORDS:
            raise self.error(
                f"{text!r} is a word of Python that is not part of an expression", position
            )
        name = Name(text, position=position, source=self.source)
        is_function = text in FUNCTIONS or text in OPERATORS
        if not _OPENING.match(self.source, position + len(text)):
            if is_function:
                raise name.error(f"{text!r} is a function; write {text}(...)")
            self.operands.append(name)
            return False
        if not is_function:
            near = suggest(text, [*FUNCTIONS, *OPERATORS], "functions")
            raise name.error(f"unknown function {abridge(text)!r}{near}")
        self.push(_Group(next(self.tokens).position, name, []))
        return True

    def binary(self, symbol: str, position: int) -> None:
        if symbol in _COMPARISONS:
            group = self.reduce_to_group()
            if not _wants_condition(group) or _is_comparison(self.operands[-1]):
                raise self.error(
                    "a comparison is only allowed as the first argument of where, once: "
                    "where(x < 0, -x, x)",
                    position,
                )
        strength = _PRECEDENCE[symbol]
        while self.pending and isinstance(self.pending[-1], _Operator):
            top = self.pending[-1].precedence
            if top < strength or (top == strength and symbol == "**"):
                break
            self.reduce()
        self.push(_Operator(symbol, 2, strength, position))

    def close(self, text: str, position: int) -> bool:
        """Take the ',' or ')' after an argument or a parenthesised expression."""
        group = self.reduce_to_group()
        if text == ")" and group is None:
            raise self.error("this ')' has no '('", position)
        if text == "," and (group is None or group.callee is None):
            raise self.error("a ',' only separates the arguments of a function", position)
        if group.callee is None:
            self.pending.pop()
            return False
        argument = self.operands.pop()
        if _wants_condition(group) and not _is_comparison(argument):
            raise argument.error("the first argument of where is a comparison: where(x < 0, -x, x)")
        group.arguments.append(argument)
        if text == ",":
            return True
        self.pending.pop()
        function, arguments = group.callee.name, tuple(group.arguments)
        fewest, most = _arity(function)
        if len(arguments) < fewest or (most is not None and len(arguments) > most):
            raise group.callee.error(_arity_message(function, len(arguments)))
        place = group.callee.position
        self.operands.append(Call(function, arguments, position=place, source=self.source))
        return False

    def push(self, entry: _Operator | _Group) -> None:
        if len(self.pending) >= MAX_PENDING:
            raise self.error(
                f"nested too deeply: more than {MAX_PENDING} open parentheses, signs and "
                "operators; split the expression",
                entry.position,
            )
        self.pending.append(entry)

    def reduce(self) -> None:
        symbol, arity, _, position = self.pending.pop()
        operands = self.operands[-arity:]
        del self.operands[-arity:]
        node = Unary if arity == 1 else Binary
        self.operands.append(node(symbol, *operands, position=position, source=self.source))

    def reduce_to_group(self) -> _Group | None:
        while self.pending and isinstance(self.pending[-1], _Operator):
            self.reduce()
        return self.pending[-1] if self.pending else None


def _wants_condition(group: _Group | None) -> bool:
    return (
        group is not None
        and group.callee is not None
        and group.callee.name == "where"
        and not group.arguments
    )


def _is_comparison(node: Expression) -> bool:
    return isinstance(node, Binary) and node.operator in _COMPARISONS


def _arity(function: str) -> tuple[int, int | None]:
    return FUNCTIONS[function] if function in FUNCTIONS else OPERATORS[function]


def _arity_message(function: str, count: int) -> str:
    fewest, most = _arity(function)
    bound = f"{fewest}" if most == fewest else f"at least {fewest}"
    plural = "" if bound.endswith("1") else "s"
    return f"{function} takes {bound} argument{plural}, got {count}"


def _found(token: _Token) -> str:
    return "the text ends" if token.kind == "end" else f"found {abridge(token.text)!r}"


def parse(text: str) -> Expression:
    """Parse a text into a checked tree; nothing in it is ever run.

    Subexpressions made of numbers alone are checked to have a finite real value; names are not
    looked up yet.

    Raises:
        ExpressionError: the text is not an expression, is longer than 65 536 characters, has more
            than 300 open parentheses, signs and operators at one place, or contains a number
            beyond float64, such as ``9**9**9**9``.
    """
    if not isinstance(text, str):
        raise ExpressionError(f"expected an expression as text, got {type(text).__name__}")
    if len(text) > MAX_CHARACTERS:
        raise ExpressionError(
            f"the expression has {len(text)} characters; at most {MAX_CHARACTERS} are allowed",
            text,
            MAX_CHARACTERS,
        )
    if not text.strip():
        raise ExpressionError("expected an expression, got empty text", text)
    tree = _Parser(text).parse()
    fold(tree, _number_or_none)
    return tree


# -------------------------------------------------------------------------------------- evaluation


def _number_or_none(node: Expression, values: list[Any]) -> Any:
    if isinstance(node, Number):
        return node.value
    if isinstance(node, Name):
        return CONSTANTS.get(node.name)
    if isinstance(node, Call) and node.function in OPERATORS:
        return None
    return None if None in values else _apply(node, values, FLOAT_FUNCTIONS)


def _apply(node: Expression, values: list[Any], functions: Mapping[str, Any]) -> Any:
    plain = all(type(value) is float or type(value) is bool for value in values)
    try:
        if isinstance(node, Binary):
            result = _BINARY[node.operator](*values)
        elif isinstance(node, Unary):
            result = _UNARY[node.operator](*values)
        else:
            result = _call(node, values, FLOAT_FUNCTIONS if plain else functions)
    except (ArithmeticError, ValueError) as error:
        if not plain or isinstance(error, ExpressionError):
            raise
        reason = {
            OverflowError: _TOO_LARGE,
            ZeroDivisionError: "divides by zero",
        }.get(type(error), "has no real value")
    else:
        if not plain or type(result) is bool:
            return result
        if type(result) is float and (
            math.isfinite(result) or not all(math.isfinite(value) for value in values)
        ):
            return result
        reason = _TOO_LARGE if type(result) is float else "has no real value"
    raise node.error(f"{_operation(node, values)} {reason}") from None


def _operation(node: Expression, values: list[Any]) -> str:
    shown = [f"{value:.6g}" for value in values]
    if isinstance(node, Binary):
        left, right = (f"({text})" if text.startswith("-") else text for text in shown)
        return f"{left} {node.operator} {right}"
    return f"{node.label[0]}({', '.join(shown)})"


def _call(node: Expression, values: list[Any], functions: Mapping[str, Any]) -> Any:
    name = node.label[0]
    if name in OPERATORS:
        raise node.error(f"{name} has no meaning here; it belongs in an equation of a problem")
    if name == "where" and type(values[0]) is bool:
        return values[1] if values[0] else values[2]
    if name not in functions:
        raise node.error(
            f"the function {name!r} is not available here{suggest(name, functions, 'functions')}"
        )
    return functions[name](*values)


def evaluate_leaves(
    expression: Expression,
    leaf: Callable[[Expression], Any],
    functions: Mapping[str, Callable[..., Any]],
) -> Any:
    """Evaluate a tree whose leaves, other than numbers, get their values from `leaf(node)`.

    Numbers are Python floats. Scalars that `leaf` returns become Python floats too, so no power
    of integers can grow without bound. See `evaluate` for functions and errors.
    """

    def combine(node: Expression, values: list[Any]) -> Any:
        if isinstance(node, Number):
            return node.value
        if isinstance(node, Call | Unary | Binary):
            return _apply(node, values, functions)
        value = leaf(node)
        if not isinstance(value, int | float):
            return value
        try:
            return float(value)
        except OverflowError:
            raise node.error(f"the value of {node} is beyond the largest float64") from None

    return fold(expression, combine)


def evaluate(
    expression: Expression,
    names: Mapping[str, Any],
    functions: Mapping[str, Callable[..., Any]] = FLOAT_FUNCTIONS,
) -> Any:
    """Evaluate a parsed tree.

    Values may be floats, numpy arrays or any objects with Python's arithmetic operators; shapes
    broadcast as those operators do. Each distinct subexpression is computed once. Calls whose
    arguments are all Python floats use Python's math; others use `functions`, which must accept a
    float beside an array (``where(x < 0, 0, x)``). `pi` and `e` are known.

    Raises:
        ExpressionError: a name or function that is not there, or an operation on Python floats
            that overflows, divides by zero or has no real value.
    """

    def leaf(node: Expression) -> Any:
        name = node.label[0]
        if name in names:
            return names[name]
        if name in CONSTANTS:
            return CONSTANTS[name]
        raise node.error(f"unknown name {abridge(name)!r}{suggest(name, [*names, *CONSTANTS])}")

    return evaluate_leaves(expression, leaf, functions)


def constant(value: str | float) -> float:
    """Return a number given as a number or as text such as ``"0.01/pi"``.

    Raises:
        ExpressionError: not a number or text, not finite, or a text with names other than pi, e.
    """
    if isinstance(value, str):
        tree = parse(value)
        for node in nodes(tree):
            if isinstance(node, Name) and node.name not in CONSTANTS:
                raise node.error(
                    f"expected a number, got the name {abridge(node.name)!r}"
                    f"{suggest(node.name, CONSTANTS)}"
                )
        return evaluate(tree, {})
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise ExpressionError(
            f"expected a number or text such as '0.01/pi', got {type(value).__name__}"
        )
    try:
        number = float(value)
    except OverflowError:
        raise ExpressionError("the number is beyond the largest float64") from None
    if not math.isfinite(number):
        raise ExpressionError(f"expected a finite number, got {number}")
    return number
