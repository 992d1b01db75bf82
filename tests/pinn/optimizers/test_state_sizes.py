"""What each stage says that its state takes, against the state that it leaves."""

import pytest

import pinn
from pinn.optimizers import STAGES
from pinn.training.experiment import Experiment

PROBLEM = pinn.Problem(
    pinn.Time("t", 0, 2), ["u"], {"decay": "u_t + u"}, [pinn.Initial("u", 1)]
)
SMALL = {
    "model": pinn.MLP(width=8, depth=1),
    "sampling": pinn.Sampling(interior=40, adaptive=None),
}


@pytest.mark.parametrize(
    "name", ["engd", "spring", "dsgnar", "gauss_newton", "levenberg_marquardt"]
)
def test_a_state_takes_about_as_much_as_its_stage_says(name):
    taken = []

    def look(record):
        taken.append(sum(array.nbytes for array in record.solver_state.values()))

    stage = STAGES[name](steps=35)
    pinn.solve(PROBLEM, **SMALL, training=[stage], callbacks=[look])
    said = stage.state_bytes(Experiment(PROBLEM, **SMALL).objective().layout)
    assert abs(max(taken) - said) <= 32
