"""Waves on a circle: Fourier series of two sizes, steps of order four."""

from __future__ import annotations

from functools import cache

import numpy as np

from experiments.case import Reference, disagreement
from experiments.peers.references.evolution import (
    kuramoto_sivashinsky_table,
    periodic_grid,
    schroedinger_table,
)
from experiments.stored import stored

_END = 0.2


@stored
def schroedinger() -> Reference:
    """i h_t + h_xx / 2 + |h|^2 h = 0, h = u + i v, periodic on [-5, 5], 2 sech x at the start.

    The start has a kink where its ends meet. A dispersive equation does not smooth it: the error of
    N waves falls like N^-3/2, and 4096 leave about half of what they differ by from 2048.
    """
    coarse, fine = schroedinger_table(2048, 8000), schroedinger_table(4096, 8000)
    values = [{"u": h.real.ravel(), "v": h.imag.ravel()} for h in (coarse, fine)]
    x, t = periodic_grid(-5, 5, np.pi / 2)
    method = "Fourier series, split steps of order 4"
    return Reference({"x": x.ravel(), "t": t.ravel()}, values[1], disagreement(*values), method)


@cache
def kuramoto_sivashinsky() -> Reference:
    """u_t + 100/16 u u_x + 100/16^2 u_xx + 100/16^4 u_xxxx = 0, cos x (1 + sin x), t <= 0.2."""
    coarse, fine = (kuramoto_sivashinsky_table(512, steps, _END) for steps in (1600, 3200))
    x, t = periodic_grid(0, 2 * np.pi, _END)
    values = [{"u": u.ravel()} for u in (coarse, fine)]
    method = "Fourier series, ETDRK4"
    return Reference({"x": x.ravel(), "t": t.ravel()}, values[1], disagreement(*values), method)
