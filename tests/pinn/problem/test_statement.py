"""The problem as a page states it."""

import re

import numpy as np

import pinn
from pinn.problem.statement import statement


def said(problem):
    return " ".join(re.sub(r"<[^>]*>", " ", statement(problem)).split())


def test_what_was_given_is_said_and_what_would_have_been_anyhow_is_not():
    text = said(pinn.Problem(
        domain=pinn.Interval("x", 0, 2) * pinn.Time("t", 0, 1), unknowns=["u"],
        constants={"nu": "1/8"}, parameters={"k": 0.5},
        equations={"heat": pinn.Equation("u_t - k*u_xx", on="x > 1")},
        conditions=[pinn.Robin("u", 1, 2, "nu", on="x=0"), pinn.Initial("u", 0, hard=True)],
    ))  # fmt: skip
    assert "heat u_t - k*u_xx x &gt; 1" in text
    assert "robin unknown: u · a: 1 · b: 2 · value: nu · on: x=0 as a term of the loss" in text
    assert "initial unknown: u · value: 0 exactly" in text
    assert "coordinate x [0, 2]" in text and "time t [0, 1]" in text
    assert "constant nu 0.125" in text and "coefficient k initial: 0.5" in text


def test_functions_and_long_data_are_named_and_not_printed():
    xs = np.linspace(0, 1, 5000)
    text = said(pinn.Problem(
        domain=pinn.Interval("x", 0, 1), unknowns=["u"], equations={"ode": lambda s: s.u_x - s.u},
        conditions=[pinn.Data("u", {"x": xs, "u": np.exp(xs)}),
                    pinn.Dirichlet("u", lambda s: 1 + 0 * s.x, on="x=0")],
        reference=lambda s: s.exp(s.x),
    ))  # fmt: skip
    assert "ode a Python function everywhere" in text
    assert "value: a Python function" in text and "reference a Python function" in text
    assert "5000 numbers" in text
    assert len(text) < 1500


def test_shapes_are_told_by_what_they_are_made_of():
    disk = pinn.Disk(center=(0, 0), radius=0.5, name="hole")
    text = said(pinn.Problem(
        domain=pinn.Interval("x", -1, 1) * pinn.Interval("y", -1, 1) - disk, unknowns=["u"],
        equations={"laplace": "laplacian(u)"}, conditions=[pinn.Dirichlet("u", 0, on="hole")],
    ))  # fmt: skip
    assert "domain difference" in text and "radius: 0.5" in text
