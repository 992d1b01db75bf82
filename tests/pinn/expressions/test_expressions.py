"""The expression language: against Python's own arithmetic, and against attempts to break it."""

import ast
import copy
import math
import pathlib
import pickle
import subprocess
import sys
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pinn.expressions
from pinn.expressions import (
    FUNCTIONS,
    MAX_CHARACTERS,
    Binary,
    Call,
    ExpressionError,
    Name,
    Number,
    Unary,
    constant,
    evaluate,
    nodes,
    parse,
)

NUMPY = {
    **{name: getattr(np, name) for name in FUNCTIONS if hasattr(np, name)},
    "min": np.minimum,
    "max": np.maximum,
}


def python_value(text, names):
    """Evaluate with Python itself: the independent reading of the same text."""
    space = {
        **{name: getattr(math, name) for name in FUNCTIONS if hasattr(math, name)},
        "abs": abs,
        "min": min,
        "max": max,
        "where": lambda condition, yes, no: yes if condition else no,
        "pi": math.pi,
        "e": math.e,
        **names,
    }
    return eval(f"({text})", {"__builtins__": {}}, space)


def failure(text):
    with pytest.raises(ExpressionError) as caught:
        parse(text)
    return caught.value


# ---------------------------------------------------------------------------------------- meanings


@pytest.mark.parametrize(
    "text",
    [
        "1", ".5", "2.", "1e-3", "1.5E+2", "pi", "e", "-x**2", "2.0**-1", "2.0**3**2",
        "(2.0**3)**2", "2.0**-x**2", "--x", "+-x", "-x*y", "x - y - 1", "x - (y - 1)", "x/y/2",
        "x/(y/2)", "x*-y", "x**-y*2", "-(x + y)*3", "2*x**2 - -3/y", "sin(x)**2 + cos(x)**2",
        "min(x, y) + max(x, 2*y)", "where(x < y, x, -y)", "where(x*2 >= y + 1, 1, 2) + 1",
        "abs(-x)", "exp(log(x))", "sqrt(x*y)", "tan(sinh(x)) - tanh(cosh(y))", " x\n + y\t",
        "where(1 <= 2, x, y)", "sin ( x )", "e**x + 0.01/pi",
    ],
)  # fmt: skip
def test_value_and_precedence_are_those_of_python(text):
    names = {"x": 1.3, "y": 2.7}
    assert evaluate(parse(text), names) == python_value(text, names)


def texts():
    leaves = st.sampled_from(["x", "y", "pi", "0.5", "2.0", "1.25", "3e-1"])

    def grow(inner):
        signs = st.builds("{}{}".format, st.sampled_from("+-"), inner)
        operators = st.sampled_from(["+", "-", " * ", "/", "**"])
        return st.one_of(
            st.builds("{}{}{}".format, inner, operators, inner),
            signs,
            st.builds("({})".format, inner),
            st.builds("{}({})".format, st.sampled_from(["sin", "exp", "tanh", "abs"]), inner),
            st.builds("max({}, {})".format, inner, inner),
            st.builds("where({} < {}, {}, {})".format, inner, inner, inner, inner),
        )

    return st.recursive(leaves, grow, max_leaves=12)


@settings(max_examples=300, derandomize=True, deadline=None)
@given(texts())
def test_random_texts_agree_with_python_and_round_trip(text):
    names = {"x": 0.7, "y": 1.9}
    try:
        expected = python_value(text, names)
    except (ArithmeticError, ValueError, TypeError):
        expected = None
    if not isinstance(expected, float) or not math.isfinite(expected):
        # Overflow, division by zero, or a complex number somewhere on the way.
        with pytest.raises(ExpressionError):
            evaluate(parse(text), names)
        return
    try:
        tree = parse(text)
        value = evaluate(tree, names)
    except ExpressionError as error:
        # Python passes through inf (in a product) or a complex branch that is not taken.
        assert "float64" in error.message or "real" in error.message or "zero" in error.message
        return
    assert value == expected
    assert parse(str(tree)) == tree


def test_tree_has_typed_nodes_with_positions():
    tree = parse("nu*sin(x) - 2")
    assert isinstance(tree, Binary) and tree.operator == "-" and tree.position == 10
    product, two = tree.children
    assert isinstance(two, Number) and two.value == 2.0 and two.position == 12
    assert isinstance(product.left, Name) and product.left.position == 0
    call = product.right
    assert isinstance(call, Call) and call.function == "sin" and call.position == 3
    assert isinstance(parse("-x"), Unary)


