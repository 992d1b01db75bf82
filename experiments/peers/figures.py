"""A picture of each row: its fields, beside the reference where there is a formula."""

from __future__ import annotations

from pathlib import Path

import pinn
from experiments.peers.row import Row


def draw(row: Row, solution: pinn.Solution, folder: Path) -> None:
    """Write one picture an unknown, named after the row."""
    import matplotlib.pyplot as plt

    folder.mkdir(parents=True, exist_ok=True)
    for unknown in solution.problem.unknowns:
        figure = solution.plot(unknown)
        figure.savefig(folder / f"{row.id}_{unknown}.png", dpi=80)
        plt.close(figure)
