"""The accuracy suite's stationary references: boundaries that are met, equations that hold."""

import numpy as np
import pytest

from experiments.measure import problem as problem_of
from experiments.suite.entries import ENTRIES
from experiments.suite.references import cavity, lightning, multipoles

QUICK = (
    "kuramoto_sivashinsky", "l_shape", "four_disks", "poisson_100d", "lotka_volterra",
    "van_der_pol", "kovasznay_viscosity", "conductivity_field",
)  # fmt: skip


@pytest.mark.parametrize("name", QUICK)
def test_a_reference_has_the_unknowns_of_its_problem_at_points_of_its_domain(name):
    entry = next(entry for entry in ENTRIES if entry.name == name)
    problem, made = problem_of(entry), entry.reference()
    points = np.stack([made.points[one] for one in problem.domain.coordinates], axis=1)
    assert problem.domain.contains(points).all()
    fields = [field.name for field in problem.fields]
    assert list(made.values) == [*problem.unknowns, *fields]
    assert all(np.isfinite(values).all() for values in made.values.values())
    assert {values.shape for values in made.values.values()} == {(len(points),)}
    assert made.agreement < min(entry.goals.values())
    assert set(entry.truth) == {one.name for one in problem.parameters}


def test_the_membrane_of_the_l_shape_meets_its_boundary_which_bounds_its_error():
    u = lightning.l_shape_field(50)
    edge = lightning.around(lightning.L_SHAPE, 1501)  # other points than those of the fit
    assert np.abs(u(edge.real, edge.imag)).max() < 5e-11
    assert u(np.array(-0.5), np.array(0.5)) == pytest.approx(0.1310529620306, abs=2e-11)


def test_more_poles_of_the_l_shape_come_closer():
    x, y = np.random.default_rng(0).random((2, 200)) - [[1], [0]]  # in the upper left quarter
    fine = lightning.l_shape_field(50)(x, y)
    errors = [np.abs(lightning.l_shape_field(m)(x, y) - fine).max() for m in (10, 20, 30)]
    assert errors[0] < 1e-4 and errors[1] < 1e-6 and errors[2] < 1e-8


def test_the_poles_of_the_l_shape_are_outside_so_that_it_is_harmonic_but_for_its_load():
    corners = np.array(lightning.L_SHAPE, complex)
    places, sizes = lightning._poles(corners, 20)
    x, y = places.real, places.imag
    inside = (np.maximum(abs(x), abs(y)) <= 1) & ((x <= 0) | (y >= 0))
    assert not inside.any() and len(places) == len(sizes) == 7 * 20
    x, y = np.array([0.3, -0.6, 0.05, -0.7]), np.array([0.4, -0.5, 0.05, 0.8])
    u, h = lightning.l_shape_field(50), 1e-3
    assert np.abs(laplacian(lambda *at: u(*at), x, y, h) + 1).max() < 1e-4


def test_the_potential_of_four_disks_meets_its_boundary_which_bounds_its_error():
    u = multipoles.four_disks_field()
    edge = multipoles.boundary(777)
    assert np.abs(u(edge.real, edge.imag) - multipoles.on_boundary(edge)).max() < 2e-12
    assert u(np.array(0.0), np.array(0.0)) == pytest.approx(0.23358492, abs=5e-9)
    assert u(np.array(0.1), np.array(0.2)) == pytest.approx(0.22091574, abs=5e-9)
    x, y = np.array([0.0, 0.11, -0.45]), np.array([0.0, 0.2, 0.42])
    assert np.abs(laplacian(lambda *at: u(*at), x, y, 1e-3)).max() < 1e-4


@pytest.mark.parametrize("lid", ["smooth", "parabola"])
def test_the_cavity_moves_with_its_lid_and_rests_at_its_walls(lid):
    flow = cavity.cavity_field(lid, modes=20)
    s, one, none = np.linspace(0, 1, 21), np.ones(21), np.zeros(21)
    lids = {"smooth": 16 * s**2 * (1 - s) ** 2, "parabola": 4 * s * (1 - s)}
    assert np.abs(flow(s, one)["u"] - lids[lid]).max() < 1e-12
    for x, y in ((s, one), (s, none), (none, s), (one, s)):
        found = flow(x, y)
        assert np.abs(found["v"]).max() < 1e-12
        assert y is one or np.abs(found["u"]).max() < 1e-12
    assert flow(np.zeros(1), np.zeros(1))["p"] == pytest.approx(0, abs=1e-14)


@pytest.mark.parametrize("lid", ["smooth", "parabola"])
def test_the_cavity_satisfies_the_navier_stokes_equations(lid):
    flow = cavity.cavity_field(lid, modes=20)
    x, y = np.random.default_rng(0).uniform(0.15, 0.85, (2, 100))
    u, v = (flow(x, y)[name] for name in "uv")
    h = 2e-3

    def slopes(name):
        along_x = slope(lambda *at: flow(*at)[name], x, y, h, (1, 0))
        return along_x, slope(lambda *at: flow(*at)[name], x, y, h, (0, 1))

    (u_x, u_y), (v_x, v_y), (p_x, p_y) = (slopes(name) for name in "uvp")
    bent = [laplacian(lambda *at, n=name: flow(*at)[n], x, y, h) for name in "uv"]
    assert np.abs(u_x + v_y).max() < 1e-6
    # Terms of up to 1 that the 20 polynomials leave.
    assert np.abs(u * u_x + v * u_y + p_x - bent[0] / 100).max() < 2e-3
    assert np.abs(u * v_x + v * v_y + p_y - bent[1] / 100).max() < 2e-3


@pytest.mark.parametrize(("lid", "known"), [("smooth", 2e-5), ("parabola", 5e-5)])
def test_two_resolutions_of_the_cavity_agree(lid, known):
    x, y = np.random.default_rng(1).random((2, 400))
    coarse, fine = (cavity.cavity_field(lid, modes=modes)(x, y) for modes in (16, 20))
    for name in "uv":
        assert np.linalg.norm(coarse[name] - fine[name]) < known * 2 * np.linalg.norm(fine[name])
    # The pressure, with a derivative more, converges later.
    assert np.linalg.norm(coarse["p"] - fine["p"]) < 1e-3 * np.linalg.norm(fine["p"])


def slope(u, x, y, h, along):
    """Central differences of order 4."""
    weights = {-2: 1, -1: -8, 1: 8, 2: -1}
    dx, dy = along
    return sum(w * u(x + k * h * dx, y + k * h * dy) for k, w in weights.items()) / (12 * h)


def laplacian(u, x, y, h):
    """Central differences of order 4."""
    weights = {-2: -1, -1: 16, 0: -30, 1: 16, 2: -1}
    return sum(w * (u(x + k * h, y) + u(x, y + k * h)) for k, w in weights.items()) / (12 * h**2)
