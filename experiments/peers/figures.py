"""A picture of each row: its unknowns and fields, beside the reference where there is a formula."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pinn
from experiments.peers.row import Row

_COLOURS = 256  # of a picture's palette: a third of the size


def draw(row: Row, solution: pinn.Solution, folder: Path) -> None:
    """Write one picture an unknown and an unknown field, named after the row."""
    import matplotlib.pyplot as plt
    from PIL import Image

    folder.mkdir(parents=True, exist_ok=True)
    for name in solution.problem.outputs:
        figure = solution.plot(name)
        drawn = BytesIO()
        figure.savefig(drawn, format="png", dpi=80)
        plt.close(figure)
        picture = Image.open(drawn).convert("RGB").quantize(_COLOURS)
        picture.save(folder / f"{row.id}_{name}.png", optimize=True)
