"""The default stages: by size and by time."""

from types import SimpleNamespace

import numpy as np
import pytest

import pinn
from pinn.optimizers import LBFGS, Adam, SSBroyden
from pinn.training.defaults import MOST_DENSE, default_training


def test_small_models_get_the_dense_inverse_hessian_and_large_ones_lbfgs():
    for size, last in ((1, SSBroyden), (MOST_DENSE, SSBroyden), (MOST_DENSE + 1, LBFGS)):
        stages = default_training(size)
        assert [type(stage) for stage in stages] == [Adam, last]
        for stage in stages:
            assert stage.check(SimpleNamespace(size=size, rows=10, dtype=np.float64)) == []


def test_without_a_limit_in_time_no_stage_depends_on_the_clock():
    assert all(stage.seconds is None for stage in default_training(100))


def test_a_limit_in_time_leaves_the_most_of_it_to_the_last_stage():
    adam, last = default_training(100, 50.0)
    assert (adam.seconds, last.seconds) == (10.0, None)
    assert last.steps >= 10**6
    with pytest.raises(ValueError, match="seconds: expected a number > 0"):
        default_training(100, 0)


@pytest.mark.parametrize(("width", "last"), [(5, "ssbroyden"), (80, "lbfgs")])
def test_solve_chooses_by_the_size_of_the_model(width, last):
    problem = pinn.Problem(
        pinn.Time("t", 0, 1), ["u"], {"decay": "u_t + u"}, [pinn.Initial("u", 1)]
    )
    solution = pinn.solve(
        problem, pinn.MLP(width, 2 if width == 5 else 3), pinn.Sampling(interior=10),
        callbacks=[lambda record: True],
    )  # fmt: skip
    assert [stage.name for stage in solution.experiment.training] == ["adam", last]