def test_numbers_are_floats_and_so_are_integers_given_as_names():
    value = evaluate(parse("2"), {})
    assert type(value) is float
    assert type(evaluate(parse("n**2"), {"n": 3})) is float
    with pytest.raises(ExpressionError, match="float64"):
        evaluate(parse("n**n**n**n"), {"n": 9})
    with pytest.raises(ExpressionError, match="float64"):
        evaluate(parse("n"), {"n": 10**400})


def test_arrays_broadcast_and_constant_parts_stay_numbers():
    x, t = np.linspace(-1, 1, 5)[:, None], np.linspace(0, 1, 3)
    value = evaluate(parse("exp(-t)*sin(pi*x) + sqrt(2)*max(x, 0)"), {"x": x, "t": t}, NUMPY)
    np.testing.assert_array_equal(
        value, np.exp(-t) * np.sin(np.pi * x) + math.sqrt(2) * np.maximum(x, 0)
    )
    kinked = evaluate(parse("where(x < 0, 0, x**2)"), {"x": x}, NUMPY)
    np.testing.assert_array_equal(kinked, np.where(x < 0, 0, x**2))


def test_any_object_with_operators_can_be_a_value():
    class Symbol:
        def __init__(self, text):
            self.text = text

        def __mul__(self, other):
            return Symbol(f"{self.text}*{getattr(other, 'text', other)}")

        def __rsub__(self, other):
            return Symbol(f"{other}-{self.text}")

    result = evaluate(parse("1 - a*b"), {"a": Symbol("a"), "b": Symbol("b")})
    assert result.text == "1.0-a*b"


def test_a_repeated_subexpression_is_computed_once():
    calls = []

    def sin(value):
        calls.append(value)
        return np.sin(value)

    x = np.array([0.3])
    value = evaluate(parse("sin(x)*sin(x) + sin(x)"), {"x": x}, {"sin": sin})
    assert len(calls) == 1
    np.testing.assert_array_equal(value, np.sin(x) * np.sin(x) + np.sin(x))


# -------------------------------------------------------------------------------------- identities


def test_equality_ignores_position_and_layout_but_not_shape():
    assert parse("u + 2*x") == parse("  u +2.0 * (x)")
    assert hash(parse("u + 2*x")) == hash(parse("u+2*x"))
    assert parse("a + b + c") != parse("a + (b + c)")
    assert parse("a + b") != parse("b + a")
    assert parse("a") != "a"
    assert len({parse("x*y"), parse("x * y"), parse("y*x")}) == 2


def test_nodes_are_immutable_and_numbers_checked():
    with pytest.raises(AttributeError):
        parse("x").name = "y"
    for value in (-1.0, math.inf, math.nan, -0.0):
        with pytest.raises(ValueError, match="finite and not negative"):
            Number(value)


@pytest.mark.parametrize(
    "text",
    ["a - (b - c)", "(a*b)*c", "a*(b*c)", "(-a)**2", "-a**2", "(a**b)**c", "a**b**c", "a**-b",
     "-(a + b)", "(-a)*b", "-(a*b)", "a/(b*c)", "where(a < b, -c, (a + b)*c)", "1e-300*a",
     "min(a, b) + 1e22", "diff(u*u_x, x, 2) + div(vec(u, v))", "+a", "0.1 + 12345.678"],
)  # fmt: skip
def test_text_of_a_tree_parses_to_an_equal_tree(text):
    tree = parse(text)
    assert parse(str(tree)) == tree
    assert pickle.loads(pickle.dumps(tree)) == tree
    assert copy.deepcopy(tree) == tree


def test_long_sums_work_everywhere():
    terms = 4000
    text = " + ".join(f"{i}*x" for i in range(terms))
    assert len(text) < MAX_CHARACTERS
    tree = parse(text)
    assert evaluate(tree, {"x": 1.0}) == terms * (terms - 1) / 2
    assert parse(str(tree)) == tree
    assert pickle.loads(pickle.dumps(tree)) == tree
    assert hash(tree) == hash(parse(text))
    assert len(nodes(tree)) == 3 * terms  # x; and a number, a product, a sum for each but one
    assert evaluate(parse("*".join(["x"] * 20_000)), {"x": 1.0}) == 1.0
    assert repr(tree).startswith("<Binary 0*x + 1*x")


# ------------------------------------------------------------------------------- attempts to break

