"""A recorded step of a network is as short as one of a network that is written out by hand."""

from __future__ import annotations

import numpy as np
import pytest

import autograd as T
import pinn
from autograd.plan import optimize, trace
from pinn.equations.jets import JetPlan, JetValues
from pinn.equations.leaves import Derivative
from pinn.equations.scope import Scope
from pinn.equations.values import coordinate_columns

DOMAIN = pinn.Interval("x", -1, 1) * pinn.Time("t", 0, 1)
SCOPE = Scope(("u",), ("x", "t"), ("x",), {})
LEAVES = [Derivative("u", tuple(of)) for of in ("", "t", "x", "xx")]
N, WIDTH = 500, 16
linear = T.nn.functional.linear


def program(module):
    """The recorded loss of Burgers' equation and its gradient."""
    points = np.random.default_rng(0).uniform(0, 1, (N, 2))
    columns = coordinate_columns(points, T.float64, "cpu")
    parameters = list(module.parameters())

    def step(x, t, *_):
        values = JetValues(module, SCOPE, [x, t], {}, JetPlan(LEAVES, SCOPE))
        u, u_t, u_x, u_xx = (values[leaf] for leaf in LEAVES)
        residual = u_t + u * u_x - 0.01 * u_xx
        loss = (residual * residual).mean()
        return [loss, *T.grad(loss, parameters)]

    recorded, _ = trace(step, [*columns, *parameters])
    return optimize(recorded)


class ByHand(T.nn.Module):
    """A network as one writes it: the matrices of a model, and a function of them."""

    def __init__(self, built, forward, centre=(0.0, 0.5), half=(1.0, 0.5)):
        super().__init__()
        self.arrays = dict(built.named_parameters()) | dict(built.named_buffers())
        for name, parameter in built.named_parameters():
            self.register_parameter(name.replace(".", "_"), parameter)
        self.scale = T.tensor(1 / np.array(half))
        self.shift = T.tensor(-np.array(centre) / np.array(half))
        self.run = forward

    def layer(self, name, z):
        return linear(z, self.arrays[f"weight{name}"], self.arrays[f"bias{name}"])

    def forward(self, points):
        return self.run(self, points * self.scale + self.shift)


def mlp(net, z):
    return net.layer(2, T.tanh(net.layer(1, T.tanh(net.layer(0, z)))))


def modified(net, z):
    u, v = T.tanh(net.layer("_u", z)), T.tanh(net.layer("_v", z))
    h = T.tanh(net.layer(0, z))
    for k in (1, 2):
        h = u + T.tanh(net.layer(k, h)) * (v - u)
    return net.layer(3, h)


def pirate(net, z):
    phases = linear(z, net.arrays["inputs.embedding0.frequencies"])
    z = T.cat([T.cos(phases), T.sin(phases)], dim=1)
    u, v = T.tanh(net.layer("_u", z)), T.tanh(net.layer("_v", z))
    f = v + T.tanh(net.layer("1a", z)) * (u - v)
    g = v + T.tanh(net.layer("1b", f)) * (u - v)
    h = T.tanh(net.layer("1c", g))
    return net.layer("_last", z + net.arrays["alpha1"] * (h - z))


def residual(net, z):
    z = net.layer(0, z)
    return net.layer(2, z + T.tanh(net.layer("1b", T.tanh(net.layer("1a", z)))))


def siren(net, z):
    return net.layer(2, T.sin(30 * net.layer(1, T.sin(30 * net.layer(0, z)))))


CASES = {
    "mlp": (pinn.MLP(WIDTH, 2), mlp),
    "modified": (pinn.ModifiedMLP(WIDTH, 2), modified),
    "residual": (pinn.ResidualMLP(WIDTH, 1), residual),
    "pirate": (pinn.PirateNet(WIDTH, 1), pirate),
}


@pytest.mark.parametrize("model, by_hand", CASES.values(), ids=CASES)
def test_a_network_has_no_more_operations_than_one_written_by_hand(model, by_hand):
    built = model.build(DOMAIN, ["u"], np.random.default_rng(0), T.float64)
    ours, theirs = program(built), program(ByHand(built, by_hand))
    # scaled coordinates are columns of their own where something else comes first
    assert len(ours.instructions) <= len(theirs.instructions) + (4 if model.embeddings() else 0)
    assert ours.work()[1] <= 1.01 * theirs.work()[1]


def test_what_multiplies_a_layer_multiplies_its_matrix():
    """30 (W z + b) is (30 W) z + 30 b: nothing more to do at the points, forth and back."""
    built = pinn.Siren(WIDTH, 2).build(DOMAIN, ["u"], np.random.default_rng(0), T.float64)
    ours, theirs = program(built), program(ByHand(built, siren))
    assert ours.work()[1] < theirs.work()[1]
    adaptive, plain = (
        program(pinn.MLP(WIDTH, 2, adaptive=slope).build(
            DOMAIN, ["u"], np.random.default_rng(0), T.float64
        )).work()[1]
        for slope in ("neuron", None)
    )
    assert adaptive < plain + 20 * 2 * WIDTH * WIDTH  # as a few operations on each matrix


def test_a_separable_network_is_cheaper_than_its_bodies_on_all_coordinates():
    body = pinn.MLP(WIDTH, 2)
    separable = pinn.Separable(body, rank=WIDTH).build(
        DOMAIN, ["u"], np.random.default_rng(0), T.float64
    )
    wide = pinn.MLP([2 * WIDTH, 2 * WIDTH, 2 * WIDTH]).build(
        DOMAIN, ["u"], np.random.default_rng(0), T.float64
    )
    assert program(separable).work()[1] < 0.75 * program(wide).work()[1]
