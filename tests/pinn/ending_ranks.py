"""A program that the tests start as ranks: `ending_ranks.py HOW`, one of the functions here."""

import os
import sys
import time

import numpy as np

import pinn
from autograd import mpi

HERE = int(os.environ["PMI_RANK"])
PROBLEM = pinn.Problem(
    domain=pinn.Interval("x", 0, 1), unknowns=["u"], equations={"decay": lambda s: s.u_x + s.u},
    conditions=[pinn.Dirichlet("u", 1, on="x=0", hard=True)],
)  # fmt: skip


def solve(width=3, **arguments):
    given = {"training": [pinn.Adam(steps=2)], "executor": "ranks", "engine": "eager"} | arguments
    solution = pinn.solve(PROBLEM, pinn.MLP(width, 1), **given)
    print(f"{HERE}: {solution.report.steps} steps", flush=True)


def raises_before():
    mpi.world()
    if HERE == 1:
        raise ValueError("a page is missing")
    solve()


def raises_between():
    solve()
    if HERE == 0:
        raise ValueError("a page is missing")
    solve()


def ends_before():
    mpi.world()
    if HERE == 1:
        sys.exit()
    solve()


def solves_once_less():
    solve()
    if HERE:
        solve()


def raises_on_all():
    solve(seconds=-1)


def raises_alone_and_others_go_on():
    mpi.world()
    if HERE == 1:
        raise ValueError("a page is missing")
    time.sleep(4)
    print("went on", file=sys.stderr, flush=True)


def other_arguments():
    solve(width=3 + HERE, seed=HERE, training=[pinn.Adam(steps=2 + HERE)])


def other_start():
    solve(start=np.full(10, 0.1 * HERE))


def without_executor():
    solve(executor=None)


def each_by_itself():
    solve(executor="process")


def late():
    mpi._LATE = 1
    time.sleep(2.5 * HERE)
    mpi.world()
    time.sleep(1.5 * HERE)
    solve()


if __name__ == "__main__":
    globals()[sys.argv[1]]()
