"""Solutions and run directories that the tests of the report share."""

import json
import re

import numpy as np
import pytest

import pinn
from pinn.runs import Run

CONFIG = "problem:\n  name: heat  # </script><script>document.title = 'owned'</script>\n"
HOSTILE = "<script>document.title = 'owned'</script><!-- \u2028 &amp;"


def solved(problem, steps=3):
    return pinn.solve(
        problem, pinn.MLP(width=5, depth=1), pinn.Sampling(30), [pinn.Adam(steps=steps)]
    )


@pytest.fixture(scope="session")
def heat():
    """Heat in x and t, with a reference."""
    return solved(pinn.Problem(
        name="heat", domain=pinn.Interval("x", 0, np.pi) * pinn.Time("t", 0, 1), unknowns=["u"],
        constants={"k": 0.5}, equations={"heat": "u_t - k*u_xx"},
        conditions=[pinn.Initial("u", "sin(x)"), pinn.Dirichlet("u", 0, hard=True)],
        reference={"u": "exp(-k*t)*sin(x)"},
    ))  # fmt: skip


@pytest.fixture(scope="session")
def plate():
    """Heat in a square with a round hole, and time; without a reference."""
    square = pinn.Interval("x", -1, 1) * pinn.Interval("y", -1, 1)
    hole = pinn.Disk(center=(0, 0), radius=0.5, name="hole")
    return solved(pinn.Problem(
        name="plate", domain=(square - hole) * pinn.Time("t", 0, 2), unknowns=["u"],
        equations={"heat": "u_t - laplacian(u)"},
        conditions=[
            pinn.Initial("u", "x*y"), pinn.Dirichlet("u", 0, on="hole"),
            pinn.Neumann("u", 0, on=["x=-1", "x=1", "y=-1", "y=1"]),
        ],
    ))  # fmt: skip


@pytest.fixture(scope="session")
def pair():
    """Two unknowns of time, one of them with a coefficient."""
    ts = np.linspace(0, 1, 9)
    return solved(pinn.Problem(
        name="pair", domain=pinn.Time("t", 0, 1), unknowns=["a", "b"],
        parameters={"k": 0.5}, equations={"first": "a_t - k*b", "second": "b_t + a"},
        conditions=[
            pinn.Initial("a", 0, hard=True), pinn.Initial("b", 1, hard=True),
            pinn.Data("a", {"t": ts, "a": np.sin(ts)}),
        ],
        reference={"a": "sin(t)", "b": "cos(t)"},
    ))  # fmt: skip


def run_of(solution, directory):
    """Return a run directory as training leaves it."""
    run = Run.create(directory)
    run.write_config(CONFIG)
    for record in solution.report.history:
        run.log({**record, "rel_l2": solution.report.rel_l2})
    solution.save(run.solution_path)
    run.write_summary({
        "stop_reason": str(solution.report.stop_reason), "steps": solution.report.steps,
        "machine": {"cpu": f"a processor {HOSTILE}"}, "versions": {"numpy": "9.9.9", "numba": None},
    })  # fmt: skip
    run.release()
    return run


@pytest.fixture
def heat_run(heat, tmp_path):
    return run_of(heat, tmp_path / "heat-0")


def data_in(page):
    """Return the numbers of a page, read as a browser finds them."""
    (text,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    return json.loads(text)