REFUSED = [
    ("", 0, "empty"),
    ("  \n ", 0, "empty"),
    ("x.y", 1, "attribute"),
    ("().__class__", 1, r"expected a number, a name or '\('"),
    ("__import__('os')", 0, "starts with a letter"),
    ("x + __class__", 4, "starts with a letter"),
    ("_x", 0, "starts with a letter"),
    ("x.__class__.__bases__", 1, "attribute"),
    ("eval(x)", 0, "unknown function 'eval'"),
    ("u_t + snh(x)", 6, "did you mean 'sinh'"),
    ("ln(x)", 0, "did you mean 'log'"),
    ("Sin(x)", 0, "did you mean 'sin'"),
    ("x(1)", 0, "unknown function 'x'; the functions here are sin, cos"),
    ("lambda x: x", 0, "'lambda' is a word of Python"),
    ("x if x else y", 2, "expected an operator"),
    ("(x := 3)", 3, "assignment"),
    ("x = 3", 2, "two sides of an equation"),
    ("u_t == u_xx", 4, "is written left = right"),
    ("x^2", 1, r"use \*\* for powers"),
    ("x//2", 1, "use / for division"),
    ("x % 2", 2, "'%' is not part"),
    ("x[0]", 1, r"'\[' is not part"),
    ("'x'", 0, "is not part"),
    ("x; y", 1, "';' is not part"),
    ("x\\y", 1, "is not part"),
    ("x # y", 2, "is not part"),
    ("x\x00", 1, "is not part"),
    ("2x", 1, "expected an operator"),
    ("x y", 2, "found 'y'"),
    ("(x)(y)", 3, r"found '\('"),
    ("1e", 1, "found 'e'"),
    ("0x10", 1, "found 'x10'"),
    ("1_000", 1, "starts with a letter"),
    ("1.2.3", 3, "found '.3'"),
    ("x +", 3, "the text ends"),
    ("x + ", 3, "the text ends"),
    ("* x", 0, r"found '\*'"),
    ("x * * 2", 4, r"found '\*'"),
    ("(x", 0, "never closed"),
    ("1 + sin(x", 7, "never closed"),
    ("x)", 1, r"has no '\('"),
    (")", 0, "expected a number"),
    ("x, y", 1, "separates the arguments"),
    ("(x, y)", 2, "separates the arguments"),
    ("2*0,05 + x", 3, r"has a decimal point: 0\.05"),
    ("1,5e-3", 1, r"has a decimal point: 1\.5e-3"),
    ("0.5,1", 3, "separates the arguments of a function\n"),
    ("x1,5", 2, "separates the arguments of a function\n"),
    ("sin", 0, r"is a function; write sin\(...\)"),
    ("sin()", 0, "sin takes 1 argument, got 0"),
    ("sin(x, y)", 0, "sin takes 1 argument, got 2"),
    ("max(x)", 0, "max takes 2 arguments, got 1"),
    ("where(x < 1, 2)", 0, "where takes 3 arguments, got 2"),
    ("diff(u)", 0, "diff takes at least 2 arguments, got 1"),
    ("sin(x,)", 6, "expected a number"),
    ("where(2*x, 1, 2)", 7, "first argument of where is a comparison"),
    ("where((x < 1) < 2, 1, 2)", 9, "a comparison is compared; join two with and"),
    ("where(x < (1 < 2), 1, 2)", 13, "a comparison is compared; join two with and"),
    ("where(x < 1 and 2*y, 1, 2)", 17, "what 'and' joins is a comparison"),
    ("where(not 2*y, 1, 2)", 11, "what 'not' joins is a comparison"),
    ("where(and x < 1, 1, 2)", 6, "expected a comparison before 'and'"),
    ("x < 1", 2, "a comparison is no number"),
    ("x < 1 and y < 2", 6, "a comparison is no number"),
    ("x != 1", 2, "not a comparison"),
    ("x + ν", 4, r"U\+03BD"),
    ("2·x", 1, r"use \* for multiplication"),
    ("x − 1", 2, "ASCII minus"),
    ("sin(π*x)", 4, "the name pi"),
    ("x²", 1, r"use \*\*2"),
    ("٣ + x", 0, r"U\+0663"),
    ("ｘ", 0, r"U\+FF58"),
    ("\ud800", 0, r"U\+D800"),
    ("\U0001f600", 0, r"U\+1F600"),
    ("x\u200b", 1, r"U\+200B"),
    ("1e999", 0, "beyond the largest float64"),
    ("x + " + "9" * 5000, 4, "beyond the largest float64"),
    ("9**9**9**9", 4, "beyond the largest float64"),
    ("x*9**9**9**9**9", 9, "beyond the largest float64"),
    ("1e308*10", 5, "beyond the largest float64"),
    ("exp(1000) + x", 0, "beyond the largest float64"),
    ("1/0", 1, "divides by zero"),
    ("0**-1", 1, "divides by zero"),
    ("x/(1 - 1) + 1/(1 - 1)", 13, "divides by zero"),
    ("(-8)**(1/3)", 4, "no real value"),
    ("log(0)", 0, "no real value"),
    ("sqrt(-1)", 0, "no real value"),
    ("x" * 100_000, MAX_CHARACTERS, "100000 characters"),
    ("x+" * 50_000 + "x", MAX_CHARACTERS, "100001 characters"),
    ("(" * 30_000 + "x" + ")" * 30_000, 300, "nested too deeply"),
    ("-" * 60_000 + "x", 300, "nested too deeply"),
    ("x" + "**x" * 20_000, 901, "nested too deeply"),
    ("sin(" * 10_000 + "x" + ")" * 10_000, 1203, "nested too deeply"),
    ("1+(2*" * 10_000 + "x" + ")" * 10_000, 749, "nested too deeply"),
    ("import os", 0, "word of Python"),
]


