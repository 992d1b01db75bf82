"""Hard conditions of any data, on any faces, for any length of time: they hold to rounding."""

import itertools

import numpy as np
import pytest

import autograd as T
import pinn
from pinn.conditions import Condition, Exact
from pinn.conditions.hard import HardModel
from pinn.geometry import Face


def model_of(problem, seed=0):
    """A network inside the ansatz, its numbers random."""
    rng = np.random.default_rng(seed)
    network = pinn.MLP(width=9, depth=2).build(problem.domain, problem.unknowns, rng, T.float64)
    with T.no_grad():
        for parameter in network.parameters():
            noise = rng.uniform(-1.5, 1.5, tuple(parameter.shape))
            parameter.copy_(T.tensor(noise, dtype=T.float64))
    return HardModel(network, problem.ansatz)


def on_face(domain, coordinate, value, n=60):
    rng = np.random.default_rng(7)
    low, high = np.array(list(domain.bounds.values())).T
    points = low + (high - low) * rng.random((n, len(low)))
    if len(low) < 6:
        points = np.concatenate([points, list(itertools.product(*zip(low, high, strict=True)))])
    points[:, domain.coordinates.index(coordinate)] = value
    return points


def values_and_rates(model, points, time):
    """u, and its rate of change by the tape (which knows nothing of jets)."""
    columns = [T.tensor(points[:, j : j + 1], requires_grad=True) for j in range(points.shape[1])]
    u = T.cat(model.forward_columns(columns), dim=1)
    rates = []
    for k in range(u.shape[1]):
        (rate,) = T.grad(u[:, k].sum(), columns[time], retain_graph=True, allow_unused=True)
        rates.append(np.zeros(len(points)) if rate is None else rate.numpy()[:, 0])
    return u.detach().numpy(), np.stack(rates, axis=1)


class Wave:
    """g = sum of a sin(k.x + p) exp(-c (t - t0)) + b: as text, as a function, and in numpy."""

    def __init__(self, rng, names, t0, length):
        self.names, self.t0 = names, t0
        self.rows = [
            (rng.normal(), rng.uniform(-3, 3, len(names)), rng.uniform(0, 6), rng.normal() / length)
            for _ in range(2)
        ]
        self.constant = rng.normal()

    def text(self, rate=False):
        parts = [] if rate else [repr(float(self.constant))]
        for a, k, p, c in self.rows:
            phase = " + ".join(f"{w!r}*{n}" for w, n in zip(k.tolist(), self.names, strict=True))
            phase = f"{phase} + {p!r}" if phase else repr(p)
            size = -a * c if rate else a
            parts.append(f"{size!r}*sin({phase})*exp(-{c!r}*(t - {self.t0!r}))")
        return " + ".join(part.replace("--", "+") for part in parts)

    def function(self, s):
        total = self.constant
        for a, k, p, c in self.rows:
            phase = sum((w * getattr(s, n) for w, n in zip(k, self.names, strict=True)), p)
            total = total + a * s.sin(phase) * s.exp(-c * (s.t - self.t0))
        return total

    def values(self, points, rate=False):
        x, t = points[:, :-1], points[:, -1]
        return (0 if rate else self.constant) + sum(
            a * (-c if rate else 1) * np.sin(x @ k + p) * np.exp(-c * (t - self.t0))
            for a, k, p, c in self.rows
        )


