"""A small run to log.

The tools are optional: `pip install -e ".[test,tracking]"` and `pytest tests/pinn/tracking` run all
of these tests; those of a tool that is not installed are skipped.
"""

import pytest

import pinn


@pytest.fixture
def numbers_of_a_line():
    return {
        "loss", "losses/decay", "losses/initial_u", "fresh_loss", "rel_l2/u", "lr", "wall_s",
        "stage", "parameters/k",
    }


@pytest.fixture
def train():
    """A function that trains a small network by two stages of six and three steps."""

    def train(*callbacks, stages=None, **more):
        problem = pinn.Problem(
            pinn.Time("t", 0, 1), ["u"], {"decay": "u_t + k*u"},
            [
                pinn.Initial("u", 1.0),
                pinn.Data("u", {"t": [0.5, 1], "u": [0.61, 0.37]}, sigma=0.01),
            ],
            parameters={"k": 1.0}, reference={"u": "exp(-t)"}, name="decay",
        )
        return pinn.solve(
            problem, pinn.MLP(width=4, depth=1), pinn.Sampling(interior=40),
            stages or [pinn.Adam(6), pinn.LevenbergMarquardt(3)], callbacks=callbacks, **more,
        )

    return train