@pytest.mark.parametrize(
    ("text", "position", "message"), REFUSED, ids=[f"{i}" for i in range(len(REFUSED))]
)
def test_refused_text_gives_one_clear_error_at_the_place(text, position, message):
    started = time.perf_counter()
    error = failure(text)
    shown = str(error)
    assert time.perf_counter() - started < 0.5
    with pytest.raises(ExpressionError, match=message):
        raise error
    assert error.position == position and error.text == text
    assert len(shown) < 600
    lines = shown.split("\n")
    if text.strip():
        assert lines[0] == error.message
        assert len(lines) == 3 and lines[2].strip() == "^"
        column = lines[2].index("^")
        if position < len(text) and text[position].isprintable() and not text[position].isspace():
            assert lines[1].ljust(column + 4)[column] in (text[position], ".")


def test_caret_stands_under_the_place_in_short_and_long_text():
    assert str(failure("u_t +\n x^2")).split("\n")[1:] == ["    u_t +  x^2", "    " + " " * 8 + "^"]
    error = failure("+".join(["abc"] * 100) + " $ " + "+".join(["abc"] * 100))
    _, window, caret = str(error).split("\n")
    assert window[caret.index("^")] == "$"
    assert window.startswith("    ...") and window.endswith("...") and len(window) < 100


@pytest.mark.parametrize("value", [None, 3, 2.5, b"x", ["x"], {"x": 1}, object()])
def test_what_is_not_text_is_refused(value):
    with pytest.raises(ExpressionError, match="expected an expression as text, got"):
        parse(value)


def test_parsing_and_evaluating_need_no_recursion():
    # Called with few frames left, the deepest allowed text still works.
    text = "-(" * 150 + "x" + ")" * 150
    limit = sys.getrecursionlimit()

    def with_frames_left(spare):
        return with_frames_left(spare) if depth() < limit - spare else check()

    def depth():
        frame, count = sys._getframe(), 0
        while frame is not None:
            frame, count = frame.f_back, count + 1
        return count

    def check():
        tree = parse(text)
        return evaluate(tree, {"x": 1.5}) == 1.5 and str(tree) == "-" * 150 + "x"

    assert with_frames_left(60)


@settings(max_examples=300, derandomize=True, deadline=None)
@given(st.text(alphabet="xu_ 12.e+-*/()<>=,^:'[]{}\\\n\x00πsinwhere", max_size=40))
def test_arbitrary_text_is_either_read_or_refused_with_a_position(text):
    try:
        tree = parse(text)
    except ExpressionError as error:
        assert 0 <= error.position <= len(text)
        str(error)
    else:
        assert parse(str(tree)) == tree


def test_product_code_neither_evaluates_text_nor_imports_arrays():
    folder = pathlib.Path(pinn.expressions.__file__).parent
    files = [*folder.glob("*.py"), *(folder.parent / "equations").glob("leaves.py")]
    assert len(files) > 6
    for file in files:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in ("eval", "exec", "compile", "__import__")
            names = [alias.name for alias in getattr(node, "names", []) if hasattr(alias, "name")]
            assert not {"ast", "numpy", "autograd", "pickle"} & set(names)


# --------------------------------------------------------------------------- errors of evaluation


def test_unknown_name_shows_the_names_that_exist_and_the_nearest():
    with pytest.raises(ExpressionError, match="unknown name 'nuu'; did you mean 'nu'") as caught:
        evaluate(parse("x + nuu*t"), {"x": 1.0, "t": 2.0, "nu": 3.0})
    assert caught.value.position == 4
    assert "x, t, nu, pi, e" in caught.value.message


