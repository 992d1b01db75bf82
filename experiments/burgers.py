"""Burgers' equation with all conditions as terms of the loss: three groups of blocks."""

from __future__ import annotations

import numpy as np

import pinn

PROBLEM = pinn.Problem(
    domain=pinn.Interval("x", -1, 1) * pinn.Time("t", 0, 1), unknowns=["u"],
    constants={"nu": 0.01 / np.pi}, equations={"burgers": "u_t + u*u_x - nu*u_xx"},
    conditions=[pinn.Initial("u", "-sin(pi*x)"), pinn.Dirichlet("u", 0)],
)  # fmt: skip
