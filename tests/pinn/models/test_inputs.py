"""What networks see: features, periodic and Fourier embeddings, and what comes of them."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import autograd as T
import pinn
from autograd.jets import choose_channels, sweep
from pinn.config import ConfigError, load
from pinn.equations.jets import JetPlan, JetValues
from pinn.equations.leaves import Derivative
from pinn.equations.scope import Scope
from pinn.equations.values import coordinate_columns
from pinn.models.inputs import InputPlan, Inputs
from pinn.models.parts import Maker
from pinn.training.experiment import Experiment

DOMAIN = pinn.Interval("x", -1, 3) * pinn.Time("t", 0, 0.5)
POINTS = np.random.default_rng(1).uniform([-1, 0], [3, 0.5], (20, 2))
X, TIME = POINTS.T
ZX, ZT = (X - 1) / 2, (TIME - 0.25) / 0.25


def seen(features=(), *embeddings, domain=DOMAIN, seed=0):
    maker = Maker(np.random.default_rng(seed), T.float64, "cpu")
    module = Inputs(InputPlan(domain, features, embeddings), maker)
    return module, module(T.tensor(POINTS)).detach().numpy()


def agrees(got, *columns):
    np.testing.assert_allclose(got, np.stack(columns, axis=1), rtol=1e-13, atol=1e-14)


def test_coordinates_go_from_minus_one_to_one():
    agrees(seen()[1], ZX, ZT)


def test_features_stand_for_the_coordinates():
    agrees(seen(["sin(x)", "t*x"])[1], np.sin(X), TIME * X)
    agrees(seen(["t", "x", "x/(1 + t)"])[1], ZT, ZX, X / (1 + TIME))


def test_a_periodic_coordinate_becomes_waves():
    phase = np.pi * ZX
    agrees(seen((), pinn.PeriodicEmbedding("x"))[1], np.cos(phase), np.sin(phase), ZT)
    phase = 2 * np.pi * (X - 1) / 3
    agrees(
        seen((), pinn.PeriodicEmbedding("x", period=3, harmonics=2))[1],
        np.cos(phase), np.sin(phase), np.cos(2 * phase), np.sin(2 * phase), ZT,
    )  # fmt: skip


def test_both_coordinates_may_be_periodic():
    got = seen((), pinn.PeriodicEmbedding("t"), pinn.PeriodicEmbedding("x"))[1]
    angles = np.pi * ZX, np.pi * ZT
    agrees(got, *(wave(angle) for angle in angles for wave in (np.cos, np.sin)))


def turned(center, radius, *columns):
    """The columns of the inversion in a circle, and the harmonic function of the distance."""
    away = [column - at for column, at in zip(columns, center, strict=True)]
    r = np.sqrt(sum(one**2 for one in away))
    return [radius * one / r**2 for one in away], r / radius


def test_an_inversion_is_seen_beside_the_coordinates():
    domain = pinn.Interval("x", -1, 3) * pinn.Interval("y", 0, 0.5) - pinn.Disk((0.5, 0.2), 0.1)
    got = seen((), pinn.InversionEmbedding((0.5, 0.2), 0.1), domain=domain)[1]
    inverse, r = turned((0.5, 0.2), 0.1, X, TIME)
    farthest = np.hypot(2.5, 0.3) / 0.1
    agrees(got, ZX, ZT, *inverse, 2 * np.log(r) / np.log(farthest) - 1)


def test_an_inversion_in_space_takes_the_coordinates_that_are_named():
    w, *cube = (pinn.Interval(name, -1, 2) for name in "wxyz")
    domain = w * (pinn.Box(*cube) - pinn.Ball((0.5, -0.2, 0.0), 0.3))
    points = np.random.default_rng(0).uniform(-1, 2, (20, 4))
    embedding = pinn.InversionEmbedding((0.0, 0.5, -0.2), 0.3, coordinates=["z", "x", "y"])
    maker = Maker(np.random.default_rng(0), T.float64, "cpu")
    module = Inputs(InputPlan(domain, (), (embedding,)), maker)
    got = module(T.tensor(points)).detach().numpy()
    w, x, y, z = points.T
    inverse, r = turned((0.0, 0.5, -0.2), 0.3, z, x, y)
    least = 0.3 / np.sqrt(4 + 1.5**2 + 2.2**2)
    agrees(got[:, 4:], *inverse, 2 * (1 / r - least) / (1 - least) - 1)


@pytest.mark.parametrize("center", [(0.1, -0.3), (0.1, -0.3, 0.2)])
def test_what_is_seen_of_a_hole_stays_within_one_and_is_harmonic(center):
    """The distance in any dimension, the inversion in a plane."""
    names = list("xyz"[: len(center)])
    box = pinn.Box(*(pinn.Interval(name, -1, 1) for name in names))
    domain = box - pinn.Ball(center, 0.25, names=names)
    embedding = pinn.InversionEmbedding(center, 0.25)
    maker = Maker(np.random.default_rng(0), T.float64, "cpu")
    module = Inputs(InputPlan(domain, (), (embedding,)), maker)
    points = np.random.default_rng(0).uniform(-1, 1, (500, len(center)))
    points = points[np.linalg.norm(points - center, axis=1) > 0.25]
    columns = [T.tensor(column[:, None], requires_grad=True) for column in points.T]
    values = module.of_columns(columns)[:, len(center) :]
    assert values.abs().max().item() <= 1 + 1e-12
    for k in range(values.shape[1] - (3 if len(center) == 3 else 0), 0, -1):
        slopes = T.grad(values[:, -k].sum(), columns, create_graph=True)
        seconds = [
            T.grad(slope.sum(), column, retain_graph=True)[0]
            for slope, column in zip(slopes, columns, strict=True)
        ]
        largest = max(one.abs().max().item() for one in seconds)
        assert sum(seconds).abs().max().item() < 1e-12 * largest


ELL = pinn.Polygon([(0, 0), (1, 0), (1, -1), (-1, -1), (-1, 1), (0, 1)])


def of_corner(embedding, points, dtype=T.float64, domain=ELL):
    module = Inputs(
        InputPlan(domain, (), (embedding,)), Maker(np.random.default_rng(0), dtype, "cpu")
    )
    columns = [T.tensor(c[:, None], dtype=dtype, requires_grad=True) for c in points.T]
    return columns, module.of_columns(columns)[:, 2:]


def test_a_corner_is_seen_as_a_root_of_the_plane():
    """Far from its pole: (z/|c|)^e about the bisector, whose cut is behind the corner."""
    points = np.random.default_rng(0).uniform(-1, 1, (400, 2))
    points = points[ELL.contains(points, -1e-6)]
    embedding = pinn.CornerEmbedding((0, 0), (1e9, 1e9), 0.6, of="flow")
    _, got = of_corner(embedding, points)
    x, y = points.T
    z = (x + 1j * y) / np.sqrt(2) * np.exp(-1j * 5 * np.pi / 4)
    root, turned = z**0.6, abs(z) ** 0.6 * (z / abs(z)) ** -1.4
    level = 1e-2 / np.sqrt(2)
    pressure = np.hypot(abs(z), level) ** -0.4 * (z / abs(z)) ** -0.4
    expected = [part for one in (root, turned, pressure) for part in (one.real, one.imag)]
    np.testing.assert_allclose(got.detach().numpy(), np.stack(expected, axis=1), atol=2e-7)


@pytest.mark.parametrize("of", ["scalar", "vector"])
def test_a_logarithm_is_what_a_root_changes_by_with_its_exponent(of):
    points = np.random.default_rng(0).uniform(0.01, 1, (50, 2))
    square = pinn.Interval("x", 0, 1) * pinn.Interval("y", 0, 1)

    def seen_with(e, log=False):
        embedding = pinn.CornerEmbedding((0, 0), (-900, -900), e, of=of, log=log)
        return of_corner(embedding, points, domain=square)[1].detach().numpy()

    slopes = (seen_with(2 + 1e-4) - seen_with(2 - 1e-4)) / 2e-4
    np.testing.assert_allclose(seen_with(2, log=True), slopes, atol=1e-7)
    x, y = points.T
    z = (x + 1j * y) * np.exp(-1j * np.pi / 4) / np.sqrt(2)  # about the bisector
    found = z**2 * np.log(z)
    np.testing.assert_allclose(seen_with(2, log=True)[:, 0], found.real, atol=5e-3)
    np.testing.assert_allclose(seen_with(2, log=True)[:, 1], found.imag, atol=5e-3)


@pytest.mark.parametrize("of", ["scalar", "vector", "flow"])
def test_corners_that_follow_each_other_are_seen_as_each_alone(of):
    log = of != "flow"
    domain = pinn.Interval("x", -1, 1) * pinn.Interval("y", -1, 1)
    given = [
        pinn.CornerEmbedding((1, 1), (9, 9), 0.6, of=of),
        pinn.CornerEmbedding((-1, 1), (-9, 9), 0.7, of=of),
        pinn.CornerEmbedding((1, -1), (9, -9), 2.0, of=of, log=log),
        pinn.CornerEmbedding((-1, -1), (-9, -9), 1.0, ("x", "y"), of, log=log),
    ]
    points = np.random.default_rng(0).uniform(-1, 1, (20, 2))

    def seen_by(embeddings):
        maker = Maker(np.random.default_rng(0), T.float64, "cpu")
        inputs = Inputs(InputPlan(domain, (), embeddings), maker)
        return inputs(T.tensor(points)).detach().numpy()[:, 2:]

    together = seen_by(given)
    alone = np.concatenate([seen_by([one]) for one in given], axis=1)
    np.testing.assert_allclose(together, alone, rtol=1e-13, atol=1e-15)


def test_what_is_seen_of_a_corner_is_harmonic_and_smooth_around_a_hole():
    """Also where the bisector leaves the hole on its other side."""
    x, y = (pinn.Interval(name, -1, 1) for name in "xy")
    domain = x * y - pinn.Interval("x", -0.3, 0.3) * pinn.Interval("y", -0.2, 0.2)
    corner = domain.inward_corners[0]
    embedding = pinn.CornerEmbedding(corner.at, corner.pole)
    points = np.random.default_rng(0).uniform(-1, 1, (400, 2))
    points = points[domain.contains(points, -1e-3)]
    columns, got = of_corner(embedding, points, domain=domain)
    for k in range(2):
        slopes = T.grad(got[:, k].sum(), columns, create_graph=True)
        seconds = [
            T.grad(slope.sum(), column, retain_graph=True)[0]
            for slope, column in zip(slopes, columns, strict=True)
        ]
        largest = max(one.abs().max().item() for one in seconds)
        assert sum(seconds).abs().max().item() < 1e-11 * largest
    away = np.array(corner.at) - corner.pole
    angles = math.atan2(*-away[::-1]) + np.array([-1e-9, 1e-9])
    sides = np.array(corner.at) + 1.0 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    _, (one, other) = of_corner(embedding, sides, domain=domain)
    np.testing.assert_allclose(one.detach().numpy(), other.detach().numpy(), atol=1e-8)


@pytest.mark.parametrize("dtype", [T.float64, T.float32])
def test_in_a_corner_itself_all_derivatives_are_numbers(dtype):
    embedding = pinn.CornerEmbedding((0, 0), (3.0, 3.0), of="flow")
    columns, got = of_corner(embedding, np.zeros((1, 2)), dtype)
    assert abs(got.detach().numpy()[0, :2]).max() < 1e-3
    for k in range(6):
        (slope,) = T.grad(got[:, k].sum(), [columns[0]], create_graph=True)
        (second,) = T.grad(slope.sum(), [columns[1]], retain_graph=True)
        assert np.isfinite([slope.item(), second.item()]).all()


def test_fourier_features():
    """Tancik et al. 2020: [cos(2 pi B v), sin(2 pi B v)] of v in [0, 1], up to the phase."""
    module, got = seen((), pinn.FourierEmbedding(5, 2.0))
    b = module.embedding0.frequencies.detach().numpy()
    phases = np.stack([ZX, ZT], axis=1) @ b.T
    np.testing.assert_allclose(got, np.concatenate([np.cos(phases), np.sin(phases)], 1), atol=1e-13)
    assert b.shape == (5, 2) and not list(module.parameters())


def test_fourier_frequencies_have_the_scales_asked_for():
    module, _ = seen((), pinn.FourierEmbedding(4000, [1.0, 10.0]))
    b = module.embedding0.frequencies.detach().numpy() / np.pi
    assert b.shape == (8000, 2)
    assert b[:4000].std() == pytest.approx(1, rel=0.03)
    assert b[4000:].std() == pytest.approx(10, rel=0.03)


def test_fourier_after_periodic_after_features():
    features = ["x", "t", "x*t"]
    module, got = seen(features, pinn.PeriodicEmbedding("x"), pinn.FourierEmbedding(3))
    b = module.embedding1.frequencies.detach().numpy()
    z = np.stack([np.cos(np.pi * ZX), np.sin(np.pi * ZX), ZT, X * TIME], axis=1)
    np.testing.assert_allclose(got, np.hstack([np.cos(z @ b.T), np.sin(z @ b.T)]), atol=1e-13)


def test_an_expression_means_the_values_of_a_logarithmic_family():
    problem = pinn.Problem(
        pinn.Interval("x", 0, 1), ["u"], {"one": "u_x - nu"}, [pinn.Dirichlet("u", 0, on="x=0")],
        families=[pinn.Family("nu", 0.01, 1, spacing="log")],
    )  # fmt: skip
    model = pinn.MLP(width=3, depth=1, features=["x", "nu", "x/nu"])
    module = Experiment(problem, model).initial_parameters().module
    at = np.array([[0.5, 0.01], [0.25, 0.1], [1.0, 1.0]])
    got = []
    run = module.network._run
    module.network._run = lambda parts, z: got.append(z.detach().numpy()) or run(parts, z)
    module(T.tensor(at))
    expected = [[0, -1, 50], [-0.5, 0, 2.5], [1, 1, 1]]
    np.testing.assert_allclose(got[0], expected, rtol=1e-12, atol=1e-12)


def test_what_is_made_of_x_alone_carries_no_derivative_in_t():
    module, _ = seen(["sin(x)", "x", "t"], pinn.PeriodicEmbedding("t"))
    columns = [T.tensor(POINTS[:, j : j + 1]) for j in range(2)]
    found = sweep(
        lambda *c: module._features(c), columns, choose_channels([(0, 0), (1, 1), (0, 1)])
    )
    assert [set(channels) - {()} for channels in found] == [{(0,), (0, 0)}, {(0,)}, {(1,)}]


SCOPE = Scope(("u",), ("x", "t"), ("x",), {})


@pytest.mark.parametrize("model", [
    pinn.MLP(10, 2, embedding=pinn.PeriodicEmbedding("x", harmonics=3)),
    pinn.PirateNet(10, 1, embedding=[pinn.PeriodicEmbedding("x")]),
    pinn.MLP(10, 2, features=["sin(pi*x/2)", "cos(pi*x/2)", "t"]),
], ids=["waves", "pirate", "features"])  # fmt: skip
def test_a_periodic_network_is_periodic_with_all_its_derivatives(model):
    module = model.build(DOMAIN, ["u"], np.random.default_rng(0), T.float64)
    time = np.linspace(0, 0.5, 7)
    leaves = [Derivative("u", ("x",) * order) for order in range(5)]
    found = []
    for x in (-1.0, 3.0):
        at = np.stack([np.full(7, x), time], axis=1)
        columns = coordinate_columns(at, T.float64, "cpu")
        values = JetValues(module, SCOPE, columns, {}, JetPlan(leaves, SCOPE))
        found.append([values[leaf].detach().numpy() for leaf in leaves])
    for low, high in zip(*found, strict=True):
        assert np.abs(low - high).max() <= 1e-13 * np.abs(low).max()


def test_a_trained_period_finds_the_period_of_its_data():
    """u = cos(2 pi x / 3): the network starts with the period 4."""
    domain = pinn.Interval("x", 0, 4)
    problem = pinn.Problem(domain, ["u"], {"known": "u - cos(2*pi*x/3)"})
    model = pinn.MLP(5, 1, embedding=pinn.PeriodicEmbedding("x", trainable=True))
    solution = pinn.solve(
        problem, model, pinn.Sampling(interior=60, redraw=None, adaptive=None),
        [pinn.Adam(steps=100, learning_rate=0.02), pinn.SSBroyden(steps=150)],
    )  # fmt: skip
    theta = solution.experiment.initial_parameters().named(solution.theta)
    period = 4 / theta["model.inputs.embedding0.factor"]
    assert period == pytest.approx(3, rel=1e-3)


def test_fourier_features_find_what_a_plain_network_does_not():
    """sin(2 pi x) + 0.1 sin(50 pi x), of which a plain network finds the slow part only."""
    domain = pinn.Interval("x", 0, 1)
    problem = pinn.Problem(domain, ["u"], {"known": "u - sin(2*pi*x) - 0.1*sin(50*pi*x)"})
    x = np.linspace(0, 1, 401)
    expected = np.sin(2 * np.pi * x) + 0.1 * np.sin(50 * np.pi * x)
    errors = []
    for embedding in ((), pinn.FourierEmbedding(20, [1.0, 20.0])):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("pinn.solving.unsolved", lambda *residual: None)
            solution = pinn.solve(
                problem, pinn.MLP(20, 2, embedding=embedding),
                pinn.Sampling(interior=200, method="grid", redraw=None, adaptive=None),
                [pinn.Adam(steps=400, learning_rate=5e-3)],
            )  # fmt: skip
        error = solution.evaluate(x=x)["u"] - expected
        errors.append(np.linalg.norm(error) / np.linalg.norm(expected))
    plain, fourier = errors
    assert plain > 0.09  # 0.1 / sqrt(1.01) is the fast part
    assert fourier < 0.02


@pytest.mark.parametrize(
    ("features", "embeddings", "message"),
    [
        (["x", "t", "sin(y)"], (), "features.2: .*unknown name 'y'"),
        (["sin(t)"], (), r"features: none of them has x, .* such as \[x, sin\(t\)\]"),
        (["x", "t +"], (), "features.1: "),
        ((), [pinn.PeriodicEmbedding("z")], "embedding.0.coordinate: .* x, t, got 'z'"),
        (
            (), [pinn.FourierEmbedding(), pinn.PeriodicEmbedding("x")],
            "embedding.1.coordinate: expected one of the coordinates that come in, none, got 'x'",
        ),
        (
            ["x*t"], [pinn.PeriodicEmbedding("x")],
            "embedding.0.coordinate: expected one of the coordinates that come in, none",
        ),
        (
            (), [pinn.CornerEmbedding((0, 0), (0, 1))],
            "embedding.0.coordinates: expected two coordinates of space, x, got 't'",
        ),
        (
            (), [pinn.CornerEmbedding((0, 0), (0, 1), coordinates=["x", "y"])],
            "embedding.0.coordinates.1: expected some of the .* x, t, got 'y'",
        ),
        (
            (), [pinn.InversionEmbedding((0, 0.1), 0.1, coordinates=["x", "y"])],
            "embedding.0.coordinates.1: expected some of the .* x, t, got 'y'",
        ),
        (
            (), [pinn.InversionEmbedding((0, 0.1, 0), 0.1)],
            "embedding.0.center: expected 2 numbers, one for each of the .* x, t, got 3",
        ),
        (
            (), [pinn.InversionEmbedding((0, 0.1), 4.0)],
            "embedding.0.radius: expected less than the distance to the farthest corner",
        ),
        (
            ["t", "x"], [pinn.InversionEmbedding((0.1, 2), 0.5)],
            r"embedding.0.center: expected a point in a hole, got \[0.1, 2\] in the dom.* no hole",
        ),
        (
            (), [pinn.InversionEmbedding((0, 0.1), 0.5)],
            r"embedding.0.center: expected a point in a hole, got \[0, 0.1\] in the dom.* no hole",
        ),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused_at_its_key(features, embeddings, message):
    model = pinn.MLP(features=features, embedding=embeddings)
    problem = pinn.Problem(DOMAIN, ["u"], {"heat": "u_t - u_xx"})
    with pytest.raises(ValueError, match=message) as raised:
        pinn.solve(problem, model)
    assert str(raised.value).startswith("solve: model.")


CONFIG = """\
problem:
  domain: {x: [-1, 3], t: {time: [0, 0.5]}}
  unknowns: [u]
  equations: {heat: u_t - u_xx}
