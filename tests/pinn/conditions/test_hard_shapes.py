"""Hard values on shapes that are no boxes: exact on their boundary for any network."""

import numpy as np
import pytest

import autograd as T
import pinn
from pinn.conditions.hard import HardModel
from pinn.equations.jets import JetPlan, JetValues
from pinn.equations.nested import NestedPlan, NestedValues
from pinn.equations.values import coordinate_columns
from pinn.sampling import stream, uniform

DISK = pinn.Disk((0.2, -0.1), 1.5)
HOLE = pinn.Disk((0.1, 0), 0.3, name="hole")
SQUARE = pinn.Interval("x", -1, 1) * pinn.Interval("y", -1, 1)
CORNER = pinn.Polygon([(0, 0), (1, 0), (1, -1), (-1, -1), (-1, 1), (0, 1)])
TIME = pinn.Time("t", 0, 1)
HEIGHT = pinn.Interval("z", 0, 2)


def dirichlet(value, on=None):
    return pinn.Dirichlet("u", value, on=on, hard=True)


def initial(value, order=0):
    return pinn.Initial("u", value, order=order, hard=True)


# Name -> (domain, conditions, what holds on the boundary: on, value by points).
CASES = {
    "a disk": (DISK, [dirichlet("x*y")], [(None, lambda x, y: x * y)]),
    "an L": (CORNER, [dirichlet(0)], [(None, lambda x, y: 0 * x)]),
    "a hole": (SQUARE - HOLE, [dirichlet(2, "hole")], [("hole", lambda x, y: 2 + 0 * x)]),
    "a hole and its frame": (
        SQUARE - HOLE, [dirichlet("x", "hole"), dirichlet(1, ["x=-1", "x=1", "y=-1", "y=1"])],
        [("hole", lambda x, y: x), ("x=1", lambda x, y: 1 + 0 * x)],
    ),
    "a function": (
        DISK, [dirichlet(lambda s: s.sin(s.x) * s.y)], [(None, lambda x, y: np.sin(x) * y)],
    ),
    "half a disk": (DISK, [dirichlet("y", "x > 0.2")], [("x > 0.2", lambda x, y: y)]),
    "part of a face": (SQUARE, [dirichlet("y", "x > 0.5")], [("x > 0.5", lambda x, y: y)]),
    "in time": (
        DISK * TIME, [dirichlet("t + x"), initial("x*((x - 0.2)**2 + (y + 0.1)**2 - 1.25)")],
        [(None, lambda x, y, t: t + x)],
    ),
    "with a rate": (
        DISK * TIME, [dirichlet("sin(3*t)*x"), initial(0), initial("3*x", 1)],
        [(None, lambda x, y, t: np.sin(3 * t) * x)],
    ),
    "a cylinder": (
        DISK * HEIGHT, [dirichlet("x + z")], [(None, lambda x, y, z: x + z)],
    ),
    "the ends of a cylinder": (
        DISK * HEIGHT, [dirichlet("x + z", ["z=0", "z=2"])], [("z=0", lambda x, y, z: x)],
    ),
}  # fmt: skip


def problem_of(domain, conditions):
    return pinn.Problem(domain, ["u"], {"e": "u - u_x"}, conditions)


def random_model(problem, seed=0):
    rng = np.random.default_rng(seed)
    network = pinn.MLP(width=7, depth=2).build(problem.domain, ("u",), rng, T.float64)
    with T.no_grad():
        for parameter in network.parameters():
            noise = rng.uniform(-1, 1, tuple(parameter.shape))
            parameter.copy_(T.tensor(noise, dtype=T.float64))
    return HardModel(network, problem.ansatz)


def values(model, points):
    with T.no_grad():
        return model(T.tensor(points, dtype=T.float64)).numpy()[:, 0]


@pytest.mark.parametrize("name", CASES)
def test_values_hold_for_any_network(name):
    domain, conditions, asked = CASES[name]
    problem = problem_of(domain, conditions)
    assert [r.name for r in problem.residuals] == ["e"]
    models = [random_model(problem, seed) for seed in (0, 1)]
    for on, value in asked:
        points, _ = domain.sample_boundary(domain.select(on), 100, uniform, stream(0))
        for model in models:
            np.testing.assert_allclose(values(model, points), value(*points.T), atol=1e-12)
    inside = domain.sample_interior(50, uniform, stream(1))
    one, other = (values(model, inside) for model in models)
    assert np.median(np.abs(one - other)) > 1e-2


@pytest.mark.parametrize("name", ["in time", "with a rate"])
def test_the_start_holds_as_well(name):
    domain, conditions, _ = CASES[name]
    model = random_model(problem_of(domain, conditions))
    points = domain.sample_initial(60, uniform, stream(0))
    x, y, t = (T.tensor(column[:, None], requires_grad=True) for column in points.T)
    (u,) = model.forward_columns([x, y, t])
    x, y, _ = points.T
    if name == "in time":
        expected = x * ((x - 0.2) ** 2 + (y + 0.1) ** 2 - 1.25)
        np.testing.assert_allclose(u.detach().numpy()[:, 0], expected, atol=1e-12)
        return
    (rate,) = T.grad(u.sum(), t)
    np.testing.assert_allclose(u.detach().numpy()[:, 0], 0, atol=1e-12)
    np.testing.assert_allclose(rate.numpy()[:, 0], 3 * x, atol=1e-12)


