"""Standard errors between the places at which they were found."""

import numpy as np
import pytest

from pinn.estimates import NoiseBand

RNG = np.random.default_rng(0)


def band(deviations, *columns):
    names = "xyzt"[: len(columns)]
    places = {name: column.tolist() for name, column in zip(names, columns, strict=True)}
    return NoiseBand(places, {"u": np.broadcast_to(deviations, columns[0].shape).tolist()})


def test_along_a_line_it_is_linear_between_the_places_in_any_order():
    xs = RNG.permutation(np.linspace(0, 1, 11))
    found = band(xs**2, xs).at("u", {"x": np.array([[0.0, 0.05], [0.3, 1.0]])})
    np.testing.assert_allclose(found, [[0.0, 0.005], [0.09, 1.0]], atol=1e-12)


@pytest.mark.parametrize("scale", [1.0, 1e-6, 1e6])
def test_in_a_plane_it_goes_through_the_places_whatever_the_units(scale):
    x, y = RNG.uniform(0, 1, (2, 200))
    u = 0.2 + 0.1 * np.sin(3 * x) * y
    found = band(u, scale * x, y)
    np.testing.assert_allclose(found.at("u", {"x": scale * x, "y": y}), u, rtol=1e-8)
    at = np.linspace(0.1, 0.9, 9)
    between = found.at("u", {"x": scale * at[:, None], "y": at})
    expected = np.minimum(0.2 + 0.1 * np.sin(3 * at[:, None]) * at, u.max())
    assert between.shape == (9, 9)
    np.testing.assert_allclose(between, expected, atol=1e-3)
    # neither negative nor larger than anywhere
    beyond = found.at("u", {"x": scale * np.array([-9.0, 9.0]), "y": 5.0})
    assert (beyond >= 0).all() and (beyond <= u.max()).all()


@pytest.mark.parametrize(("name", "columns"), [
    ("v", RNG.uniform(size=(2, 30))), ("u", RNG.uniform(size=(4, 30))),
    ("u", [np.linspace(0, 1, 30)] * 2), ("u", [np.linspace(0, 1, 30), np.ones(30)]),
], ids=["another name", "four coordinates", "places along a line", "at one value"])  # fmt: skip
def test_there_is_none_where_the_places_do_not_tell(name, columns):
    found = band(0.1, *map(np.array, columns))
    assert found.at(name, dict.fromkeys("xyzt"[: len(columns)], np.zeros(3))) is None


def test_places_that_are_there_twice_count_once():
    x, y = np.tile(RNG.uniform(0, 1, (2, 20)), 2)
    found = band(0.1, x, y).at("u", {"x": np.array([0.5]), "y": np.array([0.5])})
    np.testing.assert_allclose(found, 0.1)