model:
  mlp:
    width: [40, 40, 20]
    activation: sin
    adaptive: neuron
    features: [x, t, sin(t)]
    embedding: [periodic: {coordinate: x}, fourier: {count: 8, scale: [1, 5]}]
    factorization: {mean: 0.5}
    scale: {u: 10}
    offset: {u: 300}
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "case.yaml"
    path.write_text(CONFIG)
    return path


def test_a_config_says_all_of_it(file):
    expected = pinn.MLP(
        [40, 40, 20], activation="sin", adaptive="neuron", features=["x", "t", "sin(t)"],
        embedding=[pinn.PeriodicEmbedding("x"), pinn.FourierEmbedding(8, [1, 5])],
        factorization=pinn.Factorization(0.5), scale={"u": 10}, offset={"u": 300},
    )  # fmt: skip
    config = load(file)
    assert config.experiment.model == expected
    file.write_text(config.text())
    assert load(file).experiment.model == expected


def test_a_config_says_where_holes_are(file):
    written = "[inversion: {center: [-1.5, 0.2], radius: 0.1, coordinates: [x, t]}]"
    file.write_text(CONFIG[: CONFIG.index("  mlp:")] + f"  mlp: {{embedding: {written}}}\n")
    config = load(file)
    seen = pinn.InversionEmbedding((-1.5, 0.2), 0.1, coordinates=["x", "t"])
    assert config.experiment.model == pinn.MLP(embedding=seen)
    file.write_text(config.text())
    assert load(file).experiment.model == pinn.MLP(embedding=seen)


