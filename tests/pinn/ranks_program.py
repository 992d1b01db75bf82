"""A program that the tests start as ranks: it prints what runs came to, as JSON.

    ranks_program.py EXECUTOR [RUN ...]
    ranks_program.py alone RUN
"""

import hashlib
import json
import sys
import warnings

import pinn
from autograd.mpi import ranks_of
from autograd.strict import nccl, strict_cuda
from pinn.training import ahead

BURGERS = pinn.Problem(
    domain=pinn.Interval("x", -1, 1) * pinn.Time("t", 0, 1), unknowns=["u"],
    equations={"burgers": "u_t + u*u_x - 0.1*u_xx"},
    conditions=[pinn.Initial("u", "-sin(pi*x)"), pinn.Dirichlet("u", 0.0)],
)  # fmt: skip
USUAL = {
    "problem": BURGERS, "model": pinn.MLP(6, 2), "sampling": pinn.Sampling(interior=130),
}  # fmt: skip
RUNS = {
    "first order, adaptive points": {
        "training": [pinn.Adam(steps=6)],
        "sampling": pinn.Sampling(interior=130, adaptive="rad", redraw=2),
    },
    "a part of the points, weights that change": {
        "training": [pinn.Adam(steps=6)],
        "sampling": pinn.Sampling(interior=130, batch=70),
        "weighting": pinn.GradNorm(every=2),
    },
    "single precision, quasi-Newton": {"training": [pinn.LBFGS(steps=5)], "precision": "float32"},
    "a dense Hessian": {"training": [pinn.SSBroyden(steps=5)]},
    "rows and their products": {"training": [pinn.NNCG(steps=2)]},
    "a Jacobian": {
        "training": [pinn.LevenbergMarquardt(steps=3)], "sampling": pinn.Sampling(interior=2200),
    },
    "its kernel": {"training": [pinn.ENGD(steps=2)], "sampling": pinn.Sampling(interior=30)},
    "random features": {
        "model": pinn.RandomFeatures(80), "training": [pinn.GaussNewton(steps=2)],
        "sampling": pinn.Sampling(interior=2200),
    },
    "its error estimated": {
        "training": [pinn.LevenbergMarquardt(steps=12)], "sampling": pinn.Sampling(interior=2200),
    },
    "all by rule": {
        "problem": pinn.Problem(
            domain=pinn.Interval("x", 0, 1), unknowns=["u"], equations={"decay": "u_x + u"},
            conditions=[pinn.Dirichlet("u", 1, on="x=0")],
        ),
        "model": "auto",
    },
    "windows": {
        "model": pinn.Windows(2, pinn.MLP(6, 1)), "training": [pinn.Adam(steps=3)],
    },
}  # fmt: skip
USUAL_THERE = {
    "problem": pinn.Problem(
        domain=pinn.Interval("x", 0, 1), unknowns=["u"], equations={"decay": "u_x + u"},
        conditions=[pinn.Dirichlet("u", 1, on="x=0", hard=True)],
    ),
    "model": pinn.MLP(3, 1), "device": "cuda", "error_bars": False,
}  # fmt: skip
THERE = {
    "a GPU each": {"training": [pinn.Adam(steps=3), pinn.LevenbergMarquardt(steps=2)]},
    "parts of the points there": {
        "training": [pinn.Adam(steps=6)],
        "sampling": pinn.Sampling(interior=130, batch=70, redraw=4, adaptive=None),
    },
    "products of the Hessian there": {"training": [pinn.NNCG(steps=2, rank=4, products=3)]},
    "a Jacobian that is sketched there": {"training": [pinn.DSGNAR(steps=2, radii=4)]},
}  # fmt: skip
THERE = {name: USUAL_THERE | run for name, run in THERE.items()}


def outcome(name, executor):
    """What a run came to: a digest of its numbers and of its history, and its error estimate."""
    solution = pinn.solve(**{**USUAL, **{**RUNS, **THERE}[name]}, executor=executor)
    report = solution.report
    digest = hashlib.sha256(solution.theta.tobytes()).hexdigest()
    estimate = report.error_estimate and {**report.error_estimate.as_dict(), "seconds": None}
    return [digest, report.loss, report.fresh_loss, report.steps, repr(estimate)]


def alone(name):
    """What rank 0 finds by itself of a run of all ranks: its error estimate, as a digest."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pinn.ProblemWarning)
        solution = pinn.solve(**{**USUAL, **RUNS[name]}, error_bars=False, executor="ranks")
    if ranks_of("ranks").number == 0:
        estimate = solution.error_estimate()
        print(json.dumps(repr({**estimate.as_dict(), "seconds": None})))


def main(executor, *names):
    """Print the outcomes of some runs, or of all, on rank 0."""
    ranks = ranks_of(executor)
    with warnings.catch_warnings(), strict_cuda(True, nccl) as device:
        device.xp.cuda.places[0] = f"bus {ranks.number}"  # a GPU of its own
        ahead._SECONDS = 1e3  # there a step takes as long as hundreds on a GPU
        warnings.simplefilter("ignore", pinn.ProblemWarning)
        found = {name: outcome(name, executor) for name in names or RUNS}
    if ranks.number == 0:
        print(json.dumps(found))


if __name__ == "__main__":
    alone(*sys.argv[2:]) if sys.argv[1] == "alone" else main(*sys.argv[1:])
