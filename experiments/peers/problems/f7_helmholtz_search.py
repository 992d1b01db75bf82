"""Helmholtz' equation with the network and the learning rate chosen by short runs.

Each candidate trains for a twentieth of the time; the one with the lowest loss on points that
no training saw goes on from where it stands. The solution's formula is compared with at the end.
"""

from __future__ import annotations

import warnings

import pinn

PROBLEM = pinn.Problem(
    domain=pinn.Interval("x", 0, 1) * pinn.Interval("y", 0, 1),
    unknowns=["u"],
    constants={"k": "4*pi"},
    equations={"helmholtz": "-laplacian(u) - k**2*u - k**2*sin(k*x)*sin(k*y)"},
    conditions=[pinn.Dirichlet("u", 0, hard=True)],
    reference={"u": "sin(k*x)*sin(k*y)"},
)

NETWORKS = [
    pinn.MLP(20, 2, "tanh"), pinn.MLP(20, 3, "sin"), pinn.MLP(30, 3, "sin"), pinn.MLP(30, 4, "sin"),
]  # fmt: skip
CANDIDATES = [(network, rate) for network in NETWORKS for rate in (1e-3, 5e-3)]
_SHARE = 1 / 20


def solve(seconds: float, seed: int) -> pinn.Solution:
    """Search, then train the best candidate, all within so many seconds."""
    trials = [trial(model, rate, seconds * _SHARE, seed) for model, rate in CANDIDATES]
    best = min(range(len(trials)), key=lambda i: trials[i].report.fresh_loss)
    model, _ = CANDIDATES[best]
    left = seconds * (1 - _SHARE * len(CANDIDATES))
    return pinn.solve(
        PROBLEM, model, training=[pinn.SSBroyden()], seconds=left, seed=seed, start=trials[best]
    )


def trial(model: pinn.MLP, rate: float, seconds: float, seed: int) -> pinn.Solution:
    """Train one candidate for so many seconds."""
    stages = [pinn.Adam(500, learning_rate=rate), pinn.SSBroyden()]
    with warnings.catch_warnings():
        # That a short run leaves the problem unsolved is no news.
        warnings.simplefilter("ignore", pinn.UnsolvedWarning)
        return pinn.solve(PROBLEM, model, training=stages, seconds=seconds, seed=seed)