@pytest.mark.parametrize(("given", "message"), [
    (((0.1,), 0.1), "center: expected the numbers of a point, two or more, such as .*, got 1"),
    (((0.1, 0.2), 0.0), "radius: expected a number > 0"),
    (((0.1, 0.2), 0.1, ["x"]), "coordinates: expected 2 names, one for each number"),
    (((0.1, 0.2), 0.1, ["x", "x"]), "coordinates: expected different names, got x, x"),
])  # fmt: skip
def test_an_inversion_that_is_none_is_refused(given, message):
    with pytest.raises(ValueError, match=message):
        pinn.InversionEmbedding(*given)


@pytest.mark.parametrize(("given", "message"), [
    (((0, 0), (0, 0)), "pole: expected another point than the corner"),
    (((0, 0), (1, 1), 0.0), "exponent: expected a number > 0"),
    (((0, 0), (1, 1), 0.5, ("x", "x")), "coordinates: expected different names, got x, x"),
    (((0, 0), (1, 1), 0.5, None, "tensor"), "of: expected one of"),
    (((0, 0), (1, 1), 0.5, None, "flow", True), 'of: expected "scalar" or "vector" where there is'),
])  # fmt: skip
def test_a_corner_that_is_none_is_refused(given, message):
    with pytest.raises(ValueError, match=message):
        pinn.CornerEmbedding(*given)


