"""The accuracy suite's references in time, beside integrators of other kinds."""

import numpy as np
import pytest
from numpy.polynomial import chebyshev

from experiments import newcomer_references as orbits
from experiments.peers.references.evolution import (
    kuramoto_sivashinsky_table,
    periodic_grid,
    schroedinger_table,
)
from experiments.suite import measurements
from experiments.suite.references import orbits as suite_orbits


def taylor(coefficients, start, end, steps, order=24):
    """Integrate a polynomial system by its Taylor series; returns all states, (steps + 1, n).

    coefficients: the series of the solution so far (k + 1, n) -> the rate's coefficient of t^k.
    """
    h, states = end / steps, [np.array(start, float)]
    for _ in range(steps):
        series = [states[-1]]
        for k in range(order):
            series.append(coefficients(np.array(series)) / (k + 1))
        states.append(sum(term * h**k for k, term in enumerate(series)))
    return np.array(states)


def product(a, b):
    """The last coefficient of the product of two series of one length."""
    return np.dot(a, b[::-1])


def test_prey_and_predators_agree_with_their_taylor_series():
    def rates(s):
        x, y = s.T
        both = product(x, y)
        return np.array([2 / 3 * x[-1] - 4 / 3 * both, both - y[-1]])

    series = taylor(rates, (1, 1), 10, 200)
    found = orbits.lotka_volterra()(np.linspace(0, 10, 201)).T
    assert np.abs(found - series).max() < 2e-12


def test_van_der_pols_relaxation_agrees_with_its_taylor_series():
    def rates(s):
        u, v = s.T
        squares = np.array([product(u[: k + 1], u[: k + 1]) for k in range(len(u))])
        return np.array([v[-1], 5 * (v[-1] - product(squares, v)) - u[-1]])

    series = taylor(rates, (2, 0), 12, 1200)
    found = orbits.van_der_pol(1e-13, 5.0, 12.0)(np.linspace(0, 12, 1201)).T
    assert np.abs(found - series)[:, 0].max() < 1e-10


def test_robertsons_reactions_agree_with_collocation_and_keep_their_mass():
    """Chebyshev's polynomials on intervals of log t, by Newton's method."""
    order, pieces = 12, 60
    z = np.cos(np.pi * np.arange(order + 1) / order)[::-1]
    values = chebyshev.chebvander(z, order)
    slopes = chebyshev.chebval(z, chebyshev.chebder(np.eye(order + 1))).T @ np.linalg.inv(values)
    ends = np.linspace(suite_orbits.START, suite_orbits.END, pieces + 1)
    half, state, kept = (ends[1] - ends[0]) / 2, np.array([1.0, 0.0, 0.0]), []
    for low in ends[:-1]:
        s = low + half * (z + 1)
        kept.append(state)
        states = np.tile(state, (order + 1, 1))
        for _ in range(12):
            rates = np.array([suite_orbits.rate(*one) for one in zip(s, states, strict=True)])
            left = (slopes @ states / half - rates)[1:].ravel()
            jacobian = np.kron(slopes[1:, 1:] / half, np.eye(3))
            for k in range(order):
                block = slice(3 * k, 3 * k + 3)
                jacobian[block, block] -= suite_orbits._slopes(s[k + 1], states[k + 1])
            states[1:] -= np.linalg.solve(jacobian, left).reshape(order, 3)
        state = states[-1]
    expected = np.array([*kept, state])
    assert ends[[0, -1]] == pytest.approx(np.log([1e-5, 1e5]))
    found = suite_orbits.robertson_orbit(1e-12)(ends).T
    assert found[0] == pytest.approx([1, 0, 0])
    assert np.abs(found - expected).max() < 1e-9
    assert np.abs(found @ [1, 1e-4, 1] - 1).max() < 1e-12


def distance(one, other):
    return np.linalg.norm(one - other) / np.linalg.norm(other)


def test_chaos_has_no_time_to_grow_before_the_suites_end():
    table = kuramoto_sivashinsky_table(256, 400, 0.2)
    other = kuramoto_sivashinsky_table(256, 400, 0.2, change=1e-8)
    moved = [distance(other[:, k], table[:, k]) for k in (0, 50, 100)]
    assert moved[0] == pytest.approx(1e-8, rel=1e-6) and max(moved) < 1.1e-8


def test_kuramoto_and_sivashinskys_table_converges_with_the_steps_and_has_waves_enough():
    tables = [kuramoto_sivashinsky_table(512, steps, 0.2) for steps in (400, 800, 1600)]
    one, other = (distance(table, tables[-1]) for table in tables[:2])
    assert other < 1e-8 and one > 8 * other
    waves = np.abs(np.fft.fft(tables[-1][:, -1]))
    assert waves[100:157].max() < 1e-8 * waves.max()


def test_kuramoto_and_sivashinskys_equation_holds_for_its_table():
    u, h = kuramoto_sivashinsky_table(512, 400, 0.2), 0.2 / 100
    x, t = periodic_grid(0, 2 * np.pi, 0.2)
    assert np.abs(u[:, 0] - (np.cos(x) * (1 + np.sin(x)))[:, 0]).max() < 1e-12
    k = np.fft.fftfreq(256, 1 / 256)[:, None]

    def along(order):
        return np.fft.ifft((1j * k) ** order * np.fft.fft(u, axis=0), axis=0).real

    rate = (u[:, :-4] - 8 * u[:, 1:-3] + 8 * u[:, 3:-1] - u[:, 4:]) / (12 * h)
    terms = 100 / 16 * u * along(1) + 100 / 16**2 * along(2) + 100 / 16**4 * along(4)
    # Early, where 100 times tell the rate; differences of order 4.
    left = (rate + terms[:, 2:-2])[:, :20]
    assert np.abs(left).max() < 1e-3 * np.abs(rate).max()


def test_schroedingers_waves_converge_as_slowly_as_their_kink_allows():
    tables = [schroedinger_table(modes, 1000) for modes in (256, 512, 1024)]
    one, other = (distance(table, tables[-1]) for table in tables[:2])
    assert other < 1e-5 and 1.5 < one / other < 8
    mass = np.linalg.norm(tables[-1], axis=0)
    assert np.abs(mass / mass[0] - 1).max() < 1e-5
    x, _ = periodic_grid(-5, 5, np.pi / 2)
    assert np.abs(tables[-1][:, 0] - 2 / np.cosh(x[:, 0])).max() < 1e-14


def test_the_measurements_are_those_of_the_flows_that_they_say():
    table = measurements.kovasznay(50)
    x, y = (table[name] for name in "xy")
    m = 10 - np.sqrt(100 + 4 * np.pi**2)
    assert m**2 - 20 * m - 4 * np.pi**2 == pytest.approx(0, abs=1e-12)  # of the wake
    assert table["u"] == pytest.approx(1 - np.exp(m * x) * np.cos(2 * np.pi * y))
    found = np.loadtxt(measurements.FOLDER / "kovasznay.csv", delimiter=",", skiprows=1)
    every = measurements.kovasznay()
    assert np.abs(found - np.column_stack(list(every.values()))).max() < 1e-9
    found = np.loadtxt(measurements.FOLDER / "burgers.csv", delimiter=",", skiprows=1)
    every = measurements.burgers()
    assert found.shape == (2000, 3)
    assert np.abs(found - np.column_stack(list(every.values()))).max() < 1e-9
