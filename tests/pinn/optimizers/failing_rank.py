"""A program that the tests start as ranks with a strict device each: `failing_rank.py SOLVER`.

The device of rank 1 fails, so that what the others have asked for never arrives. Rank 0 prints how
each of them ended, as JSON.
"""

import dataclasses
import itertools
import json
import sys

from mpi4py import MPI

import pinn
from autograd.devices import registered
from autograd.mpi import world
from autograd.nccl import Gpus
from autograd.ranks import RankFailed
from autograd.strict import nccl, strict_backend
from pinn.training.experiment import Experiment

PROBLEM = pinn.Problem(
    domain=pinn.Interval("x", 0, 1), unknowns=["u"], equations={"decay": "u_x + u"},
    conditions=[pinn.Dirichlet("u", 1, on="x=0", hard=True)],
)  # fmt: skip
SOLVERS = {
    "adam": pinn.Adam(6), "ssbroyden": pinn.SSBroyden(6),
    "levenberg_marquardt": pinn.LevenbergMarquardt(6),
}  # fmt: skip
WELL = 2  # steps before the device fails, which are those of a burst
DONE, NOT_READY, ILLEGAL_ADDRESS = 0, 600, 700

ranks = world()
status = DONE
usual, complete = strict_backend(kernels=True, nccl=nccl), Gpus.complete


def to_host(array):
    """A copy as the status of the device has it."""
    if status == ILLEGAL_ADDRESS:
        raise ArithmeticError("an illegal address")
    assert status == DONE, "this copy waits for ever"
    return usual.to_host(array)


def asked_for(*arguments):
    """What is asked for from now on: the device of rank 1 fails, and the others wait for it."""
    global status
    complete(*arguments)
    status = ILLEGAL_ADDRESS if ranks.number == 1 else NOT_READY


def trained(stage):
    """Take steps, in which the device fails after the first of them."""
    objective = Experiment(PROBLEM, pinn.MLP(3, 1), device="cuda", executor="ranks").objective()
    objective.steps_ahead = lambda: WELL
    steps = stage.run(objective, objective.theta)
    assert len(list(itertools.islice(steps, WELL))) == WELL
    Gpus.complete = asked_for
    list(steps)


def ended(stage):
    """How that ended."""
    device = dataclasses.replace(usual, to_host=to_host)
    device.xp.cuda.places[0] = f"bus {ranks.number}"
    device.xp.cuda.runtime.streamQuery = lambda stream: status
    with registered(device):
        try:
            with ranks.together():
                trained(stage)
        except (RankFailed, ArithmeticError, AssertionError) as error:
            return f"{type(error).__name__}: {error}"
    return "well"


if __name__ == "__main__":
    found = MPI.COMM_WORLD.gather(ended(SOLVERS[sys.argv[1]]))
    if ranks.number == 0:
        print(json.dumps(found))