@pytest.mark.parametrize("pole", [(-0.5, -0.5), (-1000, -1000)])
def test_a_pole_that_is_reached_through_the_domain_is_refused(pole):
    problem = pinn.Problem(ELL, ["u"], {"e": "laplacian(u)"})
    message = (
        r"embedding.0.pole: expected a point that is reached from the corner \[0, 0\] outside of "
        r"the domain, got .*; it turns inward at \[0, 0\] with pole"
    )
    with pytest.raises(ValueError, match=message):
        pinn.solve(problem, pinn.MLP(embedding=pinn.CornerEmbedding((0, 0), pole)))


def test_a_config_says_where_corners_are(file):
    written = "[corner: {corner: [3, 0.5], pole: [5, 2], exponent: 0.5, of: vector}]"
    text = CONFIG[: CONFIG.index("  mlp:")].replace("t: {time: [0, 0.5]}", "t: [0, 0.5]")
    file.write_text(text + f"  mlp: {{embedding: {written}}}\n")
    config = load(file)
    seen = pinn.CornerEmbedding((3, 0.5), (5, 2), 0.5, of="vector")
    assert config.experiment.model == pinn.MLP(embedding=seen)
    file.write_text(config.text())
    assert load(file).experiment.model == pinn.MLP(embedding=seen)


