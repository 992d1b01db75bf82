"""The order of a system in a coordinate, against the roots that its symbol has."""

from itertools import combinations

import numpy as np
import pytest

from pinn.diagnosis.posed.orders import conditions_taken
from pinn.equations.leaves import Derivative, Laplacian


def u(*coordinates, of="u"):
    return Derivative(of, coordinates)


def order(equations, unknowns, coordinate, coordinates=("x", "y", "t")):
    space = [name for name in coordinates if name != "t"]
    return conditions_taken(equations, unknowns, {coordinate: 1.0}, coordinates, space)


@pytest.mark.parametrize(
    ("equation", "expected"),
    [
        ({u("t"): 1.0, u("x", "x"): -0.1}, {"t": 1, "x": 2, "y": 0}),
        ({u("t", "t"): 1.0, Laplacian("u"): -4.0}, {"t": 2, "x": 2, "y": 2}),
        ({Laplacian("u", 2): 1.0}, {"x": 4, "y": 4, "t": 0}),
        ({u("t"): 1.0, u("x", "x", "t"): -1.0, u("x"): 1.0}, {"t": 1, "x": 2}),
        ({Laplacian("u"): 1.0, u("x", "x"): -1.0}, {"x": 0, "y": 2}),
    ],
)
def test_one_equation_has_its_highest_order(equation, expected):
    for coordinate, count in expected.items():
        assert order([equation], ["u"], coordinate) == count


def test_no_two_of_many_coordinates_cancel_each_other():
    names = tuple("abcdefghijkl")
    for first, second in combinations(names[1:], 2):
        across = {u("a", first): 1.0, u("a", second): -1.0}
        assert order([across], ["u"], "a", names) == 1


@pytest.mark.parametrize("angle", [0.0, 0.3, 2.0])
def test_the_order_along_a_slanted_direction_is_that_of_the_turned_equation(angle):
    across = {"x": np.cos(angle), "y": np.sin(angle)}

    def slanted(equation):
        return conditions_taken([equation], ["u"], across, ("x", "y", "t"), ("x", "y"))

    assert slanted({Laplacian("u"): 1.0}) == 2
    assert slanted({u("t"): 1.0, u("x"): -np.sin(angle), u("y"): np.cos(angle)}) == 0
    assert slanted({u("x", "x"): 1.0, u("t"): -1.0}) == 2


def test_stokes_equations_have_fewer_orders_than_their_unknowns():
    def momentum(unknown, coordinate):
        return {u("t", of=unknown): 1.0, Laplacian(unknown): -1.0, u(coordinate, of="p"): 1.0}

    stokes = [momentum("u", "x"), momentum("v", "y"), {u("x"): 1.0, u("y", of="v"): 1.0}]
    assert [order(stokes, ["u", "v", "p"], c) for c in "xyt"] == [4, 4, 1]


def test_dependent_equations_have_no_order():
    same = {u("x"): 1.0, u("x", of="v"): 1.0}
    assert order([same, {**same, u(): 1.0}], ["u", "v"], "x") is None
    assert order([{u("x"): 1.0}, {u("x", "x"): 1.0}], ["u", "v"], "x") is None


def test_random_systems_have_as_many_orders_as_their_determinant_has_roots():
    rng = np.random.default_rng(0)
    names = ["a", "b", "c"]
    for _ in range(40):
        orders = rng.integers(-1, 4, (3, 3))
        system, symbol = [], np.zeros((3, 3), dtype=object)
        for i in range(3):
            system.append({})
            for j, name in enumerate(names):
                weights = rng.standard_normal(orders[i, j] + 1)
                symbol[i, j] = np.polynomial.Polynomial(weights if len(weights) else [0.0])
                for k, weight in enumerate(weights):
                    system[i][u(*["x"] * k, of=name)] = weight
        determinant = (
            symbol[0, 0] * (symbol[1, 1] * symbol[2, 2] - symbol[1, 2] * symbol[2, 1])
            - symbol[0, 1] * (symbol[1, 0] * symbol[2, 2] - symbol[1, 2] * symbol[2, 0])
            + symbol[0, 2] * (symbol[1, 0] * symbol[2, 1] - symbol[1, 1] * symbol[2, 0])
        )
        degree = determinant.trim(1e-9).degree() if np.any(determinant.coef) else None
        assert order(system, names, "x", ("x",)) == degree
