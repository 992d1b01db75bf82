"""Comparisons, and, or, not: against Python's own."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import autograd as T
from pinn.equations.functions import NUMPY_FUNCTIONS, TENSOR_FUNCTIONS
from pinn.expressions import evaluate, parse

NUMBERS = (-1.0, 0.0, 1.0, 2.0)
TEXTS = [
    "where(x < y and y < 1, 1, 2)",
    "where(x < y or y < 1 and x > 0, 1, 2)",
    "where((x < y or y < 1) and x > 0, 1, 2)",
    "where(not x < y, 1, 2)",
    "where(not (x < y and y < 1) or x >= 1, 1, 2)",
    "where(not not x < y, 1, 2)",
    "where(0 <= x < y, 1, 2)",
    "where(0 <= x < y <= 1, 1, 2)",
    "where(x < y, x < 1, 2 + (y > 0))",
    "(x < y)*3 - (y < 1)",
    "-(x < y) + 2",
    "(x < y)*(y < 1)*x",
    "where((x < y)*(y < 1), 1, 2)",
    "max(x < y, y)",
    "(0 < x < 2) + (y > 1)",
    "2**(x < y)",
    "where(1 < 2 and x < y, 1, 2)",
    "where(2 < 1 or x < y, 1, 2)",
]


def expected(text, x, y):
    """Return what Python makes of the text, with its own and, or, not."""
    names = {"x": x, "y": y, "where": lambda c, a, b: a if c else b, "max": max}
    return float(_value(text, names))


def _value(text, names):
    import ast

    def go(node):
        match node:
            case ast.BoolOp(op=ast.And()):
                return all(go(v) for v in node.values)
            case ast.BoolOp():
                return any(go(v) for v in node.values)
            case ast.UnaryOp(op=ast.Not()):
                return not go(node.operand)
            case ast.UnaryOp():
                return -go(node.operand)
            case ast.Compare():
                terms = [go(one) for one in (node.left, *node.comparators)]
                signs = {ast.Lt: "__lt__", ast.LtE: "__le__", ast.Gt: "__gt__", ast.GtE: "__ge__"}
                pairs = itertools.pairwise(terms)
                return all(
                    getattr(float(a), signs[type(op)])(float(b))
                    for op, (a, b) in zip(node.ops, pairs, strict=True)
                )
            case ast.BinOp():
                name = {ast.Add: "__add__", ast.Sub: "__sub__", ast.Mult: "__mul__",
                        ast.Pow: "__pow__"}[type(node.op)]  # fmt: skip
                return getattr(float(go(node.left)), name)(float(go(node.right)))
            case ast.Call():
                return names[node.func.id](*map(go, node.args))
            case ast.Name():
                return names[node.id]
            case ast.Constant():
                return node.value
        raise AssertionError(ast.dump(node))

    return go(ast.parse(text, mode="eval").body)


@pytest.mark.parametrize("text", TEXTS)
def test_values_are_pythons(text):
    tree = parse(text)
    pairs = np.array(list(itertools.product(NUMBERS, NUMBERS)))
    wanted = [expected(text, *pair) for pair in pairs]
    plain = [float(evaluate(tree, dict(zip("xy", pair.tolist(), strict=True)))) for pair in pairs]
    arrays = evaluate(tree, {"x": pairs[:, 0], "y": pairs[:, 1]}, NUMPY_FUNCTIONS)
    tensors = {"x": T.tensor(pairs[:, 0]), "y": T.tensor(pairs[:, 1])}
    np.testing.assert_array_equal(plain, wanted)
    np.testing.assert_array_equal(arrays, wanted)
    np.testing.assert_array_equal(evaluate(tree, tensors, TENSOR_FUNCTIONS).numpy(), wanted)


@pytest.mark.parametrize("text", TEXTS)
def test_the_text_of_a_tree_means_the_same(text):
    assert parse(str(parse(text))) == parse(text)
