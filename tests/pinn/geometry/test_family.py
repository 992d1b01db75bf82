"""Families: a factor of a domain that is neither space nor time."""

import math

import numpy as np
import pytest

import pinn
from pinn.geometry import Product, apart
from pinn.sampling import latin_hypercube, stream, uniform

X, TIME, K = pinn.Interval("x", -1, 1), pinn.Time("t", 0, 1), pinn.Family("k", 0.5, 2)
LOG = pinn.Family("nu", 1e-3, 1.0, spacing="log")


def test_it_is_neither_space_nor_time_and_has_no_faces():
    domain = X * K * TIME
    assert isinstance(domain, pinn.Box)
    assert domain.coordinates == ("x", "k", "t")
    assert (domain.space, domain.time, domain.families) == (("x",), "t", (K,))
    assert [part.label for part in domain.parts] == ["x_low", "x_high"]
    with pytest.raises(ValueError, match="no face 'k=2' in this domain; faces: x=-1, x=1"):
        domain.select("k=2")


def test_points_are_drawn_over_it_inside_and_on_faces():
    domain, rng = X * TIME * K, stream(0, "test")
    inside = domain.sample_interior(50, latin_hypercube, rng)
    start = domain.sample_initial(50, latin_hypercube, rng)
    face, normals = domain.sample_boundary(domain.parts, 50, latin_hypercube, rng)
    for points in (inside, start):
        assert domain.contains(points).all()
        # one in each of 50 slabs
        slabs = np.floor((points[:, 2] - 0.5) / 1.5 * 50).astype(int)
        assert sorted(slabs) == list(range(50))
    assert normals.shape == (50, 1) and face[:, 2].min() < 0.6 and face[:, 2].max() > 1.9


def test_a_logarithmic_range_has_as_many_points_in_each_decade():
    points = (X * LOG).sample_interior(300, latin_hypercube, stream(0, "test"))[:, 1]
    decades = np.histogram(np.log10(points), bins=[-3, -2, -1, 0])[0]
    assert np.abs(decades - 100).max() <= 1  # a slab may straddle two decades
    assert points.min() >= 1e-3 and points.max() <= 1.0
    assert LOG.middle == pytest.approx(math.sqrt(1e-3), rel=1e-14)
    assert K.middle == 1.25


def test_a_domain_comes_apart():
    assert apart(X * TIME) == (X * TIME, ())
    assert apart(X * K * TIME * LOG) == (X * TIME, (K, LOG))
    with pytest.raises(ValueError, match="expected a coordinate besides the families"):
        apart(Product(K, LOG))


def test_samples_and_equal_families():
    assert pinn.Family("k", 0.5, 2.0) == K and hash(pinn.Family("k", 0.5, 2.0)) == hash(K)
    assert repr(LOG) == "Family('nu', 0.001, 1.0, spacing='log')"
    assert (K * X).sample_interior(4, uniform, stream(0)).shape == (4, 2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("k", 1, 1), "family: expected low < high"),
        (("k", 0, 1, "log"), r"family: low: expected low > 0 for a logarithmic range, got 0"),
        (("k", 1, 2, "cubic"), "family: spacing: expected one of linear, log, normal, got 'cubic'"),
        (("k", 1, math.inf), "high: expected a finite number"),
    ],
)
def test_wrong_ranges_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        pinn.Family(*arguments)
