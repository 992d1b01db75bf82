"""The problems as DeepXDE states them are those of our configs: one reference satisfies both."""

import warnings
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from experiments.measure import problem as problem_of
from experiments.newcomer_references import allen_cahn
from experiments.peers.measurements import lorenz
from experiments.suite.references.lightning import l_shape_field
from experiments.versus_deepxde.curve import Stopwatch
from experiments.versus_deepxde.pair import BY_NAME, PAIRS
from experiments.versus_deepxde.setting import LBFGS, Adam
from experiments.versus_deepxde.yardstick import Yardstick

torch = pytest.importorskip("torch")
pytest.importorskip("deepxde")

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import deepxde as dde

    from experiments.versus_deepxde import theirs
    from experiments.versus_deepxde.settings import SETTINGS


# Steps of the differences: wide for a polynomial, and for a reference whose last digits are rough.
STEPS = {"f5_euler_beam": 0.05, "f16_l_shape": 0.02}


@pytest.fixture(autouse=True, scope="module")
def _in_double_precision():
    dde.config.set_default_float("float64")
    yield
    dde.config.set_default_float("float32")


@cache
def setting_of(name):
    """Return a problem as DeepXDE is told it, in double precision, without warnings of its own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return SETTINGS[name]()


def orbit(t):
    """Return r and p of Lotka and Volterra at any times, (n, 2)."""
    once, back = np.unique(t, return_inverse=True)
    found = solve_ivp(
        lambda _, s: (40 * s[0] - 160 * s[0] * s[1], 80 * s[0] * s[1] - 21.2 * s[1]),
        (0, 1.1), (0.5, 0.075), "DOP853", once, rtol=1e-13, atol=1e-14, max_step=2e-3,
    )  # fmt: skip
    return found.y.T[back]


def states(t):
    """Return Lorenz' a, b, c at any times, (n, 3)."""
    once, back = np.unique(t, return_inverse=True)
    found = lorenz(once)
    return np.stack([found[name] for name in "abc"], axis=1)[back]


def exact(name, stated):
    """Return points (n, d) -> unknowns (n, m): the reference of a problem, anywhere."""
    computed = {
        "f1_allen_cahn": lambda p: allen_cahn(511, 1000)(p[:, 0], p[:, 1])[:, None],
        "f13_lotka_volterra": lambda p: orbit(p[:, 0]),
        "f16_l_shape": lambda p: l_shape_field(30)(p[:, 0], -p[:, 1])[:, None],
        "i1_lorenz": lambda p: states(p[:, 0]),
    }
    if name in computed:
        return computed[name]

    def formula(points):
        found = stated.exact(dict(zip(stated.domain.coordinates, points.T, strict=True)))
        return np.stack([found[unknown] for unknown in stated.unknowns], axis=1)

    return formula


def waves(points):
    """Return something that no equation here asks for, (n, 1)."""
    return np.prod(np.sin(3 * points + 0.5), axis=1, keepdims=True)


class Known(torch.nn.Module):
    """A function as a network: its Taylor polynomial in each coordinate about each point.

    The derivatives, none of them mixed, are those of the polynomial through nine values at steps of
    `step`. Where no derivative is asked for, the values are exact.
    """

    def __init__(self, function, step, order):
        super().__init__()
        self.function, self.step, self.order = function, step, order

    def forward(self, x):
        about = x.detach()
        points = about.numpy()
        nodes = np.arange(-4, 5)
        to_taylor = np.linalg.inv(np.vander(nodes, increasing=True).astype(float))
        total = torch.as_tensor(self.function(points))
        if not self.order:
            return total
        for j in range(points.shape[1]):
            shifted = [points + k * self.step * np.eye(points.shape[1])[j] for k in nodes]
            values = self.function(np.concatenate(shifted)).reshape(9, len(points), -1)
            for k in range(1, self.order + 1):
                taylor = torch.as_tensor(np.tensordot(to_taylor[k], values, 1)) / self.step**k
                total = total + taylor * (x[:, j : j + 1] - about[:, j : j + 1]) ** k
        return total


def size(residuals):
    """Return the largest of the values of each residual."""
    residuals = residuals if isinstance(residuals, list) else [residuals]
    return [float(one.detach().abs().max()) for one in residuals]


def inside(stated, count=40, margin=0.06):
    """Return points of a domain that are not close to its bounds, nor to x = 0."""
    rng = np.random.default_rng(0)
    low, high = np.array(list(stated.domain.bounds.values())).T
    span = high - low
    points = low + span * (margin + (1 - 2 * margin) * rng.random((8 * count, len(low))))
    kept = np.abs(points[:, 0]) > 0.15
    around = [points + d * margin * span for d in np.vstack([np.eye(len(low)), -np.eye(len(low))])]
    for one in around:
        kept &= stated.domain.contains(one)
    return points[kept][:count]