@pytest.mark.parametrize("seed", range(24))
def test_random_conditions_hold_for_random_networks(seed):
    rng = np.random.default_rng(seed)
    dimensions = seed % 4
    t0, length = float(rng.normal()), float(10 ** rng.uniform(-3, 3))
    names = [f"x{i}" for i in range(dimensions)]
    intervals = [
        pinn.Interval(n, low := float(rng.normal()), low + float(rng.uniform(0.3, 5)))
        for n in names
    ]
    domain = pinn.Box(*intervals, pinn.Time("t", t0, t0 + length))
    waves = {unknown: Wave(rng, names, t0, length) for unknown in ("u", "v")[: 1 + seed % 2]}
    conditions, held = [], []
    for unknown, wave in waves.items():
        order = int(rng.integers(0, 2))
        conditions.append(pinn.Initial(unknown, wave.text(), hard=True))
        if order:
            rate = wave.text(rate=True)
            conditions.append(pinn.Initial(unknown, rate, order=1, hard=True))
        held.append((unknown, Face("t", "low", t0), order))
        faces = [face for face in domain.parts if rng.random() < 0.7]
        if dimensions and rng.random() < 0.3:
            conditions.append(pinn.Dirichlet(unknown, wave.text(), hard=True))
            faces = domain.parts
        else:
            for face in faces:
                value = wave.function if rng.random() < 0.5 else wave.text()
                on = f"{face.coordinate}={face.value!r}"
                conditions.append(pinn.Dirichlet(unknown, value, on=on, hard=True))
        held += [(unknown, face, 0) for face in faces]
    problem = pinn.Problem(
        domain, list(waves), {f"eq_{u}": f"{u}_t" if len(u) == 1 else u for u in waves}, conditions
    )
    model = model_of(problem, seed)
    for unknown, face, order in held:
        points = on_face(domain, face.coordinate, face.value)
        j = problem.unknowns.index(unknown)
        values, rates = values_and_rates(model, points, dimensions)
        exact = waves[unknown].values(points)
        scale = 1 + np.abs(exact).max()
        np.testing.assert_allclose(values[:, j], exact, rtol=0, atol=1e-12 * scale)
        if order:
            exact = waves[unknown].values(points, rate=True)
            scale = 1 / length + np.abs(exact).max()
            np.testing.assert_allclose(rates[:, j], exact, rtol=0, atol=1e-12 * scale)


