"""Random expressions mean the same as text and as function, by nested derivatives and by jets."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import autograd as T
import pinn
from pinn.equations.functions import NUMPY_FUNCTIONS, TENSOR_FUNCTIONS
from pinn.equations.jets import JetPlan, JetValues
from pinn.equations.nested import NestedPlan, NestedValues
from pinn.equations.resolve import evaluate_resolved
from pinn.equations.scope import Scope
from pinn.equations.term import Term
from pinn.equations.values import Values, coordinate_columns
from pinn.expressions import parse

POINTS = np.random.default_rng(5).uniform(0.1, 0.9, (4, 2))
XS = np.linspace(-3, 4, 12)
TABLE = pinn.Table("g", {"x": XS, "g": np.cos(XS)}, method="spline", outside="nearest")
SCOPE = Scope(
    ("u", "v"), ("x", "t"), ("x",), {"c": 0.4}, ("k",), tables={"g": TABLE},
    definitions={
        "left": Scope((), ("x", "t"), ("x",), {}).resolve("where(x < 0.5 and t > 0.2, 1, 0)")
        .children[0]
    },
)  # fmt: skip
PARAMETER = 0.7


class Waves(T.nn.Module):
    def forward(self, points):
        x, t = points[:, 0:1], points[:, 1:2]
        return T.cat([T.sin(1.3 * x - 0.7 * t), x * T.cos(x + t)], dim=1)


class Written(NamedTuple):
    """The same expression as a text and as a function of the namespace."""

    text: str
    function: Callable


def leaf(text):
    return Written(text, lambda s: getattr(s, text))


def called(name):
    return lambda a: Written(f"{name}({a.text})", lambda s: getattr(s, name)(a.function(s)))


def joined(symbol, join):
    return lambda a, b: Written(
        f"({a.text} {symbol} {b.text})", lambda s: join(a.function(s), b.function(s))
    )


def operated(name, *rest):
    """An operator, which functions give texts to."""
    return lambda a: Written(
        f"{name}({', '.join([a.text, *rest])})",
        lambda s: getattr(s, name)(a.text, *[float(r) if r.isdigit() else r for r in rest]),
    )


def chosen(symbol, compare):
    return lambda a, b, yes, no: Written(
        f"where({a.text} {symbol} {b.text} or left, {yes.text}, {no.text})",
        lambda s: s.where(
            compare(a.function(s) + 0 * s.x, b.function(s)) | _holds(s),
            yes.function(s), no.function(s),
        ),
    )  # fmt: skip


def _holds(s):
    return (s.x < 0.5) & (s.t > 0.2)


KNOWN = [*map(leaf, ("x", "t", "c", "g"))]
KNOWN += [Written(str(n), lambda s, n=n: n) for n in (0.5, 2.0)]
UNKNOWN = [*map(leaf, ("k", "u", "v", "u_x", "u_t", "v_xt"))]
UNKNOWN.append(Written("at(u_x*x, x=t/2)", lambda s: s.at("u_x*x", x=s.t / 2)))
SMOOTH = ("sin", "cos", "tanh", "sech", "atan", "erf", "abs")


def grown(children):
    return st.one_of(
        st.builds(joined("+", lambda a, b: a + b), children, children),
        st.builds(joined("-", lambda a, b: a - b), children, children),
        st.builds(joined("*", lambda a, b: a * b), children, children),
        *(st.builds(called(name), children) for name in SMOOTH),
        st.builds(lambda a: called("exp")(called("tanh")(a)), children),
        st.builds(
            lambda a, b: Written(
                f"max({a.text}, {b.text})", lambda s: s.max(a.function(s), b.function(s))
            ),
            children, children,
        ),
        st.builds(chosen("<", lambda a, b: a < b), children, children, children, children),
        st.builds(operated("diff", "x"), children),
        st.builds(operated("integral", "x", "0", "x"), children),
    )  # fmt: skip


EXPRESSIONS = st.recursive(st.sampled_from(KNOWN + UNKNOWN), grown, max_leaves=6)


def evaluated(source, kind, plan):
    def values(make, planned):
        columns = coordinate_columns(POINTS, T.float64, "cpu")
        k = T.tensor(PARAMETER, dtype=T.float64)
        return make(Waves(), SCOPE, columns, {"k": k}, planned, {})

    term = Term("term", source, SCOPE)
    leaves = term.leaves
    if leaves is None:
        probe = values(NestedValues, NestedPlan((), SCOPE))
        term.evaluate(probe, TENSOR_FUNCTIONS)
        leaves = probe.asked
    value = term.evaluate(values(kind, plan(leaves, SCOPE)), TENSOR_FUNCTIONS)
    value = value.detach().numpy() if isinstance(value, T.Tensor) else value
    return np.broadcast_to(value, len(POINTS))


@settings(max_examples=25, deadline=None, derandomize=True)
@given(EXPRESSIONS)
def test_text_function_nested_and_jets_agree(written):
    found = [
        evaluated(source, kind, plan)
        for source in written
        for kind, plan in ((NestedValues, NestedPlan), (JetValues, JetPlan))
    ]
    size = max(1.0, np.abs(found[0]).max())
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], rtol=0, atol=1e-10 * size)


@settings(max_examples=20, deadline=None, derandomize=True)
@given(EXPRESSIONS)
def test_a_text_is_written_and_read_as_it_was(written):
    tree = parse(written.text, ("g",))
    assert parse(str(tree), ("g",)) == tree


@settings(max_examples=20, deadline=None, derandomize=True)
@given(st.recursive(st.sampled_from(KNOWN), grown, max_leaves=6))
def test_numpy_arrays_and_tensors_agree(written):
    tree = SCOPE.resolve(written.text)
    values = Values({"x": POINTS[:, 0], "t": POINTS[:, 1]}, {"c": 0.4})
    plain = np.broadcast_to(evaluate_resolved(tree, values, NUMPY_FUNCTIONS), len(POINTS))
    np.testing.assert_allclose(
        plain, evaluated(written.text, NestedValues, NestedPlan), rtol=1e-11, atol=1e-12
    )