@pytest.mark.parametrize("name", ["a disk", "an L", "a hole and its frame", "with a rate"])
def test_derivatives_by_jets_equal_nested_ones(name):
    domain, conditions, _ = CASES[name]
    problem = problem_of(domain, conditions)
    model = random_model(problem)
    points = domain.sample_interior(20, uniform, stream(2))
    leaves = [problem.scope.resolve(text) for text in ("u", "u_x", "u_xx", "u_xy")]
    found = []
    for kind, plan in ((NestedValues, NestedPlan), (JetValues, JetPlan)):
        columns = coordinate_columns(points, T.float64, "cpu")
        at = kind(model, problem.scope, columns, {}, plan(leaves, problem.scope))
        found.append([at[leaf].detach().numpy() for leaf in leaves])
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9 * np.abs(one).max())


@pytest.mark.parametrize(
    ("domain", "conditions", "message"),
    [
        (SQUARE - HOLE, [dirichlet(0), dirichlet(1, "hole")], "u is given twice on hole"),
        (CORNER, [dirichlet("x", "x > 0.5"), dirichlet("y", "x < 0.5")], "these parts meet and"),
        (DISK * TIME, [dirichlet(0), initial(1)],
         "'initial_u' and 'dirichlet_u' are both hard but disagree where they meet"),
        (DISK, [dirichlet("log(x - 5)")], "the value of 'dirichlet_u', which is hard, is"),
        (SQUARE, [dirichlet(0, "x > 0.5"), pinn.Neumann("u", 0, "x=-1", hard=True)],
         "cannot both be hard: beside .* a slope cannot be held exactly; leave out hard in 'neum"),
    ],
)  # fmt: skip
def test_what_cannot_be_exact_is_refused(domain, conditions, message):
    with pytest.raises(ValueError, match=message), np.errstate(all="ignore"):
        problem_of(domain, conditions)


def test_training_on_a_disk_finds_the_exact_solution(tmp_path):
    problem = pinn.Problem(
        pinn.Disk((0, 0), 1), ["u"], {"poisson": "laplacian(u) + 4"}, [dirichlet(0)],
        reference={"u": "1 - x**2 - y**2"},
    )  # fmt: skip
    model, sampling = pinn.MLP(width=8, depth=1), pinn.Sampling(interior=100)
    solution = pinn.solve(problem, model, sampling, [pinn.SSBroyden(60)])
    assert solution.report.rel_l2["u"] < 1e-3 and solution.report.warnings == ()
    solution.save(tmp_path / "s.npz")
    again = pinn.load(tmp_path / "s.npz")
    np.testing.assert_array_equal(
        again.evaluate(x=0.3, y=0.2)["u"], solution.evaluate(x=0.3, y=0.2)["u"]
    )


# ---- how an unknown leaves its value


LEFT = [pinn.Dirichlet("u", "2 + y", on="x=-1", hard=True, power="s"), dirichlet("2 + y", "y=1")]
POWERS = {
    "a disk": (DISK, [pinn.Dirichlet("u", 1, hard=True, power=0.9)], [1.7, -0.1], 0.9),
    "a line": (
        pinn.Interval("x", -1, 2), [pinn.Dirichlet("u", "x", hard=True, power="s/2")], [2.0], 0.35
    ),
    "faces": (SQUARE, LEFT, [-1.0, 0.3], 0.7),
    "twice": (DISK * TIME, [pinn.Dirichlet("u", 1, hard=True, power=2)], [0.2, 1.4, 0.5], 2.0),
}


@pytest.mark.parametrize("name", POWERS)
def test_u_leaves_its_value_with_the_power_of_the_distance(name):
    domain, conditions, place, power = POWERS[name]
    problem = pinn.Problem(
        domain, ["u"], {"e": "u"}, conditions, constants={"s": 0.7}
    )
    inside = np.array(domain.from_unit(np.full((1, len(place)), 0.47)))[0]
    if len(place) == 3:
        inside[2] = place[2]
    steps = np.array([0.0, 1e-6, 1e-7])[:, None]
    points = np.array(place) + steps * (inside - place)
    model = random_model(problem)
    held = conditions[0].value
    x, y = points[:, 0], points[:, -1]
    value = {"x": x, "2 + y": 2 + y}.get(held, 1.0)
    gaps = values(model, points) - value
    assert abs(gaps[0]) < 1e-12
    assert np.log10(gaps[1] / gaps[2]) == pytest.approx(power, abs=2e-3)


def test_a_power_without_meaning_is_refused():
    with pytest.raises(ValueError, match="expected a number > 0"):
        pinn.Dirichlet("u", 0, hard=True, power=-1)
    for power in ("x", "-1", "s - 1"):
        with pytest.raises(ValueError, match="power: expected a number > 0, or a text of const"):
            pinn.Problem(DISK, ["u"], {"e": "u"}, constants={"s": 0.7}, conditions=[
                pinn.Dirichlet("u", 0, hard=True, power=power)])
    line = pinn.Interval("x", 0, 1)
    with pytest.raises(ValueError, match="has a power and 'neumann_u_x_high' of 'u' a slope in x"):
        pinn.Problem(line, ["u"], {"e": "u"}, [
            pinn.Dirichlet("u", 0, on="x=0", hard=True, power=2),
            pinn.Neumann("u", 0, on="x=1", hard=True)])