@pytest.mark.parametrize("written", ["fourier", "{fourier: {}}", "[fourier]", "[fourier: {}]"])
def test_one_embedding_needs_no_list(file, written):
    text = CONFIG[: CONFIG.index("  mlp:")] + f"  siren: {{embedding: {written}}}\n"
    file.write_text(text)
    assert load(file).experiment.model == pinn.Siren(embedding=pinn.FourierEmbedding())


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ("sin(t)]", "sin(tt)]", "10: model.mlp.features.2: "),
        ("coordinate: x", "coordinate: y", "11: model.mlp.embedding.0.periodic.coordinate: exp"),
        ("fourier: {c", "furier: {c", "11: model.mlp.embedding.1.furier: expected one embedding"),
        ("count: 8", "count: 0", "11: model.mlp.embedding.1.fourier.count: expected a whole num"),
        ("mean: 0.5", "men: 0.5", "12: model.mlp.factorization.men: unknown key; valid keys: mean"),
        ("{u: 10}", "{v: 10}", "13: model.mlp.scale: expected some of the unknowns u, got 'v'"),
        ("{u: 10}", "{u: -1}", "13: model.mlp.scale.u: expected a number > 0, got '-1'"),
        ("{u: 10}", "10", "13: model.mlp.scale: expected data or a mapping from unknowns to"),
        ("[40, 40, 20]", "[40, x]", "7: model.mlp.width.1: expected a whole number >= 1"),
        ("[40, 40, 20]", "many", "7: model.mlp.width: expected a whole number >= 1, got 'many'"),
    ],
)
def test_a_mistake_is_told_at_its_line_and_key(file, right, wrong, message):
    assert CONFIG.count(right) == 1
    file.write_text(CONFIG.replace(right, wrong))
    with pytest.raises(ConfigError) as raised:
        load(file)
    assert str(raised.value).splitlines()[0].startswith(f"{file}:{message}")


