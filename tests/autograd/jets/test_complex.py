"""Functions of real coordinates that go through complex numbers, beside reverse mode."""

from __future__ import annotations

import pytest

import autograd as T
from autograd.jets import partials

FUNCTIONS = {
    "log": T.log, "sin": T.sin, "cos": T.cos, "tan": T.tan, "sinh": T.sinh, "cosh": T.cosh,
    "tanh": T.tanh, "atan": T.atan, "sigmoid": T.sigmoid, "sqrt": T.sqrt, "exp": T.exp,
    "reciprocal": T.reciprocal, "square": T.square, "cube": lambda z: z**3,
    "power": lambda z: z**1.5, "quotient": lambda z: (1 + z) / (2 - z), "size": T.abs,
}  # fmt: skip


@pytest.mark.parametrize("recorded", [True, False], ids=["grad mode", "no_grad"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_slopes_are_those_of_reverse_mode(name, recorded):
    """Of a gradient, which is a conjugate, a slope is the conjugate: at each order."""
    x = T.tensor([[0.3], [-0.7]], dtype=T.float64, requires_grad=True)

    def fn(x):
        z = FUNCTIONS[name]((0.8 + 0.5j) * x + 0.2)
        return T.real(z) + 0.3 * T.imag(z) if z.is_complex() else z

    expected, value = [], fn(x)
    for _ in range(3):
        (value,) = T.grad(value.sum(), x, create_graph=True)
        expected.append(value.detach().numpy())
    with T.set_grad_enabled(recorded):
        found = partials(fn, [x if recorded else x.detach()], [(0,), (0, 0), (0, 0, 0)])
    for one, other in zip(found.values(), expected, strict=True):
        assert one.detach().numpy() == pytest.approx(other, rel=1e-10, abs=1e-10)