def test_unavailable_function_and_unresolved_operator_are_named():
    x = np.ones(2)
    with pytest.raises(ExpressionError, match="function 'cosh' is not available.*did you mean"):
        evaluate(parse("cosh(x)"), {"x": x}, {"cos": np.cos})
    with pytest.raises(ExpressionError, match="laplacian has no meaning here"):
        evaluate(parse("laplacian(x)"), {"x": x}, NUMPY)


@pytest.mark.parametrize(
    ("text", "message"),
    [("1/(x - 2)", "1 / 0 divides by zero"), ("log(x - 3)", r"log\(-1\) has no real value"),
     ("(x - 3)**0.5", r"\(-1\) \*\* 0.5 has no real value"), ("exp(x*500)", "beyond")],
)  # fmt: skip
def test_failing_arithmetic_on_floats_points_at_the_operation(text, message):
    with pytest.raises(ExpressionError, match=message):
        evaluate(parse(text), {"x": 2.0})


def test_error_survives_pickling():
    error = failure("x + $")
    again = pickle.loads(pickle.dumps(error))
    assert (again.message, again.text, again.position) == (error.message, "x + $", 4)
    assert isinstance(error, ValueError)


# --------------------------------------------------------------------------------------- constants


@pytest.mark.parametrize(
    ("value", "expected"),
    [("0.01/pi", 0.01 / math.pi), ("1e-3", 1e-3), (3, 3.0), (2.5, 2.5), ("-2**2", -4.0),
     (np.float32(0.5), 0.5), (np.int64(7), 7.0), ("sqrt(2)*e", math.sqrt(2) * math.e)],
)  # fmt: skip
def test_constant_of_number_or_text(value, expected):
    assert constant(value) == expected
    assert type(constant(value)) is float


@pytest.mark.parametrize(
    ("value", "message"),
    [("nu", "got the name 'nu'"), (True, "got bool"), (None, "got NoneType"), (1j, "got complex"),
     (math.nan, "finite"), (math.inf, "finite"), (10**400, "beyond"), ("", "empty"),
     ("p*2", "expected a number"), ("diff(pi, e)", "no meaning here")],
)  # fmt: skip
def test_constant_refuses_anything_else(value, message):
    with pytest.raises(ExpressionError, match=message):
        constant(value)


def test_hash_does_not_travel_between_processes():
    # Text hashes differ by process; an unpickled tree must find itself in a fresh dictionary.
    code = (
        "import pickle, sys; from pinn.expressions import parse; "
        "tree = pickle.loads(bytes.fromhex(sys.argv[1])); print({parse('u + 2*x'): 1}[tree])"
    )
    payload = pickle.dumps(parse("u + 2*x")).hex()
    root = pathlib.Path(pinn.__file__).parent.parent
    answer = subprocess.run(
        [sys.executable, "-c", code, payload], cwd=root, capture_output=True, text=True, timeout=60
    )
    assert answer.stdout.strip() == "1", answer.stderr


@pytest.mark.parametrize(
    ("text", "written", "place"),
    [
        ("u_t - d^2u/dx^2", "u_xx or diff(u, x, 2)", 6),
        ("d**2 u / dx**2", "u_xx or diff(u, x, 2)", 0),
        ("2*∂u/∂t", "u_t or diff(u, t)", 2),
        ("∂^2u/∂x1^2", "diff(u, x1, 2)", 0),
        ("u'' + 3*u", "u_xx or diff(u, x, 2)", 0),
        ("4*u'", "u_x or diff(u, x)", 2),
    ],
)
def test_derivatives_in_other_notations_are_shown_as_they_are_written_here(text, written, place):
    with pytest.raises(ExpressionError) as raised:
        parse(text)
    assert written in raised.value.message and raised.value.position == place


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("np.sin(pi*x)", "write sin(pi*x), without np."),
        ("2*numpy.exp(-(x + 1)*t) + 1", "write exp(-(x + 1)*t), without numpy."),
        ("torch.cos(math.pi*x)", "write cos(pi*x), without torch."),
        ("jnp.arctan2(x, t)", "write atan2(x, t), without jnp."),
        ("x*math.pi", "write pi, without math."),
        ("u_x - np.float64(0.5)", "np.float64(...) is how numpy shows a number"),
        ("np.fft(x)", "attribute access is not part of an expression"),
        ("s.sin(x)", "attribute access is not part of an expression"),
    ],
)
def test_functions_of_a_module_are_written_without_it(text, message):
    with pytest.raises(ExpressionError) as caught:
        parse(text)
    assert caught.value.message.startswith(message)
