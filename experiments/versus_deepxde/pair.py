"""The problems that both sides solve."""

from __future__ import annotations

from dataclasses import dataclass, replace

from experiments.case import Reference
from experiments.peers.row import Row
from experiments.peers.rows import ROWS
from experiments.suite.references.lightning import l_shape


@dataclass(frozen=True)
class Pair:
    """A row of the peers' table that both sides solve.

    note: what a reader should know of the comparison.
    """

    row: Row
    note: str = ""

    @property
    def name(self) -> str:
        """Of the row, and of DeepXDE's setting in `settings`."""
        return self.row.name

    @property
    def title(self) -> str:
        return self.row.title


def _l_shape() -> Reference:
    """Return that of an L whose lower right quarter is missing, turned over: here the upper is."""
    found = l_shape()
    return replace(found, points={"x": found.points["x"], "y": -found.points["y"]})


_ROWS = {row.name: row for row in ROWS}

PAIRS = [
    Pair(_ROWS["f1_allen_cahn"]),
    Pair(_ROWS["f3_burgers"]),
    Pair(_ROWS["f5_euler_beam"]),
    Pair(_ROWS["f6_helmholtz"]),
    Pair(_ROWS["f8_helmholtz_hole"]),
    Pair(_ROWS["f10_klein_gordon"]),
    Pair(_ROWS["f11_kovasznay"]),
    Pair(_ROWS["f12_laplace_polar"]),
    Pair(_ROWS["f13_lotka_volterra"]),
    Pair(
        replace(_ROWS["f16_l_shape"], reference=_l_shape),
        "DeepXDE takes points of the inside that are up to 0.003 away from a side for points of it",
    ),
    Pair(_ROWS["f28_diffusion_reaction"]),
    Pair(_ROWS["f34_heat"]),
    Pair(_ROWS["f37_second_order_ode"]),
    Pair(_ROWS["f38_ode_system"]),
    Pair(
        _ROWS["f39_wave"],
        "DeepXDE has its network of Fourier features for TensorFlow 1 alone; here it is written "
        "for PyTorch, as a network of DeepXDE",
    ),
    Pair(
        _ROWS["i1_lorenz"],
        "the error is that of the worst of the three coefficients; DeepXDE's file of measurements "
        "is replaced by exact ones at as many times, which both sides see",
    ),
]
BY_NAME = {pair.name: pair for pair in PAIRS}