@pytest.mark.parametrize("length", [1e-9, 0.01, 1.0, 4 * np.pi, 40.0, 1e9])
def test_a_network_of_size_one_reaches_sizes_of_one_at_any_time(length):
    """A stays within tau*v0/2 of u0 and B below one: neither grows with time."""
    problem = pinn.Problem(
        pinn.Time("t", 0, length), ["u"], {"eq": "u_tt + u"},
        [pinn.Initial("u", 2, hard=True), pinn.Initial("u", 1 / length, order=1, hard=True)],
    )  # fmt: skip
    t = np.linspace(0, length, 400)[:, None]

    class Number(T.nn.Module):
        def __init__(self, value):
            super().__init__()
            self.value = value

        def forward(self, points):
            return T.full((points.shape[0], 1), self.value, dtype=T.float64)

    a, one = (HardModel(Number(n), problem.ansatz)(T.tensor(t)).numpy() for n in (0.0, 1.0))
    assert np.abs(a - 2).max() < 0.11
    b = (one - a)[:, 0]
    assert b[0] == 0 and np.all(np.diff(b) > 0) and 0.95 < b[-1] <= 1
    assert b[len(b) // 4] > 0.5


@pytest.mark.parametrize("seed", [0, 1])
def test_two_periods_of_an_oscillator_are_found(seed):
    problem = pinn.Problem(
        pinn.Time("t", 0, 4 * np.pi), ["u"], {"eq": "u_tt + u"},
        [pinn.Initial("u", 0, hard=True), pinn.Initial("u", 1, order=1, hard=True)],
        reference={"u": "sin(t)"},
    )  # fmt: skip
    solution = pinn.solve(
        problem, seed=seed, model=pinn.MLP(width=10, depth=2),
        sampling=pinn.Sampling(interior=150, redraw=None),
        training=[pinn.Adam(100, 5e-3), pinn.SSBroyden(200)],
    )  # fmt: skip
    assert solution.report.rel_l2["u"] < 0.02


# ------------------------------------------------------------------- conditions from elsewhere


class Ends(Condition):
    """Something at the end of time, here or there: not one of the shipped conditions."""

    hard = True

    def __init__(self, *given):
        self._given = given

    def label(self, domain):
        return "ends"

    def residuals(self, domain, scope):
        return []

    def exact(self, domain):
        face = Face(domain.time, "high", domain.bounds[domain.time][1])
        return [Exact("ends", **{"face": face, **given}) for given in self._given]


SLAB = pinn.Interval("x", 0, 1) * pinn.Time("t", 0, 3)
EQUATIONS = {"one": "u_t - v", "two": "v_t + u"}


def test_a_condition_from_elsewhere_holds_through_what_it_says():
    ends = Ends(
        {"unknown": "u", "value": "sin(x)"}, {"unknown": "v", "value": lambda s: s.x**2}
    )
    problem = pinn.Problem(SLAB, ["u", "v"], EQUATIONS, [ends])
    points = on_face(SLAB, "t", 3.0)
    x = points[:, 0]
    values, _ = values_and_rates(model_of(problem), points, 1)
    np.testing.assert_allclose(values, np.stack([np.sin(x), x**2], axis=1), rtol=0, atol=1e-14)
    assert [residual.name for residual in problem.residuals] == ["one", "two"]


def test_a_rate_of_change_at_the_end_of_time_holds():
    ends = Ends(
        {"unknown": "u", "value": lambda s: s.x},
        {"unknown": "u", "value": lambda s: s.x**2, "order": 1},
    )
    problem = pinn.Problem(SLAB, ["u", "v"], EQUATIONS, [ends])
    points = on_face(SLAB, "t", 3.0)
    values, rates = values_and_rates(model_of(problem), points, 1)
    np.testing.assert_allclose(values[:, 0], points[:, 0], rtol=0, atol=1e-14)
    np.testing.assert_allclose(rates[:, 0], points[:, 0] ** 2, rtol=0, atol=1e-13)


@pytest.mark.parametrize(
    "given, message",
    [
        ({"unknown": "w", "value": "x"}, "'ends': expected one of the unknowns u, v, got 'w'"),
        ({"unknown": "u", "value": "t", "order": 1, "face": Face("x", "low", 0.0)},
         "order 1 at x=0; only a value, or a rate of change at an end of time"),
        ({"unknown": "u", "value": "x", "order": 2}, "order 2 at t=3; only a value"),
    ],
)  # fmt: skip
def test_what_a_condition_from_elsewhere_cannot_ask_is_refused(given, message):
    with pytest.raises(ValueError, match=message):
        pinn.Problem(SLAB, ["u", "v"], EQUATIONS, [Ends(given)])


def test_both_ends_of_time_are_refused():
    conditions = [pinn.Initial("u", "x", hard=True), Ends({"unknown": "u", "value": "x"})]
    with pytest.raises(ValueError, match="'initial_u' and 'ends' of 'u' hold at both ends"):
        pinn.Problem(SLAB, ["u", "v"], EQUATIONS, conditions)


# --------------------------------------------------------------- functions without derivatives


def wall(value):
    domain = pinn.Interval("x", 0, 1) * pinn.Time("t", 0, 2)
    return pinn.Problem(
        domain, ["u"], {"eq": "u_t - u_xx"}, [pinn.Initial("u", value, hard=True)]
    )


@pytest.mark.parametrize(
    "value, message",
    [
        (lambda s: T.tensor(np.interp(s.x.detach().numpy(), [0, 0.5, 1], [0, 1, 3])),
         "'initial_u' cannot be hard: .* changes with x at the rate 4, .* derivative 0; compute"),
        (lambda s: s.sin(s.x).detach(), "autograd finds the derivative 0"),
        (lambda s: s.x + T.tensor(np.sin(s.x.detach().numpy())), "finds the derivative 1;"),
        (lambda s: T.tensor(np.sin(s.x.numpy())), "derivatives are asked for .*give it as text"),
        (lambda s: np.sin(s.x.detach().numpy()), "got ndarray; compute it with the functions"),
    ],
)  # fmt: skip
def test_a_function_whose_values_have_no_derivatives_is_refused(value, message):
    with pytest.raises(ValueError, match=message):
        wall(value)


@pytest.mark.parametrize(
    "value",
    [
        lambda s: 1.5,
        lambda s: T.tensor(2.0, dtype=T.float64),
        lambda s: s.abs(s.x - 0.3) + s.where(s.x < 0.7, 0.0, 1.0),
        lambda s: 1e8 + s.sin(300 * s.x),
        lambda s: s.sqrt(s.x * (1 - s.x)),
        lambda s: 1e-12 * s.exp(-(((s.x - 0.5) / 0.01) ** 2)),
    ],
)
def test_a_function_with_derivatives_is_taken(value):
    assert wall(value).ansatz is not None


# -------------------------------------------------------------------- many coordinates


def cube(count, *conditions):
    box = pinn.Box(*[pinn.Interval(f"x{i}", 0, 1) for i in range(count)])
    return pinn.Problem(box, ["u"], {"poisson": "laplacian(u)"}, conditions)


TEN = ("+".join(f"x{i}*x{(i + 1) % 10}" for i in range(10)), lambda s: sum(
    getattr(s, f"x{i}") * getattr(s, f"x{(i + 1) % 10}") for i in range(10)
))  # fmt: skip


@pytest.mark.parametrize("value", TEN)
def test_one_expression_for_all_faces_holds_in_ten_coordinates(value):
    problem = cube(10, pinn.Dirichlet("u", value, hard=True))
    for face in problem.domain.parts:
        points = on_face(problem.domain, face.coordinate, face.value)
        exact = (points * np.roll(points, -1, axis=1)).sum(axis=1)
        with T.no_grad():
            found = model_of(problem)(T.tensor(points)).numpy()[:, 0]
        np.testing.assert_allclose(found, exact, rtol=0, atol=1e-13)


@pytest.mark.parametrize("count", [1, 3, 10])
def test_the_network_counts_as_much_in_many_coordinates_as_in_one(count):
    problem = cube(count, pinn.Dirichlet("u", 0, hard=True))
    points = np.random.default_rng(0).random((20_000, count))

    class One(T.nn.Module):
        def forward(self, points):
            return T.ones((points.shape[0], 1), dtype=T.float64)

    b = HardModel(One(), problem.ansatz)(T.tensor(points)).numpy()
    assert np.sqrt((b**2).mean()) == pytest.approx(np.sqrt(8 / 15), rel=0.1)


def test_the_start_joins_one_expression_for_all_faces():
    """u0 differs from the walls' expression inside, and both hold."""
    box = pinn.Box(*[pinn.Interval(f"x{i}", 0, 1) for i in range(9)], pinn.Time("t", 0, 2))
    walls = "(x0 + x1**2)*cos(t)"
    bump = "*".join(f"x{i}*(1 - x{i})" for i in range(9))
    problem = pinn.Problem(
        box, ["u"], {"heat": "u_t - laplacian(u)"},
        [pinn.Dirichlet("u", walls, hard=True),
         pinn.Initial("u", f"x0 + x1**2 + 1e4*{bump}", hard=True)],
    )  # fmt: skip
    model = model_of(problem)
    for coordinate, value in (("x3", 1.0), ("x0", 0.0), ("t", 0.0)):
        points = on_face(box, coordinate, value)
        x, t = points[:, :-1], points[:, -1]
        exact = (x[:, 0] + x[:, 1] ** 2) * np.cos(t)
        if coordinate == "t":
            exact = exact + 1e4 * (x * (1 - x)).prod(axis=1)
        with T.no_grad():
            found = model(T.tensor(points)).numpy()[:, 0]
        np.testing.assert_allclose(found, exact, rtol=0, atol=1e-13)


def test_expressions_that_may_not_be_smooth_inside_are_refused_in_many_coordinates():
    lid = "where(x0 < 1, 0, x1 + x2 + x3)"
    with pytest.raises(ValueError, match="more than 4000 operations.*one expression of smooth"):
        cube(10, pinn.Dirichlet("u", lid + "+".join(f"+x{i}**2" for i in range(10)), hard=True))


# ---------------------------------------------------------------------- lengths beyond float64


@pytest.mark.parametrize("high", [1e150, 1e-100])
def test_lengths_that_float64_has_no_room_for_are_refused(high):
    said = "'dirichlet_u' cannot be hard on 0.0 <= x <= .*leave the range of float64; measure x in"
    with pytest.raises(ValueError, match=said):
        pinn.Problem(
            pinn.Interval("x", 0, high), ["u"], {"eq": "u_xx"},
            [pinn.Dirichlet("u", 0, hard=True)],
        )  # fmt: skip


def test_lengths_whose_product_leaves_float64_are_refused():
    box = pinn.Box(*[pinn.Interval(f"x{i}", 0, 1e-60) for i in range(4)])
    with pytest.raises(ValueError, match="product of the lengths .* in other units"):
        pinn.Problem(box, ["u"], {"eq": "laplacian(u)"}, [pinn.Dirichlet("u", 0, hard=True)])