def evaluated(function, points, step, order):
    """Return points as a tensor that remembers, and the function's network there."""
    x = torch.as_tensor(points).requires_grad_()
    dde.gradients.clear()
    return x, Known(function, step, order)(x)


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_our_reference_is_a_solution_of_what_deepxde_is_told(pair):
    stated, setting = problem_of(pair.row), setting_of(pair.name)
    for name, value in pair.row.truth.items():
        setting.coefficients[name].data.fill_(value)
    function = exact(pair.name, stated)
    step, order = STEPS.get(pair.name, 2e-3), 4 if pair.name == "f5_euler_beam" else 2

    def other(points):
        return function(points) + 0.1 * waves(points)

    points = inside(stated)
    assert len(points) >= 20
    found = size(setting.data.pde(*evaluated(function, points, step, order)))
    wrong = size(setting.data.pde(*evaluated(other, points, step, order)))
    assert all(a < 1e-5 * b for a, b in zip(found, wrong, strict=True)), (found, wrong)

    losses = len(found) + len(setting.data.bcs)
    assert setting.weights is None or callable(setting.weights) or len(setting.weights) == losses
    for condition in setting.data.bcs:
        on = np.asarray(condition.collocation_points(setting.data.train_x_all), dtype=np.float64)
        if pair.name == "f16_l_shape":  # it takes points of the inside near a side for some of it
            on = on[np.abs(on - np.round(on)).min(axis=1) < 1e-9]
        assert len(on) > (0 if len(stated.domain.coordinates) == 1 else 30)
        kind = type(condition).__name__
        needed = order if kind in ("OperatorBC", "NeumannBC") else 0
        errors = []
        for one in (function, other):
            inputs, outputs = evaluated(one, on, step, needed)
            errors += size(condition.error(on, inputs, outputs, 0, len(on)))
        right, wrong = errors
        # The states that Lorenz' coefficients are found from have ten digits.
        assert right < 1e-7 * wrong, (kind, right, wrong)


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_both_have_the_same_domain_and_unknowns(pair):
    stated, setting = problem_of(pair.row), setting_of(pair.name)
    assert setting.coordinates == tuple(stated.domain.coordinates)
    assert setting.unknowns == tuple(stated.unknowns)
    assert set(setting.coefficients) == set(pair.row.truth)
    points = setting.data.train_x_all
    assert setting.data.train_x.shape[1] == len(setting.coordinates)
    low, high = np.array(list(stated.domain.bounds.values())).T
    span = high - low
    # Hammersley's points and a boundary's come close to the bounds, but not all upon them.
    assert np.abs(points.min(axis=0) - low).max() < 0.05 * span.max()
    assert np.abs(points.max(axis=0) - high).max() < 0.05 * span.max()
    shrunk = 0.999999 * (points - (low + high) / 2) + (low + high) / 2
    if pair.name not in ("f8_helmholtz_hole", "f16_l_shape"):
        assert stated.domain.contains(shrunk).all()


def test_what_is_built_into_deepxdes_networks_is_what_our_conditions_say():
    x = torch.linspace(-1, 1, 9, dtype=torch.float64)[:, None]
    net = setting_of("f1_allen_cahn").net
    start = net(torch.cat([x, 0 * x], dim=1))
    assert torch.allclose(start, x**2 * torch.cos(np.pi * x), atol=1e-14)
    t = torch.rand(9, 1, dtype=torch.float64)
    for end in (-1, 1):
        assert torch.allclose(net(torch.cat([end + 0 * t, t], dim=1)), -1 + 0 * t, atol=1e-14)
    start = setting_of("f13_lotka_volterra").net(torch.zeros(1, 1, dtype=torch.float64))
    assert start[0].tolist() == [0.5, 0.075]


def test_every_problem_has_a_setting_of_deepxdes():
    assert [pair.name for pair in PAIRS] == list(SETTINGS)


def test_a_training_ends_with_its_steps_or_when_time_is_up():
    beam, row = setting_of("f5_euler_beam"), BY_NAME["f5_euler_beam"].row
    setting, watch = replace(beam, stages=[Adam(3), LBFGS(5)]), Stopwatch()
    done = theirs.Side(setting, Yardstick(row), watch, 60.0).train()
    assert [one["whole"] for one in done] == [True, True]
    # L-BFGS is asked again until it has taken them, in parts of as many.
    assert done[0]["steps"] == 3 and 5 <= done[1]["steps"] < 10
    assert len(watch.curve) >= 2 and all(error > 0 for _, error in watch.curve)
    done = theirs.Side(setting, Yardstick(row), Stopwatch(), 0.0).train()
    assert [(one["steps"], one["whole"]) for one in done] == [(1, False), (0, False)]
