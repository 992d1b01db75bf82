"""Text to a checked tree, without eval: a tokenizer and an operator precedence parser."""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

from pinn.checks import NAME
from pinn.expressions.conditions import is_condition, typed
from pinn.expressions.errors import ALIASES, TOO_LARGE, ExpressionError, abridge, suggest
from pinn.expressions.evaluation import evaluate, number_or_none
from pinn.expressions.language import (
    COMPARISONS,
    CONSTANTS,
    EQUALITY,
    FUNCTIONS,
    KEYWORDS,
    LETTERS,
    LOGICAL,
    OPERATORS,
    PRECEDENCE,
    UNARY,
    UNARY_PRECEDENCE,
)
from pinn.expressions.trees import Binary, Call, Expression, Name, Number, Unary, fold, nodes

MAX_CHARACTERS = 65_536
MAX_PENDING = 300
_EQUATES = -4  # the precedence of an equation's '=', below all others

_KEYWORDS = frozenset(
    "as assert async await class def del elif else except for from global if import in is "
    "lambda nonlocal pass raise return try while with yield None True False".split()
)

_TOKEN = re.compile(
    r"(?P<space>[ \t\r\n]+)"
    r"|(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    rf"|(?P<name>{NAME.pattern})"
    r"|(?P<refused>//|==|!=|:=|=|\^|\.|_)"
    r"|(?P<symbol>\*\*|<=|>=|[-+*/()<>,])"
)
# What an operator takes by name: what the name is, what its value is, and an example.
_BY_NAME = {
    "at": ("a coordinate", "what replaces it", "at(u, x=1) or at(u, t=t - tau)"),
    "integral": ("nodes", "their number", "integral(at(u, x=s), s, 0, 1, nodes=40)"),
    "fractional_laplacian": (
        "nodes, steps or directions", "their number", "fractional_laplacian(u, 1.5, nodes=30)",
    ),
    "riemann_liouville": (
        "nodes or steps", "their number", "riemann_liouville(u, x, 1.5, nodes=30)",
    ),
}
# d^2u/dx^2, with the powers in any writing, or with the round d; du/dx may be two names.
_FRACTION = re.compile(
    r"(?<![A-Za-z0-9_])(?=(?:d\^|d\*\*|∂))[d∂](?:\^|\*\*)?([0-9]*) ?([A-Za-z][A-Za-z0-9]*) ?/ ?"
    r"[d∂]([A-Za-z][A-Za-z0-9]*)(?:(?:\^|\*\*)[0-9]+)?"
)
_PRIMES = re.compile(r"(?<![A-Za-z0-9_'\"])([A-Za-z][A-Za-z0-9_]*)('{1,9})(?!\w)")
_OPENING = re.compile(r"[ \t\r\n]*\(")
_REFUSED = {
    "^": "'^' is not an operator here; use ** for powers",
    "//": "'//' is not an operator here; use / for division",
    "=": "'=' is not part of an expression; it stands between the two sides of an equation, once",
    "==": "'==' is not part of an expression; an equation is written left = right",
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


# What functions are called by in Python: np.sin.
_MODULE = re.compile(r"(?<![\w.])(?:np|numpy|math|torch|tf|jnp|jax\.numpy|cp|sp|sympy|T|bst)$")
_MODULES = re.compile(r"(?<![\w.])(?:np|numpy|math|torch|tf|jnp|jax\.numpy|cp|sp|sympy|T|bst)\.")
_NAME = re.compile(NAME.pattern)
_KNOWN = frozenset((*FUNCTIONS, *CONSTANTS))


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
    keywords: list[Name]
    first_keyword: list[int]  # its number among the arguments, once there is one

    @property
    def takes_keywords(self) -> bool:
        return self.callee is not None and self.callee.name in KEYWORDS

    def unnamed(self) -> int:
        """Return how many arguments without a name have been closed."""
        return len(self.arguments) - len(self.keywords)


def _tokens(text: str) -> Iterator[_Token]:
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is not None and match.group() == "=":
            yield _Token("equals", "=", position)
        elif match is None or match.lastgroup == "refused":
            character = match.group() if match else text[position]
            message = _REFUSED.get(character)
            if character == ".":
                message = _without_module(text, position) or message
            if message is None:
                message = f"the character {character!r} is not part of an expression"
                if not character.isascii():
                    message += f" (U+{ord(character):04X}); use ASCII letters, digits and + - * /"
            raise ExpressionError(message, text, position)
        elif match.lastgroup != "space":
            yield _Token(str(match.lastgroup), match.group(), position)
        position = match.end()
    yield _Token("end", "", len(text.rstrip()))


# np.float64(0.5), as numpy shows a number since its version 2
_NUMBER_OF_NUMPY = re.compile(r"(float|int)(16|32|64)")


def _without_module(text: str, position: int) -> str | None:
    """Say how np.sin(pi*x) is written here, of the '.' at a position; None for anything else."""
    before, after = _MODULE.search(text[:position]), _NAME.match(text, position + 1)
    if before is None or after is None:
        return None
    called = after.group()
    if _NUMBER_OF_NUMPY.fullmatch(called):
        return (
            f"{before.group()}.{called}(...) is how numpy shows a number of its own; write the "
            'number: f"{float(a)}" in place of f"{a!r}"'
        )
    name = next((one for one in (called, ALIASES.get(called)) if one in _KNOWN), None)
    if name is None:
        return None
    rest = text[after.end() :]
    depth = 0
    for k, character in enumerate(rest):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            inner = rest[: k + 1] if character == ")" else ""
            break
    else:
        inner = ""
    inner = _MODULES.sub("", inner)
    return f"write {abridge(name + inner)}, without {before.group()}."


class _Parser:
    """Operator precedence with explicit stacks (Dijkstra's shunting yard)."""

    def __init__(self, text: str, functions: Collection[str], meaning: str = "") -> None:
        self.source = text
        self.functions = functions
        self.equality = meaning == "comparison"  # whether x=0 is one
        self.sides = 1 if meaning == "equation" else 0  # how many may still follow after a '='
        self.tokens = _tokens(text)
        self.operands: list[Expression] = []
        self.pending: list[_Operator | _Group] = []
        self.enclosed: set[int] = set()  # what stands in parentheses
        self.open: set[int] = set()  # products of names, which may be regions

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
        if text in UNARY:
            self.push(_Operator(text, 1, UNARY_PRECEDENCE[text], position))
            return True
        if text in PRECEDENCE and kind == "name":
            raise self.error(f"expected a comparison before {text!r}", position)
        if kind == "name":
            return self.name(text, position)
        if text == "(":
            self.push(_Group(position, None, [], [], []))
            return True
        group = self.pending[-1] if self.pending else None
        called = isinstance(group, _Group) and group.callee and not group.arguments
        if text == ")" and called and group.callee.name not in self.functions:
            callee = group.callee
            check_call(Call(callee.name, (), position=callee.position, source=self.source))
        if kind == "equals":
            raise self.error(_REFUSED[text], position)
        raise self.error(f"expected a number, a name or '(', but {_found(token)}", position)

    def after_operand(self, token: _Token) -> bool:
        """Take a token after an operand; return whether an operand is expected next."""
        kind, text, position = token
        if text in PRECEDENCE and (self.equality or kind != "equals"):
            self.binary(text, position)
            return True
        if text in (",", ")"):
            return self.close(text, position)
        if kind == "equals":
            if self.sides and self.reduce_to_group() is None:
                self.sides -= 1
                self.push(_Operator("-", 2, _EQUATES, position))
            else:
                self.keyword(position)
            return True
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
            raise self.error(f"the number {abridge(text)} {TOO_LARGE}", position)
        self.operands.append(Number(value, position=position, source=self.source))

    def name(self, text: str, position: int) -> bool:
        if text in _KEYWORDS:
            raise self.error(
                f"{text!r} is a word of Python that is not part of an expression", position
            )
        name = Name(text, position=position, source=self.source)
        is_function = text in FUNCTIONS or text in OPERATORS
        callable_ = is_function or text in self.functions
        if not _OPENING.match(self.source, position + len(text)):
            if is_function and text not in LETTERS:
                raise name.error(f"{text!r} is a function; write {text}(...)")
            self.operands.append(name)
            return False
        if not callable_:
            near = suggest(text, [*self.functions, *FUNCTIONS, *OPERATORS], "functions")
            raise name.error(f"unknown function {abridge(text)!r}{near}")
        self.push(_Group(next(self.tokens).position, name, [], [], []))
        return True

    def binary(self, symbol: str, position: int) -> None:
        strength = PRECEDENCE[symbol]
        while self.pending and isinstance(self.pending[-1], _Operator):
            top = self.pending[-1].precedence
            if top < strength or (top == strength and symbol == "**"):
                break
            self.reduce()
        self.push(_Operator(symbol, 2, strength, position))

    def keyword(self, position: int) -> None:
        """Take the '=' between a name and the expression that replaces it."""
        group, name = self.pending[-1] if self.pending else None, self.operands[-1]
        if not isinstance(group, _Group) or not group.takes_keywords or not group.arguments:
            if isinstance(group, _Group) and self.sides and _never_closes(self.source[position:]):
                raise self.error("this '(' is not closed before the '='", group.position)
            raise self.error(_REFUSED["="], position)
        what, value, example = _BY_NAME[group.callee.name]
        written = self.source[name.position : position].rstrip()
        waiting = group.keywords and group.unnamed() < group.first_keyword[0]
        if waiting or not isinstance(name, Name) or name.name != written:
            raise self.error(
                f"'=' stands between {what} and {value}; write {example}", position
            )
        if name in group.keywords:
            raise name.error(f"{name} is given twice")
        group.first_keyword.append(group.unnamed())
        group.keywords.append(self.operands.pop())

    def decimal_point(self, position: int) -> str:
        """Return how a number with a ',' in it is written; "" where the ',' is in none."""
        whole = re.search(r"(?<![\w.])[0-9]+$", self.source[:position])
        rest = re.match(r"[0-9]+(?:[eE][+-]?[0-9]+)?(?![\w.])", self.source[position + 1 :])
        if whole is None or rest is None:
            return ""
        return f"; a number has a decimal point: {whole.group()}.{rest.group()}"

    def close(self, text: str, position: int) -> bool:
        """Take the ',' or ')' after an argument or a parenthesised expression."""
        group = self.reduce_to_group()
        if text == ")" and group is None:
            raise self.error("this ')' has no '('", position)
        if text == "," and (group is None or group.callee is None):
            point = self.decimal_point(position)
            raise self.error(f"a ',' only separates the arguments of a function{point}", position)
        if group.callee is None:
            self.pending.pop()
            self.enclosed.add(id(self.operands[-1]))
            return False
        argument = self.operands.pop()
        group.arguments.append(argument)
        if group.takes_keywords and group.unnamed() > min(
            [OPERATORS[group.callee.name][1], *group.first_keyword]
        ):
            what, value, example = _BY_NAME[group.callee.name]
            raise argument.error(f"expected {what}, '=' and {value}; write {example}")
        if text == ",":
            return True
        self.pending.pop()
        function, arguments = group.callee.name, tuple(group.arguments)
        keywords = tuple(group.keywords)
        place = group.callee.position
        call = Call(function, arguments, keywords, position=place, source=self.source)
        if function not in self.functions:
            check_call(call)
        self.operands.append(self.typed(call))
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
        place = {"position": position, "source": self.source}
        left = operands[0]
        if symbol == EQUALITY and not isinstance(left, Name):
            raise self.error("expected a coordinate alone before '=', as in x=0", left.position)
        if symbol in COMPARISONS and is_condition(left) and id(left) not in self.enclosed:
            # a < b < c is a < b and b < c
            middle = left if left.operator in COMPARISONS else left.right
            after = self.typed(Binary(symbol, middle.right, operands[1], **place))
            self.operands.append(Binary("and", left, after, **place))
            return
        node = Unary if arity == 1 else Binary
        self.operands.append(self.typed(node(symbol, *operands, **place)))

    def typed(self, node: Expression) -> Expression:
        """Return a node with its operands as it wants them, as far as names do not decide it."""
        if isinstance(node, Binary) and node.operator == "*":
            undecided = list(map(self.undecided, node.children))
            if any(undecided) and all(
                open_ or is_condition(child)
                for open_, child in zip(undecided, node.children, strict=True)
            ):
                self.open.add(id(node))
                return node
        return node if any(map(self.undecided, _conditions_of(node))) else typed(node)

    def undecided(self, node: Expression) -> bool:
        """Return whether a node is a condition or a number as its names turn out."""
        return isinstance(node, Name) or id(node) in self.open

    def reduce_to_group(self) -> _Group | None:
        while self.pending and isinstance(self.pending[-1], _Operator):
            self.reduce()
        return self.pending[-1] if self.pending else None


def _never_closes(text: str) -> bool:
    """Return whether a text has no ')' of an earlier '('."""
    depth = 0
    for one in text:
        depth += (one == "(") - (one == ")")
        if depth < 0:
            return False
    return True


def _conditions_of(node: Expression) -> tuple[Expression, ...]:
    """Return the operands of a node that have to be conditions."""
    if isinstance(node, Call) and node.function == "where":
        return node.children[:1]
    logical = isinstance(node, Binary | Unary) and node.operator in LOGICAL
    return node.children if logical else ()


def check_call(call: Call) -> None:
    """Raise ExpressionError for a call with too few or too many arguments, or misplaced keywords.

    It is for calls that are put together without `parse`.
    """
    function, count = call.function, len(call.arguments) - len(call.keywords)
    fewest, most = (FUNCTIONS if function in FUNCTIONS else OPERATORS)[function]
    known = KEYWORDS.get(function, ())
    if known == () and call.keywords:
        name = call.keywords[0].name
        raise call.error(f"{function} takes no arguments by name, got {abridge(name)!r}")
    if known is None and (count != fewest or not call.keywords):
        raise call.error(
            f"{function} takes an expression and what replaces its coordinates; write "
            f"{_BY_NAME[function][2]}"
        )
    if count < fewest or (most is not None and count > most):
        bound = f"{fewest}" if most == fewest else f"at least {fewest}"
        plural = "" if bound.endswith("1") else "s"
        raise call.error(f"{function} takes {bound} argument{plural}, got {count}")
    for keyword in call.keywords if known is not None else ():
        if keyword.name not in known:
            raise keyword.error(
                f"{function} takes no {abridge(keyword.name)!r}"
                f"{suggest(keyword.name, known, 'arguments by name')}"
            )


def _found(token: _Token) -> str:
    return "the text ends" if token.kind == "end" else f"found {abridge(token.text)!r}"


def parse(text: str, functions: Collection[str] = ()) -> Expression:
    """Parse a text into a checked tree; nothing in it is ever run.

    functions: names that may be called besides the language's own, with any arguments.

    Subexpressions made of numbers alone are checked to have a finite real value; names are not
    looked up yet.

    Raises:
        ExpressionError: the text is not an expression, is longer than 65 536 characters, has more
            than 300 open parentheses, signs and operators at one place, or contains a number
            beyond float64, such as ``9**9**9**9``.
    """
    return _number(_parsed(text, functions))


def _number(tree: Expression) -> Expression:
    """Return a tree; raise ExpressionError for one that is true or false."""
    if is_condition(tree):
        raise tree.error(
            "a comparison is no number: where(x < 0, -x, x) chooses by it, (x < 0)*x counts it as 1"
        )
    return tree


def parse_equation(text: str, functions: Collection[str] = ()) -> Expression:
    """Parse what is to be zero: an expression, or left = right, which is left - (right).

    functions and errors are as of `parse`.
    """
    return _number(_parsed(text, functions, "equation"))


def parse_condition(
    text: str, functions: Collection[str] = (), equality: bool = False
) -> Expression:
    """Parse a text that is true or false: comparisons, and what and, or, not make of them.

    functions and errors are as of `parse`; a text that is a number is refused too. equality: take
    "x=0" of a name as a comparison, which `evaluate` has no value for.
    """
    tree = _parsed(text, functions, "comparison" if equality else "")
    if not is_condition(tree):
        raise tree.error("expected a comparison such as x < 0.5, or several joined by and, or")
    return tree


def _parsed(text: str, functions: Collection[str], meaning: str = "") -> Expression:
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
    _refuse_other_notations(text)
    tree = _Parser(text, functions, meaning).parse()
    fold(tree, number_or_none)
    return tree


def _refuse_other_notations(text: str) -> None:
    """Raise ExpressionError for a derivative as a fraction with powers, or by primes."""
    found = _FRACTION.search(text)
    if found:
        power, unknown, coordinate = found.groups()
        order = int(power or 1) if len(power or "") < 3 else 1
        raise ExpressionError(
            f"{abridge(found.group())!r}: a derivative is written "
            f"{_derivative(unknown, coordinate, order)} here", text, found.start(),
        )
    found = _PRIMES.search(text)
    if found:
        unknown, primes = found.groups()
        raise ExpressionError(
            f"{abridge(found.group())!r}: a derivative names its coordinate here: "
            f"{_derivative(unknown, 'x', len(primes))}", text, found.start(),
        )


def _derivative(unknown: str, coordinate: str, order: int) -> str:
    """Return how a derivative is written."""
    count = f", {order}" if order > 1 else ""
    spelled = f"diff({unknown}, {coordinate}{count})"
    suffixed = f"{unknown}_{coordinate * order} or " if len(coordinate) == 1 and order < 5 else ""
    return abridge(suffixed + spelled, 80)


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
