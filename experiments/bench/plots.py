"""The results as figures, headless."""

from __future__ import annotations

from typing import Any

from experiments.bench.summary import milliseconds

_COLOURS = {
    "ours": "#7fb2d6", "ours-numba": "#1b6ca8", "ours-llvm": "#0b2c45", "torch": "#d9763b",
    "jax": "#6a994e", "products": "#9a9a9a",
}
_LABELS = {
    "products": "matrix products alone", "ours": "ours (numpy)", "ours-numba": "ours (numba)",
    "ours-llvm": "ours (compiled)",
}
_TITLES = {
    "points": "points N (4 x 64, f32)", "width": "width (4 layers, f32)",
    "order": "order of derivative (4 x 64, f64)", "threads": "threads (4 x 64, f32)",
}


def rows_figure(results: dict[str, Any]) -> Any:
    """Return bars: milliseconds a step of each engine, by row, on a logarithmic axis."""
    from matplotlib.figure import Figure

    rows = results["rows"]
    names = [n for n in _COLOURS if any(milliseconds(r["engines"], n) for r in rows)]
    figure = Figure(figsize=(9, 1.2 + 0.75 * len(rows)), layout="constrained")
    axes = figure.add_subplot()
    height = 0.8 / max(1, len(names))
    for k, name in enumerate(names):
        places, lengths = [], []
        for number, row in enumerate(rows):
            ms = milliseconds(row["engines"], name, "plain" if name == "products" else None)
            if ms:
                places.append(number + (k - (len(names) - 1) / 2) * height)
                lengths.append(ms)
        axes.barh(places, lengths, height, color=_COLOURS[name], label=_LABELS.get(name, name))
    axes.set_xscale("log")
    axes.set_yticks(range(len(rows)), [row["name"] for row in rows])
    axes.invert_yaxis()
    axes.set_xlabel("milliseconds a training step (median)")
    axes.grid(axis="x", which="both", alpha=0.25)
    axes.set_axisbelow(True)
    axes.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3)
    return figure


def scaling_figure(results: dict[str, Any]) -> Any:
    """Return a panel for each study: milliseconds against what varies."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import NullFormatter

    studies = results["scaling"]
    columns = 2 if len(studies) > 1 else 1
    lines = -(-len(studies) // columns)
    figure = Figure(figsize=(5 * columns, 3.6 * lines), layout="constrained")
    panels = figure.subplots(lines, columns, squeeze=False).reshape(-1)
    for axes in panels[len(studies):]:
        axes.remove()
    for axes, (study, entries) in zip(panels, studies.items(), strict=False):
        for name, colour in _COLOURS.items():
            way = "plain" if name == "products" else None
            line = [(e["value"], milliseconds(e["engines"], name, way)) for e in entries]
            line = [(x, y) for x, y in line if y is not None]
            if line:
                style = "--" if name == "products" else "-"
                axes.plot(*zip(*line, strict=True), style, marker="o", markersize=4, color=colour,
                          label=_LABELS.get(name, name))
        if study in ("points", "width"):
            axes.set_xscale("log")
            axes.xaxis.set_minor_formatter(NullFormatter())
        if study != "threads":
            axes.set_yscale("log")
        if study != "points":
            values = [e["value"] for e in entries]
            axes.set_xticks(values, [str(value) for value in values])
        axes.set_xlabel(_TITLES[study])
        axes.set_ylabel("milliseconds a step")
        axes.grid(which="both", alpha=0.25)
    panels[0].legend(frameon=False, fontsize="small")
    return figure
