"""Memory and the time of steps over an hour, as a picture."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pinn.figures.style import BLUE, RED, figure_png, new_figure, style_axes
from pinn.files import write_bytes


def draw(facts: Mapping[str, Any], path: Path) -> None:
    """Draw the memory in MiB by the second, and by the minute the quantiles of a step in ms."""
    figure = new_figure(8.0, 4.6)
    top, bottom = figure.subplots(nrows=2, sharex=True)
    seconds, memory = facts["memory"]["seconds"], facts["memory"]["mib"]
    top.plot([s / 60 for s in seconds], memory, color=BLUE, linewidth=1.2)
    top.set_ylim(0, 1.25 * max(memory))
    top.set_ylabel("memory in MiB")
    minutes = [row["minute"] + 0.5 for row in facts["steps"]]
    for name, colour, word in (("median_ms", BLUE, "median"), ("p99_ms", RED, "99 %")):
        bottom.plot(minutes, [row[name] for row in facts["steps"]], marker=".", color=colour,
                    label=word)
    bottom.plot([row["minute"] + 0.5 for row in facts["processor"]],
                [row["mean_ms"] for row in facts["processor"]], color="black", linestyle="--",
                label="of the processor, mean")
    bottom.set_ylim(bottom=0)
    bottom.set_xlim(left=0)
    bottom.set_ylabel("a step in ms")
    bottom.set_xlabel("minutes")
    bottom.legend(frameon=False)
    for axes in (top, bottom):
        style_axes(axes)
    write_bytes(path, figure_png(figure))
