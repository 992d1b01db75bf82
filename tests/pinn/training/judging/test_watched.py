"""What is remembered of the losses that a step has tried."""

import numpy as np

import pinn
from pinn.training.experiment import Experiment
from pinn.training.judging.watched import Known, Watched


def watched():
    problem = pinn.Problem(pinn.Time("t", 0, 1), ["u"], {"e": "u_t + u"}, [pinn.Initial("u", 1)])
    objective = Experiment(problem, pinn.MLP(width=3, depth=1), pinn.Sampling(interior=9))
    return Watched(objective.objective())


def test_the_lowest_of_a_step_is_lower_than_its_start_at_the_present_points():
    function = watched()
    theta = np.zeros(function.size)
    start = Known(theta, 1e-9, {})  # as it was at other points
    assert function.lower_than(start) is None
    function.values([theta])
    assert function.lower_than(start) is None  # it is no lower than itself
    better = theta.copy()
    better[-1] = 0.5
    (loss,) = function.values([better])
    function.values([theta - 3.0])
    found = function.lower_than(start)
    assert found.loss == loss and found.theta.tobytes() == better.tobytes()
    function.forget()
    assert function.lower_than(start) is None
