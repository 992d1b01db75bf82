"""DeepONets: products of what is seen of the point and of the families."""

import numpy as np
import pytest

import autograd as T
import pinn
from pinn.equations.jets import JetPlan, JetValues
from pinn.equations.leaves import Derivative
from pinn.equations.nested import NestedPlan, NestedValues
from pinn.equations.scope import Scope
from pinn.equations.values import coordinate_columns

DOMAIN = (
    pinn.Interval("x", 0, 1) * pinn.Time("t", 0, 2)
    * pinn.Family("a", 1, 3) * pinn.Family("b", -4, 4, spacing="normal")
)  # fmt: skip
SMALL = pinn.MLP(width=4, depth=2)
KINDS = {"linear": pinn.DeepONet(SMALL, None), "general": pinn.DeepONet(SMALL, SMALL, rank=3)}

every = pytest.mark.parametrize("network", KINDS.values(), ids=KINDS)


def build(network, seed=0):
    return network.build(DOMAIN, ["u", "v"], np.random.default_rng(seed), T.float64)


def points(n=9):
    return np.random.default_rng(1).uniform([0, 0, 1, -4], [1, 2, 3, 4], (n, 4))


@every
def test_it_is_the_sum_that_it_says(network):
    module, at = build(network), points()
    found = module(T.tensor(at)).detach().numpy()
    trunk = module.trunk(T.tensor(at[:, :2])).detach().numpy().reshape(len(at), 2, -1)
    factors = np.column_stack([np.ones(len(at)), at[:, 2] - 2, at[:, 3]])
    expected = np.einsum("nuk,nk->nu", trunk[:, :, :3], factors)
    if network.branch is not None:
        own = module.branch(T.tensor(at[:, 2:])).detach().numpy().reshape(len(at), 2, 3)
        expected += np.einsum("nuk,nuk->nu", trunk[:, :, 3:], own)
    assert found == pytest.approx(expected, rel=1e-12)


def test_without_a_branch_it_is_linear_in_the_families():
    module, at = build(KINDS["linear"]), points()
    moved = [at + [0, 0, 0, shift] for shift in (0.0, 1.0, 2.0)]
    first, second, third = (module(T.tensor(one)).detach().numpy() for one in moved)
    assert third - second == pytest.approx(second - first, rel=1e-10)


@every
def test_its_size_is_known_before_it_is_made(network):
    made = sum(p.numel() for p in build(network).parameters())
    assert network.parameter_count(DOMAIN, ["u", "v"]) == made


@every
def test_jets_and_nested_derivatives_agree(network):
    scope = Scope(("u", "v"), DOMAIN.coordinates, ("x",), {})
    leaves = [Derivative(u, tuple(of)) for u in "uv" for of in ("", "x", "t", "xx", "xt", "a")]
    module, columns = build(network), coordinate_columns(points(), T.float64, "cpu")
    nested = NestedValues(module, scope, columns, {}, NestedPlan(leaves, scope))
    jets = JetValues(module, scope, columns, {}, JetPlan(leaves, scope))
    for leaf in leaves:
        expected = nested[leaf].detach().numpy()
        assert jets[leaf].detach().numpy() == pytest.approx(expected, rel=1e-10, abs=1e-12)


def test_a_scale_is_that_of_every_output_and_an_offset_of_the_first():
    scaled = KINDS["general"].scaled_as(
        pinn.MLP(scale={"u": 2}, offset={"u": 5}), DOMAIN, ["u", "v"]
    )
    at = T.tensor(points())
    plain, moved = (build(one)(at).detach().numpy() for one in (KINDS["general"], scaled))
    assert moved[:, 0] == pytest.approx(5 + 2 * plain[:, 0], rel=1e-12)
    assert moved[:, 1] == pytest.approx(plain[:, 1], rel=1e-12)


def test_a_problem_without_families_is_refused():
    with pytest.raises(ValueError, match="expected a function space or a family"):
        KINDS["general"].check(pinn.Interval("x", 0, 1), ["u"])


def test_it_is_saved_with_its_parts(tmp_path):
    problem = pinn.Problem(
        domain=pinn.Interval("x", 0, 1), unknowns=["u"], families={"a": [1, 2]},
        equations={"first": "u_x - a"}, conditions=[pinn.Dirichlet("u", 0, on="x=0")],
    )  # fmt: skip
    solution = pinn.solve(problem, KINDS["general"], training=[pinn.Adam(2)], error_bars=False)
    solution.save(tmp_path / "s.npz")
    again = pinn.load(tmp_path / "s.npz")
    assert again.experiment.model == KINDS["general"]
    at = {"x": 0.3, "a": 1.5}
    assert np.array_equal(again.evaluate(**at)["u"], solution.evaluate(**at)["u"])
