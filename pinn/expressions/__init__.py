"""Text to a checked expression tree, without eval: the language of equations and config numbers.

The language is Python's arithmetic: ``+ - * / **``, unary signs, parentheses, numbers, names and
calls of known functions, with Python's precedence. Nothing else can be written in it. Parsing and
every walk over a tree keep their own stacks, so neither long sums nor deep trees reach Python's
recursion limit.
"""

from pinn.expressions.errors import ExpressionError, abridge, suggest
from pinn.expressions.evaluation import evaluate, evaluate_leaves
from pinn.expressions.language import (
    CONSTANTS,
    FLOAT_FUNCTIONS,
    FUNCTIONS,
    LETTERS,
    OPERATORS,
    RESERVED,
)
from pinn.expressions.parsing import (
    MAX_CHARACTERS,
    MAX_PENDING,
    check_call,
    constant,
    parse,
    parse_condition,
    parse_equation,
)
from pinn.expressions.trees import Binary, Call, Expression, Name, Number, Unary, fold, nodes

__all__ = [
    "Binary", "CONSTANTS", "Call", "Expression", "ExpressionError", "FLOAT_FUNCTIONS", "FUNCTIONS",
    "LETTERS", "MAX_CHARACTERS", "MAX_PENDING", "Name", "Number", "OPERATORS", "RESERVED", "Unary",
    "abridge", "check_call", "constant", "evaluate", "evaluate_leaves", "fold", "nodes", "parse",
    "parse_condition", "parse_equation", "suggest",
]