def decay():
    return pinn.Problem(
        domain=pinn.Interval("x", 0, 1) * pinn.Time("t", 0, 1),
        unknowns=["u"],
        constants={"nu": -0.25, "k": 3.0},
        equations={"heat": "u_t + nu*u_xx"},
        conditions=[pinn.Initial("u", "sin(k*x)")],
    )


def test_features_know_the_constants_of_the_problem():
    written = ["sin(x) - 0.25*t", "exp((-0.25)**2*t - 3)"]
    named = ["sin(x) + nu*t", "exp(nu**2*t - k)"]
    models = [Experiment(decay(), pinn.MLP(3, 1, features=texts)) for texts in (written, named)]
    theta = [one.initial_parameters() for one in models]
    points = T.tensor(np.random.default_rng(0).random((5, 2)))
    of_numbers, of_names = (one.module(points).detach().numpy() for one in theta)
    np.testing.assert_allclose(of_names, of_numbers, rtol=1e-15)
    each = pinn.PerUnknown(networks={"u": pinn.MLP(3, 1, features=named)})
    assert Experiment(decay(), each).model.networks["u"] == models[1].model


def test_features_of_a_field_know_them_too():
    texts = ["x - k", "t*nu"]
    field = pinn.Field("a", ["x", "t"], model=pinn.MLP(3, 1, features=texts))
    problem = replace(decay(), fields=(field,), equations={"heat": "u_t + a*u_xx"})
    (settled,) = Experiment(problem, pinn.MLP(3, 1)).problem.fields
    assert settled.model.features == ("x - 3", "t*-0.25")


def test_a_feature_that_means_nothing_is_told_what_there_is():
    with pytest.raises(ValueError, match=r"features.1: unknown name 'mu'; .* x, t, nu, k"):
        Experiment(decay(), pinn.MLP(3, 1, features=["x", "t*mu"]))
