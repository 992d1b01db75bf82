"""Setups: points by block and draw."""

import inspect

import numpy as np
import pytest

import pinn
from pinn import solving
from pinn.schema import fields_of
from pinn.schema.declared import REQUIRED
from pinn.training.experiment import Experiment

PROBLEM = pinn.Problem(
    pinn.Interval("x", 0, 1) * pinn.Time("t", 0, 1), ["u"], {"heat": "u_t - u_xx", "b": "u_x"},
    [pinn.Initial("u", 0), pinn.Dirichlet("u", 0)],
)  # fmt: skip


def points(seed=0, number=0, **counts):
    drawn = Experiment(PROBLEM, sampling=pinn.Sampling(**counts), seed=seed).draw_points(number)
    return {name: points.coordinates for name, points in drawn.items()}


def test_blocks_share_their_points_where_they_hold_at_the_same_places():
    drawn = points()
    assert {name: array.shape for name, array in drawn.items()} == {
        "heat": (2500, 2), "b": (2500, 2), "initial_u": (100, 2), "dirichlet_u": (200, 2),
    }  # fmt: skip
    np.testing.assert_array_equal(drawn["heat"], drawn["b"])
    assert not np.isin(drawn["heat"], drawn["initial_u"][:, 0]).any()


def test_another_count_of_one_block_leaves_the_others_alone():
    few, many = points(), points(initial=7)
    assert len(many["initial_u"]) == 7
    for name in ("heat", "b", "dirichlet_u"):
        np.testing.assert_array_equal(few[name], many[name])


def test_draws_and_seeds_differ_and_repeat():
    first = points()["heat"]
    np.testing.assert_array_equal(first, points()["heat"])
    for other in (points(number=1), points(seed=1)):
        assert not np.isin(first, other["heat"]).any()


def test_defaults_are_filled_in():
    setup = Experiment(PROBLEM)
    assert setup.model == pinn.AutoModel()
    assert setup.sampling == pinn.Sampling()
    assert setup.training == pinn.Auto()
    assert setup.weighting.blocks == {}
    assert (setup.precision, setup.device) == ("float64", "cpu")


def test_the_arguments_of_solve_are_the_fields_of_the_declaration():
    arguments = dict(inspect.signature(pinn.solve).parameters)
    for beside in ("callbacks", "start", "resume"):  # what no declaration holds
        del arguments[beside]
    fields = fields_of(Experiment)
    assert arguments.keys() == fields.keys()
    for name, argument in arguments.items():
        if argument.default is argument.empty:
            assert fields[name].default is REQUIRED
        elif argument.default is not None:  # None leaves it to the declaration
            assert argument.default == fields[name].default


class Seen(Exception):
    """Ends pinn.solve when the declaration is made."""


def test_arguments_that_are_left_out_are_those_of_the_declaration(monkeypatch):
    def see(problem, **given):
        raise Seen(given)

    monkeypatch.setattr(solving, "Experiment", see)
    with pytest.raises(Seen) as seen:
        pinn.solve(PROBLEM)
    fields = fields_of(Experiment)
    assert all(value == fields[name].default for name, value in seen.value.args[0].items())
