"""Make the tables of the inverse problems: measurements of solutions that are known.

    python -m experiments.suite.measurements

The files of experiments/suite/data are written by this program and by nothing else; the states of
Lorenz' equations and the noisy temperatures are those of experiments/peers/measurements.py.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from experiments.peers.measurements import write
from experiments.suite.references.formulas import flow
from pinn.problem.references import cole_hopf

FOLDER = Path(__file__).parent / "data"


def burgers(points: int = 2000) -> dict[str, np.ndarray]:
    """Return u of Burgers' equation, viscosity 0.01/pi, at uniform points of [-1, 1] x [0, 1]."""
    rng = np.random.default_rng(0)
    x, t = 2 * rng.random(points) - 1, rng.random(points)
    return {"x": x, "t": t, "u": cole_hopf(x, t, 0.01 / np.pi)}


def kovasznay(points: int = 500) -> dict[str, np.ndarray]:
    """Return u and v of Kovasznay's flow, viscosity 1/20, at uniform points of its domain."""
    rng = np.random.default_rng(0)
    x, y = -0.5 + 1.5 * rng.random(points), -0.5 + 2 * rng.random(points)
    found = flow(x, y)
    return {"x": x, "y": y, "u": found["u"], "v": found["v"]}


def main() -> None:
    """Write all tables."""
    FOLDER.mkdir(exist_ok=True)
    write("burgers", burgers(), FOLDER)
    write("kovasznay", kovasznay(), FOLDER)


if __name__ == "__main__":
    main()
